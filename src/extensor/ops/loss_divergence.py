"""The loss that compares distributions."""

from __future__ import annotations

from typing import Any, Literal

from extensor.arrays.shapes import Shape, Shapes
from extensor.arrays.supplement import gated
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp, log
from extensor.ops.loss import (
    REDUCTIONS,
    Reduction,
    paired,
    reduce,
    spread,
)
from extensor.ops.loss import SHARED as SHARED

DivergenceReduction = Reduction | Literal["batchmean"]


def _kl_shape(name: str, shapes: Shapes, reduction: str, *_: Any) -> Shape:
    return paired(name, shapes, reduction, allowed=(*REDUCTIONS[:2], "batchmean", "none"))


@op(kernel="kl_div", shape=_kl_shape, floats=True)
def kl_div(
    xp: Any,
    x: Array,
    target: Array,
    reduction: DivergenceReduction = "mean",
    log_target: bool = False,
) -> Any:
    """The Kullback-Leibler divergence, ``target * (log(target) - x)``; 0 where ``target`` is 0.

    Derivative: ``-target``, and ``log(target) + 1 - x`` (-inf at 0); with ``log_target``
    ``-exp(target)``, and ``exp(target) * (target + 1 - x)``.

    Parameters
    ----------
    x
        Log-probabilities.
    target
        Probabilities, or their logarithms with ``log_target``, in the shape of ``x``.
    reduction
        "batchmean" divides the sum by the size of axis 0, which gives the divergence; "mean"
        divides by the number of elements.
    log_target
        Whether ``target`` holds logarithms.

    >>> import extensor as ex
    >>> ex.kl_div([[0.0, -1.0]], [[1.0, 0.0]], "batchmean")
    tensor(0.)
    >>> ex.kl_div_backward(1.0, [0.0, -1.0], [0.25, 0.75], "sum").grad_x
    tensor([-0.25, -0.75])
    """
    if log_target:
        losses = gated(xp, xp.exp(target), target - x)
    else:
        losses = gated(xp, target, xp.log(target) - x)
    return reduce(xp, losses, reduction)


@kl_div.backward(kernel="kl_div_backward")
def kl_div_backward(
    grad_output: Tensor,
    x: Tensor,
    target: Tensor,
    reduction: DivergenceReduction = "mean",
    log_target: bool = False,
) -> tuple[Any, Any]:
    """``-grad_output * target`` and ``grad_output * (log(target) + 1 - x)``."""
    each = spread(grad_output, x.shape, reduction)
    if log_target:
        return (
            lambda: chain_rule(each, -exp(target)),
            lambda: chain_rule(each, chain_rule(exp(target), target - x + 1)),
        )
    return (
        lambda: chain_rule(each, -target),
        lambda: chain_rule(each, log(target) - x + 1),
    )
