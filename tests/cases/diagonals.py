from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real


def diag_embed(x: Any, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    side = x.shape[-1] + abs(offset)
    whole = np.zeros((*x.shape[:-1], side, side), x.dtype)
    for k in range(x.shape[-1]):
        whole[..., k + max(0, -offset), k + max(0, offset)] = x[..., k]
    return np.moveaxis(whole, (-2, -1), (axis1, axis2))


CASES = [
    *(
        Case(name, (real(*shape),), function, attributes)
        for name, function in (("diagonal", np.diagonal), ("trace", np.trace))
        for shape, attributes in (
            ((3, 4), {}),
            ((3, 4), {"offset": 1}),
            ((3, 4), {"offset": -2}),
            ((2, 3, 4), {"axis1": 1, "axis2": 2}),
            ((2, 3, 4), {"offset": 1, "axis1": -1, "axis2": 0}),
        )
    ),
    Case("diagonal", (real(2, 2),), np.diagonal, {"offset": 5}),
    Case("trace", (real(0, 2),), np.trace),
    Case("diag_embed", (real(3),), diag_embed),
    Case("diag_embed", (real(2, 3),), diag_embed, {"offset": 2}),
    Case("diag_embed", (real(2, 3),), diag_embed, {"offset": -1, "axis1": 0, "axis2": 2}),
    Case("diag_embed", (real(2, 0),), diag_embed),
]

ERRORS = [
    *(
        Error(
            name,
            ([[1.0]], 0, 0, -2),
            f"{name}: axis1 and axis2 must differ, got axis1=0, axis2=-2",
        )
        for name in ("diagonal", "trace")
    ),
    Error("diagonal", ([[1.0]], 0.5), "diagonal: offset must be an int, got offset=0.5",
          kind=TypeError),
    Error(
        "diagonal_backward",
        ([1.0], (2, 2)),
        "diagonal_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    Error("diag_embed", (1.0,), "diag_embed: x must have at least one axis, got x_shape=()"),
]  # fmt: skip
