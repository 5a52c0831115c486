"""One process at a time trains in a folder: a lock that ends with the process that has it."""

from __future__ import annotations

import errno
import os
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from extensor.errors import value_error
from extensor.io.regular_files import LinkedFileError, open_own

if sys.platform != "win32":
    import fcntl

LOCK = ".lock"
# What systems of files say that have no locks.
_WITHOUT = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL}
_PAUSE = 0.02  # seconds
_held: set[int] = set()


@contextmanager
def locked(folder: Path, op: str) -> Iterator[None]:
    """Keep all others out of ``folder``, which must exist, or refuse with the name of who is there.

    The file stays, empty, as one that is deleted could be locked by two. NFS passes such locks on
    to the server, so other machines are kept out too.
    """
    file = open_own(folder / LOCK, os.O_RDWR | os.O_CREAT)
    owner = os.getpid()
    _held.add(file)
    try:
        _take(file, folder, op)
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        with suppress(OSError):  # who it is matters less than that it is locked
            os.ftruncate(file, 0)
            os.pwrite(file, f"{owner}\n{socket.gethostname()}\n{since}\n".encode(), 0)
        try:
            yield
        finally:
            if os.getpid() == owner:
                with suppress(OSError):
                    os.ftruncate(file, 0)
    finally:
        if os.getpid() == owner:
            _held.discard(file)
            os.close(file)


def check_free(folder: Path, op: str) -> None:
    """Refuse a folder that somebody trains in just now; nothing is written."""
    try:
        file = open_own(folder / LOCK, os.O_RDWR)
    except LinkedFileError:
        raise
    except OSError:  # nobody was ever there, or nobody may write
        return
    try:
        _take(file, folder, op, attempts=1, only_looks=True)
    finally:
        os.close(file)


def _take(file: int, folder: Path, op: str, attempts: int = 5, only_looks: bool = False) -> None:
    """Lock ``file``; several attempts, as it may be somebody who only looks that has it.

    All workers of a run look at once: they share the lock.
    """
    if sys.platform == "win32":  # where a folder is not protected
        return
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if only_looks else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _WITHOUT:
            text = f"{op}: {folder} cannot be locked ({error.strerror}); train there only once"
            warnings.warn(text, stacklevel=4)
            return
        if not isinstance(error, BlockingIOError | PermissionError):  # the latter says NFS
            raise
        if attempts > 1:
            time.sleep(_PAUSE)
            _take(file, folder, op, attempts - 1, only_looks)
            return
        requirement = "folder must be free of other processes that train there"
        raise value_error(op, requirement, folder=str(folder), **_owner(file)) from None


def _owner(file: int) -> dict[str, object]:
    """Who has the lock, as far as it has said so yet."""
    lines = os.pread(file, 4096, 0).decode(errors="replace").splitlines()
    if len(lines) != 3 or not lines[0].isdigit():
        return {"process": "unknown"}
    return {"process": int(lines[0]), "host": lines[1], "since": lines[2]}


def _close_in_child() -> None:
    """A fork must not keep the lock when the process that has it is gone."""
    for file in _held:
        with suppress(OSError):
            os.close(file)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
