"""The way back from max pooling, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class _MaxUnpool(Module):
    def __init__(self, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0) -> None:
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding


class MaxUnpool1d(_MaxUnpool):
    """Zeros with the maxima of sequences where `MaxPool1d` found them.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Length of a window.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of elements that the pooling added on each side.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit, or an index is out of range.

    See Also
    --------
    ex.max_unpool1d : The function.
    MaxPool1d : The pooling, which returns the places with ``return_indices=True``.

    Notes
    -----
    Shape: (batch, channels, length) -> (batch, channels, out_length).
    The batch axis may be missing. An axis of ``n`` elements becomes::

        out = (n - 1) * stride - 2 * padding + kernel_size

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.tensor([[[1.0, 3.0, 2.0, 0.0]]])
    >>> y, indices = ex.nn.MaxPool1d(2, return_indices=True)(x)
    >>> ex.nn.MaxUnpool1d(2)(y, indices)
    tensor([[[0., 3., 2., 0.]]])
    """

    def forward(
        self, x: TensorLike, indices: TensorLike, output_size: Ints | None = None
    ) -> Tensor:
        """Put the maxima back.

        Parameters
        ----------
        x : tensor_like, (batch, channels, length)
            The maxima. The batch axis may be missing.
        indices : tensor_like of ints, in the shape of ``x``
            Their places in the flattened axes behind the channels of the result.
        output_size : int or sequence of ints, optional
            Sizes of the result, also as a whole shape; by default the least that the windows need.

        Returns
        -------
        Tensor, (batch, channels, out_length)
            The result, without the batch axis if ``x`` has none.
        """
        how = (self.kernel_size, self.stride, self.padding, output_size)
        return ops.max_unpool1d(x, indices, *how)


class MaxUnpool2d(_MaxUnpool):
    """Zeros with the maxima of pictures where `MaxPool2d` found them.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of elements that the pooling added on each side.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit, or an index is out of range.

    See Also
    --------
    ex.max_unpool2d : The function.
    MaxPool2d : The pooling, which returns the places with ``return_indices=True``.

    Notes
    -----
    Shape: (batch, channels, height, width) -> (batch, channels, out_height, out_width).
    The batch axis may be missing. An axis of ``n`` elements becomes::

        out = (n - 1) * stride - 2 * padding + kernel_size

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.tensor([[[[1.0, 2.0], [4.0, 3.0]]]])
    >>> y, indices = ex.nn.MaxPool2d(2, return_indices=True)(x)
    >>> ex.nn.MaxUnpool2d(2)(y, indices)
    tensor([[[[0., 0.],
              [4., 0.]]]])
    """

    def forward(
        self, x: TensorLike, indices: TensorLike, output_size: Ints | None = None
    ) -> Tensor:
        """Put the maxima back.

        Parameters
        ----------
        x : tensor_like, (batch, channels, height, width)
            The maxima. The batch axis may be missing.
        indices : tensor_like of ints, in the shape of ``x``
            Their places in the flattened axes behind the channels of the result.
        output_size : int or sequence of ints, optional
            Sizes of the result, also as a whole shape; by default the least that the windows need.

        Returns
        -------
        Tensor, (batch, channels, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        how = (self.kernel_size, self.stride, self.padding, output_size)
        return ops.max_unpool2d(x, indices, *how)


class MaxUnpool3d(_MaxUnpool):
    """Zeros with the maxima of volumes where `MaxPool3d` found them.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Depth, height and width of a window; a number for a cube.
    stride : int or sequence of ints, optional
        Distance between neighbouring windows. By default that is ``kernel_size``.
    padding : int or sequence of ints, default 0
        Number of elements that the pooling added on each side.

    Raises
    ------
    ValueError
        In a call, if the shapes do not fit, or an index is out of range.

    See Also
    --------
    ex.max_unpool3d : The function.
    MaxPool3d : The pooling, which returns the places with ``return_indices=True``.

    Notes
    -----
    Shape: (batch, channels, depth, height, width) -> (batch, channels, out_depth, out_height, out_width).
    The batch axis may be missing. An axis of ``n`` elements becomes::

        out = (n - 1) * stride - 2 * padding + kernel_size

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.tensor([[[[[1.0, 2.0], [4.0, 3.0]]]]])
    >>> y, indices = ex.nn.MaxPool3d((1, 2, 2), return_indices=True)(x)
    >>> ex.nn.MaxUnpool3d((1, 2, 2))(y, indices)
    tensor([[[[[0., 0.],
               [4., 0.]]]]])
    """

    def forward(
        self, x: TensorLike, indices: TensorLike, output_size: Ints | None = None
    ) -> Tensor:
        """Put the maxima back.

        Parameters
        ----------
        x : tensor_like, (batch, channels, depth, height, width)
            The maxima. The batch axis may be missing.
        indices : tensor_like of ints, in the shape of ``x``
            Their places in the flattened axes behind the channels of the result.
        output_size : int or sequence of ints, optional
            Sizes of the result, also as a whole shape; by default the least that the windows need.

        Returns
        -------
        Tensor, (batch, channels, out_depth, out_height, out_width)
            The result, without the batch axis if ``x`` has none.
        """
        how = (self.kernel_size, self.stride, self.padding, output_size)
        return ops.max_unpool3d(x, indices, *how)
