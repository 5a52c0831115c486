"""Norms of windows, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class _LPPool(Module):
    def __init__(
        self,
        norm_type: float,
        kernel_size: Ints,
        stride: Ints | None = None,
        ceil_mode: bool = False,
    ) -> None:
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode


class LPPool1d(_LPPool):
    """Norm of each window of sequences: ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Parameters
    ----------
    norm_type : float
        Exponent ``p``: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        Length of a window.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``norm_type`` is not above 0, or a window does
        not fit.

    See Also
    --------
    ex.lp_pool1d : The function.

    Notes
    -----
    Shape: (batch, channels, length) -> (batch, channels, out_length).
    The batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LPPool1d(2, 2)(ex.ones((4, 3, 20))).shape
    (4, 3, 10)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Take the norm of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, length)
            The sequences. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_length)
            The result, without the batch axis if ``x`` has none.
        """
        how = (self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
        return ops.lp_pool1d(x, *how)


class LPPool2d(_LPPool):
    """Norm of each window of pictures: ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Parameters
    ----------
    norm_type : float
        Exponent ``p``: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``norm_type`` is not above 0, or a window does
        not fit.

    See Also
    --------
    ex.lp_pool2d : The function.

    Notes
    -----
    Shape: (batch, channels, height, width) -> (batch, channels, out_height, out_width).
    The batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LPPool2d(2, 2)(ex.ones((4, 3, 20, 20))).shape
    (4, 3, 10, 10)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Take the norm of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, height, width)
            The pictures. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        how = (self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
        return ops.lp_pool2d(x, *how)


class LPPool3d(_LPPool):
    """Norm of each window of volumes: ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Parameters
    ----------
    norm_type : float
        Exponent ``p``: 1 for sums, 2 for Euclidean norms.
    kernel_size : int or sequence of ints
        Depth, height and width of a window; a number for a cube.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the input, instead of being dropped.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``norm_type`` is not above 0, or a window does
        not fit.

    See Also
    --------
    ex.lp_pool3d : The function.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> (batch, channels, out_depth, out_height, out_width).
    The batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.LPPool3d(2, 2)(ex.ones((4, 3, 8, 6, 4))).shape
    (4, 3, 4, 3, 2)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Take the norm of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, depth, height, width)
            The volumes. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_depth, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        how = (self.norm_type, self.kernel_size, self.stride, self.ceil_mode)
        return ops.lp_pool3d(x, *how)
