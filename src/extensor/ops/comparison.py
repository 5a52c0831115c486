"""Comparisons and logic: booleans, without a gradient."""

from __future__ import annotations

from typing import Any

from extensor.dtypes import is_floating
from extensor.op import Array, op
from extensor.shapes import broadcast, same


@op(kernel="equal", shape=broadcast, differentiable=False)
def equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a == b``.

    >>> import extensor as ex
    >>> ex.equal([1.0, 2.0, 3.0], 2.0)
    tensor([False,  True, False])
    """
    return xp.equal(a, b)


@op(kernel="not_equal", shape=broadcast, differentiable=False)
def not_equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a != b``.

    >>> import extensor as ex
    >>> ex.not_equal([1.0, 2.0, 3.0], 2.0)
    tensor([ True, False,  True])
    """
    return xp.not_equal(a, b)


@op(kernel="less", shape=broadcast, differentiable=False)
def less(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a < b``.

    >>> import extensor as ex
    >>> ex.less([1.0, 2.0, 3.0], 2.0)
    tensor([ True, False, False])
    """
    return xp.less(a, b)


@op(kernel="less_equal", shape=broadcast, differentiable=False)
def less_equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a <= b``.

    >>> import extensor as ex
    >>> ex.less_equal([1.0, 2.0, 3.0], 2.0)
    tensor([ True,  True, False])
    """
    return xp.less_equal(a, b)


@op(kernel="greater", shape=broadcast, differentiable=False)
def greater(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a > b``.

    >>> import extensor as ex
    >>> ex.greater([1.0, 2.0, 3.0], 2.0)
    tensor([False, False,  True])
    """
    return xp.greater(a, b)


@op(kernel="greater_equal", shape=broadcast, differentiable=False)
def greater_equal(xp: Any, a: Array, b: Array) -> Any:
    """True where ``a >= b``.

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
