"""NumPy arrays whose memory comes from the pool: on cache lines, in huge pages where it is large.

Kernels read such an array faster than one of NumPy's own, which begins 16 bytes into a line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import _native

empty = _native.empty  # (shape, dtype): elements not set
# (target, places, source, rows): target[places] = source[rows], both in C order, without the GIL
copy_rows = _native.copy_rows


def full(shape: tuple[int, ...], value: Any, dtype: Any) -> Any:
    """An array with every element ``value``."""
    array = empty(shape, np.dtype(dtype))
    array.fill(value)
    return array


def copied(array: Any, dtype: Any = None) -> Any:
    """A copy in C order; an array of another library is copied by that library."""
    made = _native.copied(array) if dtype is None else None
    if made is not None:
        return made
    if not isinstance(array, np.ndarray):
        return array.copy() if dtype is None else array.astype(dtype)
    target = empty(array.shape, array.dtype if dtype is None else np.dtype(dtype))
    target[...] = array
    return target
