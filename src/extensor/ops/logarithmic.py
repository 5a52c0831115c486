"""Logarithms of sums and products, which neither overflow nor turn 0 * inf into NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.shapes import broadcast
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.activation import sigmoid
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.comparison import isinf
from extensor.ops.exponential import LN2, log
from extensor.ops.selection import where


def _side_by_side(xp: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Both in their common shape and in C order, so that results have the same bits in every layout."""
    a, b = xp.broadcast_arrays(a, b)
    return (np.asarray(a, order="C"), np.asarray(b, order="C")) if xp is np else (a, b)


def difference(a: Tensor, b: Tensor) -> Tensor:
    """``a - b``, and 0 where both are the same infinity."""
    return where((a == b) & isinf(a), 0.0, a - b)


@op(shape=broadcast, floats=True)
def logaddexp(xp: Any, a: Array, b: Array) -> Any:
    """``log(exp(a) + exp(b))``, without overflow.

    Derivative: ``sigmoid(a - b)`` and ``sigmoid(b - a)``, a half for both at the same infinity.

    >>> import extensor as ex
    >>> ex.logaddexp([1000.0, 0.0], [1000.0, 0.0])
    tensor([1.0006931e+03, 6.9314718e-01])
    >>> ex.logaddexp_backward([1.0], [0.0], [0.0]).grad_a
    tensor([0.5])
    """
    return xp.logaddexp(*_side_by_side(xp, a, b))


@logaddexp.backward()
def logaddexp_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output`` times ``sigmoid(a - b)`` and ``sigmoid(b - a)``."""
    gap = difference(a, b)
    return (
        lambda: reduce_to_shape(chain_rule(grad_output, sigmoid(gap)), a.shape),
        lambda: reduce_to_shape(chain_rule(grad_output, sigmoid(-gap)), b.shape),
    )


@op(shape=broadcast, floats=True)
def logaddexp2(xp: Any, a: Array, b: Array) -> Any:
    """``log2(2**a + 2**b)``, without overflow.

    Derivative: ``sigmoid((a - b) * log(2))`` and ``sigmoid((b - a) * log(2))``, a half for both at
    the same infinity.

    >>> import extensor as ex
    >>> ex.logaddexp2([1000.0, 0.0], [1000.0, 0.0])
    tensor([1001.,    1.])
    >>> ex.logaddexp2_backward([1.0], [0.0], [0.0]).grad_b
    tensor([0.5])
    """
    a, b = _side_by_side(xp, a, b)
    gap = xp.where(a == b, xp.zeros_like(a), xp.abs(a - b))
    return xp.maximum(a, b) + xp.log1p(xp.exp(-LN2 * gap)) / LN2


@logaddexp2.backward()
def logaddexp2_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output`` times the sigmoids of ``a - b`` and ``b - a``, times ``log(2)`` both."""
    gap = LN2 * difference(a, b)
    return (
        lambda: reduce_to_shape(chain_rule(grad_output, sigmoid(gap)), a.shape),
        lambda: reduce_to_shape(chain_rule(grad_output, sigmoid(-gap)), b.shape),
    )


@op(shape=broadcast, floats=True)
def xlogy(xp: Any, a: Array, b: Array) -> Any:
    """``a * log(b)``, and 0 where ``a`` is 0 unless ``b`` is NaN.

    Derivative: ``log(b)``, 0 where ``a`` is 0 and ``b`` is not above 0; and ``a / b``, 0 where ``a``
    is 0.

    >>> import extensor as ex
    >>> ex.xlogy([0.0, 2.0], [0.0, 1.0])
    tensor([0., 0.])
    >>> ex.xlogy_backward([1.0], [3.0], [2.0]).grad_b
    tensor([1.5])
    """
    a, b = _side_by_side(xp, a, b)
    return xp.where((a == 0) & ~xp.isnan(b), xp.zeros_like(a), a * xp.log(b))


@xlogy.backward()
def xlogy_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output * log(b)`` and ``grad_output * a / b``."""
    empty = (a == 0) & (b <= 0)
    return (
        lambda: reduce_to_shape(
            chain_rule(where(empty, 0.0, grad_output), log(where(empty, 1.0, b))), a.shape
        ),
        lambda: reduce_to_shape(chain_divide(chain_rule(grad_output, a), b), b.shape),
    )
