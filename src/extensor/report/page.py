"""The page of a run: its curves, what the model makes of the test data, and what it was made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from extensor.nn.summary import Summary
from extensor.report.chart import Card, Chart
from extensor.report.curves import Record
from extensor.report.document import document, part, section, table, values_table
from extensor.report.findings import Examination
from extensor.report.samples import texts_section, worst_section

_NARROW_MATRIX = 12  # classes; more need the whole width of the page
_LARGEST_MATRIX = 40  # classes; of more only the most frequent mistakes are listed
_SHORT_NAME = 3  # letters
_MISTAKES = 20


def page(
    title: str,
    subtitle: str,
    facts: Mapping[str, str],
    charts: Sequence[Chart],
    examination: Examination | None,
    summary: Summary | None,
    config: str,
    machine: Mapping[str, Any],
    data: Sequence[str] = (),
    texts: Sequence[Record] = (),
    workers: Mapping[str, str] | None = None,
) -> str:
    """The whole page; what is not known is left out of it."""
    sections = [section("Data", _lines(data), wide=True)] if data else []
    sections += [part(Card(chart.title, [chart])) for chart in charts]
    if texts:
        sections.append(texts_section(texts))
    if examination is not None:
        sections += _examined(examination)
    if summary is not None:
        sections.append(section("Model", _model(summary)))
    sections.append(section("Configuration", f"<pre>{escape(config)}</pre>"))
    sections.append(section("Machine", values_table(machine)))
    if workers:
        sections.append(section("Workers", values_table(workers)))
    return document(title, subtitle, facts, sections)


def _lines(lines: Sequence[str]) -> str:
    text = escape("\n".join(lines))
    return f'<pre class="lines">{text}</pre>'


def _examined(examination: Examination) -> list[str]:
    sections = []
    if examination.notes:
        notes = "".join(f"<p>{escape(note)}</p>" for note in examination.notes)
        sections.append(section("What to know first", notes, wide=True))
    if examination.confusion is not None:
        wide = _NARROW_MATRIX < len(examination.confusion) <= _LARGEST_MATRIX
        sections.append(section("Confusion", _confusion(examination), wide))
    sections += [part(one) for one in examination.parts]
    if examination.worst:
        sections.append(worst_section(examination))
    return sections


def _confusion(examination: Examination) -> str:
    counts, names = examination.confusion, [escape(name) for name in examination.class_names]
    if len(counts) > _LARGEST_MATRIX:
        return _mistakes(counts, examination.class_names)
    # Long names stand upright, so that the cells stay small.
    upright = " upright" if max(map(len, examination.class_names)) > _SHORT_NAME else ""
    head = "".join(f"<th><span>{name}</span></th>" for name in names)
    rows = []
    for true, (name, row) in enumerate(zip(names, counts.tolist(), strict=True)):
        whole = max(1, sum(row))
        cells = []
        for found, count in enumerate(row):
            kind = ' class="wrong"' if count and found != true else ""
            kind = ' class="most"' if found == true and 2 * count > whole else kind
            cells.append(
                f'<td{kind} style="--share: {count / whole:.3f}">{count if count else ""}</td>'
            )
        rows.append(f"<tr><th><span>{name}</span></th>{''.join(cells)}</tr>")
    return (
        '<div class="scroll"><table class="confusion'
        f'{upright}"><tr><th></th>{head}</tr>{"".join(rows)}</table></div>'
        "<p>Rows are the true classes, columns what the model found.</p>"
    )


def _mistakes(counts: Any, names: Sequence[str]) -> str:
    pairs = [
        (int(counts[true, found]), names[true], names[found])
        for true, found in zip(*counts.nonzero(), strict=True)
        if true != found
    ]
    rows = [
        [true, found, f"{count:,}"]
        for count, true, found in sorted(pairs, reverse=True)[:_MISTAKES]
    ]
    return table(["class", "taken for", "how often"], rows, words=2)


def _model(summary: Summary) -> str:
    heads, *rows = summary.cells()
    note = "<p>Shapes and floating-point operations are those of one sample.</p>"
    return table(heads, rows, words=3) + note
