"""Folders that a killed process left half written: found by a lock that ended with the process."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from extensor.io.atomic import PARTIAL

if sys.platform != "win32":
    import fcntl

_MARK = ".extensor-pack"  # the file in such a folder that its writer holds locked


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold ``folder`` as that of a living writer, until the block ends."""
    if sys.platform == "win32":  # where nothing is cleaned, as nobody could tell what is abandoned
        yield
        return
    # The lock is there before the name is, so that nobody sees a mark that is not locked.
    unnamed = folder / f"{_MARK}.new"
    file = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(unnamed, folder / _MARK)
        except OSError:  # a file system without locks: nobody could tell it from an abandoned one
            os.unlink(unnamed)
        yield
    finally:
        os.close(file)


def remove_mark(folder: Path) -> None:
    """Delete the mark of a folder that is whole now."""
    with suppress(FileNotFoundError):
        os.unlink(folder / _MARK)


def remove_abandoned(parent: Path) -> None:
    """Delete the folders in ``parent`` whose writers are dead; those of the living stay."""
    if sys.platform == "win32":
        return
    for folder in parent.glob(f".*{PARTIAL}"):
        if folder.is_symlink() or not _is_abandoned(folder / _MARK):
            continue
        shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(mark: Path) -> bool:
    """Whether there is a mark that nobody holds."""
    if sys.platform == "win32":
        return False
    try:
        file = os.open(mark, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(file)
