from __future__ import annotations

import numpy as np

from .case import Case, Error, real

CASES = [
    Case("flip", (real(2, 3),), np.flip),
    Case("flip", (real(2, 3),), np.flip, {"axis": -1}),
    Case("flip", (real(2, 3, 2),), np.flip, {"axis": (0, 2)}),
    Case("flip", (real(),), np.flip),
    Case("roll", (real(2, 3),), np.roll, {"shift": 2}),
    Case("roll", (real(2, 3),), np.roll, {"shift": -1, "axis": 1}),
    Case("roll", (real(2, 3),), np.roll, {"shift": (1, 4), "axis": (0, -1)}),
    Case("roll", (real(0, 3),), np.roll, {"shift": 1, "axis": 0}),
    Case("roll", (real(),), np.roll, {"shift": 1}),
    Case("diag", (real(3),), np.diag),
    Case("diag", (real(3),), np.diag, {"k": 1}),
    Case("diag", (real(2),), np.diag, {"k": -2}),
    Case("diag", (real(0),), np.diag),
    Case("diag", (real(3, 3),), np.diag),
    Case("diag", (real(2, 4),), np.diag, {"k": 1}),
    Case("diag", (real(4, 2),), np.diag, {"k": -3}),
    Case("diag", (real(4, 2),), np.diag, {"k": 2}),
    Case("tril", (real(3, 3),), np.tril),
    Case("tril", (real(2, 3, 4),), np.tril, {"k": 1}),
    Case("tril", (real(3, 2),), np.tril, {"k": -1}),
    Case("triu", (real(3, 3),), np.triu),
    Case("triu", (real(2, 3, 4),), np.triu, {"k": -1}),
    Case("triu", (real(0, 2),), np.triu),
]

ERRORS = [
    Error("flip", ([1.0], 1), "flip: axis must be in [-1, 0] for 1 axes, got axis=1"),
    Error(
        "flip_backward",
        ([1.0], 1),
        "flip_backward: axis must be in [-1, 0] for 1 axes, got axis=1",
    ),
    Error("roll", ([1.0], 0.5), "roll: shift must be ints, got shift=0.5", kind=TypeError),
    Error(
        "roll",
        ([1.0], (1, 2), 0),
        "roll: shift and axis must have the same length, got shift=(1, 2), axis=0",
    ),
    Error(
        "roll_backward",
        ([1.0], 1, 2),
        "roll_backward: axis must be in [-1, 0] for 1 axes, got axis=2",
    ),
    Error("diag", (1.0,), "diag: x must have 1 or 2 axes, got x_shape=()"),
    Error("diag", ([1.0], 0.5), "diag: k must be an int, got k=0.5", kind=TypeError),
    Error(
        "diag_backward",
        ([1.0], (2, 2)),
        "diag_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
] + [
    Error(name, ([1.0],), f"{name}: x must have at least 2 axes, got x_shape=(1,)")
    for name in ("tril", "triu", "tril_backward", "triu_backward")
]
