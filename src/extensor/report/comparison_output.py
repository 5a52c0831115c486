"""Comparisons of runs for people: tables in the terminal, and a page with the curves of all runs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

from extensor.errors.screen import screen_line
from extensor.report.chart import UNKNOWN, Card, Chart, Series
from extensor.report.document import card_section, document, section
from extensor.report.run_comparison import ComparisonColumn, RunComparison, best_value
from extensor.report.run_records import VALIDATION, direction, display_value, metric_title, points

_NARROW = 4  # columns; more need the whole width of the page
_HEAD = 10  # letters of a heading in a line, if the column is not wider


def comparison_table(comparison: RunComparison) -> str:
    """Lines for the terminal: a row for each run, and below what differs in the configurations."""
    names = ComparisonColumn("run", [run.name for run in comparison.runs])
    lines = _lines([names, *comparison.columns])
    if any(column.best for column in comparison.columns):
        lines += ["", "* the best of its column"]
    if comparison.same:
        lines += ["", f"the same for all: {screen_line(_same_text(comparison))}"]
    if comparison.settings:
        keys = ComparisonColumn("configuration", [x.name for x in comparison.settings])
        values = [
            ComparisonColumn(run.name, [column.values[number] for column in comparison.settings])
            for number, run in enumerate(comparison.runs)
        ]
        lines += ["", *_lines([keys, *values])]
    notes = [screen_line(note) for note in comparison.notes]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _same_text(comparison: RunComparison) -> str:
    return ", ".join(f"{column.name} {column.values[0]}" for column in comparison.same)


def _lines(columns: Sequence[ComparisonColumn]) -> list[str]:
    """Columns beside each other, their headings in as many lines as they need."""
    laid_out = [_head_and_cells(column) for column in columns]
    height = max(len(head) for head, _ in laid_out)
    padded = [[""] * (height - len(head)) + head + cells for head, cells in laid_out]
    widths = [max(map(len, column)) for column in padded]
    return [
        " ".join(
            f"{text:<{width}}" if place == 0 else f"{text:>{width}}"
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in zip(*padded, strict=True)
    ]


def _head_and_cells(column: ComparisonColumn) -> tuple[list[str], list[str]]:
    """The lines of the heading, and the values; the last letter has room for the star of the best."""
    cells = [
        f"{'-' if value is None else screen_line(value)}{'*' if i in column.best else ' '}"
        for i, value in enumerate(column.values)
    ]
    width = max(_HEAD, *map(len, cells))
    head = wrap(screen_line(column.name), width, break_on_hyphens=False) or [""]
    return [f"{line} " for line in head], cells


def comparison_page(comparison: RunComparison) -> str:
    """The whole page."""
    names = [run.name for run in comparison.runs]
    sections = [section("Runs", _runs_table(comparison), wide=True)]
    sections += [card_section(Card(chart.title, [chart])) for chart in _charts(comparison)]
    if comparison.settings:
        heads = ["configuration", *names]
        rows = [[column.name, *map(_cell, column.values)] for column in comparison.settings]
        content = _html_table(heads, rows, set())
        wide = len(heads) > _NARROW
        sections.append(section("What differs in the configurations", content, wide))
    title = f"Comparison of {len(names)} runs"
    return document(title, ", ".join(names), _facts(comparison), sections)


def _facts(comparison: RunComparison) -> dict[str, str]:
    facts = {}
    for column in comparison.columns:
        if len(column.best) == 1 and not column.name.startswith(("last ", "kept ")):
            (number,) = column.best
            name = column.name if column.name.startswith("best ") else f"best {column.name}"
            facts[f"{name}: {comparison.runs[number].name}"] = _cell(column.values[number])
    return facts


def _cell(value: str | None) -> str:
    return UNKNOWN if value is None else value


def _runs_table(comparison: RunComparison) -> str:
    columns = comparison.columns
    heads = ["run", *(column.name for column in columns)]
    rows = [
        [run.name, *(_cell(column.values[number]) for column in columns)]
        for number, run in enumerate(comparison.runs)
    ]
    best = {(row, i + 1) for i, column in enumerate(columns) for row in column.best}
    content = _html_table(heads, rows, best)
    if best:
        content += "<p>The best of a column is coloured.</p>"
    if comparison.same:
        content += f"<p>The same for all: {escape(_same_text(comparison))}.</p>"
    return content + "".join(f"<p>{escape(note)}</p>" for note in comparison.notes)


def _html_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], best: set[tuple[int, int]]
) -> str:
    head = "".join(f"<th>{escape(x)}</th>" for x in heads)
    lines = []
    for number, row in enumerate(rows):
        kinds = [' class="best"' if (number, i) in best else "" for i in range(len(row))]
        cells = (f"<td{kind}>{escape(x)}</td>" for kind, x in zip(kinds, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _charts(comparison: RunComparison) -> list[Chart]:
    """The numbers that runs share, over their epochs: steps are not the same in all."""
    charts = []
    for key in comparison.keys:
        series = []
        for number, run in enumerate(comparison.runs):
            curve = points(run.epochs, key, at="epoch")
            sign = direction(key)
            best = best_value([y for _, y in curve], sign) if sign else None
            words = None if best is None else f"best {display_value(key, best)}"
            colour = (number, len(comparison.runs))
            series.append(Series(run.name, curve, said=words, colour=colour))
        part = "validation" if key.startswith(VALIDATION) else "training"
        title = f"{metric_title(key.removeprefix(VALIDATION))}, {part}"
        charts.append(Chart(title, [s for s in series if s.points], across="epoch"))
    return charts
