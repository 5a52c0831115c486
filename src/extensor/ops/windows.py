"""Windows that slide along axes: what each output of a convolution or of a pooling looks at."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from extensor.arrays.shapes import Shape, Shapes
from extensor.arrays.supplement import set_at
from extensor.errors import type_error, value_error

if TYPE_CHECKING:
    from extensor.core.op import Op

Ints = int | Sequence[int]
AXES = {
    1: "3-D (batch, channels, length)",
    2: "4-D (batch, channels, height, width)",
    3: "5-D (batch, channels, depth, height, width)",
}
ALONE = {
    1: "2-D (channels, length)",
    2: "3-D (channels, height, width)",
    3: "4-D (channels, depth, height, width)",
}


class Sliding(NamedTuple):
    """Windows along one axis.

    Element ``k`` of window ``i`` is element ``i * stride + k * dilation - before`` of the axis; there
    may be none, as windows reach beyond both ends.
    """

    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    windows: int

    def overlaps(self) -> Iterator[tuple[int, slice, slice]]:
        """For each ``k``: in which windows element ``k`` is on the axis, and which elements those are."""
        reach = self.before - (self.windows - 1) * self.stride
        lowest = max(0, -(-reach // self.dilation))
        highest = min(self.kernel - 1, (self.size - 1 + self.before) // self.dilation)
        for k in range(lowest, highest + 1):
            shift = k * self.dilation - self.before
            first = max(0, -(shift // self.stride))
            end = min(self.windows, (self.size - 1 - shift) // self.stride + 1)
            if first < end:
                start = first * self.stride + shift
                stop = start + (end - first - 1) * self.stride + 1
                yield k, slice(first, end), slice(start, stop, self.stride)


def ints(op: str, name: str, value: Any, axes: int, least: int = 1) -> Shape:
    """One int for all axes, which may be a sequence of one, or an int for each."""
    values = value if isinstance(value, list | tuple) else (value,)
    values = (*values,) * axes if len(values) == 1 else values
    wanted = f"{name} must be an int" + (f" or {axes} ints" if axes > 1 else "")
    try:
        result = tuple(operator.index(item) for item in values)
    except TypeError:
        raise type_error(op, wanted, **{name: value}) from None
    if len(result) != axes or any(isinstance(item, bool) for item in values):
        raise value_error(op, wanted, **{name: value})
    if max(result) >= 2**62:
        raise value_error(op, f"{name} must be less than 2**62", **{name: value})
    if min(result) < least:
        raise value_error(op, f"{name} must be at least {least}", **{name: value})
    return result


def in_plane(value: Any, height: int) -> Any:
    """An attribute of a line as that of a plane with one row; a default or a name stays."""
    if value is None or isinstance(value, str):
        return value
    return (height, *value) if isinstance(value, list | tuple) else (height, value)


def in_planes(x: Any) -> Any:
    """Volumes, (batch, channels, depth, height, width), as planes, each slice a channel."""
    batch, channels, depth, height, width = x.shape
    return x.reshape((batch, channels * depth, height, width))


def in_columns(planes: Any, channels: int) -> Any:
    """Slices of volumes that are channels of planes, as pictures (depth, height * width)."""
    batch, slices, height, width = planes.shape
    return planes.reshape((batch, channels, slices // max(channels, 1), height * width))


def check_axes(op: str, x: Sequence[int], axes: int, name: str = "x") -> None:
    """A batch, channels and ``axes`` more."""
    if len(x) != axes + 2:
        raise value_error(op, f"{name} must be {AXES[axes]}", **{f"{name}_shape": tuple(x)})


def as_batch(op: str, x: Sequence[int], axes: int) -> tuple[Shape, bool]:
    """The shape of ``x`` with its batch axis, and whether that had to be added."""
    shape = tuple(x)
    if len(shape) == axes + 2:
        return shape, False
    if len(shape) == axes + 1:
        return (1, *shape), True
    raise value_error(op, f"x must be {AXES[axes]} or {ALONE[axes]}", x_shape=shape)


def for_axes(axes: int, shape_of: Callable[..., Shape]) -> Callable[..., Shape]:
    """``shape_of`` for windows along ``axes`` axes, as an op calls it."""

    def shape(name: str, shapes: Shapes, *how: Any) -> Shape:
        return shape_of(name, axes, shapes, *how)

    return shape


def of_one(op: Op, x: Any, others: Sequence[Any], attributes: Sequence[Any]) -> Any:
    """``op`` of the one sample ``x``, computed as a batch of one, so with the same bits."""
    return op.compute(x[None, ...], *others, *attributes)[0, ...]


def rule_of_one(rule: Any, grad_output: Any, x: Any, weight: Any, *how: Any) -> tuple[Any, ...]:
    """The gradients of a convolution of the one sample ``x``, its weight and its bias."""
    grad_x, grad_weight, grad_bias = rule(grad_output[None], x[None], weight, *how)
    return grad_x[0], grad_weight, grad_bias


def overlaps(along: Sequence[Sliding]) -> Iterator[tuple[Shape, Any, Any]]:
    """For each element of a window: its place, the index of the windows and that of the elements."""
    every = (slice(None), slice(None))
    for parts in product(*(list(axis.overlaps()) for axis in along)):
        place, windows, elements = zip(*parts, strict=True)
        yield place, (*every, *windows), (*every, *elements)


def beside(values: Any, axis: int, ndim: int) -> Any:
    """``values`` along ``axis`` of an array with ``ndim`` axes."""
    return values.reshape(tuple(-1 if i == axis else 1 for i in range(ndim)))


def counts(along: Sequence[Sliding]) -> Shape:
    """The number of windows along each axis: the shape of what is computed from them."""
    return tuple(axis.windows for axis in along)


def kernels(along: Sequence[Sliding]) -> Shape:
    """The number of elements of a window along each axis."""
    return tuple(axis.kernel for axis in along)


def sizes(along: Sequence[Sliding]) -> Shape:
    """The sizes of the axes themselves."""
    return tuple(axis.size for axis in along)


def unfolded(xp: Any, x: Any, along: Sequence[Sliding]) -> Any:
    """All windows of ``x`` as (batch, channels, *kernels, *counts), 0 beyond the ends."""
    shape = (*x.shape[:2], *kernels(along), *counts(along))
    result = xp.zeros(shape, dtype=x.dtype)
    for place, windows, elements in overlaps(along):
        index = (*windows[:2], *place, *windows[2:])
        result = set_at(result, index, x[elements])
    return result


def folded(xp: Any, parts: Any, along: Sequence[Sliding]) -> Any:
    """The adjoint: every element of every window added to the element of the axes it came from."""
    result = xp.zeros((*parts.shape[:2], *sizes(along)), dtype=parts.dtype)
    for place, windows, elements in overlaps(along):
        index = (*windows[:2], *place, *windows[2:])
        result = set_at(result, elements, result[elements] + parts[index])
    return result
