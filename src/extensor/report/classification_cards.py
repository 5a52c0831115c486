"""Cards and tables of a classifier's scores: curves over thresholds, calibration, each class.

Arrays are NumPy's; those of curves and calibrations have one dimension, and ``truth`` is True where
a sample has the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.report.chart import MOST_POINTS, UNKNOWN, Card, Chart, Series, TableCard, corners
from extensor.report.examination import rate_text

BINS = 10
_DRAWN = 8  # classes in a chart
_LISTED = 40  # classes in a table
_HEIGHT = 300
_PAPER = 350  # how long the axes are, about


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


def precision_recall_steps(truth: Any, scores: Any) -> ThresholdCurve | None:
    """The same as steps, as between two thresholds there is no other point.

    Its area is the average precision: the precisions, each weighted with its gain in recall.
    """
    curve = precision_recall_curve(truth, scores)
    if curve is None:
        return None
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


def curve_cards(
    names: Sequence[str], truths: Any, scores: Any, f1: Any, what: str = "class"
) -> tuple[list[Card], Mapping[int, list[float]]]:
    """Cards of the ROC and the precision-recall curves, and their areas for the table of classes.

    ``truths`` and ``scores`` have a column for each class. Of many only those of lowest F1 count.
    An area is NaN where there is no curve.
    """
    drawn, is_one = set(_lowest(f1, _DRAWN)), len(names) == 1
    areas: dict[int, list[float]] = {column: [] for column in _lowest(f1, _LISTED)}
    note = ""
    if len(drawn) < len(names):
        note += f"The {len(drawn)} of {len(names)} {_plural(what)} with the lowest F1. "
    if not is_one and what == "class":
        note += "Each class against all others. "
    is_thinned = len(truths) > MOST_POINTS
    end = f"Drawn with at most {MOST_POINTS} points, the corners first." if is_thinned else ""

    def series_of(curve_of: Callable[[Any, Any], ThresholdCurve | None]) -> list[Series]:
        series = []
        for column, sizes in areas.items():
            curve = curve_of(truths[:, column], scores[:, column])
            sizes.append(np.nan if curve is None else area(curve))
            if column in drawn and curve is not None:
                series.append(_series(names[column], curve, sizes[-1]))
        return series

    cards = []
    if roc := series_of(roc_curve):
        title = f"ROC curve: area {roc[0].said}" if is_one else "ROC curves"
        words = ("false positive rate", "true positive rate")
        chart = Chart(title, roc, False, *words, (), (0, 1), [((0, 0), (1, 1))], _HEIGHT)
        legend = "" if is_one else "The legend has the areas. "
        cards.append(Card(title, [chart], f"{note}{legend}Along the dashed line, chance. {end}"))
    if precision := series_of(precision_recall_steps):
        title = "Precision and recall"
        title += f": average precision {precision[0].said}" if is_one else ""
        chart = Chart(title, precision, False, "recall", "precision", (), (0, 1), (), _HEIGHT)
        legend = "" if is_one else "The legend has the average precisions. "
        cards.append(Card(title, [chart], f"{note}{legend}{end}"))
    return cards, areas


def _lowest(f1: Any, count: int) -> list[int]:
    """The numbers of the classes of the lowest F1, in their order; unknown ones come last."""
    order = np.argsort(np.where(np.isnan(f1), np.inf, f1), kind="stable")
    return sorted(order[:count].tolist())


def _plural(what: str) -> str:
    return "classes" if what == "class" else f"{what}s"


def _series(name: str, curve: ThresholdCurve, value: float) -> Series:
    kept, _ = corners(_PAPER * curve.x, _PAPER * curve.y)
    x, y, thresholds = (part[kept].tolist() for part in curve)
    points = list(zip(x, y, strict=True))
    labels = [
        "threshold above all" if threshold == np.inf else f"threshold {threshold:.4g}"
        for threshold in thresholds
    ]
    return Series(name, points, labels=labels, said=f"{value:.4f}")


def calibration_card(truth: Any, probability: Any, what: str) -> Card:
    """Frequencies over probabilities, and the number of samples at each probability.

    Columns are labels: they are drawn together, and the error is the mean of their errors.
    """
    overall = calibration(truth.ravel(), probability.ravel())
    columns = (
        zip(truth.T, probability.T, strict=True) if truth.ndim == 2 else [(truth, probability)]
    )
    error = np.mean([calibration(*column).error() for column in columns])
    mean = " The error is the mean of that of each label." if truth.ndim == 2 else ""
    bins = len(overall.counts)
    known = np.flatnonzero(overall.counts)
    series = Series(
        "observed",
        [(float(overall.probability[i]), float(overall.frequency[i])) for i in known],
        kind="joined",
        labels=[f"{overall.counts[i]:,} samples" for i in known],
    )
    counts = Series(
        "samples",
        [((i + 0.5) / bins, int(count)) for i, count in enumerate(overall.counts)],
        kind="bars",
        labels=[f"{i / bins:g} to {(i + 1) / bins:g}" for i in range(bins)],
    )
    diagonal = [((0, 0), (1, 1))]
    title = f"Calibration: expected error {error:.4f}"
    words = ("probability", "how often it is so")
    charts = [
        Chart("Calibration", [series], False, *words, (), (0, 1), diagonal, 260),
        Chart("Samples by probability", [counts], False, words[0], "samples", (), (0, 1), (), 140),
    ]
    note = (
        f"The probability of {what}. On the dashed line it is what it says; above the line things are "
        f"so more often, below it less often. The error is the mean distance of {bins} bins from the "
        f"line, by their samples.{mean}"
    )
    return Card(title, charts, note)


def class_table(
    title: str,
    names: Sequence[str],
    by_class: Rates,
    areas: Mapping[int, Sequence[float]] | None = None,
    what: str = "class",
) -> TableCard:
    """Precision, recall, F1 and the number of samples, for each class and in the mean."""
    of_curves = ["ROC area", "average precision"] if areas else []
    heads = [what, "precision", "recall", "F1", *of_curves, "samples"]
    listed = _lowest(by_class.f1, _LISTED)
    rows = []
    for i in listed:
        values = [by_class.precision[i], by_class.recall[i], by_class.f1[i]]
        values += list(areas[i]) if areas else []
        rows.append([names[i], *map(rate_text, values), f"{by_class.support[i]:,}"])
    total = by_class.support.sum()
    weightings = [(f"mean of the {_plural(what)}", None)]
    if total:
        weightings.append(("mean by samples", by_class.support))
    for words, weights in weightings:
        means = [rate_text(mean_rate(values, weights)) for values in by_class[:3]]
        rows.append([words, *means, *([""] * len(of_curves)), f"{total:,}"])
    notes = []
    if len(listed) < len(names):
        notes.append(f"The {len(listed)} of {len(names)} {_plural(what)} with the lowest F1.")
    if any(UNKNOWN in row for row in rows):
        notes.append("A dash is 0 / 0, which counts as 0 in the means.")
    return TableCard(title, heads, rows, " ".join(notes))
