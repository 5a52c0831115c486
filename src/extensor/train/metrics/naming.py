"""The metrics by name: which fit a task, how they are made, and how their numbers are read."""

from __future__ import annotations

import inspect
from typing import Any

from extensor.errors import arguments, value_error
from extensor.errors.suggestions import nearest
from extensor.train.metrics.accuracy import Accuracy, TopKAccuracy
from extensor.train.metrics.base import Metric
from extensor.train.metrics.confusion import (
    F1,
    BalancedAccuracy,
    ConfusionMatrix,
    Precision,
    Recall,
)
from extensor.train.metrics.probability import CalibrationError, LogLoss, Perplexity
from extensor.train.metrics.ranking import ROCAUC, AveragePrecision
from extensor.train.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MedianAbsoluteError,
    RootMeanSquaredError,
)

METRICS: dict[str, type[Metric]] = {
    "accuracy": Accuracy,
    "balanced_accuracy": BalancedAccuracy,
    "precision": Precision,
    "recall": Recall,
    "f1": F1,
    "roc_auc": ROCAUC,
    "average_precision": AveragePrecision,
    "log_loss": LogLoss,
    "calibration_error": CalibrationError,
    "top_k_accuracy": TopKAccuracy,
    "confusion_matrix": ConfusionMatrix,
    "r2": R2,
    "mean_absolute_error": MeanAbsoluteError,
    "root_mean_squared_error": RootMeanSquaredError,
    "median_absolute_error": MedianAbsoluteError,
    "perplexity": Perplexity,
}
_DEFAULTS = {
    "regression": ("r2", "root_mean_squared_error", "mean_absolute_error"),
    "binary": ("accuracy", "roc_auc", "f1"),
    "multiclass": ("accuracy", "f1"),
    "multilabel": ("f1", "average_precision", "accuracy"),
    "sequence": ("perplexity", "accuracy"),
}
# How the names of numbers end that should go down, and of those that are from 0 to 1.
_FALLING = ("loss", "error", "perplexity")
_FRACTIONS = ("accuracy", "precision", "recall", "f1", "roc_auc", "calibration_error")


def named_metric(
    name: str,
    task: str = "multiclass",
    num_classes: int | None = None,
    scores: str = "logits",
    **options: Any,
) -> Metric:
    """The metric called ``name``, for ``task``.

    ``num_classes`` and ``scores``, "logits" or "probabilities", are passed on if the metric takes
    them, ``options`` anyway. For "sequence" the classes are along the last axis, if nothing else is
    said.

    >>> from extensor.train.metrics import named_metric
    >>> metric = named_metric("f1", "binary")
    >>> metric.update([1.0, -1.0, 1.0], [1, 0, 0])
    >>> round(metric.compute(), 4)
    0.6667
    """
    op = "named_metric"
    kind = METRICS.get(arguments.text(op, "name", name))
    if kind is None:
        raise value_error(op, f"unknown name{nearest(name, METRICS)}", name=name)
    fitting = metrics_for(task)
    if name not in fitting:
        requirement = f"name must be a metric for task={task!r}: {', '.join(fitting)}"
        raise value_error(op, requirement, name=name)
    known = inspect.signature(kind).parameters
    for option in options:
        if option not in known:
            requirement = f"unknown option of {name}{nearest(option, known)}"
            raise value_error(op, requirement, option=option)
    filled: dict[str, Any] = {"task": task, "scores": scores}
    if num_classes is not None and task != "binary":
        filled["num_classes"] = num_classes
    if task == "sequence":
        filled["class_axis"] = -1
    return kind(**{key: x for key, x in filled.items() if key in known} | options)


def metrics_for(task: str) -> tuple[str, ...]:
    """The names of all metrics that fit ``task``.

    >>> from extensor.train.metrics import metrics_for
    >>> metrics_for("sequence")
    ('accuracy', 'log_loss', 'top_k_accuracy', 'perplexity')
    """
    arguments.choice("metrics_for", "task", task, tuple(_DEFAULTS))
    return tuple(name for name, kind in METRICS.items() if task in kind.tasks)


def default_metrics(task: str) -> tuple[str, ...]:
    """The names of the metrics for ``task`` if none are asked for; the first is the one to look at.

    >>> from extensor.train.metrics import default_metrics
    >>> default_metrics("binary")
    ('accuracy', 'roc_auc', 'f1')
    """
    found: str = arguments.choice("default_metrics", "task", task, tuple(_DEFAULTS))
    return _DEFAULTS[found]


def is_falling(name: str) -> bool:
    """True if the number called ``name`` should go down: a loss, an error, a perplexity.

    >>> from extensor.train.metrics import is_falling
    >>> is_falling("validation_log_loss"), is_falling("r2")
    (True, False)
    """
    return arguments.text("is_falling", "name", name).endswith(_FALLING)


def is_fraction(name: str) -> bool:
    """True if the number called ``name`` is from 0 to 1 and shown in percent.

    >>> from extensor.train.metrics import is_fraction
    >>> is_fraction("validation_accuracy"), is_fraction("r2")
    (True, False)
    """
    return arguments.text("is_fraction", "name", name).endswith(_FRACTIONS)
