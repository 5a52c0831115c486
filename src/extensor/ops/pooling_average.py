"""The mean of windows: of windows that slide, or of as many as the output shall have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import Shape, Shapes, target
from extensor.arrays.supplement import set_at
from extensor.core.creation import asarray, zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.gathering import take
from extensor.ops.indexing import place
from extensor.ops.movement import squeeze, unsqueeze
from extensor.ops.pooling import SHARED as SHARED
from extensor.ops.pooling import pooled, sliding, spread
from extensor.ops.windows import (
    Ints,
    Sliding,
    as_batch,
    beside,
    counts,
    for_axes,
    in_plane,
    ints,
    of_one,
    overlaps,
)

Sizes = int | Sequence[int | None] | None


def check_floating(name: str, x: Any, *_: Any) -> None:
    # The mean of integers is none: PyTorch would cut it off.
    if not is_floating(x.dtype):
        raise type_error(name, "x must be floating (x.astype makes it so)", x_dtype=str(x.dtype))


def undilated(kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any, *_: Any) -> Any:
    return kernel_size, stride, padding, 1, ceil_mode


def _avg_pool2d_shape(name: str, shapes: Shapes, *how: Any) -> Shape:
    check_divisor(name, how[-1])
    return pooled(name, 2, shapes, *undilated(*how))


def _avg_pool1d_shape(name: str, shapes: Shapes, *how: Any) -> Shape:
    return pooled(name, 1, shapes, *undilated(*how))


def check_divisor(name: str, divisor_override: Any) -> None:
    if divisor_override is not None:
        wanted = "divisor_override must be None or an int other than 0"
        if not isinstance(divisor_override, int) or isinstance(divisor_override, bool):
            raise type_error(name, wanted, divisor_override=divisor_override)
        if divisor_override == 0:
            raise value_error(name, wanted, divisor_override=divisor_override)


def areas(along: list[Sliding], count_include_pad: bool, divisor: int | None = None) -> Any:
    """How many elements each window has: in the input and, if they count, in the padding."""
    if divisor is not None:
        return np.full(counts(along), divisor)
    lengths = []
    for axis in along:
        beyond = axis.before if count_include_pad else 0
        first = np.arange(axis.windows) * axis.stride - axis.before
        end = np.minimum(first + axis.kernel, axis.size + beyond)
        lengths.append(end - np.maximum(first, -beyond))
    return reduce(np.multiply.outer, lengths)


def _averages(xp: Any, x: Any, along: list[Sliding], *counted: Any) -> Any:
    total = xp.zeros((*x.shape[:2], *counts(along)), dtype=x.dtype)
    for _, windows, elements in overlaps(along):
        total = set_at(total, windows, total[windows] + x[elements])
    return total / xp.asarray(areas(along, *counted), dtype=x.dtype)


@op(kernel="avg_pool2d", shape=_avg_pool2d_shape, check=check_floating)
def avg_pool2d(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The mean of each window of pictures.

    Derivative: ``grad_output`` divided by the number of elements that count, to each of them.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    count_include_pad
        Whether the padding counts as zeros, or not at all. What lies behind it, with
        ``ceil_mode``, never counts.
    divisor_override
        A number by which sums are divided, instead of the number of elements.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, height, width). See `max_pool2d` for the sizes.

    >>> import extensor as ex
    >>> ex.avg_pool2d([[[[1.0, 2.0, 5.0], [4.0, 3.0, 5.0]]]], 2, ceil_mode=True)
    tensor([[[[2.5, 5. ]]]])
    >>> ex.avg_pool2d_backward([[[[4.0]]]], (1, 1, 2, 2), 2)
    tensor([[[[1., 1.],
              [1., 1.]]]])
    """
    if x.ndim == 3:
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return of_one(avg_pool2d.op, x, (), how)
    windows = undilated(kernel_size, stride, padding, ceil_mode)
    along = sliding("avg_pool2d", x.shape[2:], *windows)
    return _averages(xp, x, along, count_include_pad, divisor_override)


