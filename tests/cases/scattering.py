from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, distinct, integers, real

FUNCTIONS = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}


def _visits(x: Any, indices: Any, updates: Any, axis: int) -> Any:
    """For each update its place in ``x`` and its value, in C order."""
    shape = np.broadcast_shapes(
        indices.shape, *((np.delete(x.shape, axis % x.ndim).size and [_ones(x, axis)]) or [])
    )
    indices, updates = np.broadcast_to(indices, shape), np.broadcast_to(updates, shape)
    for place in np.ndindex(*shape):
        target = list(place)
        target[axis] = indices[place]
        yield tuple(target), updates[place]


def _ones(x: Any, axis: int) -> tuple[int, ...]:
    shape = list(x.shape)
    shape[axis] = 1
    return tuple(shape)


def scatter(x: Any, indices: Any, updates: Any, axis: int) -> Any:
    if x.ndim == 0:
        return updates
    result = np.array(x)
    for target, value in _visits(x, indices, updates, axis):
        result[target] = value
    return result


def scatter_reduce(
    x: Any, indices: Any, updates: Any, axis: int, reduce: str, include_self: bool = True
) -> Any:
    if x.ndim == 0:
        return FUNCTIONS[reduce]([x, updates] if include_self else [updates])
    found: dict[Any, list[Any]] = {}
    for target, value in _visits(x, indices, updates, axis):
        found.setdefault(target, [x[target]] if include_self else []).append(value)
    result = np.array(x)
    for target, values in found.items():
        result[target] = FUNCTIONS[reduce](values)
    return result


CASES = [
    Case("scatter", (real(4), integers(6, high=4), real(6)), scatter, {"axis": 0}),
    Case("scatter", (real(3, 4), integers(3, 2, low=-4, high=4), real(3, 2)), scatter, {"axis": 1}),
    Case("scatter", (real(3, 4), integers(5, 4, high=3), real(5, 4)), scatter, {"axis": 0}),
    Case("scatter", (real(3, 4), integers(3, 2, high=4), real(1, 2)), scatter, {"axis": -1}),
    Case("scatter", (real(3, 3), integers(3, 3, high=3), real(3, 3)), scatter, {"axis": 0}),
    Case("scatter", (real(), integers(high=1), real()), scatter, {"axis": 0}),
    Case("scatter", (real(3), integers(0, high=1), real(0)), scatter, {"axis": 0}),
    *(
        Case(
            "scatter_reduce",
            (distinct(3, 4), integers(3, 5, high=4), distinct(3, 5, centre=0.1)),
            scatter_reduce,
            {"axis": 1, "reduce": reduce, "include_self": include_self},
            integers=False,
        )
        for reduce in FUNCTIONS
        for include_self in (True, False)
    ),
    Case(
        "scatter_reduce",
        (real(3, 3), integers(3, 3, high=3), real(3, 3)),
        scatter_reduce,
        {"axis": 0, "reduce": "sum"},
        integers=False,
    ),
    *(
        Case(
            "scatter_reduce",
            (distinct(4), integers(5, high=4), distinct(5, centre=0.1)),
            scatter_reduce,
            {"axis": 0, "reduce": reduce},
            integers=False,
        )
        for reduce in FUNCTIONS
    ),
    Case(
        "scatter_reduce",
        (real(), integers(high=1), real()),
        scatter_reduce,
        {"axis": 0, "reduce": "mean"},
        integers=False,
    ),
    Case(
        "scatter_reduce",
        (real(3, 2), integers(4, 2, high=3), real(4, 1)),
        scatter_reduce,
        {"axis": 0, "reduce": "prod"},
        integers=False,
    ),
]

ERRORS = [
    Error(
        "scatter",
        ([1.0, 2.0], [2], [1.0], 0),
        "scatter: indices must be in [-2, 1] for axis 0, got index=2",
    ),
    Error(
        "scatter_reduce",
        ([1.0, 2.0], [1], [1.0], 0, "max"),
        "scatter_reduce: reduce must be 'sum', 'prod', 'mean', 'amax' or 'amin', got reduce='max'",
    ),
    Error(
        "scatter_backward",
        ([1.0], (2,), [1], (1,), 0),
        "scatter_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
]
