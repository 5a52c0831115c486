"""What the log says of the epochs: a list of records that can be read, plotted and compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isnan
from typing import Any

from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest

_ROWS = 20  # of a table that is shown
_EVENT = "event"
# How the names of numbers end that should go down, and up.
FALLING = ("loss", "error", "perplexity")
RISING = ("accuracy", "precision", "recall", "f1", "auc", "r2")


class History(list[dict[str, Any]]):
    """The records of the epochs, oldest first.

    >>> from extensor.train import History
    >>> history = History([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}])
    >>> history
    epoch  loss
        1   0.5
        2  0.25
    >>> history.best("loss")["epoch"]
    2
    >>> history.column("loss")
    [0.5, 0.25]
    """

    def __init__(self, records: Iterable[dict[str, Any]] = ()) -> None:
        is_list = isinstance(records, Iterable) and not isinstance(records, str | bytes | Mapping)
        several = list(records) if is_list else []
        if not is_list or not all(isinstance(record, dict) for record in several):
            given = arguments.briefly(records)
            raise type_error("History", "records must be a list of dicts", records=given)
        super().__init__(several)

    def column(self, name: str) -> list[Any]:
        """What each epoch has under ``name``; None for one that has nothing."""
        name = arguments.text("column", "name", name)
        if not any(name in record for record in self):
            known = self._names()
            raise value_error("column", f"name must be in the log{nearest(name, known)}", name=name)
        return [record.get(name) for record in self]

    def best(self, monitor: str = "validation_loss", mode: str | None = None) -> dict[str, Any]:
        """The record of the epoch with the least ``monitor``, or the greatest; the first of equals.

        Without a ``mode``, "min" or "max", the name says which: losses and errors should go down,
        accuracy and the like up.
        """
        mode = arguments.choice("best", "mode", mode, ("min", "max", None))
        monitor = arguments.text("best", "monitor", monitor)
        if mode is None:
            mode = "min" if monitor.endswith(FALLING) else "max"
            if mode == "max" and not monitor.endswith(RISING):
                requirement = "mode must be 'min' or 'max' for a number not known to be better so"
                raise value_error("best", requirement, monitor=monitor)
        numbers = [
            (value, index)
            for index, value in enumerate(self.column(monitor))
            if isinstance(value, int | float) and not isnan(value)
        ]
        if not numbers:
            raise value_error("best", "monitor must be a number in some epoch", monitor=monitor)
        sign = 1 if mode == "min" else -1
        return self[min(numbers, key=lambda pair: sign * pair[0])[1]]

    def to_pandas(self) -> Any:
        """A table of pandas, a row for each epoch."""
        try:
            from pandas import DataFrame  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            requirement = "to_pandas: pandas must be installed, see pip install pandas"
            raise ImportError(requirement) from None
        return DataFrame(list(self)).drop(columns=_EVENT, errors="ignore")

    def _names(self, shown: bool = False) -> list[str]:
        names = {name: None for record in self for name in record if name != _EVENT}
        return [
            name
            for name in names
            if not shown or any(isinstance(record.get(name), int | float) for record in self)
        ]

    def _cells(self) -> list[list[str]]:
        """The table as text: names first, then the last epochs."""
        names = self._names(shown=True)
        rows = [[_text(record.get(name)) for name in names] for record in self[-_ROWS:]]
        return [names, *rows]

    def __repr__(self) -> str:
        names, *rows = self._cells()
        if not names:
            return list.__repr__(self)
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in (names, *rows)
        ]
        return "\n".join([*_left_out(self), *lines])

    def _repr_html_(self) -> str:
        return html_table(self._cells(), *_left_out(self))


def html_table(cells: list[list[str]], caption: str = "") -> str:
    """A table of texts, of which the first row has the names."""
    from html import escape

    head, *rows = (
        "".join(f"<{tag}>{escape(text)}</{tag}>" for text in row)
        for row, tag in zip(cells, ["th"] + ["td"] * (len(cells) - 1), strict=True)
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{said}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _left_out(history: History) -> list[str]:
    return [f"the last {_ROWS} of {len(history)} epochs"] if len(history) > _ROWS else []


def _text(value: Any) -> str:
    if isinstance(value, bool | int):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) else ""
