"""Weights of samples: given with them, and by their class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extensor.errors import arguments, type_error, value_error
from extensor.estimators.inputs import as_array


def sample_weights(op: str, given: Any, samples: int) -> Any:
    """A weight for each sample, or None where all count the same."""
    if given is None:
        return None
    array = as_array(op, "sample_weight", given)
    if array.dtype.kind not in "biuf":
        requirement = "sample_weight must be numbers"
        raise type_error(op, requirement, sample_weight=type(given).__name__)
    weights = np.full(samples, array, np.float64) if array.ndim == 0 else array.astype(np.float64)
    if weights.shape != (samples,):
        requirement = f"sample_weight must be a row of {samples}, one for each sample"
        raise value_error(op, requirement, sample_weight_shape=weights.shape)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        worst = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
        requirement = "sample_weight must be finite and not negative"
        raise value_error(op, requirement, row=worst, weight=float(weights[worst]))
    if not weights.any():
        raise value_error(op, "a weight must be other than zero (sample_weight is zeros)")
    return weights


def class_weights(op: str, given: Any, classes: Any, numbers: Any, weights: Any) -> Any:
    """A weight for each sample by the number of its class, or None where all count the same.

    ``"balanced"`` gives every class the same share, whatever the samples and their weights are.
    """
    if given is None:
        return None
    if isinstance(given, str) and given == "balanced":
        counts = np.bincount(numbers, weights, len(classes))
        with np.errstate(divide="ignore"):  # a class of partial_fit that has not come yet
            return (counts.sum() / (len(classes) * counts))[numbers]
    if not isinstance(given, Mapping):
        requirement = "class_weight must be None, 'balanced' or a dict of classes and weights"
        raise value_error(op, requirement, class_weight=arguments.briefly(given))
    known = classes.tolist()
    factors = np.ones(len(known))
    for label, weight in given.items():
        if label not in known:
            raise value_error(op, f"class_weight must name classes of {_some(known)}", label=label)
        factors[known.index(label)] = arguments.number(
            op, f"class_weight[{label!r}]", weight, least=0
        )
    if not np.isfinite(factors).all():
        raise value_error(op, "class_weight must be finite", class_weight=factors.tolist())
    return factors[numbers]


def multiplied(op: str, weights: Any, factors: Any, as_they_are: bool) -> Any:
    """Both together, or None where all are 1; their mean is 1, unless they stay ``as_they_are``."""
    both = weights if factors is None else factors if weights is None else weights * factors
    if both is None:
        return None
    if not both.any():
        raise value_error(op, "class_weight must leave a weight that is not zero")
    if not as_they_are:
        both = both / both.max()  # whose sum is finite
        both = both / both.mean()
    return None if (both == 1).all() else both


def _some(labels: list[Any]) -> str:
    text = ", ".join(map(repr, labels[:10]))
    return f"{text} and so on" if len(labels) > 10 else text
