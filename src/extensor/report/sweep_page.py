"""The page of a sweep, and its table: which trial was the best, and what makes the difference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from extensor.io.atomic import write_atomically
from extensor.io.regular_files import file_text
from extensor.report.curves import shown
from extensor.report.document import document, section
from extensor.report.scatter import CURVES, STYLE, Curve, Dot, curve_chart, scatter
from extensor.train import read_log
from extensor.train.redaction import redact_lines
from extensor.train.sweeps.results import Result
from extensor.train.sweeps.space import Choices, Dimension, Range
from extensor.train.sweeps.sweep import Sweep, description_of

ON_TEST = "validation is the test data here; set data.validation_fraction"


class Row(NamedTuple):
    """A trial: "best" or "failed" if it is that, its number, and what came of it.

    What the ``cells`` are, :func:`sweep_heads` says.
    """

    mark: str
    trial: int
    cells: list[str]
    failed: str | None


def sweep_rows(sweep: Sweep) -> list[Row]:
    """The trials that were trained, the best first, those that failed last."""
    best, monitor = sweep.results.best(), sweep.asked.monitor
    return [
        Row(
            "best" if result == best else "" if result.failed is None else "failed",
            result.trial,
            [
                str(result.epochs),
                *([str(result.epoch or "")] if sweep.asked.keeps_best else []),
                "" if result.value is None else shown(monitor, result.value),
                *(value_text(x) for x in sweep.values(result.trial).values()),
            ],
            result.failed,
        )
        for result in sweep.results.standing()
    ]


def sweep_heads(sweep: Sweep) -> list[str]:
    """What the cells of the rows are."""
    kept = ["best epoch"] if sweep.asked.keeps_best else []
    name = sweep.asked.monitor.replace("_", " ")
    trained = "up to epoch" if sweep.asked.keeps_best else "epochs"
    return [trained, *kept, name, *sweep.space.dimensions]


def value_text(value: Any) -> str:
    """A value of a configuration for people."""
    if isinstance(value, str):
        return value
    return f"{value:.4g}" if isinstance(value, float) else json.dumps(value)


def rungs_text(sweep: Sweep) -> str:
    """How many trials are trained how long."""
    parts = [f"{rung.trials} trials to epoch {rung.epochs}" for rung in sweep.rungs]
    return ", ".join([parts[0], *(part.replace(" trials", "") for part in parts[1:])])


def write_sweep_page(sweep: Sweep, command: str | None = None) -> Path:
    """Write ``sweep.html``; ``command`` is what trains the best one."""
    path = sweep.path / "sweep.html"
    write_atomically(path, _page(sweep, command).encode())
    return path


def _page(sweep: Sweep, command: str | None) -> str:
    name = sweep.asked.monitor.replace("_", " ")
    results = sweep.results.standing()
    good = [result for result in results if result.value is not None]
    sections = [section("Trials", _table(sweep), wide=True)]
    if command is not None:
        sections.append(
            section(
                "Train the best one", f'<pre class="command">{escape(command)}</pre>', wide=True
            )
        )
    if good:
        for key, dimension in sweep.space.dimensions.items():
            heading = f"{name.capitalize()} over {key}"
            sections.append(section(heading, _scatter(sweep, key, dimension, good)))
    curves = _curves(sweep, good)
    if curves:
        heading = f"{name.capitalize()} of the best {len(curves)}"
        sections.append(section(heading, curve_chart(curves, "epoch", name)))
    asked = redact_lines(file_text(description_of(sweep.path)))
    sections.append(section("What was asked", f"<pre>{escape(asked)}</pre>", wide=True))
    title = f"Sweep of {sweep.asked.title}"
    facts = _facts(sweep, name, good, len(results))
    subtitle = f"{sweep.path.name}: {rungs_text(sweep)}"
    return document(title, subtitle, facts, sections, style=STYLE, interactive=False)


def _facts(sweep: Sweep, name: str, good: Sequence[Result], trained: int) -> dict[str, str]:
    facts = {}
    if good and good[0].value is not None:
        facts[f"best {name}"] = shown(sweep.asked.monitor, good[0].value)
        facts["of trial"] = str(good[0].trial)
    facts["trials"] = f"{trained} of {sweep.asked.trials}"
    if trained > len(good):
        facts["failed"] = str(trained - len(good))
    return facts


def _table(sweep: Sweep) -> str:
    rows = sweep_rows(sweep)
    some_failed = any(row.failed is not None for row in rows)
    heads = ["", "trial", *sweep_heads(sweep)]
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    head += "<th>why</th>" if some_failed else ""
    lines = []
    for row in rows:
        report = sweep.trial(row.trial).path / "report.html"
        number = str(row.trial)
        if report.is_file():
            number = f'<a href="{escape(report.parent.name)}/report.html">{number}</a>'
        cells = [row.mark, number, *map(escape, row.cells)]
        kind = ' class="best"' if row.mark == "best" else ""
        line = "".join(f"<td>{cell}</td>" for cell in cells)
        line += f'<td class="reason">{escape(row.failed or "")}</td>' if some_failed else ""
        lines.append(f"<tr{kind}>{line}</tr>")
    rung = " The best of a rung go on to the next." if len(sweep.rungs) > 1 else ""
    epoch = "at the best epoch" if sweep.asked.keeps_best else "after the last epoch"
    kept = ", whose weights are kept" if sweep.asked.keeps_best else ""
    note = f"The objective is that of the validation {epoch} of a trial{kept}.{rung}"
    note += " Of equals the one of the lower validation loss comes first."
    if not sweep.asked.has_validation:
        note += f" {ON_TEST[0].upper()}{ON_TEST[1:]}."
    return (
        f'<div class="scroll"><table><tr>{head}</tr>{"".join(lines)}</table></div>'
        f"<p>{escape(note)}</p>"
    )


def _scatter(sweep: Sweep, key: str, dimension: Dimension, good: Sequence[Result]) -> str:
    """The objective over the values of one key: of a range in numbers, of choices in words."""
    words = [value_text(x) for x in dimension.values] if isinstance(dimension, Choices) else []
    is_log = isinstance(dimension, Range) and dimension.logarithmic
    furthest = good[0].epochs
    dots = []
    for result in good:
        x, y = sweep.values(result.trial)[key], result.value
        assert y is not None
        kind = "best" if result == good[0] else "" if result.epochs == furthest else "early"
        said = f"trial {result.trial}: {shown(sweep.asked.monitor, y)} after epoch "
        said += f"{result.epochs}, {key} = {value_text(x)}"
        dots.append(Dot(value_text(x) if words else x, y, said, kind))
    legend = {"best": "--c2", f"after epoch {furthest}": "--c1", "left at an earlier epoch": "--c0"}
    entries = [
        f'<li><i style="--colour: var({colour})"></i>{text}</li>'
        for (text, colour), kind in zip(legend.items(), ("best", "", "early"), strict=True)
        if any(dot.kind == kind for dot in dots)
    ]
    chart = scatter(dots, key, sweep.asked.monitor.replace("_", " "), is_log, words)
    return f'{chart}<ul class="legend">{"".join(entries)}</ul>'


def _curves(sweep: Sweep, good: Sequence[Result]) -> list[Curve]:
    """The objective over the epochs, of the first ones in the table."""
    found = []
    for colour, result in enumerate(good[:CURVES], 1):
        log = sweep.trial(result.trial).log
        records = [x for x in read_log(log) if x["event"] == "epoch"] if log.exists() else []
        values = [(x["epoch"], x.get(sweep.asked.monitor)) for x in records]
        points = [(x, y) for x, y in values if isinstance(y, int | float) and isfinite(y)]
        if points and result.value is not None:
            chosen = None if result.epoch is None else (result.epoch, result.value)
            said = shown(sweep.asked.monitor, result.value)
            found.append(Curve(f"trial {result.trial}", points, colour, chosen, said))
    return found
