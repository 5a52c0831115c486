"""For tests of the command line: small data, configurations, and the command itself."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import extensor_cli
from extensor_cli import main

# Where this process found the library: the others are to find the same, with the same extension.
SOURCE = Path(extensor_cli.__file__).parents[1]
_STANDINS = "standins"  # a folder in that of the test, whose modules hide installed ones
_PATHS = [str(SOURCE), _STANDINS, *filter(None, [os.environ.get("PYTHONPATH")])]
# With the program on PATH, printed commands begin with its bare name.
_PROGRAMS = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(_PATHS),
    "PATH": os.pathsep.join(_PROGRAMS),
}
COMMAND = [sys.executable, "-m", "extensor_cli"]

CONFIG = """
epochs = 2
[data]
train = "data.npz"
batch_size = 8
[model]
name = "mlp"
sizes = [4, 8, 3]
"""


class Result(NamedTuple):
    code: int
    out: str
    err: str


def extensor(*arguments: Any) -> Result:
    """Run the command in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(argument) for argument in arguments])
    out.seek(0)
    return Result(code, out.read(), err.getvalue())


def write_data(path: str = "data.npz", samples: int = 60, **changed: Any) -> None:
    """Points around three centres."""
    rng = np.random.default_rng(0)
    y = np.arange(samples) % 3
    x = rng.normal(size=(samples, 4)) + 4 * np.eye(3, 4)[y]
    np.savez(path, **{"x": x, "y": y, **changed})


def write_config(text: str = CONFIG) -> Path:
    path = Path("config.toml")
    path.write_text(text)
    return path


def without_plots() -> None:
    """Let processes that start in this folder find no Matplotlib, as that takes long."""
    Path(_STANDINS).mkdir()
    Path(_STANDINS, "matplotlib.py").write_text("raise ImportError\n")


def files() -> dict[str, bytes]:
    """All that is in this folder."""
    return {str(p): p.read_bytes() for p in sorted(Path().rglob("*")) if p.is_file()}
