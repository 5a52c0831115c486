"""The layout of a safetensors file: a length, a header in JSON, and the bytes of the tensors.

Written and read here rather than by the library of that name, which needs the whole file in memory
beside the tensors. What is written is the same to the byte.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from extensor.arrays.dtypes import bfloat16, is_bfloat16

LONGEST = 100_000_000  # bytes of a header; the library refuses longer ones
_METADATA = "__metadata__"
_FIELDS = {"dtype", "shape", "data_offsets"}
# In the order in which tensors are laid out: so each is aligned within the file.
_DTYPES = {
    "U64": "uint64", "I64": "int64", "F64": "float64", "F32": "float32", "U32": "uint32",
    "I32": "int32", "BF16": "bfloat16", "F16": "float16", "U16": "uint16", "I16": "int16",
    "I8": "int8", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip
_CODES = {name: code for code, name in _DTYPES.items()}
_RANKS = {code: rank for rank, code in enumerate(_DTYPES)}


class LayoutError(ValueError):
    """The bytes are not those of a safetensors file."""


class UnknownDTypeError(ValueError):
    """A tensor is of a dtype that only others have; ``metadata`` tells whose file it is."""

    def __init__(self, message: str, metadata: dict[str, str]) -> None:
        super().__init__(message)
        self.metadata = metadata


class TensorEntry(NamedTuple):
    """A tensor of a file: its name, what it is, and how many bytes it has."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    size: int


class Header(NamedTuple):
    """The header of a file: its metadata, and the tensors in the order of their bytes."""

    metadata: dict[str, str]
    entries: list[TensorEntry]


def laid_out(arrays: Mapping[str, Any]) -> list[str]:
    """The names of the arrays in the order in which their bytes stand in the file."""
    return sorted(arrays, key=lambda name: (_RANKS[_code(arrays[name].dtype)], name))


def header(arrays: Mapping[str, Any], metadata: Mapping[str, str]) -> bytes:
    """The beginning of the file, its length in front."""
    fields: dict[str, Any] = {_METADATA: metadata}
    place = 0
    for name in laid_out(arrays):
        array = arrays[name]
        end = place + array.nbytes
        fields[name] = {
            "dtype": _code(array.dtype),
            "shape": list(array.shape),
            "data_offsets": [place, end],
        }
        place = end
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def header_text(file: BinaryIO, size: int) -> bytes:
    """The header at the beginning of a file of ``size`` bytes, without its length."""
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or length > min(size - 8, LONGEST):
        raise LayoutError
    text = file.read(length)
    if len(text) < length:
        raise LayoutError
    return text


def read_header(text: bytes, data: int) -> Header:
    """Make sense of the header of a file that has ``data`` bytes after it."""
    try:
        fields = json.loads(text.decode(), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise LayoutError from None
    if not isinstance(fields, dict):
        raise LayoutError
    metadata = fields.pop(_METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(x, str) for x in metadata.values()):
        raise LayoutError
    for name, code in list(_codes(fields)):
        if code not in _DTYPES:
            known = ", ".join(_DTYPES)
            message = f"tensors must have dtypes among {known} ({name!r} has {code!r})"
            raise UnknownDTypeError(message, metadata)
    return Header(metadata, list(_entries(fields, data)))


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, whose keys must differ."""
    result = dict(pairs)
    if len(result) != len(pairs):
        raise LayoutError
    return result


def _codes(fields: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The code of each tensor's dtype, once it is sure that the fields are there."""
    for name, field in fields.items():
        if not isinstance(field, dict) or set(field) != _FIELDS:
            raise LayoutError
        if not (_are_sizes(field["shape"]) and _are_sizes(field["data_offsets"])):
            raise LayoutError
        if len(field["data_offsets"]) != 2 or not isinstance(field["dtype"], str):
            raise LayoutError
        yield name, field["dtype"]


def _entries(fields: dict[str, Any], data: int) -> Iterator[TensorEntry]:
    place = 0
    for name, field in sorted(fields.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = field["data_offsets"]
        shape = tuple(field["shape"])
        code = field["dtype"]
        dtype = bfloat16() if code == "BF16" else np.dtype(_DTYPES[code])
        if begin != place or end - begin != prod(shape) * dtype.itemsize:
            raise LayoutError
        place = end
        yield TensorEntry(name, dtype, shape, end - begin)
    if place != data:
        raise LayoutError


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(x) is int and 0 <= x < 2**63 for x in values)


def _code(dtype: Any) -> str:
    return "BF16" if is_bfloat16(dtype) else _CODES[np.dtype(dtype).name]
