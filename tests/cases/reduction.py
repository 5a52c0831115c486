from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from .case import Case, Error, Singular, distinct, real

INF = float("inf")
NAN = float("nan")
NONZERO = {"avoid": (0.0,), "gap": 0.3}

AXES: tuple[dict[str, object], ...] = (
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (2, 0)},
    {"axis": (-1, 1), "keepdims": True},
    {"axis": ()},
)


def with_zeros(*places: int):
    """Numbers of shape (2, 4), zeros at these places of the first row."""

    def generate(rng, dtype):
        x = np.asarray(real(2, 4, **NONZERO)(rng, np.float64))
        x[0, list(places)] = 0
        return x.astype(dtype)

    return generate


CASES = (
    [Case("sum", (real(2, 3, 4),), np.sum, attributes) for attributes in AXES]
    + [Case("mean", (real(2, 3, 4),), np.mean, attributes) for attributes in AXES]
    + [Case("max_reduce", (distinct(2, 3, 4),), np.max, attributes) for attributes in AXES]
    + [Case("min_reduce", (distinct(2, 3, 4),), np.min, attributes) for attributes in AXES]
    + [
        Case("prod", (real(2, 3, 4, low=0.5),), np.prod, attributes, integers=False)
        for attributes in AXES
    ]
    + [Case("prod", (with_zeros(*places),), np.prod, {"axis": 1}) for places in [(), (1,), (0, 3)]]
    + [Case("prod", (with_zeros(0, 1, 2),), np.prod, {"axis": -1, "keepdims": True})]
    + [Case("prod", (real(n, **NONZERO),), np.prod) for n in (1, 2, 5, 7)]
    + [Case("cumsum", (real(2, 3, 4),), np.cumsum, {"axis": axis}) for axis in (0, 1, -1)]
    + [Case("var", (real(2, 3, 4),), np.var, attributes) for attributes in AXES]
    + [Case("var", (real(2, 3),), np.var, {"axis": 1, "ddof": ddof}) for ddof in (1, 0.5)]
    # Over no axis at all every deviation is 0, where the derivative jumps.
    + [Case("std", (real(2, 3, 4),), np.std, attributes) for attributes in AXES[:-1]]
    + [Case("std", (real(2, 3),), np.std, {"axis": 0, "keepdims": True, "ddof": 1})]
    + [
        Case("logsumexp", (real(2, 3, 4),), logsumexp, attributes, integers=False)
        for attributes in AXES[:-1]
    ]
    + [Case("norm", (real(2, 3, 4, **NONZERO),), np.linalg.vector_norm, {**a}) for a in AXES[:-1]]
    + [
        Case("norm", (real(2, 3, **NONZERO),), np.linalg.vector_norm, {"ord": ord, "axis": -1})
        for ord in (0.5, 1, 1.5, 3, 4)
    ]
    + [
        Case(
            "norm",
            (distinct(3, 5, spacing=0.3, centre=0.075),),  # their magnitudes differ too, by 0.15
            np.linalg.vector_norm,
            {"ord": INF, "axis": axis},
        )
        for axis in (1, None)
    ]
)

SINGULAR = [
    Singular("mean", ([INF, -INF, NAN],)),
    Singular("max_reduce", ([1.0, NAN],)),
    Singular("max_reduce", ([INF, INF],)),
    Singular("min_reduce", ([1.0, NAN],)),
    Singular("prod", ([INF, 0.0, NAN],)),
    Singular("var", ([INF, 0.0, 1.0],)),
    Singular("var", ([1.0],), {"ddof": 1}),
    Singular("std", ([2.0, 2.0, 2.0],)),
    Singular("std", ([INF, 2.0],)),
    Singular("std", ([1.0],), {"ddof": 1}),
    Singular("logsumexp", ([-INF, -INF],)),
    Singular("logsumexp", ([INF, 1.0],)),
    Singular("logsumexp", ([NAN, 1.0],)),
] + [
    Singular("norm", (x,), {"ord": ord})
    for ord in (0.5, 1, 1.5, 2, 3, INF)
    for x in ([0.0, 0.0], [0.0, 1.0], [INF, 1.0], [NAN, 1.0])
]

