"""What formulas need and the Array API standard lacks, in terms of what it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def sigmoid(xp: Any, x: Any) -> Any:
    """``1 / (1 + exp(-x))``, with all its digits in the lower tail and no overflow."""
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, xp.ones((), dtype=x.dtype), small) / (1 + small)


def log_softmax(xp: Any, x: Any, axis: int | None) -> Any:
    """``x - log(sum(exp(x)))`` over ``axis``, without overflow; an empty array stays as it is."""
    if 0 in x.shape:
        return x
    shifted = x - xp.max(x, axis=axis, keepdims=True)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=axis, keepdims=True))


def gated(xp: Any, gate: Any, x: Any) -> Any:
    """``gate * x``, and 0 where the gate is shut even if ``x`` is infinite: the limit there."""
    return xp.where(gate == 0, xp.copysign(xp.zeros((), dtype=gate.dtype), x), gate * x)


def clamped(xp: Any, x: Any, low: Any, high: Any) -> Any:
    """``x`` held between ``low`` and ``high``, NaN kept; ``high`` where the two are out of order.

    Where ``x`` equals a bound, a zero of the other sign too, it is the bound.
    """
    if low is not None:
        bound = xp.asarray(low, dtype=x.dtype)
        x = xp.where(x <= bound, bound, x)
    if high is not None:
        bound = xp.asarray(high, dtype=x.dtype)
        x = xp.where(x >= bound, bound, x)
    return x


def set_at(target: Any, index: Any, values: Any) -> Any:
    """``target``, which must be the caller's own memory, with ``values`` written at ``index``."""
    if hasattr(target, "at"):
        return target.at[index].set(values)
    target[index] = values
    return target


def add_at(xp: Any, target: Any, index: Any, values: Any) -> Any:
    """The same with ``values`` added, once for each time that ``index`` names an element."""
    if hasattr(target, "at"):
        return target.at[index].add(values)
    # NumPy's own broadcasting along an index of several axes reads beyond the values.
    places = np.broadcast_to(np.False_, target.shape)[index]
    xp.add.at(target, index, np.broadcast_to(values, places.shape))
    return target


def combine_at(xp: Any, target: Any, index: Any, values: Any, combine: str) -> Any:
    """The same with values combined by "add", "multiply", "maximum" or "minimum"."""
    if hasattr(target, "at"):
        names = {"maximum": "max", "minimum": "min"}
        return getattr(target.at[index], names.get(combine, combine))(values)
    getattr(xp, combine).at(target, index, values)
    return target


def accumulate(xp: Any, combine: str, x: Any, axis: int) -> Any:
    """Each element of ``x`` combined with all before it along ``axis``, by a function called ``combine``."""
    if xp is np:
        return getattr(np, combine).accumulate(x, axis=axis)
    front = (slice(None),) * axis
    parts = [x[(*front, slice(k, k + 1), ...)] for k in range(x.shape[axis])]
    for before, k in enumerate(range(1, len(parts))):
        parts[k] = getattr(xp, combine)(parts[before], parts[k])
    return xp.concat(parts, axis=axis) if parts else x


def along_axis(xp: Any, indices: Any, shape: Sequence[int], axis: int) -> tuple[Any, ...]:
    """The index that reads or writes ``indices`` along ``axis`` of an array of ``shape``, line by line."""
    grid = []
    for position, size in enumerate(shape):
        line = [1] * len(shape)
        line[position] = size
        grid.append(indices if position == axis else xp.reshape(xp.arange(size), tuple(line)))
    return tuple(grid)


def argsort(xp: Any, x: Any, axis: int, descending: bool) -> Any:
    """The stable order of ``x`` along ``axis``: equal elements stay as they are, NaN counts as largest."""
    if not descending:
        return xp.argsort(x, axis=axis, stable=True)
    reverse = xp.argsort(xp.flip(x, axis=axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - xp.flip(reverse, axis=axis)


def in_c_order(x: Any) -> Any:
    """``x`` in C order in memory, so that a sum has the same bits in every layout."""
    return np.asarray(x, order="C") if isinstance(x, np.ndarray) else x


def as_factor(x: Any) -> Any:
    """``x`` with rows or columns contiguous, as a BLAS reads matrices; a copy only where they are not.

    NumPy would multiply any other layout with plain loops, slowly and with other last bits.
    """
    if not isinstance(x, np.ndarray) or x.ndim == 0 or x.size == 0:
        return x
    rows, columns = (1, *x.shape)[-2:]
    row_step, step = (stride // x.itemsize for stride in (0, *x.strides)[-2:])
    if rows == 1 or columns == 1:
        ready = (step if rows == 1 else row_step) == 1
    else:
        ready = (step == 1 and row_step >= columns) or (row_step == 1 and step >= rows)
    return x if ready else in_c_order(x)


def power(xp: Any, a: Any, b: Any) -> Any:
    """``a ** b`` with the same bits in every layout.

    NumPy has vector instructions for arrays in C order alone, and they round otherwise.
    """
    if xp is np:
        a, b = (np.asarray(x, order="C") for x in np.broadcast_arrays(a, b))
    return xp.pow(a, b)
