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
_MOST = 2**60  # elements: their bytes can be counted, whatever the dtype


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


def is_broadcastable_to(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Whether ``shape`` broadcasts to ``target`` and to nothing larger."""
    sizes = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(m in (1, n) for m, n in sizes)


def check_shape(op: str, name: str, shape: Sequence[int] | None, wanted: Sequence[int]) -> None:
    """Refuse an array called ``name`` of another shape than ``wanted``; None is no array."""
    if shape is not None and tuple(shape) != tuple(wanted):
        got = {f"{name}_shape": tuple(shape)}
        raise value_error(op, f"{name} must have shape {tuple(wanted)}", **got)


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


def axis_or_none(op: str, axis: Any, ndim: int, name: str = "axis") -> int | None:
    """The same where a 0-d tensor has a result too: it is a line of one element, whose axis is none.

    So -1 and 0 name it, as in NumPy and PyTorch.
    """
    if ndim:
        return axis_index(op, axis, ndim, name)
    if hasattr(axis, "__index__") and operator.index(axis) not in (-1, 0):
        raise value_error(op, f"{name} must be -1 or 0 for a 0-d tensor", **{name: axis})
    axis_index(op, axis, 1, name)
    return None


def axis_indices(op: str, axis: Any, ndim: int, name: str = "axis") -> Shape:
    """None (all axes), an int or a sequence of ints, as sorted non-negative axes.

    Of a 0-d tensor, for which -1 and 0 may be given, there are none.
    """
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, list | tuple) else (axis,)
    indices = [axis_or_none(op, item, ndim, name) for item in axes]
    if len(set(indices)) != len(indices):
        raise value_error(op, f"{name} must not name an axis twice", **{name: axis})
    return tuple(sorted(index for index in indices if index is not None))


def same_along(op: str, shapes: Shapes, axis: Any, *_: Any) -> Shape:
    """The shape of the only input, in which ``axis`` must exist."""
    shape = same(op, shapes)
    axis_or_none(op, axis, len(shape))
    return shape


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
    result = whole_numbers(op, shape, name)
    if not is_possible(result):
        raise value_error(op, f"{name} must have fewer than 2**60 elements", **{name: shape})
    return result


def whole_numbers(op: str, given: Any, name: str) -> Shape:
    """Numbers of things, given by a user: an int or a sequence of non-negative ints."""
    numbers = given if isinstance(given, list | tuple) else (given,)
    try:
        result = tuple(operator.index(number) for number in numbers)
    except TypeError:
        raise type_error(op, f"{name} must be ints", **{name: given}) from None
    if any(number < 0 for number in result):
        raise value_error(op, f"{name} must not be negative", **{name: given})
    return result


def is_possible(shape: Sequence[int]) -> bool:
    """Whether the bytes of a tensor of this shape can be counted, whatever its dtype.

    Its strides too, so that an axis of size 0 does not make up for the others.
    """
    return prod(shape) < _MOST and (0 not in shape or prod(size or 1 for size in shape) < _MOST)


def check_possible(op: str, shape: Any) -> None:
    """The shape of a result, or those of several, must be possible."""
    if type(shape) is tuple and 0 < prod(shape) < _MOST:  # the usual case, soon found
        return
    if isinstance(shape, list):
        for item in shape:
            check_possible(op, item)
    elif not is_possible(shape):
        requirement = "the result must have fewer than 2**60 elements"
        raise value_error(op, requirement, shape=tuple(shape))


def are_ints(array: Any) -> bool:
    """Whether an array that NumPy made of a user's numbers has ints only, of any size."""
    kind = array.dtype.kind
    return kind in "iu" or (kind == "O" and all(type(item) is int for item in array.flat))


def count(shape: Sequence[int]) -> int:
    """The number of elements."""
    return prod(shape)
