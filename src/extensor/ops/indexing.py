"""Reading and writing at indices. Reading and adding are each other's derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import Shape, Shapes, check_shape, target
from extensor.arrays.supplement import add_at, set_at
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor, wrap
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.indices import (
    Index,
    check_updates,
    explained,
    has_integer_array,
    in_order,
    last_written,
    plain,
    read_index,
    selected,
    with_own_arrays,
)
from extensor.ops.selection import where


def _getitem(x: Array, index: Index) -> Sequence[Any]:
    return x, read_index("getitem", index)


def _getitem_shape(name: str, shapes: Shapes, index: Any) -> Shape:
    return selected(name, shapes["x"], index)


@op(kernel="getitem", shape=_getitem_shape, widen=False, arguments=_getitem)
def getitem(xp: Any, x: Array, index: Index) -> Any:
    """``x[index]`` with all of NumPy's indices: slices, ints, None, ..., arrays of ints or bools.

    Without arrays the result is a view. Derivative: ``grad_output`` added where it was read, as
    often as it was read, and 0 elsewhere.

    Parameters
    ----------
    x
        The tensor to read.

    Returns
    -------
    Tensor
        The elements at ``index``: a view of ``x``, or a copy if ``index`` has arrays.

    Raises
    ------
    IndexError
        If an index is out of range or there are too many of them.

    >>> import extensor as ex
    >>> x = ex.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> x[[0, 0, 2]].sum().backward()
    >>> x.grad
    tensor([2., 0., 1.])
    >>> ex.getitem([[1.0, 2.0], [3.0, 4.0]], (slice(None), 0))
    tensor([1., 3.])
    >>> ex.getitem_backward([1.0, 1.0], (3,), [0, 0])
    tensor([2., 0., 0.])
    """
    items = with_own_arrays(plain("getitem", index))
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


def _place(x: Array, shape: int | Shape, index: Index) -> Sequence[Any]:
    return x, shape, read_index("place", index)


def _place_shape(name: str, shapes: Shapes, shape: Any, index: Any) -> Shape:
    whole = target(name, shape)
    check_shape(name, "x", shapes["x"], selected(name, whole, index))
    return whole


@op(kernel="place", shape=_place_shape, arguments=_place)
def place(xp: Any, x: Array, shape: int | Shape, index: Index) -> Any:
    """Zeros of ``shape`` with ``x`` added at ``index``. Derivative: ``grad_output[index]``.

    Parameters
    ----------
    x
        The values to add. They broadcast to what ``index`` selects.

    Returns
    -------
    Tensor
        Zeros with ``x`` added, in ``shape``.

    >>> import extensor as ex
    >>> ex.place([1.0, 2.0, 3.0], (4,), [0, 2, 2])
    tensor([1., 0., 5., 0.])
    >>> ex.place([1.0, 2.0], 4, [0, 3])
    tensor([1., 0., 0., 2.])
    >>> ex.place_backward([1.0, 2.0, 3.0, 4.0], (2,), 4, [0, 3])
    tensor([1., 4.])
    """
    items = with_own_arrays(plain("place", index))
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


def _index_set(x: Array, updates: Array, index: Index) -> Sequence[Any]:
    return x, updates, read_index("index_set", index)


def _index_add(x: Array, updates: Array, index: Index) -> Sequence[Any]:
    return x, updates, read_index("index_add", index)


def _updated_shape(name: str, shapes: Shapes, index: Any) -> Shape:
    x, updates = tuple(shapes["x"]), tuple(shapes["updates"])
    check_updates(name, updates, selected(name, x, index))
    return x


@op(kernel="index_set", shape=_updated_shape, widen=False, arguments=_index_set)
def index_set(xp: Any, x: Array, updates: Array, index: Index) -> Any:
    """A copy of ``x`` with ``updates`` written at ``index``: ``x.at[index].set(updates)``.

    Where an index is named twice the last value stays. Derivative: ``grad_output`` to ``updates``
    where written, if the value stayed, and to ``x`` elsewhere.

    Parameters
    ----------
    x
        The tensor to copy.
    updates
        The values to write. They broadcast to what ``index`` selects.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    IndexError
        If an index is out of range.

    >>> import extensor as ex
    >>> ex.index_set([1.0, 2.0, 3.0], 9.0, 1)
    tensor([1., 9., 3.])
    >>> ex.index_set_backward([1.0, 1.0, 1.0], (3,), (), 1)
    index_set_gradients(grad_x=tensor([1., 0., 1.]), grad_updates=tensor(1.))
    """
    items = with_own_arrays(plain("index_set", index))
    if has_integer_array(items):
        updates = xp.asarray(
            xp.broadcast_to(updates, selected("index_set", x.shape, items)), copy=True
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


@op(kernel="index_add", shape=_updated_shape, arguments=_index_add)
def index_add(xp: Any, x: Array, updates: Array, index: Index) -> Any:
    """A copy of ``x`` with ``updates`` added at ``index``: ``x.at[index].add(updates)``.

    An index named twice is added to twice. Derivative: ``grad_output`` to ``x``,
    ``grad_output[index]`` to ``updates``.

    Parameters
    ----------
    x
        The tensor to copy.
    updates
        The values to add. They broadcast to what ``index`` selects.

    Returns
    -------
    Tensor
        The copy, in the shape of ``x``.

    Raises
    ------
    IndexError
        If an index is out of range.

    >>> import extensor as ex
    >>> ex.index_add([1.0, 2.0, 3.0], 10.0, [0, 0, 1])
    tensor([21., 12.,  3.])
    >>> ex.index_add([1.0, 2.0, 3.0], [1.0, 1.0], [0, 0])
    tensor([3., 2., 3.])
    >>> ex.index_add_backward([1.0, 1.0, 1.0], (3,), (2,), [0, 0])
    index_add_gradients(grad_x=tensor([1., 1., 1.]), grad_updates=tensor([1., 1.]))
    """
    items = with_own_arrays(plain("index_add", index))
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
        return At(self._x, read_index("at", index))

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
