"""Metrics: numbers about outputs and targets, summed up batch by batch.

A metric has ``update(output, target)``, ``compute()`` and ``reset()``. It knows its task, and what
does not fit that is refused. What it keeps is small whatever the number of samples, but for those
that say that they keep all.
"""

from extensor.train.metrics.classification import (
    F1,
    Accuracy,
    BalancedAccuracy,
    ConfusionMatrix,
    Precision,
    Recall,
    TopKAccuracy,
)
from extensor.train.metrics.metric import Mean, Metric
from extensor.train.metrics.probability import (
    ROCAUC,
    AveragePrecision,
    CalibrationError,
    LogLoss,
    Perplexity,
)
from extensor.train.metrics.registry import (
    METRICS,
    default_metrics,
    is_falling,
    is_fraction,
    metrics_for,
    named_metric,
)
from extensor.train.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MedianAbsoluteError,
    RootMeanSquaredError,
)

__all__ = [
    "F1",
    "METRICS",
    "R2",
    "ROCAUC",
    "Accuracy",
    "AveragePrecision",
    "BalancedAccuracy",
    "CalibrationError",
    "ConfusionMatrix",
    "LogLoss",
    "Mean",
    "MeanAbsoluteError",
    "MedianAbsoluteError",
    "Metric",
    "Perplexity",
    "Precision",
    "Recall",
    "RootMeanSquaredError",
    "TopKAccuracy",
    "default_metrics",
    "is_falling",
    "is_fraction",
    "metrics_for",
    "named_metric",
]


def __dir__() -> list[str]:
    return sorted(__all__)
