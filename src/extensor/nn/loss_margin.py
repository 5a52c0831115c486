"""Losses of margins, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors.keywords import REDUCED, also_takes
from extensor.nn.loss import Loss, WeightedLoss
from extensor.ops.loss import Reduction
from extensor.typing import TensorLike


class SoftMarginLoss(Loss):
    """Logistic loss of labels -1 and 1: ``log(1 + exp(-target * x))``.

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
    ex.soft_margin_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.SoftMarginLoss()([0.0], [1.0])
    tensor(0.6931472)
    """

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Scores.
        target : tensor_like
            Labels -1 and 1, in the shape of ``x``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.soft_margin_loss(x, target, self.reduction)


@also_takes(**REDUCED)
class MarginRankingLoss(Loss):
    """Ranking loss: ``max(0, margin - target * (x1 - x2))``.

    Parameters
    ----------
    margin : float, default 0.0
        Least difference that costs nothing.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.margin_ranking_loss : The function, with its derivative.

    Notes
    -----
    Shape: shapes that broadcast -> () or, with "none", the common shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MarginRankingLoss(0.5)([1.0], [2.0], [1])
    tensor(1.5)
    """

    def __init__(self, margin: float = 0.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, x1: TensorLike, x2: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x1 : tensor_like
            Scores.
        x2 : tensor_like
            Scores to compare them with.
        target : tensor_like
            1 where the first score should be larger, -1 where the second should be.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.margin_ranking_loss(x1, x2, target, self.margin, self.reduction)


@also_takes(**REDUCED)
class HingeEmbeddingLoss(Loss):
    """Loss of distances of pairs that should be alike or not.

    It is ``x`` where the target is 1 and ``max(0, margin - x)`` where it is -1.

    Parameters
    ----------
    margin : float, default 1.0
        Distance from which unlike pairs cost nothing.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.hinge_embedding_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.HingeEmbeddingLoss()([0.5, 0.25], [1, -1])
    tensor(0.625)
    """

    def __init__(self, margin: float = 1.0, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Distances.
        target : tensor_like
            1 for pairs that should be alike, -1 for pairs that should not.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.hinge_embedding_loss(x, target, self.margin, self.reduction)


@also_takes(**REDUCED)
class MultiMarginLoss(WeightedLoss):
    """Hinge loss of classes: the mean of ``max(0, margin - x[target] + x)**p`` over all others.

    Parameters
    ----------
    p : {1, 2}, default 1
        Power.
    margin : float, default 1.0
        By how much the score of the right class should exceed the others.
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1. They are a buffer: saved and cast with the module.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.multi_margin_loss : The function, with its derivative.

    Notes
    -----
    Shape: x (batch, classes) or (classes,), target (batch,) or () -> () or, with "none", as target.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MultiMarginLoss()([[0.0, 1.0]], [0])
    tensor(1.)
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: TensorLike | None = None,
        *,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.p = p
        self.margin = margin

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Scores.
        target : tensor_like
            The right classes, ints.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.multi_margin_loss(x, target, self.p, self.margin, self.weight, self.reduction)


class MultiLabelMarginLoss(Loss):
    """Hinge loss of sets of labels: ``max(0, 1 - x[label] + x[other])`` over the number of classes.

    It is summed over all labels of a sample and all classes that are none.

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
    ex.multilabel_margin_loss : The function, with its derivative.

    Notes
    -----
    Shape: (batch, classes) or (classes,), the same for both -> () or, with "none", (batch,) or ().

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MultiLabelMarginLoss()([[0.1, 0.2, 0.4, 0.8]], [[3, 0, -1, 1]])
    tensor(0.84999996)
    """

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Scores.
        target : tensor_like
            The labels of each sample and -1 behind them, in the shape of ``x``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.multilabel_margin_loss(x, target, self.reduction)


class MultiLabelSoftMarginLoss(WeightedLoss):
    """Mean over the classes of the binary cross-entropy of ``sigmoid(x)``.

    Parameters
    ----------
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1. They are a buffer: saved and cast with the module.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.multilabel_soft_margin_loss : The function, with its derivative.

    Notes
    -----
    Shape: (..., classes), the same for both -> () or, with "none", (...).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MultiLabelSoftMarginLoss()([[0.0, 1000.0]], [[1.0, 1.0]])
    tensor(0.3465736)
    """

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Scores.
        target : tensor_like
            Labels 0 and 1, or probabilities, in the shape of ``x``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)
