"""Convolutions of volumes as modules: (batch, channels, depth, height, width)."""

from __future__ import annotations

from extensor.core.tensor import Tensor
from extensor.nn.convolution import Convolution, TransposedConvolution
from extensor.ops import conv3d, conv_transpose3d
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class Conv3d(Convolution):
    """Convolution of volumes, as a layer.

    Each output channel is the sum over the input channels of cross-correlations with a window of
    ``weight``, plus ``bias``. See `ex.conv3d` for the formula and its derivative.

    Parameters
    ----------
    in_channels : int
        Number of channels of the input.
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

    Attributes
    ----------
    weight : Parameter, (out_channels, in_channels / groups, depth, height, width)
        The windows. Initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(in_channels / groups * kernel depth * kernel height * kernel width)``.
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
    ex.conv3d : The function.

    Notes
    -----
    Shape: (batch, in_channels, depth, height, width) -> (batch, out_channels, out_depth,
    out_height, out_width). The batch axis may be missing. An axis of ``n`` elements becomes::

        out = (n + 2 * padding - dilation * (kernel_size - 1) - 1) // stride + 1

    The parameters and their names in ``state_dict`` are those of PyTorch's layer.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Conv3d(3, 8, kernel_size=3, stride=2, padding=1)
    >>> layer(ex.ones((2, 3, 8, 12, 16))).shape
    (2, 8, 4, 6, 8)
    >>> layer.weight.shape
    (8, 3, 3, 3, 3)
    """

    _axes = 3

    def forward(self, x: TensorLike) -> Tensor:
        """Convolve ``x`` with the weight, and add the bias.

        Parameters
        ----------
        x : tensor_like, (batch, in_channels, depth, height, width)
            The volumes. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, out_channels, out_depth, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return conv3d(*self.arguments(x))


class ConvTranspose3d(TransposedConvolution):
    """Transposed convolution of volumes, as a layer that enlarges them.

    Every input element adds its multiple of the windows to the output, ``stride`` elements apart.
    It is the gradient of `Conv3d` with respect to its input, not its inverse. See
    `ex.conv_transpose3d` for the derivative.

    Parameters
    ----------
    in_channels : int
        Number of channels of the input.
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

    Attributes
    ----------
    weight : Parameter, (in_channels, out_channels / groups, depth, height, width)
        The windows. Initially uniform in ``[-b, b]`` with
        ``b = 1 / sqrt(out_channels / groups * kernel depth * kernel height * kernel width)``.
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
    ex.conv_transpose3d : The function.

    Notes
    -----
    Shape: (batch, in_channels, depth, height, width) -> (batch, out_channels, out_depth,
    out_height, out_width). The batch axis may be missing. An axis of ``n`` elements becomes::

        out = (n - 1) * stride - 2 * padding + dilation * (kernel_size - 1) + output_padding + 1

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.ConvTranspose3d(8, 3, kernel_size=3, stride=2, padding=1, output_padding=1)
    >>> layer(ex.ones((2, 8, 3, 4, 5))).shape
    (2, 3, 6, 8, 10)
    >>> layer(ex.ones((2, 8, 3, 4, 5)), output_size=(5, 8, 9)).shape
    (2, 3, 5, 8, 9)
    """

    _axes = 3

    def forward(self, x: TensorLike, output_size: Ints | None = None) -> Tensor:
        """Compute the transposed convolution of ``x``.

        Parameters
        ----------
        x : tensor_like, (batch, in_channels, depth, height, width)
            The input. The batch axis may be missing.
        output_size : int or sequence of ints, optional
            Size of the output, also as a whole shape. It replaces ``output_padding``.

        Returns
        -------
        Tensor, (batch, out_channels, out_depth, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        return conv_transpose3d(*self.arguments(x, output_size))
