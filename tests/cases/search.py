from __future__ import annotations

import numpy as np

from .case import Case, Error, Singular, booleans, distinct, integers, real

AXES: tuple[dict[str, object], ...] = (
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (2, 0)},
    {"axis": (-1, 1), "keepdims": True},
)

POSITIONS = [("argmax", np.argmax), ("argmin", np.argmin)]
TRUTHS = [("any", np.any), ("all", np.all), ("count_nonzero", np.count_nonzero)]

CASES = (
    [
        Case(name, (distinct(2, 3, 4),), reference, attributes, smooth=False)
        for name, reference in POSITIONS
        for attributes in AXES[:3]
    ]
    # Ties: the first of them.
    + [
        Case(name, (integers(3, 8, high=3),), reference, {"axis": 1}, smooth=False)
        for name, reference in POSITIONS
    ]
    + [
        Case(name, (booleans(2, 3, 4),), reference, attributes, smooth=False)
        for name, reference in TRUTHS
        for attributes in AXES
    ]
    + [
        Case(name, (real(2, 3),), reference, {"axis": 0}, smooth=False)
        for name, reference in TRUTHS
    ]
)

SINGULAR: list[Singular] = []

ERRORS = (
    [
        Error(
            name,
            ([[1.0]],),
            f"{name}: axis must be in [-2, 1] for 2 axes, got axis=-3",
            {"axis": -3},
        )
        for name in ["argmax", "argmin", "any", "all", "count_nonzero"]
    ]
    + [
        Error(
            name,
            ([[1.0]],),
            f"{name}: axis must be an int, got axis=(0, 1)",
            {"axis": (0, 1)},
            kind=TypeError,
        )
        for name in ("argmax", "argmin")
    ]
    + [
        Error(
            name,
            (np.ones((0, 3), "f4"),),
            f"{name}: cannot reduce an axis of size 0, got shape=(0, 3), axis={axis}",
            {"axis": axis},
        )
        for name in ("argmax", "argmin")
        for axis in (0, None)
    ]
    + [
        Error(
            name,
            ([[1.0]],),
            f"{name}: axis must not name an axis twice, got axis=(0, 0)",
            {"axis": (0, 0)},
        )
        for name in ("any", "all", "count_nonzero")
    ]
)
