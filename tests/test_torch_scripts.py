"""Scripts of PyTorch, run unchanged: they report what they reported under PyTorch.

``tests/parity/test_torch_scripts.py`` runs both side by side.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "torch_scripts"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py") if path.stem not in ("run_all", "seeded"))
STORED: dict[str, list[float]] = json.loads((SCRIPTS / "losses.json").read_text())


@pytest.fixture(scope="module")
def reported() -> dict[str, list[float] | str]:
    command = [sys.executable, "-m", "extensor.torch", str(SCRIPTS / "run_all.py"), "float64"]
    output = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    results: dict[str, list[float] | str] = json.loads(output)
    return results


def test_every_script_has_stored_losses() -> None:
    assert sorted(STORED) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_script_reports_what_it_reported_under_pytorch(
    name: str, reported: dict[str, list[float] | str]
) -> None:
    assert reported[name] == pytest.approx(STORED[name], rel=1e-8, abs=1e-8), reported[name]
