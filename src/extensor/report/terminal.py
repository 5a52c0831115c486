"""A curve in the terminal, drawn with the dots of braille: eight in each character."""

from __future__ import annotations

import numpy as np

from extensor.report.chart import Series

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # by row and column
_BLANK = 0x2800


def terminal_plot(series: Series, width: int = 60, height: int = 6) -> str:
    """The curve in ``height`` lines of ``width`` characters, with its highest and lowest value."""
    xs, ys = np.array(series.points, np.float64).T
    columns = np.interp(np.linspace(xs[0], xs[-1], 2 * width), xs, ys)
    low, high = float(ys.min()), float(ys.max())
    rows = np.rint((high - columns) / ((high - low) or 1.0) * (4 * height - 1)).astype(int)
    cells = np.full((height, width), _BLANK)
    for column, row in enumerate(rows):
        before = rows[column - 1] if column else row
        # From the row before to this one, so that a steep curve has no holes.
        for y in range(min(before, row), max(before, row) + 1):
            cells[y // 4, column // 2] |= _DOTS[y % 4][column % 2]
    labels = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, labels))
    lines = [
        f"{label:>{margin}} ┤{''.join(map(chr, line))}"
        for label, line in zip(labels, cells.tolist(), strict=True)
    ]
    return "\n".join([f"{'':{margin}}  {series.name}", *lines])
