from __future__ import annotations

import numpy as np

from .case import Case, Error, Singular, real

INSIDE = {"low": -0.8, "high": 0.8}
NONZERO = {"avoid": (0.0,), "gap": 0.3}

CASES = [
    Case("sin", (real(2, 3),), np.sin),
    Case("cos", (real(2, 3),), np.cos),
    Case("tan", (real(2, 3, low=-1.2, high=1.2),), np.tan),
    Case("asin", (real(2, 3, **INSIDE),), np.arcsin),
    Case("acos", (real(2, 3, **INSIDE),), np.arccos),
    Case("atan", (real(2, 3),), np.arctan),
    Case("atan2", (real(2, 3, **NONZERO), real(2, 3, **NONZERO)), np.arctan2),
    Case("atan2", (real(4, 1, 3, **NONZERO), real(2, 1, low=0.5)), np.arctan2),
    Case("sinh", (real(2, 3),), np.sinh),
    Case("cosh", (real(2, 3),), np.cosh),
    Case("asinh", (real(2, 3),), np.arcsinh),
    Case("asinh", (real(2, 3, low=-200, high=200, **NONZERO),), np.arcsinh),
    Case("acosh", (real(2, 3, low=1.2, high=4.0),), np.arccosh),
    Case("atanh", (real(2, 3, **INSIDE),), np.arctanh, integers=False),
]

INF = float("inf")
NAN = float("nan")
SINGULAR = [
    Singular("sin", (INF,)),
    Singular("cos", (INF,)),
    Singular("tan", (INF,)),
    Singular("asin", (1.0,)),
    Singular("asin", (2.0,)),
    Singular("acos", (-1.0,)),
    Singular("atan", (NAN,)),
    Singular("atan2", (0.0, 0.0)),
    Singular("atan2", (INF, -INF)),
    Singular("sinh", (INF,)),
    Singular("cosh", (-INF,)),
    Singular("asinh", (NAN,)),
    Singular("acosh", (1.0,)),
    Singular("acosh", (0.0,)),
    Singular("atanh", (1.0,)),
]

ERRORS = [
    Error(
        f"{name}_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    )
    for name in [
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "asinh",
        "acosh",
        "atanh",
    ]
] + [
    Error(
        "atan2",
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        "atan2: shapes must broadcast, got a_shape=(2,), b_shape=(3,)",
    ),
    Error(
        "atan2_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0], 1.0),
        "atan2_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
]
