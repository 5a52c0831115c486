"""Texts of users on a terminal: what would move its cursor or turn text around is shown instead.

Names of classes, columns and files come from data that somebody else may have written. A terminal
takes some of their characters for commands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

# Controls of ASCII and Latin-1, marks and overrides of direction, ends of lines and paragraphs,
# characters without a width, tags, and halves of surrogate pairs. Joiners stay: scripts need them.
_CONTROLS = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e"
    "\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\ud800-\\udfff\\U000e0000-\\U000e007f"
)
_IN_TEXT = re.compile(f"[{_CONTROLS}]")
_IN_LINE = re.compile(f"[{_CONTROLS}\\t\\n]")


def screen_text(text: str) -> str:
    r"""``text`` with control characters as Python writes them; lines and tabs stay.

    >>> from extensor.errors.screen import screen_text
    >>> print(screen_text("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _IN_TEXT.sub(_escape, text)


def screen_line(text: object) -> str:
    r"""The same for what has to stay on one line.

    >>> from extensor.errors.screen import screen_line
    >>> print(screen_line("a\nb"))
    a\nb
    """
    return _IN_LINE.sub(_escape, str(text))


def _escape(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]


def shortened(text: str, most: int) -> str:
    """The beginning of a long text, and how long it is."""
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(text):,} characters)"


def aligned(rows: Sequence[Sequence[str]], left: int, gap: int = 2) -> list[str]:
    """Rows of cells as lines, with the first ``left`` columns aligned to the left.

    >>> from extensor.errors.screen import aligned
    >>> aligned([("run", "loss"), ("first", "0.5")], left=1)
    ['run    loss', 'first   0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (" " * gap)
        .join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in rows
    ]


def exact_stream(stream: Any) -> Any:
    """The stream that writes as it is given, where the commands make their output safe."""
    return getattr(stream, "exact", stream)
