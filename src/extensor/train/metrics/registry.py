"""The registry of metrics: their names, the tasks they fit, and how their values are read."""

from __future__ import annotations

import inspect
from typing import Any

from extensor.errors import arguments, value_error
from extensor.errors.messages import METRIC_OPTION_UNKNOWN, METRIC_UNKNOWN, suggestion
from extensor.train.metrics import classification, probability, regression
from extensor.train.metrics.metric import Metric
from extensor.train.tasks import TASKS

METRICS: dict[str, type[Metric]] = {
    "accuracy": classification.Accuracy,
    "balanced_accuracy": classification.BalancedAccuracy,
    "precision": classification.Precision,
    "recall": classification.Recall,
    "f1": classification.F1,
    "roc_auc": probability.ROCAUC,
    "average_precision": probability.AveragePrecision,
    "log_loss": probability.LogLoss,
    "calibration_error": probability.CalibrationError,
    "top_k_accuracy": classification.TopKAccuracy,
    "confusion_matrix": classification.ConfusionMatrix,
    "r2": regression.R2,
    "mean_absolute_error": regression.MeanAbsoluteError,
    "root_mean_squared_error": regression.RootMeanSquaredError,
    "median_absolute_error": regression.MedianAbsoluteError,
    "perplexity": probability.Perplexity,
}
# Endings of the names of other numbers that should go down or up, and of numbers from 0 to 1.
_FALLING = ("loss", "error", "perplexity")
_RISING = ("correlation", "kappa", "iou", "dice")
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
    them; ``options`` always are. For "sequence" the classes are along the last axis by default.

    >>> from extensor.train.metrics import named_metric
    >>> metric = named_metric("f1", "binary")
    >>> metric.update([1.0, -1.0, 1.0], [1, 0, 0])
    >>> round(metric.compute(), 4)
    0.6667
    """
    op = "named_metric"
    kind = METRICS.get(arguments.text(op, "name", name))
    if kind is None:
        raise METRIC_UNKNOWN.error(suggestion(name, METRICS), name=name)
    fitting = metrics_for(task)
    if name not in fitting:
        requirement = f"name must be a metric for task={task!r}: {', '.join(fitting)}"
        raise value_error(op, requirement, name=name)
    known = inspect.signature(kind).parameters
    for option in options:
        if option not in known:
            raise METRIC_OPTION_UNKNOWN.error(suggestion(option, known), option=option, name=name)
    filled: dict[str, Any] = {"task": task, "scores": scores}
    if num_classes is not None and task != "binary":
        filled["num_classes"] = num_classes
    if TASKS[task].class_axis != 1:
        filled["class_axis"] = TASKS[task].class_axis
    return kind(**{key: x for key, x in filled.items() if key in known} | options)


def metrics_for(task: str) -> tuple[str, ...]:
    """The names of all metrics that fit ``task``.

    >>> from extensor.train.metrics import metrics_for
    >>> metrics_for("sequence")
    ('accuracy', 'log_loss', 'top_k_accuracy', 'perplexity')
    """
    arguments.choice("metrics_for", "task", task, tuple(TASKS))
    return tuple(name for name, kind in METRICS.items() if task in kind.tasks)


def default_metrics(task: str) -> tuple[str, ...]:
    """The names of the default metrics for ``task``; the first is the main one.

    >>> from extensor.train.metrics import default_metrics
    >>> default_metrics("binary")
    ('accuracy', 'roc_auc', 'f1')
    """
    arguments.choice("default_metrics", "task", task, tuple(TASKS))
    return TASKS[task].metrics


def display_name(name: str) -> str:
    """The name of a metric or another number of a run, as it is displayed."""
    return name.replace("_", " ")


def is_falling(name: str) -> bool:
    """True if the number called ``name`` should go down: a loss, an error, a perplexity.

    >>> from extensor.train.metrics import is_falling
    >>> is_falling("validation_log_loss"), is_falling("r2")
    (True, False)
    """
    return direction_of(arguments.text("is_falling", "name", name)) < 0


def direction_of(name: str) -> int:
    """1 if the number called ``name`` should go up, -1 if it should go down, 0 if unknown."""
    for known, kind in METRICS.items():
        if name.endswith(known) and kind.higher_is_better is not None:
            return 1 if kind.higher_is_better else -1
    return -1 if name.endswith(_FALLING) else int(name.endswith((*_RISING, *_FRACTIONS)))


def best_mode(op: str, monitor: str, mode: str | None) -> str:
    """``mode``; without one, "min" or "max" by the name of the number."""
    direction = direction_of(arguments.text(op, "monitor", monitor))
    if mode is None and direction == 0:
        requirement = (
            "mode must be 'min' or 'max' for a number that is not one of the library's metrics"
        )
        raise value_error(op, requirement, monitor=monitor)
    known = "min" if direction < 0 else "max"
    chosen: str = arguments.choice(op, "mode", known if mode is None else mode, ("min", "max"))
    return chosen


def is_fraction(name: str) -> bool:
    """True if the number called ``name`` is from 0 to 1 and shown in percent.

    >>> from extensor.train.metrics import is_fraction
    >>> is_fraction("validation_accuracy"), is_fraction("r2")
    (True, False)
    """
    return arguments.text("is_fraction", "name", name).endswith(_FRACTIONS)
