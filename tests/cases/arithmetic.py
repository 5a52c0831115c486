from __future__ import annotations

import numpy as np

from .case import Case, Error, Singular, distinct, real

NONZERO = {"avoid": (0.0,), "gap": 0.3}

CASES = [
    Case("add", (real(2, 3), real(2, 3)), np.add),
    Case("add", (real(4, 1, 3), real(2, 1)), np.add),
    Case("subtract", (real(2, 3), real(3)), np.subtract),
    Case("multiply", (real(2, 3), real(2, 1)), np.multiply),
    Case("divide", (real(2, 3), real(3, **NONZERO)), np.divide),
    Case("power", (real(2, 3, low=0.3), real(3)), np.power, integers=False),
    Case("floor_divide", (real(2, 3), real(3, **NONZERO)), np.floor_divide, smooth=False),
    Case("modulo", (real(2, 3, avoid=(0.0,)), real(1, low=3.1, high=3.2)), np.remainder),
    Case("maximum", (distinct(2, 3), real(3, low=0.05, high=0.1)), np.maximum),
    Case("minimum", (distinct(2, 3), real(3, low=0.05, high=0.1)), np.minimum),
    Case("negative", (real(2, 3),), np.negative),
    Case("reciprocal", (real(2, 3, **NONZERO),), np.reciprocal, integers=False),
    Case("square", (real(2, 3),), np.square),
]

INF = float("inf")
SINGULAR = [
    Singular("divide", (1.0, 0.0), ieee=(INF, -INF)),
    Singular("power", (0.0, -0.5), ieee=(-INF, -INF)),
    Singular("power", (-0.0, 0.5), ieee=(INF, 0.0)),
    Singular("power", (0.0, 0.0), ieee=(0.0, 0.0)),
    Singular("reciprocal", (0.0,)),
    Singular("multiply", (INF, 0.0)),
    Singular("modulo", (1.0, 0.0)),
]

ERRORS = [
    Error(
        name,
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        f"{name}: shapes must broadcast, got a_shape=(2,), b_shape=(3,)",
    )
    for name in ("add subtract multiply divide power floor_divide modulo maximum minimum").split()
] + [
    Error(
        f"{name}_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0], 1.0),
        f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    )
    for name in "multiply divide power modulo maximum minimum".split()
]
