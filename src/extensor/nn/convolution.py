"""Convolutions as modules: images are (batch, channels, height, width), or one without the batch."""

from __future__ import annotations

from operator import index
from typing import Any, Literal

from extensor.arrays.dtypes import DType
from extensor.arrays.shapes import Shape
from extensor.core.creation import asarray, empty
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.layer_inputs import in_dtype_of
from extensor.nn.linear import uniform_by_fan_in
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.ops import conv1d, conv2d, conv_transpose1d, conv_transpose2d, pad
from extensor.ops.convolution import Padding
from extensor.ops.windows import Ints
from extensor.typing import TensorLike

PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


@also_takes(**DEVICE)
class Convolution(Module):
    """The weight, (out_channels, in_channels / groups, *kernel_size), the bias and the options."""

    _axes: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Padding = 0,
        dilation: Ints = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        *,
        dtype: DType = None,
    ) -> None:
        if padding_mode not in PADDING_MODES:
            requirement = f"padding_mode must be one of {', '.join(PADDING_MODES)}"
            raise value_error(type(self).__name__, requirement, padding_mode=padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups
        self.padding_mode = padding_mode
        kernel = _each(kernel_size, self._axes)
        self.weight = Parameter(empty((*self._channels(), *kernel), dtype))
        self.bias = Parameter(empty((out_channels,), dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for the weight and the bias."""
        uniform_by_fan_in(self.weight, self.bias)

    def _channels(self) -> Shape:
        """The first two sizes of the weight."""
        for which in ("in_channels", "out_channels"):
            if self.groups < 1 or getattr(self, which) % self.groups:
                raise value_error(
                    type(self).__name__,
                    f"{which} must be divisible by groups",
                    **{which: getattr(self, which), "groups": self.groups},
                )
        return self.out_channels, self.in_channels // self.groups

    def arguments(self, x: Any) -> tuple[Any, ...]:
        """The arguments of the op: zeros are its own to add, other values are padded here."""
        x, padding = in_dtype_of(self, self.weight, x), self.padding
        if self.padding_mode != "zeros" and padding != "valid":
            if padding == "same":
                sizes = (_each(size, self._axes) for size in (self.kernel_size, self.dilation))
                reaches = [d * (k - 1) for k, d in zip(*sizes, strict=True)]
                widths = [(reach // 2, reach - reach // 2) for reach in reaches]
            else:
                widths = [(width, width) for width in _each(padding, self._axes)]
            x, padding = asarray(x), 0
            x = pad(x, [*[(0, 0)] * (x.ndim - self._axes), *widths], self.padding_mode)
        return x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups


def _each(value: Any, axes: int) -> Shape:
    """An int for each axis."""
    return tuple(value) if isinstance(value, list | tuple) else (index(value),) * axes


class Conv1d(Convolution):
    """Convolution of sequences, as a layer.

    Each output channel is the sum over the input channels of cross-correlations with a window of
    ``weight``, plus ``bias``. See `ex.conv1d` for the formula and its derivative.

    Parameters
    ----------
    in_channels : int
        Number of channels of the input.
    out_channels : int
        Number of channels of the output.
    kernel_size : int or sequence of ints
        Length of a window.
    stride : int or sequence of ints, default 1
        Distance between neighbouring windows, in elements of the input.
    padding : int, sequence of ints, "same" or "valid", default 0
        Number of elements added on each side. "same" adds as many as keep the size with a stride of
        1, one more after than before where the number is odd; "valid" adds none. ``padding_mode``
        chooses their values.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window.
    groups : int, default 1
        Number of groups of channels that are convolved independently. It must divide
        ``in_channels`` and ``out_channels``. With ``groups=in_channels`` each channel has windows
        of its own (a depthwise convolution).
    bias : bool, default True
        Whether to add a learnable bias.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}, default "zeros"
        Values of the padding: zeros, the input mirrored at its edge (without the edge itself), its
        outermost element repeated, or the input continued periodically.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (out_channels, in_channels / groups, length)
        The windows. Initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(in_channels / groups * kernel_size)``.
    bias : Parameter, (out_channels,)
        Numbers added to the output channels, initially uniform in the same interval. None with
        ``bias=False``.

    Raises
    ------
    ValueError
        If ``padding_mode`` is unknown or ``groups`` does not divide the channels. In a call, if the
        input does not have ``in_channels`` channels, a padded axis is shorter than a window, or
        ``padding="same"`` with zeros is combined with a stride other than 1.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.conv1d : The function.

    Notes
    -----
    Shape: (batch, in_channels, length) -> (batch, out_channels, out_length). The batch axis may be
    missing. An axis of ``n`` elements becomes::

        out = (n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1

    The parameters and their names in ``state_dict`` are those of PyTorch's layer.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Conv1d(3, 8, kernel_size=5, stride=2, padding=2)
    >>> layer(ex.ones((4, 3, 20))).shape
    (4, 8, 10)
    >>> layer.weight.shape
    (8, 3, 5)
    """

    _axes = 1

    def forward(self, x: TensorLike) -> Tensor:
        """Convolve ``x`` with the weight, and add the bias.

        Parameters
        ----------
        x : tensor_like, (batch, in_channels, length)
            The sequences. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, out_channels, out_length)
            The result, without the batch axis if ``x`` has none.
        """
        return conv1d(*self.arguments(x))


class Conv2d(Convolution):
    """Convolution of pictures, as a layer.

    Each output channel is the sum over the input channels of cross-correlations with a window of
    ``weight``, plus ``bias``. See `ex.conv2d` for the formula and its derivative.

    Parameters
    ----------
    in_channels : int
        Number of channels of the input.
    out_channels : int
        Number of channels of the output.
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
    stride : int or sequence of ints, default 1
        Distance between neighbouring windows, in elements of the input: a number, or one for each
        axis.
    padding : int, sequence of ints, "same" or "valid", default 0
        Number of elements added on each side of an axis: a number, or one for each axis. "same"
        adds as many as keep the size with a stride of 1, one more after than before where the
        number is odd; "valid" adds none. ``padding_mode`` chooses their values.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window: a number, or one for each axis.
    groups : int, default 1
        Number of groups of channels that are convolved independently. It must divide
        ``in_channels`` and ``out_channels``. With ``groups=in_channels`` each channel has windows
        of its own (a depthwise convolution).
    bias : bool, default True
        Whether to add a learnable bias.
    padding_mode : {"zeros", "reflect", "replicate", "circular"}, default "zeros"
        Values of the padding: zeros, the input mirrored at its edge (without the edge itself), its
        outermost element repeated, or the input continued periodically.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (out_channels, in_channels / groups, height, width)
        The windows. Initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(in_channels / groups * kernel height * kernel width)``.
    bias : Parameter, (out_channels,)
        Numbers added to the output channels, initially uniform in the same interval. None with
        ``bias=False``.

    Raises
    ------
    ValueError
        If ``padding_mode`` is unknown or ``groups`` does not divide the channels. In a call, if the
        input does not have ``in_channels`` channels, a padded axis is shorter than a window, or
        ``padding="same"`` with zeros is combined with a stride other than 1.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.conv2d : The function.

    Notes
    -----
    Shape: (batch, in_channels, height, width) -> (batch, out_channels, out_height, out_width). The
    batch axis may be missing. An axis of ``n`` elements becomes::

        out = (n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1

    The parameters and their names in ``state_dict`` are those of PyTorch's layer.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Conv2d(3, 8, kernel_size=3, stride=2, padding=1)
    >>> layer(ex.ones((4, 3, 32, 32))).shape
    (4, 8, 16, 16)
    >>> layer.weight.shape
    (8, 3, 3, 3)
    >>> same = ex.nn.Conv2d(3, 6, (1, 5), padding="same", padding_mode="reflect", groups=3)
    >>> same(ex.ones((3, 7, 9))).shape
    (6, 7, 9)
    """

    _axes = 2

    def forward(self, x: TensorLike) -> Tensor:
        """Convolve ``x`` with the weight, and add the bias.

        Parameters
        ----------
        x : tensor_like, (batch, in_channels, height, width)
            The pictures. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, out_channels, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return conv2d(*self.arguments(x))


@also_takes(**DEVICE, padding_mode=("zeros",))
class TransposedConvolution(Convolution):
    """The weight, (in_channels, out_channels / groups, *kernel_size), the bias and the options."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        padding: Ints = 0,
        output_padding: Ints = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Ints = 1,
        *,
        dtype: DType = None,
    ) -> None:
        self.output_padding = output_padding
        sizes = (in_channels, out_channels, kernel_size)
        super().__init__(*sizes, stride, padding, dilation, groups, bias, dtype=dtype)

    def _channels(self) -> Shape:
        super()._channels()
        return self.in_channels, self.out_channels // self.groups

    def arguments(self, x: Any, output_size: Any = None) -> tuple[Any, ...]:
        """The arguments of the op."""
        x, added = in_dtype_of(self, self.weight, x), self.output_padding
        if output_size is not None:
            x = asarray(x)
            added = self._output_padding(x.shape, output_size)
        options = (self.stride, self.padding, added, self.groups, self.dilation)
        return x, self.weight, self.bias, *options

    def _output_padding(self, shape: Shape, output_size: Any) -> Shape:
        """The padding that gives the output the sizes ``output_size``, those of its last axes."""
        axes = self._axes
        sizes = tuple(output_size) if isinstance(output_size, list | tuple) else (output_size,)
        sizes = sizes[-axes:] if len(sizes) == len(shape) else sizes
        options = (self.kernel_size, self.stride, self.padding, self.dilation)
        each = zip(shape[-axes:], *(_each(option, axes) for option in options), strict=True)
        least = tuple((n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in each)
        strides = _each(self.stride, axes)
        if len(sizes) != axes or not all(
            low <= n < low + s for n, low, s in zip(sizes, least, strides, strict=True)
        ):
            most = tuple(low + s - 1 for low, s in zip(least, strides, strict=True))
            requirement = f"output_size must be from {least} to {most}"
            raise value_error(type(self).__name__, requirement, output_size=output_size)
        return tuple(n - low for n, low in zip(sizes, least, strict=True))


class ConvTranspose1d(TransposedConvolution):
    """Transposed convolution of sequences, as a layer that enlarges them.

    Every input element adds its multiple of the windows to the output, ``stride`` elements apart.
    It is the gradient of `Conv1d` with respect to its input, not its inverse. See
    `ex.conv_transpose1d` for the derivative.

    Parameters
    ----------
    in_channels : int
        Number of channels of the input.
    out_channels : int
        Number of channels of the output.
    kernel_size : int or sequence of ints
        Length of a window.
    stride : int or sequence of ints, default 1
        Distance between the windows of neighbouring input elements, in elements of the output.
    padding : int or sequence of ints, default 0
        Number of elements taken off each side of the output.
    output_padding : int or sequence of ints, default 0
        Number of elements added to the far end of the output. It chooses among the sizes that a
        strided convolution maps to the same size.
    groups : int, default 1
        Number of groups of channels that are convolved independently. It must divide
        ``in_channels`` and ``out_channels``. With ``groups=in_channels`` each channel has windows
        of its own (a depthwise convolution).
    bias : bool, default True
        Whether to add a learnable bias.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (in_channels, out_channels / groups, length)
        The windows. Initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(out_channels / groups * kernel_size)``.
    bias : Parameter, (out_channels,)
        Numbers added to the output channels, initially uniform in the same interval. None with
        ``bias=False``.

    Raises
    ------
    ValueError
        If ``groups`` does not divide the channels. In a call, if the input does not have
        ``in_channels`` channels, or if ``output_size`` cannot be reached.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.conv_transpose1d : The function.

    Notes
    -----
    Shape: (batch, in_channels, length) -> (batch, out_channels, out_length). The batch axis may be
    missing. An axis of ``n`` elements becomes::

        out = (n - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.ConvTranspose1d(8, 3, kernel_size=2, stride=2)
    >>> layer(ex.ones((4, 8, 5))).shape
    (4, 3, 10)
    """

    _axes = 1

    def forward(self, x: TensorLike, output_size: Ints | None = None) -> Tensor:
        """Compute the transposed convolution of ``x``.

        Parameters
        ----------
        x : tensor_like, (batch, in_channels, length)
            The input. The batch axis may be missing.
        output_size : int or sequence of ints, optional
            Size of the output, also as a whole shape. It replaces ``output_padding``.

        Returns
        -------
        Tensor, (batch, out_channels, out_length)
            The result, without the batch axis if ``x`` has none.
        """
        return conv_transpose1d(*self.arguments(x, output_size))


class ConvTranspose2d(TransposedConvolution):
    """Transposed convolution of pictures, as a layer that enlarges them.

    Every input element adds its multiple of the windows to the output, ``stride`` elements apart.
    It is the gradient of `Conv2d` with respect to its input, not its inverse. See
    `ex.conv_transpose2d` for the derivative.

    Parameters
    ----------
    in_channels : int
        Number of channels of the input.
    out_channels : int
        Number of channels of the output.
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
    stride : int or sequence of ints, default 1
        Distance between the windows of neighbouring input elements, in elements of the output, or
        one for each axis.
    padding : int or sequence of ints, default 0
        Number of elements taken off each side of the output, or one for each axis.
    output_padding : int or sequence of ints, default 0
        Number of elements added to the far end of the output, or one for each axis. It chooses
        among the sizes that a strided convolution maps to the same size.
    groups : int, default 1
        Number of groups of channels that are convolved independently. It must divide
        ``in_channels`` and ``out_channels``. With ``groups=in_channels`` each channel has windows
        of its own (a depthwise convolution).
    bias : bool, default True
        Whether to add a learnable bias.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window: a number, or one for each axis.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (in_channels, out_channels / groups, height, width)
        The windows. Initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(out_channels / groups * kernel height * kernel width)``.
    bias : Parameter, (out_channels,)
        Numbers added to the output channels, initially uniform in the same interval. None with
        ``bias=False``.

    Raises
    ------
    ValueError
        If ``groups`` does not divide the channels. In a call, if the input does not have
        ``in_channels`` channels, or if ``output_size`` cannot be reached.
    TypeError
        In a call, if the input has another floating dtype than the parameters. Integers are
        converted.

    See Also
    --------
    ex.conv_transpose2d : The function.

    Notes
    -----
    Shape: (batch, in_channels, height, width) -> (batch, out_channels, out_height, out_width). The
    batch axis may be missing. An axis of ``n`` elements becomes::

        out = (n - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.ConvTranspose2d(8, 3, kernel_size=3, stride=2, padding=1, output_padding=1)
    >>> layer(ex.ones((4, 8, 5, 5))).shape
    (4, 3, 10, 10)
    >>> layer.weight.shape
    (8, 3, 3, 3)
    """

    _axes = 2

    def forward(self, x: TensorLike, output_size: Ints | None = None) -> Tensor:
        """Compute the transposed convolution of ``x``.

        Parameters
        ----------
        x : tensor_like, (batch, in_channels, height, width)
            The input. The batch axis may be missing.
        output_size : int or sequence of ints, optional
            Size of the output, also as a whole shape. It replaces ``output_padding``.

        Returns
        -------
        Tensor, (batch, out_channels, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return conv_transpose2d(*self.arguments(x, output_size))
