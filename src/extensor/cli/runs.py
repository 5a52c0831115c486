"""The folders of runs, as they are named on the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from extensor.errors import value_error
from extensor.io import DamagedFileError, load
from extensor.io.atomic import PARTIAL
from extensor.train import Checkpoints, RunFolder
from extensor.train.lock import LOCK, check_free

RUNS = Path("runs")
_LONGEST = 255  # bytes in the name of a folder, on all usual file systems
_PARTS = {"model", "optimizer", "schedules", "ema", "progress", "callbacks", "config"}


@contextmanager
def new_run(name: str | None) -> Iterator[Path]:
    """The folder of a run that does not exist yet: ``runs/<name>``, or the date and time.

    It is made at once, so that no other process takes it, and removed if nothing comes into it.
    """
    there = RUNS.exists()
    path = _unnamed() if name is None else _named(name)
    try:
        yield path
    finally:
        with suppress(OSError):  # one that is not empty, and with it those around it
            for place in (path, *path.parents):
                if place == RUNS and there:
                    break
                place.rmdir()


def _unnamed() -> Path:
    stem = time.strftime("%Y-%m-%d_%H-%M-%S")
    for count in range(1, 1000):
        path = RUNS / (stem if count == 1 else f"{stem}_{count}")
        with suppress(FileExistsError):
            path.mkdir(parents=True)
            return path
    raise value_error("--name", "must be given, as a thousand runs began in this second")


def _named(name: str) -> Path:
    path = RUNS / name
    parts = name.split("/")
    if not name.isprintable() or any(part in ("", ".", "..") for part in parts) or path.drive:
        raise value_error("--name", "must be that of a folder inside runs/", name=name)
    if _is_too_long(name):
        size = max(len(os.fsencode(part)) for part in parts)
        raise value_error("--name", f"must have at most {_LONGEST} bytes", bytes=size)
    outer = [parent for parent in path.parents if RunFolder(parent).is_run()]
    if outer:
        raise value_error("--name", f"must not lie in another run ({outer[0]})", name=name)
    if RunFolder(path).is_run():
        hint = f"go on with extensor train --resume {path}"
        raise value_error("--name", f"the run must be new ({hint})", path=str(path))
    if path.is_dir():
        check_free(path, "--name")
        # What a process that was killed as it began left behind is no run.
        others = [x.name for x in path.iterdir() if not _is_left_over(x)]
        if others:
            requirement = "the folder must be new or empty"
            raise value_error("--name", requirement, path=str(path), files=sorted(others)[:3])
    path.mkdir(parents=True, exist_ok=True)
    return path


def _is_too_long(name: str) -> bool:
    return any(len(os.fsencode(part)) > _LONGEST for part in name.split("/"))


def _is_left_over(path: Path) -> bool:
    return path.name in (LOCK, "machine.json") or path.name.endswith(PARTIAL)


def found_run(name: str) -> RunFolder:
    """The folder called ``name``, or ``runs/<name>``."""
    possible = name and "\0" not in name and not _is_too_long(name)
    places = [RunFolder(path) for path in (Path(name), RUNS / name)] if possible else []
    for run in places:
        if run.is_run():
            return run
    for run in places:
        if run.checkpoints.is_dir() and not run.config.exists():
            requirement = f"the folder must have the run's {run.config.name}, which is gone"
            raise value_error("run", requirement, run=str(run.path))
    known = sorted(path.parent.name for path in RUNS.glob("*/config.toml"))[-3:]
    hint = f" (there are: {', '.join(known)})" if known else ""
    raise value_error("run", f"the folder of a run must be there{hint}", run=name)


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


def read_checkpoint(run: RunFolder, path: Path) -> dict[str, Any]:
    """The state in a checkpoint; of one that is damaged, the error says which one is not."""
    try:
        state = load(path, foreign=False)
    except DamagedFileError as error:
        good = Checkpoints(run.checkpoints).latest_good()
        if good is None:
            raise
        raise DamagedFileError(f"{error}; take a good one: --checkpoint {good.stem}") from None
    if not _PARTS.issubset(state):
        raise value_error("checkpoint", "file must be a checkpoint of a run", path=str(path))
    return state
