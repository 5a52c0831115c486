"""Losses of classifiers with several classes, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors.keywords import REDUCED, also_takes
from extensor.nn.loss import WeightedLoss
from extensor.ops.loss import Reduction
from extensor.typing import TensorLike


@also_takes(**REDUCED)
class CrossEntropyLoss(WeightedLoss):
    """Cross-entropy of scores with classes, or with probabilities of classes.

    It is ``-log(softmax(logits)[target])`` for a class and ``-sum(target * log(softmax(logits)))``
    for probabilities, times the weights of the classes. The mean over classes is divided by the sum
    of the weights of the targets, that over probabilities by the number of samples.

    Parameters
    ----------
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1. They are a buffer: saved and cast with the module.
    ignore_index : int, default -100
        A class whose samples do not count.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.
    label_smoothing : float, default 0.0
        Share of the target, from 0 to 1, that is spread equally over all classes.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit, a class is out of range, or ``reduction`` is unknown.

    See Also
    --------
    ex.cross_entropy : The function, with its derivative.

    Notes
    -----
    Shape: logits (batch, classes, ...), target (batch, ...) or (batch, classes, ...) -> () or, with
    "none", (batch, ...). The batch axis may be missing.

    The result is NaN if every sample is ignored.

    Examples
    --------
    >>> import extensor as ex
    >>> loss = ex.nn.CrossEntropyLoss()
    >>> loss([[2.0, 2.0], [0.0, 1000.0]], [1, 1])
    tensor(0.3465736)
    >>> ex.nn.CrossEntropyLoss(weight=[1.0, 3.0], reduction="none")([[0.0, 0.0], [0.0, 0.0]], [0, 1])
    tensor([0.6931472, 2.0794415])
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
        """Compute the loss.

        Parameters
        ----------
        logits : tensor_like, (batch, classes, ...) or (classes,)
            Scores of the classes, before any softmax.
        target : tensor_like of ints, (batch, ...), or of floats in the shape of ``logits``
            The class of each sample, or a probability for each class.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.cross_entropy(
            logits,
            target,
            self.reduction,
            label_smoothing=self.label_smoothing,
            ignore_index=self.ignore_index,
            weight=self.weight,
        )


@also_takes(**REDUCED)
class NLLLoss(WeightedLoss):
    """Negative log-likelihood: ``-x[target]`` for log-probabilities ``x``, such as those of
    `LogSoftmax`.

    The mean is divided by the sum of the weights of the targets.

    Parameters
    ----------
    weight : tensor_like, (classes,), optional
        Weights of the classes, by default 1. They are a buffer: saved and cast with the module.
    ignore_index : int, default -100
        A class whose samples do not count.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit, a class is out of range, or ``reduction`` is unknown.

    See Also
    --------
    ex.nll_loss : The function, with its derivative.

    Notes
    -----
    Shape: x (batch, classes, ...), target (batch, ...) -> () or, with "none", (batch, ...). The
    batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.NLLLoss()([[-1.0, -2.0], [-3.0, -4.0]], [1, 0])
    tensor(2.5)
    """

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
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like, (batch, classes, ...) or (classes,)
            Log-probabilities of the classes.
        target : tensor_like of ints, (batch, ...)
            The class of each sample.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.nll_loss(x, target, self.reduction, self.weight, self.ignore_index)
