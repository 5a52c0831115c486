"""Losses as modules, with PyTorch's names and arguments: their bases, and losses of numbers.

``reduction`` is "mean", "sum" or "none". A weight is a buffer, as in PyTorch: it is saved and cast
with the module.
"""

from __future__ import annotations

from extensor import ops
from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors.keywords import REDUCED, also_takes
from extensor.nn.module import Module
from extensor.ops.loss import DivergenceReduction, Reduction
from extensor.typing import TensorLike


@also_takes(**REDUCED)
class Loss(Module):
    def __init__(self, *, reduction: Reduction = "mean") -> None:
        self.reduction = reduction


@also_takes(**REDUCED)
class WeightedLoss(Loss):
    weight: Tensor | None

    def __init__(self, weight: TensorLike | None = None, *, reduction: Reduction = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", tensor_or_none(weight))


def tensor_or_none(x: TensorLike | None) -> Tensor | None:
    return None if x is None else asarray(x)


class MSELoss(Loss):
    """Mean squared error: ``(prediction - target)**2``.

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
    ex.mse_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MSELoss()([1.0, 2.0], [0.0, 4.0])
    tensor(2.5)
    """

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        prediction : tensor_like
            Output of a model.
        target : tensor_like
            Values to predict, in the shape of ``prediction``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.mse_loss(prediction, target, self.reduction)


class L1Loss(Loss):
    """Mean absolute error: ``|prediction - target|``.

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
    ex.l1_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.L1Loss()([1.0, 2.0], [3.0, 2.0])
    tensor(1.)
    """

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        prediction : tensor_like
            Output of a model.
        target : tensor_like
            Values to predict, in the shape of ``prediction``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.l1_loss(prediction, target, self.reduction)


@also_takes(**REDUCED)
class SmoothL1Loss(Loss):
    """Smooth absolute error: a parabola for small errors, a line of slope 1 for large ones.

    With ``d = |prediction - target|`` it is ``d**2 / (2 * beta)`` where ``d`` is below ``beta``,
    else ``d - beta / 2``. It is `HuberLoss` with ``delta=beta``, divided by ``beta``.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.
    beta : float, default 1.0
        Error at which the parabola ends. With 0 the loss is `L1Loss`.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.smooth_l1_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.SmoothL1Loss(reduction="none")([0.5, 3.0], [0.0, 0.0])
    tensor([0.125, 2.5  ])
    """

    def __init__(self, *, reduction: Reduction = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        prediction : tensor_like
            Output of a model.
        target : tensor_like
            Values to predict, in the shape of ``prediction``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.smooth_l1_loss(prediction, target, self.reduction, self.beta)


class HuberLoss(Loss):
    """Huber loss: a parabola for small errors, a line of slope ``delta`` for large ones.

    With ``d = |prediction - target|`` it is ``d**2 / 2`` where ``d`` is up to ``delta``, else
    ``delta * (d - delta / 2)``.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}, default "mean"
        "mean" and "sum" reduce the losses to one number, "none" returns them one by one.
    delta : float, default 1.0
        Error at which the parabola ends.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.huber_loss : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.HuberLoss("none", delta=2.0)([0.5, 3.0], [0.0, 0.0])
    tensor([0.125, 4.   ])
    """

    def __init__(self, reduction: Reduction = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, prediction: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        prediction : tensor_like
            Output of a model.
        target : tensor_like
            Values to predict, in the shape of ``prediction``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.huber_loss(prediction, target, self.reduction, self.delta)


@also_takes(**REDUCED)
class KLDivLoss(Module):
    """Kullback-Leibler divergence: ``target * (log(target) - x)`` for log-probabilities ``x``.

    Where ``target`` is 0, the loss is 0.

    Parameters
    ----------
    reduction : {"mean", "sum", "batchmean", "none"}, default "mean"
        "batchmean" divides the sum by the size of axis 0, which gives the divergence; "mean"
        divides it by the number of elements. "none" returns the losses one by one.
    log_target : bool, default False
        Whether ``target`` holds logarithms of probabilities.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit or ``reduction`` is unknown.

    See Also
    --------
    ex.kl_div : The function, with its derivative.

    Notes
    -----
    Shape: any shape, the same for both -> () or, with "none", that shape.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.KLDivLoss(reduction="batchmean")(ex.log([[0.5, 0.5]]), [[1.0, 0.0]])
    tensor(0.6931472)
    """

    def __init__(
        self, *, reduction: DivergenceReduction = "mean", log_target: bool = False
    ) -> None:
        self.reduction = reduction
        self.log_target = log_target

    def forward(self, x: TensorLike, target: TensorLike) -> Tensor:
        """Compute the loss.

        Parameters
        ----------
        x : tensor_like
            Log-probabilities.
        target : tensor_like
            Probabilities, or their logarithms with ``log_target``, in the shape of ``x``.

        Returns
        -------
        Tensor
            The loss: a 0-d tensor, or the losses one by one if ``reduction`` is "none".
        """
        return ops.kl_div(x, target, self.reduction, self.log_target)
