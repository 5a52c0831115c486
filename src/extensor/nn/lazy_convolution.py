"""Linear maps and convolutions whose input sizes the first call fixes."""

from __future__ import annotations

from typing import Any

from extensor.arrays.dtypes import DType
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, also_takes
from extensor.nn.convolution import (
    Conv1d,
    Conv2d,
    ConvTranspose1d,
    ConvTranspose2d,
    PaddingMode,
)
from extensor.nn.convolution_volume import Conv3d, ConvTranspose3d
from extensor.nn.lazy import LazyModule
from extensor.nn.linear import Linear
from extensor.ops.convolution import Padding
from extensor.ops.windows import Ints


@also_takes(**DEVICE)
class LazyLinear(LazyModule, Linear):
    """`Linear` whose ``in_features`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `Linear`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    out_features : int
        Size of the last axis of the output.
    bias : bool, default True
        Whether to add a learnable bias.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `Linear` does.

    See Also
    --------
    Linear : With ``in_features`` given.

    Notes
    -----
    Shape: that of `Linear`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyLinear(3)
    >>> layer(ex.ones((2, 5))).shape
    (2, 3)
    >>> layer
    Linear(in_features=5, out_features=3)
    """

    _made = Linear
    _size = "in_features"

    def __init__(
        self,
        out_features: int,
        bias: bool = True,
        *,
        dtype: DType = None,
    ) -> None:
        self._keep(
            out_features=out_features,
            bias=bias,
            dtype=dtype,
        )

    def _input_size(self, shape: tuple[int, ...]) -> int:
        if not shape:
            raise value_error("LazyLinear", "x must have at least 1 axis", x_shape=shape)
        return shape[-1]


