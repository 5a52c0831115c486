from __future__ import annotations

from scipy import special, stats

from .case import Case, Error, Singular, real

CASES = [
    Case("erf", (real(2, 3),), special.erf),
    Case("erf", (real(4, 5, low=-7, high=7),), special.erf),
    Case("normal_cdf", (real(4, 5, low=-8, high=8),), special.ndtr),
    Case("normal_pdf", (real(4, 5, low=-8, high=8),), stats.norm.pdf),
]

INF = float("inf")
NAN = float("nan")
SINGULAR = [
    Singular(name, (x,)) for name in ["erf", "normal_cdf", "normal_pdf"] for x in (INF, -INF, NAN)
]

ERRORS = [
    Error(
        "erf_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        "erf_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    Error(
        "normal_cdf_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        "normal_cdf_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    Error(
        "normal_pdf_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        "normal_pdf_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
]
