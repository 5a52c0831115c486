"""The folder of a new run: a name with the time in it, and what becomes of an earlier run there."""

from __future__ import annotations

import os
import sys
import time
from contextlib import nullcontext
from itertools import count
from pathlib import Path
from typing import Any

from extensor.errors import value_error
from extensor.io.paths import as_path, make_folder
from extensor.train.lock import LOCK, check_free, locked
from extensor.train.run import RunFolder

TIME = "{time}"
NEW_ONES = f"overwrite=True moves the earlier run aside, folder='runs/{TIME}' is always new"


def named_folder(op: str, folder: Any) -> Path:
    """``folder``, with the date and time for ``{time}`` and a number after it if that is taken."""
    path = as_path(op, folder, name="folder")
    if TIME not in str(path):
        return path
    first = Path(str(path).replace(TIME, time.strftime("%Y-%m-%d_%H-%M-%S")))
    return first if not first.exists() else _next(first)


def claimed(path: Path) -> Path:
    """A folder that was not there, made now: ``path`` or the next number that is free."""
    make_folder("fit", path.parent)
    for place in (path, *(_numbered(path, number) for number in range(2, 1000))):
        try:
            place.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            text = f"fit: could not make the folder {place} ({error.strerror})"
            raise OSError(error.errno, text) from error
        return place
    raise value_error("fit", "folder must be new", folder=str(path))


def _next(path: Path) -> Path:
    return next(place for number in count(2) if not (place := _numbered(path, number)).exists())


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}_{number}")


def check_replaceable(op: str, run: RunFolder) -> None:
    """Refuse to move aside what is no run, or one that somebody trains in."""
    path = run.path
    if not path.exists():
        return
    if not path.is_dir() or not _is_earlier(run):
        inside = sorted(each.name for each in path.iterdir()) if path.is_dir() else [path.name]
        if inside not in ([], [LOCK]):
            requirement = "overwrite=True is for the folder of a run, or a new one"
            raise value_error(op, requirement, folder=str(path), files=inside[:3])
    here = Path.cwd()
    if path.resolve() in (here, *here.parents):
        requirement = "overwrite=True must not move the folder that this process works in"
        raise value_error(op, requirement, folder=str(path))
    check_free(path, op)


def move_aside(op: str, run: RunFolder) -> Path | None:
    """Rename the folder of an earlier run; returns where it is now, None if there was none."""
    check_replaceable(op, run)
    if not _is_earlier(run):
        return None
    stem = run.path.with_name(f"{run.path.name}-earlier")
    target = stem if not stem.exists() else _next(stem)
    # A file that is open cannot be moved there.
    with nullcontext() if sys.platform == "win32" else locked(run.path, op):
        try:
            os.rename(run.path, target)
        except OSError as error:
            text = f"{op}: could not move {run.path} to {target} ({error.strerror})"
            raise OSError(error.errno, text) from error
    return target


def _is_earlier(run: RunFolder) -> bool:
    return run.is_run() or run.holds_a_run()
