from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, distinct


def _order(x: Any, axis: int = -1, descending: bool = False) -> Any:
    line = np.moveaxis(np.atleast_1d(x), axis, -1)
    result = np.empty(line.shape, np.int64)
    for place in np.ndindex(line.shape[:-1]):
        # Python's sort is stable in both directions.
        keys = line[place].tolist()
        result[place] = sorted(range(len(keys)), key=keys.__getitem__, reverse=descending)
    return np.moveaxis(result, -1, axis).reshape(x.shape)


def _sort(x: Any, axis: int = -1, descending: bool = False) -> Any:
    if x.ndim == 0:
        return x
    return np.take_along_axis(x, _order(x, axis, descending), axis)


def _topk(x: Any, k: int, axis: int = -1, largest: bool = True) -> Any:
    if x.ndim == 0:
        return x, np.int64(0)
    indices = np.take(_order(x, axis, largest), np.arange(k), axis)
    return np.take_along_axis(x, indices, axis), indices


CASES = [
    Case("argsort", (distinct(2, 5),), _order),
    Case("argsort", (distinct(3, 4),), _order, {"axis": 0, "descending": True}),
    Case("argsort", (distinct(),), _order),
    Case("argsort", (distinct(0, 2),), _order, {"axis": 0}),
    Case("sort", (distinct(2, 5),), _sort),
    Case("sort", (distinct(3, 2, 2),), _sort, {"axis": 0}),
    Case("sort", (distinct(3, 4),), _sort, {"axis": -2, "descending": True}),
    Case("sort", (distinct(),), _sort),
    Case("sort", (distinct(2, 0),), _sort),
    Case("topk", (distinct(2, 5),), _topk, {"k": 2}),
    Case("topk", (distinct(4, 3),), _topk, {"k": 3, "axis": 0}),
    Case("topk", (distinct(2, 5),), _topk, {"k": 5, "axis": -1, "largest": False}),
    Case("topk", (distinct(2, 5),), _topk, {"k": 0}),
    Case("topk", (distinct(),), _topk, {"k": 1}),
]

ERRORS = [
    *(
        Error(name, ([1.0], 1), f"{name}: axis must be in [-1, 0] for 1 axes, got axis=1")
        for name in ("sort", "argsort")
    ),
    Error(
        "sort_backward",
        ([1.0], [1.0, 2.0]),
        "sort_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    Error("topk", ([1.0], 2), "topk: k must be in [0, 1] for axis 0, got k=2"),
    Error("topk", ([1.0], 0.5), "topk: k must be an int, got k=0.5", kind=TypeError),
    Error("topk", ([1.0], 1, 3), "topk: axis must be in [-1, 0] for 1 axes, got axis=3"),
    Error(
        "topk_backward",
        ([1.0], (3,), [0, 1]),
        "topk_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
]
