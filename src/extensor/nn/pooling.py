"""Pooling as modules, with PyTorch's arguments."""

from __future__ import annotations

from typing import Any

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.ops.pooling_average import Sizes
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class MaxPool(Module):
    """The base of maxima of windows."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def options(self) -> tuple[Ints, Ints | None, Ints, Ints, bool]:
        """The arguments of the function."""
        return self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode


class MaxPool1d(MaxPool):
    """Maximum of each window of sequences.

    NaN counts as the largest number. See `ex.max_pool1d` for the derivative.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Length of a window.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of elements added on each side; at most half of ``kernel_size``. They never win.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window.
    return_indices : bool, default False
        Whether to return the places of the maxima too, for `MaxUnpool1d`.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``padding`` is more than half of
        ``kernel_size``, or a window does not fit.

    See Also
    --------
    ex.max_pool1d : The function.

    Notes
    -----
    Shape: (batch, channels, length) -> (batch, channels, out_length). The batch axis may be
    missing. An axis of ``n`` elements becomes::

        out = (n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1

    With ``ceil_mode`` the division rounds up, except that no window begins behind the input and its
    left padding.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MaxPool1d(2)(ex.ones((4, 3, 20))).shape
    (4, 3, 10)
    """

    def forward(self, x: TensorLike) -> Any:
        """Take the maximum of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, length)
            The sequences. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_length)
            The result, without the batch axis if ``x`` has none. With ``return_indices`` a tuple of it
            and of the index of each maximum into the flattened axes behind the channels.
        """
        if self.return_indices:
            return ops.max_pool1d_with_indices(x, *self.options())
        return ops.max_pool1d(x, *self.options())


class MaxPool2d(MaxPool):
    """Maximum of each window of pictures.

    NaN counts as the largest number. See `ex.max_pool2d` for the derivative.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows: a number, or one for each axis. By default that is
        ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of elements added on each side: a number, or one for each axis; at most half of
        ``kernel_size``. They never win.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window: a number, or one for each axis.
    return_indices : bool, default False
        Whether to return the places of the maxima too, for `MaxUnpool2d`.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``padding`` is more than half of
        ``kernel_size``, or a window does not fit.

    See Also
    --------
    ex.max_pool2d : The function.

    Notes
    -----
    Shape: (batch, channels, height, width) -> (batch, channels, out_height, out_width). The batch
    axis may be missing. An axis of ``n`` elements becomes::

        out = (n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1

    With ``ceil_mode`` the division rounds up, except that no window begins behind the input and its
    left padding.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.MaxPool2d(2)(ex.ones((4, 3, 20, 20))).shape
    (4, 3, 10, 10)
    """

    def forward(self, x: TensorLike) -> Any:
        """Take the maximum of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, height, width)
            The pictures. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_height, out_width)
            The result, without the batch axis if ``x`` has none. With ``return_indices`` a tuple of it
            and of the index of each maximum into the flattened axes behind the channels.
        """
        if self.return_indices:
            return ops.max_pool2d_with_indices(x, *self.options())
        return ops.max_pool2d(x, *self.options())


class AvgPool(Module):
    """The base of means of windows."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def options(self) -> tuple[Ints, Ints | None, Ints, bool, bool]:
        """The arguments of the function."""
        return self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad


class AvgPool1d(AvgPool):
    """Mean of each window of sequences.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Length of a window.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of zeros added on each side; at most half of ``kernel_size``.
    ceil_mode : bool, default False
        Whether the last window may end behind the padding, instead of being dropped.
    count_include_pad : bool, default True
        Whether the zeros of the padding count as elements of a window. What lies behind the
        padding, with ``ceil_mode``, never counts.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, ``padding`` is more than half of
        ``kernel_size``, or a window does not fit.

    See Also
    --------
    ex.avg_pool1d : The function.

    Notes
    -----
    Shape: (batch, channels, length) -> (batch, channels, out_length). The batch axis may be
    missing. An axis of ``n`` elements becomes::

        out = (n + 2 * padding - kernel_size) // stride + 1

    With ``ceil_mode`` the division rounds up, except that no window begins behind the input and its
    left padding.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.AvgPool1d(2)(ex.ones((4, 3, 20))).shape
    (4, 3, 10)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Take the mean of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, length)
            The sequences. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_length)
            The result, without the batch axis if ``x`` has none.
        """
        return ops.avg_pool1d(x, *self.options())


class AvgPool2d(AvgPool):
    """Mean of each window of pictures.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
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
    ex.avg_pool2d : The function.

    Notes
    -----
    Shape: (batch, channels, height, width) -> (batch, channels, out_height, out_width). The batch
    axis may be missing. An axis of ``n`` elements becomes::

        out = (n + 2 * padding - kernel_size) // stride + 1

    With ``ceil_mode`` the division rounds up, except that no window begins behind the input and its
    left padding.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.AvgPool2d(2)(ex.ones((4, 3, 20, 20))).shape
    (4, 3, 10, 10)
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
        x : tensor_like, (batch, channels, height, width)
            The pictures. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return ops.avg_pool2d(x, *self.options(), self.divisor_override)


class AdaptivePool(Module):
    """The base of pooling to a fixed size."""

    def __init__(self, output_size: Sizes) -> None:
        self.output_size = output_size


class AdaptiveAvgPool1d(AdaptivePool):
    """Mean of windows whose number is fixed, for sequences of any size.

    Window ``i`` of ``m`` along an axis of ``n`` elements goes from ``i * n // m`` to
    ``(i + 1) * n / m``, rounded up. Neighbouring windows may share an element.

    Parameters
    ----------
    output_size : int or None
        Length of the output; None keeps the length of the input.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.adaptive_avg_pool1d : The function.

    Notes
    -----
    Shape: (batch, channels, length) -> ``(batch, channels, *output_size)``. The batch axis may be
    missing.

    Examples
    --------
    >>> import extensor as ex
    >>> pool = ex.nn.AdaptiveAvgPool1d(4)
    >>> pool(ex.ones((2, 3, 10))).shape
    (2, 3, 4)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Take the mean of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, length)
            The sequences. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_length)
            The result, without the batch axis if ``x`` has none.
        """
        return ops.adaptive_avg_pool1d(x, self.output_size)


class AdaptiveAvgPool2d(AdaptivePool):
    """Mean of windows whose number is fixed, for pictures of any size.

    Window ``i`` of ``m`` along an axis of ``n`` elements goes from ``i * n // m`` to
    ``(i + 1) * n / m``, rounded up. Neighbouring windows may share an element.

    Parameters
    ----------
    output_size : int, None or sequence of these
        Height and width of the output: a number for a square, or one for each axis. None keeps the
        size of an axis.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.adaptive_avg_pool2d : The function.

    Notes
    -----
    Shape: (batch, channels, height, width) -> ``(batch, channels, *output_size)``. The batch axis
    may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> pool = ex.nn.AdaptiveAvgPool2d((4, None))
    >>> pool(ex.ones((2, 3, 10, 7))).shape
    (2, 3, 4, 7)
    """

    def forward(self, x: TensorLike) -> Tensor:
        """Take the mean of each window.

        Parameters
        ----------
        x : tensor_like, (batch, channels, height, width)
            The pictures. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return ops.adaptive_avg_pool2d(x, self.output_size)
