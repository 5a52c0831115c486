from __future__ import annotations

import numpy as np

from .case import Case, Error, Singular, real

POSITIVE = {"low": 0.2, "high": 3.0}

CASES = [
    Case("exp", (real(2, 3),), np.exp),
    Case("expm1", (real(2, 3),), np.expm1),
    Case("log", (real(2, 3, **POSITIVE),), np.log),
    Case("log2", (real(2, 3, **POSITIVE),), np.log2),
    Case("log10", (real(2, 3, **POSITIVE),), np.log10),
    Case("log1p", (real(2, 3, low=-0.7),), np.log1p, integers=False),
    Case("sqrt", (real(2, 3, **POSITIVE),), np.sqrt),
    Case("rsqrt", (real(2, 3, **POSITIVE),), lambda x: x**-0.5),
]

INF = float("inf")
NAN = float("nan")
SINGULAR = [
    Singular("exp", (INF,)),
    Singular("exp", (NAN,)),
    Singular("expm1", (INF,)),
    Singular("log", (0.0,), ieee=(INF,)),
    Singular("log2", (0.0,), ieee=(INF,)),
    Singular("log10", (0.0,), ieee=(INF,)),
    Singular("log", (-1.0,)),
    Singular("log1p", (-1.0,)),
    Singular("sqrt", (0.0,), ieee=(INF,)),
    Singular("sqrt", (-0.0,), ieee=(INF,)),
    Singular("sqrt", (-1.0,)),
    Singular("rsqrt", (0.0,)),
    Singular("rsqrt", (-1.0,)),
]

ERRORS = [
    Error(
        f"{name}_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    )
    for name in ["exp", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt"]
] + [
    Error(
        "exp_backward",
        ([1, 2], [1.0, 2.0]),
        "exp_backward: grad_output must be floating, got grad_output_dtype='int64'",
        kind=TypeError,
    ),
]
