"""Pictures and volumes read at places between their elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, whole_numbers
from extensor.arrays.supplement import in_c_order
from extensor.core.creation import asarray, zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.comparison import isnan
from extensor.ops.gathering import take
from extensor.ops.indexing import place
from extensor.ops.joining import concatenate, stack
from extensor.ops.matrix import matmul
from extensor.ops.movement import permute
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
    asarray = staticmethod(asarray)


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


def _inside(xp: Any, at: Any, size: int, padding_mode: str, align: bool) -> tuple[Any, Any]:
    """A place moved into the axis, and the derivative of that."""
    if padding_mode == "zeros":
        return at, 1.0
    slope = 1.0
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
        if span == 0:
            return at * 0.0, 0.0
        off = at - low
        times = xp.floor(off / span)
        rest = off - times * span
        even = times - 2 * xp.floor(times / 2) == 0
        at = xp.where(even, rest, span - rest) + low
        slope = xp.where(even, 1.0, -1.0)
    within = (at >= 0) & (at <= size - 1)
    return xp.clip(at, 0.0, size - 1.0), xp.where(within, slope, 0.0)


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


def _taps(xp: Any, at: Any, size: int, mode: str, padding_mode: str, align: bool) -> list[_Tap]:
    """The elements of an axis that are read at ``at``, from -1 to 1."""
    at = xp.where(xp.isnan(at), -1.0, at)
    half = (size - 1) / 2 if align else size / 2
    at = xp.clip((at + 1) * half - (0.0 if align else 0.5), -FAR, FAR)
    if mode != "bicubic":
        at, moved = _inside(xp, at, size, padding_mode, align)
    if mode == "nearest":
        nearest, nothing = xp.round(at), at * 0.0
        found = [(nearest, nothing + 1.0, nothing)]
    else:
        first = xp.floor(at)
        t = at - first
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


def _row_numbers(xp: Any, index: Any, seen: Any, elements: int) -> Any:
    """The rows of elements among those of the whole batch; one behind the last where none is seen."""
    batch = index.shape[0]
    first = np.arange(batch).reshape(batch, *(1,) * (index.ndim - 1)) * elements
    return xp.where(seen, index + xp.asarray(first), batch * elements).reshape((-1,))


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
    _, channels, *sizes = x.shape
    # An element of all channels is a row, so that reading it is one copy. The last row is outside.
    last_first = xp.permute_dims(x, (0, *range(2, x.ndim), 1))
    nothing = xp.zeros((1, channels), dtype=x.dtype)
    rows = xp.concat([xp.reshape(last_first, (-1, channels)), nothing])
    total = xp.zeros((prod(grid.shape[:-1]), channels), dtype=x.dtype)
    for index, weight, seen, _ in _reads(xp, grid, tuple(sizes), *how):
        read = take.op.compute(rows, _row_numbers(xp, index, seen, prod(sizes)), 0)
        total = total + read * xp.reshape(weight, (-1, 1))
    total = xp.reshape(total, (*grid.shape[:-1], channels))
    return in_c_order(xp.permute_dims(total, (0, x.ndim - 1, *range(1, x.ndim - 1))))


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
    shape, elements = tuple(sizes), batch * prod(sizes)
    last = (0, *range(2, x.ndim), 1)
    gradient = permute(grad_output, last).reshape(-1, channels)

    def to_x() -> Tensor:
        rows = zeros((elements + 1, channels), grad_output.dtype)
        for index, weight, seen, _ in _reads(_Tensors, grid, shape, *how):
            numbers = _row_numbers(_Tensors, index, seen, prod(shape))
            rows = rows + place(gradient * weight.reshape(-1, 1), rows.shape, numbers)
        pictures = rows[:elements].reshape(batch, *shape, channels)
        return permute(pictures, (0, x.ndim - 1, *range(1, x.ndim - 1)))

    def to_grid() -> Tensor:
        nothing = zeros((1, channels), x.dtype)
        rows = concatenate([permute(x, last).reshape(-1, channels), nothing])
        total = [zeros(grid.shape[:-1], grad_output.dtype) for _ in shape]
        for index, _, seen, taps in _reads(_Tensors, grid, shape, *how):
            read = take(rows, _row_numbers(_Tensors, index, seen, prod(shape)), axis=0)
            along = (gradient * read).sum(axis=1).reshape(grid.shape[:-1])
            for i, tap in enumerate(taps):
                factor = tap.slope
                for j, other in enumerate(taps):
                    factor = factor * other.weight if j != i else factor
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
