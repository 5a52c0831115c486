"""Activations that shrink or cut off their input, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.typing import TensorLike


class Softshrink(Module):
    """Soft shrinkage: ``x`` moved towards 0 by ``lambd``, and 0 where that would change its sign.

    Parameters
    ----------
    lambd : float, default 0.5
        How far to move.

    Raises
    ------
    ValueError
        In a call, if ``lambd`` is negative.

    See Also
    --------
    ex.soft_shrink : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Softshrink()([-2.0, 0.25, 1.0])
    tensor([-1.5,  0. ,  0.5])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.soft_shrink(x, self.lambd)


class Hardshrink(Module):
    """Hard shrinkage: ``x`` where its magnitude is above ``lambd``, else 0.

    Parameters
    ----------
    lambd : float, default 0.5
        Largest magnitude that becomes 0.

    Raises
    ------
    ValueError
        In a call, if ``lambd`` is negative.

    See Also
    --------
    ex.hard_shrink : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Hardshrink()([-2.0, 0.25, 1.0])
    tensor([-2.,  0.,  1.])
    """

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.hard_shrink(x, self.lambd)


class Tanhshrink(Module):
    """Tanh shrinkage: ``x - tanh(x)``.

    See Also
    --------
    ex.tanh_shrink : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Tanhshrink()([0.0, 1.0])
    tensor([0.        , 0.23840582])
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.tanh_shrink(x)


class Threshold(Module):
    """Threshold: ``x`` where it is above ``threshold``, else ``value``.

    Parameters
    ----------
    threshold : float
        Number that ``x`` must exceed.
    value : float
        What stands for the other elements.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.threshold : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Threshold(0.5, 9.0)([-2.0, 0.5, 1.0])
    tensor([9., 9., 1.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self.threshold = threshold
        self.value = value

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.threshold(x, self.threshold, self.value)


class RReLU(Module):
    """Leaky rectifier whose slope for negative inputs is random in training.

    In training the slope of each element is uniform between ``lower`` and ``upper``. In evaluation mode
    (``module.eval()``) all slopes are halfway between.

    Parameters
    ----------
    lower : float, default 1/8
        Lower bound of the slopes.
    upper : float, default 1/3
        Upper bound of the slopes.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    Raises
    ------
    ValueError
        If ``lower`` is above ``upper``.

    See Also
    --------
    ex.rrelu : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Xu et al., "Empirical evaluation of rectified activations in convolutional network", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.RReLU(0.25, 0.75).eval()([-2.0, 3.0])
    tensor([-1.,  3.])
    """

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        if not lower <= upper:
            requirement = "lower must not be above upper"
            raise value_error("RReLU", requirement, lower=lower, upper=upper)
        self.lower = lower
        self.upper = upper

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the activation to each element.

        Parameters
        ----------
        x : tensor_like
            The input, of any shape.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return ops.rrelu(x, self.lower, self.upper, self.training)
