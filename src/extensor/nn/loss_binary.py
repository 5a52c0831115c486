"""Losses of classifiers with two classes, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors.keywords import REDUCED, also_takes
from extensor.nn.loss import Loss, WeightedLoss, tensor_or_none
from extensor.ops.loss import Reduction
from extensor.typing import TensorLike


class BCELoss(WeightedLoss):
    """Binary cross-entropy of probabilities.

    It is ``-(target * log(prediction) + (1 - target) * log(1 - prediction))``. Each logarithm is at
    least -100. `BCEWithLogitsLoss` takes scores and is more accurate.

    Parameters
    ----------
    weight : tensor_like, optional
        Factors of the losses, which broadcast to their shape. By default they are 1. They are a
        buffer: saved and cast with the module.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.binary_cross_entropy : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.BCELoss(reduction="none")([0.5, 1.0], [1.0, 1.0])
    tensor([0.6931472, 0.       ])
    """

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        prediction : tensor_like
            Probabilities, from 0 to 1.
        target : tensor_like
            Labels 0 and 1, or probabilities, in the shape of the first argument.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.binary_cross_entropy(prediction, target, self.reduction, self.weight)


@also_takes(**REDUCED)
class BCEWithLogitsLoss(WeightedLoss):
    """Binary cross-entropy of ``sigmoid(logits)``.

    It is ``pos_weight * target * softplus(-logits) + (1 - target) * softplus(logits)``, computed
    without overflow or cancellation.

    Parameters
    ----------
    weight : tensor_like, optional
        Factors of the losses, which broadcast to their shape. By default they are 1. They are a
        buffer: saved and cast with the module.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.
    pos_weight : tensor_like, optional
        Factors of the losses of positive targets, which broadcast to the losses. By default they
        are 1. Above 1 they favour recall over precision. They are a buffer, too.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.binary_cross_entropy_with_logits : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.BCEWithLogitsLoss(reduction="none")([1000.0, -1000.0], [1.0, 1.0])
    tensor([   0., 1000.])
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: TensorLike | None = None,
        *,
        reduction: Reduction = "mean",
        pos_weight: TensorLike | None = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", tensor_or_none(pos_weight))

    def forward(self, logits: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        logits : tensor_like
            Scores, before any sigmoid.
        target : tensor_like
            Labels 0 and 1, or probabilities, in the shape of the first argument.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.binary_cross_entropy_with_logits(
            logits, target, self.reduction, self.weight, self.pos_weight
        )


class FocalLoss(Loss):
    """Focal loss: binary cross-entropy of logits that discounts easy samples.

    The cross-entropy is multiplied by ``balance * miss**gamma``, where ``miss`` is the probability
    of the wrong answer and ``balance`` is ``alpha`` for positive targets and ``1 - alpha`` for
    negative ones.

    Parameters
    ----------
    alpha : float, default 0.25
        Weight of positive targets, from 0 to 1; -1 for no weights.
    gamma : float, default 2.0
        How strongly easy samples are discounted; 0 gives the cross-entropy.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.focal_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    References
    ----------
    Lin et al., "Focal loss for dense object detection", 2017.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.FocalLoss(alpha=1.0, reduction="none")([0.0, 10000.0], [1.0, 1.0])
    tensor([0.1732868, 0.       ])
    """

    def __init__(
        self, alpha: float = 0.25, gamma: float = 2.0, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.alpha = alpha
        self.gamma = gamma

    def forward(self, logits: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        logits : tensor_like
            Scores, before any sigmoid.
        target : tensor_like
            Labels 0 and 1, or probabilities, in the shape of the first argument.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.focal_loss(logits, target, self.alpha, self.gamma, self.reduction)


class HingeLoss(Loss):
    """Hinge loss: ``max(0, 1 - target * prediction)``.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.hinge_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.HingeLoss(reduction="none")([0.5, -2.0, 3.0], [1.0, 1.0, 1.0])
    tensor([0.5, 3. , 0. ])
    """

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        prediction : tensor_like
            Output of a model.
        target : tensor_like
            Labels -1 and 1, in the shape of ``prediction``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.hinge_loss(prediction, target, self.reduction)
