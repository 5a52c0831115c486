"""Sums, products and extremes along axes, and the running sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.shapes import (
    Shape,
    axis_index,
    axis_indices,
    axis_or_none,
    count,
    reduced,
    reduced_nonempty,
    same_along,
    with_axes,
)
from extensor.arrays.supplement import in_c_order
from extensor.core.creation import ones, zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.arrangement import flip
from extensor.ops.broadcasting import broadcast_to
from extensor.ops.chain import chain_rule
from extensor.ops.movement import permute

SHARED = """
Parameters
----------
axis
    The axis or axes to reduce, by default all. A negative number counts from the last axis.
keepdims
    Whether to keep the reduced axes with size 1, so that the result broadcasts against ``x``.
"""

Axis = int | tuple[int, ...] | None


def expanded(grad_output: Tensor, input_shape: Shape, axis: Axis, keepdims: bool) -> Tensor:
    """A reduction's gradient with the reduced axes put back, as size 1."""
    if keepdims:
        return grad_output
    axes = axis_indices("expanded", axis, len(input_shape))
    return grad_output.reshape(with_axes(input_shape, axes))


def reduced_count(input_shape: Shape, axis: Axis) -> int:
    """How many elements go into each element of the result."""
    return count([input_shape[i] for i in axis_indices("reduced_count", axis, len(input_shape))])


