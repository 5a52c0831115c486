"""Measures of a classifier's scores: curves over all thresholds, calibration, rates of classes.

Arrays are NumPy's, of one dimension; ``truth`` is True where a sample has the class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

BINS = 10


class ThresholdCurve(NamedTuple):
    """Points of a curve, and at each the score from which on a sample counts as positive."""

    x: Any
    y: Any
    thresholds: Any


def _counts(truth: Any, scores: Any) -> tuple[Any, Any, Any]:
    """For each threshold, from the highest: the numbers of true and false positives."""
    order = np.argsort(-scores, kind="stable")
    truth, scores = np.asarray(truth)[order].astype(bool), np.asarray(scores)[order]
    # Samples of the same score pass the threshold together.
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    right = np.cumsum(truth)[last]
    return right, last + 1 - right, scores[last]


def roc_curve(truth: Any, scores: Any) -> ThresholdCurve | None:
    """Rates of false and of true positives; None if all samples are of one class."""
    right, wrong, thresholds = _counts(truth, scores)
    if right[-1] == 0 or wrong[-1] == 0:
        return None
    x, y = np.append(0, wrong) / wrong[-1], np.append(0, right) / right[-1]
    return ThresholdCurve(x, y, np.append(np.inf, thresholds))


def area(curve: ThresholdCurve) -> float:
    """The area below a curve that goes straight from point to point."""
    return float(np.sum(np.diff(curve.x) * (curve.y[1:] + curve.y[:-1])) / 2)


def precision_recall_curve(truth: Any, scores: Any) -> ThresholdCurve | None:
    """Recall and precision, beginning at recall 0; None if no sample is of the class."""
    right, wrong, thresholds = _counts(truth, scores)
    if right[-1] == 0:
        return None
    recall, precision = right / right[-1], right / (right + wrong)
    return ThresholdCurve(
        np.append(0, recall), np.append(1, precision), np.append(np.inf, thresholds)
    )


def average_precision(curve: ThresholdCurve) -> float:
    """The mean of the precisions, each weighted with its gain in recall."""
    return float(np.sum(np.diff(curve.x) * curve.y[1:]))


def as_steps(curve: ThresholdCurve) -> ThresholdCurve:
    """The curve as steps: between two thresholds there is no other point."""
    x, y, thresholds = (np.repeat(part, 2) for part in curve)
    return ThresholdCurve(x[:-1], y[1:], thresholds[1:])


class Calibration(NamedTuple):
    """Samples in bins by their probability: counts, mean probability, and how often it came true."""

    counts: Any
    probability: Any
    frequency: Any

    def error(self) -> float:
        """The expected calibration error: the mean distance of the two, weighted by samples."""
        distance = np.abs(self.probability - self.frequency)
        return float(np.sum(self.counts * distance) / np.sum(self.counts))


def calibration(truth: Any, probability: Any, bins: int = BINS) -> Calibration:
    """Compare probabilities with frequencies, in bins of equal width; empty bins have 0."""
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    place = np.searchsorted(edges, probability)
    counts = np.bincount(place, minlength=bins)
    sums = (np.bincount(place, x, minlength=bins) for x in (probability, truth))
    mean, frequency = (x / np.maximum(counts, 1) for x in sums)
    return Calibration(counts, mean, frequency)


class Rates(NamedTuple):
    """Precision, recall and F1 of each class, NaN where it is 0 / 0, and how often it occurs."""

    precision: Any
    recall: Any
    f1: Any
    support: Any


def rates(right: Any, predicted: Any, support: Any) -> Rates:
    """Rates from how often each class is predicted rightly, is predicted, and occurs."""

    def ratio(part: Any, whole: Any) -> Any:
        return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)

    f1 = ratio(2.0 * right, predicted + support)
    return Rates(ratio(right, predicted), ratio(right, support), f1, support)


def mean_rate(values: Any, weights: Any = None) -> float:
    """The mean over classes, in which 0 / 0 counts as 0."""
    return float(np.average(np.nan_to_num(values), weights=weights))
