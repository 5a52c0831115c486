"""Piecewise linear and quadratic activations as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.errors.keywords import NOTHING, also_takes
from extensor.nn.activation import Elementwise
from extensor.nn.module import Module
from extensor.typing import TensorLike


class ReLU6(Elementwise):
    """Rectified linear unit with a ceiling: ``min(max(x, 0), 6)``.

    Parameters
    ----------
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.relu6 : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ReLU6()([-1.0, 3.0, 8.0])
    tensor([0., 3., 6.])
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
        return ops.relu6(x)


class Hardsigmoid(Elementwise):
    """Piecewise linear sigmoid: ``min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.hard_sigmoid : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Hardsigmoid()([-3.0, 0.0, 1.5])
    tensor([0.  , 0.5 , 0.75])
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
        return ops.hard_sigmoid(x)


class Hardswish(Elementwise):
    """Swish with a piecewise linear sigmoid: ``x * min(max(x + 3, 0), 6) / 6``.

    Parameters
    ----------
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.hard_swish : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    References
    ----------
    Howard et al., "Searching for MobileNetV3", 2019.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Hardswish()([-3.0, 0.0, 3.0])
    tensor([0., 0., 3.])
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
        return ops.hard_swish(x)


@also_takes(min_value=NOTHING, max_value=NOTHING)
class Hardtanh(Module):
    """Clipping to an interval: ``min(max(x, min_val), max_val)``.

    Parameters
    ----------
    min_val : float, default -1.0
        Lower end of the interval.
    max_val : float, default 1.0
        Upper end of the interval.
    inplace : bool, default False
        Accepted for compatibility with PyTorch. It has no effect: the input is never changed.

    See Also
    --------
    ex.hard_tanh : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Hardtanh()([-2.0, 0.5, 2.0])
    tensor([-1. ,  0.5,  1. ])
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        self.min_val = min_val
        self.max_val = max_val

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
        return ops.hard_tanh(x, self.min_val, self.max_val)
