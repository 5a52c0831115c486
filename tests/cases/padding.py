from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real

NUMPY_NAMES = {"replicate": "edge", "circular": "wrap"}


def _pad(x: Any, pad_width: Any, mode: str = "constant", value: float = 0.0) -> Any:
    if mode == "constant":
        return np.pad(x, pad_width, constant_values=value)
    return np.pad(x, pad_width, mode=NUMPY_NAMES.get(mode, mode))


CASES = [
    Case("pad", (real(2, 3),), _pad, {"pad_width": 1}),
    Case("pad", (real(2, 3),), _pad, {"pad_width": (2, 1), "value": 1.0}),
    Case("pad", (real(2, 3),), _pad, {"pad_width": ((0, 1), (2, 0)), "value": 1.0}),
    Case("pad", (real(2, 3),), _pad, {"pad_width": ((1,), (2,))}),
    Case("pad", (real(0, 3),), _pad, {"pad_width": ((1, 0), (0, 0))}),
    Case("pad", (real(),), _pad, {"pad_width": 1}),
    Case("pad", (real(3, 4),), _pad, {"pad_width": ((2, 1), (0, 3)), "mode": "reflect"}),
    Case("pad", (real(2),), _pad, {"pad_width": 4, "mode": "reflect"}),
    Case("pad", (real(1),), _pad, {"pad_width": 2, "mode": "reflect"}),
    Case("pad", (real(3),), _pad, {"pad_width": (2, 5), "mode": "symmetric"}),
    Case("pad", (real(3, 4),), _pad, {"pad_width": ((2, 1), (0, 3)), "mode": "edge"}),
    Case("pad", (real(3),), _pad, {"pad_width": 2, "mode": "replicate"}),
    Case("pad", (real(3, 4),), _pad, {"pad_width": ((2, 1), (0, 3)), "mode": "wrap"}),
    Case("pad", (real(2),), _pad, {"pad_width": 5, "mode": "circular"}),
]

ERRORS = [
    Error(
        "pad",
        ([1.0], ((1, 1), (1, 1))),
        "pad: pad_width must be an int, a pair, or a pair for each of 1 axes, "
        "got pad_width=((1, 1), (1, 1))",
    ),
    Error("pad", ([1.0], -1), "pad: pad_width must not be negative, got pad_width=-1"),
    Error("pad", ([1.0], 0.5), "pad: pad_width must be ints, got pad_width=0.5", kind=TypeError),
    Error(
        "pad",
        ([1.0], 1, "mirror"),
        "pad: mode must be one of constant, reflect, symmetric, edge, replicate, wrap, circular, "
        "got mode='mirror'",
    ),
    Error(
        "pad",
        ([1], 1, "constant", 0.5),
        "pad: value must fit dtype int64, got value=0.5",
    ),
    Error(
        "pad",
        (np.zeros((2, 0)), 1, "edge"),
        "pad: axis 1 of size 0 can only be padded with a constant, got mode='edge'",
    ),
    Error(
        "pad_backward",
        ([1.0, 2.0], (2,), 1),
        "pad_backward: grad_output must have shape (4,), got grad_output_shape=(2,)",
    ),
]
