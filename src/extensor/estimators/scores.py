"""How good predictions are: what scikit-learn's estimators give as their score."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.estimators.scikit_learn import warn


def accuracy(predicted: Any, labels: Any, weights: Any) -> float:
    """The share of samples that are right, of several labels in all of them."""
    right = predicted == labels
    return float(np.average(right.all(axis=1) if right.ndim == 2 else right, weights=weights))


def r2(predicted: Any, values: Any, weights: Any) -> float:
    """One minus the squared errors over those of the mean: of several outputs the mean."""
    if len(values) < 2:
        warn("score: R^2 of one sample is not defined")
        return float("nan")
    several = values.reshape(len(values), -1)
    errors = np.average((several - predicted.reshape(several.shape)) ** 2, 0, weights)
    spread = np.average((several - np.average(several, 0, weights)) ** 2, 0, weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = 1 - errors / spread
    # A target that is always the same: right, or no better than its mean.
    constant = spread == 0
    return float(np.where(constant, np.where(errors == 0, 1.0, 0.0), scores).mean())
