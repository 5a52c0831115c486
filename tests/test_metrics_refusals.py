"""What metrics refuse, with the whole text, and that nothing was counted."""

from __future__ import annotations

import re
from functools import partial
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from extensor import train

CLASSES = 3
# Each metric of one class among several, and which other tasks it knows.
KINDS: dict[str, tuple[Any, str]] = {
    "Accuracy": (train.Accuracy, "binary multilabel sequence"),
    "TopKAccuracy": (partial(train.TopKAccuracy, 1), "sequence"),
    "ConfusionMatrix": (partial(train.ConfusionMatrix, CLASSES), "binary multilabel"),
    "BalancedAccuracy": (partial(train.BalancedAccuracy, CLASSES), "binary"),
    "Precision": (partial(train.Precision, CLASSES), "binary multilabel"),
    "Recall": (partial(train.Recall, CLASSES), "binary multilabel"),
    "F1": (partial(train.F1, CLASSES), "binary multilabel"),
    "ROCAUC": (train.ROCAUC, "binary multilabel"),
    "AveragePrecision": (train.AveragePrecision, "binary multilabel"),
    "LogLoss": (train.LogLoss, "binary multilabel sequence"),
    "CalibrationError": (train.CalibrationError, "binary multilabel"),
    "Perplexity": (partial(train.Perplexity, task="multiclass"), "sequence"),
}
WITH_LABELS = [name for name, (_, tasks) in KINDS.items() if "multilabel" in tasks]
OF_TWO = [name for name, (_, tasks) in KINDS.items() if "binary" in tasks]
OF_TOKENS = [name for name, (_, tasks) in KINDS.items() if "sequence" in tasks]

TWO = "output must have the scores of two or more classes along axis 1 "
AS_TWO = TWO + "(one logit x for each sample as two scores: ex.{}([-x, x], axis=1)), "
BINARY = TWO + "(task='binary' for one logit for each sample), "
SUMS = "a target of the shape of output must be probabilities that sum to 1 along axis 1 "
NO_LABELS = "(several labels for each sample are not what it measures), "
LABELS = "(task='multilabel' for several labels for each sample), "
INTEGERS = "target must be class numbers, integers (target.astype('int64') if they are), "
ALONG = "output must be scores with the classes along axis 1, target their numbers, "
DTYPES = "dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or float64, "
LOGITS = np.array([[2.0], [-1.0], [0.5]], np.float32)
SCORES = np.eye(3, dtype=np.float32)


def refuses(metric: Any, output: Any, target: Any, text: str) -> None:
    name = type(metric).__name__
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(f'{name}: {text}')}$"):
        metric.update(output, target)
    value = np.asarray(metric.compute())
    assert np.isnan(value).all() or not value.any()  # nothing was counted


@pytest.mark.parametrize(
    ("output", "target", "got"),
    [
        (LOGITS, [0, 1, 0], "output_shape=(3, 1), target_shape=(3,)"),
        (LOGITS, LOGITS, "output_shape=(3, 1), target_shape=(3, 1)"),
        (LOGITS[:, 0], [0, 1, 0], "output_shape=(3,), target_shape=(3,)"),
        (np.ones((2, 0)), [0, 1], "output_shape=(2, 0), target_shape=(2,)"),
    ],
)
@pytest.mark.parametrize("name", KINDS)
def test_one_score_chooses_no_class(name: str, output: Any, target: Any, got: str) -> None:
    make, tasks = KINDS[name]
    join = "stack" if output.ndim == 1 else "concatenate"
    text = BINARY if "binary" in tasks else AS_TWO.format(join)
    refuses(make(), output, target, f"{text}got {got}")


