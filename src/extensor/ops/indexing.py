"""Reading and writing at indices. Reading and adding are each other's derivative."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_, is_floating
from extensor.arrays.shapes import Shape, Shapes, axis_index, axis_or_none, broadcast, count, target
from extensor.arrays.supplement import add_at, along_axis, set_at
from extensor.core.creation import zeros
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor, wrap
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.indices import (
    Index,
    check_indices,
    explained,
    has_integer_array,
    in_order,
    last_written,
    plain,
    selected,
)
from extensor.ops.selection import where


def _getitem(name: str, shapes: Shapes, index: Any) -> Shape:
    return selected(name, shapes["x"], index)


@op(kernel="getitem", shape=_getitem, widen=False)
def getitem(xp: Any, x: Array, index: Index) -> Any:
    """``x[index]`` with all of NumPy's indices: slices, ints, None, ..., arrays of ints or bools.

    Without arrays the result is a view. Derivative: ``grad_output`` added where it was read, as
    often as it was read, and 0 elsewhere.

    >>> import extensor as ex
    >>> x = ex.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> x[[0, 0, 2]].sum().backward()
    >>> x.grad
    tensor([2., 0., 1.])
    """
    items = plain("getitem", index)
    if xp is np and all(type(item) is int for item in items):
        items = (*items, ...)  # without it, a single element would be a copy
    try:
        return x[items]
    except IndexError:
        raise explained("getitem", x.shape, items) from None


@getitem.backward(kernel="getitem_backward")
def getitem_backward(grad_output: Tensor, input_shape: Shape, index: Index) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` added at ``index``."""
    return place(grad_output, input_shape, index)


def _place(name: str, shapes: Shapes, shape: Any, index: Any) -> Shape:
    whole = target(name, shape)
    expected = selected(name, whole, index)
    if tuple(shapes["x"]) != expected:
        raise value_error(name, f"x must have shape {expected}", x_shape=tuple(shapes["x"]))
    return whole


@op(kernel="place", shape=_place)
def place(xp: Any, x: Array, shape: int | Shape, index: Index) -> Any:
    """Zeros of ``shape`` with ``x`` added at ``index``. Derivative: ``grad_output[index]``.

    >>> import extensor as ex
    >>> ex.place([1.0, 2.0, 3.0], (4,), [0, 2, 2])
    tensor([1., 0., 5., 0.])
    """
    items = plain("place", index)
    whole = xp.zeros(target("place", shape), dtype=x.dtype)
    try:
        return add_at(xp, whole, items, x) if has_integer_array(items) else set_at(whole, items, x)
    except IndexError:
        raise explained("place", whole.shape, items) from None


@place.backward()
def place_backward(
    grad_output: Tensor, input_shape: Shape, shape: int | Shape, index: Index
) -> Tensor:
    """``grad_output[index]``."""
    return getitem(grad_output, index)


def check_updates(name: str, updates: Shape, expected: Shape, given: str = "updates") -> None:
    """What is written must broadcast to the shape of the places it is written to."""
    sizes = zip(reversed(updates), reversed(expected), strict=False)
    if len(updates) > len(expected) or any(m not in (1, n) for m, n in sizes):
        raise value_error(
            name, f"{given} must broadcast to shape {expected}", **{f"{given}_shape": updates}
        )


def _updated(name: str, shapes: Shapes, index: Any) -> Shape:
    x, updates = tuple(shapes["x"]), tuple(shapes["updates"])
    check_updates(name, updates, selected(name, x, index))
    return x


@op(shape=_updated, widen=False)
def index_set(xp: Any, x: Array, updates: Array, index: Index) -> Any:
    """A copy of ``x`` with ``updates`` written at ``index``: ``x.at[index].set(updates)``.

    Where an index is named twice the last value stays. Derivative: ``grad_output`` to ``updates``
    where written, if the value stayed, and to ``x`` elsewhere.

    >>> import extensor as ex
    >>> ex.index_set([1.0, 2.0, 3.0], 9.0, 1)
    tensor([1., 9., 3.])
    """
    items = plain("index_set", index)
    if has_integer_array(items):
        updates = xp.asarray(
            xp.broadcast_to(updates, selected("index_set", x.shape, index)), copy=True
        )
        items = in_order(items)
    try:
        return set_at(xp.asarray(x, copy=True), items, updates)
    except IndexError:
        raise explained("index_set", x.shape, items) from None