@op(kernel="sum", shape=reduced)
def sum(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum over ``axis``, 0 over nothing. Derivative: ``grad_output`` to every element.

    >>> import extensor as ex
    >>> ex.sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    tensor([4., 6.])
    >>> ex.sum_backward([1.0, 2.0], (2, 2), axis=0)
    tensor([[1., 2.],
            [1., 2.]])
    >>> ex.sum([], axis=0)
    tensor(0.)
    """
    return xp.sum(in_c_order(x), axis=axis_indices("sum", axis, x.ndim), keepdims=keepdims)


@sum.backward(kernel="sum_backward", unfolds=True)
def sum_backward(
    grad_output: Tensor, input_shape: Shape, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` broadcast to ``input_shape``."""
    return broadcast_to(expanded(grad_output, input_shape, axis, keepdims), input_shape)


@op(kernel="mean", shape=reduced, floats=True)
def mean(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean over ``axis``, NaN over nothing. Derivative: ``grad_output / n`` to every element.

    >>> import extensor as ex
    >>> ex.mean([[1.0, 2.0], [3.0, 4.0]], axis=0)
    tensor([2., 3.])
    >>> ex.mean_backward(1.0, (4,))
    tensor([0.25, 0.25, 0.25, 0.25])
    >>> ex.mean([[1.0, 2.0], [3.0, 4.0]], axis=1, keepdims=True)
    tensor([[1.5],
            [3.5]])
    """
    axes = axis_indices("mean", axis, x.ndim)
    return xp.sum(in_c_order(x), axis=axes, keepdims=keepdims) / reduced_count(x.shape, axes)


@mean.backward(kernel="mean_backward", unfolds=True)
def mean_backward(
    grad_output: Tensor, input_shape: Shape, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output / n`` broadcast to ``input_shape``."""
    share = grad_output / reduced_count(input_shape, axis)
    return broadcast_to(expanded(share, input_shape, axis, keepdims), input_shape)


def gap_to_top(x: Any, axis: Axis = None) -> Any:
    """How far each element may move before another one becomes the largest."""
    axes = axis_indices("gap_to_top", axis, x.ndim)
    kept = [size for i, size in enumerate(x.shape) if i not in axes]
    rows = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(*kept, -1)
    if rows.shape[-1] < 2:
        return np.full(x.shape, np.inf)
    ordered = np.sort(rows, axis=-1)
    top, second = (ordered[..., -i].reshape(with_axes(x.shape, axes)) for i in (1, 2))
    return np.where(x == top, top - second, top - x)


def _gap_to_top(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    return gap_to_top(x, axis)


def _gap_to_bottom(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    return gap_to_top(-x, axis)


def share_of_winners(x: Tensor, best: Tensor, axis: Axis) -> Tensor:
    """``1 / n`` at the n elements of a slice that equal its ``best``, else 0.

    A slice with NaN in it has NaN as its best, and its NaNs win.
    """
    wins = (x == best) | (x != x)
    return wins.astype(x.dtype) / sum(wins, axis, keepdims=True).astype(x.dtype)


@op(kernel="max_reduce", shape=reduced_nonempty, kinks=_gap_to_top)
def max_reduce(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The largest element over ``axis``, NaN if there is one (``max`` is the same function).

    Derivative: ``grad_output`` to the largest element; several that tie share it equally.

    >>> import extensor as ex
    >>> ex.max_reduce([[1.0, 5.0], [3.0, 4.0]], axis=1)
    tensor([5., 4.])
    >>> ex.max_reduce_backward(1.0, [2.0, 7.0, 7.0])
    tensor([0. , 0.5, 0.5])
    >>> ex.max([[1.0, 5.0], [3.0, 4.0]])
    tensor(5.)
    """
    return xp.max(x, axis=axis_indices("max_reduce", axis, x.ndim), keepdims=keepdims)


@max_reduce.backward(kernel="max_reduce_backward")
def max_reduce_backward(
    grad_output: Tensor, x: Tensor, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` to the largest elements, shared equally among those that tie."""
    x = x.detach()
    share = share_of_winners(x, max_reduce(x, axis, keepdims=True), axis)
    return chain_rule(expanded(grad_output, x.shape, axis, keepdims), share)


@op(kernel="min_reduce", shape=reduced_nonempty, kinks=_gap_to_bottom)
def min_reduce(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The smallest element over ``axis``, NaN if there is one (``min`` is the same function).

    Derivative: ``grad_output`` to the smallest element; several that tie share it equally.

    >>> import extensor as ex
    >>> ex.min_reduce([[1.0, 5.0], [3.0, 4.0]], axis=1)
    tensor([1., 3.])
    >>> ex.min_reduce_backward(1.0, [2.0, 7.0, 2.0])
    tensor([0.5, 0. , 0.5])
    """
    return xp.min(x, axis=axis_indices("min_reduce", axis, x.ndim), keepdims=keepdims)


@min_reduce.backward(kernel="min_reduce_backward")
def min_reduce_backward(
    grad_output: Tensor, x: Tensor, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` to the smallest elements, shared equally among those that tie."""
    x = x.detach()
    share = share_of_winners(x, min_reduce(x, axis, keepdims=True), axis)
    return chain_rule(expanded(grad_output, x.shape, axis, keepdims), share)


max, max_backward = max_reduce, max_reduce_backward
min, min_backward = min_reduce, min_reduce_backward


@op(kernel="prod", shape=reduced)
def prod(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The product over ``axis``, 1 over nothing. Derivative: the product of all the other elements.

    It is never found by division, so one zero, or two, are exact in every order.

    >>> import extensor as ex
    >>> ex.prod([[1.0, 2.0], [3.0, 4.0]], axis=1)
    tensor([ 2., 12.])
    >>> ex.prod_backward(1.0, [2.0, 0.0, 3.0])
    tensor([0., 6., 0.])
    """
    return xp.prod(in_c_order(x), axis=axis_indices("prod", axis, x.ndim), keepdims=keepdims)


@prod.backward(kernel="prod_backward")
def prod_backward(
    grad_output: Tensor, x: Tensor, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` times the product of all the other elements.

    The factors are multiplied in pairs, pairs of pairs and so on; then the gradient comes down that
    tree, multiplied at each step by the sibling. That is O(n), and made of products alone.
    """
    from extensor.ops.joining import concatenate  # which is built on sum

    axes = axis_indices("prod_backward", axis, x.ndim)
    order = (*axes, *(i for i in range(x.ndim) if i not in axes))
    size = reduced_count(x.shape, axes)
    if size == 0:
        return zeros_like(x)
    rest = count(grad_output.shape)
    factors = permute(x, order).reshape((size, rest))
    levels = []
    while factors.shape[0] > 1:
        length = factors.shape[0]
        if length % 2:
            factors = concatenate([factors, ones((1, rest), x.dtype)])
        pairs = factors.reshape((factors.shape[0] // 2, 2, rest))
        levels.append((length, pairs))
        factors = pairs[:, 0] * pairs[:, 1]
    gradient = grad_output.reshape((1, rest))
    for length, pairs in reversed(levels):
        both = chain_rule(gradient.reshape((pairs.shape[0], 1, rest)), flip(pairs, 1))
        gradient = both.reshape((2 * pairs.shape[0], rest))[:length]
    inverse = sorted(range(x.ndim), key=order.__getitem__)
    return permute(gradient.reshape([x.shape[i] for i in order]), inverse)


@op(kernel="cumsum", shape=same_along)
def cumsum(xp: Any, x: Array, axis: int = 0) -> Any:
    """The sum of each element and all before it along ``axis``.

    Derivative: the sum of ``grad_output`` at each element and all after it.

    Parameters
    ----------
    axis
        The axis to sum along.

    Returns
    -------
    Tensor
        The running sums, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.cumsum([1.0, 2.0, 3.0])
    tensor([1., 3., 6.])
    >>> ex.cumsum_backward([1.0, 1.0, 1.0])
    tensor([3., 2., 1.])
    """
    if x.ndim == 0:
        return xp.reshape(xp.cumulative_sum(xp.reshape(x, (1,)), axis=0), ())
    return xp.cumulative_sum(x, axis=axis_index("cumsum", axis, x.ndim))


@cumsum.backward(kernel="cumsum_backward")
def cumsum_backward(grad_output: Tensor, axis: int = 0) -> Tensor:
    """The running sum of ``grad_output`` from the far end."""
    if axis_or_none("cumsum_backward", axis, grad_output.ndim) is None:
        return grad_output
    return flip(cumsum(flip(grad_output, axis), axis), axis)
