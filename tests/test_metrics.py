"""Metrics in batches against plain accounts of all samples together."""

from __future__ import annotations

import re
from math import isnan, log
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.train import (
    F1,
    Accuracy,
    ConfusionMatrix,
    Mean,
    MeanAbsoluteError,
    Perplexity,
    Precision,
    Recall,
    RootMeanSquaredError,
    TopKAccuracy,
)

CLASSES = 4


@pytest.fixture
def scored(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores and classes; class 3 is never true, and nothing is ever taken for class 2."""
    scores = rng.normal(size=(50, CLASSES)).astype(np.float32)
    scores[:, 2] = -10
    return scores, rng.integers(0, 3, 50)


def _in_batches(metric: Any, output: np.ndarray, target: np.ndarray) -> Any:
    metric.update(output[:3], target[:3])
    metric.reset()
    for begin, end in ((0, 1), (1, 20), (20, 50)):
        metric.update(ex.tensor(output[begin:end]), ex.tensor(target[begin:end]))
    return metric.compute()


def test_mean_weighs_by_samples() -> None:
    mean = Mean()
    assert isnan(mean.compute())
    mean.add(1.0, 3)
    mean.add(5.0, 1)
    assert mean.compute() == 2.0
    other = Mean()
    other.load_state_dict(mean.state_dict())
    assert other.compute() == 2.0


def test_accuracy(scored: Any) -> None:
    scores, classes = scored
    expected = sum(list(s).index(max(s)) == c for s, c in zip(scores, classes, strict=True)) / 50
    assert _in_batches(Accuracy(), scores, classes) == expected
    probabilities = np.eye(CLASSES, dtype=np.float32)[classes]
    assert _in_batches(Accuracy(), scores, probabilities) == expected


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_top_k(scored: Any, k: int) -> None:
    scores, classes = scored
    ranks = [sorted(s, reverse=True).index(s[c]) for s, c in zip(scores, classes, strict=True)]
    assert _in_batches(TopKAccuracy(k), scores, classes) == sum(rank < k for rank in ranks) / 50


def test_ties_count_against_top_k() -> None:
    metric = TopKAccuracy(2)
    metric.update(np.zeros((1, 3)), [0])
    assert metric.compute() == 0.0


def test_accuracy_of_pixels(rng: np.random.Generator) -> None:
    scores = rng.normal(size=(2, 3, 4, 5))
    classes = rng.integers(0, 3, (2, 4, 5))
    metric = Accuracy()
    metric.update(scores, classes)
    right = [scores[n, :, i, j].argmax() == classes[n, i, j] for n, i, j in np.ndindex(2, 4, 5)]
    assert metric.compute() == sum(right) / 40


def test_confusion_matrix(scored: Any) -> None:
    scores, classes = scored
    expected = [[0] * CLASSES for _ in range(CLASSES)]
    for s, c in zip(scores, classes, strict=True):
        expected[c][int(s.argmax())] += 1
    assert _in_batches(ConfusionMatrix(CLASSES), scores, classes).tolist() == expected


def test_precision_recall_f1(scored: Any) -> None:
    scores, classes = scored
    found = scores.argmax(axis=1)
    rows = []
    for c in range(CLASSES):
        both = int(((found == c) & (classes == c)).sum())
        taken, true = int((found == c).sum()), int((classes == c).sum())
        precision, recall = both / taken if taken else 0.0, both / true if true else 0.0
        total = precision + recall
        rows.append((precision, recall, 2 * precision * recall / total if total else 0.0))
    for number, kind in enumerate((Precision, Recall, F1)):
        expected = [row[number] for row in rows]
        each = _in_batches(kind(CLASSES, average=None), scores, classes)
        np.testing.assert_allclose(each, expected, rtol=1e-12)
        mean = _in_batches(kind(CLASSES), scores, classes)
        assert mean == pytest.approx(np.mean(expected), rel=1e-12)


def test_errors_of_regression(rng: np.random.Generator) -> None:
    output, target = rng.normal(size=(2, 50, 3)).astype(np.float32)
    difference = output.astype(np.float64) - target
    mae = _in_batches(MeanAbsoluteError(), output, target)
    rmse = _in_batches(RootMeanSquaredError(), output, target)
    assert mae == pytest.approx(np.abs(difference).mean(), rel=1e-12)
    assert rmse == pytest.approx(np.sqrt((difference**2).mean()), rel=1e-12)


def test_perplexity(scored: Any) -> None:
    scores, classes = scored
    masked = classes.copy()
    masked[20:25] = -100
    wide = scores.astype(np.float64)
    logs = [log(np.exp(s).sum()) - s[c] for s, c in zip(wide, masked, strict=True) if c >= 0]
    assert _in_batches(Perplexity(), wide, masked) == pytest.approx(
        np.exp(np.mean(logs)), rel=1e-12
    )
    metric = Perplexity()
    metric.update(scores[:2], [-100, -100])
    assert isnan(metric.compute())


def test_uniform_guesses_have_the_perplexity_of_their_number() -> None:
    metric = Perplexity()
    metric.update(np.zeros((5, 7)), np.arange(5))
    assert metric.compute() == pytest.approx(7)


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: Accuracy().update(np.ones((2, 3)), [0, 1, 2]),
            "Accuracy: output must be scores with the classes along axis 1, target their numbers, "
            "got output_shape=(2, 3), target_shape=(3,)",
        ),
        (
            lambda: ConfusionMatrix(2).update(np.ones((1, 2)), [2]),
            "ConfusionMatrix: target must be classes in [0, 1], got target=2",
        ),
        (
            lambda: F1(2).update(np.eye(3), [0, 1, 1]),
            "F1: output must be classes in [0, 1], got output=2",
        ),
        (lambda: TopKAccuracy(0), "TopKAccuracy: k must be 1 or more, got k=0"),
        (lambda: Recall(0), "Recall: num_classes must be 1 or more, got num_classes=0"),
        (
            lambda: Precision(2, "micro"),
            "Precision: average must be 'macro' or None, got average='micro'",
        ),
        (
            lambda: MeanAbsoluteError().update(np.ones((2, 1)), np.ones(2)),
            "MeanAbsoluteError: output and target must have the same shape, "
            "got output_shape=(2, 1), target_shape=(2,)",
        ),
    ],
)
def test_errors(work: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        work()
