"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

PARTIAL = ".partial"  # how the name of a file ends while it is being written
_counter = count()


class Sink:
    """A file that is being written: from its beginning to its end, and then in places."""

    def __init__(self, file: int) -> None:
        self._file = file

    def write(self, content: bytes | bytearray | memoryview) -> None:
        """Add ``content`` at the end."""
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def write_at(self, place: int, content: bytes) -> None:
        """Put ``content`` in place of what was written there."""
        rest = memoryview(content)
        while rest:
            done = os.pwrite(self._file, rest, place)
            place, rest = place + done, rest[done:]

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        os.fsync(self._file)


def write_atomically(path: str | Path, content: bytes | bytearray | memoryview) -> None:
    """Put ``content`` into the file ``path``; until all of it is on the disk, nothing changes there."""
    with written_atomically(path) as sink:
        sink.write(content)


@contextmanager
def written_atomically(path: str | Path) -> Iterator[Sink]:
    """The file ``path`` is what the block writes, if it comes to its end; if not, nothing changes.

    It goes to a file beside it, which takes the name when it is safe. If that fails the file is
    removed, and what had the name before still has it.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.{next(_counter)}{PARTIAL}")
    try:
        try:
            file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                sink = Sink(file)
                yield sink
                sink.sync()
            finally:
                os.close(file)
            os.replace(partial, path)
        except BaseException:
            with suppress(OSError):  # the reason why it could not be written says more
                os.unlink(partial)
            raise
        sync_folder(path.parent)
    except OSError as error:
        kept = "what was there is unchanged" if os.path.exists(path) else "nothing was written"
        raise OSError(
            error.errno, f"save: could not write {path} ({error.strerror}); {kept}"
        ) from error


def sync_folder(folder: Path) -> None:
    """Let the new name survive a loss of power too."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def remove_partial(folder: Path) -> None:
    """Delete what a process that was killed left half written."""
    for path in folder.glob(f".*{PARTIAL}"):
        path.unlink(missing_ok=True)
