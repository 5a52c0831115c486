"""Objects that hand out an array, and nested lists of numbers: two kinds of data.

The first are never iterated over. Their length and items are the user's code, which may take for ever.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ARRAY_PROTOCOLS = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")


def is_array_like(value: Any) -> bool:
    """True for an object with an array of its own."""
    return any(hasattr(value, protocol) for protocol in ARRAY_PROTOCOLS)


def as_numpy(value: Any) -> Any:
    """``value`` as NumPy's array: by its protocol, and only without one by iterating over it."""
    has_dlpack_only = hasattr(value, "__dlpack__") and not any(
        hasattr(value, protocol) for protocol in ARRAY_PROTOCOLS[:-1]
    )
    return np.from_dlpack(value) if has_dlpack_only else np.asarray(value)


def is_nested(value: Any) -> bool:
    """True for a list or tuple, unless its class hands out an array."""
    if type(value) in (list, tuple):
        return True
    return isinstance(value, list | tuple) and not is_array_like(value)
