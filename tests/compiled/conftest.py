"""The tests of compiled functions run with the native backend, or with the one that is named:

EXTENSOR_TEST_BACKEND=xla pytest tests/compiled
"""

from __future__ import annotations

import os

import pytest
from programs.backend import BACKEND

from extensor.compiled.compiled_function import compile


@pytest.fixture(autouse=True)
def backend(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let ``ex.compile`` have the backend of this run as its default."""
    defaults = compile.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "backend", BACKEND)
    return BACKEND


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are marked for another backend."""
    other = {"native": "xla", "xla": "native"}[BACKEND]
    here = os.path.dirname(__file__)
    left_out = [
        item
        for item in items
        if item.get_closest_marker(other) is not None and str(item.path).startswith(here)
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
