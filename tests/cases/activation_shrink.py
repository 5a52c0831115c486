from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from extensor.random import uniform

from .activation import elu
from .case import Case, Error, Singular, real
from .dropout import Repeating

INF = float("inf")
NAN = float("nan")
HALF = {"avoid": (-0.5, 0.5)}


def soft_shrink(x: Any, lambd: float = 0.5) -> Any:
    return np.sign(x) * np.maximum(np.abs(x) - lambd, 0)


def hard_shrink(x: Any, lambd: float = 0.5) -> Any:
    return x * (np.abs(x) > lambd)


def rrelu(
    x: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    slope: Any = (lower + upper) / 2
    if training:
        slope = uniform(lower, upper, x.shape, "float32", generator=generator).numpy()
    return np.maximum(x, 0) + slope * np.minimum(x, 0)


CASES = [
    Case("soft_shrink", (real(3, 4, **HALF),), soft_shrink),
    Case("soft_shrink", (real(3, 4, avoid=(-1.0, 1.0)),), soft_shrink, {"lambd": 1.0}),
    Case("hard_shrink", (real(3, 4, **HALF),), hard_shrink),
    Case("hard_shrink", (real(3, 4, avoid=(-1.0, 1.0)),), hard_shrink, {"lambd": 1.0}),
    Case("tanh_shrink", (real(3, 4),), lambda x: x - np.tanh(x)),
    Case(
        "threshold",
        (real(3, 4, **HALF),),
        lambda x, threshold, value: np.where(x > threshold, x, value),
        {"threshold": 0.5, "value": -3.0},
    ),
    Case("rrelu", (real(3, 4, avoid=(0.0,)),), rrelu),
    Case("rrelu", (real(3, 4, avoid=(0.0,)),), rrelu, {"lower": 0.5, "upper": 1.5}),
    Case(
        "rrelu",
        (real(3, 4, avoid=(0.0,)),),
        rrelu,
        {"training": True, "generator": Repeating(3)},
        integers=False,
    ),
    Case("log_sigmoid", (real(3, 4),), special.log_expit),
    Case("log_sigmoid", (real(3, 4, low=-30, high=30),), special.log_expit),
    # The second derivative jumps at 0.
    Case("celu", (real(3, 4, avoid=(0.0,)),), elu),
    Case(
        "celu",
        (real(3, 4, avoid=(0.0,)),),
        lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
        {"alpha": 0.5},
    ),
    Case("softmin", (real(2, 3),), lambda x: special.softmax(-x, axis=-1), integers=False),
    Case(
        "softmin", (real(2, 3, 4),), lambda x, axis: special.softmax(-x, axis), {"axis": 1},
        integers=False,
    ),
    Case("softmin", (real(3, 1),), lambda x, axis: special.softmax(-x, axis), {"axis": -1},
         integers=False),
]  # fmt: skip

NAMES = ("soft_shrink", "hard_shrink", "tanh_shrink", "log_sigmoid", "celu")
SINGULAR = [
    *(Singular(name, (x,)) for name in NAMES for x in (INF, -INF, NAN)),
    *(Singular("threshold", (x,), {"threshold": 0.0, "value": 1.0}) for x in (0.0, INF, NAN)),
    *(Singular("rrelu", (x,)) for x in (0.0, -INF, NAN)),
    Singular("softmin", ([INF, INF],)),
]

ERRORS = [
    *(
        Error(
            f"{name}_backward",
            ([1.0, 2.0], [1.0, 2.0, 3.0]),
            f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
        )
        for name in (*NAMES, "softmin")
    ),
    *(
        Error(name, ([1.0], -1.0), f"{name}: lambd must be 0 or greater, got lambd=-1.0")
        for name in ("soft_shrink", "hard_shrink")
    ),
    Error("celu", ([1.0], 0.0), "celu: alpha must not be 0, got alpha=0.0"),
    Error(
        "threshold_backward",
        ([1.0], [1.0, 2.0], 0.0, 1.0),
        "threshold_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    Error(
        "rrelu", ([1.0], 1.0, 0.5), "rrelu: lower must not be above upper, got lower=1.0, upper=0.5"
    ),
    Error(
        "rrelu_backward",
        ([1.0, 2.0], [1.0, 2.0], [0.5]),
        "rrelu_backward: slope must have shape (2,) or (), got slope_shape=(1,)",
    ),
    Error("softmin", ([1.0, 2.0], 1), "softmin: axis must be in [-1, 0] for 1 axes, got axis=1"),
]
