"""Regular files alone: no pipe or device is waited on, and no link leads a writer elsewhere.

The openers are for the ``opener`` of :func:`open`. They look at the file that is open, not at its
path, so nobody can exchange it in between.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from stat import S_ISDIR, S_ISREG

# A pipe is opened without waiting for its writer, and a terminal does not become this process's.
_AT_ONCE = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
_MODE = 0o666  # less what the user's umask takes away
IRREGULAR = "it must be a regular file, not a pipe or a device; copy its content into a file"
LINKED = (
    "it must belong to this folder alone, not be a link to something else; replace it by a copy"
)


class LinkedFileError(OSError):
    """A file or folder to be written to is a link, so what it leads to would be changed."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.ELOOP, LINKED, str(path))


def open_regular(path: str | Path, flags: int) -> int:
    """Open a file; a pipe, a socket or a device is refused at once."""
    try:
        file = os.open(path, flags | _AT_ONCE, _MODE)
    except OSError as error:
        if error.errno != errno.ENXIO:  # which a socket says, or a pipe that nobody reads
            raise
        raise OSError(errno.EINVAL, IRREGULAR, str(path)) from None
    try:
        mode = os.fstat(file).st_mode
        if S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not S_ISREG(mode):
            raise OSError(errno.EINVAL, IRREGULAR, str(path))
    except BaseException:
        os.close(file)
        raise
    return file


def open_own(path: str | Path, flags: int) -> int:
    """Open a file to write into it; a link, of either kind, is refused and not truncated."""
    if os.path.islink(path):  # also where the system cannot refuse it below
        raise LinkedFileError(path)
    try:
        file = open_regular(path, (flags & ~os.O_TRUNC) | _NO_LINK)
    except OSError:
        if os.path.islink(path):
            raise LinkedFileError(path) from None
        raise
    try:
        if os.fstat(file).st_nlink > 1:
            raise LinkedFileError(path)
        if flags & os.O_TRUNC:
            os.ftruncate(file, 0)
    except BaseException:
        os.close(file)
        raise
    return file


def check_own_folder(path: Path) -> None:
    """Refuse a link in the place of a folder in which files are written and deleted."""
    if path.is_symlink():
        raise LinkedFileError(path)


def check_regular(path: Path) -> None:
    """Refuse what is no regular file, for readers that open files by themselves."""
    os.close(open_regular(path, os.O_RDONLY))


def file_bytes(path: str | Path) -> bytes:
    """The content of a regular file."""
    with open(path, "rb", opener=open_regular) as file:
        return file.read()


def file_text(path: str | Path, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The text of a regular file, its lines ended by ``\\n`` alone."""
    with open(path, encoding=encoding, errors=errors, opener=open_regular) as file:
        return file.read()
