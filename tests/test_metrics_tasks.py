"""Metrics of each task against plain accounts: what used to be wrong, sequences, calibration, states."""

from __future__ import annotations

import re
from functools import partial
from math import exp, inf, isnan, log, nan
from typing import Any

import numpy as np
import pytest
from metric_draws import (
    CLASSES,
    SEEDS,
    assert_equal,
    drawn_classes,
    drawn_labels,
    drawn_pairs,
    softmax,
)

import extensor as ex
from extensor import train


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_a_model_that_is_always_wrong(shape: tuple[int, ...]) -> None:
    """One logit against labels: all classes were taken for the first, so half of them were right."""
    output, target = np.reshape([2.0, -3.0, 1.0, -0.5], shape), np.array([0, 1, 0, 1])
    metric = train.Accuracy(task="binary")
    metric.update(output, target)
    assert metric.compute() == 0.0
    metric.reset()
    metric.update(output, 1 - target)
    assert metric.compute() == 1.0
    with pytest.raises(ValueError, match="task='binary' for one logit"):
        train.Accuracy().update(output, target)


def test_several_labels_of_each_sample() -> None:
    """The label with the highest score was compared with the first that is there."""
    output = np.array([[3.0, 2.0, -1.0], [1.0, -1.0, -2.0], [-1.0, -1.0, -1.0]])
    target = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0]])
    metric = train.Accuracy(task="multilabel")
    metric.update(output, target)
    assert metric.compute() == 2 / 3
    with pytest.raises(ValueError, match="task='multilabel' for several labels"):
        train.Accuracy().update(output, target)


def test_a_score_on_the_threshold_is_negative() -> None:
    for scores, middle in (("logits", 0.0), ("probabilities", 0.5)):
        for step, found in ((0.0, 0), (1e-6, 1)):
            metric = train.ConfusionMatrix(task="binary", scores=scores)
            metric.update([middle + step], [1])
            assert metric.compute()[1].tolist() == [1 - found, found]


def _tokens(seed: int, length: int = 5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(6, length, CLASSES)), rng.integers(0, CLASSES, (6, length))


SEQUENCES: list[Any] = [
    train.Accuracy,
    partial(train.TopKAccuracy, 2),
    train.LogLoss,
    train.Perplexity,
]


@pytest.mark.parametrize("make", SEQUENCES)
def test_sequences_are_samples_one_after_the_other(make: Any) -> None:
    for seed in SEEDS:
        output, target = _tokens(seed)
        plain = make(task="multiclass")
        plain.update(output.reshape(-1, CLASSES), target.reshape(-1))
        expected = plain.compute()
        made = partial(make, task="sequence")
        assert_equal(made, output, target, expected)
        assert_equal(made, output.swapaxes(1, 2), target, expected)
        for axis in (1, -2):
            assert_equal(partial(made, class_axis=axis), output.swapaxes(1, 2), target, expected)
        assert_equal(partial(make, task="multiclass"), output.swapaxes(1, 2), target, expected)
        others = partial(make, task="multiclass", class_axis=-1)
        assert_equal(others, output, target, expected)


@pytest.mark.parametrize("make", SEQUENCES)
def test_as_many_tokens_as_classes(make: Any) -> None:
    output, target = _tokens(0, CLASSES)
    plain = make(task="multiclass")
    plain.update(output.reshape(-1, CLASSES), target.reshape(-1))
    assert_equal(partial(make, task="sequence", class_axis=-1), output, target, plain.compute())
    with pytest.raises(ValueError, match="class_axis=2 or another says which"):
        make(task="sequence").update(output, target)


@pytest.mark.parametrize("make", SEQUENCES)
def test_as_many_samples_as_classes(make: Any) -> None:
    """The first axis is that of the samples, so nothing is in doubt."""
    output, target = _tokens(0)
    output, target = output[:CLASSES], target[:CLASSES]
    plain = make(task="multiclass")
    plain.update(output[:, 0], target[:, 0])
    assert_equal(partial(make, task="sequence"), output[:, 0], target[:, 0], plain.compute())


