from __future__ import annotations

import numpy as np

from .case import Case, Error, Singular, real

INF = float("inf")
NAN = float("nan")
NONZERO = {"avoid": (0.0,), "gap": 0.3}


def reduced(grad, shape):
    """The sum over added and stretched axes, by adding element after element."""
    total = np.zeros(shape, grad.dtype)
    padded = (1,) * (grad.ndim - len(shape)) + tuple(shape)
    view = total.reshape(padded)
    for index in np.ndindex(grad.shape):
        view[tuple(i if n > 1 else 0 for i, n in zip(index, padded, strict=True))] += grad[index]
    return total


def lifted(x, least):
    return np.where(np.abs(x) < least, np.copysign(least, x), x)


CASES = [
    Case("broadcast_to", (real(3, 1),), np.broadcast_to, {"shape": (2, 3, 4)}),
    Case("broadcast_to", (real(3),), np.broadcast_to, {"shape": (3,)}),
    Case("broadcast_to", (real(),), np.broadcast_to, {"shape": (2, 2)}),
    Case("broadcast_to", (real(1, 2),), np.broadcast_to, {"shape": (0, 2)}),
    # In bool a sum is "or", in 8 bits it runs over: gradients are floating.
    *[
        Case("reduce_to_shape", (real(2, 3, 4),), reduced, {"shape": shape}, integers=False)
        for shape in ((), (4,), (3, 1), (2, 1, 4), (1, 1, 1), (2, 3, 4))
    ],
    Case("chain_rule", (real(2, 3), real(2, 3)), np.multiply, integers=False),
    Case("chain_rule", (real(4, 1, 3), real(2, 1)), np.multiply, integers=False),
    Case("chain_divide", (real(2, 3), real(2, 3, **NONZERO)), np.divide, integers=False),
    Case("chain_divide", (real(4, 1, 3), real(2, 1, **NONZERO)), np.divide, integers=False),
    # At 0 it jumps from -least to least.
    Case("lift", (real(2, 3, avoid=(-0.5, 0.0, 0.5)),), lifted, {"least": 0.5}, integers=False),
    Case(
        "cast",
        (real(2, 3),),
        lambda x, dtype: x.astype(dtype),
        {"dtype": "float64"},
        integers=False,
    ),
    Case("identity", (real(2, 3),), lambda x: x),
    Case("clone", (real(2, 3),), lambda x: x.copy()),
]

SINGULAR = [
    Singular("chain_rule", (0.0, INF)),
    Singular("chain_rule", (1.0, NAN)),
    Singular("chain_rule", (NAN, 1.0)),
    Singular("chain_divide", (1.0, 0.0)),
    Singular("chain_divide", (0.0, 0.0)),
    Singular("chain_divide", (NAN, 1.0)),
    *[Singular("lift", (x,), {"least": 0.5}) for x in (0.0, 0.5, INF, NAN)],
]

ERRORS = [
    Error(
        "broadcast_to",
        ([1.0, 2.0],),
        "broadcast_to: must broadcast to shape (3,), got x_shape=(2,)",
        {"shape": (3,)},
    ),
    Error(
        "broadcast_to",
        ([1.0],),
        "broadcast_to: shape must not be negative, got shape=(-1,)",
        {"shape": (-1,)},
    ),
    Error(
        "broadcast_to_backward",
        ([1.0, 2.0], (3,)),
        "broadcast_to_backward: reduce_to_shape: shape (3,) must broadcast to that of grad, "
        "got grad_shape=(2,)",
    ),
    Error(
        "reduce_to_shape",
        ([1.0, 2.0], (3,)),
        "reduce_to_shape: shape (3,) must broadcast to that of grad, got grad_shape=(2,)",
    ),
    Error(
        "reduce_to_shape",
        ([1.0, 2.0], (2, 1)),
        "reduce_to_shape: shape (2, 1) must broadcast to that of grad, got grad_shape=(2,)",
    ),
    *[
        Error(
            name,
            ([1.0, 2.0], [1.0, 2.0, 3.0]),
            f"{name}: shapes must broadcast, got gradient_shape=(2,), {other}_shape=(3,)",
        )
        for name, other in (("chain_rule", "derivative"), ("chain_divide", "denominator"))
    ],
    *[
        Error(
            f"{name}_backward",
            ([1.0, 2.0], [1.0, 2.0, 3.0], 1.0),
            f"{name}_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
        )
        for name in ("chain_rule", "chain_divide")
    ],
    Error(
        "lift_backward",
        ([1.0, 2.0], [1.0, 2.0, 3.0], 0.5),
        "lift_backward: grad_output must have shape (3,), got grad_output_shape=(2,)",
    ),
    Error(
        "cast",
        ([1.0],),
        "cast: dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or float64, "
        "got dtype='nonsense'",
        {"dtype": "nonsense"},
        kind=TypeError,
    ),
    *[
        Error(
            f"{name}_backward",
            ([1, 2],),
            f"{name}_backward: grad_output must be floating, got grad_output_dtype='int64'",
            kind=TypeError,
        )
        for name in ("identity", "clone")
    ],
]
