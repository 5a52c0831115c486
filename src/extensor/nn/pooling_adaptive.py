"""Maxima of a fixed number of windows, as modules."""

from __future__ import annotations

from typing import Any

from extensor import ops
from extensor.nn.pooling import AdaptivePool
from extensor.ops.pooling_average import Sizes
from extensor.typing import TensorLike


class _AdaptiveMaxPool(AdaptivePool):
    def __init__(self, output_size: Sizes, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Maximum of windows whose number is fixed, for sequences of any size.

    The windows are those of `AdaptiveAvgPool1d`. NaN counts as the largest number.

    Parameters
    ----------
    output_size : int or None
        Length of the output; None keeps the length of the input.
    return_indices : bool, default False
        Whether to return the places of the maxima too.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.adaptive_max_pool1d : The function.

    Notes
    -----
    Shape: (batch, channels, length) -> ``(batch, channels, *output_size)``. The
    batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.AdaptiveMaxPool1d(4)(ex.ones((2, 3, 10))).shape
    (2, 3, 4)
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
            return ops.adaptive_max_pool1d_with_indices(x, self.output_size)
        return ops.adaptive_max_pool1d(x, self.output_size)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Maximum of windows whose number is fixed, for pictures of any size.

    The windows are those of `AdaptiveAvgPool2d`. NaN counts as the largest number.

    Parameters
    ----------
    output_size : int, None or sequence of these
        Height and width of the output: a number for all axes, or one for each. None
        keeps the size of an axis.
    return_indices : bool, default False
        Whether to return the places of the maxima too.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.adaptive_max_pool2d : The function.

    Notes
    -----
    Shape: (batch, channels, height, width) -> ``(batch, channels, *output_size)``. The
    batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.AdaptiveMaxPool2d((4, None))(ex.ones((2, 3, 10, 7))).shape
    (2, 3, 4, 7)
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
            return ops.adaptive_max_pool2d_with_indices(x, self.output_size)
        return ops.adaptive_max_pool2d(x, self.output_size)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Maximum of windows whose number is fixed, for volumes of any size.

    The windows are those of `AdaptiveAvgPool3d`. NaN counts as the largest number.

    Parameters
    ----------
    output_size : int, None or sequence of these
        Depth, height and width of the output: a number for all axes, or one for each. None
        keeps the size of an axis.
    return_indices : bool, default False
        Whether to return the places of the maxima too.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes.

    See Also
    --------
    ex.adaptive_max_pool3d : The function.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> ``(batch, channels, *output_size)``. The
    batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.AdaptiveMaxPool3d((4, None, 2))(ex.ones((2, 3, 9, 10, 7))).shape
    (2, 3, 4, 10, 2)
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
            return ops.adaptive_max_pool3d_with_indices(x, self.output_size)
        return ops.adaptive_max_pool3d(x, self.output_size)
