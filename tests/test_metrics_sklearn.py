"""Metrics of drawn data against scikit-learn."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
import pytest
from metric_draws import (
    CLASSES,
    LABELS,
    SEEDS,
    assert_equal,
    drawn_classes,
    drawn_labels,
    drawn_pairs,
    in_ways,
    softmax,
)
from sklearn import metrics as reference
from sklearn.exceptions import UndefinedMetricWarning

from extensor import train

DTYPES = ["float16", "float32", "float64"]
SCORES = ["logits", "probabilities"]
FRACTIONS = {
    train.Precision: reference.precision_score,
    train.Recall: reference.recall_score,
    train.F1: reference.f1_score,
}
ALL = list(range(CLASSES))


def _fractions(kind: Any, average: Any, **options: Any) -> Any:
    def expected(true: Any, found: Any, probability: Any) -> Any:
        return FRACTIONS[kind](true, found, average=average, zero_division=0, **options)

    return expected


def _of_found(function: Any) -> Any:
    return lambda true, found, probability: function(true, found)


def _of_probability(function: Any) -> Any:
    return lambda true, found, probability: function(true, probability)


# What makes a metric, and what scikit-learn says of truth, finding and probability.
BINARY: dict[str, Any] = {
    "accuracy": (train.Accuracy, _of_found(reference.accuracy_score)),
    "balanced": (train.BalancedAccuracy, _of_found(reference.balanced_accuracy_score)),
    "confusion": (train.ConfusionMatrix, _of_found(reference.confusion_matrix)),
    "roc": (train.ROCAUC, _of_probability(reference.roc_auc_score)),
    "average precision": (
        train.AveragePrecision,
        _of_probability(reference.average_precision_score),
    ),
    "log loss": (train.LogLoss, _of_probability(reference.log_loss)),
}
MULTILABEL: dict[str, Any] = {
    "accuracy": (train.Accuracy, _of_found(reference.accuracy_score)),
    "confusion": (train.ConfusionMatrix, _of_found(reference.multilabel_confusion_matrix)),
    "roc": (train.ROCAUC, _of_probability(reference.roc_auc_score)),
    "average precision": (
        train.AveragePrecision,
        _of_probability(reference.average_precision_score),
    ),
    "log loss": (
        train.LogLoss,
        lambda true, found, probability: np.mean(
            [reference.log_loss(*pair) for pair in zip(true.T, probability.T, strict=True)]
        ),
    ),
}
MULTICLASS: dict[str, Any] = {
    "accuracy": (train.Accuracy, _of_found(reference.accuracy_score)),
    "balanced": (
        partial(train.BalancedAccuracy, CLASSES),
        _of_found(reference.balanced_accuracy_score),
    ),
    "confusion": (
        partial(train.ConfusionMatrix, CLASSES),
        _of_found(partial(reference.confusion_matrix, labels=ALL)),
    ),
    "roc": (train.ROCAUC, _of_probability(partial(reference.roc_auc_score, multi_class="ovr"))),
    "average precision": (
        train.AveragePrecision,
        _of_probability(reference.average_precision_score),
    ),
    "log loss": (train.LogLoss, _of_probability(partial(reference.log_loss, labels=ALL))),
    "perplexity": (
        train.Perplexity,
        lambda true, found, probability: np.exp(reference.log_loss(true, probability, labels=ALL)),
    ),
}
for kind in FRACTIONS:
    name = kind.__name__
    BINARY[name] = (kind, _fractions(kind, "binary"))
    MULTICLASS[name] = (partial(kind, CLASSES), _fractions(kind, "macro"))
    MULTILABEL[name] = (kind, _fractions(kind, "macro"))
    for average in ("macro", "weighted", None):
        case = f"{name} {average}"
        BINARY[case] = (partial(kind, average=average), _fractions(kind, average))
        MULTILABEL[case] = (partial(kind, LABELS, average), _fractions(kind, average))
        MULTICLASS[case] = (
            partial(kind, CLASSES, average),
            _fractions(kind, average, labels=ALL),
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("case", BINARY)
def test_binary(case: str, scores: str, dtype: str) -> None:
    make, expected = BINARY[case]
    for seed in SEEDS:
        output, target, probability = drawn_pairs(seed, scores, dtype)
        found = probability > 0.5
        true = target.reshape(-1).astype(bool)
        make_one = partial(make, task="binary", scores=scores)
        assert_equal(make_one, output, target, expected(true, found, probability))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("case", MULTILABEL)
def test_multilabel(case: str, scores: str, dtype: str) -> None:
    make, expected = MULTILABEL[case]
    for seed in SEEDS:
        output, target, probability = drawn_labels(seed, scores, dtype)
        true = target.astype(np.int64)
        found = (probability > 0.5).astype(np.int64)
        make_one = partial(make, task="multilabel", scores=scores)
        assert_equal(make_one, output, target, expected(true, found, probability))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("case", MULTICLASS)
def test_multiclass(case: str, scores: str, dtype: str) -> None:
    make, expected = MULTICLASS[case]
    for seed in SEEDS:
        output, target, probability = drawn_classes(seed, scores, dtype)
        found = output.argmax(axis=1)
        make_one = partial(make, task="multiclass", scores=scores)
        assert_equal(make_one, output, target, expected(target, found, probability))


@pytest.mark.parametrize("case", MULTICLASS)
def test_classes_that_do_not_occur(case: str) -> None:
    """Class 3 is never true, and nothing is ever taken for class 2."""
    make, expected = MULTICLASS[case]
    output, target, _ = drawn_classes(0, "logits", "float64")
    output[:, 2] -= 20
    target = target % 3
    true_probability = softmax(output)
    if case == "average precision":  # where scikit-learn takes no class that does not occur
        value = np.nan
    elif case == "roc":
        value = _undefined(target, true_probability)
    else:
        with warnings.catch_warnings():
            # Balanced accuracy warns of a class that is found and does not occur.
            warnings.simplefilter("ignore")
            value = expected(target, output.argmax(axis=1), true_probability)
    assert_equal(make, output, target, value)


def _undefined(target: Any, probability: Any) -> Any:
    with pytest.warns(UndefinedMetricWarning):
        return reference.roc_auc_score(target, probability, multi_class="ovr", labels=ALL)


def test_labels_that_do_not_occur() -> None:
    output, target, _ = drawn_labels(0, "logits", "float64")
    target[:, 1] = 0
    found = (output > 0).astype(np.int64)
    for kind, function in FRACTIONS.items():
        for average in ("macro", "weighted", None):
            value = function(target, found, average=average, zero_division=0)
            assert_equal(partial(kind, None, average, task="multilabel"), output, target, value)
    nothing = np.zeros_like(target)
    for kind, function in FRACTIONS.items():
        value = function(nothing, found, average="weighted", zero_division=0)
        made = partial(kind, None, "weighted", task="multilabel")
        assert_equal(made, output, nothing, value)
    for kind in (train.ROCAUC, train.AveragePrecision):  # type: ignore[assignment]
        assert_equal(partial(kind, task="multilabel"), output, target, np.nan)


@pytest.mark.parametrize("true", [0, 1])
def test_one_class_only(true: int) -> None:
    output = drawn_pairs(0, "logits", "float64").output
    target = np.full(len(output), true)
    found = output[:, 0] > 0
    assert_equal(partial(train.ROCAUC, task="binary"), output, target, np.nan)
    value = 1.0 if true else np.nan
    assert_equal(partial(train.AveragePrecision, task="binary"), output, target, value)
    value = reference.accuracy_score(target, found)
    assert_equal(partial(train.BalancedAccuracy, task="binary"), output, target, value)


@pytest.mark.parametrize("kind", [train.ROCAUC, train.AveragePrecision])
def test_scores_that_are_all_the_same_or_infinite(kind: Any) -> None:
    function = reference.roc_auc_score
    if kind is train.AveragePrecision:
        function = reference.average_precision_score
    target = np.array([0, 1, 1, 0, 1])
    same = np.zeros(5)
    assert_equal(partial(kind, task="binary"), same, target, function(target, same))
    ends = np.array([-np.inf, np.inf, 1.0, -np.inf, -np.inf])
    value = function(target, np.clip(ends, -9, 9))
    assert_equal(partial(kind, task="binary"), ends, target, value)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_top_k(k: int, dtype: str) -> None:
    for seed in (0, 2):  # those without ties, of which scikit-learn takes the last
        output, target, probability = drawn_classes(seed, "logits", dtype)
        value = reference.top_k_accuracy_score(target, probability, k=k, labels=ALL)
        assert_equal(partial(train.TopKAccuracy, k), output, target, value)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 3)])
@pytest.mark.parametrize(
    ("make", "function"),
    [
        (train.R2, reference.r2_score),
        (train.MeanAbsoluteError, reference.mean_absolute_error),
        (train.MedianAbsoluteError, reference.median_absolute_error),
        (train.RootMeanSquaredError, lambda true, found: _root(true, found)),
    ],
)
def test_regression(make: Any, function: Any, shape: tuple[int, ...], dtype: str) -> None:
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        target = (100 + rng.normal(size=shape)).astype(dtype)
        output = (target + rng.normal(size=shape)).astype(dtype)
        value = function(target.astype(np.float64), output.astype(np.float64))
        assert_equal(make, output, target, value)


def _root(true: Any, found: Any) -> float:
    """Of all elements: those of one column."""
    return reference.root_mean_squared_error(true.reshape(-1), found.reshape(-1))


@pytest.mark.parametrize("offset", [0.0, 0.5])
def test_r2_of_targets_that_are_all_the_same(offset: float) -> None:
    target = np.full(50, 0.5)
    value = reference.r2_score(target, target + offset)
    assert value == (0.0 if offset else 1.0)
    assert_equal(train.R2, target + offset, target, value)
    third = np.full(50, 1 / 3)  # whose mean is rounded
    assert_equal(train.R2, third + offset, third, value)


def test_r2_of_large_targets_that_differ_little() -> None:
    rng = np.random.default_rng(0)
    target = 1e9 + rng.normal(size=60)
    output = target + 0.1 * rng.normal(size=60)
    for value in in_ways(train.R2, output, target):
        assert value == pytest.approx(reference.r2_score(target, output), rel=1e-6)
