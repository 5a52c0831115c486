"""The way back from maxima: zeros with each maximum in its place."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, whole_numbers
from extensor.arrays.supplement import along_axis, set_at
from extensor.core.creation import arange
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.broadcasting import broadcast_to
from extensor.ops.gathering import gather
from extensor.ops.indices import check_indices
from extensor.ops.pooling import SHARED as SHARED
from extensor.ops.selection import where
from extensor.ops.windows import Ints, as_batch, for_axes, ints


def _unpooled(
    name: str,
    axes: int,
    shapes: Shapes,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    output_size: Any,
) -> Shape:
    shape, indices = tuple(shapes["x"]), tuple(shapes["indices"])
    full, _ = as_batch(name, shape, axes)
    if indices != shape:
        got = {"x_shape": shape, "indices_shape": indices}
        raise value_error(name, "indices must have the shape of x", **got)
    kernel = ints(name, "kernel_size", kernel_size, axes)
    strides = kernel if stride is None else ints(name, "stride", stride, axes)
    added = ints(name, "padding", padding, axes, least=0)
    usual = tuple(
        (n - 1) * s - 2 * p + k for n, s, p, k in zip(full[2:], strides, added, kernel, strict=True)
    )
    size = usual if output_size is None else whole_numbers(name, output_size, "output_size")
    size = size[len(size) - axes :] if len(size) == len(shape) else size
    near = len(size) == axes and all(
        abs(n - m) < s for n, m, s in zip(size, usual, strides, strict=True)
    )
    if not near or min(size) < 1:
        wanted = f"output_size must be {axes} sizes, each less than a stride from {usual}"
        raise value_error(name, wanted, output_size=output_size)
    return (*shape[: len(shape) - axes], *size)


def _check(axes: int) -> Any:
    def check(name: str, x: Any, indices: Any, *how: Any) -> None:
        shape = _unpooled(name, axes, {"x": x.shape, "indices": indices.shape}, *how)
        places = prod(shape[len(shape) - axes :])
        if indices.size and int(np.min(indices)) < 0:
            raise value_error(name, "indices must not be negative", index=int(np.min(indices)))
        check_indices(name, indices, places, "the flattened axes")

    return check


def _written(xp: Any, x: Any, indices: Any, shape: Shape, axes: int) -> Any:
    """Zeros of ``shape`` with ``x`` at ``indices`` of the flattened axes, the last of several."""
    front, places = x.shape[: x.ndim - axes], prod(x.shape[x.ndim - axes :])
    flat = xp.zeros((*front, prod(shape[len(front) :])), dtype=x.dtype)
    index = along_axis(xp, xp.reshape(indices, (*front, places)), flat.shape, len(front))
    return xp.reshape(set_at(flat, index, xp.reshape(x, (*front, places))), shape)


def _read(gradient: Tensor, indices: Tensor, rewritten: Tensor, axes: int) -> Tensor:
    """``gradient`` at ``indices``, 0 for a value that another one has replaced."""
    front = indices.shape[: indices.ndim - axes]
    flat = (*front, prod(indices.shape[len(front) :]))
    whole = (*front, prod(gradient.shape[len(front) :]))
    places = indices.reshape(flat)
    read = gather(gradient.reshape(whole), places, axis=-1)
    last = gather(rewritten.reshape(whole), places, axis=-1)
    return where(last == _numbers(flat), read, 0.0).reshape(indices.shape)


def _numbers(flat: Shape) -> Tensor:
    """Another number for each element of a line."""
    return broadcast_to(arange(flat[-1], dtype="float64"), flat)


@op(shape=for_axes(1, _unpooled), check=_check(1), widen=False)
def max_unpool1d(
    xp: Any,
    x: Array,
    indices: Indices,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
) -> Any:
    """Zeros with the maxima of sequences where `max_pool1d_with_indices` found them.

    Where an index comes twice, the last value stays. Derivative: ``grad_output`` at ``indices``, 0
    for a value that did not stay.

    Parameters
    ----------
    x : (batch, channels, length)
        The maxima. The batch axis may be missing.
    indices : ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    output_size
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        The result. An axis of ``n`` elements becomes
        ``(n - 1) * stride - 2 * padding + kernel_size`` or ``output_size``.

    Raises
    ------
    ValueError
        If an index is out of range, or ``output_size`` is a ``stride`` or more from the default.

    >>> import extensor as ex
    >>> ex.max_unpool1d([[[3.0, 2.0]]], [[[1, 2]]], 2)
    tensor([[[0., 3., 2., 0.]]])
    >>> ex.max_unpool1d_backward([[[1.0, 2.0, 3.0, 4.0]]], (1, 1, 2), [[[1, 2]]], 2)
    tensor([[[2., 3.]]])
    """
    shapes = {"x": x.shape, "indices": indices.shape}
    shape = _unpooled("max_unpool1d", 1, shapes, kernel_size, stride, padding, output_size)
    return _written(xp, x, indices, shape, 1)


@max_unpool1d.backward()
def max_unpool1d_backward(
    grad_output: Tensor,
    x_shape: Shape,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """``grad_output`` at ``indices``, 0 for a value that did not stay."""
    how = (kernel_size, stride, padding, output_size)
    numbers = _numbers((*x_shape[: len(x_shape) - 1], prod(x_shape[len(x_shape) - 1 :])))
    rewritten = max_unpool1d(numbers.reshape(x_shape), indices, *how)
    return _read(grad_output, indices, rewritten, 1)


@op(shape=for_axes(2, _unpooled), check=_check(2), widen=False)
def max_unpool2d(
    xp: Any,
    x: Array,
    indices: Indices,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
) -> Any:
    """Zeros with the maxima of pictures where `max_pool2d_with_indices` found them.

    Where an index comes twice, the last value stays. Derivative: ``grad_output`` at ``indices``, 0
    for a value that did not stay.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The maxima. The batch axis may be missing.
    indices : ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    output_size
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        The result. An axis of ``n`` elements becomes
        ``(n - 1) * stride - 2 * padding + kernel_size`` or ``output_size``.

    Raises
    ------
    ValueError
        If an index is out of range, or ``output_size`` is a ``stride`` or more from the default.

    >>> import extensor as ex
    >>> ex.max_unpool2d([[[[4.0]]]], [[[[2]]]], 2)
    tensor([[[[0., 0.],
              [4., 0.]]]])
    >>> ex.max_unpool2d_backward([[[[1.0, 2.0], [3.0, 4.0]]]], (1, 1, 1, 1), [[[[2]]]], 2)
    tensor([[[[3.]]]])
    """
    shapes = {"x": x.shape, "indices": indices.shape}
    shape = _unpooled("max_unpool2d", 2, shapes, kernel_size, stride, padding, output_size)
    return _written(xp, x, indices, shape, 2)


@max_unpool2d.backward()
def max_unpool2d_backward(
    grad_output: Tensor,
    x_shape: Shape,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """``grad_output`` at ``indices``, 0 for a value that did not stay."""
    how = (kernel_size, stride, padding, output_size)
    numbers = _numbers((*x_shape[: len(x_shape) - 2], prod(x_shape[len(x_shape) - 2 :])))
    rewritten = max_unpool2d(numbers.reshape(x_shape), indices, *how)
    return _read(grad_output, indices, rewritten, 2)


@op(shape=for_axes(3, _unpooled), check=_check(3), widen=False)
def max_unpool3d(
    xp: Any,
    x: Array,
    indices: Indices,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
) -> Any:
    """Zeros with the maxima of volumes where `max_pool3d_with_indices` found them.

    Where an index comes twice, the last value stays. Derivative: ``grad_output`` at ``indices``, 0
    for a value that did not stay.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The maxima. The batch axis may be missing.
    indices : ints in the shape of ``x``
        Their places in the flattened axes behind the channels of the result.
    output_size
        The sizes of the result, by default the least that the windows need.

    Returns
    -------
    Tensor
        The result. An axis of ``n`` elements becomes
        ``(n - 1) * stride - 2 * padding + kernel_size`` or ``output_size``.

    Raises
    ------
    ValueError
        If an index is out of range, or ``output_size`` is a ``stride`` or more from the default.

    >>> import extensor as ex
    >>> ex.max_unpool3d([[[[[4.0]]]]], [[[[[2]]]]], (1, 2, 2))
    tensor([[[[[0., 0.],
               [4., 0.]]]]])
    >>> ex.max_unpool3d_backward([[[[[1.0, 2.0], [3.0, 4.0]]]]], (1, 1, 1, 1, 1), [[[[[2]]]]], (1, 2, 2))
    tensor([[[[[3.]]]]])
    """
    shapes = {"x": x.shape, "indices": indices.shape}
    shape = _unpooled("max_unpool3d", 3, shapes, kernel_size, stride, padding, output_size)
    return _written(xp, x, indices, shape, 3)


@max_unpool3d.backward()
def max_unpool3d_backward(
    grad_output: Tensor,
    x_shape: Shape,
    indices: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Ints | None = None,
) -> Tensor:
    """``grad_output`` at ``indices``, 0 for a value that did not stay."""
    how = (kernel_size, stride, padding, output_size)
    numbers = _numbers((*x_shape[: len(x_shape) - 3], prod(x_shape[len(x_shape) - 3 :])))
    rewritten = max_unpool3d(numbers.reshape(x_shape), indices, *how)
    return _read(grad_output, indices, rewritten, 3)
