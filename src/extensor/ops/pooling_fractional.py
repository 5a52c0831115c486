"""Maxima of windows whose distances are drawn: they shrink a picture by any factor."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, prod
from typing import Any

import numpy as np

from extensor.arrays.dtypes import float64
from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.dropout import as_tensor
from extensor.ops.pooling_indices import put_back
from extensor.ops.windows import Ints, as_batch, ints
from extensor.random.generator import Generator, drawn
from extensor.random.philox import random_uniform

Ratios = float | Sequence[float]


def _sizes(name: str, size: Shape, output_size: Any, output_ratio: Any) -> Shape:
    if (output_size is None) == (output_ratio is None):
        got = {"output_size": output_size, "output_ratio": output_ratio}
        raise value_error(name, "exactly one of output_size and output_ratio must be given", **got)
    if output_size is not None:
        return ints(name, "output_size", output_size, len(size))
    many = isinstance(output_ratio, list | tuple)
    ratios = tuple(output_ratio) if many else (output_ratio,) * len(size)
    if not all(isinstance(x, int | float) for x in ratios) or len(ratios) != len(size):
        raise type_error(name, "output_ratio must be numbers", output_ratio=output_ratio)
    if not all(0 < x < 1 for x in ratios):
        raise value_error(name, "output_ratio must be between 0 and 1", output_ratio=output_ratio)
    return tuple(floor(n * ratio) for n, ratio in zip(size, ratios, strict=True))


def _shape(name: str, axes: int, shapes: Shapes, kernel_size: Any, output_size: Any) -> Shape:
    x, alone = as_batch(name, shapes["x"], axes)
    samples = shapes.get("samples")
    if samples is not None and tuple(samples) != (*x[:2], axes):
        wanted = f"samples must have shape {(*x[:2], axes)}"
        raise value_error(name, wanted, samples_shape=tuple(samples))
    kernel = ints(name, "kernel_size", kernel_size, axes)
    if any(m < 1 or m + k - 1 > n for n, k, m in zip(x[2:], kernel, output_size, strict=True)):
        got = {"x_shape": x, "kernel_size": kernel, "output_size": output_size}
        raise value_error(name, "the windows must fit into x", **got)
    return (*x[alone:2], *output_size)


def _plane_shape(name: str, shapes: Shapes, kernel_size: Any, output_size: Any) -> Shape:
    return _shape(name, 2, shapes, kernel_size, output_size)


def _volume_shape(name: str, shapes: Shapes, kernel_size: Any, output_size: Any) -> Shape:
    return _shape(name, 3, shapes, kernel_size, output_size)


def _arguments(
    name: str, axes: int, x: Any, kernel_size: Any, output_size: Any, output_ratio: Any,
    samples: Any, generator: Generator | None,
) -> tuple[Any, ...]:  # fmt: skip
    x = as_tensor(name, x)
    full, _ = as_batch(name, x.shape, axes)
    size = _sizes(name, full[2:], output_size, output_ratio)
    if samples is None:
        shape = (*full[:2], axes)
        samples = drawn(name, generator, random_uniform, shape, float64, 0.0, 1.0, 1 - 2**-53)
    return x, samples, kernel_size, size


def _starts(samples: Any, size: int, kernel: int, windows: int) -> Any:
    """Where the windows along an axis begin, (batch, channels, windows): the last at the end."""
    step = (size - kernel) / max(windows - 1, 1)
    drawn_at = np.asarray(samples, float)[..., None]
    starts = np.floor((np.arange(windows) + drawn_at) * step) - np.floor(drawn_at * step)
    starts[..., -1] = size - kernel
    return starts.astype(np.int64)


def _places(samples: Any, size: Shape, kernel: Shape, windows: Shape, order: Shape) -> Any:
    """The flat indices of the elements of each window: (batch, channels, windows, elements)."""
    axes = len(size)
    flat: Any = 0
    for i in range(axes):
        starts = _starts(samples[..., order[i]], size[i], kernel[i], windows[i])
        reach = starts[..., None] + np.arange(kernel[i])
        shape = [*starts.shape[:2], *(1,) * (2 * axes)]
        shape[2 + i], shape[2 + axes + i] = windows[i], kernel[i]
        flat = flat * size[i] + reach.reshape(shape)
    return flat.reshape(*flat.shape[:2], prod(windows), prod(kernel))


def _winners(
    xp: Any, x: Any, samples: Any, kernel: Shape, windows: Shape, order: Shape
) -> tuple[Any, Any]:
    axes = len(kernel)
    batch = x if x.ndim == axes + 2 else x[None, ...]
    places = xp.asarray(_places(samples, batch.shape[2:], kernel, windows, order))
    lines = xp.reshape(batch, (*batch.shape[:2], prod(batch.shape[2:])))
    seen = xp.take_along_axis(lines, xp.reshape(places, (*places.shape[:2], -1)), axis=2)
    best = xp.argmax(xp.reshape(seen, places.shape), axis=3, keepdims=True)
    won = xp.take_along_axis(places, best, axis=3)[..., 0]
    values = xp.take_along_axis(lines, won, axis=2)
    shape = (*x.shape[: x.ndim - axes], *windows)
    return xp.reshape(values, shape), xp.reshape(won, shape)


def _fractional_max_pool2d(
    x: Any,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Ratios | None = None,
    samples: Any = None,
    generator: Generator | None = None,
) -> tuple[Any, ...]:
    name = "fractional_max_pool2d_with_indices"
    return _arguments(name, 2, x, kernel_size, output_size, output_ratio, samples, generator)


@op(shape=_plane_shape, arguments=_fractional_max_pool2d)
def fractional_max_pool2d_with_indices(
    xp: Any, x: Array, samples: Indices | None, kernel_size: Ints, output_size: Shape
) -> tuple[Any, Any]:
    """The largest elements of windows of pictures at drawn distances, and their places.

    The windows along an axis of ``n`` elements begin at ``floor((i + u) * a) - floor(u * a)`` with
    ``a = (n - kernel_size) / (output_size - 1)`` and a number ``u`` from 0 to 1 drawn for each axis of
    each channel. Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    kernel_size
        The size of a window: a number, or one for each axis.
    output_size
        The sizes of the result: a number, or one for each axis.
    output_ratio
        The sizes of the result as shares of those of ``x``, instead of ``output_size``.
    samples : (batch, channels, 2), floats
        The numbers ``u``, instead of drawing them.
    generator
        The source of these numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64.

    Raises
    ------
    ValueError
        If the windows do not fit into ``x``.

    >>> import extensor as ex
    >>> x = ex.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]])
    >>> ex.fractional_max_pool2d_with_indices(x, 2, output_size=1)
    (tensor([[[[9.]]]]), tensor([[[[8]]]]))
    >>> grad = ex.fractional_max_pool2d_with_indices_backward(
    ...     [[[[5.0]]]], (1, 1, 3, 3), [[[[8]]]]
    ... )
    >>> grad.sum()
    tensor(5.)
    """
    kernel = ints("fractional_max_pool2d_with_indices", "kernel_size", kernel_size, 2)
    return _winners(xp, x, np.asarray(samples), kernel, tuple(output_size), (1, 0))


@fractional_max_pool2d_with_indices.backward()
def fractional_max_pool2d_with_indices_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``."""
    name = "fractional_max_pool2d_with_indices_backward"
    return put_back(name, grad_output, x_shape, indices, 2)


