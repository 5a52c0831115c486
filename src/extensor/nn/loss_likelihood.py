"""Negative log-likelihoods as modules: of counts, of numbers, and of labels in sequences."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors.keywords import REDUCED, also_takes
from extensor.nn.loss import Loss
from extensor.ops.loss import Reduction
from extensor.typing import TensorLike


class GaussianNLLLoss(Loss):
    """Negative log-likelihood of normal distributions: ``(log(var) + (x - target)**2 / var) / 2``.

    Parameters
    ----------
    full : bool, default False
        Whether to add the constant ``log(2 * pi) / 2``.
    eps : float, default 1e-06
        Least variance; smaller ones count as it.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.gaussian_nll_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for all; var may lack the last axis -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.GaussianNLLLoss()([1.0, 2.0], [1.0, 4.0], [1.0, 1.0])
    tensor(1.)
    """

    def __init__(
        self, *, full: bool = False, eps: float = 1e-6, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, x: TensorLike, target: TensorLike, var: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Means.
        target : tensor_like
            Values, in the shape of ``x``.
        var : tensor_like
            Variances, in the shape of ``x`` or without its last axis.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.gaussian_nll_loss(x, target, var, self.full, self.eps, self.reduction)


@also_takes(**REDUCED)
class PoissonNLLLoss(Loss):
    """Negative log-likelihood of Poisson distributions: ``exp(x) - target * x``.

    Without ``log_input`` it is ``x - target * log(x + eps)``.

    Parameters
    ----------
    log_input : bool, default True
        Whether the input holds logarithms of expected counts.
    full : bool, default False
        Whether to add Stirling's approximation of ``log(target!)`` for targets above 1.
    eps : float, default 1e-08
        Number added to ``x`` before its logarithm is taken.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.poisson_nll_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.PoissonNLLLoss()([0.0], [1.0])
    tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        *,
        eps: float = 1e-8,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Logarithms of expected counts, or expected counts.
        target : tensor_like
            Counts, in the shape of ``x``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.poisson_nll_loss(x, target, self.log_input, self.full, self.eps, self.reduction)


class CTCLoss(Loss):
    """Connectionist temporal classification: the loss of labels without known positions.

    It sums over all ways to spread the labels over the steps, with blanks between them.

    Parameters
    ----------
    blank : int, default 0
        Class that stands for no label.
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" divides each loss by the number of its labels and takes the mean, "sum" adds the
        losses up, "none" returns them one by one.
    zero_infinity : bool, default False
        Whether losses of samples that are too short for their labels, which are infinite, become 0.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.ctc_loss : The function, with its derivative.

    Notes
    -----
    Shape: see `forward` -> () or, with "none", (batch,).

    References
    ----------
    Graves et al., "Connectionist temporal classification: Labelling unsegmented sequence data with
    recurrent neural networks", 2006.

    Examples
    --------
    >>> import extensor as ex
    >>> log_probs = ex.log_softmax(ex.zeros((5, 1, 3)), -1)
    >>> round(ex.nn.CTCLoss()(log_probs, [[1, 2]], [5], [2]).item(), 4)
    0.9689
    """

    def __init__(
        self,
        blank: int = 0,
        reduction: Reduction = "mean",
        zero_infinity: bool = False,
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: TensorLike,
        targets: TensorLike,
        input_lengths: TensorLike,
        target_lengths: TensorLike,
    ) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        log_probs : tensor_like, (steps, batch, classes) or (steps, classes)
            Log-probabilities of the classes in each step, such as those of `LogSoftmax`.
        targets : tensor_like of ints, (batch, length), or all labels in one line
            The labels, none of them ``blank``.
        input_lengths : tensor_like of ints, (batch,)
            The number of steps of each sample.
        target_lengths : tensor_like of ints, (batch,)
            The number of labels of each sample.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