@avg_pool2d.backward(kernel="avg_pool2d_backward")
def avg_pool2d_backward(
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
    if len(input_shape) == 3:
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        return squeeze(avg_pool2d_backward(unsqueeze(grad_output, 0), (1, *input_shape), *how), 0)
    windows = undilated(kernel_size, stride, padding, ceil_mode)
    along = sliding("avg_pool2d_backward", input_shape[2:], *windows)
    divisors = areas(along, count_include_pad, divisor_override)
    share = grad_output / asarray(divisors, grad_output.dtype)
    nothing = zeros(input_shape, grad_output.dtype)
    return spread(nothing, along, lambda windows, _: share[windows])


@op(kernel="avg_pool1d", shape=_avg_pool1d_shape, check=check_floating)
def avg_pool1d(
    xp: Any,
    x: Array,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """The mean of each window of sequences.

    Derivative: ``grad_output`` divided by the number of elements that count, to each of them.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.
    count_include_pad
        Whether the padding counts as zeros, or not at all.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, length). See `max_pool2d` for the length.

    >>> import extensor as ex
    >>> ex.avg_pool1d([[[1.0, 3.0, 2.0, 4.0]]], 2)
    tensor([[[2., 3.]]])
    >>> ex.avg_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[2., 1.]]])
    >>> ex.avg_pool1d_backward([[[1.0, 1.0]]], (1, 1, 4), 2)
    tensor([[[0.5, 0.5, 0.5, 0.5]]])
    """
    if x.ndim == 2:
        how = (kernel_size, stride, padding, ceil_mode, count_include_pad)
        return of_one(avg_pool1d.op, x, (), how)
    windows = undilated(kernel_size, stride, padding, ceil_mode)
    return _averages(xp, x, sliding("avg_pool1d", x.shape[2:], *windows), count_include_pad)


@avg_pool1d.backward()
def avg_pool1d_backward(
    grad_output: Tensor,
    input_shape: Shape,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """``grad_output`` divided by the number of elements that count, to each element of the window."""
    *front, length = input_shape
    how = (in_plane(kernel_size, 1), in_plane(stride, 1), in_plane(padding, 0))
    gradient, shape = unsqueeze(grad_output, -2), (*front, 1, length)
    return squeeze(avg_pool2d_backward(gradient, shape, *how, ceil_mode, count_include_pad), -2)


def output_sizes(name: str, output_size: Any, size: Shape) -> Shape:
    """The number of windows along each axis; None leaves an axis as it is."""
    if output_size is None:
        return size
    if isinstance(output_size, list | tuple) and len(output_size) == len(size):
        pairs = zip(output_size, size, strict=True)
        output_size = tuple(n if wanted is None else wanted for wanted, n in pairs)
    return ints(name, "output_size", output_size, len(size))


def adaptive_shape(name: str, axes: int, shapes: Shapes, output_size: Any) -> Shape:
    x, alone = as_batch(name, shapes["x"], axes)
    if 0 in x[2:]:
        got = tuple(shapes["x"])
        raise value_error(name, "x must have elements along the axes to pool", x_shape=got)
    return target(name, (*x[alone:2], *output_sizes(name, output_size, x[2:])), "the result")


def parts(size: int, windows: int) -> tuple[Any, Any]:
    """The first element of each window and its length: together they cover the axis, evenly."""
    numbers = np.arange(windows)
    first = numbers * size // windows
    return first, -(-(numbers + 1) * size // windows) - first


def _adapt(xp: Any, x: Any, sizes: Shape) -> Any:
    """The means along one axis after the other: all windows of a row have one height."""
    for axis, windows in enumerate(sizes, start=2):
        first, lengths = parts(x.shape[axis], windows)
        total = xp.take(x, xp.asarray(first), axis=axis)
        for k in range(1, lengths.max()):
            inside = k < lengths
            seen = xp.take(x, xp.asarray(np.where(inside, first + k, 0)), axis=axis)
            mask = xp.asarray(beside(inside, axis, x.ndim))
            total = total + xp.where(mask, seen, xp.zeros((), dtype=x.dtype))
        x = total / xp.asarray(beside(lengths, axis, x.ndim), dtype=x.dtype)
    return x


@op(kernel="adaptive_avg_pool2d", shape=for_axes(2, adaptive_shape), check=check_floating)
def adaptive_avg_pool2d(xp: Any, x: Array, output_size: Sizes) -> Any:
    """The means of ``output_size`` windows that cover pictures.

    Along an axis of ``n`` elements window ``i`` of ``m`` goes from ``i * n // m`` to
    ``(i + 1) * n / m``, rounded up, so that neighbours may share an element.

    Derivative: ``grad_output`` divided by the size of its window, to each element.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.

    Returns
    -------
    Tensor
        The means, of shape ``(batch, channels, *output_size)``.

    >>> import extensor as ex
    >>> ex.adaptive_avg_pool2d([[[[1.0, 2.0, 6.0], [1.0, 2.0, 6.0]]]], (1, 2))
    tensor([[[[1.5, 4. ]]]])
    >>> ex.adaptive_avg_pool2d_backward([[[[1.0, 1.0]]]], (1, 1, 1, 3), (None, 2))
    tensor([[[[0.5, 1. , 0.5]]]])
    """
    if x.ndim == 3:
        return of_one(adaptive_avg_pool2d.op, x, (), (output_size,))
    return _adapt(xp, x, output_sizes("adaptive_avg_pool2d", output_size, x.shape[2:]))


@adaptive_avg_pool2d.backward(kernel="adaptive_avg_pool2d_backward")
def adaptive_avg_pool2d_backward(
    grad_output: Tensor, input_shape: Shape, output_size: Sizes
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window."""
    if len(input_shape) == 3:
        gradient = unsqueeze(grad_output, 0)
        return squeeze(adaptive_avg_pool2d_backward(gradient, (1, *input_shape), output_size), 0)
    for axis in (2, 3):
        first, lengths = parts(input_shape[axis], grad_output.shape[axis])
        share = grad_output / asarray(beside(lengths, axis, 4), grad_output.dtype)
        windows = np.repeat(np.arange(lengths.size), lengths)
        elements = np.arange(windows.size) + np.repeat(first + lengths - lengths.cumsum(), lengths)
        shape = (*share.shape[:axis], input_shape[axis], *share.shape[axis + 1 :])
        grad_output = place(take(share, windows, axis), shape, (*(slice(None),) * axis, elements))
    return grad_output


@op(kernel="adaptive_avg_pool1d", shape=for_axes(1, adaptive_shape), check=check_floating)
def adaptive_avg_pool1d(xp: Any, x: Array, output_size: Sizes) -> Any:
    """The means of ``output_size`` windows that cover sequences, as in `adaptive_avg_pool2d`.

    Derivative: ``grad_output`` divided by the size of its window, to each element.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.

    Returns
    -------
    Tensor
        The means, of shape (batch, channels, output_size).

    >>> import extensor as ex
    >>> ex.adaptive_avg_pool1d([[[1.0, 2.0, 6.0]]], 2)
    tensor([[[1.5, 4. ]]])
    >>> ex.adaptive_avg_pool1d([[[1.0, 3.0, 2.0, 0.0]]], 2)
    tensor([[[2., 1.]]])
    >>> ex.adaptive_avg_pool1d_backward([[[1.0, 1.0]]], (1, 1, 4), 2)
    tensor([[[0.5, 0.5, 0.5, 0.5]]])
    """
    if x.ndim == 2:
        return of_one(adaptive_avg_pool1d.op, x, (), (output_size,))
    return _adapt(xp, x, output_sizes("adaptive_avg_pool1d", output_size, x.shape[2:]))


@adaptive_avg_pool1d.backward()
def adaptive_avg_pool1d_backward(
    grad_output: Tensor, input_shape: Shape, output_size: Sizes
) -> Tensor:
    """``grad_output`` divided by the size of its window, to each element of the window."""
    *front, length = input_shape
    windows = output_sizes("adaptive_avg_pool1d_backward", output_size, (length,))
    gradient, shape = unsqueeze(grad_output, -2), (*front, 1, length)
    return squeeze(adaptive_avg_pool2d_backward(gradient, shape, (1, *windows)), -2)
