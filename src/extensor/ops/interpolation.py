"""A signal, picture or volume at other sizes: each axis is resampled by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import floor
from typing import Any, Literal, NamedTuple

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, is_possible
from extensor.core.creation import asarray, zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.gathering import take, take_backward
from extensor.ops.pooling_average import check_floating, parts
from extensor.ops.windows import Ints, beside, ints

Interpolation = Literal[
    "nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear", "area"
]
# The numbers of axes behind batch and channels that each mode resamples.
AXES: dict[str, tuple[int, ...]] = {
    "nearest": (1, 2, 3),
    "nearest-exact": (1, 2, 3),
    "linear": (1,),
    "bilinear": (2,),
    "bicubic": (2,),
    "trilinear": (3,),
    "area": (1, 2, 3),
}
CORNERS = ("linear", "bilinear", "bicubic", "trilinear")


class Taps(NamedTuple):
    """Element ``i`` of the new axis is the sum over ``k`` of element ``sources[k, i]`` of the old
    one times ``weights[k, i]``."""

    sources: Any
    weights: Any


def _numbers(name: str, scale_factor: Any, axes: int) -> tuple[float, ...]:
    """The factor of each axis, from one for all or one for each."""
    values = scale_factor if isinstance(scale_factor, list | tuple) else (scale_factor,) * axes
    wanted = f"scale_factor must be a positive number or {axes} of them"
    if not all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
        raise type_error(name, wanted, scale_factor=scale_factor)
    if len(values) != axes or not all(0 < x < float("inf") for x in values):
        raise value_error(name, wanted, scale_factor=scale_factor)
    return tuple(map(float, values))


def _sizes(name: str, old: Shape, size: Any, scale_factor: Any) -> Shape:
    if (size is None) == (scale_factor is None):
        got = {"size": size, "scale_factor": scale_factor}
        raise value_error(name, "exactly one of size and scale_factor must be given", **got)
    if size is not None:
        return ints(name, "size", size, len(old))
    factors = _numbers(name, scale_factor, len(old))
    new = tuple(floor(n * factor) for n, factor in zip(old, factors, strict=True))
    if 0 in new:
        raise value_error(name, "the result must have elements", scale_factor=scale_factor)
    return new


def _interpolated(
    name: str,
    shapes: Shapes,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Shape:
    (shape,) = shapes.values()
    if mode not in AXES:
        raise value_error(name, f"mode must be one of {', '.join(AXES)}", mode=mode)
    if len(shape) - 2 not in AXES[mode]:
        wanted = " or ".join(str(axes + 2) for axes in AXES[mode])
        got = {"mode": mode, "x_shape": tuple(shape)}
        raise value_error(name, f"x must have {wanted} axes for this mode", **got)
    if align_corners is not None and mode not in CORNERS:
        wanted = f"align_corners must be None unless mode is one of {', '.join(CORNERS)}"
        raise value_error(name, wanted, mode=mode, align_corners=align_corners)
    if antialias and mode not in ("bilinear", "bicubic"):
        wanted = "antialias must be False unless mode is bilinear or bicubic"
        raise value_error(name, wanted, mode=mode, antialias=antialias)
    if recompute_scale_factor and size is not None:
        wanted = "recompute_scale_factor must not be set where size is given"
        raise value_error(name, wanted, size=size)
    if 0 in shape[2:]:
        raise value_error(name, "x must have elements along each axis", x_shape=tuple(shape))
    result = (*shape[:2], *_sizes(name, tuple(shape[2:]), size, scale_factor))
    if not is_possible(result):
        raise value_error(name, "the result must have fewer than 2**60 elements", size=size)
    return result


def _check(name: str, x: Any, size: Any, scale_factor: Any, mode: str, *_: Any) -> None:
    if not mode.startswith("nearest"):
        check_floating(name, x)


def _steps(old: int, new: int, factor: float | None, align_corners: bool | None) -> float:
    """The distance in the old axis between neighbouring elements of the new one."""
    if align_corners:
        return (old - 1) / (new - 1) if new > 1 else 0.0
    return 1 / factor if factor else old / new


def _nearest(old: int, new: int, factor: float | None, exact: bool) -> Taps:
    numbers = np.arange(new) + (0.5 if exact else 0.0)
    sources = np.floor(numbers * _steps(old, new, factor, None)).astype(np.int64)
    return Taps(np.minimum(sources, old - 1)[None], None)


def _linear(old: int, new: int, factor: float | None, align_corners: bool) -> Taps:
    step, numbers = _steps(old, new, factor, align_corners), np.arange(new)
    places = numbers * step if align_corners else np.maximum((numbers + 0.5) * step - 0.5, 0)
    first = np.minimum(np.floor(places).astype(np.int64), old - 1)
    share = np.clip(places - first, 0, 1)
    return Taps(np.stack([first, np.minimum(first + 1, old - 1)]), np.stack([1 - share, share]))


def _keys(distance: Any, a: float) -> Any:
    """Keys' cubic kernel, whose derivative at a distance of 1 is ``a``."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _cubic(old: int, new: int, factor: float | None, align_corners: bool) -> Taps:
    step, numbers = _steps(old, new, factor, align_corners), np.arange(new)
    places = numbers * step if align_corners else (numbers + 0.5) * step - 0.5
    four = np.floor(places).astype(np.int64) + np.arange(-1, 3)[:, None]
    return Taps(np.clip(four, 0, old - 1), _keys(abs(places - four), -0.75))


