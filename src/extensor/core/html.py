"""A tensor in a notebook: what it is, and its elements as a table."""

from __future__ import annotations

from typing import Any

import numpy as np

_WHOLE, _EDGE = (
    8,
    3,
)  # an axis up to this length is shown whole, a longer one with these at each end
_GAP = "…"
_STYLE = "font-family:monospace;text-align:right"


def array_html(title: str, array: Any) -> str:
    """``title`` above the elements of ``array``, of which only the edges are read."""
    from html import escape

    if array.ndim > 2 or array.size == 0:
        body = "" if array.size == 0 else f"<pre>{escape(_text(array))}</pre>"
    else:
        body = _table(array.reshape((1,) * (2 - array.ndim) + array.shape))
    return f"<div><div><b>{escape(title)}</b></div>{body}</div>"


def _text(array: Any) -> str:
    return np.array2string(array, threshold=60, edgeitems=2, separator=", ")


def _table(matrix: Any) -> str:
    rows, columns = (_visible_indices(length) for length in matrix.shape)
    lines = []
    for row in rows:
        cells = [
            _GAP if None in (row, column) else _cell(matrix[row, column]) for column in columns
        ]
        lines.append("".join(f"<td>{cell}</td>" for cell in cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table style="{_STYLE}">{body}</table>'


def _visible_indices(length: int) -> list[int | None]:
    """The places of an axis that are shown; None stands for those between."""
    if length <= _WHOLE:
        return [*range(length)]
    return [*range(_EDGE), None, *range(length - _EDGE, length)]


def _cell(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool | int):
        return str(plain)
    return f"{float(plain):.4g}"
