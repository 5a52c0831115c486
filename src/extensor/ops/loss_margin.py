"""Losses of margins: scores that should be apart, for pairs, classes and sets of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_, is_floating
from extensor.arrays.shapes import Shape, Shapes, broadcast, check_shape, same
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.activation import sigmoid
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_rule
from extensor.ops.gathering import gather, scatter_add
from extensor.ops.loss import SHARED as SHARED
from extensor.ops.loss import Reduction, paired, reduce, reduced_shape, spread
from extensor.ops.movement import unsqueeze
from extensor.ops.selection import where


def _zero(xp: Any, x: Any) -> Any:
    return xp.zeros((), dtype=x.dtype)


def _check_signs(name: str, target: Any) -> None:
    wrong = (target != 1) & (target != -1)
    if wrong.any():
        raise value_error(name, "target must be 1 or -1", target=float(target[wrong][0]))


@op(shape=paired, floats=True)
def soft_margin_loss(xp: Any, x: Array, target: Array, reduction: Reduction = "mean") -> Any:
    """The logistic loss of labels -1 and 1, ``log(1 + exp(-target * x))``, without overflow.

    Derivative: ``-target * sigmoid(-target * x)`` and ``-x * sigmoid(-target * x)``.

    Parameters
    ----------
    x
        Scores.
    target
        Labels -1 and 1, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.soft_margin_loss([0.0, 1000.0], [1.0, 1.0], "none")
    tensor([0.6931472, 0.       ])
    >>> ex.soft_margin_loss_backward(1.0, [0.0], [1.0]).grad_x
    tensor([-0.5])
    """
    return reduce(xp, xp.logaddexp(in_c_order(-target * x), _zero(xp, x)), reduction)


@soft_margin_loss.backward()
def soft_margin_loss_backward(
    grad_output: Tensor, x: Tensor, target: Tensor, reduction: Reduction = "mean"
) -> tuple[Any, Any]:
    """``-grad_output * sigmoid(-target * x)`` times ``target`` and times ``x``."""
    each = chain_rule(-spread(grad_output, x.shape, reduction), sigmoid(-target * x))
    return lambda: chain_rule(each, target), lambda: chain_rule(each, x)


def _ranked(name: str, shapes: Shapes, margin: float, reduction: str) -> Shape:
    return reduced_shape(name, reduction, broadcast(name, shapes))


def _check_ranked(name: str, x1: Any, x2: Any, target: Any, *_: Any) -> None:
    _check_signs(name, target)


def _to_ranked(x1: Any, x2: Any, target: Any, margin: float, reduction: str) -> Any:
    return np.abs(target * (x1 - x2) - margin)


@op(shape=_ranked, check=_check_ranked, floats=True, kinks=_to_ranked)
def margin_ranking_loss(
    xp: Any,
    x1: Array,
    x2: Array,
    target: Indices,
    margin: float = 0.0,
    reduction: Reduction = "mean",
) -> Any:
    """``max(0, margin - target * (x1 - x2))``: which of two scores should be larger, and by how much.

    Derivative: ``-target`` and ``target`` where the loss is positive, else 0.

    Parameters
    ----------
    x1, x2
        The scores to compare. They broadcast against each other.
    target : -1 or 1
        Whether the first score should be larger (1) or the second (-1).
    margin
        The least difference that costs nothing.

    >>> import extensor as ex
    >>> ex.margin_ranking_loss([1.0, 1.0], [2.0, 0.0], [1, 1], 0.5, "none")
    tensor([1.5, 0. ])
    >>> ex.margin_ranking_loss_backward(1.0, [1.0], [2.0], [1]).grad_x2
    tensor([1.])
    """
    target = xp.astype(target, x1.dtype)
    return reduce(xp, xp.maximum(margin - target * (x1 - x2), _zero(xp, x1)), reduction)


@margin_ranking_loss.backward()
def margin_ranking_loss_backward(
    grad_output: Tensor,
    x1: Tensor,
    x2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: Reduction = "mean",
) -> tuple[Any, Any]:
    """``-grad_output * target`` and its negative, where the loss is positive."""
    sign = target.astype(x1.dtype)
    losses = margin - sign * (x1 - x2)
    gradient = where(losses > 0, -sign * spread(grad_output, losses.shape, reduction), 0.0)
    return (
        lambda: reduce_to_shape(gradient, x1.shape),
        lambda: reduce_to_shape(-gradient, x2.shape),
    )


def _embedded(name: str, shapes: Shapes, margin: float, reduction: str) -> Shape:
    return paired(name, shapes, reduction)


def _check_embedded(name: str, x: Any, target: Any, *_: Any) -> None:
    _check_signs(name, target)


def _to_embedded(x: Any, target: Any, margin: float, reduction: str) -> Any:
    return np.where(target == 1, np.inf, np.abs(x - margin))


@op(shape=_embedded, check=_check_embedded, floats=True, kinks=_to_embedded)
def hinge_embedding_loss(
    xp: Any, x: Array, target: Indices, margin: float = 1.0, reduction: Reduction = "mean"
) -> Any:
    """``x`` where ``target`` is 1, ``max(0, margin - x)`` where it is -1.

    Derivative: 1 where ``target`` is 1; -1 where it is -1 and ``x`` is below ``margin``; else 0.

    Parameters
    ----------
    x
        Distances between pairs.
    target : -1 or 1
        Whether a pair should be alike (1) or not (-1).
    margin
        The distance from which unlike pairs cost nothing.

    >>> import extensor as ex
    >>> ex.hinge_embedding_loss([0.5, 0.25, 3.0], [1, -1, -1], 1.0, "none")
    tensor([0.5 , 0.75, 0.  ])
    >>> ex.hinge_embedding_loss_backward(1.0, [0.5, 0.25], [1, -1], reduction="sum")
    tensor([ 1., -1.])
    """
    return reduce(xp, xp.where(target == 1, x, xp.maximum(margin - x, _zero(xp, x))), reduction)


@hinge_embedding_loss.backward()
def hinge_embedding_loss_backward(
    grad_output: Tensor,
    x: Tensor,
    target: Tensor,
    margin: float = 1.0,
    reduction: Reduction = "mean",
) -> Tensor:
    """``grad_output`` where ``target`` is 1, its negative where it is -1 and ``x`` below ``margin``."""
    each = spread(grad_output, x.shape, reduction)
    return where(target == 1, each, where(x < margin, -each, 0.0))


def _rows(name: str, shape: Shape) -> Shape:
    """The shape of the samples: scores are (classes,) or (batch, classes)."""
    if len(shape) not in (1, 2) or shape[-1] == 0:
        raise value_error(name, "x must be (classes,) or (batch, classes)", x_shape=tuple(shape))
    return tuple(shape[:-1])


def _check_labels(name: str, x: Any, target: Any, least: int) -> None:
    if is_floating(target.dtype) or target.dtype == bool_:
        raise type_error(name, "target must be integers", target_dtype=str(target.dtype))
    wrong = (target < least) | (target >= x.shape[-1])
    if wrong.any():
        requirement = f"target must be in [{least}, {x.shape[-1] - 1}]"
        raise value_error(name, requirement, target=int(target[wrong][0]))


def _multi_margin(
    x: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: Reduction = "mean",
) -> tuple[Any, ...]:
    return x, target, weight, p, margin, reduction


def _multi_margin_shape(name: str, shapes: Shapes, p: int, margin: float, reduction: str) -> Shape:
    if p not in (1, 2):
        raise value_error(name, "p must be 1 or 2", p=p)
    rows = _rows(name, tuple(shapes["x"]))
    check_shape(name, "target", shapes["target"], rows)
    check_shape(name, "weight", shapes.get("weight"), (shapes["x"][-1],))
    return reduced_shape(name, reduction, rows)


def _check_multi_margin(name: str, x: Any, target: Any, *_: Any) -> None:
    _check_labels(name, x, target, 0)


def _to_multi_margin(
    x: Any, target: Any, weight: Any, p: int, margin: float, reduction: str
) -> Any:
    gaps = np.abs(margin - np.take_along_axis(x, target[..., None], -1) + x)
    np.put_along_axis(gaps, target[..., None], np.inf, -1)
    return np.min(gaps)


@op(
    shape=_multi_margin_shape,
    check=_check_multi_margin,
    floats=True,
    kinks=_to_multi_margin,
    arguments=_multi_margin,
)
def multi_margin_loss(
    xp: Any,
    x: Array,
    target: Indices,
    weight: Indices | None,
    p: int,
    margin: float,
    reduction: Reduction,
) -> Any:
    """The hinge loss of classes: the mean over all others of ``max(0, margin - x[target] + x)**p``.

    Derivative: ``p * max(0, ...)**(p - 1)`` over the number of classes for the others, and minus
    their sum for the target.

    Parameters
    ----------
    x : (classes,) or (batch, classes)
        Scores.
    target : () or (batch,), ints
        The right classes.
    p : {1, 2}
        The power.
    margin
        By how much the score of the right class should exceed the others.
    weight : (classes,)
        Factors of the losses by their right classes. They have no gradient.

    >>> import extensor as ex
    >>> ex.multi_margin_loss([0.1, 0.2, 0.4, 0.8], 3)
    tensor(0.32500002)
    >>> ex.multi_margin_loss_backward(1.0, [0.1, 0.2, 0.4, 0.8], 3)
    tensor([ 0.25,  0.25,  0.25, -0.75])
    """
    index = xp.expand_dims(target, axis=-1)
    terms = margin - xp.take_along_axis(x, index, axis=-1) + x
    own = xp.arange(x.shape[-1]) == index
    terms = xp.where(own, _zero(xp, x), xp.maximum(terms, _zero(xp, x))) ** p
    losses = xp.sum(in_c_order(terms), axis=-1) / x.shape[-1]
    if weight is not None:
        chosen = xp.take(xp.astype(weight, x.dtype), xp.reshape(target, (-1,)), axis=0)
        losses = losses * xp.reshape(chosen, target.shape)
    return reduce(xp, losses, reduction)


@multi_margin_loss.backward()
def multi_margin_loss_backward(
    grad_output: Tensor,
    x: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """``grad_output`` times the slopes of the others, and minus their sum for the target."""
    index = unsqueeze(target, -1)
    each = spread(grad_output, target.shape, reduction) / x.shape[-1]
    if weight is not None:
        each = chain_rule(each, weight.astype(x.dtype).take(target, 0))
    terms = margin - gather(x, index, -1) + x
    slope = where(terms > 0, 1.0 if p == 1 else 2 * terms, 0.0).astype(x.dtype)
    others = Tensor(np.arange(x.shape[-1])) != index
    column = each.reshape((*each.shape, 1)) if each.ndim else each
    gradient = where(others, chain_rule(column, slope), 0.0)
    return scatter_add(gradient, index, -gradient.sum(axis=-1, keepdims=True), -1)


def _labelled(name: str, shapes: Shapes, reduction: str) -> Shape:
    rows = _rows(name, tuple(shapes["x"]))
    check_shape(name, "target", shapes["target"], tuple(shapes["x"]))
    return reduced_shape(name, reduction, rows)


def _check_sets(name: str, x: Any, target: Any, reduction: str) -> None:
    _check_labels(name, x, target, -1)


def _label_masks(target: Any) -> tuple[Any, Any, Any]:
    """The labels before the first -1: as indices, where they are, and which classes are none of them."""
    target = np.asarray(target)
    there = np.cumprod(target >= 0, axis=-1).astype(bool)
    index = np.where(there, target, 0)
    counts = np.zeros(target.shape, np.int64)
    flat = counts.reshape(-1, target.shape[-1])
    rows = np.arange(flat.shape[0])[:, None]
    np.add.at(flat, (rows, index.reshape(flat.shape)), there.reshape(flat.shape))
    return index, there, counts == 0


def _to_labelled(x: Any, target: Any, reduction: str) -> Any:
    index, there, others = _label_masks(target)
    gaps = np.abs(1 - np.take_along_axis(x, index, -1)[..., :, None] + x[..., None, :])
    return np.min(np.where(there[..., :, None] & others[..., None, :], gaps, np.inf))


@op(shape=_labelled, check=_check_sets, floats=True, kinks=_to_labelled)
def multilabel_margin_loss(
    xp: Any, x: Array, target: Indices, reduction: Reduction = "mean"
) -> Any:
    """The hinge loss of sets of labels: ``max(0, 1 - x[label] + x[other])`` over the number of classes.

    It is summed over all labels of a sample and all classes that are none. Derivative: -1 for the
    label and 1 for the other in each positive term, over the number of classes.

    Parameters
    ----------
    x : (classes,) or (batch, classes)
        Scores.
    target : ints, in the shape of ``x``
        The labels of each sample, and -1 behind them.

    >>> import extensor as ex
    >>> ex.multilabel_margin_loss([0.1, 0.2, 0.4, 0.8], [3, 0, -1, 1])
    tensor(0.84999996)
    >>> ex.multilabel_margin_loss_backward(1.0, [0.1, 0.2, 0.4, 0.8], [3, 0, -1, 1])
    tensor([-0.5,  0.5,  0.5, -0.5])
    """
    index, there, others = (xp.asarray(mask) for mask in _label_masks(target))
    chosen = xp.expand_dims(xp.take_along_axis(x, index, axis=-1), axis=-1)
    terms = 1 - chosen + xp.expand_dims(x, axis=-2)
    counted = xp.expand_dims(there, axis=-1) & xp.expand_dims(others, axis=-2)
    terms = xp.where(counted, xp.maximum(terms, _zero(xp, x)), _zero(xp, x))
    return reduce(xp, xp.sum(in_c_order(terms), axis=(-2, -1)) / x.shape[-1], reduction)


@multilabel_margin_loss.backward()
def multilabel_margin_loss_backward(
    grad_output: Tensor, x: Tensor, target: Tensor, reduction: Reduction = "mean"
) -> Tensor:
    """``grad_output`` to the others and its negative to the labels, for each positive term."""
    labels = target.detach()._array
    _check_labels("multilabel_margin_loss_backward", x, labels, -1)
    index, there, others = (Tensor(mask) for mask in _label_masks(labels))
    terms = 1 - unsqueeze(gather(x, index, -1), -1) + unsqueeze(x, -2)
    counted = unsqueeze(there, -1) & unsqueeze(others, -2) & (terms > 0)
    each = spread(grad_output, x.shape[:-1], reduction) / x.shape[-1]
    column = each.reshape((*each.shape, 1, 1)) if each.ndim else each
    slope = where(counted, column, 0.0)
    return scatter_add(slope.sum(axis=-2), index, -slope.sum(axis=-1), -1)


def _multilabel(
    x: Any, target: Any, weight: Any = None, reduction: Reduction = "mean"
) -> tuple[Any, ...]:
    return x, target, weight, reduction


def _multilabel_shape(name: str, shapes: Shapes, reduction: str) -> Shape:
    paired(name, shapes, reduction)
    shape = same(name, shapes)
    if not shape:
        raise value_error(name, "x must have an axis of classes", x_shape=shape)
    return reduced_shape(name, reduction, shape[:-1])


@op(shape=_multilabel_shape, floats=True, arguments=_multilabel)
def multilabel_soft_margin_loss(
    xp: Any, x: Array, target: Array, weight: Indices | None, reduction: Reduction
) -> Any:
    """The mean over the classes of the binary cross-entropy of ``sigmoid(x)``.

    Derivative: ``sigmoid(x) - target`` and ``-x``, times ``weight`` over the number of classes.

    Parameters
    ----------
    x : (..., classes)
        Scores.
    target
        Labels 0 and 1, or probabilities, in the shape of ``x``.
    weight
        Factors of the classes, which broadcast to ``x``. They have no gradient.

    >>> import extensor as ex
    >>> ex.multilabel_soft_margin_loss([[0.0, 1000.0]], [[1.0, 1.0]])
    tensor(0.3465736)
    >>> ex.multilabel_soft_margin_loss_backward(1.0, [[0.0, 0.0]], [[1.0, 0.0]]).grad_x
    tensor([[-0.25,  0.25]])
    """
    x = in_c_order(x)
    softened = xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(x, _zero(xp, x))
    losses = softened - target * x
    if weight is not None:
        losses = losses * xp.astype(weight, x.dtype)
    return reduce(xp, xp.sum(in_c_order(losses), axis=-1) / x.shape[-1], reduction)


@multilabel_soft_margin_loss.backward()
def multilabel_soft_margin_loss_backward(
    grad_output: Tensor,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
) -> tuple[Any, Any]:
    """``grad_output * weight`` times ``sigmoid(x) - target`` and ``-x``."""
    each = spread(grad_output, x.shape[:-1], reduction) / x.shape[-1]
    each = each.reshape((*each.shape, 1)) if each.ndim else each
    if weight is not None:
        each = chain_rule(each, weight.astype(x.dtype))
    return lambda: chain_rule(each, sigmoid(x) - target), lambda: chain_rule(each, -x)
