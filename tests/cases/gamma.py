from __future__ import annotations

from scipy import special

from .case import Case, Error, Singular, distinct, real

INF = float("inf")
NAN = float("nan")
POSITIVE = {"low": 0.2, "high": 30.0}
# No whole number, and far enough from the poles for differences.
BETWEEN = {"spacing": 0.37, "centre": 0.05}

CASES = [
    Case("erfc", (real(2, 3),), special.erfc),
    Case("erfc", (real(4, 5, low=-5, high=5),), special.erfc),
    Case("erfinv", (real(4, 5, low=-0.95, high=0.95),), special.erfinv, integers=False),
    Case("erfinv", (real(2, 3, low=-0.1, high=0.1),), special.erfinv, integers=False),
    Case("lgamma", (real(4, 5, **POSITIVE),), special.gammaln, integers=False),
    Case("lgamma", (distinct(4, 5, **BETWEEN),), special.gammaln, integers=False),
    Case("digamma", (real(4, 5, **POSITIVE),), special.digamma, integers=False),
    Case("digamma", (distinct(4, 5, **BETWEEN),), special.digamma, integers=False),
    *(
        Case(
            "polygamma",
            (real(4, 5, **POSITIVE),),
            lambda x, n: special.polygamma(n, x),
            {"n": n},
            integers=False,
        )
        for n in (0, 1, 2, 5)
    ),
]

NAMES = ("erfc", "erfinv", "lgamma", "digamma")
SINGULAR = [
    *(Singular(name, (x,)) for name in NAMES for x in (0.0, -1.0, INF, -INF, NAN)),
    *(Singular("polygamma", (x,), {"n": 2}) for x in (0.0, -1.0, INF, -INF, NAN)),
]

ERRORS = [
    *(
        Error(
            f"{name}_backward",
            ([1.0, 2.0], [1.0, 2.0, 3.0]),
            f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
        )
        for name in NAMES
    ),
    Error("polygamma", ([1.0], -1), "polygamma: n must be in [0, 150], got n=-1"),
    Error("polygamma", ([1.0], 0.5), "polygamma: n must be an int, got n=0.5", kind=TypeError),
    Error(
        "polygamma_backward",
        ([1.0], [1.0], 150),
        "polygamma_backward: n must be below 150, got n=150",
    ),
]