@pytest.mark.parametrize(
    ("target", "got"),
    [
        ([[1, 1, 0], [0, 0, 1], [1, 0, 0]], "sum=2.0, least=0.0"),
        ([[1, 0, 0], [0, 0, 0], [1, 0, 0]], "sum=0.0, least=0.0"),
        (2 * SCORES - np.roll(SCORES, 1, 1), "sum=1.0, least=-1.0"),
        ([[inf, -inf, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], "sum=nan, least=-inf"),
    ],
)
@pytest.mark.parametrize("name", KINDS)
def test_several_labels_are_no_class(name: str, target: Any, got: str) -> None:
    make, tasks = KINDS[name]
    hint = LABELS if "multilabel" in tasks else NO_LABELS
    refuses(make(), SCORES, target, f"{SUMS}{hint}got {got}")


@pytest.mark.parametrize(
    ("output", "target", "text"),
    [
        (SCORES, [0.0, 1.0, 2.0], INTEGERS + "got target_dtype='float64'"),
        (SCORES, [0, 1, 3], "target must be classes in [0, 2], those of output, got target=3"),
        (
            SCORES,
            [0, 1, -7],
            "target must be classes in [0, 2], those of output (ignore_index=-7 leaves it out), "
            "got target=-7",
        ),
        (SCORES * [[1], [nan], [1]], [0, 1, 2], "output must have no NaN, got sample=1"),
        (SCORES, [[0], [1], [2]], ALONG + "got output_shape=(3, 3), target_shape=(3, 1)"),
        (SCORES, [0, 1], ALONG + "got output_shape=(3, 3), target_shape=(2,)"),
        (SCORES, "cat", DTYPES + "got dtype=dtype('<U3')"),
        (3.0, 1, ALONG + "got output_shape=(), target_shape=()"),
    ],
)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_choice_of_a_class(name: str, output: Any, target: Any, text: str) -> None:
    refuses(KINDS[name][0](), output, target, text)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_probability_of_a_class(name: str) -> None:
    metric = KINDS[name][0](scores="probabilities")
    below = [[0.5, 0.5, 0.0], [-0.25, 1.25, 0.0]]
    text = "output must be probabilities in [0, 1] (scores='logits' if they are not), got output="
    refuses(metric, below, [0, 1], f"{text}-0.25")
    refuses(metric, SCORES + 1, [0, 1, 2], f"{text}2.0")
    text = (
        "output must be probabilities that sum to 1 along axis 1 "
        "(scores='logits' if they are not), got sum="
    )
    refuses(metric, [[0.5, 0.5, 0.0], [0.5, 0.25, 0.0]], [0, 1], f"{text}0.75")


@pytest.mark.parametrize("value", [inf, -inf])
@pytest.mark.parametrize(
    "kind", [train.LogLoss, train.Perplexity, train.CalibrationError, train.ROCAUC]
)
def test_scores_without_a_probability(kind: Any, value: float) -> None:
    text = "output must have a highest score that is finite, or no probability follows, "
    scores = [[0.0, 1.0], [value, value]]
    refuses(kind(), scores, [0, 1], text + "got sample=1")


@pytest.mark.parametrize("name", OF_TOKENS)
def test_tokens_without_their_task(name: str) -> None:
    text = (
        "output must be scores with the classes along axis 1 "
        "(class_axis=-1 if they are along the last), target their numbers, "
        "got output_shape=(2, 4, 3), target_shape=(2, 4)"
    )
    refuses(KINDS[name][0](), np.ones((2, 4, 3)), np.ones((2, 4), int), text)


def test_one_logit_for_each_place() -> None:
    text = (
        TWO + "(task='binary' for one logit for each sample, output and target reshaped to "
        "(samples,)), got output_shape=(2, 1, 4), target_shape=(2, 4)"
    )
    refuses(train.Accuracy(), np.ones((2, 1, 4)), np.ones((2, 4), int), text)


@pytest.mark.parametrize(
    ("output", "target", "text"),
    [
        (
            np.ones((3, 4, 4)),
            np.ones((3, 4), int),
            "the axis of the classes must be the only one that fits target "
            "(class_axis=2 or another says which it is), "
            "got output_shape=(3, 4, 4), target_shape=(3, 4)",
        ),
        (
            np.ones((3, 4, 5)),
            np.full((3, 4, 5), 0.2),
            "target must be class numbers, or the axis of its probabilities be said "
            "(class_axis=1 or another), got output_shape=(3, 4, 5), target_shape=(3, 4, 5)",
        ),
        (
            np.ones((3, 4, 5)),
            np.ones((3, 6), int),
            "output must have the shape of target and an axis more, that of the classes "
            "(the samples come first), got output_shape=(3, 4, 5), target_shape=(3, 6)",
        ),
        (
            np.ones((4, 3)),
            np.ones(3, int),
            "output must have the shape of target and an axis more, that of the classes "
            "(the samples come first), got output_shape=(4, 3), target_shape=(3,)",
        ),
        (
            3.0,
            1,
            "output must have the shape of target and an axis more, that of the classes "
            "(the samples come first), got output_shape=(), target_shape=()",
        ),
        (
            np.ones((2, 3, 5)),
            [[0, 1, 5], [0, 0, 0]],
            "target must be classes in [0, 4], those of output, got target=5",
        ),
    ],
)
@pytest.mark.parametrize("name", OF_TOKENS)
def test_what_is_no_sequence(name: str, output: Any, target: Any, text: str) -> None:
    metric = KINDS[name][0](task="sequence")
    refuses(metric, output, target, text)


@pytest.mark.parametrize("name", OF_TOKENS)
def test_a_wrong_class_axis(name: str) -> None:
    for axis in (1, 3, -5):
        metric = KINDS[name][0](task="sequence", class_axis=axis)
        hint = " (class_axis=-1 if they are along the last)"
        text = f"output must be scores with the classes along axis {axis}{hint}, target their numbers, "
        got = "got output_shape=(2, 4, 3), target_shape=(2, 4)"
        refuses(metric, np.ones((2, 4, 3)), np.ones((2, 4), int), text + got)


ONE = "output must have one score for each sample, (samples,) or (samples, 1)"
EACH = "target must have 0 or 1 for each score, (samples,) or (samples, 1), "
PROBABILITIES = "output must be probabilities in [0, 1] (scores='logits' if they are not), "


def _of_task(name: str, task: str, **options: Any) -> Any:
    return getattr(train, name)(task=task, **options)


@pytest.mark.parametrize(
    ("output", "target", "text"),
    [
        (
            SCORES[:, :2],
            [0, 1, 0],
            f"{ONE} (task='multiclass' for a score for each class), "
            "got output_shape=(3, 2), target_shape=(3,)",
        ),
        (np.ones((3, 1, 1)), [0, 1, 0], f"{ONE}, got output_shape=(3, 1, 1), target_shape=(3,)"),
        (0.5, 1, f"{ONE}, got output_shape=(), target_shape=()"),
        (LOGITS, [0, 1], f"{EACH}got output_shape=(3, 1), target_shape=(2,)"),
        (LOGITS, [[0, 1, 0]], f"{EACH}got output_shape=(3, 1), target_shape=(1, 3)"),
        (LOGITS[:, 0], SCORES, f"{EACH}got output_shape=(3,), target_shape=(3, 3)"),
        (LOGITS, [0, 1, 2], "target must be 0 or 1 (task='multiclass' for more classes), got target=2"),
        (LOGITS, [1, -1, 1], "target must be 0 or 1 (target > 0 if they are -1 and 1), got target=-1"),
        (LOGITS, [0.0, 0.25, 1.0], "target must be 0 or 1, got target=0.25"),
        (LOGITS, [0.0, nan, 1.0], "target must be 0 or 1, got target=nan"),
        (LOGITS * nan, [0, 1, 1], "output must have no NaN, got sample=0"),
        (LOGITS, ["a", "b", "c"], DTYPES + "got dtype=dtype('<U1')"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", OF_TWO)
def test_what_is_not_of_two_classes(name: str, output: Any, target: Any, text: str) -> None:
    refuses(_of_task(name, "binary"), output, target, text)


@pytest.mark.parametrize("name", OF_TWO)
def test_two_classes_of_several_labels(name: str) -> None:
    hint = LABELS if name in WITH_LABELS else NO_LABELS
    text = f"{ONE} {hint}got output_shape=(3, 3), target_shape=(3, 3)"
    refuses(_of_task(name, "binary"), SCORES, SCORES, text)


@pytest.mark.parametrize("name", OF_TWO)
def test_what_is_no_probability_of_being_positive(name: str) -> None:
    metric = _of_task(name, "binary", scores="probabilities")
    refuses(metric, [0.5, -0.5], [0, 1], PROBABILITIES + "got output=-0.5")
    refuses(metric, [1.5, 0.5], [0, 1], PROBABILITIES + "got output=1.5")
    refuses(metric, [0.5, inf], [0, 1], PROBABILITIES + "got output=inf")


SAME = "output and target must have the same shape, (samples, labels)"


@pytest.mark.parametrize(
    ("output", "target", "text"),
    [
        (
            LOGITS[:, 0],
            [0, 1, 0],
            f"{SAME} (task='binary' for one score for each sample), "
            "got output_shape=(3,), target_shape=(3,)",
        ),
        (
            SCORES,
            [0, 1, 2],
            f"{SAME} (task='multiclass' for one class for each sample), "
            "got output_shape=(3, 3), target_shape=(3,)",
        ),
        (SCORES, SCORES[:, :2], f"{SAME}, got output_shape=(3, 3), target_shape=(3, 2)"),
        (np.ones((2, 0)), np.ones((2, 0)), f"{SAME}, got output_shape=(2, 0), target_shape=(2, 0)"),
        (SCORES, 2 * SCORES, "target must be 0 or 1, got target=2.0"),
        (SCORES, 2 * SCORES - 1, "target must be 0 or 1 (target > 0 if they are -1 and 1), got target=-1.0"),
        (SCORES * [[1], [1], [nan]], SCORES, "output must have no NaN, got sample=2"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", WITH_LABELS)
def test_what_is_not_of_several_labels(name: str, output: Any, target: Any, text: str) -> None:
    refuses(_of_task(name, "multilabel"), output, target, text)


@pytest.mark.parametrize("name", WITH_LABELS)
def test_what_is_no_probability_of_a_label(name: str) -> None:
    metric = _of_task(name, "multilabel", scores="probabilities")
    refuses(metric, 3 * SCORES, SCORES, PROBABILITIES + "got output=3.0")


OF_NUMBERS = ["MeanAbsoluteError", "RootMeanSquaredError", "MedianAbsoluteError", "R2"]


@pytest.mark.parametrize(
    ("output", "target", "text"),
    [
        (
            np.ones((2, 1)),
            np.ones(2),
            "output and target must have the same shape, got output_shape=(2, 1), target_shape=(2,)",
        ),
        (["a"], ["b"], DTYPES + "got dtype=dtype('<U1')"),
        ([1.0, nan], [1.0, 1.0], "output must have no NaN, got sample=1"),
        (
            [1.0, 2.0],
            [nan, 1.0],
            "target must be finite numbers (leave out the samples that have none), got sample=0",
        ),
        (
            [1.0, inf],
            [1.0, inf],
            "target must be finite numbers (leave out the samples that have none), got sample=1",
        ),
    ],
)
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_what_are_no_numbers(name: str, output: Any, target: Any, text: str) -> None:
    refuses(getattr(train, name)(), output, target, text)


@pytest.mark.parametrize("name", OF_NUMBERS[2:])
def test_what_are_no_columns(name: str) -> None:
    text = "output and target must be (samples,) or (samples, columns)"
    make = getattr(train, name)
    hint = " (x.reshape(len(x), -1) of both)"
    got = "got output_shape=(2, 3, 4), target_shape=(2, 3, 4)"
    refuses(make(), np.ones((2, 3, 4)), np.ones((2, 3, 4)), f"{text}{hint}, {got}")
    refuses(make(), 1.0, 1.0, f"{text}, got output_shape=(), target_shape=()")
    empty = np.ones((2, 0))
    refuses(make(), empty, empty, f"{text}, got output_shape=(2, 0), target_shape=(2, 0)")
