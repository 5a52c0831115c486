"""The metrics by name."""

from __future__ import annotations

import re
from math import isnan
from typing import Any

import numpy as np
import pytest
from metric_draws import CLASSES, drawn_classes, drawn_labels, drawn_pairs

from extensor import train
from extensor.errors.messages import METRIC_OPTION_UNKNOWN, METRIC_UNKNOWN, known, meant
from extensor.train.metrics import (
    METRICS,
    default_metrics,
    is_falling,
    is_fraction,
    metrics_for,
    named_metric,
)

TASKS = ("regression", "binary", "multiclass", "multilabel", "sequence")


def test_every_metric_has_a_name() -> None:
    public = {getattr(train, name) for name in train.__all__}
    kinds = {x for x in public if isinstance(x, type) and issubclass(x, train.Metric)}
    assert set(METRICS.values()) == kinds - {train.Metric, train.Mean}
    assert all(kind.tasks and set(kind.tasks) <= set(TASKS) for kind in METRICS.values())


def _drawn(task: str) -> Any:
    rng = np.random.default_rng(0)
    if task == "regression":
        return rng.normal(size=(2, 60, 2))
    if task == "sequence":
        return rng.normal(size=(8, CLASSES, CLASSES)), rng.integers(0, CLASSES, (8, CLASSES))
    draw = {"binary": drawn_pairs, "multiclass": drawn_classes, "multilabel": drawn_labels}[task]
    return draw(0, "logits", "float32")[:2]


@pytest.mark.parametrize("task", TASKS)
def test_all_that_fit_a_task_measure_it(task: str) -> None:
    output, target = _drawn(task)
    for name in metrics_for(task):
        options = {"k": 2} if name == "top_k_accuracy" else {}
        metric = named_metric(name, task, CLASSES if task == "multiclass" else None, **options)
        assert type(metric) is METRICS[name]
        metric.update(output, target)
        value = metric.compute()
        assert np.shape(value) == () or name == "confusion_matrix"
        assert not np.isnan(value).any()
        if is_fraction(name):
            assert 0 <= value <= 1


@pytest.mark.parametrize("task", TASKS)
def test_others_are_refused(task: str) -> None:
    fitting = metrics_for(task)
    for name in METRICS.keys() - set(fitting):
        text = (
            f"named_metric: name must be a metric for task={task!r}: {', '.join(fitting)}, "
            f"got name={name!r}"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            named_metric(name, task)


def test_those_that_fit() -> None:
    assert metrics_for("regression") == (
        "r2",
        "mean_absolute_error",
        "root_mean_squared_error",
        "median_absolute_error",
    )
    assert metrics_for("sequence") == ("accuracy", "log_loss", "top_k_accuracy", "perplexity")
    assert "balanced_accuracy" not in metrics_for("multilabel")
    for task in TASKS:
        assert set(default_metrics(task)) <= set(metrics_for(task))
    assert [default_metrics(task)[0] for task in TASKS] == [
        "r2",
        "accuracy",
        "accuracy",
        "f1",
        "perplexity",
    ]


def test_options_are_passed_on() -> None:
    metric: Any = named_metric("f1", "multiclass", 3, average=None, ignore_index=7)
    assert (metric.num_classes, metric.average, metric.ignore_index) == (3, None, 7)
    metric = named_metric("perplexity", "sequence", 9, class_axis=1)
    assert (metric.class_axis, metric.task) == (1, "sequence")
    assert named_metric("accuracy", "sequence").class_axis == -1  # type: ignore[attr-defined]
    assert isnan(named_metric("r2", "regression", 5).compute())


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: named_metric("acuracy"),
            METRIC_UNKNOWN.text(meant("accuracy"), name="acuracy"),
        ),
        (
            lambda: named_metric("zzz"),
            METRIC_UNKNOWN.text(known(*METRICS), name="zzz"),
        ),
        (lambda: named_metric(3), "named_metric: name must be a string, got name=3"),  # type: ignore[arg-type]
        (
            lambda: named_metric("f1", "multiclass", 3, averge="macro"),
            METRIC_OPTION_UNKNOWN.text(meant("average"), option="averge", name="f1"),
        ),
        (
            lambda: named_metric("r2", "regression", bins=3),
            METRIC_OPTION_UNKNOWN.text(known(), option="bins", name="r2"),
        ),
        (
            lambda: named_metric("f1"),
            "F1: num_classes must be an integer, got num_classes=None",
        ),
        (
            lambda: metrics_for("ranking"),
            "metrics_for: task must be 'regression', 'binary', 'multiclass', 'multilabel' or "
            "'sequence', got task='ranking'",
        ),
        (
            lambda: default_metrics(None),  # type: ignore[arg-type]
            "default_metrics: task must be 'regression', 'binary', 'multiclass', 'multilabel' or "
            "'sequence', got task=None",
        ),
        (lambda: is_falling(None), "is_falling: name must be a string, got name=None"),  # type: ignore[arg-type]
        (lambda: is_fraction(None), "is_fraction: name must be a string, got name=None"),  # type: ignore[arg-type]
    ],
)
def test_errors(work: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(text)}$"):
        work()


def test_what_should_go_down() -> None:
    falling = {name for name in METRICS if is_falling(name)}
    assert falling == {
        "log_loss",
        "calibration_error",
        "mean_absolute_error",
        "root_mean_squared_error",
        "median_absolute_error",
        "perplexity",
    }
    assert is_falling("loss")
    assert is_falling("validation_loss")
    assert is_falling("validation_perplexity")
    assert not is_falling("validation_accuracy")


def test_what_is_shown_in_percent() -> None:
    others = {name for name in METRICS if not is_fraction(name)}
    assert others == {
        "log_loss",
        "confusion_matrix",
        "r2",
        "mean_absolute_error",
        "root_mean_squared_error",
        "median_absolute_error",
        "perplexity",
    }
    assert is_fraction("validation_roc_auc")
    assert not is_fraction("loss")
