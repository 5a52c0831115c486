from __future__ import annotations

import numpy as np

from .case import Case, Error, real

CASES = [
    Case("kron", (real(2, 3), real(3, 2)), np.kron),
    Case("kron", (real(3), real(2, 2)), np.kron),
    Case("kron", (real(2, 1, 2), real(3)), np.kron),
    Case("kron", (real(), real(3)), np.kron),
    Case("cross", (real(2, 3), real(2, 3)), np.cross, integers=False),
    Case("cross", (real(3, 3), real(3, 3)), np.cross, integers=False),
    Case("cross", (real(4, 1, 3), real(2, 3)), np.cross, integers=False),
    Case("cross", (real(3, 2), real(3, 2)), lambda a, b, axis: np.cross(a, b, axis=axis),
         {"axis": 0}, integers=False),
    *(
        Case("rot90", (real(*shape),), np.rot90, attributes)
        for shape, attributes in (
            ((2, 3), {}),
            ((2, 3), {"k": 2}),
            ((2, 3), {"k": -1}),
            ((2, 3), {"k": 4}),
            ((2, 3, 4), {"k": 3, "axes": (2, 0)}),
        )
    ),
]  # fmt: skip

ERRORS = [
    Error(
        "cross",
        ([1.0, 2.0], [1.0, 2.0, 3.0]),
        "cross: vectors must have 3 elements along axis, got a_shape=(2,), axis=-1",
    ),
    Error(
        "kron_backward",
        ([1.0], [1.0, 2.0], [1.0]),
        "kron_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
    Error("rot90", ([[1.0]], 1, (0, -2)), "rot90: axes must differ, got axes=(0, -2)"),
    Error("rot90", ([[1.0]], 0.5), "rot90: k must be an int, got k=0.5", kind=TypeError),
]
