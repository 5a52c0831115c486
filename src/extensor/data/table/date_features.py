"""What becomes of a column of dates in a matrix: the place in time, and in year, week and day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from extensor.core import entries
from extensor.data.table.column import Column
from extensor.data.table.column_summary import CYCLES, ColumnSummary
from extensor.data.table.dates import ORDERS
from extensor.data.table.features import scale_and_range, unexpected, words
from extensor.data.table.scale import Scale
from extensor.errors import value_error

_DAY = 86_400  # seconds
_KEYS = ("mean", "deviation", "low", "high", "missing", "cycles", "order")
_LIMIT = 2**40  # seconds from 1970, some 30,000 years


@dataclass(frozen=True)
class DateFeatures:
    """A date less the mean, in deviations, and each cycle that varied as a sine and a cosine."""

    kind: ClassVar[str] = "date"
    name: str
    scale: Scale
    low: float  # seconds from 1970
    high: float
    missing: int
    cycles: tuple[str, ...]
    order: str | None  # of day, month and year, as it was written

    @staticmethod
    def of(summary: ColumnSummary) -> DateFeatures | None:
        """From the rows to learn from; None if they do not differ."""
        scale, moments = Scale.of(summary.moments), summary.moments
        if scale.deviation == 0 and not summary.missing:
            return None
        cycles = tuple(x for x in CYCLES if summary.cycles[x][0] < summary.cycles[x][1])
        return DateFeatures(
            summary.name, scale, moments.low, moments.high, summary.missing, cycles, summary.order
        )

    @property
    def features(self) -> list[str]:
        position = [self.name] if self.scale.deviation else []
        waves = [f"{self.name} {wave} of {x}" for x in self.cycles for wave in ("sine", "cosine")]
        return [*position, *waves, *([f"{self.name} missing"] if self.missing else [])]

    def encoded(self, column: Column, op: str) -> list[Any]:
        dates = column.dates(self.order, op)
        seconds = np.where(column.missing, np.nan, dates.astype(np.int64).astype(np.float64))
        result = [self.scale.applied(seconds)] if self.scale.deviation else []
        for cycle in self.cycles:
            angle = (
                2 * np.pi * _phase(np.where(column.missing, np.datetime64(0, "s"), dates), cycle)
            )
            result += [np.where(column.missing, 0.0, wave(angle)) for wave in (np.sin, np.cos)]
        return [*result, column.missing] if self.missing else result

    def remarks(self, column: Column) -> list[str]:
        return unexpected(self.name, column, self.missing, "the mean")

    def said(self) -> str:
        low, high = (str(np.datetime64(int(x), "s")) for x in (self.low, self.high))
        span = f"{low} to {high}".replace("T00:00:00", "")
        gone = f", {self.missing} missing" if self.missing else ""
        parts = ["position in time"] if self.scale.deviation else []
        parts += [f"cycle of the {cycle}" for cycle in self.cycles]
        parts += ["whether it is missing"] if self.missing else []
        return f"date, {span}{gone}; {', '.join(parts)}"

    def state(self) -> dict[str, Any]:
        return {
            **self.scale._asdict(),
            "low": self.low,
            "high": self.high,
            "missing": self.missing,
            "cycles": list(self.cycles),
            "order": self.order,
        }

    @staticmethod
    def from_state(op: str, name: str, where: str, state: Mapping[str, Any]) -> DateFeatures:
        state = entries.with_keys(op, state, _KEYS, where)
        scale, low, high, missing = scale_and_range(op, where, state)
        if not -_LIMIT <= low <= high <= _LIMIT:
            requirement = f"{where} must have a range of years that dates have"
            raise value_error(op, requirement, low=low, high=high)
        cycles = words(op, f"{where}.cycles", state["cycles"])
        if cycles != [cycle for cycle in CYCLES if cycle in cycles]:
            requirement = f"{where}.cycles must be of {list(CYCLES)}, in that order"
            raise value_error(op, requirement, cycles=len(cycles))
        order = state["order"]
        if order is not None and (not isinstance(order, str) or order not in ORDERS):
            requirement = f"{where}.order must be one of {list(ORDERS)} or None"
            raise value_error(op, requirement, order=type(order).__name__)
        return DateFeatures(name, scale, low, high, missing, tuple(cycles), order)


def _phase(dates: Any, cycle: str) -> Any:
    """How much of the cycle is over, from 0 to 1; weeks begin on Monday."""
    if cycle == "year":
        years = dates.astype("datetime64[Y]")
        begins, ends = (x.astype("datetime64[s]") for x in (years, years + 1))
        return (dates - begins).astype(np.float64) / (ends - begins).astype(np.float64)
    seconds = dates.astype(np.int64)
    if cycle == "week":
        return (seconds + 3 * _DAY) % (7 * _DAY) / (7 * _DAY)
    return seconds % _DAY / _DAY
