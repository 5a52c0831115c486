"""Outputs and targets that are drawn for the tests of metrics, and metrics of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any, NamedTuple

import numpy as np

import extensor as ex

SEEDS = range(4)
SAMPLES = 60
CLASSES = 4
LABELS = 3


class Drawn(NamedTuple):
    """What a metric is given, and the same as scikit-learn takes it, in float64."""

    output: Any
    target: Any
    probability: Any


def softmax(logits: Any) -> Any:
    """Rounded once, so that the same logits in another order are a tie."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / np.array([[fsum(row)] for row in powers])


def sigmoid(logits: Any) -> Any:
    return 1 / (1 + np.exp(-logits))


def drawn_labels(seed: int, scores: str, dtype: str, labels: int = LABELS) -> Drawn:
    """Scores, every second time with ties, and 0 or 1 as integers, bools or floats."""
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(SAMPLES, labels))
    if seed % 2:
        logits = np.round(logits)
    given = (logits if scores == "logits" else sigmoid(logits)).astype(dtype)
    wide = given.astype(np.float64)
    truth = rng.random((SAMPLES, labels)) < sigmoid(logits)
    target = truth.astype(["int64", "bool", "float32", "uint8"][seed % 4])
    return Drawn(given, target, sigmoid(wide) if scores == "logits" else wide)


def drawn_pairs(seed: int, scores: str, dtype: str) -> Drawn:
    """One score for each sample, with an axis of 1 in the output, the target, both or neither."""
    output, target, probability = drawn_labels(seed, scores, dtype, 1)
    output = output if seed in (0, 1) else output[:, 0]
    return Drawn(output, target if seed in (0, 2) else target[:, 0], probability[:, 0])


def drawn_classes(seed: int, scores: str, dtype: str) -> Drawn:
    """Scores of classes, every second time with ties; probabilities are sums of 1/16."""
    rng = np.random.default_rng(seed)
    logits = 2 * rng.normal(size=(SAMPLES, CLASSES))
    if seed % 2:
        logits = np.round(logits)
    if scores == "logits":
        given = logits.astype(dtype)
        probability = softmax(given.astype(np.float64))
    else:
        counts = [rng.multinomial(16 - CLASSES, p) for p in softmax(logits)]
        given = ((np.array(counts) + 1) / 16).astype(dtype)
        probability = given.astype(np.float64)
    classes = np.array([rng.choice(CLASSES, p=p / p.sum()) for p in probability])
    return Drawn(given, classes.astype(["int64", "int32", "uint8", "int8"][seed % 4]), probability)


def in_ways(make: Any, output: Any, target: Any) -> Iterator[Any]:
    """The value at once, and in batches of tensors after a reset."""
    metric = make()
    metric.update(output, target)
    yield metric.compute()
    metric.reset()
    size = len(output)
    for begin, end in ((0, 1), (1, 1), (1, size // 3), (size // 3, size)):
        metric.update(ex.tensor(output[begin:end]), ex.tensor(target[begin:end]))
    yield metric.compute()


def assert_equal(make: Any, output: Any, target: Any, expected: Any) -> None:
    """At once and in batches, to the last bits of float64."""
    for value in in_ways(make, output, target):
        assert isinstance(value, float | np.ndarray)
        assert np.shape(value) == np.shape(expected)
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
