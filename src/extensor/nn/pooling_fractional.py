"""Fractional max pooling, as modules."""

from __future__ import annotations

from typing import Any

from extensor import ops
from extensor.errors import value_error
from extensor.errors.keywords import NOTHING, also_takes
from extensor.nn.module import Module
from extensor.ops.pooling_fractional import Ratios
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class _FractionalMaxPool(Module):
    def __init__(
        self,
        kernel_size: Ints,
        output_size: Ints | None = None,
        output_ratio: Ratios | None = None,
        return_indices: bool = False,
    ) -> None:
        if (output_size is None) == (output_ratio is None):
            requirement = "exactly one of output_size and output_ratio must be given"
            got = {"output_size": output_size, "output_ratio": output_ratio}
            raise value_error(type(self).__name__, requirement, **got)
        self.kernel_size = kernel_size
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices

    def _pooled(self, pool: Any, x: Any) -> Any:
        both = pool(x, self.kernel_size, self.output_size, self.output_ratio)
        return both if self.return_indices else both[0]


@also_takes(_random_samples=NOTHING)
class FractionalMaxPool2d(_FractionalMaxPool):
    """Maximum of windows of pictures at drawn distances, which shrink them by any factor.

    Each call draws the distances anew, in evaluation too.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Size of a window: a number, or one for each axis.
    output_size : int or sequence of ints, optional
        Sizes of the output: a number, or one for each axis.
    output_ratio : float or sequence of floats, optional
        Sizes of the output as shares of those of the input, instead of ``output_size``.
    return_indices : bool, default False
        Whether to return the places of the maxima too.

    Raises
    ------
    ValueError
        If not exactly one of ``output_size`` and ``output_ratio`` is given. In a call, if the windows
        do not fit into ``x``.

    See Also
    --------
    ex.fractional_max_pool2d_with_indices : The function, which also takes the drawn numbers.

    Notes
    -----
    Shape: (batch, channels, height, width) -> ``(batch, channels, *output_size)``. The batch axis
    may be missing.

    References
    ----------
    Graham, "Fractional max-pooling", 2014.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.FractionalMaxPool2d(2, output_ratio=0.7)(ex.ones((4, 3, 20, 16))).shape
    (4, 3, 14, 11)
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
        return self._pooled(ops.fractional_max_pool2d_with_indices, x)


@also_takes(_random_samples=NOTHING)
class FractionalMaxPool3d(_FractionalMaxPool):
    """Maximum of windows of volumes at drawn distances, which shrink them by any factor.

    Each call draws the distances anew, in evaluation too.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Size of a window: a number, or one for each axis.
    output_size : int or sequence of ints, optional
        Sizes of the output: a number, or one for each axis.
    output_ratio : float or sequence of floats, optional
        Sizes of the output as shares of those of the input, instead of ``output_size``.
    return_indices : bool, default False
        Whether to return the places of the maxima too.

    Raises
    ------
    ValueError
        If not exactly one of ``output_size`` and ``output_ratio`` is given. In a call, if the windows
        do not fit into ``x``.

    See Also
    --------
    ex.fractional_max_pool3d_with_indices : The function, which also takes the drawn numbers.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> ``(batch, channels, *output_size)``. The batch axis
    may be missing.

    References
    ----------
    Graham, "Fractional max-pooling", 2014.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.FractionalMaxPool3d(2, output_ratio=0.7)(ex.ones((2, 3, 10, 8, 6))).shape
    (2, 3, 7, 5, 4)
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
        return self._pooled(ops.fractional_max_pool3d_with_indices, x)
