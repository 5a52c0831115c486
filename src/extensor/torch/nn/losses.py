"""The losses of ``torch.nn.functional``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor import ops
from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch import reductions
from extensor.torch.shapes import broadcast_tensors
from extensor.torch.tensor_class import functions_of, handed_out, named, wrapped


@named
def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The norm of the difference plus ``eps``."""
    return reductions.norm(ops.add(ops.subtract(x1, x2), eps), p, -1, keepdim)


def _reduction(op: str, reduction: Any, size_average: Any, reduce: Any) -> Any:
    """The reduction; the two flags of old may say it too."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


def _reduced(loss: Any, reduction: str) -> Any:
    if reduction == "none":
        return loss
    if reduction not in ("mean", "sum"):
        raise ValueError(f"reduction must be 'none', 'mean' or 'sum', got {reduction!r}")
    return ops.mean(loss) if reduction == "mean" else ops.sum(loss)


def one_shape(op: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Both in the shape in which they meet."""
    if tuple(input.shape) == tuple(target.shape):
        return input, target
    return broadcast_tensors(input, target)  # type: ignore[return-value]


@named
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: Any = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """The negative logarithm of the softmax of the right class."""
    reduction = _reduction("cross_entropy", reduction, size_average, reduce)
    return ops.cross_entropy(input, target, reduction, weight, label_smoothing, ignore_index)


@named
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """The negative of ``input`` at the right class."""
    reduction = _reduction("nll_loss", reduction, size_average, reduce)
    return ops.nll_loss(input, target, reduction, weight, ignore_index)


def _of_two(name: str) -> Callable[..., Any]:
    """A loss of a prediction and a target, which may broadcast."""
    function = getattr(ops, name)

    @named
    def call(
        input: Any,
        target: Any,
        size_average: Any = None,
        reduce: Any = None,
        reduction: Any = "mean",
        weight: Any = None,
    ) -> Any:
        reduction = _reduction(name, reduction, size_average, reduce)
        input, target = one_shape(name, input, target)
        if weight is None:
            return function(input, target, reduction)
        return _reduced(ops.multiply(function(input, target, "none"), weight), reduction)

    call.__name__ = call.__qualname__ = name
    return call


mse_loss = _of_two("mse_loss")
l1_loss = _of_two("l1_loss")


@named
def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
    beta: float = 1.0,
) -> Any:
    """Quadratic below ``beta``, linear above it."""
    input, target = one_shape("smooth_l1_loss", input, target)
    return ops.smooth_l1_loss(input, target, _reduction("", reduction, size_average, reduce), beta)


@named
def huber_loss(
    input: Any, target: Any, reduction: Any = "mean", delta: float = 1.0, weight: Any = None
) -> Any:
    """Quadratic below ``delta``, linear above it."""
    input, target = one_shape("huber_loss", input, target)
    if weight is None:
        return ops.huber_loss(input, target, reduction, delta)
    return _reduced(ops.multiply(ops.huber_loss(input, target, "none", delta), weight), reduction)


@named
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """The negative logarithm of the probability of the right one of two classes."""
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"binary_cross_entropy: target must have the shape {input.shape}, got {target.shape}"
        )
    reduction = _reduction("", reduction, size_average, reduce)
    return ops.binary_cross_entropy(input, target, reduction, weight)


@named
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
    pos_weight: Any = None,
) -> Any:
    """`binary_cross_entropy` of the sigmoid."""
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"binary_cross_entropy_with_logits: target must have the shape {input.shape}, got {target.shape}"
        )
    reduction = _reduction("", reduction, size_average, reduce)
    return ops.binary_cross_entropy_with_logits(input, target, reduction, weight, pos_weight)


@named
def kl_div(
    input: Any,
    target: Any,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
    log_target: bool = False,
) -> Any:
    """``target * (log(target) - input)``."""
    return ops.kl_div(input, target, _reduction("", reduction, size_average, reduce), log_target)


@named
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """The negative logarithm of the probability of counts."""
    if log_input:
        loss = ops.subtract(ops.exp(input), ops.multiply(target, input))
    else:
        loss = ops.subtract(input, ops.multiply(target, ops.log(ops.add(input, eps))))
    if full:
        stirling = target * ops.log(target) - target + 0.5 * ops.log(2 * np.pi * target)
        loss = ops.add(loss, ops.where(ops.greater(target, 1), stirling, 0.0))
    return _reduced(loss, _reduction("", reduction, size_average, reduce))


@named
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Any = "mean",
) -> Any:
    """The negative logarithm of the normal density."""
    var = ops.maximum(var, eps) if not isinstance(var, float) else max(var, eps)
    spread = ops.log(var) if isinstance(var, CoreTensor) else float(np.log(var))
    loss = ops.multiply(
        ops.add(ops.divide(ops.square(ops.subtract(input, target)), var), spread), 0.5
    )
    return _reduced(ops.add(loss, 0.5 * float(np.log(2 * np.pi))) if full else loss, reduction)


@named
def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: Any = "mean"
) -> Any:
    """``log(1 + exp(-target * input))``."""
    loss = ops.softplus(ops.negative(ops.multiply(target, input)))
    return _reduced(loss, _reduction("", reduction, size_average, reduce))


@named
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """``max(0, -target * (input1 - input2) + margin)``."""
    loss = ops.multiply(ops.negative(target), ops.subtract(input1, input2))
    return _reduced(
        ops.relu(ops.add(loss, margin)), _reduction("", reduction, size_average, reduce)
    )


@named
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """``x`` where the target is 1, and ``max(0, margin - x)`` where it is -1."""
    similar = ops.where(ops.not_equal(target, -1), input, 0.0)
    other = ops.where(ops.not_equal(target, 1), ops.relu(ops.subtract(margin, input)), 0.0)
    loss = ops.add(similar, other)
    return _reduced(loss, _reduction("", reduction, size_average, reduce))


@named
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """One minus the cosine of similar pairs, and the cosine above ``margin`` of others."""
    return ops.cosine_embedding_loss(
        input1, input2, target, margin, _reduction("", reduction, size_average, reduce)
    )


@named
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """How much farther the negative must be from the anchor than the positive."""
    reduction = _reduction("", reduction, size_average, reduce)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced(ops.relu(ops.add(ops.subtract(near, far), margin)), reduction)


@named
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """How far other classes come within ``margin`` of the right one."""
    right = ops.gather(input, ops.unsqueeze(target, -1), -1)
    over = ops.power(ops.relu(ops.add(ops.subtract(input, right), margin)), p)
    others = wrapped(np.arange(input.shape[-1]) != target._array[..., None])
    loss = ops.where(others, over, 0.0)
    if weight is not None:
        loss = ops.multiply(loss, ops.unsqueeze(ops.getitem(weight, target), -1))
    return _reduced(ops.mean(loss, -1), _reduction("", reduction, size_average, reduce))


@named
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: Any = "mean",
) -> Any:
    """The mean binary cross entropy of the labels of each sample."""
    loss = ops.binary_cross_entropy_with_logits(input, target, "none")
    loss = loss if weight is None else ops.multiply(loss, weight)
    return _reduced(ops.mean(loss, -1), _reduction("", reduction, size_average, reduce))


def ctc_loss(*args: Any, **kwargs: Any) -> Any:
    """The loss of sequences without an alignment, if the core has it."""
    if not hasattr(ops, "ctc_loss"):
        raise NotImplementedError("ctc_loss: not implemented here")
    return handed_out(ops.ctc_loss(*args, **kwargs))


FUNCTIONS = functions_of(globals())
del FUNCTIONS["one_shape"]
