"""Shape rules: from the inputs' shapes and the attributes to the output's shape, or a clear error.

``shapes`` maps each input's name to its shape, in order. The same function checks a forward's inputs and
tells a rule which ``grad_output`` it may accept.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Any

from extensor.errors import type_error, value_error

Shape = tuple[int, ...]
Shapes = Mapping[str, Any]
_MOST = 2**60  # of 8 bytes each, they could not be counted in 64 bits


def broadcast(op: str, shapes: Shapes, *_: Any) -> Shape:
    """All inputs broadcast against each other."""
    given = {name: shape for name, shape in shapes.items() if shape is not None}
    result = []
    for sizes in zip_longest(*(reversed(shape) for shape in given.values()), fillvalue=1):
        size = max(sizes) if 0 not in sizes else 0
        if any(s not in (1, size) for s in sizes):
            got = {f"{name}_shape": shape for name, shape in given.items()}
            raise value_error(op, "shapes must broadcast", **got)
        result.append(size)
    return tuple(reversed(result))


def same(op: str, shapes: Shapes, *_: Any) -> Shape:
    """The output has the shape of the first input."""
    return tuple(next(iter(shapes.values())))


def axis_index(op: str, axis: Any, ndim: int, name: str = "axis") -> int:
    """One axis as a number from 0 to ndim - 1."""
    try:
        index = operator.index(axis)
    except TypeError:
        index = None
    if index is None or isinstance(axis, bool):
        raise type_error(op, f"{name} must be an int", **{name: axis})
    if not -ndim <= index < ndim:
        raise value_error(
            op,
            f"{name} must be in [{-ndim}, {ndim - 1}] for {ndim} axes"
            if ndim
            else f"{name} cannot be given for a 0-d tensor",
            **{name: axis},
        )
    return index % ndim


def axis_indices(op: str, axis: Any, ndim: int, name: str = "axis") -> Shape:
    """None (all axes), an int or a sequence of ints, as sorted non-negative axes."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    indices = sorted(axis_index(op, item, ndim, name) for item in axes)
    if len(set(indices)) != len(indices):
        raise value_error(op, f"{name} must not name an axis twice", **{name: axis})
    return tuple(indices)


def reduced(op: str, shapes: Shapes, axis: Any = None, keepdims: bool = False, *_: Any) -> Shape:
    """The axes are summed away, or kept with size 1."""
    (shape,) = shapes.values()
    axes = axis_indices(op, axis, len(shape))
    if keepdims:
        return tuple(1 if i in axes else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in axes)


def reduced_nonempty(
    op: str, shapes: Shapes, axis: Any = None, keepdims: bool = False, *rest: Any
) -> Shape:
    """As :func:`reduced`, for reductions that have no value over nothing."""
    (shape,) = shapes.values()
    result = reduced(op, shapes, axis, keepdims, *rest)
    if 0 in [shape[i] for i in axis_indices(op, axis, len(shape))]:
        raise value_error(op, "cannot reduce an axis of size 0", shape=tuple(shape), axis=axis)
    return result


def with_axes(shape: Shape, axes: Sequence[int]) -> Shape:
    """``shape`` with the ``axes`` set to 1: the keepdims form of a reduction."""
    return tuple(1 if i in axes else size for i, size in enumerate(shape))


def target(op: str, shape: Any, name: str = "shape") -> Shape:
    """A shape given by a user: an int or a sequence of non-negative ints."""
    sizes = shape if isinstance(shape, list | tuple) else (shape,)
    try:
        result = tuple(operator.index(size) for size in sizes)
    except TypeError:
        raise type_error(op, f"{name} must be ints", **{name: shape}) from None
    if any(size < 0 for size in result):
        raise value_error(op, f"{name} must not be negative", **{name: shape})
    if prod(size for size in result if size) >= _MOST:
        raise value_error(op, f"{name} must have fewer than 2**60 elements", **{name: shape})
    return result


def count(shape: Sequence[int]) -> int:
    """The number of elements."""
    return prod(shape)
