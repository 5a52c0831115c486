"""The curves of a run: charts for the page, a picture by Matplotlib, and a plot in the terminal."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from extensor.experiments.spec import stored_config
from extensor.io.atomic import write_atomically
from extensor.report.chart import Chart, Mark, Points, Series
from extensor.report.run_records import (
    LOSS,
    VALIDATION,
    BestEpoch,
    Record,
    best_epoch,
    is_number,
    metric_names,
    metric_title,
    monitor_of,
    of_event,
    points,
    read_records,
)
from extensor.train import RunFolder
from extensor.train.metrics.registry import display_name

_LARGEST = 700.0  # whose exponential is finite
# Braille characters have eight dots each: four rows of two.
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row and column
_BLANK = 0x2800


def charts(
    records: Sequence[Record], monitor: str | None = None, perplexity: bool = False
) -> list[Chart]:
    """Loss, metrics, learning rate and gradients, as far as the log has them.

    A mark shows the epoch in which ``monitor`` was best. With ``perplexity`` the loss is one of
    tokens, and its exponential is shown too if the log has none.
    """
    steps = of_event(records, "step")
    epochs = of_event(records, "epoch")
    best = best_epoch(epochs, monitor)
    marks = [] if best is None else [Mark(best.step, _mark_text(best))]
    at_steps = Series("training, at steps", points(steps, "loss"), faint=True)
    losses = [at_steps, *_both(epochs, "loss", "training, mean of epochs")]
    drawn = [Chart("Loss", losses, marks=marks)]
    names = {key.removeprefix(VALIDATION): None for key in metric_names(epochs)}
    if perplexity and "perplexity" not in names:
        names["perplexity"] = None
        epochs = [_with_perplexity(record) for record in epochs]
    drawn += [Chart(metric_title(name), _both(epochs, name), marks=marks) for name in names]
    drawn.append(Chart("Learning rate", [Series("of the first group", points(steps, "lr"))]))
    norms = Series("of all, before clipping", points(steps, "gradient_norm"))
    drawn.append(Chart("Norm of the gradient", [norms], logarithmic=True))
    drawn.append(Chart("Norm of the gradients of each layer", _layers(records), logarithmic=True))
    drawn = [chart._replace(series=[s for s in chart.series if s.points]) for chart in drawn]
    return [chart for chart in drawn if chart.series]


def _both(epochs: Sequence[Record], name: str, training: str = "training") -> list[Series]:
    """A number of training and of validation, always in the same colours."""
    series = []
    for number, (part, key) in enumerate(((training, name), ("validation", f"{VALIDATION}{name}"))):
        having = [r for r in epochs if is_number(r.get(key)) and is_number(r.get("step"))]
        labels = [f"epoch {record.get('epoch')}" for record in having]
        series.append(Series(part, points(having, key), labels=labels, colour=(number, 2)))
    return series


def _with_perplexity(record: Record) -> Record:
    perplexities = {
        key.replace("loss", "perplexity"): exp(record[key])
        for key in ("loss", LOSS)
        if is_number(record.get(key)) and record[key] < _LARGEST
    }
    return {**record, **perplexities}


def _mark_text(best: BestEpoch) -> str:
    name = best.key.removeprefix(VALIDATION)
    part = "" if best.key.startswith(VALIDATION) else "training "
    return f"best {part}{display_name(name)}: epoch {best.epoch}"


def _layers(records: Sequence[Record]) -> list[Series]:
    """Norms of layers: of weight and bias together, the root of the sum of squares."""
    layers: dict[str, Points] = {}
    for record in of_event(records, "gradients"):
        squares: dict[str, float] = {}
        for name, norm in record["norms"].items():
            if is_number(norm):
                layer = name.rpartition(".")[0] or name
                squares[layer] = squares.get(layer, 0.0) + norm * norm
        for layer, square in squares.items():
            layers.setdefault(layer, []).append((record["step"], sqrt(square)))
    return [Series(name, points) for name, points in layers.items()]


def run_charts(
    config: Mapping[str, Any], records: Sequence[Record], of_tokens: bool = False
) -> list[Chart]:
    """The charts of a run; with ``of_tokens`` the perplexity too, if the loss is a plain one."""
    loss = config.get("loss")
    table = loss if isinstance(loss, Mapping) else {}
    # With weights or smoothing the exponential of the loss is no perplexity.
    is_plain = table.get("name") in ("CrossEntropyLoss", "NLLLoss") and not (
        {"weight", "label_smoothing"} & set(table)
    )
    return charts(records, monitor_of(config), of_tokens and is_plain)


def write_plots(run: RunFolder) -> Path | None:
    """Write ``curves.png``, or None without Matplotlib: ``pip install extensor[plot]``."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    drawn = run_charts(stored_config(run.config), read_records("write_plots", run))
    rows = -(-len(drawn) // 2)
    figure = Figure(figsize=(11, 3.2 * rows), layout="constrained")
    for number, chart in enumerate(drawn, 1):
        axes = figure.add_subplot(rows, 2, number, title=chart.title, xlabel=chart.across)
        for mark in chart.marks:
            axes.axvline(mark.at, color="gray", linewidth=0.8, linestyle=":")
        for series in chart.series:
            axes.plot(*zip(*series.points, strict=True), label=series.name, linewidth=1.2)
        if chart.logarithmic:
            axes.set_yscale("log")
        axes.grid(alpha=0.3)
        if len(chart.series) > 1:
            axes.legend(fontsize="small")
    content = io.BytesIO()
    figure.savefig(content, dpi=110)
    path = run.path / "curves.png"
    write_atomically(path, content.getvalue())
    return path


def terminal_plot(series: Series, width: int = 60, height: int = 6) -> str:
    """The curve in ``height`` lines of ``width`` characters, with its highest and lowest value."""
    xs, ys = np.array(series.points, np.float64).T
    columns = np.interp(np.linspace(xs[0], xs[-1], 2 * width), xs, ys)
    low, high = float(ys.min()), float(ys.max())
    rows = np.rint((high - columns) / ((high - low) or 1.0) * (4 * height - 1)).astype(int)
    cells = np.full((height, width), _BLANK)
    for column, row in enumerate(rows):
        before = rows[column - 1] if column else row
        # From the row before to this one, so that a steep curve has no holes.
        for y in range(min(before, row), max(before, row) + 1):
            cells[y // 4, column // 2] |= _DOTS[y % 4][column % 2]
    labels = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, labels))
    lines = [
        f"{label:>{margin}} ┤{''.join(map(chr, line))}"
        for label, line in zip(labels, cells.tolist(), strict=True)
    ]
    return "\n".join([f"{'':{margin}}  {series.name}", *lines])
