"""What all pages share: one HTML file that holds everything it shows, and asks for nothing.

The only script shows values under the pointer; its hash is in the page, so that nothing else runs.
Whatever comes from users, names and values alike, is escaped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from extensor.report.chart import Card, Table
from extensor.report.svg import drawn

_NARROW_TABLE = (5, 50)  # columns and letters above them; more need the whole width of the page


def document(title: str, subtitle: str, facts: Mapping[str, str], sections: Sequence[str]) -> str:
    """The whole page."""
    place = files("extensor.report")
    style, script = (
        (place / name).read_text(encoding="utf-8") for name in ("style.css", "pointer.js")
    )
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    tiles = "".join(
        f"<div><b>{escape(value)}</b>{escape(name)}</div>" for name, value in facts.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        # Without an icon in the page, browsers ask the server for one.
        f'<title>{escape(title)}</title><link rel="icon" href="data:,">\n'
        f"<style>\n{style}</style></head>\n<body>\n"
        f"<h1>{escape(title)}</h1><p>{escape(subtitle)}</p>\n"
        f'<div class="facts">{tiles}</div>\n'
        f'<div class="cards">\n{"".join(sections)}</div>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def section(title: str, content: str, wide: bool = False) -> str:
    """A card of the page."""
    kind = ' class="wide"' if wide else ""
    return f"<section{kind}><h2>{escape(title)}</h2>{content}</section>\n"


def part(given: Card | Table) -> str:
    """The section of a card or a table."""
    note = f"<p>{escape(given.note)}</p>" if given.note else ""
    if isinstance(given, Card):
        return section(given.title, "".join(map(drawn, given.charts)) + note)
    columns, letters = _NARROW_TABLE
    wide = len(given.heads) > columns or sum(map(len, given.heads)) > letters
    return section(given.title, table(given.heads, given.rows) + note, wide)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table that scrolls where it is too wide; the first ``words`` columns are no numbers."""

    def row(tag: str, cells: Sequence[str]) -> str:
        kinds = ["" if i < words else ' class="number"' for i in range(len(cells))]
        inside = (f"<{tag}{kind}>{escape(x)}</{tag}>" for kind, x in zip(kinds, cells, strict=True))
        return f"<tr>{''.join(inside)}</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f'<div class="scroll"><table>{row("th", heads)}{body}</table></div>'


def values_table(values: Mapping[str, Any]) -> str:
    """Names and values, below each other."""
    rows = "".join(
        f'<tr><th>{escape(str(key))}</th><td class="value">{escape(_text(value))}</td></tr>'
        for key, value in values.items()
    )
    return f"<table>{rows}</table>"


def _text(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
