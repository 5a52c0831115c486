from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .case import Case, Error, Singular, distinct, real

KINK = {"avoid": (0.0,), "gap": 0.1}


def leaky_relu(x: Any, alpha: Any = 0.01) -> Any:
    return np.maximum(x, 0) + alpha * np.minimum(x, 0)


def prelu(x: Any, alpha: Any) -> Any:
    if alpha.size == 1:
        return leaky_relu(x, alpha.reshape(()))
    return np.stack([leaky_relu(x[:, c], alpha[c]) for c in range(x.shape[1])], axis=1)


def gelu(x: Any, approximate: bool = False) -> Any:
    if approximate:
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return x * special.ndtr(x)


def elu(x: Any, alpha: float = 1.0) -> Any:
    return np.maximum(x, 0) + alpha * (np.exp(np.minimum(x, 0)) - 1)


def glu(x: Any, axis: int = -1) -> Any:
    a, b = np.split(x, 2, axis)
    return a * special.expit(b)


CASES = [
    Case("relu", (real(2, 3, **KINK),), lambda x: np.maximum(x, np.zeros_like(x))),
    Case("leaky_relu", (real(2, 3, **KINK),), leaky_relu),
    Case("leaky_relu", (real(2, 3, **KINK),), leaky_relu, {"alpha": 0.3}),
    Case("prelu", (real(2, 3, 2, **KINK), real(3)), prelu),
    Case("prelu", (real(2, 3, **KINK), real(3)), prelu),
    Case("prelu", (real(2, 3, **KINK), real(1)), prelu),
    Case("prelu", (real(5, **KINK), real()), prelu),
    Case("sigmoid", (real(2, 3),), special.expit),
    Case("sigmoid", (real(2, 3, low=-30, high=30),), special.expit),
    Case("tanh", (real(2, 3),), np.tanh),
    Case("gelu", (real(2, 3),), gelu),
    Case("gelu", (real(4, 5, low=-6, high=6),), gelu, {"approximate": False}),
    Case("gelu", (real(2, 3),), gelu, {"approximate": True}),
    Case("softmax", (real(2, 3),), lambda x: special.softmax(x, axis=-1)),
    Case("softmax", (real(2, 3, 4),), special.softmax, {"axis": 1}),
    Case("softmax", (real(2, 3, 4),), special.softmax, {"axis": -3}),
    Case("softmax", (real(3, 1),), special.softmax, {"axis": -1}),
    Case("log_softmax", (real(2, 3),), lambda x: special.log_softmax(x, axis=-1)),
    Case("log_softmax", (real(2, 3, 4),), special.log_softmax, {"axis": 1}),
    Case("log_softmax", (real(2, 3, 4),), special.log_softmax, {"axis": -3}),
    Case("elu", (real(2, 3, **KINK),), elu),
    Case("elu", (real(2, 3, **KINK),), elu, {"alpha": 0.5}),
    Case("selu", (real(2, 3, **KINK),), lambda x: 1.0507009873554805 * elu(x, 1.6732632423543772)),
    Case("softplus", (real(2, 3),), lambda x: np.log(1 + np.exp(x))),
    Case(
        "softplus",
        (real(2, 3),),
        lambda x, beta: np.log(1 + np.exp(beta * x)) / beta,
        {"beta": 3.0},
    ),
    # The second derivative jumps at 0.
    Case("softsign", (real(2, 3, **KINK),), lambda x: x / (1 + np.abs(x))),
    Case("silu", (real(2, 3),), lambda x: x * special.expit(x)),
    Case("mish", (real(2, 3),), lambda x: x * np.tanh(np.log(1 + np.exp(x)))),
    Case("relu6", (real(4, 5, low=-3, high=9, avoid=(0.0, 6.0)),), lambda x: np.clip(x, 0, 6)),
    Case("hard_sigmoid", (distinct(4, 5, spacing=0.77),), lambda x: np.clip(x + 3, 0, 6) / 6),
    Case("hard_swish", (distinct(4, 5, spacing=0.77),), lambda x: x * np.clip(x + 3, 0, 6) / 6),
    Case("hard_tanh", (distinct(4, 5, spacing=0.23),), lambda x: np.clip(x.astype("f8"), -1, 1)),
    Case(
        "hard_tanh",
        (distinct(4, 5, spacing=0.23),),
        lambda x, min_val, max_val: np.clip(x, min_val, max_val),
        {"min_val": -0.5, "max_val": 1.5},
        integers=False,
    ),
    Case(
        "hard_tanh",
        (distinct(4, 5, spacing=0.23),),
        lambda x, min_val, max_val: np.clip(x.astype("f8"), min_val, max_val),
        {"min_val": -1000.0, "max_val": 1.0},
    ),
    Case("glu", (real(2, 4),), glu),
    Case("glu", (real(4, 2, 3),), glu, {"axis": 0}),
    Case("glu", (real(2, 4, 3),), glu, {"axis": -2}),
]

