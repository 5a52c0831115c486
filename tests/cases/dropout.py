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


def _by_channel(axes: int) -> Any:
    """``dropout2d`` of a batch, or of one sample without it."""

    def drop(x: Any, **how: Any) -> Any:
        return dropout2d(x, **how) if x.ndim == axes + 2 else dropout2d(x[None], **how)[0]

    return drop


LOWEST = -1.7580993408473766


def alpha_dropout(
    x: Any, p: float = 0.5, training: bool = False, generator: Any = None, channels: bool = False
) -> Any:
    if not training or p == 0:
        return x
    shape = (*x.shape[:2], *[1] * (x.ndim - 2)) if channels else x.shape
    kept = bernoulli(1 - p, shape, generator=generator).numpy() == 1
    if p == 1:
        return np.zeros_like(x)
    factor = (1 - p + p * (1 - p) * LOWEST**2) ** -0.5
    return factor * (np.where(kept, x, LOWEST) - p * LOWEST)


def feature_alpha_dropout(x: Any, **how: Any) -> Any:
    return alpha_dropout(x, **how, channels=True)


G = Repeating(3)
ON = {"training": True, "generator": G}
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
    *(
        Case(f"dropout{axes}d", (real(*shape),), _by_channel(axes), how, integers=False)
        for axes, shape in ((1, (3, 4, 2)), (1, (5, 2)), (3, (2, 3, 2, 1, 2)), (3, (5, 1, 2, 2)))
        for how in ({"generator": G}, {"p": 0.2, "generator": G}, {"training": False})
    ),
    *(
        Case(function.__name__, (real(3, 4, 2),), function, how, integers=False)
        for function in (alpha_dropout, feature_alpha_dropout)
        for how in (ON, {**ON, "p": 0.2}, {"p": 0.2}, {**ON, "p": 1.0})
    ),
]

TWO = np.ones(2, "f4")
ERRORS = [
    *(
        row
        for op, x in (
            ("dropout", TWO[None]),
            ("dropout1d", TWO[None]),
            ("dropout2d", TWO[None]),
            ("dropout3d", TWO.reshape(2, 1, 1, 1)),
            ("alpha_dropout", TWO[None]),
            ("feature_alpha_dropout", TWO[None]),
        )
        for row in (
            Error(op, (x, 1.5), f"{op}: p must be in [0, 1], got p=1.5"),
            Error(op, (x, float("nan")), f"{op}: p must be in [0, 1], got p=nan"),
            Error(op, (x, "0"), f"{op}: p must be a number, got p='str'", kind=TypeError),
            Error(
                op,
                (x, 0.5, True, 1),
                f"{op}: generator must be a Generator, got generator='int'",
                kind=TypeError,
            ),
            Error(
                op,
                (x.astype("int64"), 0.5, True),
                f"{op}: x must be floating to drop from (x.astype makes it so), "
                "got x_dtype='int64'",
                kind=TypeError,
            ),
        )
    ),
    *(
        Error(
            f"{op}_backward",
            (x, np.ones((1,) * x.ndim + (1,), bool), 0.5),
            f"{op}_backward: {name} must have shape {wanted}, got {name}_shape={given}",
        )
        for op, x, name, wanted, given in (
            ("dropout1d", TWO[:, None], "mask", (2, 1), (1, 1, 1)),
            ("dropout3d", TWO.reshape(2, 1, 1, 1), "mask", (2, 1, 1, 1), (1, 1, 1, 1, 1)),
            ("feature_alpha_dropout", TWO[None], "mask", (1, 2), (1, 1, 1)),
            ("alpha_dropout", TWO[None], "grad_output", (1, 1, 1), (1, 2)),
        )
    ),
    *(
        Error(
            op,
            (TWO,),
            f"{op}: x must be {described}, got x_shape=(2,)",
        )
        for op, described in (
            ("dropout1d", "3-D (batch, channels, length) or 2-D (channels, length)"),
            (
                "dropout3d",
                "5-D (batch, channels, depth, height, width) or 4-D (channels, depth, height, width)",
            ),
        )
    ),
    Error(
        "feature_alpha_dropout",
        (TWO,),
        "feature_alpha_dropout: x must have a batch axis and a channel axis, got x_shape=(2,)",
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
