"""Pooling of volumes: of each slice as a picture, then of the slices along the depth.

The pictures of the second step are (depth, height * width), so both steps have the kernels of
pictures.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from extensor.arrays.shapes import Shape, Shapes
from extensor.core.creation import asarray
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.movement import squeeze, unsqueeze
from extensor.ops.pooling import SHARED as SHARED
from extensor.ops.pooling import gap_to_best, max_pool2d, max_pool2d_backward, pooled, sliding
from extensor.ops.pooling_average import (
    Sizes,
    adaptive_avg_pool2d,
    adaptive_avg_pool2d_backward,
    adaptive_shape,
    areas,
    avg_pool2d,
    avg_pool2d_backward,
    check_divisor,
    check_floating,
    output_sizes,
    undilated,
)
from extensor.ops.windows import Ints, for_axes, in_columns, in_planes, ints, of_one


class Steps(NamedTuple):
    """The kernel size, the stride and the padding of both steps."""

    plane: tuple[Shape, Shape, Shape]
    column: tuple[Shape, Shape, Shape]


def _steps(name: str, kernel_size: Ints, stride: Ints | None, padding: Ints) -> Steps:
    kernel = ints(name, "kernel_size", kernel_size, 3)
    strides = kernel if stride is None else ints(name, "stride", stride, 3)
    added = ints(name, "padding", padding, 3, least=0)
    return Steps(
        (kernel[1:], strides[1:], added[1:]), ((kernel[0], 1), (strides[0], 1), (added[0], 0))
    )


@op(shape=for_axes(3, pooled), kinks=partial(gap_to_best, 3))
def max_pool3d(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window of volumes. NaN counts as largest.

    Windows may begin in the ``padding`` but see no element there. Derivative: ``grad_output``
    to the largest element of its window, the first of several, slice by slice and row by row.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.

    Returns
    -------
    Tensor
        The maxima, of shape (batch, channels, depth, height, width). See `max_pool2d` for the sizes.

    >>> import extensor as ex
    >>> x = ex.arange(8, dtype="float32").reshape(1, 1, 2, 2, 2)
    >>> ex.max_pool3d(x, 2)
    tensor([[[[[7.]]]]])
    >>> ex.max_pool3d_backward([[[[[1.0]]]]], x, 2).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 1.])
    """
    if x.ndim == 4:
        return of_one(max_pool3d.op, x, (), (kernel_size, stride, padding, dilation, ceil_mode))
    along = sliding("max_pool3d", x.shape[2:], kernel_size, stride, padding, dilation, ceil_mode)
    steps = _steps("max_pool3d", kernel_size, stride, padding)
    depth, *plane = ints("max_pool3d", "dilation", dilation, 3)
    slices = max_pool2d.op.compute(in_planes(x), *steps.plane, tuple(plane), ceil_mode)
    columns = in_columns(slices, x.shape[1])
    result = max_pool2d.op.compute(columns, *steps.column, (depth, 1), ceil_mode)
    return result.reshape((*x.shape[:2], *(axis.windows for axis in along)))