@index_set.backward()
def index_set_backward(
    grad_output: Tensor, x_shape: Shape, updates_shape: Shape, index: Index
) -> tuple[Any, Any]:
    """``grad_output`` with zeros at ``index``, and ``grad_output[index]`` where a value stayed."""

    def to_updates() -> Tensor:
        gradient = getitem(grad_output, index)
        stayed = last_written("index_set_backward", x_shape, index)
        if stayed is not None:
            gradient = where(wrap(stayed), gradient, 0.0)
        return reduce_to_shape(gradient, updates_shape)

    return lambda: index_set(grad_output, 0.0, index), to_updates


@op(shape=_updated)
def index_add(xp: Any, x: Array, updates: Array, index: Index) -> Any:
    """A copy of ``x`` with ``updates`` added at ``index``: ``x.at[index].add(updates)``.

    An index named twice is added to twice. Derivative: ``grad_output`` to ``x``,
    ``grad_output[index]`` to ``updates``.

    >>> import extensor as ex
    >>> ex.index_add([1.0, 2.0, 3.0], 10.0, [0, 0, 1])
    tensor([21., 12.,  3.])
    """
    items = plain("index_add", index)
    try:
        return add_at(xp, xp.asarray(x, copy=True), items, updates)
    except IndexError:
        raise explained("index_add", x.shape, items) from None


@index_add.backward()
def index_add_backward(
    grad_output: Tensor, x_shape: Shape, updates_shape: Shape, index: Index
) -> tuple[Any, Any]:
    """``grad_output``, and ``grad_output[index]`` summed to the shape of ``updates``."""
    return grad_output, lambda: reduce_to_shape(getitem(grad_output, index), updates_shape)


class At:
    """``x.at[index]`` names a place in ``x``; its ``set`` and ``add`` return a changed copy.

    >>> import extensor as ex
    >>> x = ex.tensor([1.0, 2.0, 3.0])
    >>> x.at[1:].set(0.0)
    tensor([1., 0., 0.])
    >>> x.at[0].add(5.0)
    tensor([6., 2., 3.])
    """

    __slots__ = ("_index", "_x")

    def __init__(self, x: Tensor, index: Any = Ellipsis) -> None:
        self._x = x
        self._index = index

    def __getitem__(self, index: Any) -> At:
        return At(self._x, index)

    def set(self, updates: Any) -> Tensor:
        """``x`` with ``updates`` written here, in the dtype of ``x`` where both are floats."""
        updated: Tensor = index_set(self._x, self._fitting(updates), self._index)
        return updated

    def add(self, updates: Any) -> Tensor:
        """``x`` with ``updates`` added here, in the dtype of ``x`` where both are floats."""
        updated: Tensor = index_add(self._x, self._fitting(updates), self._index)
        return updated

    def _fitting(self, updates: Any) -> Any:
        if hasattr(updates, "dtype") and is_floating(self._x.dtype) and is_floating(updates.dtype):
            return updates.astype(self._x.dtype)
        return updates


def _gathered(name: str, shapes: Shapes, axis: int) -> Shape:
    x, indices = tuple(shapes["x"]), tuple(shapes["indices"])
    got = {"x_shape": x, "indices_shape": indices}
    if len(x) != len(indices):
        raise value_error(name, "indices must have as many axes as x", **got)
    along = axis_or_none(name, axis, len(x))
    result = []
    for position, (m, n) in enumerate(zip(x, indices, strict=True)):
        if position != along and m != n and 1 not in (m, n):
            raise value_error(name, f"sizes must be equal or 1 except along axis {along}", **got)
        result.append(n if position == along or m == 1 else m)
    return tuple(result)


