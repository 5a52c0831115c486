"""Pooling of volumes as modules, with PyTorch's arguments."""

from __future__ import annotations

from typing import Any

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.nn.pooling import AdaptivePool, AvgPool, MaxPool
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class MaxPool3d(MaxPool):
    """Maximum of each window of volumes.

    NaN counts as the largest number. See `ex.max_pool3d` for the derivative.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Depth, height and width of a window; a number for a cube.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows: a number, or one for each axis. By default that is
        ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of elements added on each side: a number, or one for each axis; at most half of
        ``kernel_size``. They never win.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window: a number, or one for each axis.
    return_indices : bool, default False
        Whether to return the places of the maxima too, for `MaxUnpool3d`.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``padding`` is more than half of
        ``kernel_size``, or a window does not fit.

    See Also
    --------
    ex.max_pool3d : The function.
    MaxPool2d : For pictures, with the formula for the sizes.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> (batch, channels, out_depth, out_height,
    out_width). The batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MaxPool3d(2)(ex.ones((4, 3, 8, 6, 4))).shape
    (4, 3, 4, 3, 2)
    """

    def forward(self, x: TensorLike) -> Any:
        """Take the maximum of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, depth, height, width)
            The volumes. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_depth, out_height, out_width)
            The result, without the batch axis if ``x`` has none. With ``return_indices`` a tuple of it
            and of the index of each maximum into the flattened axes behind the channels.
        """
        if self.return_indices:
            return ops.max_pool3d_with_indices(x, *self.options())
        return ops.max_pool3d(x, *self.options())


class AvgPool3d(AvgPool):
    """Mean of each window of volumes.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Depth, height and width of a window; a number for a cube.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows: a number, or one for each axis. By default that is
        ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of zeros added on each side: a number, or one for each axis; at most half of
        ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the zeros of the padding count as elements of a window. What lies behind the
        padding, with ``ceil_mode``, never counts.
    divisor_override : int, optional
        Number by which the sums are divided. By default that is the number of elements that count.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``padding`` is more than half of
        ``kernel_size``, or a window does not fit.

    See Also
    --------
    ex.avg_pool3d : The function.
    AvgPool2d : For pictures, with the formula for the sizes.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> (batch, channels, out_depth, out_height,
    out_width). The batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.AvgPool3d(2)(ex.ones((4, 3, 8, 6, 4))).shape
    (4, 3, 4, 3, 2)
    """

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def forward(self, x: TensorLike) -> Tensor:
        """Take the mean of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, depth, height, width)
            The volumes. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_depth, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return ops.avg_pool3d(x, *self.options(), self.divisor_override)


class AdaptiveAvgPool3d(AdaptivePool):
    """Mean of windows whose number is fixed, for volumes of any size.

    Window ``i`` of ``m`` along an axis of ``n`` elements goes from ``i * n // m`` to
    ``(i + 1) * n / m``, rounded up. Neighbouring windows may share an element.

    Parameters
    ----------
    output_size : int, None or sequence of these
        Depth, height and width of the output: a number for a cube, or one for each axis. None keeps
        the size of an axis.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.adaptive_avg_pool3d : The function.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> ``(batch, channels, *output_size)``. The batch
    axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.AdaptiveAvgPool3d((4, None, 2))(ex.ones((2, 3, 9, 10, 7))).shape
    (2, 3, 4, 10, 2)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Take the mean of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, depth, height, width)
            The volumes. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_depth, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return ops.adaptive_avg_pool3d(x, self.output_size)