REDUCTIONS = ["sum", "mean", "max_reduce", "min_reduce", "prod", "var", "std", "logsumexp", "norm"]
WITH_OUTPUT = ["std", "logsumexp", "norm"]


def _axis_errors(name: str) -> list[Error]:
    """An axis out of range, not an int, given twice, and of a 0-d tensor."""
    x = [[1.0, 2.0], [3.0, 4.0]]
    return [
        Error(
            name,
            (x,),
            f"{name}: axis must be in [-2, 1] for 2 axes, got axis=2",
            {"axis": 2},
        ),
        Error(
            name, (x,), f"{name}: axis must be an int, got axis='x'", {"axis": "x"}, kind=TypeError
        ),
        Error(
            name,
            (x,),
            f"{name}: axis must not name an axis twice, got axis=(0, -2)",
            {"axis": (0, -2)},
        ),
        Error(
            name,
            (1.0,),
            f"{name}: axis must be -1 or 0 for a 0-d tensor, got axis=1",
            {"axis": 1},
        ),
    ]


def _gradient_errors(name: str) -> list[Error]:
    """A gradient that has not the shape of the reduction, and one that is not floating."""
    given: tuple[object, ...] = ((2, 3),) if name in ("sum", "mean") else (np.ones((2, 3), "f4"),)
    given += (np.ones(2, "f4"),) if name in WITH_OUTPUT else ()
    return [
        Error(
            f"{name}_backward",
            (np.ones(3, "f4"), *given),
            f"{name}_backward: grad_output must have shape (2,), got grad_output_shape=(3,)",
            {"axis": 1},
        ),
        Error(
            f"{name}_backward",
            ([1, 1], *given),
            f"{name}_backward: grad_output must be floating, got grad_output_dtype='int64'",
            {"axis": 1},
            kind=TypeError,
        ),
    ]


ERRORS = (
    [error for name in REDUCTIONS for error in _axis_errors(name) + _gradient_errors(name)]
    + [
        Error(
            name,
            (np.ones((2, 0), "f4"),),
            f"{name}: cannot reduce an axis of size 0, got shape=(2, 0), axis=-1",
            {"axis": -1},
        )
        for name in ("max_reduce", "min_reduce")
    ]
    + [
        Error(
            name,
            (np.ones((0, 0), "f4"),),
            f"{name}: cannot reduce an axis of size 0, got shape=(0, 0), axis=0",
            {"axis": 0},
        )
        for name in ("max_reduce", "min_reduce")
    ]
    + [
        Error(
            "norm",
            ([1.0],),
            f"norm: ord must be a number greater than 0 (or inf), got ord={ord!r}",
            {"ord": ord},
        )
        for ord in (0, -1, NAN)
    ]
    + [
        Error(
            "norm",
            ([1.0],),
            "norm: ord must be a number, got ord='str'",
            {"ord": "fro"},
            TypeError,
        )
    ]
    + [
        Error(
            "cumsum",
            ([1.0],),
            "cumsum: axis must be in [-1, 0] for 1 axes, got axis=1",
            {"axis": 1},
        ),
        Error(
            "cumsum",
            ([1.0],),
            "cumsum: axis must be an int, got axis=None",
            {"axis": None},
            kind=TypeError,
        ),
        Error("cumsum", (1.0, 1), "cumsum: axis must be -1 or 0 for a 0-d tensor, got axis=1"),
        Error(
            "cumsum_backward",
            ([1.0],),
            "cumsum_backward: axis must be in [-1, 0] for 1 axes, got axis=-2",
            {"axis": -2},
        ),
    ]
)
