"""Relatives of the softmax as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.typing import TensorLike


class Softmin(Module):
    """Softmin: ``exp(-x)`` divided by its sum along an axis, without overflow.

    Parameters
    ----------
    dim : int
        Axis whose elements compete. A negative number counts from the last axis.

    Raises
    ------
    ValueError
        In a call, if ``dim`` is out of range.

    See Also
    --------
    ex.softmin : The function, with its derivative.

    Notes
    -----
    Shape: any -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Softmin(-1)([1000.0, 1000.0, 2000.0])
    tensor([0.5, 0.5, 0. ])
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the softmin along the axis.

        Parameters
        ----------
        x : tensor_like
            The input.

        Returns
        -------
        Tensor
            Positive numbers that sum to 1 along the axis. They have the shape of ``x``.
        """
        return ops.softmin(x, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of each pixel.

    Raises
    ------
    ValueError
        In a call, if the input has neither three nor four axes.

    See Also
    --------
    Softmax : Along any axis.

    Notes
    -----
    Shape: (batch, channels, height, width) or (channels, height, width) -> the same.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Softmax2d()(ex.zeros((4, 2, 2)))[0]
    tensor([[0.25, 0.25],
            [0.25, 0.25]])
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Apply the softmax over the channels.

        Parameters
        ----------
        x : tensor_like, (..., channels, height, width)
            The input, with or without an axis for the batch.

        Returns
        -------
        Tensor
            Positive numbers that sum to 1 over the channels, in the shape of ``x``.
        """
        x = asarray(x)
        if x.ndim not in (3, 4):
            raise value_error("Softmax2d", "x must have 3 or 4 axes", x_shape=x.shape)
        return ops.softmax(x, -3)
