"""Distances and cosines between vectors, and vectors of length 1."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, axis_index, broadcast, same
from extensor.arrays.supplement import in_c_order
from extensor.core.creation import zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.movement import unsqueeze
from extensor.ops.selection import where
from extensor.ops.statistics import norm, norm_backward, scaled_norm


def _length(xp: Any, x: Any, p: float, axis: int = -1) -> Any:
    """The p-norm along an axis, which is kept; of order 0 the number of elements that are not 0."""
    if p == 0:
        return xp.sum(xp.astype(x != 0, x.dtype), axis=axis, keepdims=True)
    return scaled_norm(xp, x, p, (axis % x.ndim,))


def _compared(name: str, shapes: Shapes, axis: int, eps: float) -> Shape:
    whole = broadcast(name, shapes)
    along = axis_index(name, axis, len(whole))
    if not eps > 0:
        raise value_error(name, "eps must be above 0", eps=eps)
    return (*whole[:along], *whole[along + 1 :])


@op(shape=_compared, floats=True)
def cosine_similarity(xp: Any, x1: Array, x2: Array, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors, ``sum(x1 * x2) / (|x1| * |x2|)``.

    Derivative in ``x1``: ``(x2 / |x2| - cos * x1 / |x1|) / |x1|``, and so for ``x2``. A vector
    shorter than ``eps`` is divided by ``eps``.

    Parameters
    ----------
    x1, x2
        The vectors, along ``axis``. They broadcast against each other.
    axis
        The axis of the vectors, in the shape to which both broadcast.
    eps
        The least length to divide by.

    Returns
    -------
    Tensor
        The cosines, in the shape to which both broadcast, without ``axis``.

    Raises
    ------
    ValueError
        If the shapes do not broadcast, ``axis`` is out of range or ``eps`` is not positive.

    >>> import extensor as ex
    >>> ex.cosine_similarity([[3.0, 4.0]], [[4.0, 3.0]])
    tensor([0.96])
    >>> ex.cosine_similarity_backward([1.0], [[1.0, 0.0]], [[0.0, 2.0]]).grad_x1
    tensor([[0., 1.]])
    """
    x1, x2 = (in_c_order(x) for x in xp.broadcast_arrays(x1, x2))
    along = axis_index("cosine_similarity", axis, x1.ndim)
    least = xp.asarray(eps, dtype=x1.dtype)
    units = [x / xp.maximum(_length(xp, x, 2, along), least) for x in (x1, x2)]
    return xp.sum(in_c_order(units[0] * units[1]), axis=along)


@cosine_similarity.backward()
def cosine_similarity_backward(
    grad_output: Tensor, x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8
) -> tuple[Any, Any]:
    """``grad_output`` times the derivatives of the cosine, summed to the inputs' shapes."""
    whole = broadcast("cosine_similarity_backward", {"x1": x1.shape, "x2": x2.shape})
    along = axis_index("cosine_similarity_backward", axis, len(whole)) - len(whole)
    first, first_length, first_long = _unit(x1, along, whole, eps)
    second, second_length, second_long = _unit(x2, along, whole, eps)
    cosine = (first * second).sum(axis=along, keepdims=True)
    each = unsqueeze(grad_output, along)
    return (
        lambda: reduce_to_shape(
            chain_divide(chain_rule(each, second - cosine * first_long * first), first_length),
            x1.shape,
        ),
        lambda: reduce_to_shape(
            chain_divide(chain_rule(each, first - cosine * second_long * second), second_length),
            x2.shape,
        ),
    )