def _smooth(
    old: int, new: int, factor: float | None, align_corners: bool, reach: int, kernel: Any
) -> Taps:
    """Taps of a kernel that is stretched where the axis shrinks, so that no element is skipped."""
    step = _steps(old, new, factor, align_corners)
    stretch = max(step, 1.0)
    centre, support = (np.arange(new) + 0.5) * step, reach * stretch
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    end = np.minimum((centre + support + 0.5).astype(np.int64), old)
    sources = first + np.arange((end - first).max())[:, None]
    weights = kernel(abs(sources - centre + 0.5) / stretch)
    weights = np.where(sources < end, weights, 0)
    return Taps(np.minimum(sources, old - 1), weights / weights.sum(axis=0))


def _means(old: int, new: int, factor: float | None) -> Taps:
    first, lengths = parts(old, new)
    steps = np.arange(lengths.max())[:, None]
    weights = np.where(steps < lengths, 1 / lengths, 0)
    return Taps(np.minimum(first + steps, old - 1), weights)


def _taps_along(mode: str, align_corners: bool | None, antialias: bool) -> Callable[..., Taps]:
    """The function that gives the taps of an axis from its old and new size and its factor."""
    if mode == "area":
        return _means
    if mode.startswith("nearest"):
        return partial(_nearest, exact=mode == "nearest-exact")
    if antialias:
        kernel, reach = (
            (partial(_keys, a=-0.5), 2)
            if mode == "bicubic"
            else (lambda d: np.maximum(1 - d, 0), 1)
        )
        return partial(_smooth, align_corners=bool(align_corners), reach=reach, kernel=kernel)
    return partial(_cubic if mode == "bicubic" else _linear, align_corners=bool(align_corners))


def _taps(
    old: Shape,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool | None,
    recompute_scale_factor: bool | None,
    antialias: bool,
) -> list[tuple[int, Taps]]:
    """The taps of each axis whose elements change. The last axis comes first."""
    new = _sizes("interpolate", old, size, scale_factor)
    factors: Sequence[float | None] = (None,) * len(old)
    if scale_factor is not None and not recompute_scale_factor:
        factors = _numbers("interpolate", scale_factor, len(old))
    along = _taps_along(mode, align_corners, antialias)
    return [
        (i + 2, along(old[i], new[i], factors[i]))
        for i in reversed(range(len(old)))
        if old[i] != new[i] or factors[i] not in (None, 1.0)
    ]


