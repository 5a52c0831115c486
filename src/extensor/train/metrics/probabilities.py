"""Probabilities of scores, in float64 and without overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.errors import value_error


def log_softmax(op: str, logits: Any) -> Any:
    """The logarithms of the probabilities, of shape (samples, classes)."""
    wide = logits.astype(np.float64, copy=False)
    highest = wide.max(axis=1, keepdims=True)
    if not np.isfinite(highest).all():
        sample = int((~np.isfinite(highest[:, 0])).argmax())
        requirement = "output must have a highest score that is finite, or no probability follows"
        raise value_error(op, requirement, sample=sample)
    shifted = wide - highest
    # Sorted, so that the same scores in another order have the same sum and remain a tie.
    total = np.exp(np.sort(shifted, axis=1)).sum(axis=1, keepdims=True)
    return shifted - np.log(total)


def log_sigmoid(logits: Any) -> Any:
    """The logarithms of the probabilities of one score each."""
    return -np.logaddexp(0, -logits.astype(np.float64))
