from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, integers


def increasing(*shape: int):
    return lambda rng, dtype: np.sort(rng.integers(-4, 5, shape), axis=-1).astype(dtype)


def few(*shape: int):
    return lambda rng, dtype: np.asarray(rng.integers(-2, 3, shape)).astype(dtype)


def steps(*shape: int):
    """0, 1, 2, ..."""
    return lambda rng, dtype: np.arange(np.prod(shape)).reshape(shape).astype(dtype)


def searchsorted(x: Any, values: Any, side: str = "left") -> Any:
    if x.ndim == 1:
        return np.searchsorted(x, values, side)
    smaller = np.less if side == "left" else np.less_equal
    return smaller(x[..., None, :], values[..., None]).sum(-1)


def bucketize(x: Any, boundaries: Any, right: bool = False) -> Any:
    return np.digitize(x, boundaries, right=not right)


CASES = [
    Case("searchsorted", (increasing(6), few(2, 3)), searchsorted, integers=False),
    Case("searchsorted", (increasing(6), few()), searchsorted, {"side": "right"}, integers=False),
    Case(
        "searchsorted",
        (increasing(2, 3, 6), few(2, 3, 4)),
        searchsorted,
        {"side": "right"},
        integers=False,
    ),
    Case("searchsorted", (increasing(2, 6), few(2, 4)), searchsorted, integers=False),
    Case("bucketize", (few(2, 3), increasing(4)), bucketize, integers=False),
    Case("bucketize", (few(2, 3), increasing(4)), bucketize, {"right": True}, integers=False),
    Case("bucketize", (steps(2, 3), steps(6)), bucketize, {"right": True}, integers=False),
    Case("bincount", (integers(9, high=5),), np.bincount),
    Case("bincount", (integers(9, high=5),), np.bincount, {"minlength": 8}),
    Case("bincount", (integers(0),), np.bincount, {"minlength": 2}),
    Case("nonzero", (few(3, 4),), lambda x: np.nonzero(np.atleast_1d(x))),
    Case("nonzero", (few(),), lambda x: np.nonzero(np.atleast_1d(x))),
    Case("unique", (few(3, 4),), np.unique),
    Case("unique_inverse", (few(3, 4),), lambda x: np.unique(x, return_inverse=True)),
    Case("unique_counts", (few(3, 4),), lambda x: np.unique(x, return_counts=True)),
]

ERRORS = [
    Error(
        "searchsorted",
        ([[1.0, 2.0]], [[1.0], [2.0]]),
        "searchsorted: x must have one axis, or all axes of values but the last, "
        "got x_shape=(1, 2), values_shape=(2, 1)",
    ),
    Error(
        "searchsorted",
        ([1.0], [1.0], "middle"),
        "searchsorted: side must be 'left' or 'right', got side='middle'",
    ),
    Error(
        "bucketize",
        ([1.0], [[1.0]]),
        "bucketize: boundaries must have one axis, got boundaries_shape=(1, 1)",
    ),
    Error("bincount", ([[1]],), "bincount: x must have one axis, got x_shape=(1, 1)"),
    Error("bincount", ([-1, 2],), "bincount: x must not be negative, got x=-1"),
    Error(
        "bincount",
        ([1.5],),
        "bincount: x must be integers, got x_dtype='float32'",
        kind=TypeError,
    ),
    *(
        Error(
            name,
            ("nonsense",),
            f"{name}: dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or "
            "float64, got dtype=dtype('<U8')",
            kind=TypeError,
        )
        for name in ("nonzero", "unique", "unique_inverse", "unique_counts")
    ),
]
