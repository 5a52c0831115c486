"""Pages of searches: the trials of a sweep, and the plot of a test of learning rates."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from extensor.experiments.sweeps import Choices, Range, Result, Sweep, description_of
from extensor.io.atomic import write_atomically
from extensor.io.redaction import redact_lines
from extensor.io.regular_files import file_text
from extensor.report.chart import Chart, Mark, Points, Series
from extensor.report.document import TableCell, chart_section, document, element, section, table
from extensor.report.run_records import display_value, points
from extensor.train import RateTest, read_log
from extensor.train.metrics.registry import display_name

_CURVES = 6  # in a chart
_WIDE = 100  # times the least value: from here on a linear axis would flatten the small ones

ON_TEST = "validation is the test data here; set data.validation_fraction"


class TrialRow(NamedTuple):
    """A trial in the table: "best", "failed" or no mark, its number, and its results.

    :func:`sweep_heads` names the ``cells``.
    """

    mark: str
    trial: int
    cells: list[str]
    failed: str | None


def sweep_rows(sweep: Sweep) -> list[TrialRow]:
    """The trials that were trained, the best first, those that failed last."""
    best, monitor = sweep.results.best(), sweep.asked.monitor
    return [
        TrialRow(
            "best" if result == best else "" if result.failed is None else "failed",
            result.trial,
            [
                str(result.epochs),
                *([str(result.epoch or "")] if sweep.asked.keeps_best else []),
                "" if result.value is None else display_value(monitor, result.value),
                *(value_text(x) for x in sweep.values(result.trial).values()),
            ],
            result.failed,
        )
        for result in sweep.results.standing()
    ]


def sweep_heads(sweep: Sweep) -> list[str]:
    """The headings of the cells of the rows."""
    kept = ["best epoch"] if sweep.asked.keeps_best else []
    name = display_name(sweep.asked.monitor)
    trained = "up to epoch" if sweep.asked.keeps_best else "epochs"
    return [trained, *kept, name, *sweep.space.dimensions]


def value_text(value: Any) -> str:
    """A value of a configuration for people."""
    if isinstance(value, str):
        return value
    return f"{value:.4g}" if isinstance(value, float) else json.dumps(value)


def rungs_text(sweep: Sweep) -> str:
    """The rungs: the number of trials, and how long each is trained."""
    parts = [f"{rung.trials} trials to epoch {rung.epochs}" for rung in sweep.rungs]
    return ", ".join([parts[0], *(part.replace(" trials", "") for part in parts[1:])])


def write_sweep_page(sweep: Sweep, command: str | None = None) -> Path:
    """Write ``sweep.html``; ``command`` trains the best trial."""
    path = sweep.path / "sweep.html"
    write_atomically(path, _sweep_page(sweep, command).encode())
    return path


def _sweep_page(sweep: Sweep, command: str | None) -> str:
    name = display_name(sweep.asked.monitor)
    results = sweep.results.standing()
    good = [result for result in results if result.value is not None]
    sections = [section("Trials", _table(sweep), wide=True)]
    if command is not None:
        content = element("pre", escape(command), "command")
        sections.append(section("Train the best one", content, wide=True))
    charts = [scatter_chart(sweep, key, good) for key in sweep.space.dimensions if good]
    if curves := _curves(sweep, good):
        heading = f"{name.capitalize()} of the best {len(curves)}"
        charts.append(Chart(heading, curves, across="epoch"))
    sections += map(chart_section, charts)
    asked = redact_lines(file_text(description_of(sweep.path)))
    sections.append(section("What was asked", element("pre", escape(asked)), wide=True))
    facts = {}
    if good:
        facts[f"best {name}"] = display_value(sweep.asked.monitor, good[0].value)
        facts["of trial"] = str(good[0].trial)
    facts["trials"] = f"{len(results)} of {sweep.asked.trials}"
    if len(results) > len(good):
        facts["failed"] = str(len(results) - len(good))
    subtitle = f"{sweep.path.name}: {rungs_text(sweep)}"
    return document(f"Sweep of {sweep.asked.title}", subtitle, facts, sections)


def _table(sweep: Sweep) -> str:
    trials = sweep_rows(sweep)
    heads = ["", "trial", *sweep_heads(sweep)]
    rows: list[list[str | TableCell]] = []
    for trial in trials:
        report = sweep.trial(trial.trial).path / "report.html"
        number = str(trial.trial)
        if report.is_file():
            number = f'<a href="{escape(report.parent.name)}/report.html">{number}</a>'
        rows.append([trial.mark, TableCell(number), *trial.cells])
    if any(trial.failed is not None for trial in trials):
        heads.append("why")
        for row, trial in zip(rows, trials, strict=True):
            row.append(TableCell(escape(trial.failed or ""), "reason"))
    rung = " The best trials of a rung continue on the next." if len(sweep.rungs) > 1 else ""
    epoch = "at the best epoch" if sweep.asked.keeps_best else "after the last epoch"
    kept = ", whose weights are kept" if sweep.asked.keeps_best else ""
    note = f"The objective is that of the validation {epoch} of a trial{kept}.{rung}"
    note += " Among equals, the one with the lower validation loss comes first."
    if not sweep.asked.has_validation:
        note += f" {ON_TEST[0].upper()}{ON_TEST[1:]}."
    row_kinds = ["best" if trial.mark == "best" else "" for trial in trials]
    return table(heads, rows, row_kinds=row_kinds) + element("p", escape(note))


def scatter_chart(sweep: Sweep, key: str, good: Sequence[Result]) -> Chart:
    """The objective over the values of one key: numbers of a range, words of choices."""
    dimension = sweep.space.dimensions[key]
    words = [value_text(x) for x in dimension.values] if isinstance(dimension, Choices) else []
    furthest, monitor = good[0].epochs, sweep.asked.monitor
    groups = {
        "stopped at an earlier epoch": [x for x in good[1:] if x.epochs != furthest],
        f"after epoch {furthest}": [x for x in good[1:] if x.epochs == furthest],
        "best": good[:1],  # drawn last, on top of the others
    }
    series = []
    for number, (name, results) in enumerate(groups.items()):
        places: Points = []
        labels = []
        for result in results:
            x, y = sweep.values(result.trial)[key], result.value
            assert y is not None
            places.append((words.index(value_text(x)) if words else x, y))
            value = display_value(monitor, y)
            labels.append(f"trial {result.trial}: {value} after epoch {result.epochs}")
        colour = (number - 1, 2)
        series.append(Series(name, places, number == 0, "dots", labels, "", colour))
    xs, ys = zip(*(point for each in series for point in each.points), strict=True)
    return Chart(
        f"{display_name(monitor).capitalize()} over {key}",
        [each for each in series if each.points],
        logarithmic=min(ys) > 0 and max(ys) > _WIDE * min(ys),
        across=key,
        logarithmic_across=isinstance(dimension, Range) and dimension.logarithmic and min(xs) > 0,
        words=words,
    )


def _curves(sweep: Sweep, good: Sequence[Result]) -> list[Series]:
    """The objective over the epochs, of the best trials."""
    curves = []
    for number, result in enumerate(good[:_CURVES]):
        log = sweep.trial(result.trial).log
        records = [x for x in read_log(log) if x["event"] == "epoch"] if log.exists() else []
        values = points(records, sweep.asked.monitor, at="epoch")
        if values and result.value is not None:
            words = display_value(sweep.asked.monitor, result.value)
            colour = (number, _CURVES)
            curves.append(Series(f"trial {result.trial}", values, said=words, colour=colour))
    return curves


def can_write_plot(path: Path) -> bool:
    """Whether a plot of this ending can be written: pictures need Matplotlib."""
    return path.suffix != ".png" or find_spec("matplotlib") is not None


def write_rate_plot(path: Path, test: RateTest, title: str) -> None:
    """Write the loss over the rates, and the suggestion, to a ``.html`` or ``.png`` file."""
    content = (
        _rate_picture(test, title) if path.suffix == ".png" else _rate_page(test, title).encode()
    )
    write_atomically(path, content)


def _rate_page(test: RateTest, title: str) -> str:
    names = ("suggested", "lowest loss", "steepest fall")
    rates = dict(zip(names, (test.suggestion, test.minimum, test.steepest), strict=True))
    facts = {name: f"{rate:.2g}" for name, rate in rates.items() if rate is not None}
    note = (
        "The pale curve is the loss of each batch, the other its running mean. The suggestion is "
        "where that falls most steeply, or a tenth of where it is lowest if that is less."
    )
    chart = rate_chart(test, "Loss over the learning rate")
    return document(title, "", facts, [chart_section(chart, note)])


def rate_chart(test: RateTest, title: str) -> Chart:
    """The loss over the rates, of each batch and in the mean, with a mark at the suggestion."""
    rates, losses, smooth = (x.tolist() for x in (test.rates, test.losses, test.smooth))
    # The last losses, of a diverging run, would flatten everything before them.
    lowest, first = min(*losses, *smooth), smooth[0]
    series = [
        Series("loss of each batch", list(zip(rates, losses, strict=True)), faint=True, said=""),
        Series("running mean", list(zip(rates, smooth, strict=True)), said="", colour=(0, 1)),
    ]
    return Chart(
        title,
        series,
        across="learning rate",
        marks=[] if test.suggestion is None else [Mark(test.suggestion, "suggested")],
        logarithmic_across=True,
        top=first + 0.5 * abs(first - lowest),
    )


def _rate_picture(test: RateTest, title: str) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot(title=title, xlabel="learning rate", ylabel="loss", xscale="log")
    axes.plot(test.rates, test.losses, color="0.75", linewidth=1, label="of each batch")
    axes.plot(test.rates, test.smooth, label="running mean")
    if test.suggestion is not None:
        axes.axvline(test.suggestion, color="C1", linestyle="--", label="suggested")
    axes.grid(alpha=0.3)
    axes.legend()
    content = io.BytesIO()
    figure.savefig(content, dpi=110, format="png")
    return content.getvalue()