@max_pool3d.backward()
def max_pool3d_backward(
    grad_output: Tensor,
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window."""
    how = (kernel_size, stride, padding, dilation, ceil_mode)
    if x.ndim == 4:
        return squeeze(max_pool3d_backward(unsqueeze(grad_output, 0), unsqueeze(x, 0), *how), 0)
    steps = _steps("max_pool3d_backward", kernel_size, stride, padding)
    depth, *plane = ints("max_pool3d_backward", "dilation", dilation, 3)
    planes = in_planes(x.detach())
    slices = max_pool2d(planes, *steps.plane, tuple(plane), ceil_mode)
    gradient = max_pool2d_backward(
        in_columns(in_planes(grad_output), x.shape[1]),
        in_columns(slices, x.shape[1]),
        *steps.column,
        (depth, 1),
        ceil_mode,
    )
    gradient = gradient.reshape(slices.shape)
    gradient = max_pool2d_backward(gradient, planes, *steps.plane, tuple(plane), ceil_mode)
    return gradient.reshape(x.shape)


def _avg_pool3d_shape(name: str, shapes: Shapes, *how: Any) -> Shape:
    check_divisor(name, how[-1])
    return pooled(name, 3, shapes, *undilated(*how))


@op(shape=_avg_pool3d_shape, check=check_floating)
def avg_pool3d(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of volumes.

    Derivative: ``grad_output`` divided by the number of elements that count, to each of them.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    count_include_pad
        Whether the padding counts as zeros, or not at all. What lies behind it, with
        ``ceil_mode``, never counts.
    divisor_override
        A number by which sums are divided, instead of the number of elements.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, depth, height, width). See `max_pool2d` for the sizes.

    >>> import extensor as ex
    >>> ex.avg_pool3d(ex.arange(8, dtype="float32").reshape(1, 1, 2, 2, 2), 2)
    tensor([[[[[3.5]]]]])
    >>> ex.avg_pool3d_backward([[[[[8.0]]]]], (1, 1, 2, 2, 2), 2).flatten()
    tensor([1., 1., 1., 1., 1., 1., 1., 1.])
    """
    if x.ndim == 4:
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return of_one(avg_pool3d.op, x, (), how)
    windows = undilated(kernel_size, stride, padding, ceil_mode)
    along = sliding("avg_pool3d", x.shape[2:], *windows)
    steps = _steps("avg_pool3d", kernel_size, stride, padding)
    # A divisor of 1 gives sums, which are divided once, at the end.
    slices = avg_pool2d.op.compute(in_planes(x), *steps.plane, ceil_mode, True, 1)
    total = avg_pool2d.op.compute(in_columns(slices, x.shape[1]), *steps.column, ceil_mode, True, 1)
    total = total.reshape((*x.shape[:2], *(axis.windows for axis in along)))
    return total / xp.asarray(areas(along, count_include_pad, divisor_override), dtype=x.dtype)


@avg_pool3d.backward()
def avg_pool3d_backward(
    grad_output: Tensor,
    input_shape: Shape,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """``grad_output`` divided by the number of elements that count, to each element of the window."""
    if len(input_shape) == 4:
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return squeeze(avg_pool3d_backward(unsqueeze(grad_output, 0), (1, *input_shape), *how), 0)
    windows = undilated(kernel_size, stride, padding, ceil_mode)
    along = sliding("avg_pool3d_backward", input_shape[2:], *windows)
    steps = _steps("avg_pool3d_backward", kernel_size, stride, padding)
    divisors = asarray(areas(along, count_include_pad, divisor_override), grad_output.dtype)
    batch, channels, depth, height, width = input_shape
    _, rows, columns = (axis.windows for axis in along)
    gradient = avg_pool2d_backward(
        in_columns(in_planes(grad_output / divisors), channels),
        (batch, channels, depth, rows * columns),
        *steps.column,
        ceil_mode,
        True,
        1,
    )
    gradient = avg_pool2d_backward(
        gradient.reshape(batch, channels * depth, rows, columns),
        (batch, channels * depth, height, width),
        *steps.plane,
        ceil_mode,
        True,
        1,
    )
    return gradient.reshape(input_shape)


@op(shape=for_axes(3, adaptive_shape), check=check_floating)
def adaptive_avg_pool3d(xp: Any, x: Array, output_size: Sizes) -> Any:
    """The means of ``output_size`` windows that cover volumes, as in `adaptive_avg_pool2d`.

    Derivative: ``grad_output`` divided by the size of its window, to each element.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.

    Returns
    -------
    Tensor
        The means, of shape ``(batch, channels, *output_size)``.

    >>> import extensor as ex
    >>> ex.adaptive_avg_pool3d([[[[[1.0, 2.0, 6.0]]]]], (1, 1, 2))
    tensor([[[[[1.5, 4. ]]]]])
    >>> ex.adaptive_avg_pool3d_backward([[[[[1.0, 1.0]]]]], (1, 1, 1, 1, 3), (1, 1, 2))
    tensor([[[[[0.5, 1. , 0.5]]]]])
    """
    if x.ndim == 4:
        return of_one(adaptive_avg_pool3d.op, x, (), (output_size,))
    depth, *plane = output_sizes("adaptive_avg_pool3d", output_size, x.shape[2:])
    slices = adaptive_avg_pool2d.op.compute(in_planes(x), tuple(plane))
    means = adaptive_avg_pool2d.op.compute(in_columns(slices, x.shape[1]), (depth, None))
    return means.reshape((*x.shape[:2], depth, *plane))


@adaptive_avg_pool3d.backward()
def adaptive_avg_pool3d_backward(
    grad_output: Tensor, input_shape: Shape, output_size: Sizes
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window."""
    if len(input_shape) == 4:
        gradient = unsqueeze(grad_output, 0)
        return squeeze(adaptive_avg_pool3d_backward(gradient, (1, *input_shape), output_size), 0)
    batch, channels, depth, height, width = input_shape
    many, *plane = output_sizes("adaptive_avg_pool3d_backward", output_size, input_shape[2:])
    rows, columns = plane
    gradient = adaptive_avg_pool2d_backward(
        in_columns(in_planes(grad_output), channels),
        (batch, channels, depth, rows * columns),
        (many, None),
    )
    gradient = adaptive_avg_pool2d_backward(
        gradient.reshape(batch, channels * depth, rows, columns),
        (batch, channels * depth, height, width),
        (rows, columns),
    )
    return gradient.reshape(input_shape)
