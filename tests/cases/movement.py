from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real


def _flatten(x: Any, start_axis: int = 0, end_axis: int = -1) -> Any:
    if x.ndim == 0:
        return x.reshape(1)
    start, end = start_axis % x.ndim, end_axis % x.ndim
    return x.reshape((*x.shape[:start], -1, *x.shape[end + 1 :]))


CASES = [
    Case("reshape", (real(2, 3),), np.reshape, {"shape": (3, 2)}),
    Case("reshape", (real(2, 6),), np.reshape, {"shape": (2, -1, 3)}),
    Case("reshape", (real(),), np.reshape, {"shape": (1, 1)}),
    Case("reshape", (real(0, 3),), np.reshape, {"shape": (3, 0)}),
    Case("squeeze", (real(1, 3, 1),), np.squeeze),
    Case("squeeze", (real(1, 3, 1),), np.squeeze, {"axis": 0}),
    Case("squeeze", (real(1, 3, 1),), np.squeeze, {"axis": (-1, 0)}),
    Case("squeeze", (real(),), np.squeeze),
    Case("squeeze", (real(1, 0),), np.squeeze),
    Case("unsqueeze", (real(2, 3),), np.expand_dims, {"axis": 1}),
    Case("unsqueeze", (real(2, 3),), np.expand_dims, {"axis": -1}),
    Case("unsqueeze", (real(2, 3),), np.expand_dims, {"axis": (0, -2)}),
    Case("unsqueeze", (real(),), np.expand_dims, {"axis": 0}),
    Case("flatten", (real(2, 3, 4),), _flatten),
    Case("flatten", (real(2, 3, 4),), _flatten, {"start_axis": 1}),
    Case("flatten", (real(2, 3, 4),), _flatten, {"start_axis": -3, "end_axis": 1}),
    Case("flatten", (real(2, 3),), _flatten, {"start_axis": 1, "end_axis": 1}),
    Case("flatten", (real(),), _flatten),
    Case("ravel", (real(2, 3),), np.ravel),
    Case("ravel", (real(),), np.ravel),
    Case("transpose", (real(2, 3),), np.transpose),
    Case("transpose", (real(2, 3, 4),), np.transpose, {"axes": (1, 2, 0)}),
    Case("transpose", (real(2, 3, 4),), np.transpose, {"axes": (-1, 0, -2)}),
    Case("transpose", (real(),), np.transpose),
    Case("permute", (real(2, 3, 4),), np.transpose, {"axes": (2, 0, 1)}),
    Case("permute", (real(2, 0),), np.transpose, {"axes": (1, 0)}),
    Case("swapaxes", (real(2, 3, 4),), np.swapaxes, {"axis1": 0, "axis2": -1}),
    Case("swapaxes", (real(2, 3),), np.swapaxes, {"axis1": 1, "axis2": 1}),
    Case("moveaxis", (real(2, 3, 4),), np.moveaxis, {"source": 0, "destination": -1}),
    Case("moveaxis", (real(2, 3, 4),), np.moveaxis, {"source": (0, 1), "destination": (2, 0)}),
]

ERRORS = [
    Error(
        "reshape", ([1.0, 2.0], (-1, -1)), "reshape: only one size may be -1, got shape=(-1, -1)"
    ),
    Error("reshape", ([1.0, 2.0], (3,)), "reshape: (2,) has 2 elements, got shape=(3,)"),
    Error(
        "squeeze",
        ([[1.0, 2.0]], 1),
        "squeeze: axis must have size 1, got axis=1, x_shape=(1, 2)",
    ),
    Error(
        "squeeze_backward",
        ([1.0, 2.0], (1, 3)),
        "squeeze_backward: grad_output must have shape (1, 3) but for axes of size 1, "
        "got grad_output_shape=(2,)",
    ),
    Error("unsqueeze", ([1.0], 2), "unsqueeze: axis must be in [-2, 1] for 2 axes, got axis=2"),
    Error(
        "unsqueeze",
        ([1.0], None),
        "unsqueeze: axis must be an int or a tuple of ints, got axis=None",
        kind=TypeError,
    ),
    Error(
        "unsqueeze_backward",
        ([[1.0, 2.0]], (3,)),
        "unsqueeze_backward: grad_output must have shape (3,) but for axes of size 1, "
        "got grad_output_shape=(1, 2)",
    ),
    Error(
        "flatten",
        ([[1.0]], 1, 0),
        "flatten: start_axis must not come after end_axis, got start_axis=1, end_axis=0",
    ),
    Error(
        "flatten",
        ([1.0], 1),
        "flatten: start_axis must be in [-1, 0] for 1 axes, got start_axis=1",
    ),
    Error(
        "flatten_backward",
        ([1.0, 2.0, 3.0], (2, 2)),
        "flatten_backward: grad_output must have shape (2, 2) with neighbouring axes joined, "
        "got grad_output_shape=(3,)",
    ),
    Error(
        "ravel_backward",
        ([1.0, 2.0, 3.0], (2, 2)),
        "ravel_backward: grad_output must have shape (4,), got grad_output_shape=(3,)",
    ),
    Error(
        "swapaxes",
        ([1.0], 0, 1),
        "swapaxes: axis2 must be in [-1, 0] for 1 axes, got axis2=1",
    ),
    Error(
        "moveaxis",
        ([[1.0]], (0, 1), (0,)),
        "moveaxis: source and destination must have the same length, "
        "got source=(0, 1), destination=(0,)",
    ),
    Error(
        "moveaxis",
        ([[1.0]], (0, 0), (0, 1)),
        "moveaxis: source must not name an axis twice, got source=(0, 0)",
    ),
] + [
    Error(name, ([[1.0]], axes), f"{name}: axes must name each of 2 axes once, got axes={axes}")
    for name in ("transpose", "permute", "transpose_backward", "permute_backward")
    for axes in ((0,), (1, -1))
]
