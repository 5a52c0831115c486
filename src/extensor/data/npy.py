"""Arrays in NumPy's own format: their headers are checked before memory is taken for them."""

from __future__ import annotations

import tokenize
from math import prod
from typing import Any, NamedTuple

import numpy as np

# A header is a Python literal, whose parser fails in many ways on what is none.
_FAILURES = (
    ValueError,
    EOFError,
    SyntaxError,
    TypeError,
    OverflowError,
    RecursionError,
    MemoryError,
    tokenize.TokenError,
)


class NpyError(ValueError):
    """The bytes are not those of an ``.npy`` file."""


class NpyHeader(NamedTuple):
    """What an ``.npy`` file says of its array, and how many bytes its header has."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: Any
    length: int

    @property
    def data_size(self) -> int:
        """How many bytes must follow the header."""
        return int(prod(self.shape) * self.dtype.itemsize)


def read_npy_header(stream: Any) -> NpyHeader:
    """The header at the place of ``stream``, which stands behind it afterwards."""
    begin = stream.tell()
    try:
        version = np.lib.format.read_magic(stream)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read(stream)
    except _FAILURES as error:
        raise NpyError(str(error)) from None
    if not all(isinstance(size, int) and 0 <= size < 2**63 for size in shape):
        raise NpyError("sizes must be whole numbers")
    return NpyHeader(tuple(shape), fortran, dtype, stream.tell() - begin)


def read_npy(stream: Any, size: int) -> Any:
    """The array in the next ``size`` bytes of ``stream``, which it must fill.

    NumPy takes the memory that a header asks for before it looks whether there are so many bytes.
    """
    begin = stream.tell()
    header = read_npy_header(stream)
    if header.dtype.hasobject:
        raise NpyError("objects would have to be unpickled")
    if header.length + header.data_size != size:
        raise NpyError(f"{header.data_size} bytes must follow the header")
    stream.seek(begin)
    return np.lib.format.read_array(stream, allow_pickle=False)
