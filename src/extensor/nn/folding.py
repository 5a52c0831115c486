"""Windows of pictures as columns and back, as modules."""

from __future__ import annotations

from extensor import ops
from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.ops.windows import Ints
from extensor.typing import TensorLike


class Unfold(Module):
    """Windows of pictures as columns.

    Parameters
    ----------
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        Number of zeros added on each side: a number, or one for each axis.
    stride : int or sequence of ints, default 1
        Distance between neighbouring windows: a number, or one for each axis.

    Raises
    ------
    ValueError
        In a call, if ``x`` has another number of axes, or a window does not fit.

    See Also
    --------
    ex.unfold : The function.
    Fold : Adds the columns back.

    Notes
    -----
    Shape: (batch, channels, height, width) -> (batch, channels * kernel elements, windows). The
    batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Unfold(3, padding=1, stride=2)(ex.ones((4, 3, 8, 8))).shape
    (4, 27, 16)
    """

    def __init__(
        self, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
    ) -> None:
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, x: TensorLike) -> Tensor:
        """Unfold the windows.

        Parameters
        ----------
        x : tensor_like, (batch, channels, height, width)
            The pictures. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels * kernel elements, windows)
            The columns.
        """
        return ops.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)


class Fold(Module):
    """Columns added to pictures, each to the window that it is of.

    Parameters
    ----------
    output_size : int or sequence of ints
        Height and width of the pictures; a number for squares.
    kernel_size : int or sequence of ints
        Height and width of a window; a number for a square.
    dilation : int or sequence of ints, default 1
        Distance between neighbouring elements of a window: a number, or one for each axis.
    padding : int or sequence of ints, default 0
        Number of zeros on each side of the pictures: a number, or one for each axis.
    stride : int or sequence of ints, default 1
        Distance between neighbouring windows: a number, or one for each axis.

    Raises
    ------
    ValueError
        In a call, if the columns are not as many as there are windows, or not as long.

    See Also
    --------
    ex.fold : The function.
    Unfold : Gives the columns.

    Notes
    -----
    Shape: (batch, channels * kernel elements, windows) -> (batch, channels, height, width). The
    batch axis may be missing.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.Fold(8, 3, padding=1, stride=2)(ex.ones((4, 27, 16))).shape
    (4, 3, 8, 8)
    """

    def __init__(
        self,
        output_size: Ints,
        kernel_size: Ints,
        dilation: Ints = 1,
        padding: Ints = 0,
        stride: Ints = 1,
    ) -> None:
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, x: TensorLike) -> Tensor:
        """Add the columns to pictures.

        Parameters
        ----------
        x : tensor_like, (batch, channels * kernel elements, windows)
            The columns. The batch axis may be missing.

        Returns
        -------
        Tensor, (batch, channels, height, width)
            The pictures.
        """
        how = (self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)
        return ops.fold(x, *how)
