"""Pictures and volumes read at places between their elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, whole_numbers
from extensor.core.creation import asarray, zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.arithmetic import multiply
from extensor.ops.comparison import isnan
from extensor.ops.gathering import gather, scatter_add
from extensor.ops.joining import stack
from extensor.ops.matrix import matmul
from extensor.ops.rounding import clip, floor, round
from extensor.ops.selection import where

Sampling = Literal["bilinear", "nearest", "bicubic"]
Outside = Literal["zeros", "border", "reflection"]
SAMPLINGS, OUTSIDES = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
FAR = 2.0**30  # no picture is as large, and ints hold it


class _Tensors:
    """The functions of a rule, by the names that a namespace of arrays has for them."""

    floor, round, where, clip, isnan = floor, round, where, clip, isnan

    @staticmethod
    def astype(x: Any, dtype: Any) -> Any:
        return x.astype("int64" if dtype is _Tensors.int64 else dtype)

    int64 = object()


class _Tap(NamedTuple):
    """An element along an axis: its index, its weight, and the derivative of that by the place."""

    index: Any
    weight: Any
    slope: Any
    seen: Any


def _sampled(
    name: str, shapes: Shapes, mode: Any, padding_mode: Any, align_corners: Any = None
) -> Shape:
    x, grid = tuple(shapes["x"]), tuple(shapes["grid"])
    got = {"x_shape": x, "grid_shape": grid}
    axes = len(x) - 2
    if axes not in (2, 3) or len(grid) != len(x) or grid[-1] != axes or grid[0] != x[0]:
        wanted = (
            "x must be (batch, channels, ...) with 2 or 3 axes more, and grid have a place in it"
        )
        raise value_error(name, f"{wanted} for each element of the result", **got)
    if mode not in SAMPLINGS:
        raise value_error(name, f"mode must be one of {', '.join(SAMPLINGS)}", mode=mode)
    if mode == "bicubic" and axes != 2:
        raise value_error(name, "mode must not be bicubic for volumes", **got)
    if padding_mode not in OUTSIDES:
        wanted = f"padding_mode must be one of {', '.join(OUTSIDES)}"
        raise value_error(name, wanted, padding_mode=padding_mode)
    if 0 in x[2:]:
        raise value_error(name, "x must have elements along each axis", **got)
    return (*x[:2], *grid[1:-1])


def _inside(xp: Any, place: Any, size: int, padding_mode: str, align: bool) -> tuple[Any, Any]:
    """A place moved into the axis, and the derivative of that."""
    if padding_mode == "zeros":
        return place, 1.0
    slope = 1.0
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if span == 0:
            return place * 0.0, 0.0
        off = place - low
        times = xp.floor(off / span)
        rest = off - times * span
        even = times - 2 * xp.floor(times / 2) == 0
        place = xp.where(even, rest, span - rest) + low
        slope = xp.where(even, 1.0, -1.0)
    within = (place >= 0) & (place <= size - 1)
    return xp.clip(place, 0.0, size - 1.0), xp.where(within, slope, 0.0)


def _keys(t: Any) -> tuple[list[Any], list[Any]]:
    """The weights of four neighbours at a fraction ``t`` behind the second, and their derivatives."""
    a = -0.75
    weights, slopes = [], []
    for shift in (1, 0, -1, -2):
        far = shift in (1, -2)
        d, sign = (t + shift, 1.0) if shift >= 0 else (-shift - t, -1.0)
        if far:
            weights.append(((a * d - 5 * a) * d + 8 * a) * d - 4 * a)
            slopes.append(((3 * a * d - 10 * a) * d + 8 * a) * sign)
        else:
            weights.append(((a + 2) * d - (a + 3)) * d * d + 1)
            slopes.append((3 * (a + 2) * d - 2 * (a + 3)) * d * sign)
    return weights, slopes


def _taps(xp: Any, place: Any, size: int, mode: str, padding_mode: str, align: bool) -> list[_Tap]:
    """The elements of an axis that are read at ``place``, from -1 to 1."""
    place = xp.where(xp.isnan(place), -1.0, place)
    half = (size - 1) / 2 if align else size / 2
    place = xp.clip((place + 1) * half - (0.0 if align else 0.5), -FAR, FAR)
    if mode != "bicubic":
        place, moved = _inside(xp, place, size, padding_mode, align)
    if mode == "nearest":
        nearest, nothing = xp.round(place), place * 0.0
        found = [(nearest, nothing + 1.0, nothing)]
    else:
        first = xp.floor(place)
        t = place - first
        if mode == "bilinear":
            slope = half * moved
            found = [(first, 1 - t, -slope), (first + 1, t, slope)]
        else:
            weights, slopes = _keys(t)
            found = [
                (_inside(xp, first + k - 1, size, padding_mode, align)[0], weight, slope * half)
                for k, (weight, slope) in enumerate(zip(weights, slopes, strict=True))
            ]
            found = [(xp.round(index), weight, slope) for index, weight, slope in found]
    return [
        _Tap(
            xp.astype(xp.clip(index, 0.0, size - 1.0), xp.int64),
            weight,
            slope,
            (index >= 0) & (index <= size - 1),
        )
        for index, weight, slope in found
    ]


def _reads(
    xp: Any, grid: Any, sizes: Shape, *how: Any
) -> Iterator[tuple[Any, Any, Any, Sequence[_Tap]]]:
    """The flat index of each element that is read, its weight, whether it is there, and its taps.

    The last number of a place is the first axis.
    """
    axes = len(sizes)
    along = [_taps(xp, grid[..., axes - 1 - i], n, *how) for i, n in enumerate(sizes)]
    for taps in product(*along):
        index, weight, seen = taps[0].index, taps[0].weight, taps[0].seen
        for tap, size in zip(taps[1:], sizes[1:], strict=True):
            index, weight, seen = index * size + tap.index, weight * tap.weight, seen & tap.seen
        yield index, weight, seen, taps


def _lines(x: Any, shape: Shape) -> Any:
    """Values of all places in a line: (batch, 1, places)."""
    return x.reshape((shape[0], 1, prod(shape[1:])))


@op(shape=_sampled, floats=True)
def grid_sample(
    xp: Any,
    x: Array,
    grid: Array,
    mode: Sampling = "bilinear",
    padding_mode: Outside = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """``x`` read at the places of ``grid``, whose numbers go from -1 to 1 along each axis.

    Derivative: in ``x`` ``grad_output`` times the weight of each element that is read, in ``grid`` the
    elements times the derivatives of their weights; 0 for "nearest".

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures, or volumes with a depth before the height.
    grid : (batch, out_height, out_width, 2)
        The places (x, y) to read, or (x, y, z) in volumes. NaN counts as -1.
    mode
        "bilinear" interpolates linearly along each axis, "nearest" takes the nearest element,
        "bicubic" interpolates with cubic polynomials, in pictures only.
    padding_mode
        What lies outside: zeros, the element at the border, or the mirror image.
    align_corners
        Whether -1 and 1 are the centres of the outermost elements instead of their edges, by default
        False.

    Returns
    -------
    Tensor
        The elements read, (batch, channels, out_height, out_width).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    >>> import extensor as ex
    >>> x = ex.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> ex.grid_sample(x, [[[[0.0, 0.0], [1.0, -1.0]]]], align_corners=True)
    tensor([[[[2.5, 2. ]]]])
    >>> ex.grid_sample_backward([[[[1.0]]]], x, [[[[0.0, 0.0]]]], align_corners=True).grad_grid
    tensor([[[[0.5, 1. ]]]])
    """
    how = (mode, padding_mode, bool(align_corners))
    batch, channels, *sizes = x.shape
    flat, places = x.reshape((batch, channels, prod(sizes))), grid.shape[:-1]
    total = xp.zeros((batch, channels, prod(places[1:])), dtype=x.dtype)
    for index, weight, seen, _ in _reads(xp, grid, tuple(sizes), *how):
        read = gather.op.compute(flat, _lines(index, places), 2)
        read = xp.where(_lines(seen, places), read, xp.zeros((), dtype=x.dtype))
        total = total + read * _lines(weight, places)
    return total.reshape((batch, channels, *places[1:]))


@grid_sample.backward()
def grid_sample_backward(
    grad_output: Tensor,
    x: Tensor,
    grid: Tensor,
    mode: Sampling = "bilinear",
    padding_mode: Outside = "zeros",
    align_corners: bool | None = None,
) -> tuple[Any, Any]:
    """To the elements read, and to the places that the weights depend on."""
    how = (mode, padding_mode, bool(align_corners))
    batch, channels, *sizes = x.shape
    places, count = grid.shape[:-1], prod(grid.shape[1:-1])
    shape, gradient = tuple(sizes), grad_output.reshape(batch, channels, count)

    def to_x() -> Tensor:
        flat = zeros((batch, channels, prod(shape)), grad_output.dtype)
        for index, weight, seen, _ in _reads(_Tensors, grid, shape, *how):
            share = where(_lines(seen, places), gradient * _lines(weight, places), 0.0)
            flat = scatter_add(flat, _lines(index, places), share, axis=2)
        return flat.reshape(x.shape)

    def to_grid() -> Tensor:
        flat = x.reshape(batch, channels, prod(shape))
        total = [zeros(places, grad_output.dtype) for _ in shape]
        for index, _, seen, taps in _reads(_Tensors, grid, shape, *how):
            read = where(_lines(seen, places), gather(flat, _lines(index, places), axis=2), 0.0)
            along = multiply(gradient, read).sum(axis=1).reshape(places)
            for i, tap in enumerate(taps):
                others = [other.weight for j, other in enumerate(taps) if j != i]
                factor = tap.slope
                for other in others:
                    factor = factor * other
                total[i] = total[i] + along * factor
        return stack(total[::-1], axis=-1)

    return to_x, to_grid


def _affine_shape(name: str, shapes: Shapes, size: Any, align_corners: Any = None) -> Shape:
    (shape,) = shapes.values()
    theta, sizes = tuple(shape), whole_numbers(name, size, "size")
    axes = len(sizes) - 2
    if axes not in (2, 3) or theta != (sizes[0], axes, axes + 1) or 0 in sizes[2:]:
        wanted = (
            "theta must be (batch, 2, 3) and size (batch, channels, height, width), or one more"
        )
        raise value_error(name, wanted, theta_shape=theta, size=size)
    return (sizes[0], *sizes[2:], axes)


def _base(size: Sequence[int], align: bool, dtype: Any) -> Any:
    """The places of the elements themselves and a 1 for each, in lines: (elements, axes + 1)."""
    lines = [
        np.linspace(-1, 1, n) * (1.0 if align else (n - 1) / n) if n > 1 else np.zeros(1)
        for n in size[2:]
    ]
    places = np.stack(np.meshgrid(*lines, indexing="ij")[::-1], axis=-1).reshape(-1, len(lines))
    return np.concatenate([places, np.ones((len(places), 1))], axis=1).astype(dtype)


@op(shape=_affine_shape, floats=True)
def affine_grid(
    xp: Any, theta: Array, size: Sequence[int], align_corners: bool | None = None
) -> Any:
    """The places at which affine maps read pictures, for `grid_sample`.

    Derivative: ``grad_output`` times the places of the elements, summed over these.

    Parameters
    ----------
    theta : (batch, 2, 3)
        The matrices, or (batch, 3, 4) for volumes.
    size
        The shape of the result of `grid_sample`.
    align_corners
        Whether -1 and 1 are the centres of the outermost elements instead of their edges, by default
        False.

    Returns
    -------
    Tensor
        The places, (batch, height, width, 2), or (batch, depth, height, width, 3).

    Raises
    ------
    ValueError
        If ``theta`` and ``size`` do not fit each other.

    >>> import extensor as ex
    >>> ex.affine_grid([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]], (1, 1, 1, 2), align_corners=True)
    tensor([[[[-0.5,  0. ],
              [ 1.5,  0. ]]]])
    >>> ex.affine_grid_backward(ex.ones((1, 1, 2, 2)), (1, 2, 3), (1, 1, 1, 2))
    tensor([[[0., 0., 2.],
             [0., 0., 2.]]])
    """
    shape = _affine_shape("affine_grid", {"theta": theta.shape}, size)
    base = xp.asarray(_base(tuple(size), bool(align_corners), theta.dtype))
    return xp.matmul(base, xp.matrix_transpose(theta)).reshape(shape)


@affine_grid.backward()
def affine_grid_backward(
    grad_output: Tensor,
    input_shape: Shape,
    size: Sequence[int],
    align_corners: bool | None = None,
) -> Tensor:
    """``grad_output`` times the places of the elements."""
    base = asarray(_base(tuple(size), bool(align_corners), grad_output.dtype))
    lines = grad_output.reshape(input_shape[0], -1, input_shape[1])
    return matmul(lines.mT, base)
