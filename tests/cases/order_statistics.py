from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, Singular, distinct, real

NAN = float("nan")


def kthvalue(x: Any, k: int, axis: int = -1, keepdims: bool = False) -> Any:
    line = np.atleast_1d(x)
    order = np.take(np.argsort(line, axis=axis, stable=True), [k - 1], axis)
    values = np.take_along_axis(line, order, axis)
    if x.ndim and keepdims:
        return values, order
    return np.squeeze(values, axis), np.squeeze(order, axis)


def holes(*shape: int):
    """Numbers, some of them NaN."""

    def generate(rng: np.random.Generator, dtype: Any) -> Any:
        x = rng.uniform(-2, 2, shape)
        x.reshape(-1)[::3] = NAN
        return x.astype(dtype)

    return generate


WIDE = {"spacing": 0.25}
CASES = [
    *(
        Case("quantile", (distinct(2, 3, 4),), np.quantile, {"q": q, **attributes}, integers=False)
        for q, attributes in (
            (0.3, {}),
            (0.0, {"axis": 1}),
            (1.0, {"axis": -1}),
            (0.75, {"axis": (0, 2), "keepdims": True}),
            (0.5, {"axis": 0}),
        )
    ),
    Case("quantile", (real(),), np.quantile, {"q": 0.5}, integers=False),
    Case("median", (distinct(2, 3, 4),), np.median, integers=False),
    Case("median", (distinct(3, 5),), np.median, {"axis": 1}, integers=False),
    Case("median", (distinct(4, 3),), np.median, {"axis": (0, 1), "keepdims": True},
         integers=False),
    Case("kthvalue", (distinct(2, 5),), kthvalue, {"k": 2}),
    Case("kthvalue", (distinct(4, 3),), kthvalue, {"k": 3, "axis": 0, "keepdims": True}),
    Case("kthvalue", (distinct(),), kthvalue, {"k": 1}),
    *(
        Case(name, (generate(3, 4),), function, attributes, smooth=generate is real,
             integers=name == "nansum" and False)
        for name, function in (("nansum", np.nansum), ("nanmean", np.nanmean))
        for generate in (real, holes)
        for attributes in ({}, {"axis": 0}, {"axis": (0, 1), "keepdims": True})
    ),
]  # fmt: skip

SINGULAR = [
    *(Singular(name, ([NAN, 1.0],)) for name in ("nansum", "nanmean", "median")),
    Singular("quantile", ([NAN, 1.0],), {"q": 0.5}),
]

ERRORS = [
    Error("quantile", ([1.0], 1.5), "quantile: q must be in [0, 1], got q=1.5"),
    Error("quantile", ([1.0], "x"), "quantile: q must be a number, got q='str'", kind=TypeError),
    Error("median", ([],), "median: cannot reduce an axis of size 0, got shape=(0,), axis=None"),
    Error("kthvalue", ([1.0], 2), "kthvalue: k must be in [1, 1] for axis -1, got k=2"),
    Error("kthvalue", ([1.0], 0.5), "kthvalue: k must be an int, got k=0.5", kind=TypeError),
    *(
        Error(name, ([1.0], 1), f"{name}: axis must be in [-1, 0] for 1 axes, got axis=1")
        for name in ("nansum", "nanmean")
    ),
]
