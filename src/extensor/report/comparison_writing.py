"""A comparison for people: tables in the terminal, and a page with the curves over each other."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from textwrap import wrap

from extensor.errors.screen import screen_line
from extensor.report.chart import UNKNOWN, Card, Chart, Series
from extensor.report.comparison import Column, Comparison
from extensor.report.curves import VALIDATION, direction, points, shown, title_of_metric
from extensor.report.document import document, part, section

_NARROW = 4  # columns; more need the whole width of the page
_HEAD = 10  # letters of a heading in a line, if the column is not wider


def comparison_table(found: Comparison) -> str:
    """Lines for the terminal: a row for each run, and below what differs in the configurations."""
    names = Column("run", [run.name for run in found.runs])
    lines = _lines([names, *found.columns])
    if any(column.best for column in found.columns):
        lines += ["", "* the best of its column"]
    if found.same:
        words = ", ".join(f"{column.name} {column.values[0]}" for column in found.same)
        lines += ["", f"the same for all: {screen_line(words)}"]
    if found.settings:
        keys = Column("configuration", [column.name for column in found.settings])
        values = [
            Column(run.name, [column.values[number] for column in found.settings])
            for number, run in enumerate(found.runs)
        ]
        lines += ["", *_lines([keys, *values])]
    return "\n".join([*lines, *([""] if found.notes else []), *map(screen_line, found.notes)])


def _lines(columns: Sequence[Column]) -> list[str]:
    """Columns beside each other, their headings in as many lines as they need."""
    shown_columns = []
    for number, column in enumerate(columns):
        cells = [
            f"{'-' if value is None else screen_line(value)}{'*' if i in column.best else ' '}"
            for i, value in enumerate(column.values)
        ]
        size = max(_HEAD, *map(len, cells))
        head = wrap(screen_line(column.name), size, break_on_hyphens=False) or [""]
        width = max(map(len, [*cells, *(f"{line} " for line in head)]))
        shown_columns.append((head, cells, width, number == 0))
    height = max(len(head) for head, _, _, _ in shown_columns)
    rows = []
    for row in range(height + len(columns[0].values)):
        line = []
        for head, cells, width, is_first in shown_columns:
            padded = [""] * (height - len(head)) + [f"{x} " for x in head] + cells
            line.append(f"{padded[row]:<{width}}" if is_first else f"{padded[row]:>{width}}")
        rows.append(" ".join(line).rstrip())
    return rows


def comparison_page(found: Comparison) -> str:
    """The whole page."""
    count = len(found.runs)
    sections = [section("Runs", _table(found), wide=True)]
    sections += [part(Card(chart.title, [chart])) for chart in _charts(found)]
    if found.settings:
        heads = ["configuration", *(run.name for run in found.runs)]
        rows = [[column.name, *map(_said, column.values)] for column in found.settings]
        wide = len(heads) > _NARROW
        content = _html(heads, rows, set())
        sections.append(section("What differs in the configurations", content, wide))
    title = f"Comparison of {count} runs"
    subtitle = ", ".join(run.name for run in found.runs)
    return document(title, subtitle, _facts(found), sections)


def _facts(found: Comparison) -> dict[str, str]:
    facts = {}
    for column in found.columns:
        if len(column.best) == 1 and not column.name.startswith(("last ", "kept ")):
            (number,) = column.best
            name = column.name if column.name.startswith("best ") else f"best {column.name}"
            facts[f"{name}: {found.runs[number].name}"] = _said(column.values[number])
    return facts


def _said(value: str | None) -> str:
    return UNKNOWN if value is None else value


def _table(found: Comparison) -> str:
    heads = ["run", *(column.name for column in found.columns)]
    rows = [
        [run.name, *(_said(column.values[number]) for column in found.columns)]
        for number, run in enumerate(found.runs)
    ]
    best = {(row, i + 1) for i, column in enumerate(found.columns) for row in column.best}
    content = _html(heads, rows, best)
    if best:
        content += "<p>The best of a column is coloured.</p>"
    if found.same:
        words = ", ".join(f"{column.name} {column.values[0]}" for column in found.same)
        content += f"<p>The same for all: {escape(words)}.</p>"
    return content + "".join(f"<p>{escape(note)}</p>" for note in found.notes)


def _html(heads: Sequence[str], rows: Sequence[Sequence[str]], best: set[tuple[int, int]]) -> str:
    head = "".join(f"<th>{escape(x)}</th>" for x in heads)
    lines = []
    for number, row in enumerate(rows):
        kinds = [' class="best"' if (number, i) in best else "" for i in range(len(row))]
        cells = (f"<td{kind}>{escape(x)}</td>" for kind, x in zip(kinds, row, strict=True))
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _charts(found: Comparison) -> list[Chart]:
    """The numbers that runs share, over their epochs: steps are not the same in all."""
    charts = []
    for key in found.keys:
        series = []
        for number, run in enumerate(found.runs):
            curve = points(run.epochs, key, at="epoch")
            values = [y for _, y in curve]
            sign = direction(key)
            words = None
            if values and sign:
                words = f"best {shown(key, sign * max(sign * y for y in values))}"
            series.append(Series(run.name, curve, said=words, colour=(number, len(found.runs))))
        name = key.removeprefix(VALIDATION)
        kind = "validation" if key.startswith(VALIDATION) else "training"
        title = f"{title_of_metric(name)}, {kind}"
        charts.append(Chart(title, [s for s in series if s.points], across="epoch"))
    return charts
