"""The entries of a state_dict, checked by their keys before anything is changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_exact, is_floating
from extensor.core.tensor import Tensor, to_array
from extensor.errors import type_error, value_error

_LIMIT = 2**63  # of a count


def mapping(op: str, value: Any, name: str = "state_dict") -> Mapping[str, Any]:
    """``value``, which must be a mapping whose keys are strings."""
    if not isinstance(value, Mapping):
        raise type_error(op, f"{name} must be a mapping", **{_word(name): type(value).__name__})
    for key in value:
        if not isinstance(key, str) or not key:
            raise value_error(op, f"the keys of {name} must be strings, not empty", key=key)
    return value


def with_keys(op: str, value: Any, keys: Collection[str], name: str = "") -> Mapping[str, Any]:
    """``value``, which must be a mapping with these keys and no others."""
    entries = mapping(op, value, name or "state_dict")
    if entries.keys() != set(keys):
        whose = f"the keys of {name}" if name else "keys"
        raise value_error(op, f"{whose} must be {list(keys)}", keys=list(entries))
    return entries


def flat(table: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """The entries of a table and of those within it, by their paths.

    >>> from extensor.core.entries import flat
    >>> flat({"epochs": 2, "ema": {"decay": 0.1}})
    {'epochs': 2, 'ema.decay': 0.1}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        is_table = isinstance(value, Mapping)
        found |= flat(value, f"{path}{key}.") if is_table else {path + key: value}
    return found


def number(op: str, key: str, value: Any) -> float | int:
    """A real number: Python's, NumPy's, or a tensor of one."""
    found = item(value)
    if not (is_integer(found) or isinstance(found, float)):
        raise type_error(op, f"{key} must be a number", **_described_value(key, value))
    if abs(found) >= 2**1000 and is_integer(found):
        raise value_error(op, f"{key} must be a number that fits a float")
    return found  # type: ignore[no-any-return]


def count(op: str, key: str, value: Any) -> int:
    """A number of things: an integer from 0 on."""
    found = item(value)
    if not is_integer(found):
        raise type_error(op, f"{key} must be an integer", **_described_value(key, value))
    if not 0 <= found < _LIMIT:
        raise value_error(op, f"{key} must be from 0 to 2**63 - 1", **_described_value(key, value))
    return int(found)


def truth(op: str, key: str, value: Any) -> bool:
    """True or False."""
    found = item(value)
    if not (isinstance(found, bool) or (is_integer(found) and found in (0, 1))):
        raise type_error(op, f"{key} must be True or False", **_described_value(key, value))
    return bool(found)


def like(op: str, key: str, value: Any, now: Any) -> Any:
    """``value`` as the kind of thing that ``now`` is."""
    if isinstance(now, bool):
        return truth(op, key, value)
    if isinstance(now, int):
        return count(op, key, value)
    return float(number(op, key, value))


def array(op: str, key: str, value: Any) -> Any:
    """``value`` as an array of numbers."""
    plain = isinstance(value, Tensor | int | float | list | tuple)
    if not plain and not hasattr(value, "__array__"):
        raise type_error(op, f"{key} must be a tensor", **_described_value(key, value))
    try:
        return to_array(np.float64(value) if isinstance(value, float) else value, op=op)
    except (TypeError, ValueError) as error:
        raise type_error(op, f"{key} must be a tensor ({error})") from None


def fits(values: Any, dtype: Any) -> bool:
    """True if a cast to ``dtype`` makes no integers of other numbers, and no infinity."""
    if values.dtype == dtype or not values.size:
        return True
    if is_floating(dtype):
        if values.dtype.itemsize <= np.dtype(dtype).itemsize:
            return True
        with np.errstate(over="ignore"):
            return bool((np.isfinite(values.astype(dtype)) == np.isfinite(values)).all())
    return is_exact(values, dtype)


def is_integer(value: Any) -> bool:
    """True for the integers of Python and NumPy; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def item(value: Any) -> Any:
    """A tensor or array of one element as the number in it."""
    value = getattr(value, "_array", value)
    return value.item() if isinstance(value, np.ndarray | np.generic) and value.size == 1 else value


def _described_value(key: str, value: Any) -> dict[str, Any]:
    is_short = isinstance(value, str | float | type(None)) or (
        isinstance(value, int) and abs(value) < 2**200
    )
    return {_word(key): value if is_short else type(value).__name__}


def _word(key: str) -> str:
    """The last part of a path that says something, as messages name values."""
    last = key.rpartition(".")[2]
    return key if last.isdigit() else last
