"""Normalization by the channels beside an element, as a module."""

from __future__ import annotations

from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.ops import local_response_norm
from extensor.typing import TensorLike


class LocalResponseNorm(Module):
    """Division of each element by a power of the mean of squares over the channels around it.

    The layer computes ``x / (k + alpha / size * sum(x**2))**beta``.

    Parameters
    ----------
    size : int
        Number of channels in a sum; an even one has one more before than behind.
    alpha : float, default 0.0001
        Factor of the mean of squares.
    beta : float, default 0.75
        Exponent.
    k : float, default 1.0
        Number to which it is added.

    Raises
    ------
    ValueError
        In a call, if ``x`` has fewer than 3 axes, or ``size`` is less than 1.

    See Also
    --------
    ex.local_response_norm : The function.

    Notes
    -----
    Shape: (batch, channels, ...) -> the same.

    References
    ----------
    Krizhevsky et al., "ImageNet classification with deep convolutional neural networks", 2012.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LocalResponseNorm(5)(ex.ones((4, 8, 6, 6))).shape
    (4, 8, 6, 6)
    """

    def __init__(
        self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
    ) -> None:
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, x: TensorLike) -> Tensor:
        """Normalize ``x``.

        Parameters
        ----------
        x : tensor_like, (batch, channels, ...)
            The input.

        Returns
        -------
        Tensor
            The result, in the shape of ``x``.
        """
        return local_response_norm(x, self.size, self.alpha, self.beta, self.k)
