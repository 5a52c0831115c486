"""The largest element of as many windows as the output shall have."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.pooling import SHARED as SHARED
from extensor.ops.pooling_average import Sizes, adaptive_shape, output_sizes, parts
from extensor.ops.pooling_indices import beats, put_back, whole_places
from extensor.ops.windows import beside, for_axes


def _winners(xp: Any, x: Any, axes: int, output_size: Any) -> tuple[Any, Any]:
    """The largest element of each window and its place in the flattened axes, the first of several.

    One axis after the other, from the first, whose rows are contiguous.
    """
    front = x.ndim - axes
    windows = output_sizes("adaptive_max_pool", output_size, x.shape[front:])
    places = xp.broadcast_to(whole_places(xp, x.shape[front:]), x.shape)
    for axis in range(front, x.ndim):
        first, lengths = parts(x.shape[axis], windows[axis - front])
        best, won = (xp.take(part, xp.asarray(first), axis=axis) for part in (x, places))
        for k in range(1, lengths.max()):
            inside = xp.asarray(beside(k < lengths, axis, x.ndim))
            at = xp.asarray(np.where(k < lengths, first + k, first))
            seen, place = (xp.take(part, at, axis=axis) for part in (x, places))
            wins = inside & beats(seen, place, best, won)
            best, won = xp.where(wins, seen, best), xp.where(wins, place, won)
        x, places = best, won
    return x, places


def _largest(xp: Any, x: Any, axes: int, output_size: Any) -> Any:
    """The largest element of each window, without its place."""
    front = x.ndim - axes
    windows = output_sizes("adaptive_max_pool", output_size, x.shape[front:])
    for axis in range(front, x.ndim):
        first, lengths = parts(x.shape[axis], windows[axis - front])
        best = xp.take(x, xp.asarray(first), axis=axis)
        for k in range(1, lengths.max()):
            # Where a window has ended, its first element once more.
            at = xp.asarray(np.where(k < lengths, first + k, first))
            seen = xp.take(x, at, axis=axis)
            best = xp.maximum(best, seen) if x.dtype != xp.bool else best | seen
        x = best
    return x


def _gap_to_best(axes: int, x: Any, output_size: Any) -> Any:
    """How far each element may move before another one is the largest of one of its windows."""
    front = x.ndim - axes
    windows = output_sizes("gap_to_best", output_size, x.shape[front:])
    gap = np.full(x.shape, np.inf)
    limits = [zip(*parts(n, m), strict=True) for n, m in zip(x.shape[front:], windows, strict=True)]
    for window in np.ndindex(*windows):
        inside = [list(pairs)[i] for pairs, i in zip(map(list, limits), window, strict=True)]
        at: Any = (..., *(slice(start, start + length) for start, length in inside))
        flat = x[at].reshape(*x.shape[:front], -1)
        best = flat.max(axis=-1, keepdims=True)
        second = np.sort(flat, axis=-1)[..., -2:-1] if flat.shape[-1] > 1 else -np.inf
        own = np.where(flat == best, best - second, best - flat).reshape(x[at].shape)
        gap[at] = np.minimum(gap[at], own)
    return gap


@op(shape=for_axes(1, adaptive_shape), kinks=partial(_gap_to_best, 1))
def adaptive_max_pool1d(xp: Any, x: Array, output_size: Sizes) -> Any:
    """The largest elements of ``output_size`` windows that cover sequences.

    The windows are those of `adaptive_avg_pool2d`. NaN counts as largest. Derivative:
    ``grad_output`` to the largest element of its window, the first of several.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.

    Returns
    -------
    Tensor
        The maxima, of shape ``(batch, channels, *output_size)``.

    >>> import extensor as ex
    >>> ex.adaptive_max_pool1d([[[1.0, 5.0, 2.0]]], 2)
    tensor([[[5., 5.]]])
    >>> ex.adaptive_max_pool1d_backward([[[1.0, 2.0]]], [[[1.0, 5.0, 2.0]]], 2)
    tensor([[[0., 3., 0.]]])
    """
    return _largest(xp, x, 1, output_size)


@adaptive_max_pool1d.backward()
def adaptive_max_pool1d_backward(grad_output: Tensor, x: Tensor, output_size: Sizes) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window."""
    _, indices = adaptive_max_pool1d_with_indices(x.detach(), output_size)
    return put_back("adaptive_max_pool1d_backward", grad_output, x.shape, indices, 1)


@op(shape=for_axes(1, adaptive_shape), kinks=partial(_gap_to_best, 1))
def adaptive_max_pool1d_with_indices(xp: Any, x: Array, output_size: Sizes) -> tuple[Any, Any]:
    """The largest elements of ``output_size`` windows, as in `adaptive_max_pool1d`, and their places.

    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    >>> import extensor as ex
    >>> ex.adaptive_max_pool1d_with_indices([[[1.0, 5.0, 2.0]]], 2)
    (tensor([[[5., 5.]]]), tensor([[[1, 1]]]))
    >>> indices = ex.tensor([[[1, 1]]])
    >>> ex.adaptive_max_pool1d_with_indices_backward([[[1.0, 2.0]]], (1, 1, 3), indices, 2)
    tensor([[[0., 3., 0.]]])
    """
    return _winners(xp, x, 1, output_size)


