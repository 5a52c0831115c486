"""Cards and tables of classifiers: curves over thresholds, calibration, a line for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.report.chart import MOST_POINTS, UNKNOWN, Card, Chart, Series, TableCard, corners
from extensor.report.classification_curves import (
    Rates,
    ThresholdCurve,
    area,
    as_steps,
    average_precision,
    calibration,
    mean_rate,
    precision_recall_curve,
    roc_curve,
)
from extensor.report.examination import rate_text

_DRAWN = 8  # classes in a chart
_LISTED = 40  # classes in a table
_HEIGHT = 300
_PAPER = 350  # how long the axes are, about


class Areas(NamedTuple):
    """The area below the ROC curve, and the average precision; NaN without a curve."""

    roc: float
    precision: float


def curve_cards(
    names: Sequence[str], truths: Any, scores: Any, f1: Any, what: str = "class"
) -> tuple[list[Card], Mapping[int, Areas]]:
    """Cards of the ROC and the precision-recall curves, and the areas for the table of classes.

    ``truths`` and ``scores`` have a column for each class. Of many only those of lowest F1 count.
    """
    drawn = set(_lowest(f1, _DRAWN))
    areas: dict[int, Areas] = {}
    roc, precision = [], []
    for column in _lowest(f1, _LISTED):
        first = roc_curve(truths[:, column], scores[:, column])
        second = precision_recall_curve(truths[:, column], scores[:, column])
        areas[column] = Areas(
            np.nan if first is None else area(first),
            np.nan if second is None else average_precision(second),
        )
        if column in drawn and first is not None:
            roc.append(_series(names[column], first, areas[column].roc))
        if column in drawn and second is not None:
            precision.append(_series(names[column], as_steps(second), areas[column].precision))
    note = ""
    if len(drawn) < len(names):
        note += f"The {len(drawn)} of {len(names)} {_plural(what)} with the lowest F1. "
    if len(names) > 1 and what == "class":
        note += "Each class against all others. "
    single = next(iter(areas.values())) if len(names) == 1 else None
    cards = [_roc_card(roc, single, note, len(truths))] if roc else []
    if precision:
        cards.append(_precision_card(precision, single, note, len(truths)))
    return cards, areas


def _roc_card(series: list[Series], single: Areas | None, note: str, samples: int) -> Card:
    title = "ROC curves" if single is None else f"ROC curve: area {single.roc:.4f}"
    note += "The legend has the areas. " if single is None else ""
    note += f"Along the dashed line, chance. {_thinned_note(samples)}"
    words = ("false positive rate", "true positive rate")
    chart = Chart(title, series, False, *words, (), (0, 1), [((0, 0), (1, 1))], _HEIGHT)
    return Card(title, [chart], note)


def _precision_card(series: list[Series], single: Areas | None, note: str, samples: int) -> Card:
    title = "Precision and recall"
    title += "" if single is None else f": average precision {single.precision:.4f}"
    note += "The legend has the average precisions. " if single is None else ""
    chart = Chart(title, series, False, "recall", "precision", (), (0, 1), (), _HEIGHT)
    return Card(title, [chart], f"{note}{_thinned_note(samples)}")


def _lowest(f1: Any, count: int) -> list[int]:
    """The numbers of the classes of the lowest F1, in their order; unknown ones come last."""
    order = np.argsort(np.where(np.isnan(f1), np.inf, f1), kind="stable")
    return sorted(order[:count].tolist())


def _plural(what: str) -> str:
    return "classes" if what == "class" else f"{what}s"


def _thinned_note(samples: int) -> str:
    return (
        f"Drawn with at most {MOST_POINTS} points, the corners first."
        if samples > MOST_POINTS
        else ""
    )


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
    areas: Mapping[int, Areas] | None = None,
    what: str = "class",
) -> TableCard:
    """Precision, recall, F1 and the number of samples, for each class and in the mean."""
    heads = [
        what,
        "precision",
        "recall",
        "F1",
        *(["ROC area", "average precision"] if areas else []),
    ]
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
        blank = ["", ""] if areas else []
        rows.append([words, *means, *blank, f"{total:,}"])
    notes = []
    if len(listed) < len(names):
        notes.append(f"The {len(listed)} of {len(names)} {_plural(what)} with the lowest F1.")
    if any(UNKNOWN in row for row in rows):
        notes.append("A dash is 0 / 0, which counts as 0 in the means.")
    return TableCard(title, [*heads, "samples"], rows, " ".join(notes))
