"""A state as one file: nested dicts of tensors and plain values, in the safetensors format.

Tensors are stored under their path, ``model.0.weight``, so any reader of safetensors finds them. The
metadata has one entry: the shape of the dicts and what in them is no tensor, as JSON, and a SHA-256
of the whole file, taken with zeros in its own place. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from extensor.arrays import storage
from extensor.core.tensor import wrap
from extensor.errors import arguments, type_error, value_error
from extensor.io.atomic import Sink, written_atomically
from extensor.io.paths import as_path, explain_unreadable
from extensor.io.regular_files import open_regular
from extensor.io.safetensors_layout import (
    LONGEST,
    LayoutError,
    TensorEntry,
    UnknownDTypeError,
    header,
    header_text,
    laid_out,
    read_header,
)
from extensor.io.state_tree import TreeError, folded, unfolded

FORMAT = 1
_NAME = "extensor"
_KEYS = [_NAME, "digest", "state"]
_ZEROS = "0" * 64
_DIGEST = re.compile("[0-9a-f]{64}")
_CHUNK = 1 << 20  # bytes that are hashed and written, or read and hashed, together


class DamagedFileError(ValueError):
    """Error of `load`: a file does not hold what was written into it.

    The file was changed, cut short, or is of another kind.

    See Also
    --------
    ex.load : Raises it.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     try:
    ...         ex.load(file.name)
    ...     except ex.io.DamagedFileError as error:
    ...         print(str(error).partition(", got")[0])
    load: file must be a whole safetensors file
    """


def save(path: str | Path, state: Mapping[str, Any]) -> None:
    """Write a state to a file, in the safetensors format.

    A file of that name is replaced only when the new one is completely on the disk. Any reader of
    safetensors finds the tensors, under their paths, such as ``model.0.weight``. Nothing is
    pickled.

    Parameters
    ----------
    path : str or Path
        Where to write.
    state : mapping of str to values
        Dicts, nested at will, of tensors, arrays, strings, numbers, None and lists of these plain
        values.

    Raises
    ------
    TypeError
        If ``state`` is not a dict or holds something else.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : The reverse.

    Notes
    -----
    Beside the state this needs memory for a few megabytes, and for one tensor at a time if that is
    not in C order.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ex.save(f"{folder}/a", {"epoch": 3, "model": ex.nn.Linear(2, 1).state_dict()})
    ...     state = ex.load(f"{folder}/a")
    >>> state["epoch"], state["model"]["weight"].shape
    (3, (1, 2))
    """
    place = as_path("save", path, " (it comes first: save(path, state))")
    _check_is_dict(state)
    arrays: dict[str, Any] = {}
    tree = folded(state, (), arrays)
    note = json.dumps({_NAME: FORMAT, "digest": _ZEROS, "state": tree})
    begin = header(arrays, {_NAME: note})
    if len(begin) - 8 > LONGEST:
        requirement = f"what is no tensor must have at most {LONGEST} bytes"
        raise value_error("save", requirement, bytes=len(begin) - 8)
    with written_atomically(place) as sink:
        _write(sink, begin, arrays)


def _check_is_dict(state: Any) -> None:
    if not isinstance(state, Mapping):
        hint = "its state_dict()" if hasattr(state, "state_dict") else '{"name": value}'
        kind = type(state).__name__
        raise type_error("save", f"state must be a dict, such as {hint}", state=kind)


def _write(sink: Sink, begin: bytes, arrays: Mapping[str, Any]) -> None:
    hashed = hashlib.sha256()
    waiting, size = [], 0  # small tensors are written together
    for chunk in chain([begin], _chunks(arrays)):
        hashed.update(chunk)
        waiting.append(chunk)
        size += len(chunk)
        if size >= _CHUNK:
            sink.write(b"".join(waiting))
            waiting, size = [], 0
    sink.write(b"".join(waiting))
    sink.write_at(begin.index(_ZEROS.encode()), hashed.hexdigest().encode())


def _chunks(arrays: Mapping[str, Any]) -> Iterator[bytes]:
    for name in laid_out(arrays):
        # The format knows no strides: an array that is not in C order would be stored wrong.
        content = _bytes_of(np.asarray(arrays[name], order="C"))
        for first in range(0, len(content), _CHUNK):
            # A copy: what another thread changes meanwhile must not part the bytes from the digest.
            yield content[first : first + _CHUNK].tobytes()


def load(path: str | Path, foreign: bool = True) -> dict[str, Any]:
    """Read a state that `save` wrote, or the tensors of any safetensors file.

    Parameters
    ----------
    path : str or Path
        The file.
    foreign : bool, default True
        Whether to accept files that `save` did not write. They have no digest, so damage cannot be
        detected.

    Returns
    -------
    dict
        The state, with every array as a tensor. A foreign file gives a flat dict of tensors.

    Raises
    ------
    DamagedFileError
        If the file has changed since `save` wrote it, or is not a safetensors file.
    ValueError
        If the file is foreign and ``foreign`` is False, or it holds a dtype or a format that is not
        supported.
    OSError
        If the file cannot be read.

    See Also
    --------
    save : The reverse.

    Examples
    --------
    >>> import tempfile, extensor as ex
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ex.save(f"{folder}/a", {"scores": ex.ones(2)})
    ...     ex.load(f"{folder}/a")
    {'scores': tensor([1., 1.])}
    """
    place = as_path("load", path)
    foreign = arguments.flag("load", "foreign", foreign)
    with explain_unreadable("load", path), open(place, "rb", opener=open_regular) as file:
        return _read_state(file, os.fstat(file.fileno()).st_size, str(path), foreign)


def unpacked(content: bytes, name: str, foreign: bool = True) -> dict[str, Any]:
    """The state in the content of a file, which ``name`` names in messages."""
    return _read_state(io.BytesIO(content), len(content), name, foreign)


def _read_state(file: BinaryIO, size: int, name: str, foreign: bool) -> dict[str, Any]:
    try:
        text = header_text(file, size)
        metadata, entries = read_header(text, size - 8 - len(text))
        note = _read_note(metadata) if _is_ours(metadata) else None
        if note is None and not foreign:
            requirement = "file must be one that save wrote, not one of others"
            raise value_error("load", requirement, path=name)
        hashed: Any = None if note is None else _hashed_header(text, note["digest"])
        arrays = {entry.name: wrap(_read_array(entry, file, hashed)) for entry in entries}
    except (LayoutError, UnknownDTypeError) as error:
        if isinstance(error, UnknownDTypeError) and not _is_ours(error.metadata):
            raise value_error("load", str(error), path=name) from None
        raise DamagedFileError(
            f"load: file must be a whole safetensors file, got path={name!r}, "
            f"{size} bytes (damaged, cut short, or of another kind)"
        ) from None
    if note is None:
        return arrays
    if hashed.hexdigest() != note["digest"]:
        raise DamagedFileError(
            f"load: content must be as it was written (its digest differs), got path={name!r}"
        )
    if note[_NAME] != FORMAT:
        raise value_error("load", f"format must be {FORMAT}", format=note[_NAME], path=name)
    try:
        return unfolded(note["state"], arrays)
    except (TreeError, RecursionError) as error:
        raise DamagedFileError(
            f"load: file must hold a state that save can write ({error}), got path={name!r}"
        ) from None


def _hashed_header(text: bytes, digest: str) -> Any:
    """The hash after the header, as it was before the digest was written into it."""
    hashed = hashlib.sha256(len(text).to_bytes(8, "little"))
    hashed.update(text.replace(digest.encode(), _ZEROS.encode(), 1))
    return hashed


def _is_ours(metadata: Mapping[str, str]) -> bool:
    """True if an entry has our name, or two of the four marks that stand in ours.

    So damage in a few places does not make our file one of others, which nobody checks.
    """
    return _NAME in metadata or any(
        (_DIGEST.search(text) is not None) + sum(f'"{name}":' in text for name in _KEYS) > 1
        for text in metadata.values()
    )


def _read_note(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Our entry of the metadata: nothing else is there, and the text is what we would write."""
    if list(metadata) != [_NAME]:
        raise LayoutError
    try:
        note = json.loads(metadata[_NAME])
        same = json.dumps(note) == metadata[_NAME]
    except (ValueError, RecursionError):
        raise LayoutError from None
    if not same or not isinstance(note, dict) or list(note) != _KEYS:
        raise LayoutError
    is_digest = isinstance(note["digest"], str) and _DIGEST.fullmatch(note["digest"])
    if type(note[_NAME]) is not int or not is_digest:
        raise LayoutError
    return note


def _read_array(entry: TensorEntry, file: Any, hashed: Any) -> Any:
    try:
        array = storage.empty(entry.shape, entry.dtype)
    except ValueError:  # more axes or longer ones than an array can have
        raise LayoutError from None
    content = _bytes_of(array)
    for first in range(0, len(content), _CHUNK):
        chunk = content[first : first + _CHUNK]
        if file.readinto(chunk.data) < len(chunk):
            raise LayoutError
        if hashed is not None:
            hashed.update(chunk)
    if entry.dtype == np.bool_ and content.size and content.max() > 1:
        raise LayoutError  # neither True nor False
    return array


def _bytes_of(array: Any) -> Any:
    """The memory of an array in C order, as one row of bytes."""
    return array.reshape(-1).view(np.uint8)