def _check_gather(name: str, x: Any, indices: Any, axis: int) -> None:
    if axis_or_none(name, axis, x.ndim) is None:
        check_indices(name, indices, 1, "a 0-d tensor")
        return
    _check_take(name, x, indices, axis)


@op(kernel="gather", shape=_gathered, check=_check_gather, widen=False)
def gather(xp: Any, x: Array, indices: Indices, axis: int) -> Any:
    """The elements of ``x`` at ``indices`` along ``axis``, line by line.

    This is NumPy's ``take_along_axis``: the other axes broadcast.
    Derivative: ``grad_output`` added where it was read.

    >>> import extensor as ex
    >>> ex.gather([[1.0, 2.0], [3.0, 4.0]], [[0], [1]], axis=1)
    tensor([[1.],
            [4.]])
    """
    return xp.take_along_axis(x, indices, axis=axis) if x.ndim else x


@gather.backward(kernel="gather_backward")
def gather_backward(grad_output: Tensor, x_shape: Shape, indices: Tensor, axis: int) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices``."""
    if not x_shape:
        return grad_output
    whole = list(grad_output.shape)
    axis = axis_index("gather_backward", axis, len(whole))
    whole[axis] = x_shape[axis]
    return reduce_to_shape(
        scatter_add(zeros(tuple(whole), grad_output.dtype), indices, grad_output, axis), x_shape
    )


def _scattered(name: str, shapes: Shapes, axis: int) -> Shape:
    x, updates = tuple(shapes["x"]), tuple(shapes["updates"])
    chosen = _gathered(name, {"x": x, "indices": shapes["indices"]}, axis)
    along = axis_or_none(name, axis, len(x))
    if along is not None and (*chosen[:along], x[along], *chosen[along + 1 :]) != x:
        raise value_error(
            name,
            f"indices must not be larger than x except along axis {along}",
            x_shape=x,
            indices_shape=tuple(shapes["indices"]),
        )
    check_updates(name, updates, chosen)
    return x


def _check_scatter(name: str, x: Any, indices: Any, updates: Any, axis: int) -> None:
    _check_gather(name, x, indices, axis)


@op(kernel="scatter_add", shape=_scattered, check=_check_scatter)
def scatter_add(xp: Any, x: Array, indices: Indices, updates: Array, axis: int) -> Any:
    """A copy of ``x`` with ``updates`` added at ``indices`` along ``axis``, line by line.

    Derivative: ``grad_output`` to ``x``, ``grad_output`` read at ``indices`` to ``updates``.

    >>> import extensor as ex
    >>> ex.scatter_add([0.0, 0.0, 0.0], [2, 0, 2], [1.0, 2.0, 3.0], axis=0)
    tensor([2., 0., 4.])
    """
    if x.ndim == 0:
        return x + updates
    index = along_axis(xp, indices, x.shape, axis_index("scatter_add", axis, x.ndim))
    return add_at(xp, xp.asarray(x, copy=True), index, updates)


@scatter_add.backward()
def scatter_add_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor, updates_shape: Shape, axis: int
) -> tuple[Any, Any]:
    """``grad_output``, and ``grad_output`` read at ``indices``."""
    return grad_output, lambda: reduce_to_shape(gather(grad_output, indices, axis), updates_shape)


def _taken(name: str, shapes: Shapes, axis: int | None) -> Shape:
    x, indices = tuple(shapes["x"]), tuple(shapes["indices"])
    if axis is None:
        return indices
    axis = axis_index(name, axis, len(x))
    return (*x[:axis], *indices, *x[axis + 1 :])


def _check_take(name: str, x: Any, indices: Any, axis: int | None) -> None:
    if axis is None:
        check_indices(name, indices, count(x.shape), "the flattened tensor")
    else:
        axis = axis_index(name, axis, x.ndim)
        check_indices(name, indices, x.shape[axis], f"axis {axis}")


@op(kernel="take", shape=_taken, check=_check_take, widen=False)
def take(xp: Any, x: Array, indices: Indices, axis: int | None = None) -> Any:
    """The slices of ``x`` at ``indices`` along ``axis``, or the elements of the flattened ``x``.

    Derivative: ``grad_output`` added where it was read.

    >>> import extensor as ex
    >>> ex.take([[1.0, 2.0], [3.0, 4.0]], [1, 1, 0], axis=0)
    tensor([[3., 4.],
            [3., 4.],
            [1., 2.]])
    """
    source = xp.reshape(x, (-1,)) if axis is None else x
    taken = xp.take(source, xp.reshape(indices, (-1,)), axis=0 if axis is None else axis)
    return xp.reshape(taken, _taken("take", {"x": x.shape, "indices": indices.shape}, axis))


@take.backward(kernel="take_backward")
def take_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor, axis: int | None = None
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``."""
    if axis is None:
        gradient: Tensor = place(grad_output, (count(x_shape),), indices).reshape(x_shape)
        return gradient
    axis = axis_index("take_backward", axis, len(x_shape))
    return place(grad_output, x_shape, (*(slice(None),) * axis, indices))


