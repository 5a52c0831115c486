"""Metrics in batches against plain accounts of all samples together."""

from __future__ import annotations

import re
from math import inf, isnan, log
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.train import (
    F1,
    R2,
    ROCAUC,
    Accuracy,
    AveragePrecision,
    BalancedAccuracy,
    CalibrationError,
    ConfusionMatrix,
    LogLoss,
    Mean,
    MeanAbsoluteError,
    MedianAbsoluteError,
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


OF_CLASSES: list[Any] = [
    Accuracy,
    lambda: TopKAccuracy(1),
    lambda: ConfusionMatrix(3),
    lambda: BalancedAccuracy(3),
    lambda: Precision(3),
    lambda: Recall(3),
    lambda: F1(3),
    LogLoss,
    Perplexity,
    CalibrationError,
    ROCAUC,
    AveragePrecision,
]
NAMES = [type(make()).__name__ for make in OF_CLASSES]
SCORES = np.eye(3, dtype=np.float32)


@pytest.mark.parametrize("make", OF_CLASSES, ids=NAMES)
def test_classes_that_are_left_out(make: Any, rng: np.random.Generator) -> None:
    expected, metric = make(), make()
    metric.ignore_index = -1
    scores, classes = rng.normal(size=(12, 3)), np.arange(12) % 3
    expected.update(scores[:9], classes[:9])
    metric.update(scores, np.where(np.arange(12) < 9, classes, -1))
    np.testing.assert_array_equal(metric.compute(), expected.compute())
    assert not np.isnan(expected.compute()).any()


@pytest.mark.parametrize("make", OF_CLASSES, ids=NAMES)
def test_targets_of_every_kind(make: Any) -> None:
    classes = np.array([0, 1, 2, 1])
    scores = SCORES[[0, 1, 1, 2]]
    expected = make()
    expected.update(scores, classes)
    # With numbers that sum to 1 a class is as probable as with its number.
    targets = [classes.astype(dtype) for dtype in ("int8", "uint8", "int32", "int64", "uint64")]
    for target in (*targets, np.eye(3)[classes], np.eye(3, dtype=np.int64)[classes]):
        metric = make()
        metric.update(ex.tensor(scores), target)
        np.testing.assert_array_equal(metric.compute(), expected.compute())


def test_two_classes_by_bools() -> None:
    metric = Accuracy()
    metric.update(SCORES[:, :2], np.array([False, True, True]))
    assert metric.compute() == pytest.approx(2 / 3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("make", OF_CLASSES, ids=NAMES)
def test_outputs_of_every_kind(make: Any, dtype: str, rng: np.random.Generator) -> None:
    scores, classes = rng.integers(-3, 4, (20, 3)), rng.permutation(np.arange(20) % 3)
    metric, expected = make(), make()
    metric.update(ex.tensor(scores, dtype), classes)
    expected.update(scores, classes)
    np.testing.assert_array_equal(metric.compute(), expected.compute())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("kind", [Accuracy, ConfusionMatrix, F1, LogLoss, CalibrationError, ROCAUC])
@pytest.mark.parametrize("task", ["binary", "multilabel"])
def test_labels_of_every_kind(kind: Any, task: str, dtype: str, rng: np.random.Generator) -> None:
    scores = rng.integers(-3, 4, (20, 1 if task == "binary" else 3))
    truth = rng.permutation(np.arange(scores.size) % 2).reshape(scores.shape)
    expected = kind(task=task)
    expected.update(scores, truth)
    for target in (truth, truth > 0, ex.tensor(truth, dtype)):
        metric = kind(task=task)
        metric.update(ex.tensor(scores, dtype), target)
        np.testing.assert_array_equal(metric.compute(), expected.compute())


OF_NUMBERS: list[Any] = [MeanAbsoluteError, RootMeanSquaredError, MedianAbsoluteError, R2]


@pytest.mark.parametrize("make", [*OF_CLASSES, *OF_NUMBERS])
def test_empty_batches_count_for_nothing(make: Any) -> None:
    metric, expected = make(), make()
    target = 2 * SCORES if make in OF_NUMBERS else np.array([0, 1, 2])
    metric.update(SCORES[:0], target[:0])
    nothing = metric.compute()
    assert not nothing.any() if isinstance(nothing, np.ndarray) else isnan(nothing)
    for one in (metric, expected):
        one.update(SCORES, target)
    metric.update(SCORES[:0], target[:0])
    np.testing.assert_array_equal(metric.compute(), expected.compute())
    assert not np.isnan(expected.compute()).any()


@pytest.mark.parametrize("make", [*OF_CLASSES, *OF_NUMBERS])
def test_what_was_given_may_change_afterwards(make: Any, rng: np.random.Generator) -> None:
    output, target = rng.normal(size=(9, 3)), np.arange(9) % 3
    if make in OF_NUMBERS:
        target = rng.normal(size=(9, 3))  # type: ignore[assignment]
    metric = make()
    metric.update(output, target)
    before = metric.compute()
    output[:], target[:] = 0, 0
    np.testing.assert_array_equal(metric.compute(), before)


@pytest.mark.parametrize("kind", [ROCAUC, AveragePrecision])
@pytest.mark.parametrize("task", ["multiclass", "binary", "multilabel"])
def test_scores_that_are_kept_are_copies(kind: Any, task: str, rng: np.random.Generator) -> None:
    output = rng.dirichlet(np.ones(3), 9)
    target = np.arange(9) % 3
    if task != "multiclass":
        output = output[:, :1] if task == "binary" else output
        target = (output > 0.3).astype(np.int64)
    metric = kind(task=task, scores="probabilities")
    metric.update(output, target)
    before = metric.compute()
    output[:], target[:] = 0, 0
    assert metric.compute() == before


def test_a_matrix_that_is_changed_is_a_copy() -> None:
    metric = ConfusionMatrix(2)
    metric.update(np.eye(2), [0, 1])
    metric.compute()[:] = 7
    assert metric.compute().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("average", ["macro", "weighted", None])
def test_fractions_of_nothing(average: Any) -> None:
    for task, size in (("multiclass", 3), ("binary", 2), ("multilabel", 4)):
        value = F1(size, average, task=task).compute()
        assert np.shape(value) == (() if average else (size,))
        assert np.isnan(value).all()
    assert ConfusionMatrix(task="multilabel").compute().shape == (0, 2, 2)


def test_a_perplexity_beyond_all_numbers() -> None:
    metric = Perplexity()
    metric.update([[0.0, 1e4]], [0])
    assert metric.compute() == float("inf")


@pytest.mark.parametrize(
    "metric",
    [Accuracy(), TopKAccuracy(2), LogLoss(), Perplexity(), CalibrationError(), ROCAUC()],
)
def test_batches_of_other_classes_are_refused(metric: Any) -> None:
    metric.update(np.eye(3), [0, 1, 2])
    before = metric.compute()
    text = (
        f"{type(metric).__name__}: output must have the scores of 3 classes along axis 1, "
        "as the batches before, which reset() forgets, got classes=4"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        metric.update(np.eye(4), [0, 1, 2, 3])
    assert metric.compute() == before
    if hasattr(metric, "state_dict"):
        metric.load_state_dict(metric.state_dict())
        metric.update(np.eye(4), [0, 1, 2, 3])
    metric.reset()
    metric.update(np.eye(5), [0, 1, 2, 3, 4])


@pytest.mark.parametrize("kind", [Accuracy, ConfusionMatrix, F1, LogLoss, CalibrationError, ROCAUC])
def test_batches_of_other_labels_are_refused(kind: Any) -> None:
    metric = kind(task="multilabel")
    metric.update(np.eye(3), np.eye(3))
    before = metric.compute()
    text = (
        f"{kind.__name__}: output must have the scores of 3 labels, "
        "as the batches before, which reset() forgets, got labels=4"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        metric.update(np.eye(4), np.eye(4))
    np.testing.assert_array_equal(metric.compute(), before)
    metric.reset()
    metric.update(np.eye(5), np.eye(5))


@pytest.mark.parametrize("kind", [R2, MedianAbsoluteError])
def test_batches_of_other_columns_are_refused(kind: Any) -> None:
    metric = kind()
    metric.update(np.eye(3), 2 * np.eye(3))
    before = metric.compute()
    text = (
        f"{kind.__name__}: output and target must have 3 columns, as the batches before, "
        "which reset() forgets, got columns=4"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        metric.update(np.eye(4), np.eye(4))
    assert metric.compute() == before
    metric.reset()
    metric.update(np.eye(5), np.eye(5))


def test_too_few_classes_for_k_are_not_remembered() -> None:
    metric = TopKAccuracy(3)
    with pytest.raises(ValueError, match="at least 3 classes"):
        metric.update(np.eye(2), [0, 1])
    metric.update(np.eye(3), [0, 1, 2])
    assert metric.compute() == 1.0


@pytest.mark.parametrize("count", [0, 1])
def test_r2_of_too_few(count: int) -> None:
    metric = R2()
    metric.update(np.ones(count), np.ones(count))
    assert isnan(metric.compute())


def test_an_infinite_output_is_an_infinite_error() -> None:
    for make, value in zip(OF_NUMBERS, (inf, inf, inf, -inf), strict=True):
        metric = make()
        metric.update([inf, 3.0, -inf], [1.0, 2.0, 3.0])
        assert metric.compute() == value


def test_errors_beyond_all_numbers() -> None:
    for make in OF_NUMBERS[:3]:
        metric = make()
        metric.update(np.array([1.7e308, 1.7e308]), np.array([-1.7e308, -1.7e308]))
        assert metric.compute() == inf


def test_the_columns_of_a_root_are_one() -> None:
    metric = RootMeanSquaredError()
    metric.update([[1.0, 3.0]], [[0.0, 0.0]])
    assert metric.compute() == 5**0.5


def test_plain_numbers_are_not_rounded() -> None:
    metric = MeanAbsoluteError()
    metric.update([1e9 + 0.5, 1e200], [1e9, 1e200])
    assert metric.compute() == 0.25
