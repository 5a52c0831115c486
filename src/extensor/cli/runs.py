"""The folder of a new run, as it is named on the command line."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from extensor.errors import value_error
from extensor.io.atomic import PARTIAL
from extensor.train import RunFolder
from extensor.train.experiments.runs import LONGEST, RUNS, is_too_long
from extensor.train.lock import LOCK, check_free

_LONGEST = 1000  # bytes of a name with folders in it


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
    is_inside = not any(part in ("", ".", "..") or "\\" in part for part in parts)
    if not name.isprintable() or not is_inside or path.drive:
        raise value_error("--name", "must be that of a folder inside runs/", name=name[:LONGEST])
    if is_too_long(name) or len(os.fsencode(name)) > _LONGEST:
        size = max(len(os.fsencode(part)) for part in parts)
        most, size = (LONGEST, size) if size > LONGEST else (_LONGEST, len(os.fsencode(name)))
        raise value_error("--name", f"must have at most {most} bytes", bytes=size)
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(RUNS)):
        requirement = "must be that of a folder inside runs/, which a link leads out of"
        raise value_error("--name", requirement, name=name)
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


def _is_left_over(path: Path) -> bool:
    return path.name in (LOCK, "machine.json") or path.name.endswith(PARTIAL)