@also_takes(**DEVICE)
class LazyConv1d(LazyModule, Conv1d):
    """`Conv1d` whose ``in_channels`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `Conv1d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
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

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `Conv1d` does.

    See Also
    --------
    Conv1d : With ``in_channels`` given.

    Notes
    -----
    Shape: that of `Conv1d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyConv1d(4, 3)
    >>> layer(ex.ones((2, 6, 5))).shape
    (2, 4, 3)
    >>> layer
    Conv1d(in_channels=6, out_channels=4, kernel_size=3)
    """

    _made = Conv1d
    _size = "in_channels"
    _ndims = (3, 2)

    def __init__(
        self,
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
        self._keep(
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
            padding_mode=padding_mode,
            dtype=dtype,
        )


@also_takes(**DEVICE)
class LazyConv2d(LazyModule, Conv2d):
    """`Conv2d` whose ``in_channels`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `Conv2d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
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

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `Conv2d` does.

    See Also
    --------
    Conv2d : With ``in_channels`` given.

    Notes
    -----
    Shape: that of `Conv2d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyConv2d(4, 3)
    >>> layer(ex.ones((2, 6, 5, 5))).shape
    (2, 4, 3, 3)
    >>> layer
    Conv2d(in_channels=6, out_channels=4, kernel_size=3)
    """

    _made = Conv2d
    _size = "in_channels"
    _ndims = (4, 3)

    def __init__(
        self,
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
        self._keep(
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
            padding_mode=padding_mode,
            dtype=dtype,
        )


@also_takes(**DEVICE)
class LazyConv3d(LazyModule, Conv3d):
    """`Conv3d` whose ``in_channels`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `Conv3d`. Before, it refuses to
    give parameters, for example to an optimizer.

    Parameters
    ----------
    out_channels : int
        Number of channels of the output.
    kernel_size : int or sequence of ints
        Depth, height and width of a window; a number for a cube.
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

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `Conv3d` does.

    See Also
    --------
    Conv3d : With ``in_channels`` given.

    Notes
    -----
    Shape: that of `Conv3d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyConv3d(4, 3)
    >>> layer(ex.ones((2, 6, 5, 5, 5))).shape
    (2, 4, 3, 3, 3)
    >>> layer
    Conv3d(in_channels=6, out_channels=4, kernel_size=3)
    """

    _made = Conv3d
    _size = "in_channels"
    _ndims = (5, 4)

    def __init__(
        self,
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
        self._keep(
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            bias=bias,
            padding_mode=padding_mode,
            dtype=dtype,
        )


class _LazyTransposed(LazyModule):
    def forward(self, x: Any, output_size: Ints | None = None) -> Any:
        """Make the parameters for ``x``, and compute the output as a module of the base class.

        Parameters
        ----------
        x : tensor_like, (batch, in_channels, ...)
            The input. The batch axis may be missing.
        output_size : int or sequence of ints, optional
            Size of the output, also as a whole shape. It replaces ``output_padding``.

        Returns
        -------
        Tensor
            The output.
        """
        self._make(x)
        return self.forward(x, output_size)


@also_takes(**DEVICE, padding_mode=("zeros",))
class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """`ConvTranspose1d` whose ``in_channels`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `ConvTranspose1d`. Before, it
    refuses to give parameters, for example to an optimizer.

    Parameters
    ----------
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

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `ConvTranspose1d` does.

    See Also
    --------
    ConvTranspose1d : With ``in_channels`` given.

    Notes
    -----
    Shape: that of `ConvTranspose1d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyConvTranspose1d(4, 3)
    >>> layer(ex.ones((2, 6, 5))).shape
    (2, 4, 7)
    >>> layer
    ConvTranspose1d(in_channels=6, out_channels=4, kernel_size=3)
    """

    _made = ConvTranspose1d
    _size = "in_channels"
    _ndims = (3, 2)

    def __init__(
        self,
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
        self._keep(
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            bias=bias,
            dilation=dilation,
            dtype=dtype,
        )


@also_takes(**DEVICE, padding_mode=("zeros",))
class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """`ConvTranspose2d` whose ``in_channels`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `ConvTranspose2d`. Before, it
    refuses to give parameters, for example to an optimizer.

    Parameters
    ----------
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

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `ConvTranspose2d` does.

    See Also
    --------
    ConvTranspose2d : With ``in_channels`` given.

    Notes
    -----
    Shape: that of `ConvTranspose2d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyConvTranspose2d(4, 3)
    >>> layer(ex.ones((2, 6, 5, 5))).shape
    (2, 4, 7, 7)
    >>> layer
    ConvTranspose2d(in_channels=6, out_channels=4, kernel_size=3)
    """

    _made = ConvTranspose2d
    _size = "in_channels"
    _ndims = (4, 3)

    def __init__(
        self,
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
        self._keep(
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            bias=bias,
            dilation=dilation,
            dtype=dtype,
        )


@also_takes(**DEVICE, padding_mode=("zeros",))
class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """`ConvTranspose3d` whose ``in_channels`` is that of the first input.

    The first call makes the parameters. From then on, the module is a `ConvTranspose3d`. Before, it
    refuses to give parameters, for example to an optimizer.

    Parameters
    ----------
    out_channels : int
        Number of channels of the output.
    kernel_size : int or sequence of ints
        Depth, height and width of a window; a number for a cube.
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

    Raises
    ------
    ValueError
        If parameters are asked for before the first call. In a call, as `ConvTranspose3d` does.

    See Also
    --------
    ConvTranspose3d : With ``in_channels`` given.

    Notes
    -----
    Shape: that of `ConvTranspose3d`.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.LazyConvTranspose3d(4, 3)
    >>> layer(ex.ones((2, 6, 5, 5, 5))).shape
    (2, 4, 7, 7, 7)
    >>> layer
    ConvTranspose3d(in_channels=6, out_channels=4, kernel_size=3)
    """

    _made = ConvTranspose3d
    _size = "in_channels"
    _ndims = (5, 4)

    def __init__(
        self,
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
        self._keep(
            out_channels=out_channels,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            groups=groups,
            bias=bias,
            dilation=dilation,
            dtype=dtype,
        )
