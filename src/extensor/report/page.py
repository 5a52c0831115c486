"""The page: one HTML file that holds everything it shows, and runs nothing.

Whatever comes from users, names and values alike, is escaped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from extensor.nn.summary import Summary
from extensor.report.curves import Chart
from extensor.report.examination import Examination, Sample
from extensor.report.png import as_uri
from extensor.report.svg import line_chart

_NARROW_MATRIX = 12  # classes; more need the whole width of the page
_LARGEST_MATRIX = 40  # classes; of more only the most frequent mistakes are listed
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
    workers: Mapping[str, str] | None = None,
) -> str:
    """The whole page; what is not known is left out of it."""
    sections = [_section(chart.title, line_chart(chart)) for chart in charts]
    if examination is not None and examination.confusion is not None:
        wide = _NARROW_MATRIX < len(examination.confusion) <= _LARGEST_MATRIX
        sections.append(_section("Confusion", _confusion(examination), wide))
    if summary is not None:
        sections.append(_section("Model", _model(summary)))
    if examination is not None:
        sections.append(_section("Where it is most wrong", _worst(examination.worst), wide=True))
    sections.append(_section("Configuration", f"<pre>{escape(config)}</pre>"))
    sections.append(_section("Machine", _table(machine)))
    if workers:
        sections.append(_section("Workers", _table(workers)))
    style = (files("extensor.report") / "style.css").read_text(encoding="utf-8")
    tiles = "".join(
        f"<div><b>{escape(value)}</b>{escape(name)}</div>" for name, value in facts.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # Without an icon in the page, browsers ask the server for one.
        f'<title>{escape(title)}</title><link rel="icon" href="data:,">\n'
        f"<style>\n{style}</style></head>\n<body>\n"
        f"<h1>{escape(title)}</h1><p>{escape(subtitle)}</p>\n"
        f'<div class="facts">{tiles}</div>\n'
        f'<div class="cards">\n{"".join(sections)}</div>\n</body></html>\n'
    )


def _section(title: str, content: str, wide: bool = False) -> str:
    kind = ' class="wide"' if wide else ""
    return f"<section{kind}><h2>{escape(title)}</h2>{content}</section>\n"


def _confusion(examination: Examination) -> str:
    counts, names = examination.confusion, [escape(name) for name in examination.class_names]
    if len(counts) > _LARGEST_MATRIX:
        return _mistakes(counts, names)
    head = "".join(f"<th>{name}</th>" for name in names)
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
        rows.append(f"<tr><th>{name}</th>{''.join(cells)}</tr>")
    return (
        '<div class="scroll"><table class="confusion">'
        f"<tr><th></th>{head}</tr>{''.join(rows)}</table></div>"
        "<p>Rows are the true classes, columns what the model found.</p>"
    )


def _mistakes(counts: Any, names: Sequence[str]) -> str:
    pairs = [
        (int(counts[true, found]), names[true], names[found])
        for true, found in zip(*counts.nonzero(), strict=True)
        if true != found
    ]
    rows = "".join(
        f'<tr><td>{true}</td><td>{found}</td><td class="number">{count}</td></tr>'
        for count, true, found in sorted(pairs, reverse=True)[:_MISTAKES]
    )
    return (
        '<div class="scroll"><table><tr><th>class</th><th>taken for</th><th>how often</th></tr>'
        f"{rows}</table></div>"
    )


def _worst(samples: Sequence[Sample]) -> str:
    if samples and samples[0].png is not None:
        return f'<div class="samples">{"".join(map(_figure, samples))}</div>'
    rows = "".join(
        f'<tr><td class="number">{sample.number}</td><td>{escape(sample.truth)}</td>'
        f'<td>{escape(sample.found)}</td><td class="number">{sample.loss:.4g}</td></tr>'
        for sample in samples
    )
    return (
        '<div class="scroll"><table><tr><th class="number">sample</th><th>truth</th>'
        f'<th>found</th><th class="number">loss</th></tr>{rows}</table></div>'
    )


def _figure(sample: Sample) -> str:
    assert sample.png is not None
    truth, found = escape(sample.truth), escape(sample.found)
    kind = ' class="wrong"' if truth != found else ""
    said = f"is <b>{truth}</b>, found <b>{found}</b>"
    return (
        f'<figure{kind}><img src="{as_uri(sample.png)}" alt="{truth}">'
        f"<figcaption>{said}<br>loss {sample.loss:.3g}<br>#{sample.number}</figcaption></figure>"
    )


def _model(summary: Summary) -> str:
    def row(tag: str, texts: Sequence[str]) -> str:
        kinds = ["", "", "", ' class="number"', ' class="number"']
        cells = [f"<{tag}{kind}>{escape(x)}</{tag}>" for kind, x in zip(kinds, texts, strict=True)]
        return f"<tr>{''.join(cells)}</tr>"

    heads, *rows = summary.cells()
    return (
        f'<div class="scroll"><table>{row("th", heads)}{"".join(row("td", x) for x in rows)}</table>'
        "</div><p>Shapes and floating-point operations are those of one sample.</p>"
    )


def _table(values: Mapping[str, Any]) -> str:
    rows = "".join(
        f'<tr><th>{escape(key)}</th><td class="value">{escape(_text(value))}</td></tr>'
        for key, value in values.items()
    )
    return f"<table>{rows}</table>"


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
