"""The frame of all pages: one HTML file that holds everything it shows, and asks for nothing.

A page has one script at most. Its hash is in the page's content policy, so that nothing else runs.
Everything that comes from users, names and values alike, is escaped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from extensor.io.redaction import without_home
from extensor.report.chart import Card, TableCard, draw_chart

_NARROW_TABLE = (5, 50)  # columns and letters above them; more need the whole width of the page


def document(
    title: str,
    subtitle: str,
    facts: Mapping[str, str],
    sections: Sequence[str],
) -> str:
    """The whole page: every page of the library is made here, and has a content policy."""
    title, subtitle = without_home(title), without_home(subtitle)
    content = without_home("".join(sections))
    script = pointer_script()
    style = (files("extensor.report") / "style.css").read_text(encoding="utf-8")
    tiles = "".join(
        f"<div><b>{escape(value)}</b>{escape(name)}</div>" for name, value in facts.items()
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{policy_element(content_policy(script))}\n"
        # Without an icon in the page, browsers ask the server for one.
        f'<title>{escape(title)}</title><link rel="icon" href="data:,">\n'
        f"<style>\n{style}</style></head>\n<body>\n"
        f"<h1>{escape(title)}</h1>{f'<p>{escape(subtitle)}</p>' if subtitle else ''}\n"
        f'<div class="facts">{without_home(tiles)}</div>\n'
        f'<div class="cards">\n{content}</div>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def content_policy(*scripts: str, connect: str = "'none'") -> str:
    """The Content-Security-Policy of a page on which only ``scripts`` run.

    Charts and tables set custom properties in ``style`` attributes, which have no hash: so styles,
    and nothing else, may be inline.
    """
    digests = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src {hashes}; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def policy_element(policy: str) -> str:
    """The element that states a policy in the page itself."""
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def pointer_script() -> str:
    """The script that shows values under the pointer."""
    return (files("extensor.report") / "pointer.js").read_text(encoding="utf-8")


def section(title: str, content: str, wide: bool = False) -> str:
    """A card of the page."""
    kind = ' class="wide"' if wide else ""
    return f"<section{kind}><h2>{escape(title)}</h2>{content}</section>\n"


def card_section(card: Card | TableCard) -> str:
    """The section of a card or a table."""
    note = f"<p>{escape(card.note)}</p>" if card.note else ""
    if isinstance(card, Card):
        return section(card.title, "".join(map(draw_chart, card.charts)) + note)
    columns, letters = _NARROW_TABLE
    wide = len(card.heads) > columns or sum(map(len, card.heads)) > letters
    return section(card.title, table(card.heads, card.rows) + note, wide)


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
