from __future__ import annotations

import numpy as np

from .case import Case, Error, Singular, booleans, real

INF = float("inf")
NAN = float("nan")
# Neither a whole number nor halfway between two.
BETWEEN = {"avoid": tuple(x / 2 for x in range(-4, 5))}
ROUNDING = {"ceil": np.ceil, "floor": np.floor, "round": np.round, "trunc": np.trunc}
COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()
BITS = "bitwise_and bitwise_or bitwise_xor".split()
LOGIC = "logical_and logical_or logical_xor".split()
TESTS = "isnan isinf isfinite".split()


def few(*shape: int):
    """Numbers from a few values, so that many are equal and many are 0."""
    return lambda rng, dtype: np.asarray(rng.integers(-1, 2, shape)).astype(dtype)


def bits(*shape: int):
    """Integers, whatever the dtype of the check."""
    return lambda rng, dtype: rng.integers(-100, 100, shape)


def special(*shape: int):
    """Numbers, infinities and NaN."""
    values = [0.0, -1.5, INF, -INF, NAN, 2.0]
    return lambda rng, dtype: np.asarray(rng.choice(values, shape)).astype(dtype)


CASES = [
    Case("where", (booleans(2, 3), real(2, 3), real(2, 3)), np.where),
    Case("where", (booleans(3), real(2, 1), real(4, 1, 3)), np.where),
    Case("where", (booleans(), real(), real(2)), np.where),
    # NumPy rounds a bool to float16; test_round_of_bools in test_dtypes.py says what is expected.
    *[Case(n, (real(2, 3, **BETWEEN),), ROUNDING[n], integers=n != "round") for n in ROUNDING],
    Case("sign", (real(2, 3, avoid=(0.0,)),), np.sign, integers=False),
    Case("abs", (real(2, 3, avoid=(0.0,)),), np.abs),
    *[
        Case(
            "clip",
            (real(2, 3, avoid=tuple(bound for bound in bounds if bound is not None)),),
            lambda x, min_val, max_val: x.clip(min_val, max_val),
            {"min_val": bounds[0], "max_val": bounds[1]},
            integers=False,
        )
        for bounds in ((-1.0, 1.0), (0.0, 6.0), (0.5, 0.5), (None, 0.5), (-0.5, None), (1.0, -0.5))
    ],
    *[Case(name, (few(2, 3), few(2, 3)), getattr(np, name)) for name in COMPARISONS + LOGIC],
    *[Case(name, (few(4, 1, 3), few(2, 1)), getattr(np, name)) for name in COMPARISONS + LOGIC],
    Case("logical_not", (few(2, 3),), np.logical_not),
    *[Case(name, (bits(2, 3), bits(2, 3)), getattr(np, name)) for name in BITS],
    *[Case(name, (booleans(4, 1, 3), booleans(2, 1)), getattr(np, name)) for name in BITS],
    *[Case("bitwise_not", (x,), np.bitwise_not) for x in (bits(2, 3), booleans(2, 3))],
    *[Case(name, (special(3, 4),), getattr(np, name), integers=False) for name in TESTS],
]

SINGULAR = [
    *[Singular(name, (x,)) for name in [*ROUNDING, "sign", "abs"] for x in (0.0, INF, NAN)],
    *[Singular("clip", (x,), {"min_val": -1.0, "max_val": 1.0}) for x in (1.0, -INF, NAN)],
]

ERRORS = [
    *[
        Error(
            name,
            ([1.0, 2.0], [1.0, 2.0, 3.0]),
            f"{name}: shapes must broadcast, got a_shape=(2,), b_shape=(3,)",
        )
        for name in COMPARISONS + LOGIC
    ],
    *[
        Error(
            name,
            ([1.0, 2.0], 1)[: 1 if name == "bitwise_not" else 2],
            f"{name}: inputs must be booleans or integers, got dtype='float32'",
            kind=TypeError,
        )
        for name in [*BITS, "bitwise_not"]
    ],
    Error(
        "where",
        ([True, False], [1.0, 2.0, 3.0], 0.0),
        "where: shapes must broadcast, got cond_shape=(2,), a_shape=(3,), b_shape=()",
    ),
    Error(
        "where_backward",
        ([1.0, 2.0], [True, False, True], (3,), ()),
        "where_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    *[
        Error(
            f"{name}_backward",
            ([1, 2],),
            f"{name}_backward: grad_output must be floating, got grad_output_dtype='int64'",
            kind=TypeError,
        )
        for name in [*ROUNDING, "sign", "negative"]
    ],
    *[
        Error(
            f"{name}_backward",
            ([1.0, 2.0], [1.0, 2.0, 3.0]),
            f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
        )
        for name in ("abs", "square", "reciprocal")
    ],
    Error(
        "clip_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0], 0.0, 1.0),
        "clip_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    *[
        Error(
            name,
            ("nonsense",),
            f"{name}: dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or "
            "float64, got dtype=dtype('<U8')",
            kind=TypeError,
        )
        for name in ["logical_not", *TESTS]
    ],
]