INF = float("inf")
NAN = float("nan")
ELEMENTWISE = [
    "relu",
    "leaky_relu",
    "sigmoid",
    "tanh",
    "gelu",
    "elu",
    "selu",
    "softplus",
    "softsign",
    "silu",
    "mish",
    "relu6",
    "hard_sigmoid",
    "hard_swish",
    "hard_tanh",
]
SINGULAR = [
    *(Singular(name, (x,)) for name in ELEMENTWISE for x in (INF, -INF, NAN)),
    Singular("gelu", (INF,), {"approximate": True}),
    Singular("gelu", (-INF,), {"approximate": True}),
    Singular("prelu", (-INF, 0.0)),
    Singular("softmax", ([-INF, -INF],)),
    Singular("softmax", ([INF, 0.0],)),
    Singular("log_softmax", ([-INF, -INF],)),
    Singular("glu", ([INF, NAN],)),
]

ERRORS = [
    Error(
        f"{name}_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    )
    for name in (*ELEMENTWISE, "softmax", "log_softmax")
] + [
    Error(
        "prelu",
        ([[1.0, 2.0]], [1.0, 2.0, 3.0]),
        "prelu: alpha must be one number, or one for each channel on axis 1, "
        "got alpha_shape=(3,), x_shape=(1, 2)",
    ),
    Error(
        "prelu",
        ([1.0, 2.0], [1.0, 2.0]),
        "prelu: alpha must be one number, or one for each channel on axis 1, "
        "got alpha_shape=(2,), x_shape=(2,)",
    ),
    Error(
        "prelu_backward",
        ([1.0], [1.0, 2.0], 0.5),
        "prelu_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    Error(
        "gelu",
        ([1.0], "tanh"),
        "gelu: approximate must be True or False, got approximate='tanh'",
        kind=TypeError,
    ),
    Error(
        "gelu_backward",
        ([1.0], [1.0], "none"),
        "gelu_backward: approximate must be True or False, got approximate='none'",
        kind=TypeError,
    ),
    Error("softplus", ([1.0], 0.0), "softplus: beta must be above 0, got beta=0.0"),
    Error(
        "softplus_backward",
        ([1.0], [1.0], -1.0),
        "softplus_backward: beta must be above 0, got beta=-1.0",
    ),
    Error(
        "hard_tanh",
        ([1.0], 1.0, 1.0),
        "hard_tanh: min_val must be below max_val, got min_val=1.0, max_val=1.0",
    ),
    Error(
        "hard_tanh",
        (np.array([1, 2]), -0.5, 1.0),
        "hard_tanh: bounds of integers must be whole numbers, "
        "got min_val=-0.5, max_val=1.0, x_dtype='int64'",
    ),
    Error(
        "hard_tanh",
        (np.array([1, 2], "u1"), 256, 300),
        "hard_tanh: bounds must be in the range of x's dtype, "
        "got min_val=256, max_val=300, x_dtype='uint8'",
    ),
    Error(
        "hard_tanh_backward",
        ([1.0], [1.0], 2.0, 1.0),
        "hard_tanh_backward: min_val must be below max_val, got min_val=2.0, max_val=1.0",
    ),
    Error(
        "glu",
        ([[1.0, 2.0, 3.0]],),
        "glu: the size of axis must be even, got axis=-1, x_shape=(1, 3)",
    ),
    Error(
        "glu_backward",
        ([1.0, 2.0], [1.0, 2.0]),
        "glu_backward: grad_output must have shape (1,), got grad_output_shape=(2,)",
    ),
]
for name in ("softmax", "log_softmax"):
    ERRORS += [
        Error(
            name,
            ([1.0, 2.0], 1),
            f"{name}: axis must be in [-1, 0] for 1 axes, got axis=1",
        ),
        Error(
            f"{name}_backward",
            ([1.0, 2.0], [1.0, 2.0], 2),
            f"{name}_backward: axis must be in [-1, 0] for 1 axes, got axis=2",
        ),
        Error(
            name, ([1.0, 2.0], 0.5), f"{name}: axis must be an int, got axis=0.5", kind=TypeError
        ),
    ]
ERRORS += [
    Error("glu", ([1.0, 2.0], 1), "glu: axis must be in [-1, 0] for 1 axes, got axis=1"),
]