def _index_selected(name: str, shapes: Shapes, axis: int) -> Shape:
    if len(shapes["indices"]) != 1:
        raise value_error(
            name, "indices must have one axis", indices_shape=tuple(shapes["indices"])
        )
    return _taken(name, shapes, axis_index(name, axis, len(shapes["x"])))


@op(kernel="index_select", shape=_index_selected, check=_check_take, widen=False)
def index_select(xp: Any, x: Array, indices: Indices, axis: int) -> Any:
    """The slices of ``x`` at the 1-D ``indices`` along ``axis``.

    Derivative: ``grad_output`` added where it was read.

    >>> import extensor as ex
    >>> ex.index_select([[1.0, 2.0], [3.0, 4.0]], [1], axis=1)
    tensor([[2.],
            [4.]])
    """
    return xp.take(x, indices, axis=axis)


@index_select.backward(kernel="index_select_backward")
def index_select_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor, axis: int
) -> Tensor:
    """Zeros of ``x_shape`` with ``grad_output`` added at ``indices`` along ``axis``."""
    axis = axis_index("index_select_backward", axis, len(x_shape))
    return place(grad_output, x_shape, (*(slice(None),) * axis, indices))


def check_fill(name: str, dtype: Any, value: Any) -> None:
    """A number to fill with: one that ``dtype`` can hold."""
    if isinstance(value, Tensor) or not isinstance(value, int | float | np.number | np.bool_):
        raise type_error(name, "value must be a number", value=type(value).__name__)
    if is_floating(dtype):
        return
    low, high = (0, 1) if dtype == bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not (low <= value <= high and value == int(value)):
        raise value_error(name, f"value must fit dtype {dtype}", value=value)


def _check_mask(name: str, x: Any, mask: Any, value: float) -> None:
    if mask.dtype != bool_:
        raise type_error(name, "mask must be bool", mask_dtype=str(mask.dtype))
    check_fill(name, x.dtype, value)


@op(kernel="masked_fill", shape=broadcast, check=_check_mask, widen=False)
def masked_fill(xp: Any, x: Array, mask: Indices, value: float) -> Any:
    """``value`` where ``mask`` is true, else ``x``. Derivative: ``grad_output``, 0 where filled.

    >>> import extensor as ex
    >>> ex.masked_fill([1.0, 2.0], [True, False], float("-inf"))
    tensor([-inf,   2.])
    """
    return xp.where(mask, xp.asarray(value, dtype=x.dtype), x)


@masked_fill.backward(kernel="masked_fill_backward")
def masked_fill_backward(grad_output: Tensor, x_shape: Shape, mask: Tensor) -> Tensor:
    """``grad_output`` with zeros where ``mask`` is true, summed to ``x_shape``."""
    return reduce_to_shape(masked_fill(grad_output, mask, 0.0), x_shape)
