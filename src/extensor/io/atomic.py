"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from pathlib import Path

PARTIAL = ".partial"  # how the name of a file ends while it is being written
_counter = count()


def write_atomically(path: str | Path, content: bytes | bytearray | memoryview) -> None:
    """Put ``content`` into the file ``path``; until all of it is on the disk, nothing changes there.

    It goes to a file beside it, which takes the name when it is safe. If that fails the file is
    removed, and what had the name before still has it.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.{next(_counter)}{PARTIAL}")
    try:
        try:
            _write(partial, memoryview(content))
            os.replace(partial, path)
        except BaseException:
            _removed(partial)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        kept = "what was there is unchanged" if path.exists() else "nothing was written"
        raise OSError(
            error.errno, f"save: could not write {path} ({error.strerror}); {kept}"
        ) from error


def _write(path: Path, content: memoryview) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        while content:
            content = content[os.write(file, content) :]
        os.fsync(file)
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a loss of power too."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def remove_partial(folder: Path) -> None:
    """Delete what a process that was killed left half written."""
    for path in folder.glob(f".*{PARTIAL}"):
        _removed(path)


def _removed(path: Path) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
