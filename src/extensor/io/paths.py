"""Paths as users give them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from extensor.errors import type_error, value_error
from extensor.errors.messages import PATH_NOT_FOUND

_LONGEST = 300  # characters of a path in a message


def as_path(op: str, path: Any, hint: str = "", name: str = "path") -> Path:
    """``path`` as a Path; ``hint`` says what else the caller could mean."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        given = type(path).__name__
        raise type_error(op, f"{name} must be a string or a Path{hint}", **{name: given})
    text = os.fspath(path)
    if not text or "\0" in text:
        raise value_error(op, f"{name} must be the name of a file", **{name: text})
    return Path(text)


def check_unicode(op: str, name: str, text: str) -> None:
    """Refuse bytes that are no UTF-8, which the system lets names have and no other file does."""
    if not text.isprintable() and any("\ud800" <= x <= "\udfff" for x in text):
        shown = text.encode("utf-8", "backslashreplace").decode()
        raise value_error(op, f"{name} must be a name in Unicode", name=shown)


def existing(source: Any, op: str = "data") -> Path:
    """The path of a file or folder, which must exist."""
    path = as_path(op, source)
    if not is_there(path):
        raise PATH_NOT_FOUND.error(path=_brief(path))
    if not (path.is_file() or path.is_dir()):
        requirement = "path must be a file or a folder, not a pipe or a device"
        raise value_error(op, requirement, path=_brief(path))
    return path


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder; none has a name that is too long."""
    try:
        return path.exists()
    except OSError:
        return False


def _brief(path: Path) -> str:
    """A path for a message."""
    text = str(path)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def make_folder(op: str, path: Path) -> None:
    """Make a folder, and those it is in, if they are not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(
            error.errno, f"{op}: could not make the folder {path} ({error.strerror})"
        ) from error


def unreadable(op: str, path: Any, error: OSError) -> OSError:
    """The error for a file that could not be read, in our words and of the same kind."""
    return OSError(error.errno, f"{op}: could not read {path} ({error.strerror})")


@contextmanager
def explain_unreadable(op: str, path: Any) -> Iterator[None]:
    """Raise errors of the system within the block as :func:`unreadable` does."""
    try:
        yield
    except OSError as error:
        raise unreadable(op, path, error) from error


def is_glob(source: Any) -> bool:
    """Whether ``source`` is a pattern for names of files, and not the name of one."""
    if not isinstance(source, str | os.PathLike):
        return False
    text = os.fspath(source)
    return isinstance(text, str) and glob.has_magic(text) and not os.path.lexists(text)
