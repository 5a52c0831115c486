"""The tests of compiled functions need JAX (`make peers`) and run on its CPU."""

from __future__ import annotations

import os

import pytest

# Before JAX is imported: programs are small here, and what takes time is to compile them well.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")


@pytest.fixture(autouse=True)
def xla(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ``ex.compile`` compile with XLA."""
    from extensor.compiled.compiled_function import compile

    defaults = compile.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "backend", "xla")
