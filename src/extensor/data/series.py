"""Series of one's own: what was measured for a while, and what came next."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import float32
from extensor.core.tensor import to_array
from extensor.data.dataset import rows
from extensor.data.windows import WindowDataset
from extensor.errors import arguments, value_error

_OP = "SeriesWindows"


class SeriesWindows(WindowDataset):
    """Windows of ``window`` rows, and the ``horizon`` rows of targets that follow each.

    ``inputs`` are (time, features) or (time,), ``targets`` (time, numbers) or (time,). A sample is
    ``(inputs, targets)`` of shapes (window, features) and (horizon * numbers,), in the order of
    time, in float32; a window begins every ``stride`` rows. Without targets a sample is ``(inputs,)``,
    and windows go to the end of the series, to forecast what comes after it.

    >>> import numpy as np
    >>> from extensor.data import SeriesWindows
    >>> series = SeriesWindows(np.arange(6), np.arange(6) * 10, window=3, horizon=2)
    >>> len(series)
    2
    >>> series[1][1]
    array([40., 50.], dtype=float32)
    """

    def __init__(
        self, inputs: Any, targets: Any, window: int, horizon: int = 1, stride: int = 1
    ) -> None:
        self.window = arguments.integer(_OP, "window", window, 1)
        self.horizon = arguments.integer(_OP, "horizon", horizon, 1)
        stride = arguments.integer(_OP, "stride", stride, 1)
        self.inputs = _table("inputs", inputs)
        self.targets = None if targets is None else _table("targets", targets)
        length = len(self.inputs)
        if self.targets is None:
            self.horizon = 0
        elif len(self.targets) != length:
            requirement = "inputs and targets must have a row for each time"
            raise value_error(_OP, requirement, inputs=length, targets=len(self.targets))
        needed = self.window + self.horizon
        if length < needed:
            given = {"window": self.window, **({"horizon": self.horizon} if self.horizon else {})}
            requirement = f"a series must have {needed} rows or more"
            raise value_error(_OP, requirement, rows=length, **given)
        self.starts = np.arange(0, length - needed + 1, stride, dtype=np.int64)

    def rows(self, begin: int = 0, end: int | None = None, history: bool = False) -> Any:
        """The numbers of the samples that lie in the rows from ``begin`` up to ``end``.

        With ``history`` only their targets need to: what came before may be looked at. So a series
        is cut in time, and nothing that is learned is asked for later:
        ``series.take(series.rows(0, 800))`` and ``series.take(series.rows(800, history=True))``.
        """
        op = f"{_OP}.rows"
        begin = arguments.integer(op, "begin", begin, 0)
        end = len(self.inputs) if end is None else arguments.integer(op, "end", end, 0)
        history = arguments.flag(op, "history", history)
        first = self.starts + (self.window if history else 0)
        beyond = self.starts + self.window + self.horizon
        return np.flatnonzero((first >= begin) & (beyond <= end))

    def _cut(self, begins: Any) -> tuple[Any, ...]:
        windows = rows(self.inputs, begins[:, None] + np.arange(self.window))
        if self.targets is None:
            return (windows,)
        places = begins[:, None] + self.window + np.arange(self.horizon)
        following = rows(self.targets, places)
        return windows, following.reshape(len(begins), self.horizon * self.targets.shape[1])


def _table(name: str, values: Any) -> Any:
    """``values`` as rows of finite float32."""
    with np.errstate(over="ignore"):
        table = to_array(values, float32, op=_OP)
    if table.ndim not in (1, 2) or (table.ndim == 2 and table.shape[1] == 0):
        requirement = f"{name} must be (time, columns) or (time,)"
        raise value_error(_OP, requirement, **{f"{name}_shape": table.shape})
    table = table[:, None] if table.ndim == 1 else table
    bad = ~np.isfinite(table)
    if bad.any():
        row, column = divmod(int(bad.argmax()), table.shape[1])
        value = float(table[row, column])
        requirement = f"{name} must be finite in float32"
        raise value_error(_OP, requirement, row=row, column=column, value=value)
    return table
