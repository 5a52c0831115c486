"""A state as one file: nested dicts of tensors and plain values, in the safetensors format.

Tensors are stored under their path, ``model.0.weight``, so any reader of safetensors finds them. The
metadata has one entry: the shape of the dicts and what in them is no tensor, as JSON, and a SHA-256
of the whole file, taken with zeros in its own place. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from extensor import storage
from extensor.dtypes import bfloat16
from extensor.errors import type_error, value_error
from extensor.io.atomic import write_atomically
from extensor.tensor import Tensor, to_array, wrap

FORMAT = 1
_NAME = "extensor"
_ZEROS = "0" * 64
_TENSOR = ""  # the only key of the dict that stands for a tensor; no other dict may have it
_PLAIN = (str, int, float, bool, type(None))
_DTYPES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "I64": "int64", "I32": "int32",
    "I16": "int16", "I8": "int8", "U64": "uint64", "U32": "uint32", "U16": "uint16", "U8": "uint8",
    "BOOL": "bool",
}  # fmt: skip


class DamagedFileError(ValueError):
    """The content of a file is not what was written into it."""


def save(path: str | Path, state: Mapping[str, Any]) -> None:
    """Write ``state`` to ``path``: dicts, within each other, of tensors, arrays and plain values.

    Plain are strings, numbers, None and lists of them. A file that is there is replaced only when
    the new one is on the disk. Plain ``safetensors`` can read it.

    >>> import tempfile, extensor as ex
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ex.save(f"{folder}/a", {"epoch": 3, "model": ex.nn.Linear(2, 1).state_dict()})
    ...     state = ex.load(f"{folder}/a")
    >>> state["epoch"], state["model"]["weight"].shape
    (3, (1, 2))
    """
    write_atomically(path, packed(state))


def load(path: str | Path) -> dict[str, Any]:
    """What :func:`save` wrote, with every array as a tensor; or the tensors of any safetensors file.

    A file that has changed since it was written is refused with a :class:`DamagedFileError`.
    """
    return unpacked(Path(path).read_bytes(), str(path))


def packed(state: Mapping[str, Any]) -> bytearray:
    """The content of the file for ``state``; the same for equal states."""
    from safetensors.numpy import save as serialized

    arrays: dict[str, Any] = {}
    tree = _tree(state, (), arrays)
    note = json.dumps({_NAME: FORMAT, "digest": _ZEROS, "state": tree})
    content = bytearray(serialized(arrays, {_NAME: note}))
    header = 8 + int.from_bytes(content[:8], "little")
    begin = content.index(_ZEROS.encode(), 0, header)
    content[begin : begin + 64] = hashlib.sha256(content).hexdigest().encode()
    return content


def unpacked(content: bytes, name: str) -> dict[str, Any]:
    """The state in the content of a file, which ``name`` names in messages."""
    from safetensors import SafetensorError, deserialize

    try:
        note = _note(content)
        arrays = {key: _array(entry) for key, entry in deserialize(content)}  # type: ignore[no-untyped-call]
    except (SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DamagedFileError(
            f"load: file must be a whole safetensors file, got path={name!r}, "
            f"{len(content)} bytes (damaged, cut short, or of another kind)"
        ) from None
    if note is None:
        return arrays
    digest = note["digest"]
    header = 8 + int.from_bytes(content[:8], "little")
    begin = content.find(digest.encode(), 0, header)
    hashed = hashlib.sha256(content[:begin] + _ZEROS.encode())
    hashed.update(memoryview(content)[begin + 64 :])
    if hashed.hexdigest() != digest:
        raise DamagedFileError(
            f"load: content must be as it was written (its digest differs), got path={name!r}"
        )
    if note[_NAME] != FORMAT:
        raise value_error("load", f"format must be {FORMAT}", format=note[_NAME], path=name)
    result: dict[str, Any] = _rebuilt(note["state"], arrays)
    return result


def _note(content: bytes) -> dict[str, Any] | None:
    """Our entry of the metadata, None in a file of others.

    The name stands in it twice, so no single flipped bit can make our file one of others.
    """
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    if not any(_NAME in key or _NAME in value for key, value in metadata.items()):
        return None
    note: dict[str, Any] = json.loads(metadata[_NAME])
    if set(note) != {_NAME, "digest", "state"} or len(note["digest"]) != 64:
        raise ValueError(_NAME)
    return note


def _tree(value: Any, path: tuple[str, ...], arrays: dict[str, Any]) -> Any:
    """``value`` for JSON, its arrays put into ``arrays`` under their path."""
    if isinstance(value, Mapping):
        return {key: _tree(x, (*path, _key(key, path)), arrays) for key, x in value.items()}
    if isinstance(value, Tensor | np.ndarray | np.generic):
        name = ".".join(path)
        if name in arrays:
            raise value_error("save", "paths of tensors must differ", path=name)
        # The format knows no strides: an array that is not in C order would be stored wrong.
        arrays[name] = np.asarray(to_array(value, op="save"), order="C")
        return {_TENSOR: name}
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list | tuple) and all(_is_plain(item) for item in value):
        return list(value)
    raise type_error(
        "save",
        "state must hold dicts, tensors, numbers, strings, None and lists of plain values",
        path=".".join(path),
        type=type(value).__name__,
    )


def _key(key: Any, path: tuple[str, ...]) -> str:
    if not isinstance(key, str) or key == _TENSOR:
        raise value_error("save", "keys must be strings, not empty", path=".".join(path), key=key)
    return key


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (
        isinstance(value, list | tuple) and all(_is_plain(item) for item in value)
    )


def _array(entry: dict[str, Any]) -> Tensor:
    """A tensor of its own memory: what the reader gives is not aligned."""
    code = entry["dtype"]
    dtype = bfloat16() if code == "BF16" else np.dtype(_DTYPES[code])
    return wrap(storage.copied(np.frombuffer(entry["data"], dtype).reshape(entry["shape"])))


def _rebuilt(tree: Any, arrays: dict[str, Any]) -> Any:
    if not isinstance(tree, dict):
        return tree
    if _TENSOR in tree:
        return arrays[tree[_TENSOR]]
    return {key: _rebuilt(value, arrays) for key, value in tree.items()}
