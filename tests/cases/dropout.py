from __future__ import annotations

from typing import Any

import numpy as np

from extensor.random import Generator, bernoulli

from .case import Case, Error, real


class Repeating(Generator):
    """Gives the same blocks to every call, so that a function of them can be differentiated."""

    def _take(self, blocks: int) -> tuple[int, int]:
        return self.seed, 0


def dropout(x: Any, p: float = 0.5, training: bool = True, generator: Any = None) -> Any:
    if not training or p == 0:
        return x
    return np.where(bernoulli(1 - p, x.shape, generator=generator) == 1, x, 0) / max(1 - p, 0.1)


def dropout2d(x: Any, p: float = 0.5, training: bool = True, generator: Any = None) -> Any:
    if not training:
        return x
    kept = bernoulli(1 - p, x.shape[:2], generator=generator).numpy()
    return x * kept.reshape(*x.shape[:2], *[1] * (x.ndim - 2)) / (1 - p)


G = Repeating(3)
CASES = [
    Case("dropout", (real(4, 5),), dropout, {"generator": G}, integers=False),
    Case("dropout", (real(3, 2, 3),), dropout, {"p": 0.2, "generator": G}, integers=False),
    Case("dropout", (real(7),), dropout, {"p": 0.0}),
    Case("dropout", (real(7),), dropout, {"p": 1.0}, integers=False),
    Case("dropout", (real(7),), dropout, {"p": 0.9, "training": False}),
    Case("dropout2d", (real(3, 4, 2, 2),), dropout2d, {"generator": G}, integers=False),
    Case("dropout2d", (real(3, 4, 3),), dropout2d, {"p": 0.2, "generator": G}, integers=False),
    Case("dropout2d", (real(3, 4),), dropout2d, {"p": 0.2, "generator": G}, integers=False),
    Case("dropout2d", (real(3, 4),), dropout2d, {"training": False}),
]

TWO = np.ones(2, "f4")
ERRORS = [
    *(
        row
        for op in ("dropout", "dropout2d")
        for row in (
            Error(op, (TWO[None], 1.5), f"{op}: p must be in [0, 1], got p=1.5"),
            Error(op, (TWO[None], float("nan")), f"{op}: p must be in [0, 1], got p=nan"),
            Error(op, (TWO[None], "0"), f"{op}: p must be a number, got p='str'", kind=TypeError),
            Error(
                op,
                (TWO[None],),
                f"{op}: generator must be a Generator, got generator='int'",
                {"generator": 1},
                kind=TypeError,
            ),
            Error(
                op,
                (np.ones((1, 2), "int64"),),
                f"{op}: x must be floating to drop from (x.astype makes it so), "
                "got x_dtype='int64'",
                kind=TypeError,
            ),
        )
    ),
    Error(
        "dropout_backward",
        (TWO, [True], 0.5),
        "dropout_backward: grad_output must have shape (1,), got grad_output_shape=(2,)",
    ),
    Error(
        "dropout2d",
        (TWO,),
        "dropout2d: x must have a batch axis and a channel axis, got x_shape=(2,)",
    ),
    Error(
        "dropout2d_backward",
        (TWO[None, :, None], [[True]], 0.5),
        "dropout2d_backward: mask must have shape (1, 2, 1), got mask_shape=(1, 1)",
    ),
]