@op(shape=_interpolated, check=_check)
def interpolate(
    xp: Any,
    x: Array,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: Interpolation = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:
    """``x`` resampled to another size along all axes behind batch and channels.

    Element ``i`` of the result lies at ``(i + 0.5) * step - 0.5`` of the input, with
    ``step = 1 / scale_factor`` or ``old size / new size``; with ``align_corners`` at ``i * step``
    with ``step = (old size - 1) / (new size - 1)``. "nearest" takes element ``floor(i * step)``,
    "nearest-exact" ``floor((i + 0.5) * step)``.

    Derivative: ``grad_output`` to the elements that it is made of, times their weights.

    Parameters
    ----------
    x : (batch, channels, ...)
        Sequences, pictures or volumes.
    size
        The new size: a number, or one for each axis.
    scale_factor
        The factor by which sizes grow, instead of ``size``: a number, or one for each axis. Sizes
        are rounded down.
    mode
        "nearest" and "nearest-exact" copy elements, "linear", "bilinear" and "trilinear" interpolate
        linearly along 1, 2 and 3 axes, "bicubic" with cubic polynomials along 2. "area" takes the
        means of windows, as `adaptive_avg_pool2d` does.
    align_corners
        Whether the first and last elements of both axes lie upon each other, for the modes that
        interpolate.
    recompute_scale_factor
        Whether ``step`` follows from the sizes although ``scale_factor`` is given.
    antialias
        Whether "bilinear" and "bicubic" average over all elements where an axis shrinks.

    Returns
    -------
    Tensor
        The result, of shape ``(batch, channels, *size)``.

    Raises
    ------
    ValueError
        If the mode does not fit the number of axes, or not exactly one of ``size`` and
        ``scale_factor`` is given.

    >>> import extensor as ex
    >>> ex.interpolate([[[1.0, 3.0]]], 4)
    tensor([[[1., 1., 3., 3.]]])
    >>> ex.interpolate([[[1.0, 3.0]]], 3, mode="linear", align_corners=True)
    tensor([[[1., 2., 3.]]])
    >>> ex.interpolate_backward([[[1.0, 1.0, 1.0]]], (1, 1, 2), 3, mode="linear")
    tensor([[[1.5, 1.5]]])
    """
    how = (size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    result = x
    for axis, (sources, weights) in _taps(x.shape[2:], *how):
        if weights is None:
            result = take.op.compute(result, xp.asarray(sources[0]), axis)
        else:
            result = _weighted(xp, result, axis, sources, weights)
    return xp.asarray(result, copy=True) if result is x else result


def _weighted(xp: Any, x: Any, axis: int, sources: Any, weights: Any) -> Any:
    total = None
    for indices, share in zip(sources, weights, strict=True):
        tap = take.op.compute(x, xp.asarray(indices), axis)
        tap = tap * xp.asarray(beside(share, axis, x.ndim), dtype=x.dtype)
        total = tap if total is None else total + tap
    return total


@interpolate.backward()
def interpolate_backward(
    grad_output: Tensor,
    input_shape: Shape,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: Interpolation = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """``grad_output`` to the elements that it is made of, times their weights."""
    how = (size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    gradient = grad_output
    for axis, (sources, weights) in reversed(_taps(input_shape[2:], *how)):
        shape = (*gradient.shape[:axis], input_shape[axis], *gradient.shape[axis + 1 :])
        if weights is None:
            gradient = take_backward(gradient, shape, sources[0], axis)
            continue
        total = zeros(shape, gradient.dtype)
        for indices, share in zip(sources, weights, strict=True):
            factor = asarray(beside(share, axis, len(shape)), gradient.dtype)
            total = total + take_backward(gradient * factor, shape, indices, axis)
        gradient = total
    return gradient
