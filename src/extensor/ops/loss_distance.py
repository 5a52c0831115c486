"""Losses of embeddings: what belongs together should lie together."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, check_shape
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.arithmetic import power
from extensor.ops.chain import chain_divide, chain_rule, lift
from extensor.ops.exponential import sqrt
from extensor.ops.loss import SHARED as SHARED
from extensor.ops.loss import Reduction, reduce, reduced_shape, spread
from extensor.ops.rounding import abs, sign
from extensor.ops.selection import where

# A vector shorter than this counts as this long: what PyTorch makes of a vector of zeros.
LEAST_LENGTH = 1e-6


def _same_vectors(name: str, shapes: Shapes) -> Shape:
    """The inputs have one shape, the last axis holds the vectors; the shape without it."""
    given = {f"{key}_shape": tuple(shape) for key, shape in shapes.items()}
    first = next(iter(given.values()))
    if not first:
        raise value_error(name, "vectors need an axis", **given)
    if any(shape != first for shape in given.values()):
        raise value_error(name, f"{', '.join(shapes)} must have the same shape", **given)
    return first[:-1]


def _length(xp: Any, x: Any, p: float) -> Any:
    size = xp.abs(in_c_order(x))
    if p == 1:
        return xp.sum(size, axis=-1)
    if p == 2:
        return xp.sqrt(xp.sum(size * size, axis=-1))
    return xp.sum(size**p, axis=-1) ** (1 / p)


def _length_and_slope(x: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """The length of ``x`` along the last axis, and its derivative: 0 where the length is 0."""
    if p == 2:
        length = sqrt((x * x).sum(axis=-1, keepdims=True))
        return length, chain_divide(x, length)
    size = abs(x)
    if p == 1:
        return size.sum(axis=-1, keepdims=True), sign(x)
    length = power(power(size, p).sum(axis=-1, keepdims=True), 1 / p)
    return length, chain_rule(sign(x), power(chain_divide(size, length), p - 1))


def _triplet(
    name: str, shapes: Shapes, margin: float, p: float, swap: bool, reduction: str
) -> Shape:
    if not 0 < p < inf:
        raise value_error(name, "p must be above 0 and finite", p=p)
    if not margin > 0:
        raise value_error(name, "margin must be above 0", margin=margin)
    return reduced_shape(name, reduction, _same_vectors(name, shapes))


def _to_triplet_kink(
    anchor: Any, positive: Any, negative: Any, margin: float, p: float, swap: bool, reduction: str
) -> Any:
    """To the margin, to a tie of the second distances, and to the kinks of a distance itself."""
    pairs = [anchor - positive, anchor - negative, *([positive - negative] if swap else [])]
    near, *far = (_length(np, x, p) for x in pairs)
    kinks = [np.abs(near - np.min(far, axis=0) + margin), near, *far]
    if swap:
        kinks.append(np.abs(far[0] - far[1]))
    if p <= 1:
        kinks.extend(np.min(np.abs(x), axis=-1) for x in pairs)
    return np.min(kinks, axis=0)


@op(shape=_triplet, floats=True, kinks=_to_triplet_kink)
def triplet_loss(
    xp: Any,
    anchor: Array,
    positive: Array,
    negative: Array,
    margin: float = 1.0,
    p: float = 2.0,
    swap: bool = False,
    reduction: Reduction = "mean",
) -> Any:
    """The triplet loss, ``max(0, |anchor - positive| - |anchor - negative| + margin)``.

    The distances are p-norms along the last axis. Derivative: the directions of the differences
    where the loss is positive, else 0; 0 for a distance of 0; a tie of the two second distances
    shares it equally. No epsilon is added to a difference, unlike in PyTorch.

    Parameters
    ----------
    anchor, positive, negative : (..., features)
        Vectors: the second is to be near the first, the third far from it.
    margin
        How much farther the negative vector should be.
    p
        The order of the norm.
    swap
        Whether ``|positive - negative|`` stands for the second distance where it is smaller
        (Balntas et al. 2016).

    >>> import extensor as ex
    >>> ex.triplet_loss([0.0, 0.0], [3.0, 4.0], [0.0, 5.5])
    tensor(0.5)
    >>> ex.triplet_loss_backward(1.0, [0.0, 0.0], [3.0, 4.0], [0.0, 5.5]).grad_positive
    tensor([0.6, 0.8])
    """
    far = _length(xp, anchor - negative, p)
    if swap:
        far = xp.minimum(far, _length(xp, positive - negative, p))
    losses = _length(xp, anchor - positive, p) - far + margin
    return reduce(xp, xp.maximum(losses, xp.zeros((), dtype=losses.dtype)), reduction)


@triplet_loss.backward()
def triplet_loss_backward(
    grad_output: Tensor,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    swap: bool = False,
    reduction: Reduction = "mean",
) -> tuple[Any, Any, Any]:
    """``grad_output`` along the differences, where the loss is positive."""
    near, toward = _length_and_slope(anchor - positive, p)
    far, away = _length_and_slope(anchor - negative, p)
    each = spread(grad_output, anchor.shape[:-1], reduction)
    if reduction == "none":
        each = each.reshape(near.shape)
    if not swap:
        each = where(near - far + margin > 0, each, 0.0)
        return (
            lambda: chain_rule(each, toward - away),
            lambda: chain_rule(each, -toward),
            lambda: chain_rule(each, away),
        )
    other, apart = _length_and_slope(positive - negative, p)
    own = (far < other).astype(far.dtype) + 0.5 * (far == other).astype(far.dtype)
    each = where(near - where(far < other, far, other) + margin > 0, each, 0.0)
    return (
        lambda: chain_rule(each, toward - own * away),
        lambda: chain_rule(each, -toward - (1 - own) * apart),
        lambda: chain_rule(each, own * away + (1 - own) * apart),
    )


def _cosine(name: str, shapes: Shapes, margin: float, reduction: str) -> Shape:
    vectors = {key: shapes[key] for key in ("x1", "x2")}
    rest = _same_vectors(name, vectors)
    check_shape(name, "target", shapes["target"], rest)
    return reduced_shape(name, reduction, rest)


def _check_signs(name: str, x1: Any, x2: Any, target: Any, margin: float, reduction: str) -> None:
    wrong = (target != 1) & (target != -1)
    if wrong.any():
        raise value_error(name, "target must be 1 or -1", target=float(target[wrong][0]))


def _to_cosine_kink(x1: Any, x2: Any, target: Any, margin: float, reduction: str) -> Any:
    cosine = (x1 * x2).sum(-1) / np.maximum(_length(np, x1, 2) * _length(np, x2, 2), 1e-300)
    return np.where(target == 1, inf, np.abs(cosine - margin))


@op(
    shape=_cosine,
    check=_check_signs,
    floats=True,
    kinks=_to_cosine_kink,
)
def cosine_embedding_loss(
    xp: Any,
    x1: Array,
    x2: Array,
    target: Indices,
    margin: float = 0.0,
    reduction: Reduction = "mean",
) -> Any:
    """``1 - cos`` where ``target`` is 1, ``max(0, cos - margin)`` where it is -1.

    Derivative of ``cos`` in ``x1``: ``(x2 / |x2| - cos * x1 / |x1|) / |x1|``, and so for
    ``x2``; 0 where the loss is 0. ``target`` has none.

    Parameters
    ----------
    x1, x2 : (..., features)
        The vectors to compare.
    target : (...), -1 or 1
        Whether the vectors should be alike (1) or not (-1).
    margin
        The cosine above which unlike vectors cost something, from -1 to 1.

    >>> import extensor as ex
    >>> ex.cosine_embedding_loss([1.0, 0.0], [0.0, 2.0], 1)
    tensor(1.)
    >>> ex.cosine_embedding_loss_backward(1.0, [1.0, 0.0], [0.0, 2.0], 1).grad_x1
    tensor([ 0., -1.])
    """
    least = xp.asarray(LEAST_LENGTH, dtype=x1.dtype)
    first = x1 / xp.maximum(_length(xp, x1, 2), least)[..., None]
    second = x2 / xp.maximum(_length(xp, x2, 2), least)[..., None]
    cosine = xp.sum(in_c_order(first * second), axis=-1)
    apart = xp.maximum(cosine - margin, xp.zeros((), dtype=cosine.dtype))
    return reduce(xp, xp.where(target == 1, 1 - cosine, apart), reduction)


@cosine_embedding_loss.backward()
def cosine_embedding_loss_backward(
    grad_output: Tensor,
    x1: Tensor,
    x2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: Reduction = "mean",
) -> tuple[Any, Any]:
    """``grad_output`` times minus the derivative of ``cos``, or plus it for pairs to be parted."""
    rest = x1.shape[:-1]
    column = (*rest, 1)
    first, first_length, first_long = _unit(x1)
    second, second_length, second_long = _unit(x2)
    cosine = (first * second).sum(axis=-1, keepdims=True)
    each = spread(grad_output, rest, reduction)
    if reduction == "none":
        each = each.reshape(column)
    parted = where(cosine > margin, each, 0.0)
    each = where(target.reshape(column) == 1, -each, parted)
    return (
        lambda: chain_divide(chain_rule(each, second - cosine * first_long * first), first_length),
        lambda: chain_divide(
            chain_rule(each, first - cosine * second_long * second), second_length
        ),
    )


def _unit(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The direction of ``x``, the length it was divided by, and 1 where that is its own, else 0."""
    own = sqrt((x * x).sum(axis=-1, keepdims=True))
    length = lift(own, LEAST_LENGTH)
    return x / length, length, (own >= LEAST_LENGTH).astype(x.dtype)
