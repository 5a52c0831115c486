"""Runs that are there: their folders and checkpoints, by path or by name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from extensor.errors import value_error
from extensor.io.paths import as_path, is_there, unreadable
from extensor.io.regular_files import check_regular
from extensor.io.state import DamagedFileError, load
from extensor.train.checkpoints import Checkpoints
from extensor.train.experiments.config import stored_config
from extensor.train.experiments.wording import PYTHON, Wording
from extensor.train.run import RunFolder

RUNS = Path("runs")
SWEEP = "sweep.toml"  # in the folder of a sweep, what was asked of it
LONGEST = 255  # bytes in the name of a folder, on all usual file systems
_PARTS = {"model", "optimizer", "schedules", "ema", "progress", "callbacks", "config"}


def is_too_long(name: str) -> bool:
    """Whether a part of ``name`` has more bytes than a folder's may have."""
    return any(len(os.fsencode(part)) > LONGEST for part in name.split("/"))


def is_stored(source: str | Path | None) -> bool:
    """Whether a configuration lies in the folder of a run or of a sweep, at any depth.

    Where a link lies counts, and where it leads to.
    """
    if source is None:
        return False
    path = as_path("config", source)
    places = (Path(os.path.abspath(path)), Path(os.path.realpath(path)))
    folders = {folder for place in places for folder in place.parents}
    return any(RunFolder(each).is_run() or (each / SWEEP).is_file() for each in folders)


def found_run(name: str | Path) -> RunFolder:
    """The folder called ``name``, or ``runs/<name>``."""
    if not isinstance(name, str):
        name = str(as_path("run", name, name="run"))
    possible = name and "\0" not in name and not is_too_long(name)
    places = [RunFolder(path) for path in (Path(name), RUNS / name)] if possible else []
    for run in places:
        if run.is_run():
            return run
    for run in places:
        if is_there(run.config) and (run.machine.is_file() or run.checkpoints.is_dir()):
            _check_config(run.config)
        if run.checkpoints.is_dir() and not run.config.exists():
            requirement = f"the folder must have the run's {run.config.name}, which is gone"
            raise value_error("run", requirement, run=str(run.path))
    known = sorted(path.parent.name for path in RUNS.glob("*/config.toml"))[-3:]
    hint = f" (there are: {', '.join(known)})" if known else ""
    raise value_error("run", f"the folder of a run must be there{hint}", run=name)


def _check_config(path: Path) -> None:
    """Refuse what is no regular file in the place of a run's configuration."""
    try:
        check_regular(path)
    except OSError as error:
        raise unreadable("run", path, error) from error


def found_checkpoint(
    run: RunFolder, name: str | Path | None = None, wording: Wording = PYTHON
) -> Path:
    """The checkpoint called ``name`` in a run, its latest, or a file of that name.

    Without a name it is the best, if the run keeps one to be handed on, otherwise the latest.
    """
    if name is None:
        best = run.checkpoints / "best.safetensors"
        keeps = best.is_file() and "early_stopping" in stored_config(run.config)
        name = "best" if keeps else "latest"
    if not isinstance(name, str):
        name = str(as_path(wording.checkpoint, name, name="checkpoint"))
    if name == "latest":
        path = Checkpoints(run.checkpoints).latest()
        if path is None:
            raise value_error("run", "there must be a checkpoint", run=str(run.path))
        return path
    for path in (run.checkpoints / f"{name}.safetensors", Path(name)):
        if path.is_file():
            return path
    known = sorted(path.stem for path in run.checkpoints.glob("*.safetensors"))
    raise value_error(wording.checkpoint, f"must be latest or one of {known}", checkpoint=name)


def read_checkpoint(run: RunFolder, path: Path, wording: Wording = PYTHON) -> dict[str, Any]:
    """The state in a checkpoint; of one that is damaged, the error says which one is not."""
    try:
        state = load(path, foreign=False)
    except DamagedFileError as error:
        good = Checkpoints(run.checkpoints).latest_good()
        if good is None:
            raise
        advice = wording.choose.format(name=good.stem)
        raise DamagedFileError(f"{error}; take a good one: {advice}") from None
    if not _PARTS.issubset(state):
        raise value_error("checkpoint", "file must be a checkpoint of a run", path=str(path))
    return state
