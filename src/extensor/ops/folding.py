"""Windows of pictures as columns, and columns added back to pictures."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import Shape, Shapes, check_shape, count
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.convolution import check_numbers, sliding
from extensor.ops.windows import Ints, Sliding, as_batch, counts, folded, ints, kernels, unfolded

SHARED = """
Parameters
----------
kernel_size
    The height and width of a window: a number for a square.
dilation
    The distance between neighbouring elements of a window: a number, or one for each axis.
padding
    The number of zeros on each side: a number, or one for each axis.
stride
    The distance between neighbouring windows: a number, or one for each axis.
"""


def _along(
    name: str, size: Shape, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
) -> list[Sliding]:
    kernel = ints(name, "kernel_size", kernel_size, 2)
    added = ints(name, "padding", padding, 2, least=0)
    return sliding(name, size, kernel, stride, added, dilation)


def _unfolded_shape(name: str, shapes: Shapes, *how: Any) -> Shape:
    (shape,) = shapes.values()
    x, alone = as_batch(name, shape, 2)
    along = _along(name, x[2:], *how)
    return (*x[alone:1], x[1] * count(kernels(along)), count(counts(along)))


@op(shape=_unfolded_shape, widen=False)
def unfold(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Any:
    """The windows of pictures as columns, row by row, 0 in the padding.

    Derivative: ``fold`` of ``grad_output``.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.

    Returns
    -------
    Tensor
        The columns, (batch, channels * kernel height * kernel width, windows).

    Raises
    ------
    ValueError
        If ``x`` has another number of axes, or a window does not fit into it.

    >>> import extensor as ex
    >>> x = ex.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])
    >>> ex.unfold(x, 2)
    tensor([[[1., 2.],
             [2., 3.],
             [4., 5.],
             [5., 6.]]])
    >>> ex.unfold_backward(ex.ones((1, 4, 2)), (1, 1, 2, 3), 2)
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    """
    batch = x if x.ndim == 4 else x[None, ...]
    along = _along("unfold", batch.shape[2:], kernel_size, dilation, padding, stride)
    columns = unfolded(xp, batch, along)
    rows = batch.shape[1] * count(kernels(along))
    columns = xp.reshape(columns, (batch.shape[0], rows, count(counts(along))))
    return columns if x.ndim == 4 else columns[0, ...]


@unfold.backward()
def unfold_backward(
    grad_output: Tensor,
    input_shape: Shape,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Tensor:
    """``fold`` of ``grad_output``: each element of each window added to where it came from."""
    return fold(grad_output, input_shape[-2:], kernel_size, dilation, padding, stride)


def _folded_shape(name: str, shapes: Shapes, output_size: Any, *how: Any) -> Shape:
    (shape,) = shapes.values()
    x = tuple(shape)
    size = ints(name, "output_size", output_size, 2)
    if len(x) not in (2, 3):
        wanted = "x must be 3-D (batch, channels * kernel elements, windows) or one without batch"
        raise value_error(name, wanted, x_shape=x)
    along = _along(name, size, *how)
    elements, windows = count(kernels(along)), count(counts(along))
    if x[-2] % elements:
        wanted = f"axis -2 of x must be divisible by the {elements} elements of a window"
        raise value_error(name, wanted, x_shape=x)
    check_shape(name, "x", x, (*x[:-1], windows))
    return (*x[:-2], x[-2] // elements, *size)


@op(shape=_folded_shape, check=check_numbers)
def fold(
    xp: Any,
    x: Array,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Any:
    """Columns added to pictures, each to the window that it is of: the adjoint of `unfold`.

    Derivative: ``unfold`` of ``grad_output``.

    Parameters
    ----------
    x : (batch, channels * kernel height * kernel width, windows)
        The columns. The batch axis may be missing.
    output_size
        The height and width of the pictures: a number for squares.

    Returns
    -------
    Tensor
        The pictures, (batch, channels, height, width).

    Raises
    ------
    ValueError
        If the columns are not as many as there are windows, or not as long.

    >>> import extensor as ex
    >>> ex.fold(ex.ones((1, 4, 2)), (2, 3), 2)
    tensor([[[[1., 2., 1.],
              [1., 2., 1.]]]])
    >>> x = ex.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]])
    >>> ex.fold_backward(x, (1, 4, 2), (2, 3), 2)[0, 0]
    tensor([1., 2.])
    """
    batch = x if x.ndim == 3 else x[None, ...]
    size = ints("fold", "output_size", output_size, 2)
    along = _along("fold", size, kernel_size, dilation, padding, stride)
    channels = batch.shape[1] // count(kernels(along))
    parts = xp.reshape(batch, (batch.shape[0], channels, *kernels(along), *counts(along)))
    pictures = folded(xp, parts, along)
    return pictures if x.ndim == 3 else pictures[0, ...]


@fold.backward()
def fold_backward(
    grad_output: Tensor,
    input_shape: Shape,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Tensor:
    """``unfold`` of ``grad_output``: each element of each window from where it was added."""
    return unfold(grad_output, kernel_size, dilation, padding, stride)
