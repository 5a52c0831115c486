from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, booleans, integers, real


def _getitem(x: Any, index: Any) -> Any:
    return x[index]


def _place(x: Any, shape: tuple[int, ...], index: Any) -> Any:
    result = np.zeros(shape, x.dtype)
    np.add.at(result, index, x)
    return result


def _index_set(x: Any, updates: Any, index: Any) -> Any:
    result = x.copy()
    result[index] = updates
    return result


def _index_add(x: Any, updates: Any, index: Any) -> Any:
    result = x.copy()
    np.add.at(result, index, updates)
    return result


def _scatter_add(x: Any, indices: Any, updates: Any, axis: int) -> Any:
    result = x.copy()
    chosen = np.broadcast_shapes(indices.shape, updates.shape)
    for place in np.ndindex(chosen):
        target = list(place)
        target[axis] = np.broadcast_to(indices, chosen)[place]
        result[tuple(target)] += np.broadcast_to(updates, chosen)[place]
    return result


def _masked_fill(x: Any, mask: Any, value: float) -> Any:
    return np.where(mask, np.asarray(value, x.dtype), x)


MASK = np.array([[True, False, True], [False, False, True]])
BASIC = [
    0,
    -1,
    (1, 2),
    slice(1, None),
    (slice(None), slice(None, None, -2)),
    (None, 0, None),
    (Ellipsis, 1),
    (),
    slice(2, 2),
]
ARRAYS = [
    [1, 0, 1],
    np.array([[0, -1], [1, 1]]),
    (slice(None), [2, 2, 0, 2]),
    ([0, 1], [2, -1]),
    (np.array([[0], [1]]), np.array([2, 0, 2])),
    (0, [1, 1]),
    MASK,
    (slice(None), np.array([True, False, True])),
    (1, np.array([False, False, True])),
    np.array([], np.int64),
    True,
]
# The arrays' axes come first where a slice stands between them.
APART = [(0, slice(None), [1, 1, 3]), ([0, 1], None, [2, 1]), (slice(None), 0, [1, 2, 2])]

CASES = [
    *(Case("getitem", (real(2, 3),), _getitem, {"index": index}) for index in BASIC + ARRAYS),
    *(Case("getitem", (real(2, 3, 4),), _getitem, {"index": index}) for index in APART),
    Case("getitem", (real(),), _getitem, {"index": ()}),
    Case("getitem", (real(),), _getitem, {"index": None}),
    Case("getitem", (real(0, 3),), _getitem, {"index": (slice(None), 1)}),
    Case("place", (real(2),), _place, {"shape": (2, 3), "index": (slice(None), 1)}),
    Case("place", (real(3),), _place, {"shape": (4,), "index": [0, 2, 2]}),
    Case("place", (real(3),), _place, {"shape": (2, 3), "index": MASK}),
    Case("index_set", (real(2, 3), real(3)), _index_set, {"index": 1}),
    Case("index_set", (real(2, 3), real()), _index_set, {"index": (slice(None), slice(0, 2))}),
    Case("index_set", (real(4), real(3)), _index_set, {"index": [1, 3, 1]}),
    Case("index_set", (real(2, 3), real(2, 1)), _index_set, {"index": ([1, 1], slice(1, None))}),
    Case("index_set", (real(2, 3), real(3)), _index_set, {"index": MASK}),
    Case("index_add", (real(2, 3), real(3)), _index_add, {"index": 1}),
    Case("index_add", (real(4), real(3)), _index_add, {"index": [1, 3, 1]}),
    Case("index_add", (real(2, 3), real(1)), _index_add, {"index": ([1, 1, 0], slice(1, None))}),
    Case("index_add", (real(2, 3), real()), _index_add, {"index": MASK}),
    Case("gather", (real(2, 3), integers(2, 4, high=3)), np.take_along_axis, {"axis": 1}),
    Case("gather", (real(3, 2), integers(1, 2, low=-3, high=3)), np.take_along_axis, {"axis": -2}),
    Case("gather", (real(1, 3), integers(2, 4, high=3)), np.take_along_axis, {"axis": 1}),
    Case("gather", (real(2, 3), integers(1, 4, high=3)), np.take_along_axis, {"axis": 1}),
    Case("gather", (real(3), integers(0, high=3)), np.take_along_axis, {"axis": 0}),
    Case("scatter_add", (real(3), integers(5, high=3), real(5)), _scatter_add, {"axis": 0}),
    Case(
        "scatter_add",
        (real(2, 3), integers(2, 4, low=-3, high=3), real(2, 4)),
        _scatter_add,
        {"axis": -1},
    ),
    Case("scatter_add", (real(2, 3), integers(4, 3, high=2), real(3)), _scatter_add, {"axis": 0}),
    Case("take", (real(2, 3), integers(4, low=-6, high=6)), np.take),
    Case("take", (real(2, 3), integers(2, 2, high=3)), np.take, {"axis": 1}),
    Case("take", (real(2, 3), integers(high=2)), np.take, {"axis": -2}),
    Case("take", (real(2, 3), integers(0, high=2)), np.take, {"axis": 0}),
    Case("index_select", (real(2, 3), integers(4, high=3)), np.take, {"axis": 1}),
    Case("index_select", (real(2, 3), integers(3, low=-2, high=2)), np.take, {"axis": -2}),
    Case("masked_fill", (real(2, 3), booleans(2, 3)), _masked_fill, {"value": 1.0}),
    Case("masked_fill", (real(2, 3), booleans(3)), _masked_fill, {"value": 1}),
    Case("masked_fill", (real(3), booleans(2, 1)), _masked_fill, {"value": 0.0}),
]


def _error(name: str, arguments: tuple[Any, ...], text: str, **options: Any) -> Error:
    return Error(name, arguments, f"{name}: {text}", **options)