@pytest.mark.parametrize("make", SEQUENCES)
def test_tokens_that_are_left_out(make: Any) -> None:
    output, target = _tokens(1)
    masked = target.copy()
    masked[:, 3:] = -100
    expected = make(task="sequence")
    expected.update(output[:, :3], target[:, :3])
    made = partial(make, ignore_index=-100, task="sequence")
    assert_equal(made, output, masked, expected.compute())


def test_a_perplexity_of_nothing() -> None:
    metric = train.Perplexity()
    metric.update(np.zeros((2, 3, 4)), np.full((2, 3), -100))
    assert isnan(metric.compute())


@pytest.mark.parametrize("scores", ["logits", "probabilities"])
def test_log_loss_of_probable_targets(scores: str) -> None:
    output, target, probability = drawn_classes(0, scores, "float64")
    shares = softmax(np.random.default_rng(5).normal(size=output.shape))
    shares[::2] = np.eye(CLASSES)[target[::2]]
    rows = zip(shares.tolist(), probability.tolist(), strict=True)
    losses = [-q * log(p) for row in rows for q, p in zip(*row, strict=True)]
    mean = sum(losses) / len(output)
    assert_equal(partial(train.LogLoss, scores=scores), output, shares, mean)
    assert_equal(partial(train.Perplexity, scores=scores), output, shares, exp(mean))


def test_probable_targets_that_are_left_out() -> None:
    output, target, _ = drawn_classes(0, "logits", "float64")
    shares = 0.75 * np.eye(CLASSES)[target] + 0.25 * np.eye(CLASSES)[(target + 1) % CLASSES]
    kept = target != 2
    expected = train.LogLoss()
    expected.update(output[kept], shares[kept])
    assert_equal(partial(train.LogLoss, 2), output, shares, expected.compute())


def test_log_loss_of_small_probabilities() -> None:
    metric = train.LogLoss(task="binary", scores="probabilities")
    metric.update(np.array([1e-20]), [0])
    assert metric.compute() == 1e-20


def test_log_loss_of_large_logits() -> None:
    metric = train.LogLoss()
    metric.update([[1e4, 0.0], [0.0, 1e4]], [0, 0])
    assert metric.compute() == 5000.0
    metric = train.LogLoss(task="binary")
    metric.update([1e4, -1e4, inf, -50.0], [1, 1, 1, 0])
    assert metric.compute() == pytest.approx((1e4 + exp(-50)) / 4, rel=1e-15)


def test_log_loss_of_what_was_impossible() -> None:
    for task, output, target in [
        ("binary", [0.0, 0.5], [1, 1]),
        ("binary", [1.0, 0.5], [0, 1]),
        ("multiclass", [[1.0, 0.0]], [1]),
        ("multiclass", [[1.0, 0.0]], [[0.5, 0.5]]),
    ]:
        metric = train.LogLoss(task=task, scores="probabilities")  # type: ignore[arg-type]
        metric.update(output, target)
        assert metric.compute() == inf
    metric = train.LogLoss(scores="probabilities")
    metric.update([[1.0, 0.0]], [[1.0, 0.0]])
    assert metric.compute() == 0.0


def _calibration(probability: Any, events: Any, bins: int) -> float:
    """By the definition, bin by bin."""
    total = 0.0
    for i in range(bins):
        inside = [
            (p, event)
            for p, event in zip(probability, events, strict=True)
            if i / bins <= p < (i + 1) / bins or (p == 1 and i == bins - 1)
        ]
        if inside:
            mean = sum(p for p, _ in inside) / len(inside)
            fraction = sum(bool(event) for _, event in inside) / len(inside)
            total += len(inside) / len(probability) * abs(mean - fraction)
    return total


