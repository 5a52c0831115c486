"""NumPy's indexing rules, as shapes and as clear errors."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_
from extensor.arrays.shapes import Shape, count, is_broadcastable_to
from extensor.errors import index_error, type_error, value_error
from extensor.errors.array_likes import as_numpy, is_nested

Index = Any  # to users: extensor.typing.Index
Items = tuple[Any, ...]


def read_index(op: str, index: Any) -> Any:
    """``index`` with ints, slices of ints and arrays in place of the user's own objects.

    Reading such an object runs its code, which may change the tensor that is indexed or answer
    differently the next time. So an op reads each once, before it looks at the tensor.
    """
    if isinstance(index, tuple):
        return tuple(_read_item(op, item) for item in index)
    return _read_item(op, index)


def _read_item(op: str, item: Any) -> Any:
    if isinstance(item, slice):
        return slice(*(_read_part(op, item, x) for x in (item.start, item.stop, item.step)))
    if item is None or hasattr(item, "_array") or hasattr(item, "__array_namespace__"):
        return item
    return _plain_item(op, item)


def _read_part(op: str, item: slice, part: Any) -> int | None:
    if part is None:
        return None
    try:
        return operator.index(part)
    except TypeError:
        raise type_error(op, "the parts of a slice must be ints or None", slice=item) from None


def with_own_arrays(items: Items) -> Items:
    """The same index with copies of its NumPy arrays.

    NumPy checks an index first and reads it again afterwards: whoever shares its memory (another
    thread, or a process that maps the same file) could send it out of bounds in between.
    """
    return tuple(item.copy() if isinstance(item, np.ndarray) else item for item in items)


def plain(op: str, index: Any) -> Items:
    """An index as a tuple of None, Ellipsis, slices, ints, and integer or boolean arrays."""
    return tuple(
        _plain_item(op, item) for item in (index if isinstance(index, tuple) else (index,))
    )


def _plain_item(op: str, item: Any) -> Any:
    if item is None or item is Ellipsis or isinstance(item, slice) or type(item) is int:
        return item
    item = getattr(item, "_array", item)
    if not isinstance(item, bool):
        try:
            return operator.index(item)
        except TypeError:
            pass
    array = item if hasattr(item, "__array_namespace__") else _as_array(op, item)
    if getattr(array.dtype, "kind", "i") not in "biu":
        raise _wrong_kind(op, item)
    return array


def _as_array(op: str, item: Any) -> Any:
    try:
        array = as_numpy(item)
    except ValueError:
        raise _wrong_kind(op, item) from None
    return array.astype(np.int64) if is_nested(item) and array.size == 0 else array


def _wrong_kind(op: str, item: Any) -> IndexError:
    kind = str(item.dtype) if hasattr(item, "dtype") else type(item).__name__
    return index_error(
        op, "an index must be an int, a slice, None, ... or an array of ints or bools", index=kind
    )


def _is_array(item: Any) -> bool:
    return hasattr(item, "dtype")


def _is_mask(item: Any) -> bool:
    return _is_array(item) and item.dtype == bool_


def has_integer_array(items: Items) -> bool:
    """True if the index may name an element more than once."""
    return any(_is_array(item) and not _is_mask(item) for item in items)


def _locate(op: str, items: Items, ndim: int) -> list[tuple[int, int, Any]]:
    """Each item with the axis it starts at and the number of axes it takes."""
    widths = [
        0 if item is None or item is Ellipsis else item.ndim if _is_mask(item) else 1
        for item in items
    ]
    used = sum(widths)
    if used > ndim:
        raise index_error(op, f"too many indices for {ndim} axes", indices=used)
    dots = [position for position, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise index_error(op, "an index may have only one ...", ellipses=len(dots))
    for position in dots:
        widths[position] = ndim - used
    located = []
    axis = 0
    for item, width in zip(items, widths, strict=True):
        located.append((axis, width, item))
        axis += width
    if axis < ndim:
        located.append((axis, ndim - axis, Ellipsis))
    return located


def selected(op: str, shape: Sequence[int], index: Any) -> Shape:
    """The shape of what ``index`` selects from a tensor of ``shape``.

    Arrays are broadcast together. Their axes stand where the arrays stand if those are next to each
    other, and come first if not; an int beside an array counts as one.
    """
    items = plain(op, index)
    arrays = any(_is_array(item) for item in items)
    result: list[int] = []
    fancy: list[Shape] = []
    groups = 0
    position = 0
    inside = False
    for axis, width, item in _locate(op, items, len(shape)):
        is_fancy = _is_array(item) or (arrays and isinstance(item, int))
        if is_fancy and not inside:
            groups += 1
            position = len(result) if groups == 1 else 0
        inside = is_fancy
        if item is None:
            result.append(1)
        elif item is Ellipsis:
            result.extend(shape[axis : axis + width])
        elif isinstance(item, slice):
            result.append(_slice_length(op, item, shape[axis]))
        elif isinstance(item, int):
            if not -shape[axis] <= item < shape[axis]:
                raise _out_of_range(op, item, shape[axis], axis)
        elif _is_mask(item):
            fancy.append((_count_true(op, item, tuple(shape[axis : axis + width])),))
        else:
            fancy.append(tuple(item.shape))
    if fancy:
        result[position:position] = _broadcast(op, fancy)
    return tuple(result)


def _slice_length(op: str, item: slice, size: int) -> int:
    try:
        return len(range(*item.indices(size)))
    except TypeError:
        raise type_error(op, "the parts of a slice must be ints or None", slice=item) from None
    except ValueError:
        raise value_error(op, "the step of a slice must not be 0", slice=item) from None


def _count_true(op: str, mask: Any, axes: Shape) -> int:
    if tuple(mask.shape) != axes:
        raise index_error(
            op, f"a boolean index must have the shape {axes} of its axes", index_shape=mask.shape
        )
    return int(np.count_nonzero(np.asarray(mask)))


def _broadcast(op: str, fancy: Sequence[Shape]) -> Shape:
    try:
        return np.broadcast_shapes(*fancy)
    except ValueError:
        raise index_error(
            op, "index arrays must broadcast together", index_shapes=list(fancy)
        ) from None


def _out_of_range(op: str, index: int, size: int, axis: int) -> IndexError:
    if size == 0:
        return index_error(op, f"axis {axis} has size 0 and no element", index=index)
    return index_error(op, f"index must be in [{-size}, {size - 1}] for axis {axis}", index=index)


def explained(op: str, shape: Sequence[int], items: Items) -> IndexError:
    """The error of an index array that reaches outside its axis."""
    for axis, _, item in _locate(op, items, len(shape)):
        if _is_array(item) and not _is_mask(item):
            array = np.asarray(item)
            outside = array[(array < -shape[axis]) | (array >= shape[axis])]
            if outside.size:
                return _out_of_range(op, int(outside[0]), shape[axis], axis)
    return index_error(op, f"index does not fit a tensor of shape {tuple(shape)}")


def last_written(op: str, shape: Sequence[int], index: Any) -> Any:
    """Of the selected elements, those whose value stays if written in order; None means all."""
    items = plain(op, index)
    if not has_integer_array(items):
        return None
    chosen = selected(op, shape, index)
    order = np.arange(count(chosen)).reshape(chosen)
    winner = np.empty(tuple(shape), order.dtype)
    winner[in_order(items)] = order
    return winner[items] == order


def in_order(items: Items) -> Items:
    """The same index with C-ordered arrays, so that NumPy writes the last of equal places last."""
    return tuple(
        np.ascontiguousarray(i) if isinstance(i, np.ndarray) and i.ndim else i for i in items
    )


def check_indices(op: str, indices: Any, size: int, where: str) -> None:
    """Indices along one axis: integers from ``-size`` to ``size - 1``."""
    array = np.asarray(indices)
    if array.dtype.kind not in "iu":
        raise type_error(op, "indices must be integers", indices_dtype=str(array.dtype))
    if array.size == 0:
        return
    low, high = int(array.min()), int(array.max())
    if low < -size or high >= size:
        wrong = high if high >= size else low
        if size == 0:
            raise value_error(op, f"{where} has size 0 and no element", index=wrong)
        raise value_error(op, f"indices must be in [{-size}, {size - 1}] for {where}", index=wrong)


def check_updates(name: str, updates: Shape, expected: Shape, given: str = "updates") -> None:
    """Raise unless the value broadcasts to the shape of the places it is written to."""
    if not is_broadcastable_to(updates, expected):
        raise value_error(
            name, f"{given} must broadcast to shape {expected}", **{f"{given}_shape": updates}
        )