def _unit(x: Tensor, axis: int, whole: Shape, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """The direction of ``x``, the length it was divided by, and 1 where that is its own, else 0."""
    wide = x.broadcast_to(whole)
    own = norm(wide, 2, axis, True)
    length = where(own < eps, eps, own)
    return wide / length, length, (own >= eps).astype(x.dtype)


def _check_order(name: str, p: Any) -> None:
    if not p >= 0:
        raise value_error(name, "p must be 0 or greater", p=p)


def _apart(name: str, shapes: Shapes, p: float, eps: float, keepdims: bool) -> Shape:
    _check_order(name, p)
    whole = broadcast(name, shapes)
    if not whole:
        raise value_error(name, "vectors need an axis", x1_shape=(), x2_shape=())
    return (*whole[:-1], 1) if keepdims else whole[:-1]


def _to_kink(gap: Any, p: float) -> Any:
    """To a distance of 0, or in orders below 2 to an element of 0, or to a tie of the largest."""
    size = np.abs(gap)
    if p < 2:
        return np.min(size) if size.size else inf
    if p < inf:
        return np.min(np.max(size, axis=-1)) if size.size else inf
    ranked = np.sort(size, axis=-1)
    ties = np.diff(ranked, axis=-1)[..., -1:] if size.shape[-1] > 1 else ranked
    return np.min(np.minimum(ranked[..., -1:], ties)) if size.size else inf


def _to_pair(x1: Any, x2: Any, p: float, eps: float, keepdims: bool) -> Any:
    return _to_kink(x1 - x2 + eps, p)


@op(shape=_apart, floats=True, kinks=_to_pair)
def pairwise_distance(
    xp: Any, x1: Array, x2: Array, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False
) -> Any:
    """The p-norm of ``x1 - x2 + eps`` along the last axis.

    Derivative: that of `norm` for ``x1``, and its negative for ``x2``; 0 for ``p=0``, which counts
    the elements that are not 0.

    Parameters
    ----------
    x1, x2 : (..., features)
        The vectors. They broadcast against each other.
    p
        The order of the norm, 0 or greater.
    eps
        Number added to each difference, as in PyTorch, so that the derivative has no kink at 0.
    keepdims
        Whether the last axis stays, with size 1.

    Returns
    -------
    Tensor
        The distances, in the shape to which both broadcast, without the last axis.

    Raises
    ------
    ValueError
        If the shapes do not broadcast or ``p`` is negative.

    >>> import extensor as ex
    >>> ex.pairwise_distance([[0.0, 0.0]], [[3.0, 4.0]], eps=0.0)
    tensor([5.])
    >>> ex.pairwise_distance_backward([1.0], [[3.0, 4.0]], [[0.0, 0.0]], eps=0.0).grad_x1
    tensor([[0.6, 0.8]])
    """
    gap = in_c_order(x1 - x2 + eps)
    length = _length(xp, gap, p)
    return length if keepdims else xp.squeeze(length, axis=-1)


@pairwise_distance.backward()
def pairwise_distance_backward(
    grad_output: Tensor,
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    eps: float = 1e-6,
    keepdims: bool = False,
) -> tuple[Any, Any]:
    """``grad_output`` along the differences, and its negative."""
    gap = x1 - x2 + eps
    gradient = _of_length(grad_output if keepdims else unsqueeze(grad_output, -1), gap, p)
    return (
        lambda: reduce_to_shape(gradient, x1.shape),
        lambda: reduce_to_shape(-gradient, x2.shape),
    )


def _of_length(gradient: Tensor, gap: Tensor, p: float) -> Tensor:
    """The gradient of the p-norm along the last axis, which was kept."""
    if p == 0:
        return zeros_like(gap)
    found: Tensor = norm_backward(gradient, gap, norm(gap, p, -1, True), p, -1, True)
    return found


def _all_pairs(name: str, shapes: Shapes, p: float) -> Shape:
    _check_order(name, p)
    x1, x2 = (tuple(shape) for shape in shapes.values())
    if len(x1) < 2 or len(x2) < 2 or x1[-1] != x2[-1]:
        requirement = "x1 and x2 must be rows of vectors of the same size"
        raise value_error(name, requirement, x1_shape=x1, x2_shape=x2)
    rest = broadcast(name, {"x1": x1[:-2], "x2": x2[:-2]})
    return (*rest, x1[-2], x2[-2])


def _to_any_pair(x1: Any, x2: Any, p: float) -> Any:
    return _to_kink(x1[..., :, None, :] - x2[..., None, :, :], p)


@op(shape=_all_pairs, floats=True, kinks=_to_any_pair)
def cdist(xp: Any, x1: Array, x2: Array, p: float = 2.0) -> Any:
    """The p-norm of the difference of every row of ``x1`` and every row of ``x2``.

    Derivative: the sums of those of the norms over the rows of the other; 0 for a distance of 0, and
    for ``p=0``, which counts the elements that differ.

    Parameters
    ----------
    x1 : (..., n, features)
        Vectors.
    x2 : (..., m, features)
        Vectors to compare them with.
    p
        The order of the norm, 0 or greater.

    Returns
    -------
    Tensor, (..., n, m)
        The distances.

    Raises
    ------
    ValueError
        If the shapes do not fit or ``p`` is negative.

    Notes
    -----
    All differences are in memory at once: n times m vectors.

    >>> import extensor as ex
    >>> ex.cdist([[0.0, 0.0]], [[3.0, 4.0], [0.0, 1.0]])
    tensor([[5., 1.]])
    >>> ex.cdist_backward([[1.0]], [[3.0, 4.0]], [[0.0, 0.0]]).grad_x2
    tensor([[-0.6, -0.8]])
    """
    gap = xp.expand_dims(x1, axis=-2) - xp.expand_dims(x2, axis=-3)
    return xp.squeeze(_length(xp, gap, p), axis=-1)


@cdist.backward()
def cdist_backward(grad_output: Tensor, x1: Tensor, x2: Tensor, p: float = 2.0) -> tuple[Any, Any]:
    """``grad_output`` along all differences, summed over the rows of the other."""
    gap = unsqueeze(x1, -2) - unsqueeze(x2, -3)
    gradient = _of_length(unsqueeze(grad_output, -1), gap, p)
    return (
        lambda: reduce_to_shape(gradient.sum(axis=-2), x1.shape),
        lambda: reduce_to_shape(-gradient.sum(axis=-3), x2.shape),
    )


def _scaled(name: str, shapes: Shapes, p: float, axis: int, eps: float) -> Shape:
    shape = same(name, shapes)
    axis_index(name, axis, len(shape))
    if not p > 0:
        raise value_error(name, "p must be above 0", p=p)
    return shape


def _to_scaled(x: Any, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Any:
    return _to_kink(np.moveaxis(x, axis, -1), p)


@op(shape=_scaled, floats=True, kinks=_to_scaled)
def normalize(xp: Any, x: Array, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Any:
    """``x`` over its p-norm along ``axis``; a norm below ``eps`` counts as ``eps``.

    Derivative: ``grad_output`` over the norm, minus the derivative of the norm times
    ``sum(grad_output * output)`` over the norm.

    Parameters
    ----------
    p
        The order of the norm, above 0.
    axis
        The axis of the vectors.
    eps
        The least norm to divide by.

    Returns
    -------
    Tensor
        Vectors of length 1, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range or ``p`` is not positive.

    >>> import extensor as ex
    >>> ex.normalize([[3.0, 4.0]])
    tensor([[0.6, 0.8]])
    >>> ex.normalize_backward([[1.0, 0.0]], [[0.0, 2.0]])
    tensor([[0.5, 0. ]])
    """
    x = in_c_order(x)
    least = xp.asarray(eps, dtype=x.dtype)
    return x / xp.maximum(_length(xp, x, p, axis_index("normalize", axis, x.ndim)), least)


@normalize.backward()
def normalize_backward(
    grad_output: Tensor, x: Tensor, p: float = 2.0, axis: int = 1, eps: float = 1e-12
) -> Tensor:
    """``grad_output`` over the norm, without what only changes the length."""
    along = axis_index("normalize_backward", axis, x.ndim)
    own = norm(x, p, along, True)
    length = where(own < eps, eps, own)
    inner = chain_divide(chain_divide(chain_rule(grad_output, x), length), length)
    total = inner.sum(axis=along, keepdims=True)
    change = norm_backward(where(own < eps, 0.0, total), x, own, p, along, True)
    return chain_divide(grad_output, length) - change
