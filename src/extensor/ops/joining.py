"""Several tensors into one, one into several, and copies of one."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import index
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes, are_ints, axis_index, count, whole_numbers
from extensor.core.op import Array, Arrays, op
from extensor.core.tensor import Tensor, tensor
from extensor.errors import arguments, type_error, value_error
from extensor.errors.explanation import explaining
from extensor.ops.broadcasting import broadcast_to
from extensor.ops.indexing import getitem, place
from extensor.ops.movement import reshape
from extensor.ops.reduction import sum

MOST_EMPTY = 2**16  # sections of nothing: each is a tensor, and any number of them divides 0


def _part(axis: int, start: int | None, stop: int | None) -> tuple[slice, ...]:
    return (*(slice(None),) * axis, slice(start, stop))


def _concatenate_shape(name: str, shapes: Shapes, axis: int) -> Shape:
    given = [tuple(int(size) for size in shape) for shape in shapes["tensors"]]
    if not given:
        raise value_error(name, "there must be at least one shape", shapes=given)
    axis = axis_index(name, axis, len(given[0]))
    others = {(len(shape), shape[:axis], shape[axis + 1 :]) for shape in given}
    if len(others) > 1:
        raise value_error(name, f"shapes must be equal except along axis {axis}", shapes=given)
    total = builtins.sum(shape[axis] for shape in given)
    return (*given[0][:axis], total, *given[0][axis + 1 :])


@op(kernel="concatenate", shape=_concatenate_shape, widen=False)
def concatenate(xp: Any, tensors: Arrays, axis: int = 0) -> Any:
    """The tensors one after another along ``axis``. Derivative: each gets its part.

    Parameters
    ----------
    tensors
        The tensors, of the same shape but for ``axis``.
    axis
        The axis to join along.

    Returns
    -------
    Tensor
        The joined tensor.

    Raises
    ------
    ValueError
        If there is no tensor, their shapes differ elsewhere, or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.concatenate([[1.0, 2.0], [3.0]])
    tensor([1., 2., 3.])
    >>> ex.concatenate_backward([1.0, 2.0, 3.0], [(2,), (1,)])
    (tensor([1., 2.]), tensor([3.]))
    """
    return xp.concat(tensors, axis=index(axis))


@concatenate.backward()
def concatenate_backward(
    grad_output: Tensor, shapes: Sequence[Shape], axis: int = 0
) -> tuple[Any, ...]:
    """The part of ``grad_output`` that came from each tensor."""
    axis = axis_index("concatenate_backward", axis, grad_output.ndim)
    edges = accumulate((shape[axis] for shape in shapes), initial=0)
    # The bounds are bound as defaults: a closure would see only the last ones.
    return tuple(
        lambda start=start, stop=stop: getitem(grad_output, _part(axis, start, stop))
        for start, stop in pairwise(edges)
    )


def _stack_shape(name: str, shapes: Shapes, axis: int) -> Shape:
    given = [tuple(int(size) for size in shape) for shape in shapes["tensors"]]
    if any(shape != given[0] for shape in given):
        raise value_error(name, "shapes must be equal", shapes=given)
    axis = axis_index(name, axis, len(given[0]) + 1)
    return (*given[0][:axis], len(given), *given[0][axis:])


@op(kernel="stack", shape=_stack_shape, widen=False)
def stack(xp: Any, tensors: Arrays, axis: int = 0) -> Any:
    """The tensors side by side along a new axis. Derivative: each gets its slice.

    Parameters
    ----------
    tensors
        The tensors, of one shape.
    axis
        The place of the new axis in the result.

    Returns
    -------
    Tensor
        The joined tensor, with one axis more.

    Raises
    ------
    ValueError
        If there is no tensor, their shapes differ, or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.stack([[1.0, 2.0], [3.0, 4.0]], axis=1)
    tensor([[1., 3.],
            [2., 4.]])
    >>> ex.stack_backward([[1.0, 2.0], [3.0, 4.0]], axis=0)
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    return xp.stack(tensors, axis=index(axis))


@stack.backward()
def stack_backward(grad_output: Tensor, axis: int = 0) -> tuple[Any, ...]:
    """The slices of ``grad_output`` along ``axis``."""
    axis = axis_index("stack_backward", axis, grad_output.ndim)
    return tuple(
        lambda i=i: getitem(grad_output, (*(slice(None),) * axis, i))
        for i in range(grad_output.shape[axis])
    )


