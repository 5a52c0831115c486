"""Numbers examined: what is predicted against what is true, and what is left between them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from extensor.errors import value_error
from extensor.report.axis import readable
from extensor.report.chart import UNKNOWN, Card, Chart, Points, Series, Table
from extensor.report.findings import WORST, Examination, Examined, left_out, rounded

_DRAWN = 4  # outputs with charts
_LISTED = 40  # outputs in the table
_SHOWN = 4  # numbers of a sample in a line
_DOTS = 1000
_HEIGHT = 300
_TOO_LARGE = 1e305  # for sums of some of them


def examine_numbers(given: Examined) -> Examination:
    """One number or more a sample."""
    if given.outputs.shape != given.targets.shape:
        requirement = "targets must have the shape of outputs for 'regression'"
        shapes = {"outputs_shape": given.outputs.shape, "targets_shape": given.targets.shape}
        raise value_error("examine", requirement, **shapes)
    found, truth = (
        x.reshape(len(x), -1).astype(np.float64) for x in (given.outputs, given.targets)
    )
    names = _names(given, found.shape[1])
    valid = ((np.abs(found) < _TOO_LARGE) & (np.abs(truth) < _TOO_LARGE)).all(axis=1)
    notes = left_out(valid)
    if not valid.any():
        return Examination([], [], task="regression", notes=notes)
    numbers, found, truth = np.flatnonzero(valid), found[valid], truth[valid]
    errors = np.abs(found - truth).mean(axis=1)
    worst = given.worst(
        numbers,
        errors,
        None,
        lambda place: _line(given, names, truth[place]),
        lambda place: _line(given, names, found[place]),
    )
    parts: list[Card | Table] = [_table(names, truth, found)]
    for i in range(min(_DRAWN, len(names))):
        single = names[i] if len(names) > 1 or given.class_names else ""
        parts += _cards(given, single, numbers, truth[:, i], found[:, i])
    return Examination(worst, [], None, "regression", parts, notes, "error")


def _names(given: Examined, count: int) -> list[str]:
    if given.class_names is not None:
        return given.names(count, "output")
    return ["all"] if count == 1 else [f"output {i}" for i in range(count)]


def _line(given: Examined, names: list[str], row: Any) -> str:
    """The first numbers of a sample, with their names if they have any."""
    many = given.class_names is not None and len(names) > 1
    words = [
        f"{name} {readable(x)}" if many else readable(x) for name, x in zip(names, row, strict=True)
    ]
    return (", " if many else " ").join(words[:_SHOWN]) + " …" * (len(row) > _SHOWN)


def _table(names: list[str], truth: Any, found: Any) -> Table:
    heads = ["output", "mean absolute error", "root mean squared error", "mean residual", "R²"]
    rows = []
    for i, name in enumerate(names[:_LISTED]):
        residuals = truth[:, i] - found[:, i]
        root, spread = _root_of_mean(residuals), _root_of_mean(truth[:, i] - truth[:, i].mean())
        measures = (np.abs(residuals).mean(), root, residuals.mean())
        determination = 1 - (root / spread) ** 2 if spread > 0 else np.nan
        rows.append([name, *map(readable, measures), rounded(determination)])
    notes = []
    if len(names) > _LISTED:
        notes.append(f"The first {_LISTED} of {len(names)} outputs.")
    if any(UNKNOWN in row for row in rows):
        notes.append("R² needs targets that differ.")
    return Table("Errors", heads, rows, " ".join(notes))


def _root_of_mean(values: Any) -> float:
    """The root of the mean of the squares, which themselves may be too large for a float."""
    size = float(np.abs(values).max())
    return size * float(np.sqrt(np.mean((values / size) ** 2))) if size > 0 else 0.0


def _cards(given: Examined, name: str, numbers: Any, truth: Any, found: Any) -> list[Card]:
    residuals = truth - found
    of = f" of {name}" if name else ""
    chosen, note = _chosen(residuals)
    labels = [_words(given, int(numbers[i])) for i in chosen]
    both = np.concatenate([truth, found])
    low, high = float(both.min()), float(both.max())
    room = 0.03 * (high - low) or max(abs(high) * 0.1, 1e-12)
    low, high = low - room, high + room

    def dots(x: Any, y: Any) -> Series:
        points: Points = [(float(x[i]), float(y[i])) for i in chosen]
        return Series("samples", points, kind="dots", labels=labels)

    return [
        Card(
            f"Predicted and true{of}",
            [
                Chart(
                    f"Predicted and true{of}",
                    [dots(truth, found)],
                    across="true",
                    up="predicted",
                    limits=(low, high),
                    guides=[((low, low), (high, high))],
                    height=_HEIGHT,
                )
            ],
            f"On the dashed line, they are the same. {note}",
        ),
        Card(
            f"Residuals{of}",
            [_histogram(residuals)],
            "The residual of a sample is what is true less what is predicted.",
        ),
        Card(
            f"Residuals and predictions{of}",
            [
                Chart(
                    f"Residuals and predictions{of}",
                    [dots(found, residuals)],
                    across="predicted",
                    up="true minus predicted",
                    guides=[((float(found.min()), 0.0), (float(found.max()), 0.0))],
                    height=_HEIGHT,
                )
            ],
            f"What has a shape here, the model has not learned. {note}",
        ),
    ]


def _chosen(residuals: Any) -> tuple[list[int], str]:
    """Of many samples some, evenly spread, and those that are most wrong."""
    count = len(residuals)
    every = -(-count // _DOTS)
    if every == 1:
        return list(range(count)), ""
    worst = np.argsort(-np.abs(residuals), kind="stable")[:WORST]
    chosen = np.union1d(np.arange(0, count, every), worst).tolist()
    return chosen, f"{len(chosen):,} of {count:,} samples: one in {every}, and the most wrong."


def _words(given: Examined, number: int) -> str:
    return f"#{number}" if given.sample_names is None else given.sample_names[number]


def _histogram(residuals: Any) -> Chart:
    bins = min(40, max(5, int(np.ceil(np.sqrt(len(residuals))))))
    counts, edges = np.histogram(residuals, bins)
    centres = (edges[:-1] + edges[1:]) / 2
    labels = [f"{readable(a)} to {readable(b)}" for a, b in pairwise(edges)]
    points = list(zip(centres.tolist(), counts.tolist(), strict=True))
    series = Series("samples", points, kind="bars", labels=labels)
    return Chart("Residuals", [series], across="true minus predicted", up="samples", height=_HEIGHT)
