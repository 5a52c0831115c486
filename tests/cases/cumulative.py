from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, Singular, distinct, real

INF = float("inf")
NAN = float("nan")


def few(*shape: int):
    """Numbers with several zeros in a line."""
    return lambda rng, dtype: np.asarray(rng.choice([0.0, 0.0, 1.5, -2.0], shape)).astype(dtype)


def logcumsumexp(x: Any, axis: int = 0) -> Any:
    return np.logaddexp.accumulate(x.astype(np.float64), axis) if x.ndim else x


def cumprod(x: Any, axis: int = 0) -> Any:
    return np.cumprod(x, axis) if x.ndim else np.cumprod(x, None)[0]


def _extreme(function: Any) -> Any:
    def accumulate(x: Any, axis: int = 0) -> Any:
        if x.ndim == 0:
            return x, np.int64(0)
        values = function.accumulate(x, axis)
        indices = np.zeros(x.shape, np.int64)
        for place in np.ndindex(x.shape):
            line = np.moveaxis(x, axis, -1)[
                (
                    np.delete(place, axis % x.ndim).tolist()
                    and tuple(np.delete(place, axis % x.ndim))
                )
                or ...
            ]
            here = place[axis]
            wanted = values[place]
            indices[place] = max(k for k in range(here + 1) if line[k] == wanted)
        return values, indices

    return accumulate


CASES = [
    *(
        Case(name, (real(2, 3, 4),), function, {"axis": axis}, integers=name == "cumprod")
        for name, function in (("cumprod", cumprod), ("logcumsumexp", logcumsumexp))
        for axis in (0, 1, -1)
    ),
    Case("cumprod", (few(3, 5),), cumprod, {"axis": 1}),
    Case("cumprod", (real(7),), cumprod, {"axis": -1}),
    Case("cumprod", (real(),), cumprod),
    Case("cumprod", (real(2, 0),), cumprod, {"axis": 1}),
    Case("cumprod", (real(1, 2),), cumprod),
    Case("logcumsumexp", (real(9, low=-30, high=30),), logcumsumexp, integers=False),
    Case("logcumsumexp", (real(),), logcumsumexp),
    Case("logcumsumexp", (real(0, 2),), logcumsumexp),
    *(
        Case(name, (distinct(*shape),), _extreme(function), {"axis": axis})
        for name, function in (("cummax", np.maximum), ("cummin", np.minimum))
        for shape, axis in (((2, 5), 0), ((3, 4), 1), ((4, 2, 2), -1), ((), 0), ((0, 3), 1))
    ),
]

SINGULAR = [
    *(Singular("cumprod", ([0.0, x],)) for x in (0.0, INF, NAN)),
    *(Singular("logcumsumexp", ([x, y],)) for x in (INF, -INF, NAN) for y in (0.0, x)),
]

ERRORS = [
    *(
        Error(name, ([1.0, 2.0], 1), f"{name}: axis must be in [-1, 0] for 1 axes, got axis=1")
        for name in ("cumprod", "logcumsumexp", "cummax", "cummin")
    ),
    Error(
        "cumprod_backward",
        ([1.0], [1.0, 2.0]),
        "cumprod_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
    ),
]
