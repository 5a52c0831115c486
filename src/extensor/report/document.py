"""The frame of all pages: one HTML file that holds everything it shows, and asks for nothing.

A page has one script at most. Its hash is in the page's content policy, so that nothing else runs.
Everything that comes from users, names and values alike, is escaped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import zip_longest
from typing import Any, NamedTuple

from extensor.io.redaction import without_home
from extensor.report.chart import Card, Chart, TableCard, draw_chart

_NARROW_TABLE = (5, 50)  # columns and letters above them; more need the whole width of the page
NUMBERS = ("", "number")  # the kinds of columns of a table with a name before its numbers


class TableCell(NamedTuple):
    """A cell of a table as HTML, and its class in the style sheet if it differs from its column's."""

    content: str
    kind: str = ""


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
    style = _file_of_page("style.css")
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
    return _file_of_page("pointer.js")


def _file_of_page(name: str) -> str:
    return (files("extensor.report") / name).read_text(encoding="utf-8")


def element(tag: str, content: str, kind: str = "") -> str:
    """An element with the class ``kind``, if that is not empty; ``content`` is HTML."""
    return f'<{tag} class="{kind}">{content}</{tag}>' if kind else f"<{tag}>{content}</{tag}>"


def section(title: str, content: str, wide: bool = False) -> str:
    """A card of the page."""
    return element("section", element("h2", escape(title)) + content, "wide" if wide else "") + "\n"


def chart_section(chart: Chart, note: str = "") -> str:
    """The section of a single chart, with its title."""
    return card_section(Card(chart.title, [chart], note))


def card_section(card: Card | TableCard) -> str:
    """The section of a card or a table."""
    note = element("p", escape(card.note)) if card.note else ""
    if isinstance(card, Card):
        return section(card.title, "".join(map(draw_chart, card.charts)) + note)
    columns, letters = _NARROW_TABLE
    wide = len(card.heads) > columns or sum(map(len, card.heads)) > letters
    return section(card.title, table(card.heads, card.rows, NUMBERS) + note, wide)


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str | TableCell]],
    kinds: Sequence[str] = ("",),
    row_kinds: Iterable[str] = (),
) -> str:
    """A table that scrolls where it is too wide; texts are escaped, cells are not.

    ``kinds`` are the classes of the columns, the last for all that follow, ``row_kinds`` of the rows.
    """

    def line(tag: str, cells: Sequence[str | TableCell], row_kind: str) -> str:
        inside = ""
        for i, x in enumerate(cells):
            cell = x if isinstance(x, TableCell) else TableCell(escape(x))
            inside += element(tag, cell.content, cell.kind or kinds[min(i, len(kinds) - 1)])
        return element("tr", inside, row_kind)

    body = "".join(line("td", *pair) for pair in zip_longest(rows, row_kinds, fillvalue=""))
    return scrolling(line("th", heads, "") + body)


def scrolling(rows: str, kind: str = "") -> str:
    """A table of ``rows``, which are HTML, that scrolls where it is too wide."""
    return element("div", element("table", rows, kind), "scroll")


def values_table(values: Mapping[str, Any]) -> str:
    """Names and values, below each other."""
    rows = ""
    for key, value in values.items():
        text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
        rows += f'<tr><th>{escape(str(key))}</th><td class="value">{escape(text)}</td></tr>'
    return element("table", rows)