def _fractional_max_pool3d(
    x: Any,
    kernel_size: Ints,
    output_size: Ints | None = None,
    output_ratio: Ratios | None = None,
    samples: Any = None,
    generator: Generator | None = None,
) -> tuple[Any, ...]:
    name = "fractional_max_pool3d_with_indices"
    return _arguments(name, 3, x, kernel_size, output_size, output_ratio, samples, generator)


@op(shape=_volume_shape, arguments=_fractional_max_pool3d)
def fractional_max_pool3d_with_indices(
    xp: Any, x: Array, samples: Indices | None, kernel_size: Ints, output_size: Shape
) -> tuple[Any, Any]:
    """The largest elements of windows of volumes at drawn distances, and their places.

    The windows along an axis of ``n`` elements begin at ``floor((i + u) * a) - floor(u * a)`` with
    ``a = (n - kernel_size) / (output_size - 1)`` and a number ``u`` from 0 to 1 drawn for each axis of
    each channel. Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    kernel_size
        The size of a window: a number, or one for each axis.
    output_size
        The sizes of the result: a number, or one for each axis.
    output_ratio
        The sizes of the result as shares of those of ``x``, instead of ``output_size``.
    samples : (batch, channels, 3), floats
        The numbers ``u``, instead of drawing them.
    generator
        The source of these numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64.

    Raises
    ------
    ValueError
        If the windows do not fit into ``x``.

    >>> import extensor as ex
    >>> x = ex.tensor([[[[[1.0, 2.0, 3.0]]]]])
    >>> ex.fractional_max_pool3d_with_indices(x, 1, output_size=(1, 1, 1))
    (tensor([[[[[3.]]]]]), tensor([[[[[2]]]]]))
    >>> grad = ex.fractional_max_pool3d_with_indices_backward(
    ...     [[[[[5.0]]]]], (1, 1, 1, 1, 3), [[[[[2]]]]]
    ... )
    >>> grad.sum()
    tensor(5.)
    """
    kernel = ints("fractional_max_pool3d_with_indices", "kernel_size", kernel_size, 3)
    return _winners(xp, x, np.asarray(samples), kernel, tuple(output_size), (0, 1, 2))


@fractional_max_pool3d_with_indices.backward()
def fractional_max_pool3d_with_indices_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``."""
    name = "fractional_max_pool3d_with_indices_backward"
    return put_back(name, grad_output, x_shape, indices, 3)
