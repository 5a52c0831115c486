"""Cards and tables of classifiers: curves over thresholds, calibration, a line for each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.report.chart import UNKNOWN, Card, Chart, Series, Table
from extensor.report.classification_curves import (
    Curve,
    Rates,
    area,
    as_steps,
    average_precision,
    calibration,
    mean_rate,
    precision_recall_curve,
    roc_curve,
)
from extensor.report.findings import rounded
from extensor.report.thinning import MOST, corners

_DRAWN = 8  # classes in a chart
_LISTED = 40  # classes in a table
_HEIGHT = 300
_PAPER = 350  # how long the axes are, about


class Areas(NamedTuple):
    """The area below the ROC curve, and the average precision; NaN where there is no curve."""

    roc: float
    precision: float


def curve_cards(
    names: Sequence[str], truths: Any, scores: Any, f1: Any, what: str = "class"
) -> tuple[list[Card], Mapping[int, Areas]]:
    """Cards of the ROC and the precision-recall curves, and the areas of those that are listed.

    ``truths`` and ``scores`` have a column for each class. Of many the ones of the lowest F1 count.
    """
    listed = _lowest(f1, _LISTED)
    shown = set(_lowest(f1, _DRAWN))
    areas, roc, precision = {}, [], []
    for column in listed:
        first = roc_curve(truths[:, column], scores[:, column])
        second = precision_recall_curve(truths[:, column], scores[:, column])
        areas[column] = Areas(
            np.nan if first is None else area(first),
            np.nan if second is None else average_precision(second),
        )
        if column in shown and first is not None:
            roc.append(_series(names[column], first, areas[column].roc))
        if column in shown and second is not None:
            precision.append(_series(names[column], as_steps(second), areas[column].precision))
    few = len(shown) < len(names)
    note = f"The {len(shown)} of {len(names)} {_many(what)} with the lowest F1. " if few else ""
    if len(names) > 1 and what == "class":
        note += "Each class against all others. "
    single = len(names) == 1
    cards = []
    if roc:
        title = f"ROC curve: area {areas[listed[0]].roc:.4f}" if single else "ROC curves"
        words = ("false positive rate", "true positive rate")
        legend = "" if single else "The legend has the areas. "
        chance = "Along the dashed line, chance. "
        note_of_thinning = _thinned_note(len(truths))
        chart = Chart(title, roc, False, *words, (), (0, 1), [((0, 0), (1, 1))], _HEIGHT)
        cards.append(Card(title, [chart], f"{note}{legend}{chance}{note_of_thinning}"))
    if precision:
        title = "Precision and recall"
        if single:
            title += f": average precision {areas[listed[0]].precision:.4f}"
        legend = "" if single else "The legend has the average precisions. "
        chart = Chart(title, precision, False, "recall", "precision", (), (0, 1), (), _HEIGHT)
        cards.append(Card(title, [chart], f"{note}{legend}{_thinned_note(len(truths))}"))
    return cards, areas


def _lowest(f1: Any, count: int) -> list[int]:
    """The numbers of the classes of the lowest F1, in their order; unknown ones come last."""
    order = np.argsort(np.where(np.isnan(f1), np.inf, f1), kind="stable")
    return sorted(order[:count].tolist())


def _many(what: str) -> str:
    return "classes" if what == "class" else f"{what}s"


def _thinned_note(samples: int) -> str:
    return f"Drawn with at most {MOST} points, the corners first." if samples > MOST else ""


def _series(name: str, curve: Curve, value: float) -> Series:
    kept, _ = corners(_PAPER * curve.x, _PAPER * curve.y)
    x, y, thresholds = (part[kept].tolist() for part in curve)
    points = list(zip(x, y, strict=True))
    labels = [
        "threshold above all" if threshold == np.inf else f"threshold {threshold:.4g}"
        for threshold in thresholds
    ]
    return Series(name, points, labels=labels, said=f"{value:.4f}")


def calibration_card(truth: Any, probability: Any, what: str) -> Card:
    """How often that is so which the model finds with a probability, and how many samples that are.

    Columns are labels: drawn together, but each has an error of its own, of which the mean is given.
    """
    found = calibration(truth.ravel(), probability.ravel())
    columns = (
        zip(truth.T, probability.T, strict=True) if truth.ndim == 2 else [(truth, probability)]
    )
    error = np.mean([calibration(*column).error() for column in columns])
    mean = " The error is the mean of that of each label." if truth.ndim == 2 else ""
    bins = len(found.counts)
    known = np.flatnonzero(found.counts)
    series = Series(
        "observed",
        [(float(found.probability[i]), float(found.frequency[i])) for i in known],
        kind="joined",
        labels=[f"{found.counts[i]:,} samples" for i in known],
    )
    counts = Series(
        "samples",
        [((i + 0.5) / bins, int(count)) for i, count in enumerate(found.counts)],
        kind="bars",
        labels=[f"{i / bins:g} to {(i + 1) / bins:g}" for i in range(bins)],
    )
    diagonal = [((0, 0), (1, 1))]
    title = f"Calibration: expected error {error:.4f}"
    charts = [
        Chart(
            "Calibration",
            [series],
            False,
            "probability",
            "how often it is so",
            (),
            (0, 1),
            diagonal,
            260,
        ),
        Chart(
            "Samples by probability", [counts], False, "probability", "samples", (), (0, 1), (), 140
        ),
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
) -> Table:
    """Precision, recall, F1 and how often it occurs, for each class and in the mean."""
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
        rows.append([names[i], *map(rounded, values), f"{by_class.support[i]:,}"])
    total = by_class.support.sum()
    weightings = [(f"mean of the {_many(what)}", None)]
    if total:
        weightings.append(("mean by samples", by_class.support))
    for words, weights in weightings:
        means = [rounded(mean_rate(values, weights)) for values in by_class[:3]]
        blank = ["", ""] if areas else []
        rows.append([words, *means, *blank, f"{total:,}"])
    notes = []
    if len(listed) < len(names):
        notes.append(f"The {len(listed)} of {len(names)} {_many(what)} with the lowest F1.")
    if any(UNKNOWN in row for row in rows):
        notes.append("A dash is 0 / 0, which counts as 0 in the means.")
    return Table(title, [*heads, "samples"], rows, " ".join(notes))
