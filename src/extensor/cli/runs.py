"""The folders of runs, as they are named on the command line."""

from __future__ import annotations

import time
from pathlib import Path

from extensor.errors import value_error
from extensor.train import Checkpoints, RunFolder

RUNS = Path("runs")


def new_run(name: str | None) -> Path:
    """The folder of a run that does not exist yet: ``runs/<name>``, or the date and time."""
    if name is not None:
        path = RUNS / name
        if path.exists():
            hint = f"go on with extensor train --resume {path}"
            raise value_error("--name", f"the run must be new ({hint})", path=str(path))
        return path
    stem = time.strftime("%Y-%m-%d_%H-%M-%S")
    names = (stem if count == 1 else f"{stem}_{count}" for count in range(1, 1000))
    return next(path for name in names if not (path := RUNS / name).exists())


def found_run(name: str) -> RunFolder:
    """The folder called ``name``, or ``runs/<name>``."""
    for path in (Path(name), RUNS / name):
        run = RunFolder(path)
        if run.config.is_file():
            return run
    known = sorted(path.parent.name for path in RUNS.glob("*/config.toml"))[-3:]
    hint = f" (there are: {', '.join(known)})" if known else ""
    raise value_error("run", f"a folder with config.toml must be there{hint}", run=name)


def found_checkpoint(run: RunFolder, name: str) -> Path:
    """The latest checkpoint of a run, the one called ``name`` in it, or a file of that name."""
    if name == "latest":
        path = Checkpoints(run.checkpoints).latest()
        if path is None:
            raise value_error("run", "there must be a checkpoint", run=str(run.path))
        return path
    for path in (run.checkpoints / f"{name}.safetensors", Path(name)):
        if path.is_file():
            return path
    known = sorted(path.stem for path in run.checkpoints.glob("*.safetensors"))
    raise value_error("--checkpoint", f"must be latest or one of {known}", checkpoint=name)
