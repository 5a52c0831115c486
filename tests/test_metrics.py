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
    Metric,
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


ONE = (
    "output must have the scores of two or more classes along axis 1 "
    "(one logit x for each sample as two scores: ex.{}([-x, x], axis=1)), "
)
SUMS = (
    "a target of the shape of output must be probabilities that sum to 1 along axis 1 "
    "(several labels for each sample are not what it measures), "
)
INTEGERS = "target must be class numbers, integers (target.astype('int64') if they are), "
OF_CLASSES: list[Any] = [
    Accuracy,
    lambda: TopKAccuracy(1),
    lambda: ConfusionMatrix(3),
    lambda: Precision(3),
    lambda: Recall(3),
    lambda: F1(3),
    Perplexity,
]
NAMES = ["Accuracy", "TopKAccuracy", "ConfusionMatrix", "Precision", "Recall", "F1", "Perplexity"]
LOGITS = np.array([[2.0], [-1.0], [0.5]], np.float32)
SCORES = np.eye(3, dtype=np.float32)


@pytest.mark.parametrize(
    ("output", "target", "text"),
    [
        (LOGITS, [0, 1, 0], ONE.format("concatenate") + "got output_shape=(3, 1), target_shape=(3,)"),
        (LOGITS, LOGITS, ONE.format("concatenate") + "got output_shape=(3, 1), target_shape=(3, 1)"),
        (LOGITS[:, 0], [0, 1, 0], ONE.format("stack") + "got output_shape=(3,), target_shape=(3,)"),
        (np.ones((2, 0)), [0, 1], ONE.format("concatenate") + "got output_shape=(2, 0), target_shape=(2,)"),
        (SCORES, [[1, 1, 0], [0, 0, 1], [1, 0, 0]], SUMS + "got sum=2.0, least=0.0"),
        (SCORES, [[1, 0, 0], [0, 0, 0], [1, 0, 0]], SUMS + "got sum=0.0, least=0.0"),
        (SCORES, SCORES - np.roll(SCORES, 1, 1) + SCORES, SUMS + "got sum=1.0, least=-1.0"),
        (SCORES, [0.0, 1.0, 2.0], INTEGERS + "got target_dtype='float32'"),
        (SCORES, [0, 1, 3], "target must be classes in [0, 2], those of output, got target=3"),
        (
            SCORES,
            [0, 1, -7],
            "target must be classes in [0, 2], those of output (ignore_index=-7 leaves it out), "
            "got target=-7",
        ),
        (SCORES * [[1], [np.nan], [1]], [0, 1, 2], "output must have no NaN, got sample=1"),
        (
            SCORES,
            [[0], [1], [2]],
            "output must be scores with the classes along axis 1, target their numbers, "
            "got output_shape=(3, 3), target_shape=(3, 1)",
        ),
        (
            SCORES,
            "cat",
            "dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or float64, "
            "got dtype=dtype('<U3')",
        ),
        (
            3.0,
            1,
            "output must be scores with the classes along axis 1, target their numbers, "
            "got output_shape=(), target_shape=()",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_what_is_no_choice_of_a_class(number: int, output: Any, target: Any, text: str) -> None:
    metric = OF_CLASSES[number]()
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(f'{NAMES[number]}: {text}')}$"):
        metric.update(output, target)
    value = np.asarray(metric.compute())
    assert np.isnan(value).all() or not value.any()  # nothing was counted


def test_one_logit_as_the_message_says(rng: np.random.Generator) -> None:
    x, y = ex.tensor(rng.normal(size=(20, 1))), rng.integers(0, 2, 20)
    metric = Accuracy()
    metric.update(ex.concatenate([-x, x], axis=1), y)
    assert metric.compute() == np.mean((x.numpy()[:, 0] > 0) == y)


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_classes_that_are_left_out(number: int) -> None:
    expected, metric = OF_CLASSES[number](), OF_CLASSES[number]()
    metric.ignore_index = -1
    scores = SCORES + np.array([[0, 2, 0], [0, 0, 0], [3, 0, 0]], np.float32)
    metric.update(scores, [0, -1, 2])
    expected.update(scores[[0, 2]], [0, 2])
    np.testing.assert_allclose(metric.compute(), expected.compute(), rtol=1e-6)


@pytest.mark.parametrize("number", range(len(NAMES)), ids=NAMES)
def test_targets_of_every_integer_kind(number: int) -> None:
    for dtype in ("int8", "uint8", "int32", "int64", "uint64"):
        metric, expected = OF_CLASSES[number](), OF_CLASSES[number]()
        metric.update(ex.tensor(SCORES), np.array([0, 1, 1], dtype))
        expected.update(SCORES, [0, 1, 1])
        np.testing.assert_array_equal(metric.compute(), expected.compute())
    metric = Accuracy()
    metric.update(SCORES[:, :2], np.array([False, True, True]))
    assert metric.compute() == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "made",
    [*OF_CLASSES[:2], *OF_CLASSES[3:], MeanAbsoluteError, RootMeanSquaredError],
)
def test_empty_batches_count_for_nothing(made: Any) -> None:
    metric, expected = made(), made()
    of_classes = not isinstance(metric, MeanAbsoluteError | RootMeanSquaredError)
    target = np.array([0, 1, 1]) if of_classes else 2 * SCORES
    metric.update(SCORES[:0], target[:0])
    assert isnan(metric.compute())
    for one in (metric, expected):
        one.update(SCORES, target)
    metric.update(SCORES[:0], target[:0])
    assert metric.compute() == expected.compute()


def test_a_perplexity_beyond_all_numbers() -> None:
    metric = Perplexity()
    metric.update([[0.0, 1e4]], [0])
    assert metric.compute() == float("inf")


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: Accuracy().update(np.ones((2, 3)), [0, 1, 2]),
            "Accuracy: output must be scores with the classes along axis 1, target their numbers, "
            "got output_shape=(2, 3), target_shape=(3,)",
        ),
        (
            lambda: F1(2).update(np.eye(3), [0, 1, 1]),
            "F1: output must have the scores of 2 classes along axis 1, got classes=3",
        ),
        (
            lambda: ConfusionMatrix(3).update(np.eye(2), [0, 1]),
            "ConfusionMatrix: output must have the scores of 3 classes along axis 1, got classes=2",
        ),
        (
            lambda: TopKAccuracy().update(np.eye(3), [0, 1, 1]),
            "TopKAccuracy: output must have at least 5 classes along axis 1, or k be less, "
            "got classes=3",
        ),
        (lambda: TopKAccuracy(0), "TopKAccuracy: k must be 1 or more, got k=0"),
        (lambda: TopKAccuracy("5"), "TopKAccuracy: k must be an integer, got k='5'"),
        (lambda: Recall(0), "Recall: num_classes must be 2 or more, got num_classes=0"),
        (lambda: Recall(None), "Recall: num_classes must be an integer, got num_classes=None"),
        (
            lambda: Accuracy("multiclass"),
            "Accuracy: ignore_index must be an integer, got ignore_index='multiclass'",
        ),
        (
            lambda: Precision(2, "micro"),
            "Precision: average must be 'macro' or None, got average='micro'",
        ),
        (
            lambda: MeanAbsoluteError().update(np.ones((2, 1)), np.ones(2)),
            "MeanAbsoluteError: output and target must have the same shape, "
            "got output_shape=(2, 1), target_shape=(2,)",
        ),
        (
            lambda: RootMeanSquaredError().update(["a"], ["b"]),
            "RootMeanSquaredError: dtype must be bool, int8-64, uint8-64, float16, bfloat16, "
            "float32 or float64, got dtype=dtype('<U1')",
        ),
        (
            lambda: Mean().update([1.0], [1.0]),
            "Mean: a mean is told numbers, by add(value, count), not outputs",
        ),
        (lambda: Metric().compute(), "Metric: needs a method compute"),
    ],
)
def test_errors(work: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=f"^{re.escape(text)}$"):
        work()


@pytest.mark.parametrize("metric", [Accuracy(), TopKAccuracy(2), Perplexity()])
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
    metric.load_state_dict(metric.state_dict())
    metric.update(np.eye(4), [0, 1, 2, 3])
    metric.reset()
    metric.update(np.eye(5), [0, 1, 2, 3, 4])


def test_too_few_classes_for_k_are_not_remembered() -> None:
    metric = TopKAccuracy(3)
    with pytest.raises(ValueError, match="at least 3 classes"):
        metric.update(np.eye(2), [0, 1])
    metric.update(np.eye(3), [0, 1, 2])
    assert metric.compute() == 1.0


@pytest.mark.parametrize("kind", [Precision, Recall, F1, ConfusionMatrix])
def test_the_number_of_classes_is_asked_for_by_name(kind: Any) -> None:
    text = rf"^{kind.__name__}.__init__\(\) missing 1 required positional argument: 'num_classes'$"
    with pytest.raises(TypeError, match=text):
        kind()
