"""The scripts in ``examples/`` do what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_two_layer_network(capsys: pytest.CaptureFixture[str]) -> None:
    """It asserts after each step that hand and tape agree bit for bit, and it learns."""
    script = runpy.run_path(str(EXAMPLES / "two_layer_network.py"))
    assert script["main"]() < 1e-3
    assert capsys.readouterr().out.splitlines()[-1].endswith("parameters equal bit for bit")