X = np.ones((2, 3))
OUTSIDE = [
    (2, "index must be in [-2, 1] for axis 0, got index=2"),
    ((0, -4), "index must be in [-3, 2] for axis 1, got index=-4"),
    ((slice(None), [0, 5]), "index must be in [-3, 2] for axis 1, got index=5"),
    ((0, 0, 0), "too many indices for 2 axes, got indices=3"),
    ((..., 0, ...), "an index may have only one ..., got ellipses=2"),
    (([0, 1], [0, 1, 2]), "index arrays must broadcast together, got index_shapes=[(2,), (3,)]"),
    (
        np.ones(3, bool),
        "a boolean index must have the shape (2,) of its axes, got index_shape=(3,)",
    ),
    (
        0.5,
        "an index must be an int, a slice, None, ... or an array of ints or bools, "
        "got index='float'",
    ),
    (
        np.array([0.5]),
        "an index must be an int, a slice, None, ... or an array of ints or bools, "
        "got index='float64'",
    ),
]

ERRORS = [
    *(_error("getitem", (X, index), text, kind=IndexError) for index, text in OUTSIDE),
    *(_error("index_set", (X, 0.0, index), text, kind=IndexError) for index, text in OUTSIDE),
    *(_error("index_add", (X, 0.0, index), text, kind=IndexError) for index, text in OUTSIDE),
    _error(
        "getitem",
        (np.ones((0, 2)), [0]),
        "axis 0 has size 0 and no element, got index=0",
        kind=IndexError,
    ),
    _error(
        "getitem",
        (X, slice(0.5, None)),
        "the parts of a slice must be ints or None, got slice=slice(0.5, None, None)",
        kind=TypeError,
    ),
    _error(
        "getitem",
        (X, slice(None, None, 0)),
        "the step of a slice must not be 0, got slice=slice(None, None, 0)",
    ),
    _error(
        "getitem_backward",
        ([1.0, 2.0], (2, 3), 0),
        "grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    _error("place", ([1.0, 2.0], (2, 3), 0), "x must have shape (3,), got x_shape=(2,)"),
    _error(
        "place", (1.0, (2,), 2), "index must be in [-2, 1] for axis 0, got index=2", kind=IndexError
    ),
    _error(
        "place_backward",
        ([1.0, 2.0], (), (3,), 0),
        "grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    *(
        _error(
            name,
            (X, [1.0, 2.0], 0),
            "updates must broadcast to shape (3,), got updates_shape=(2,)",
        )
        for name in ("index_set", "index_add")
    ),
    *(
        _error(
            f"{name}_backward",
            ([1.0, 2.0], (3,), (), 0),
            "grad_output must have shape (3,), got grad_output_shape=(2,)",
        )
        for name in ("index_set", "index_add")
    ),
    *(
        _error(name, (X, [[5]], *rest, 1), "indices must be in [-3, 2] for axis 1, got index=5")
        for name, rest in (("gather", ()), ("scatter_add", (0.0,)), ("take", ()))
    ),
    *(
        _error(
            name,
            (X, [[0.5]], *rest, 1),
            "indices must be integers, got indices_dtype='float32'",
            kind=TypeError,
        )
        for name, rest in (("gather", ()), ("scatter_add", (0.0,)), ("take", ()))
    ),
    *(
        _error(
            name,
            (X, [0], *rest, 1),
            "indices must have as many axes as x, got x_shape=(2, 3), indices_shape=(1,)",
        )
        for name, rest in (("gather", ()), ("scatter_add", (0.0,)))
    ),
    _error(
        "gather",
        (X, np.zeros((3, 1), int), 1),
        "sizes must be equal or 1 except along axis 1, got x_shape=(2, 3), indices_shape=(3, 1)",
    ),
    _error(
        "gather_backward",
        ([1.0], (3,), [0, 1], 0),
        "grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    _error(
        "scatter_add",
        (np.ones((1, 3)), np.zeros((2, 1), int), 0.0, 1),
        "indices must not be larger than x except along axis 1, "
        "got x_shape=(1, 3), indices_shape=(2, 1)",
    ),
    _error(
        "scatter_add",
        ([1.0], [0], [1.0, 2.0], 0),
        "updates must broadcast to shape (1,), got updates_shape=(2,)",
    ),
    _error(
        "scatter_add_backward",
        ([1.0], (3,), [0, 1], (2,), 0),
        "grad_output must have shape (3,), got grad_output_shape=(1,)",
    ),
    _error("take", (X, [6]), "indices must be in [-6, 5] for the flattened tensor, got index=6"),
    _error("take", (X, [0], 2), "axis must be in [-2, 1] for 2 axes, got axis=2"),
    _error(
        "take_backward",
        ([1.0], (3,), [0, 1], 0),
        "grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    _error("index_select", (X, [[0]], 0), "indices must have one axis, got indices_shape=(1, 1)"),
    _error("index_select", (X, [-3], 0), "indices must be in [-2, 1] for axis 0, got index=-3"),
    _error(
        "index_select_backward",
        ([1.0], (3,), [0, 1], 0),
        "grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    _error(
        "masked_fill",
        (X, [1, 0, 1], 0.0),
        "mask must be bool, got mask_dtype='int64'",
        kind=TypeError,
    ),
    _error(
        "masked_fill", (X, [True], "a"), "value must be a number, got value='str'", kind=TypeError
    ),
    _error("masked_fill", ([1, 2], [True], 0.5), "value must fit dtype int64, got value=0.5"),
    _error(
        "masked_fill",
        (X, [True, False], 0.0),
        "shapes must broadcast, got x_shape=(2, 3), mask_shape=(2,)",
    ),
    _error(
        "masked_fill_backward",
        ([1.0], (2,), [True]),
        "grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
]
