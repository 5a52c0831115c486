"""A tensor continued beyond its edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, are_ints
from extensor.arrays.supplement import set_at
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.indexing import getitem, index_add
from extensor.ops.selection import check_fill

PadWidth = int | Sequence[int] | Sequence[Sequence[int]]
Mode = Literal["constant", "reflect", "symmetric", "edge", "replicate", "wrap", "circular"]
# NumPy's and PyTorch's names for each mode. All but the first are maps of indices.
MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "symmetric": "symmetric",
    "edge": "edge",
    "replicate": "edge",
    "wrap": "wrap",
    "circular": "wrap",
}


def _widths(name: str, shape: Shape, pad_width: Any) -> list[tuple[int, int]]:
    """How much to add before and after each axis, from any of NumPy's forms."""
    try:
        array = np.asarray(pad_width)
        widths = np.broadcast_to(array, (len(shape), 2))
    except ValueError:
        raise value_error(
            name,
            f"pad_width must be an int, a pair, or a pair for each of {len(shape)} axes",
            pad_width=pad_width,
        ) from None
    if not are_ints(array) and array.size:
        raise type_error(name, "pad_width must be ints", pad_width=pad_width)
    if (widths < 0).any():
        raise value_error(name, "pad_width must not be negative", pad_width=pad_width)
    return [(int(before), int(after)) for before, after in widths]


def _padded_shape(name: str, shapes: Shapes, pad_width: Any, mode: str, *_: Any) -> Shape:
    (shape,) = shapes.values()
    if mode not in MODES:
        raise value_error(name, f"mode must be one of {', '.join(MODES)}", mode=mode)
    widths = _widths(name, shape, pad_width)
    for axis, (size, added) in enumerate(zip(shape, widths, strict=True)):
        if mode != "constant" and size == 0 and any(added):
            raise value_error(
                name, f"axis {axis} of size 0 can only be padded with a constant", mode=mode
            )
    sizes = (size + before + after for size, (before, after) in zip(shape, widths, strict=True))
    return tuple(sizes)


def _check_pad(name: str, x: Any, pad_width: Any, mode: str, value: float) -> None:
    check_fill(name, x.dtype, value)


def _inside(shape: Shape, widths: Sequence[tuple[int, int]]) -> tuple[slice, ...]:
    pairs = zip(shape, widths, strict=True)
    return tuple(slice(before, before + size) for size, (before, _) in pairs)


def _along(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, index)


def _borders(size: int, widths: tuple[int, int], mode: str) -> Iterator[tuple[slice, Any]]:
    """What is added before and after an axis, and the elements that it is a copy of."""
    before, after = widths
    sources = _sources(size, widths, mode)
    if before:
        yield slice(0, before), sources[:before]
    if after:
        yield slice(before + size, None), sources[before + size :]


def _sources(size: int, widths: tuple[int, int], mode: str) -> Any:
    """The element that each element of a padded axis is a copy of."""
    before, after = widths
    places = np.arange(-before, size + after)
    mode = MODES[mode]
    if mode == "edge":
        return np.clip(places, 0, size - 1)
    if mode == "wrap":
        return places % size
    # There and back again, the ends once (reflect) or twice (symmetric).
    repeated = 1 if mode == "symmetric" else 0
    period = max(1, 2 * (size - 1 + repeated))
    places %= period
    return np.where(places < size, places, period - repeated - places)


@op(shape=_padded_shape, check=_check_pad, widen=False)
def pad(xp: Any, x: Array, pad_width: PadWidth, mode: Mode = "constant", value: float = 0.0) -> Any:
    """``x`` with elements added before and after each axis.

    Derivative: ``grad_output`` without what was added; where that is a copy, added to its
    original.

    Parameters
    ----------
    pad_width
        As in NumPy: a number for all sides, a pair (before, after) for all axes, or such a pair
        for each axis.
    mode
        Which elements are added. "constant": ``value``; "reflect": the mirror image without the
        edge; "symmetric": with the edge; "edge" or "replicate": the last element; "wrap" or
        "circular": those of the other end.
    value
        The element that "constant" adds.

    Returns
    -------
    Tensor
        The longer tensor.

    Raises
    ------
    ValueError
        If ``pad_width`` does not fit the axes, or an axis is too short for ``mode``.

    >>> import extensor as ex
    >>> ex.pad([1.0, 2.0, 3.0], (1, 2))
    tensor([0., 1., 2., 3., 0., 0.])
    >>> ex.pad_backward(ex.ones((6,)), (3,), (1, 2), mode="edge")
    tensor([2., 1., 3.])
    """
    widths = _widths("pad", x.shape, pad_width)
    shape = _padded_shape("pad", {"x": x.shape}, pad_width, mode)
    if mode == "constant":
        return set_at(xp.full(shape, value, dtype=x.dtype), _inside(x.shape, widths), x)
    result = set_at(xp.empty(shape, dtype=x.dtype), _inside(x.shape, widths), x)
    # Only the borders are gathered, axis by axis: each copies what the axes before it have filled.
    for axis, added in enumerate(widths):
        for border, sources in _borders(x.shape[axis], added, mode):
            copies = xp.take(result, xp.asarray(sources + added[0]), axis=axis)
            result = set_at(result, _along(axis, border), copies)
    return result


@pad.backward()
def pad_backward(
    grad_output: Tensor, input_shape: Shape, pad_width: PadWidth, mode: Mode = "constant"
) -> Tensor:
    """``grad_output`` without what was added, or with it added to what it is a copy of."""
    widths = _widths("pad_backward", input_shape, pad_width)
    if mode == "constant":
        return getitem(grad_output, _inside(input_shape, widths))
    # Backwards through the axes, so that corners reach their originals by way of the borders.
    for axis, (before, after) in reversed(list(enumerate(widths))):
        size = input_shape[axis]
        inside = getitem(grad_output, _along(axis, slice(before, before + size)))
        for border, sources in _borders(size, (before, after), mode):
            copies = getitem(grad_output, _along(axis, border))
            inside = index_add(inside, copies, _along(axis, sources))
        grad_output = inside
    return grad_output
