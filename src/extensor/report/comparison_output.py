"""Comparisons of runs for people: tables in the terminal, and a page with the curves of all runs."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

from extensor.errors.screen import screen_line
from extensor.report.chart import UNKNOWN, Chart, Series
from extensor.report.document import TableCell, chart_section, document, element, section, table
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
    sections += map(chart_section, _charts(comparison))
    if comparison.settings:
        heads = ["configuration", *names]
        rows = [[column.name, *map(_cell, column.values)] for column in comparison.settings]
        title = "What differs in the configurations"
        sections.append(section(title, table(heads, rows), len(heads) > _NARROW))
    facts = {}
    for column in comparison.columns:
        if len(column.best) == 1 and not column.name.startswith(("last ", "kept ")):
            (number,) = column.best
            name = f"best {column.name.removeprefix('best ')}: {comparison.runs[number].name}"
            facts[name] = _cell(column.values[number])
    return document(f"Comparison of {len(names)} runs", ", ".join(names), facts, sections)


def _cell(value: str | None) -> str:
    return UNKNOWN if value is None else value


def _runs_table(comparison: RunComparison) -> str:
    columns = comparison.columns
    rows = []
    for number, run in enumerate(comparison.runs):
        texts = [(_cell(column.values[number]), number in column.best) for column in columns]
        cells = [TableCell(escape(text), "best") if is_best else text for text, is_best in texts]
        rows.append([run.name, *cells])
    notes = list(comparison.notes)
    if comparison.same:
        notes.insert(0, f"The same for all: {_same_text(comparison)}.")
    if any(column.best for column in columns):
        notes.insert(0, "The best of a column is coloured.")
    content = table(["run", *(column.name for column in columns)], rows)
    return content + "".join(element("p", escape(note)) for note in notes)


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