def _edges(name: str, shape: Shape, indices_or_sections: Any, axis: int) -> list[tuple[int, int]]:
    """Where each part starts and stops."""
    size = shape[axis]
    if isinstance(indices_or_sections, list | tuple | np.ndarray):
        inner = _cuts(name, indices_or_sections)
        edges = [0, *(slice(cut, None).indices(size)[0] for cut in inner), size]
        if edges != sorted(edges):
            # NumPy lets parts overlap; here they make up the whole, so that they can be joined.
            raise value_error(
                name, "indices must not decrease", indices_or_sections=indices_or_sections
            )
        return list(pairwise(edges))
    try:
        (sections,) = whole_numbers(name, indices_or_sections, "indices_or_sections")
    except ValueError:
        sections = 0
    if sections < 1 or size % sections:
        raise value_error(
            name,
            f"sections must divide axis {axis} of size {size} equally",
            indices_or_sections=indices_or_sections,
        )
    if sections > max(size, MOST_EMPTY):
        raise value_error(
            name,
            f"an axis of size 0 has at most {MOST_EMPTY} sections",
            indices_or_sections=indices_or_sections,
        )
    step = size // sections
    return [(i * step, (i + 1) * step) for i in range(sections)]


def _cuts(name: str, indices: Any) -> list[int]:
    """The places to split at: ints, negatives counting from the end."""
    array = np.asarray(indices)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise type_error(
            name, "indices_or_sections must be an int or ints", indices_or_sections=indices
        )
    return [int(i) for i in array]


def _split_shapes(name: str, shapes: Shapes, indices_or_sections: Any, axis: int) -> list[Shape]:
    (shape,) = shapes.values()
    axis = axis_index(name, axis, len(shape))
    return [
        (*shape[:axis], stop - start, *shape[axis + 1 :])
        for start, stop in _edges(name, shape, indices_or_sections, axis)
    ]


@op(kernel="split", shape=_split_shapes, widen=False)
def split(
    xp: Any, x: Array, indices_or_sections: int | Sequence[int], axis: int = 0
) -> tuple[Any, ...]:
    """``x`` cut along ``axis`` into equal sections, or before each index; the parts are views.

    Derivative: the gradients of the parts, joined.

    Parameters
    ----------
    indices_or_sections
        The number of equal sections, or the positions before which to cut.
    axis
        The axis to cut along.

    Returns
    -------
    tuple of Tensor
        The parts, as views of ``x``.

    Raises
    ------
    ValueError
        If the axis cannot be cut into equal sections, or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.split([1.0, 2.0, 3.0], [1])
    (tensor([1.]), tensor([2., 3.]))
    >>> ex.split_backward([[1.0], [2.0]])
    tensor([1., 2.])
    """
    axis = axis_index("split", axis, x.ndim)
    edges = _edges("split", x.shape, indices_or_sections, axis)
    return tuple(x[_part(axis, start, stop)] for start, stop in edges)


@split.backward()
def split_backward(grad_outputs: Sequence[Tensor], axis: int = 0) -> Tensor:
    """The gradients of the parts, joined along ``axis``."""
    shapes = {"tensors": [gradient.shape for gradient in grad_outputs]}
    _concatenate_shape("split_backward", shapes, axis)
    return concatenate(grad_outputs, axis)


def _repetitions(name: str, shape: Shape, reps: Any) -> tuple[Shape, Shape]:
    """The shape and the repetitions with as many axes as the longer of the two."""
    times = whole_numbers(name, reps, "reps")
    ndim = max(len(shape), len(times))
    return (1,) * (ndim - len(shape)) + tuple(shape), (1,) * (ndim - len(times)) + times


def _tile_shape(name: str, shapes: Shapes, reps: Any) -> Shape:
    (shape,) = shapes.values()
    return tuple(n * r for n, r in zip(*_repetitions(name, shape, reps), strict=True))


@op(shape=_tile_shape, widen=False)
def tile(xp: Any, x: Array, reps: int | tuple[int, ...]) -> Any:
    """``x`` laid side by side ``reps`` times along each axis. Derivative: the sum over the copies.

    Parameters
    ----------
    reps
        The number of copies along each axis. Axes that are missing on either side count as 1.

    Returns
    -------
    Tensor
        The copies side by side.

    >>> import extensor as ex
    >>> ex.tile([1.0, 2.0], 2)
    tensor([1., 2., 1., 2.])
    >>> ex.tile_backward([1.0, 2.0, 3.0, 4.0], (2,), 2)
    tensor([4., 6.])
    """
    return xp.tile(x, whole_numbers("tile", reps, "reps"))


