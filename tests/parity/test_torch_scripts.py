"""Each script of tests/torch_scripts under PyTorch and under PyTorch's names here, loss by loss."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

SCRIPTS = Path(__file__).parents[1] / "torch_scripts"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py") if path.stem not in ("run_all", "seeded"))
TOLERANCES = {"float64": 1e-8, "float32": 1e-4}


@cache
def reported(dtype: str, ours: bool) -> Any:
    command = [sys.executable, *(["-m", "extensor.torch"] if ours else [])]
    command += [str(SCRIPTS / "run_all.py"), dtype]
    return json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", NAMES)
def test_losses_agree(name: str, dtype: str) -> None:
    tolerance = TOLERANCES[dtype]
    mine, theirs = reported(dtype, True)[name], reported(dtype, False)[name]
    assert mine == pytest.approx(theirs, rel=tolerance, abs=tolerance), mine
