"""Changes of size as modules: interpolation, and channels exchanged with places."""

from __future__ import annotations

from collections.abc import Sequence

from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.ops import channel_shuffle, interpolate, pixel_shuffle, pixel_unshuffle
from extensor.ops.interpolation import Interpolation
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class Upsample(Module):
    """Interpolation of sequences, pictures or volumes to another size.

    See `ex.interpolate` for the formula and its derivative.

    Parameters
    ----------
    size : int or sequence of ints, optional
        New size: a number, or one for each axis behind batch and channels.
    scale_factor : float or sequence of floats, optional
        Factor by which sizes grow, instead of ``size``: a number, or one for each axis.
    mode : {"nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"}
        Kind of interpolation, by default "nearest". "linear", "bilinear" and "trilinear" are for 1,
        2 and 3 axes, "bicubic" for 2, the others for any of these.
    align_corners : bool, optional
        Whether the first and last elements of both sizes lie upon each other, for "linear",
        "bilinear", "bicubic" and "trilinear".
    recompute_scale_factor : bool, optional
        Whether distances follow from the sizes although ``scale_factor`` is given.

    Raises
    ------
    ValueError
        In a call, if ``mode`` does not fit the number of axes, or not exactly one of ``size`` and
        ``scale_factor`` is given.

    See Also
    --------
    ex.interpolate : The function.

    Notes
    -----
    Shape: (batch, channels, ...) -> ``(batch, channels, *size)``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Upsample(scale_factor=2, mode="bilinear")(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 10, 12)
    """

    def __init__(
        self,
        size: Ints | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: Interpolation = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, x: TensorLike) -> Tensor:
        """Resample ``x``.

        Parameters
        ----------
        x : tensor_like, (batch, channels, ...)
            The input.

        Returns
        -------
        Tensor, (batch, channels, ...)
            The result.
        """
        return interpolate(
            x,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )


class UpsamplingNearest2d(Upsample):
    """Upsampling of pictures by copies of the nearest pixel.

    Parameters
    ----------
    size : int or sequence of ints, optional
        New height and width.
    scale_factor : float or sequence of floats, optional
        Factor by which they grow, instead of ``size``.

    See Also
    --------
    Upsample : With other kinds of interpolation.

    Notes
    -----
    Shape: (batch, channels, height, width) -> ``(batch, channels, *size)``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.UpsamplingNearest2d(scale_factor=2)(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 10, 12)
    """

    def __init__(
        self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsampling of pictures by bilinear interpolation, with ``align_corners=True``.

    Parameters
    ----------
    size : int or sequence of ints, optional
        New height and width.
    scale_factor : float or sequence of floats, optional
        Factor by which they grow, instead of ``size``.

    See Also
    --------
    Upsample : With other kinds of interpolation.

    Notes
    -----
    Shape: (batch, channels, height, width) -> ``(batch, channels, *size)``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.UpsamplingBilinear2d(size=(10, 7))(ex.ones((4, 3, 5, 6))).shape
    (4, 3, 10, 7)
    """

    def __init__(
        self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Channels spread over squares of pixels: a picture ``r`` times as high and wide.

    Parameters
    ----------
    upscale_factor : int
        The factor ``r``.

    Raises
    ------
    ValueError
        In a call, if ``r**2`` does not divide the channels.

    See Also
    --------
    ex.pixel_shuffle : The function.
    PixelUnshuffle : The inverse.

    Notes
    -----
    Shape: (..., channels * r**2, height, width) -> (..., channels, height * r, width * r).

    References
    ----------
    Shi et al., "Real-time single image and video super-resolution using an efficient sub-pixel
    convolutional neural network", 2016.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.PixelShuffle(3)(ex.ones((1, 9, 4, 4))).shape
    (1, 1, 12, 12)
    """

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = upscale_factor

    def forward(self, x: TensorLike) -> Tensor:
        """Spread the channels of ``x``.

        Parameters
        ----------
        x : tensor_like, (..., channels * r**2, height, width)
            The pictures.

        Returns
        -------
        Tensor, (..., channels, height * r, width * r)
            The larger pictures.
        """
        return pixel_shuffle(x, self.upscale_factor)


class PixelUnshuffle(Module):
    """Squares of pixels gathered in channels: a picture ``r`` times less high and wide.

    Parameters
    ----------
    downscale_factor : int
        The factor ``r``.

    Raises
    ------
    ValueError
        In a call, if ``r`` does not divide height and width.

    See Also
    --------
    ex.pixel_unshuffle : The function.
    PixelShuffle : The inverse.

    Notes
    -----
    Shape: (..., channels, height * r, width * r) -> (..., channels * r**2, height, width).

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.PixelUnshuffle(3)(ex.ones((1, 1, 12, 12))).shape
    (1, 9, 4, 4)
    """

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = downscale_factor

    def forward(self, x: TensorLike) -> Tensor:
        """Gather the squares of ``x``.

        Parameters
        ----------
        x : tensor_like, (..., channels, height * r, width * r)
            The pictures.

        Returns
        -------
        Tensor, (..., channels * r**2, height, width)
            The smaller pictures.
        """
        return pixel_unshuffle(x, self.downscale_factor)


class ChannelShuffle(Module):
    """Channels of several groups in turn: the first of each group, the second of each, and so on.

    Parameters
    ----------
    groups : int
        Number of groups, which must divide the channels.

    Raises
    ------
    ValueError
        In a call, if ``groups`` does not divide the channels.

    See Also
    --------
    ex.channel_shuffle : The function.

    Notes
    -----
    Shape: (batch, channels, ...) -> the same.

    References
    ----------
    Zhang et al., "ShuffleNet: An extremely efficient convolutional neural network for mobile
    devices", 2018.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.ChannelShuffle(2)(ex.tensor([[[1.0], [2.0], [3.0], [4.0]]])).flatten()
    tensor([1., 3., 2., 4.])
    """

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def forward(self, x: TensorLike) -> Tensor:
        """Shuffle the channels of ``x``.

        Parameters
        ----------
        x : tensor_like, (batch, channels, ...)
            The input.

        Returns
        -------
        Tensor
            The same channels in another order.
        """
        return channel_shuffle(x, self.groups)