@tile.backward()
def tile_backward(grad_output: Tensor, input_shape: Shape, reps: int | tuple[int, ...]) -> Tensor:
    """The sum of ``grad_output`` over the copies."""
    shape, times = _repetitions("tile_backward", input_shape, reps)
    pairs = [size for pair in zip(times, shape, strict=True) for size in pair]
    copies = tuple(range(0, len(pairs), 2))
    return reshape(sum(reshape(grad_output, tuple(pairs)), axis=copies), input_shape)


def _repeats(name: str, size: int, repeats: Any) -> int | list[int]:
    """How often each of ``size`` elements is repeated, or all of them."""
    array = np.asarray(getattr(repeats, "_array", repeats))
    if not are_ints(array):
        raise type_error(name, "repeats must be ints", repeats=repeats)
    if array.ndim > 1 or array.shape not in ((), (1,), (size,)):
        raise value_error(
            name, f"repeats must be one int or {size}, one for each element", repeats=repeats
        )
    times = [int(n) for n in array.flat]
    whole_numbers(name, tuple(times), "repeats")
    return times[0] if len(times) == 1 else times


def _repeat_shape(name: str, shapes: Shapes, repeats: Any, axis: int | None) -> Shape:
    (shape,) = shapes.values()
    if axis is None:
        shape, axis = (count(shape),), 0
    axis = axis_index(name, axis, len(shape))
    size = shape[axis]
    times = _repeats(name, size, repeats)
    total = times * size if isinstance(times, int) else builtins.sum(times)
    return (*shape[:axis], total, *shape[axis + 1 :])


@op(shape=_repeat_shape, widen=False)
def repeat(xp: Any, x: Array, repeats: int | Sequence[int], axis: int | None = None) -> Any:
    """Each element along ``axis``, or of the flattened ``x``, ``repeats`` times in a row.

    ``repeats`` may give a number for each element. Derivative: the sum over an element's copies.

    Parameters
    ----------
    repeats
        The number of copies, or one number for each element along ``axis``.
    axis
        The axis to repeat along. By default the flattened ``x`` is repeated.

    Returns
    -------
    Tensor
        The result, longer along ``axis``.

    Raises
    ------
    ValueError
        If there is not one number for each element, or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.repeat([1.0, 2.0], [1, 2])
    tensor([1., 2., 2.])
    >>> ex.repeat_backward([1.0, 2.0, 3.0], (2,), [1, 2])
    tensor([1., 5.])
    """
    source = xp.reshape(x, (count(x.shape),)) if axis is None else x
    axis = 0 if axis is None else axis_index("repeat", axis, x.ndim)
    if 0 in source.shape:  # NumPy would make each of the copies of nothing
        return xp.reshape(source, _repeat_shape("repeat", {"x": source.shape}, repeats, axis))
    return xp.repeat(source, _repeats("repeat", source.shape[axis], repeats), axis=axis)


@repeat.backward()
def repeat_backward(
    grad_output: Tensor,
    input_shape: Shape,
    repeats: int | Sequence[int],
    axis: int | None = None,
) -> Tensor:
    """The sum of ``grad_output`` over the copies of each element."""
    shape = (count(input_shape),) if axis is None else input_shape
    axis = axis_index("repeat_backward", 0 if axis is None else axis, len(shape))
    if 0 in shape:
        return reshape(grad_output, input_shape)
    times = _repeats("repeat_backward", shape[axis], repeats)
    sources = np.repeat(np.arange(shape[axis]), times)  # the element that each copy was made of
    return reshape(place(grad_output, shape, (*(slice(None),) * axis, sources)), input_shape)


@explaining
def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid, one tensor for each axis.

    Parameters
    ----------
    *arrays : tensor_like, (n,)
        The coordinates along each axis.
    indexing : {'xy', 'ij'}, default 'xy'
        "ij" keeps the order of the axes, "xy" swaps the first two.

    Returns
    -------
    tuple of Tensor
        The coordinates of all points, in the shape of the grid.

    Raises
    ------
    ValueError
        If an input has more than one axis.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.meshgrid([1.0, 2.0], [3.0, 4.0, 5.0], indexing="ij")[1]
    tensor([[3., 4., 5.],
            [3., 4., 5.]])
    """
    arguments.choice("meshgrid", "indexing", indexing, ("xy", "ij"))
    tensors = [x if isinstance(x, Tensor) else tensor(x) for x in arrays]
    for number, x in enumerate(tensors):
        if x.ndim > 1:
            got = {f"shape{number}": x.shape}
            raise value_error("meshgrid", "inputs must have one axis", **got)
    order = list(range(len(tensors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    grid = tuple(tensors[i].size for i in order)
    return tuple(
        broadcast_to(
            reshape(x, tuple(x.size if order[axis] == i else 1 for axis in range(len(grid)))), grid
        )
        for i, x in enumerate(tensors)
    )
