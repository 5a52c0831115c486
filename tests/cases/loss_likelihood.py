from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import special

from .case import Case, Error, integers, real
from .loss import reduced

VARIANCES = {"low": 0.3, "high": 2.0}
COUNTS = {"low": 0.2, "high": 4.0, "avoid": (1.0,)}


def gaussian_nll_loss(
    x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Any:
    if var.ndim < x.ndim:
        var = var[..., None]
    var = np.maximum(var, eps)
    losses = (np.log(var) + (x - target) ** 2 / var) / 2
    return reduced(losses + (np.log(2 * np.pi) / 2 if full else 0), reduction)


def poisson_nll_loss(
    x: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Any:
    losses = np.exp(x) - target * x if log_input else x - target * np.log(x + eps)
    if full:
        many = np.maximum(target, 1)
        stirling = special.xlogy(many, many) - many + np.log(2 * np.pi * many) / 2
        losses = losses + np.where(target > 1, stirling, 0)
    return reduced(losses, reduction)


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """By trying all paths."""
    rows = log_probs if log_probs.ndim == 3 else log_probs[:, None]
    steps, labels = np.atleast_1d(input_lengths), np.atleast_1d(target_lengths)
    losses, begin = [], 0
    for sample in range(rows.shape[1]):
        wanted = (
            targets[sample, : labels[sample]]
            if targets.ndim == 2
            else (targets[begin : begin + labels[sample]])
        )
        begin += labels[sample]
        found = []
        for path in itertools.product(range(rows.shape[2]), repeat=int(steps[sample])):
            kept = [k for k, _ in itertools.groupby(path) if k != blank]
            if kept == list(wanted):
                found.append(sum(rows[step, sample, k] for step, k in enumerate(path)))
        losses.append(-special.logsumexp(found) if found else np.inf)
    each = np.array(losses)
    if zero_infinity:
        each = np.where(np.isinf(each), 0, each)
    if reduction == "none":
        return each if log_probs.ndim == 3 else each[0]
    return (each / np.maximum(labels, 1)).mean() if reduction == "mean" else each.sum()


def fixed(*values: Any):
    return lambda rng, dtype: np.array(values, np.int64)


LENGTHS = (fixed(4, 3), fixed(2, 1))
CASES = [
    *(
        row
        for reduction in ("none", "mean", "sum")
        for row in (
            Case("gaussian_nll_loss", (real(3, 4), real(3, 4), real(3, 4, **VARIANCES)),
                 gaussian_nll_loss, {"reduction": reduction}, integers=False),
            Case("poisson_nll_loss", (real(3, 4), real(3, 4, **COUNTS)), poisson_nll_loss,
                 {"reduction": reduction}, integers=False),
            Case("ctc_loss", (real(4, 2, 3), integers(2, 2, low=1, high=3), *LENGTHS), ctc_loss,
                 {"reduction": reduction}, integers=False),
        )
    ),
    Case("gaussian_nll_loss", (real(3, 4), real(3, 4), real(3, 1, **VARIANCES)),
         gaussian_nll_loss, {"full": True}, integers=False),
    Case("gaussian_nll_loss", (real(3, 4), real(3, 4), real(3, **VARIANCES)),
         gaussian_nll_loss, {"eps": 0.2}, integers=False),
    Case("gaussian_nll_loss", (real(3, 4), real(3, 4), real(3, 4, **VARIANCES)),
         gaussian_nll_loss, {"eps": 1.0}, smooth=False, integers=False),
    Case("poisson_nll_loss", (real(3, 4, low=0.2), real(3, 4, **COUNTS)), poisson_nll_loss,
         {"log_input": False}, integers=False),
    Case("poisson_nll_loss", (real(3, 4, low=0.2), real(3, 4, **COUNTS)), poisson_nll_loss,
         {"log_input": False, "full": True, "eps": 0.1, "reduction": "none"}, integers=False),
    Case("ctc_loss", (real(5, 2, 3), fixed(1, 2, 1), fixed(5, 4), fixed(1, 2)), ctc_loss,
         {"blank": 0, "reduction": "sum"}, smooth=False, integers=False),
    Case("ctc_loss", (real(5, 2, 3), fixed(1, 0, 0), fixed(5, 4), fixed(1, 2)), ctc_loss,
         {"blank": 2}, integers=False),
    Case("ctc_loss", (real(4, 3), fixed(1, 1), fixed(4), fixed(2)),
         ctc_loss, {"blank": 2}, integers=False),
    Case("ctc_loss", (real(2, 2, 3), fixed([1, 1], [1, 2]), fixed(2, 2), fixed(2, 1)), ctc_loss,
         {"zero_infinity": True}, integers=False),
    Case("ctc_loss", (real(2, 2, 3), fixed([1, 1], [1, 2]), fixed(2, 0), fixed(0, 0)), ctc_loss,
         {"reduction": "none"}, integers=False),
]  # fmt: skip

ERRORS = [
    Error(
        "gaussian_nll_loss",
        ([1.0], [1.0], [-1.0]),
        "gaussian_nll_loss: var must not be negative, got var=-1.0",
    ),
    Error(
        "gaussian_nll_loss",
        ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0, 3.0]),
        "gaussian_nll_loss: var must have the shape of x, or that without its last axis, "
        "got x_shape=(2,), var_shape=(3,)",
    ),
    Error(
        "poisson_nll_loss",
        ([1.0], [1.0, 1.0]),
        "poisson_nll_loss: target must have the shape of x, got x_shape=(1,), target_shape=(2,)",
    ),
    Error(
        "ctc_loss",
        ([[0.0, 0.0]], [2], 1, 1),
        "ctc_loss: targets must be in [0, 1], got targets=2",
    ),
    Error(
        "ctc_loss",
        ([[0.0, 0.0]], [1], 2, 1),
        "ctc_loss: input_lengths must be in [0, 1], got input_lengths=2",
    ),
    Error(
        "ctc_loss", ([[0.0, 0.0]], [0], 1, 1), "ctc_loss: targets must not be blank, got blank=0"
    ),
    Error(
        "ctc_loss", ([[0.0, 0.0]], [1], 1, 1, 2), "ctc_loss: blank must be in [0, 1], got blank=2"
    ),
]
