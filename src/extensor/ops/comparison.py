"""Comparisons and logic: booleans, without a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_, int64, is_floating
from extensor.arrays.shapes import broadcast, same
from extensor.core.op import Array, op
from extensor.core.tensor import to_array, wrap
from extensor.errors.array_likes import is_nested

SHARED = """
Returns
-------
Tensor
    Booleans, in the shape of ``x``, or in the shape to which ``a`` and ``b`` broadcast.
"""


def _comparable(a: Array, b: Array) -> Sequence[Any]:
    """The two as they are, but for an integer beyond all that the dtype of the other one has.

    It is as good as infinite then: ``ex.tensor([1, 2], "uint8") < 256`` is true everywhere.
    """
    return _within(a, b), _within(b, a)


def _within(value: Any, other: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return value
    if is_nested(other):
        other = to_array(other)
    dtype = getattr(other, "dtype", None)
    if isinstance(other, np.generic) or not isinstance(dtype, np.dtype) or dtype.kind not in "biu":
        return value
    limits = np.iinfo(int64 if dtype == bool_ else dtype)
    if limits.min <= value <= limits.max:
        return value
    return wrap(np.asarray(np.inf if value > 0 else -np.inf))


@op(kernel="equal", shape=broadcast, differentiable=False, arguments=_comparable)
def equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a == b``, element by element.

    >>> import extensor as ex
    >>> ex.equal([1.0, 2.0, 3.0], 2.0)
    tensor([False,  True, False])
    """
    return xp.equal(a, b)


@op(kernel="not_equal", shape=broadcast, differentiable=False, arguments=_comparable)
def not_equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a != b``, element by element.

    >>> import extensor as ex
    >>> ex.not_equal([1.0, 2.0, 3.0], 2.0)
    tensor([ True, False,  True])
    """
    return xp.not_equal(a, b)


@op(kernel="less", shape=broadcast, differentiable=False, arguments=_comparable)
def less(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a < b``, element by element.

    >>> import extensor as ex
    >>> ex.less([1.0, 2.0, 3.0], 2.0)
    tensor([ True, False, False])
    """
    return xp.less(a, b)


@op(kernel="less_equal", shape=broadcast, differentiable=False, arguments=_comparable)
def less_equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a <= b``, element by element.

    >>> import extensor as ex
    >>> ex.less_equal([1.0, 2.0, 3.0], 2.0)
    tensor([ True,  True, False])
    """
    return xp.less_equal(a, b)


@op(kernel="greater", shape=broadcast, differentiable=False, arguments=_comparable)
def greater(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a > b``, element by element.

    >>> import extensor as ex
    >>> ex.greater([1.0, 2.0, 3.0], 2.0)
    tensor([False, False,  True])
    """
    return xp.greater(a, b)


@op(kernel="greater_equal", shape=broadcast, differentiable=False, arguments=_comparable)
def greater_equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a >= b``, element by element.

    >>> import extensor as ex
    >>> ex.greater_equal([1.0, 2.0, 3.0], 2.0)
    tensor([False,  True,  True])
    """
    return xp.greater_equal(a, b)


@op(kernel="logical_and", shape=broadcast, differentiable=False)
def logical_and(xp: Any, a: Array, b: Array) -> Any:
    """True where both are true (not 0).

    >>> import extensor as ex
    >>> ex.logical_and([True, True, False], [True, False, False])
    tensor([ True, False, False])
    """
    return xp.logical_and(a != 0, b != 0)


@op(kernel="logical_or", shape=broadcast, differentiable=False)
def logical_or(xp: Any, a: Array, b: Array) -> Any:
    """True where either is true (not 0).

    >>> import extensor as ex
    >>> ex.logical_or([True, True, False], [True, False, False])
    tensor([ True,  True, False])
    """
    return xp.logical_or(a != 0, b != 0)


@op(kernel="logical_xor", shape=broadcast, differentiable=False)
def logical_xor(xp: Any, a: Array, b: Array) -> Any:
    """True where exactly one is true (not 0).

    >>> import extensor as ex
    >>> ex.logical_xor([True, True, False], [True, False, False])
    tensor([False,  True, False])
    """
    return xp.logical_xor(a != 0, b != 0)


@op(kernel="logical_not", shape=same, differentiable=False)
def logical_not(xp: Any, x: Array) -> Any:
    """True where ``x`` is false (0).

    >>> import extensor as ex
    >>> ex.logical_not([True, False])
    tensor([False,  True])
    """
    return x == 0


@op(kernel="isnan", shape=same, differentiable=False)
def isnan(xp: Any, x: Array) -> Any:
    """True where ``x`` is NaN.

    >>> import extensor as ex
    >>> ex.isnan([float("nan"), float("-inf"), 1.0])
    tensor([ True, False, False])
    """
    return xp.isnan(x) if is_floating(x.dtype) else xp.zeros(x.shape, dtype=xp.bool)


@op(kernel="isinf", shape=same, differentiable=False)
def isinf(xp: Any, x: Array) -> Any:
    """True where ``x`` is infinite.

    >>> import extensor as ex
    >>> ex.isinf([float("nan"), float("-inf"), 1.0])
    tensor([False,  True, False])
    """
    return xp.isinf(x) if is_floating(x.dtype) else xp.zeros(x.shape, dtype=xp.bool)


@op(kernel="isfinite", shape=same, differentiable=False)
def isfinite(xp: Any, x: Array) -> Any:
    """True where ``x`` is neither NaN nor infinite.

    >>> import extensor as ex
    >>> ex.isfinite([float("nan"), float("-inf"), 1.0])
    tensor([False, False,  True])
    """
    return xp.isfinite(x) if is_floating(x.dtype) else xp.ones(x.shape, dtype=xp.bool)