@pytest.mark.parametrize("bins", [1, 10, 100])
@pytest.mark.parametrize("scores", ["logits", "probabilities"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_calibration(bins: int, scores: str, dtype: str) -> None:
    made = partial(train.CalibrationError, bins, scores=scores)
    for seed in SEEDS:
        output, target, probability = drawn_pairs(seed, scores, dtype)
        expected = _calibration(probability, target.reshape(-1), bins)
        assert_equal(partial(made, task="binary"), output, target, expected)
        output, target, probability = drawn_labels(seed, scores, dtype)
        each = [_calibration(*pair, bins) for pair in zip(probability.T, target.T, strict=True)]
        assert_equal(partial(made, task="multilabel"), output, target, sum(each) / len(each))
        output, target, probability = drawn_classes(seed, scores, dtype)
        right = output.argmax(axis=1) == target
        expected = _calibration(probability.max(axis=1), right, bins)
        assert_equal(made, output, target, expected)


def test_probabilities_on_the_edges_of_bins() -> None:
    """What is 0.3 is in the bin that begins with it, though 0.1 * 3 is more."""
    edges = np.arange(11) / 10
    for shift in (0.0, 1e-9, -1e-9):
        probability = np.clip(edges + shift, 0, 1)
        for event in (0, 1):
            target = np.full(11, event)
            target[::3] = 1 - event
            made = partial(train.CalibrationError, task="binary", scores="probabilities")
            assert_equal(made, probability, target, _calibration(probability, target, 10))


STATES: list[tuple[Any, str]] = [
    (partial(train.Accuracy, task="binary"), "binary"),
    (partial(train.Accuracy, task="multilabel"), "multilabel"),
    (train.Accuracy, "multiclass"),
    (partial(train.TopKAccuracy, 2), "multiclass"),
    (train.LogLoss, "multiclass"),
    (train.Perplexity, "multiclass"),
    (partial(train.ConfusionMatrix, CLASSES), "multiclass"),
    (partial(train.F1, task="multilabel"), "multilabel"),
    (partial(train.F1, task="binary"), "binary"),
    (partial(train.BalancedAccuracy, CLASSES), "multiclass"),
    (train.CalibrationError, "multiclass"),
    (partial(train.CalibrationError, task="multilabel"), "multilabel"),
    (train.MeanAbsoluteError, "regression"),
    (train.RootMeanSquaredError, "regression"),
    (train.R2, "regression"),
]
DRAWS: dict[str, Any] = {
    "binary": lambda: drawn_pairs(0, "logits", "float32")[:2],
    "multilabel": lambda: drawn_labels(0, "logits", "float32")[:2],
    "multiclass": lambda: drawn_classes(0, "logits", "float32")[:2],
    "regression": lambda: np.random.default_rng(0).normal(size=(2, 60, 3)),
}


@pytest.mark.parametrize(("make", "task"), STATES)
def test_going_on_from_a_state(make: Any, task: str, tmp_path: Any) -> None:
    output, target = DRAWS[task]()
    whole, first, second = make(), make(), make()
    second.load_state_dict(first.state_dict())
    for begin, end in ((0, 0), (0, 20), (20, 60)):
        whole.update(output[begin:end], target[begin:end])
        second.update(output[begin:end], target[begin:end])
        ex.save(tmp_path / "state", {"metric": second.state_dict()})
        second = make()
        second.load_state_dict(ex.load(tmp_path / "state")["metric"])
        np.testing.assert_array_equal(second.compute(), whole.compute())
    assert not np.isnan(whole.compute()).any()


@pytest.mark.parametrize(("make", "task"), STATES)
def test_a_state_is_a_copy(make: Any, task: str) -> None:
    output, target = DRAWS[task]()
    metric, other = make(), make()
    metric.update(output, target)
    state = metric.state_dict()
    other.load_state_dict(state)
    before = metric.compute()
    other.update(output, target)
    for value in state.values():
        if isinstance(value, np.ndarray):
            value[...] = 0
    np.testing.assert_array_equal(metric.compute(), before)
    np.testing.assert_array_equal(other.state_dict().keys(), state.keys())


BAD: list[tuple[Any, Any, str]] = [
    (train.Accuracy(), [], "Accuracy.load_state_dict: state_dict must be a mapping, got state_dict='list'"),
    (
        train.Accuracy(),
        {"total": 1.0},
        "Accuracy.load_state_dict: keys must be ['total', 'count'], got keys=['total']",
    ),
    (
        train.RootMeanSquaredError(),
        {"total": -1.0, "count": 1},
        "RootMeanSquaredError.load_state_dict: total must be 0 or greater, got total=-1.0",
    ),
    (
        train.LogLoss(),
        {"total": 1.0, "count": -1},
        "LogLoss.load_state_dict: count must be from 0 to 2**63 - 1, got count=-1",
    ),
    (
        train.ConfusionMatrix(2),
        {"counts": np.zeros((3, 3), int)},
        "ConfusionMatrix.load_state_dict: counts must have a shape of (2, 2), got shape=(3, 3)",
    ),
    (
        train.ConfusionMatrix(2),
        {"counts": np.zeros((2, 2))},
        "ConfusionMatrix.load_state_dict: counts must be integers, got dtype='float64'",
    ),
    (
        train.ConfusionMatrix(2),
        {"counts": -np.ones((2, 2), int)},
        "ConfusionMatrix.load_state_dict: counts must be numbers from 0 on, in all less than 2**62",
    ),
    (
        train.F1(2, "weighted"),
        {"counts": np.full((2, 2), 2**62)},
        "F1.load_state_dict: counts must be numbers from 0 on, in all less than 2**62",
    ),
    (
        train.F1(task="multilabel"),
        {"counts": np.zeros((3, 3), int)},
        "F1.load_state_dict: counts must have a shape of (any, 2, 2), got shape=(3, 3)",
    ),
    (
        train.F1(2),
        {"counts": "many"},
        "F1.load_state_dict: counts must be a tensor, got counts='many'",
    ),
    (
        train.CalibrationError(2),
        {"count": 1, "probability": [[0.0]], "events": [[0.0]]},
        "CalibrationError.load_state_dict: probability must have a shape of (1, 2), got shape=(1, 1)",
    ),
    (
        train.CalibrationError(1),
        {"count": 1, "probability": [[nan]], "events": [[0.0]]},
        "CalibrationError.load_state_dict: probability must be finite numbers",
    ),
    (
        train.CalibrationError(1),
        {"count": 1, "probability": [[0.0]], "events": [[-1.0]]},
        "CalibrationError.load_state_dict: events must be numbers from 0 on",
    ),
    (
        train.R2(),
        {"count": 2, "mean": [inf], "low": [0.0], "high": [1.0], "spread": [1.0], "residue": [1.0]},
        "R2.load_state_dict: mean must be finite numbers",
    ),
    (
        train.R2(),
        {"count": 2, "mean": [1.0], "low": [0.0], "high": [], "spread": [1.0], "residue": [1.0]},
        "R2.load_state_dict: high must have a shape of (1,), got shape=(0,)",
    ),
    (
        train.R2(),
        {"count": 2, "mean": [1.0], "low": [0.0], "high": [1.0], "spread": 1.0, "residue": [1.0]},
        "R2.load_state_dict: spread must have a shape of (1,), got shape=()",
    ),
    (
        train.R2(),
        {"count": 2, "mean": [], "low": [], "high": [], "spread": [], "residue": []},
        "R2.load_state_dict: spread must have a shape of (1,), got shape=(0,)",
    ),
    (
        train.CalibrationError(1, task="multilabel"),
        {"count": 2, "probability": np.zeros((0, 1)), "events": np.zeros((0, 1))},
        "CalibrationError.load_state_dict: probability must have a row for each label, "
        "got shape=(0, 1)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "state", "text"), BAD)
def test_states_that_do_not_fit(metric: Any, state: Any, text: str) -> None:
    before = metric.state_dict()
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(text)}$"):
        metric.load_state_dict(state)
    assert repr(metric.state_dict()) == repr(before)
