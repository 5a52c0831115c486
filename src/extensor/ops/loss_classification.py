"""Losses of classifiers. Classes lie on axis 1, or axis 0 of a single sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays import supplement
from extensor.arrays.dtypes import bool_, int64, is_floating
from extensor.arrays.shapes import Shape, Shapes, check_shape, with_axes
from extensor.arrays.supplement import gated, in_c_order
from extensor.core import tracing
from extensor.core.creation import zeros
from extensor.core.op import Array, Indices, Target, op
from extensor.core.tensor import Tensor
from extensor.errors import shown, type_error, value_error
from extensor.ops.activation import log_softmax, softmax
from extensor.ops.broadcasting import broadcast_to
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.gathering import scatter_add, take
from extensor.ops.loss import SHARED as SHARED
from extensor.ops.loss import (
    Reduction,
    as_weight,
    reduce,
    reduced_shape,
    spread,
)
from extensor.ops.selection import where


def _class_axis(shape: Shape) -> int:
    return 1 if len(shape) > 1 else 0


def _one_class(shape: Shape) -> Shape:
    """``shape`` with one class: what holds a number for each sample and broadcasts to ``shape``."""
    return with_axes(shape, (_class_axis(shape),))


def _samples(shape: Shape) -> Shape:
    axis = _class_axis(shape)
    return (*shape[:axis], *shape[axis + 1 :])


def _only_classes(shape: Shape) -> Shape:
    """``shape`` with one sample: what holds a number for each class and broadcasts to ``shape``."""
    axis = _class_axis(shape)
    return tuple(size if i == axis else 1 for i, size in enumerate(shape))


def _classification_shape(name: str, shapes: Shapes, reduction: str, soft: bool = False) -> Shape:
    """A class for each sample or, if ``soft``, probabilities for all classes; class weights."""
    (scores, shape), (_, target), (_, weight) = shapes.items()
    shape = tuple(shape)
    if not shape or shape[_class_axis(shape)] == 0:
        got = {f"{scores}_shape": shape}
        raise value_error(name, f"{scores} must have at least one class", **got)
    samples, classes = _samples(shape), shape[_class_axis(shape)]
    if tuple(target) != samples and not (soft and tuple(target) == shape):
        other = f" for class indices or {shape} for probabilities" if soft else ""
        got = {f"{scores}_shape": shape, "target_shape": tuple(target)}
        raise value_error(name, f"target must have shape {samples}{other}", **got)
    check_shape(name, "weight", weight, (classes,))
    return reduced_shape(name, reduction, samples)


def _check_classes(name: str, target: Any, classes: int, ignore_index: int) -> None:
    if not isinstance(ignore_index, int | np.integer):
        raise type_error(name, "ignore_index must be an int", ignore_index=shown(ignore_index))
    if is_floating(target.dtype) or target.dtype == bool_:
        raise type_error(name, "class indices must be integers", target_dtype=str(target.dtype))
    wrong = ((target < 0) | (target >= classes)) & (target != ignore_index)
    if wrong.any():
        raise value_error(
            name,
            f"target must be in [0, {classes - 1}] or ignore_index={ignore_index}",
            target=int(target[wrong][0]),
        )


def _target_losses(
    xp: Any, logs: Any, target: Any, weight: Any, ignore_index: int
) -> tuple[Any, Any, Any]:
    """For each sample: whether it counts, its weight, and minus its weighted log-probability."""
    axis = _class_axis(logs.shape)
    kept = target != ignore_index
    index = xp.astype(xp.where(kept, target, xp.zeros_like(target)), int64)
    chosen = xp.take_along_axis(logs, xp.expand_dims(index, axis=axis), axis=axis)
    weights = xp.astype(kept, logs.dtype)
    if weight is not None:
        own = xp.take(xp.astype(weight, logs.dtype), xp.reshape(index, (-1,)), axis=0)
        weights = weights * xp.reshape(own, index.shape)
    # gated, as what is ignored may be infinite or NaN; from 0, as -0 would print a minus
    return kept, weights, 0 - gated(xp, weights, xp.squeeze(chosen, axis=axis))


def _weighted_mean(xp: Any, losses: Any, weights: Any, reduction: str) -> Any:
    if reduction == "mean":
        return xp.sum(in_c_order(losses)) / xp.sum(in_c_order(weights))
    return reduce(xp, losses, reduction)


def _own_classes(name: str, target: Tensor, classes: int, ignore_index: int) -> Tensor:
    """A checked copy of the classes, which may have changed since the forward pass."""
    own = target.detach().clone()
    try:
        _check_classes(name, own._array, classes, ignore_index)
    except tuple(tracing.VALUES_MISSING):
        pass
    return own.astype(int64)


def _shares(
    name: str,
    shape: Shape,
    grad_output: Tensor,
    target: Tensor,
    reduction: str,
    weight: Tensor | None,
    ignore_index: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """For each sample: its class, the gradient of its loss, and that gradient times its weight."""
    classes = _own_classes(name, target, shape[_class_axis(shape)], ignore_index)
    kept = classes != ignore_index
    index = where(kept, classes, 0)
    counted = kept.astype(grad_output.dtype)
    weights = counted
    if weight is not None:
        weights = where(kept, take(weight.astype(grad_output.dtype), index, 0), 0.0)
    shares = (counted, weights)
    if reduction == "mean":
        total = weights.sum()
        shares = (chain_divide(counted, total), chain_divide(weights, total))
    # The share comes first: a sample without one gets 0 whatever grad_output is.
    plain, own = (chain_rule(share, grad_output) for share in shares)
    return index, plain, own


def _place_shares(shares: Tensor, index: Tensor, shape: Shape) -> Tensor:
    """Zeros of ``shape`` with the share of each sample at its class."""
    column = _one_class(shape)
    return scatter_add(
        zeros(shape, shares.dtype),
        index.reshape(column),
        shares.reshape(column),
        _class_axis(shape),
    )


def _nll_loss(
    x: Any, target: Any, reduction: Reduction = "mean", weight: Any = None, ignore_index: int = -100
) -> tuple[Any, ...]:
    return x, target, as_weight("nll_loss", weight), reduction, ignore_index


def _check_nll(
    name: str, x: Any, target: Any, weight: Any, reduction: str, ignore_index: int
) -> None:
    _check_classes(name, target, x.shape[_class_axis(x.shape)], ignore_index)


def _nll_shape(name: str, shapes: Shapes, reduction: str, *_: Any) -> Shape:
    return _classification_shape(name, shapes, reduction)


@op(kernel="nll_loss", shape=_nll_shape, check=_check_nll, floats=True, arguments=_nll_loss)
def nll_loss(
    xp: Any,
    x: Array,
    target: Indices,
    weight: Indices | None = None,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
) -> Any:
    """The negative log-likelihood, ``-weight[target] * x[target]`` for the class of each sample.

    The mean is taken over the weights of the samples that are not ignored; NaN if all are.
    Derivative: ``-weight[target]`` at the target, 0 elsewhere and for what is ignored; for a
    mean divided by the sum of those weights.

    Parameters
    ----------
    x : (batch, classes, ...) or (classes,)
        Log-probabilities.
    target : (batch, ...), ints
        The class of each sample.
    weight : (classes,)
        Weights of the classes, by default 1. They have no gradient.
    ignore_index
        A class whose samples do not count.

    >>> import extensor as ex
    >>> ex.nll_loss([[-1.0, -2.0], [-3.0, -4.0]], [1, 0])
    tensor(2.5)
    >>> ex.nll_loss_backward(1.0, (2, 2), [1, 0], ignore_index=0)
    tensor([[ 0., -1.],
            [ 0.,  0.]])
    """
    _, weights, losses = _target_losses(xp, x, target, weight, ignore_index)
    return _weighted_mean(xp, losses, weights, reduction)


@nll_loss.backward(kernel="nll_loss_backward")
def nll_loss_backward(
    grad_output: Tensor,
    x_shape: Shape,
    target: Tensor,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    ignore_index: int = -100,
) -> Tensor:
    """``-grad_output * weight[target]`` at the target, 0 elsewhere."""
    name = "nll_loss_backward"
    index, _, own = _shares(name, x_shape, grad_output, target, reduction, weight, ignore_index)
    return _place_shares(0.0 - own, index, x_shape)


def _cross_entropy(
    logits: Any,
    target: Any,
    reduction: Reduction = "mean",
    weight: Any = None,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> tuple[Any, ...]:
    weight = as_weight("cross_entropy", weight)
    return logits, target, weight, reduction, label_smoothing, ignore_index


def _cross_entropy_shape(
    name: str, shapes: Shapes, reduction: str, label_smoothing: float, ignore_index: int
) -> Shape:
    if not 0 <= label_smoothing <= 1:
        raise value_error(
            name, "label_smoothing must be in [0, 1]", label_smoothing=label_smoothing
        )
    shape = _classification_shape(name, shapes, reduction, soft=True)
    if tuple(shapes["target"]) == tuple(shapes["logits"]) and ignore_index >= 0:
        raise value_error(name, "ignore_index is for class indices", ignore_index=ignore_index)
    return shape


def _check_target(
    name: str,
    logits: Any,
    target: Any,
    weight: Any,
    reduction: str,
    label_smoothing: float,
    ignore_index: int,
) -> None:
    if target.shape != logits.shape:
        _check_classes(name, target, logits.shape[_class_axis(logits.shape)], ignore_index)
    elif not is_floating(target.dtype):
        raise type_error(name, "probabilities must be floating", target_dtype=str(target.dtype))


@op(
    kernel="cross_entropy",
    shape=_cross_entropy_shape,
    check=_check_target,
    floats=True,
    arguments=_cross_entropy,
)
def cross_entropy(
    xp: Any,
    logits: Array,
    target: Target,
    weight: Indices | None = None,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> Any:
    """The cross-entropy ``-sum(weight * target * log_softmax(logits))`` over the classes.

    It is computed without overflow. The mean over class indices is taken over the weights of the
    samples that are not ignored, NaN if all are; over probabilities, over the samples. Derivative: with
    ``q = weight * target``, in ``logits``: ``softmax(logits) * sum(q) - q``, 0 for what is
    ignored; in probabilities: ``-weight * log_softmax(logits)``; class indices and ``weight``
    have none.

    Parameters
    ----------
    logits : (batch, classes, ...) or (classes,)
        The output of a model, before softmax.
    target : (batch, ...), ints, or floats in the shape of ``logits``
        The class of each sample, or a probability for each class.
    weight : (classes,)
        Weights of the classes, by default 1.
    label_smoothing
        The share of equal probabilities that is mixed into the target, from 0 to 1.
    ignore_index
        A class whose samples do not count.

    >>> import extensor as ex
    >>> ex.cross_entropy([[10000.0, 0.0], [0.0, 0.0]], [0, 1], "none")
    tensor([0.       , 0.6931472])
    >>> ex.cross_entropy_backward(1.0, [[0.0, 0.0]], [1]).grad_logits
    tensor([[ 0.5, -0.5]])
    """
    shape = logits.shape
    axis = _class_axis(shape)
    logs = supplement.log_softmax(xp, in_c_order(logits), axis)
    even = label_smoothing / shape[axis]
    if weight is not None:
        weight = xp.astype(weight, logs.dtype)
        by_class = xp.reshape(weight, _only_classes(shape))
    if target.shape == shape:
        mixed = target if label_smoothing == 0 else (1 - label_smoothing) * target + even
        if weight is not None:
            mixed = mixed * by_class
        return reduce(xp, 0 - xp.sum(in_c_order(gated(xp, mixed, logs)), axis=axis), reduction)
    kept, weights, losses = _target_losses(xp, logs, target, weight, ignore_index)
    if label_smoothing:
        if weight is not None:
            logs = gated(xp, by_class, logs)
        smooth = gated(xp, xp.astype(kept, logs.dtype), -even * xp.sum(logs, axis=axis))
        losses = (1 - label_smoothing) * losses + smooth
    return _weighted_mean(xp, losses, weights, reduction)


@cross_entropy.backward(kernel="cross_entropy_backward")
def cross_entropy_backward(
    grad_output: Tensor,
    logits: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> tuple[Any, Any]:
    """``grad_output`` times ``softmax(logits) * sum(q) - q`` and ``-weight * log_softmax(logits)``.

    ``grad_target`` is None for class indices.
    """
    shape = logits.shape
    axis = _class_axis(shape)
    even = label_smoothing / shape[axis]
    by_class = None
    if weight is not None:
        by_class = weight.astype(grad_output.dtype).reshape(_only_classes(shape))

    def from_classes() -> Tensor:
        name = "cross_entropy_backward"
        index, plain, own = _shares(
            name, shape, grad_output, target, reduction, weight, ignore_index
        )
        own = (1 - label_smoothing) * own
        gradient = -_place_shares(own, index, shape)
        total = own.reshape(_one_class(shape))
        if label_smoothing:
            smooth = even * plain.reshape(_one_class(shape))
            if by_class is not None:
                smooth = smooth * by_class
            gradient = gradient - smooth
            total = total + broadcast_to(smooth, shape).sum(axis=axis, keepdims=True)
        return chain_rule(total, softmax(logits, axis)) + gradient

    if target.shape != shape:
        return from_classes, None
    each = spread(grad_output, _samples(shape), reduction)
    if reduction == "none":
        each = each.reshape(_one_class(shape))

    def to_logits() -> Tensor:
        mixed = target if label_smoothing == 0 else (1 - label_smoothing) * target + even
        if by_class is not None:
            mixed = mixed * by_class
        total = mixed.sum(axis=axis, keepdims=True)
        return chain_rule(each, chain_rule(total, softmax(logits, axis)) - mixed)

    def to_target() -> Tensor:
        factor: Any = label_smoothing - 1.0
        if by_class is not None:
            factor = factor * by_class
        return chain_rule(each, chain_rule(factor, log_softmax(logits, axis)))

    return to_logits, to_target
