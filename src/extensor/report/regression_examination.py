"""Examination of regressions: predicted against true numbers, and the residuals."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from extensor.errors import value_error
from extensor.report.axis import readable
from extensor.report.chart import UNKNOWN, Card, Chart, Points, Series, TableCard
from extensor.report.examination import (
    WORST,
    Examination,
    ExaminedSamples,
    notes_on_invalid,
    rate_text,
)

_DRAWN = 4  # outputs with charts
_LISTED = 40  # outputs in the table
_SHOWN = 4  # numbers of a sample in a line
_DOTS = 1000
_HEIGHT = 300
_TOO_LARGE = 1e305  # for sums of some of them


def examine_numbers(samples: ExaminedSamples) -> Examination:
    """One number or more a sample."""
    if samples.outputs.shape != samples.targets.shape:
        requirement = "targets must have the shape of outputs for 'regression'"
        shapes = {"outputs_shape": samples.outputs.shape, "targets_shape": samples.targets.shape}
        raise value_error("examine", requirement, **shapes)
    predicted, truth = (
        x.reshape(len(x), -1).astype(np.float64) for x in (samples.outputs, samples.targets)
    )
    names = _names(samples, predicted.shape[1])
    valid = ((np.abs(predicted) < _TOO_LARGE) & (np.abs(truth) < _TOO_LARGE)).all(axis=1)
    notes = notes_on_invalid(valid)
    if not valid.any():
        return Examination([], [], task="regression", notes=notes)
    numbers, predicted, truth = np.flatnonzero(valid), predicted[valid], truth[valid]
    errors = np.abs(predicted - truth).mean(axis=1)
    worst = samples.worst(
        numbers,
        errors,
        None,
        lambda place: _numbers_text(samples, names, truth[place]),
        lambda place: _numbers_text(samples, names, predicted[place]),
    )
    parts: list[Card | TableCard] = [_table(names, truth, predicted)]
    for i in range(min(_DRAWN, len(names))):
        single = names[i] if len(names) > 1 or samples.class_names else ""
        parts += _cards(samples, single, numbers, truth[:, i], predicted[:, i])
    return Examination(worst, [], None, "regression", parts, notes, "error")


def _names(samples: ExaminedSamples, count: int) -> list[str]:
    if samples.class_names is not None:
        return samples.names(count, "output")
    return ["all"] if count == 1 else [f"output {i}" for i in range(count)]


def _numbers_text(samples: ExaminedSamples, names: list[str], row: Any) -> str:
    """The first numbers of a sample, with their names if they have any."""
    many = samples.class_names is not None and len(names) > 1
    words = [
        f"{name} {readable(x)}" if many else readable(x) for name, x in zip(names, row, strict=True)
    ]
    return (", " if many else " ").join(words[:_SHOWN]) + " …" * (len(row) > _SHOWN)


def _table(names: list[str], truth: Any, predicted: Any) -> TableCard:
    heads = ["output", "mean absolute error", "root mean squared error", "mean residual", "R²"]
    rows = []
    for i, name in enumerate(names[:_LISTED]):
        residuals = truth[:, i] - predicted[:, i]
        deviations = truth[:, i] - truth[:, i].mean()
        root, spread = _root_mean_square(residuals), _root_mean_square(deviations)
        measures = (np.abs(residuals).mean(), root, residuals.mean())
        determination = 1 - (root / spread) ** 2 if spread > 0 else np.nan
        rows.append([name, *map(readable, measures), rate_text(determination)])
    notes = []
    if len(names) > _LISTED:
        notes.append(f"The first {_LISTED} of {len(names)} outputs.")
    if any(UNKNOWN in row for row in rows):
        notes.append("R² needs targets that differ.")
    return TableCard("Errors", heads, rows, " ".join(notes))


def _root_mean_square(values: Any) -> float:
    # Scaled first: the squares themselves may be too large for a float.
    size = float(np.abs(values).max())
    return size * float(np.sqrt(np.mean((values / size) ** 2))) if size > 0 else 0.0


def _cards(
    samples: ExaminedSamples, name: str, numbers: Any, truth: Any, predicted: Any
) -> list[Card]:
    residuals = truth - predicted
    of = f" of {name}" if name else ""
    chosen, note = _drawn_samples(residuals)
    labels = [_sample_label(samples, int(numbers[i])) for i in chosen]
    both = np.concatenate([truth, predicted])
    low, high = float(both.min()), float(both.max())
    room = 0.03 * (high - low) or max(abs(high) * 0.1, 1e-12)
    low, high = low - room, high + room

    def dots_card(title: str, x: Any, y: Any, words: str, **details: Any) -> Card:
        points: Points = [(float(x[i]), float(y[i])) for i in chosen]
        series = Series("samples", points, kind="dots", labels=labels)
        chart = Chart(f"{title}{of}", [series], height=_HEIGHT, **details)
        return Card(chart.title, [chart], f"{words} {note}")

    return [
        dots_card(
            "Predicted and true",
            truth,
            predicted,
            "On the dashed line, both are equal.",
            across="true",
            up="predicted",
            limits=(low, high),
            guides=[((low, low), (high, high))],
        ),
        Card(
            f"Residuals{of}",
            [_histogram(residuals)],
            "The residual of a sample is its true value minus the predicted value.",
        ),
        dots_card(
            "Residuals and predictions",
            predicted,
            residuals,
            "A visible pattern means that the model has missed something.",
            across="predicted",
            up="true minus predicted",
            guides=[((float(predicted.min()), 0.0), (float(predicted.max()), 0.0))],
        ),
    ]


def _drawn_samples(residuals: Any) -> tuple[list[int], str]:
    """The samples to draw: of many some, evenly spread, and the most wrong; and a note on that."""
    count = len(residuals)
    every = -(-count // _DOTS)
    if every == 1:
        return list(range(count)), ""
    worst = np.argsort(-np.abs(residuals), kind="stable")[:WORST]
    chosen = np.union1d(np.arange(0, count, every), worst).tolist()
    return chosen, f"{len(chosen):,} of {count:,} samples: one in {every}, and the most wrong."


def _sample_label(samples: ExaminedSamples, number: int) -> str:
    return f"#{number}" if samples.sample_names is None else samples.sample_names[number]


def _histogram(residuals: Any) -> Chart:
    bins = min(40, max(5, int(np.ceil(np.sqrt(len(residuals))))))
    counts, edges = np.histogram(residuals, bins)
    centres = (edges[:-1] + edges[1:]) / 2
    labels = [f"{readable(a)} to {readable(b)}" for a, b in pairwise(edges)]
    points = list(zip(centres.tolist(), counts.tolist(), strict=True))
    series = Series("samples", points, kind="bars", labels=labels)
    return Chart("Residuals", [series], across="true minus predicted", up="samples", height=_HEIGHT)
