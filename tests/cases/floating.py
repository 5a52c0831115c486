from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .case import Case, Error, Singular, distinct, real

INF = float("inf")
NAN = float("nan")
NONZERO = {"avoid": (0.0,), "gap": 0.2}


def halves(*shape: int):
    """Multiples of a half, 0 among them."""
    return lambda rng, dtype: np.asarray(rng.integers(-2, 3, shape) / 2).astype(dtype)


def quotients(*shape: int):
    """Numbers that are far from any multiple of 1 and of 1.5."""
    return lambda rng, dtype: np.asarray(rng.integers(-9, 9, shape) * 3 + 0.4).astype(dtype)


def divisors(*shape: int):
    return lambda rng, dtype: np.asarray(rng.choice([-1.5, 1.0, 1.5], shape)).astype(dtype)


def nan_to_num(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def odd(*shape: int):
    """Numbers, infinities and NaN."""
    values = np.resize([0.5, -1.5, INF, -INF, NAN, 2.0], shape)
    return lambda rng, dtype: rng.permuted(values).reshape(shape).astype(dtype)


CASES = [
    Case("copysign", (real(2, 3, **NONZERO), real(2, 3, **NONZERO)), np.copysign),
    Case("copysign", (real(2, 1, **NONZERO), real(4, 1, 3, **NONZERO)), np.copysign),
    Case("fmod", (quotients(2, 3), divisors(2, 3)), np.fmod, integers=False),
    Case("fmod", (quotients(4, 1, 3), divisors(2, 1)), np.fmod, integers=False),
    Case("hypot", (real(2, 3, **NONZERO), real(2, 3, **NONZERO)), np.hypot),
    Case("hypot", (real(4, 1, 3, **NONZERO), real(2, 1, **NONZERO)), np.hypot),
    Case("heaviside", (real(2, 3, **NONZERO), real(2, 3)), np.heaviside),
    Case("heaviside", (halves(4, 3), real(3)), np.heaviside, smooth=False),
    Case("lerp", (real(2, 3), real(2, 3), real(2, 3)), lambda a, b, w: a + w * (b - a)),
    Case("lerp", (real(2, 1), real(3), real()), lambda a, b, w: a + w * (b - a)),
    # Integers are as they are; the reference gives NumPy's dtypes.
    Case("nan_to_num", (real(2, 3),), nan_to_num),
    Case("nan_to_num", (odd(3, 4),), nan_to_num, {"posinf": 9.0, "neginf": -7.0}, smooth=False,
         integers=False),
    Case("nan_to_num", (odd(3, 4),), nan_to_num, {"nan": 2.5, "posinf": 3.0, "neginf": 4.0},
         smooth=False, integers=False),
    Case("sinc", (real(2, 3),), np.sinc),
    Case("sinc", (distinct(4, 5, spacing=0.03, centre=0.01),), np.sinc),
    Case("logaddexp", (real(2, 3), real(2, 3)), np.logaddexp),
    Case("logaddexp", (real(4, 1, 3, low=-40, high=40), real(2, 1)), np.logaddexp),
    Case("logaddexp2", (real(2, 3), real(2, 3)), np.logaddexp2),
    Case("logaddexp2", (real(4, 1, 3, low=-40, high=40), real(2, 1)), np.logaddexp2),
    Case("xlogy", (real(2, 3), real(2, 3, low=0.2)), special.xlogy, integers=False),
    Case("xlogy", (real(2, 1), real(4, 1, 3, low=0.2)), special.xlogy, integers=False),
    Case("exp2", (real(2, 3),), np.exp2),
    Case("exp2", (real(4, 5, low=-14, high=10),), np.exp2),
]  # fmt: skip

SINGULAR = [
    *(Singular(name, (x,)) for name in ("sinc", "exp2", "nan_to_num") for x in (INF, -INF, NAN)),
    *(
        Singular(name, (x, y))
        for name in ("copysign", "fmod", "hypot", "heaviside", "logaddexp", "logaddexp2", "xlogy")
        for x in (0.0, INF, NAN)
        for y in (0.0, -INF)
    ),
    Singular("lerp", (INF, -INF, NAN)),
]

ERRORS = [
    *(
        Error(
            name,
            ([1.0, 2.0], [1.0, 2.0, 3.0]),
            f"{name}: shapes must broadcast, got {first}_shape=(2,), {second}_shape=(3,)",
        )
        for name, first, second in (
            ("copysign", "a", "b"),
            ("fmod", "a", "b"),
            ("hypot", "a", "b"),
            ("heaviside", "x", "values"),
            ("logaddexp", "a", "b"),
            ("logaddexp2", "a", "b"),
            ("xlogy", "a", "b"),
        )
    ),
    *(
        Error(
            f"{name}_backward",
            ([1.0, 2.0], [1.0, 2.0, 3.0]),
            f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
        )
        for name in ("sinc", "exp2", "nan_to_num")
    ),
    Error(
        "lerp",
        ([1.0, 2.0], [1.0, 2.0, 3.0], 0.5),
        "lerp: shapes must broadcast, got start_shape=(2,), end_shape=(3,), weight_shape=()",
    ),
    Error(
        "nan_to_num",
        ([1.0], None),
        "nan_to_num: nan must be a number, got nan='NoneType'",
        kind=TypeError,
    ),
]