@adaptive_max_pool1d_with_indices.backward()
def adaptive_max_pool1d_with_indices_backward(
    grad_output: Tensor, input_shape: Shape, indices: Tensor, output_size: Sizes
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``."""
    name = "adaptive_max_pool1d_with_indices_backward"
    return put_back(name, grad_output, input_shape, indices, 1)


@op(shape=for_axes(2, adaptive_shape), kinks=partial(_gap_to_best, 2))
def adaptive_max_pool2d(xp: Any, x: Array, output_size: Sizes) -> Any:
    """The largest elements of ``output_size`` windows that cover pictures.

    The windows are those of `adaptive_avg_pool2d`. NaN counts as largest. Derivative:
    ``grad_output`` to the largest element of its window, the first of several.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.

    Returns
    -------
    Tensor
        The maxima, of shape ``(batch, channels, *output_size)``.

    >>> import extensor as ex
    >>> ex.adaptive_max_pool2d([[[[1.0, 5.0, 2.0]]]], (1, 2))
    tensor([[[[5., 5.]]]])
    >>> ex.adaptive_max_pool2d_backward([[[[1.0, 2.0]]]], [[[[1.0, 5.0, 2.0]]]], (1, 2))
    tensor([[[[0., 3., 0.]]]])
    """
    return _largest(xp, x, 2, output_size)


@adaptive_max_pool2d.backward()
def adaptive_max_pool2d_backward(grad_output: Tensor, x: Tensor, output_size: Sizes) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window."""
    _, indices = adaptive_max_pool2d_with_indices(x.detach(), output_size)
    return put_back("adaptive_max_pool2d_backward", grad_output, x.shape, indices, 2)


@op(shape=for_axes(2, adaptive_shape), kinks=partial(_gap_to_best, 2))
def adaptive_max_pool2d_with_indices(xp: Any, x: Array, output_size: Sizes) -> tuple[Any, Any]:
    """The largest elements of ``output_size`` windows, as in `adaptive_max_pool2d`, and their places.

    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    >>> import extensor as ex
    >>> ex.adaptive_max_pool2d_with_indices([[[[1.0, 5.0, 2.0]]]], (1, 2))
    (tensor([[[[5., 5.]]]]), tensor([[[[1, 1]]]]))
    >>> indices = ex.tensor([[[[1, 1]]]])
    >>> ex.adaptive_max_pool2d_with_indices_backward([[[[1.0, 2.0]]]], (1, 1, 1, 3), indices, (1, 2))
    tensor([[[[0., 3., 0.]]]])
    """
    return _winners(xp, x, 2, output_size)


@adaptive_max_pool2d_with_indices.backward()
def adaptive_max_pool2d_with_indices_backward(
    grad_output: Tensor, input_shape: Shape, indices: Tensor, output_size: Sizes
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``."""
    name = "adaptive_max_pool2d_with_indices_backward"
    return put_back(name, grad_output, input_shape, indices, 2)


@op(shape=for_axes(3, adaptive_shape), kinks=partial(_gap_to_best, 3))
def adaptive_max_pool3d(xp: Any, x: Array, output_size: Sizes) -> Any:
    """The largest elements of ``output_size`` windows that cover volumes.

    The windows are those of `adaptive_avg_pool2d`. NaN counts as largest. Derivative:
    ``grad_output`` to the largest element of its window, the first of several.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.

    Returns
    -------
    Tensor
        The maxima, of shape ``(batch, channels, *output_size)``.

    >>> import extensor as ex
    >>> ex.adaptive_max_pool3d([[[[[1.0, 5.0, 2.0]]]]], (1, 1, 2))
    tensor([[[[[5., 5.]]]]])
    >>> ex.adaptive_max_pool3d_backward([[[[[1.0, 2.0]]]]], [[[[[1.0, 5.0, 2.0]]]]], (1, 1, 2))
    tensor([[[[[0., 3., 0.]]]]])
    """
    return _largest(xp, x, 3, output_size)


@adaptive_max_pool3d.backward()
def adaptive_max_pool3d_backward(grad_output: Tensor, x: Tensor, output_size: Sizes) -> Tensor:
    """``grad_output`` to the first of the largest elements of each window."""
    _, indices = adaptive_max_pool3d_with_indices(x.detach(), output_size)
    return put_back("adaptive_max_pool3d_backward", grad_output, x.shape, indices, 3)


@op(shape=for_axes(3, adaptive_shape), kinks=partial(_gap_to_best, 3))
def adaptive_max_pool3d_with_indices(xp: Any, x: Array, output_size: Sizes) -> tuple[Any, Any]:
    """The largest elements of ``output_size`` windows, as in `adaptive_max_pool3d`, and their places.

    Derivative: ``grad_output`` (of the maxima) to the elements at ``indices``.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.

    Returns
    -------
    tuple of Tensor
        The maxima, and the index of each into the flattened axes behind the channels, int64. Of
        equal elements it is that of the first.

    >>> import extensor as ex
    >>> ex.adaptive_max_pool3d_with_indices([[[[[1.0, 5.0, 2.0]]]]], (1, 1, 2))
    (tensor([[[[[5., 5.]]]]]), tensor([[[[[1, 1]]]]]))
    >>> indices = ex.tensor([[[[[1, 1]]]]])
    >>> ex.adaptive_max_pool3d_with_indices_backward([[[[[1.0, 2.0]]]]], (1, 1, 1, 1, 3), indices, (1, 1, 2))
    tensor([[[[[0., 3., 0.]]]]])
    """
    return _winners(xp, x, 3, output_size)


@adaptive_max_pool3d_with_indices.backward()
def adaptive_max_pool3d_with_indices_backward(
    grad_output: Tensor, input_shape: Shape, indices: Tensor, output_size: Sizes
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``indices``."""
    name = "adaptive_max_pool3d_with_indices_backward"
    return put_back(name, grad_output, input_shape, indices, 3)
