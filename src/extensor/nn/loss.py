"""Losses as modules, with PyTorch's names and arguments; ``reduction`` is "mean", "sum" or "none".

A weight is a buffer, as in PyTorch: it is saved and cast with the module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from extensor import ops
from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors.keywords import REDUCED, also_takes
from extensor.nn.module import Module
from extensor.ops.loss import Reduction
from extensor.ops.loss_divergence import DivergenceReduction

if TYPE_CHECKING:
    from extensor.typing import TensorLike


@also_takes(**REDUCED)
class _Loss(Module):
    def __init__(self, *, reduction: Reduction = "mean") -> None:
        self.reduction = reduction


@also_takes(**REDUCED)
class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(self, weight: TensorLike | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", _tensor_or_none(weight))


def _tensor_or_none(x: TensorLike | None) -> Tensor | None:
    return None if x is None else asarray(x)


class MSELoss(_Loss):
    """``(prediction - target)**2``."""

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        return ops.mse_loss(prediction, target, self.reduction)


class L1Loss(_Loss):
    """``|prediction - target|``."""

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        return ops.l1_loss(prediction, target, self.reduction)


@also_takes(**REDUCED)
class SmoothL1Loss(_Loss):
    """A parabola where the difference is below ``beta``, then straight with slope 1."""

    def __init__(self, *, reduction: Reduction = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        return ops.smooth_l1_loss(prediction, target, self.reduction, self.beta)


class HuberLoss(_Loss):
    """A parabola where the difference is below ``delta``, then straight with slope ``delta``."""

    def __init__(self, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        return ops.huber_loss(prediction, target, self.reduction, self.delta)


@also_takes(**REDUCED)
class CrossEntropyLoss(_WeightedLoss):
    """The cross-entropy of scores with classes, or with probabilities of classes.

    >>> import extensor as ex
    >>> f"{ex.nn.CrossEntropyLoss()([[0.0, 0.0]], [1]):.4f}"
    '0.6931'
    """

    def __init__(
        self,
        weight: TensorLike | None = None,
        *,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, logits: TensorLike, target: TensorLike) -> Tensor:
        return ops.cross_entropy(
            logits,
            target,
            self.reduction,
            label_smoothing=self.label_smoothing,
            ignore_index=self.ignore_index,
            weight=self.weight,
        )


@also_takes(**REDUCED)
class NLLLoss(_WeightedLoss):
    """The negative log-probability of the class of each sample."""

    def __init__(
        self,
        weight: TensorLike | None = None,
        *,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        return ops.nll_loss(x, target, self.reduction, self.weight, self.ignore_index)


class BCELoss(_WeightedLoss):
    """The binary cross-entropy of probabilities."""

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        return ops.binary_cross_entropy(prediction, target, self.reduction, self.weight)


@also_takes(**REDUCED)
class BCEWithLogitsLoss(_WeightedLoss):
    """The binary cross-entropy of ``sigmoid(logits)``; ``pos_weight`` weighs the positive part."""

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: TensorLike | None = None,
        *,
        reduction: Reduction = "mean",
        pos_weight: TensorLike | None = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", _tensor_or_none(pos_weight))

    def forward(self, logits: TensorLike, target: TensorLike) -> Tensor:
        return ops.binary_cross_entropy_with_logits(
            logits, target, self.reduction, self.weight, self.pos_weight
        )


class FocalLoss(_Loss):
    """The binary cross-entropy of logits, less for what is already sure (Lin et al. 2017)."""

    def __init__(
        self, alpha: float = 0.25, gamma: float = 2.0, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.alpha = alpha
        self.gamma = gamma

    def forward(self, logits: TensorLike, target: TensorLike) -> Tensor:
        return ops.focal_loss(logits, target, self.alpha, self.gamma, self.reduction)


class HingeLoss(_Loss):
    """``max(0, 1 - prediction * target)`` for targets of -1 and 1."""

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        return ops.hinge_loss(prediction, target, self.reduction)


@also_takes(**REDUCED)
class KLDivLoss(Module):
    """``target * (log(target) - x)`` for log-probabilities ``x``."""

    def __init__(
        self, *, reduction: DivergenceReduction = "mean", log_target: bool = False
    ) -> None:
        self.reduction = reduction
        self.log_target = log_target

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        return ops.kl_div(x, target, self.reduction, self.log_target)


@also_takes(**REDUCED, eps=(1e-6, 0.0))
class TripletMarginLoss(_Loss):
    """How much nearer, by less than ``margin``, the positive is to the anchor than the negative.

    No epsilon is added to the differences, as if PyTorch's were 0.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        *,
        swap: bool = False,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = margin
        self.p = p
        self.swap = swap

    def forward(self, anchor: TensorLike, positive: TensorLike, negative: TensorLike) -> Tensor:
        return ops.triplet_loss(
            anchor, positive, negative, self.margin, self.p, self.swap, self.reduction
        )


@also_takes(**REDUCED)
class CosineEmbeddingLoss(_Loss):
    """One minus the cosine for pairs of target 1, what it exceeds ``margin`` by for those of -1."""

    def __init__(self, margin: float = 0.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, x1: TensorLike, x2: TensorLike, target: TensorLike) -> Tensor:
        return ops.cosine_embedding_loss(x1, x2, target, self.margin, self.reduction)
