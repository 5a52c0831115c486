"""Statistics of columns, added up chunk by chunk: exact moments, ranges and words."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import frexp, isqrt, ldexp
from typing import Any, NamedTuple

import numpy as np

from extensor.data.table.columnar import Column
from extensor.data.table.meaning import kind_of_words
from extensor.errors import value_error

# Among n numbers none is further than sqrt(n) deviations from the mean: those that were fitted are not
# changed by it, and what comes later stays finite in float32.
LIMIT = 1e6
# The deviation that rounding leaves of numbers that are equal, in units of their mean.
_ROUNDING = 100 * np.finfo(np.float64).eps
_UNIT = 1126  # every float64 is an integer times 2**-1126
_LIMB = 18  # bits; sums of products of two such stay below 2**63 for 2**27 numbers
_ROWS = 1 << 24


def divisor(deviation: Any, mean: Any, low: Any = None, high: Any = None) -> Any:
    """The number that each column is divided by: its deviation, or 1 if it has no scale.

    A column has none if all its numbers are equal. ``low`` and ``high``, the extremes of each,
    decide that; without them a deviation counts as 0 if rounding alone could leave it.
    """
    if low is None or high is None:
        has_scale = deviation > _ROUNDING * np.abs(mean)
    else:
        has_scale = (deviation > 0) & (low < high)
    return np.where(has_scale, deviation, 1.0)


class Moments:
    """The exact sums of numbers and of their squares: the same for any order, and any chunks.

    Integers of Python hold them, so that rows read in pieces have the mean and deviation that they
    have together, to the last bit.
    """

    def __init__(self) -> None:
        self.count = 0
        self.low, self.high = np.inf, -np.inf
        self._sum = 0  # in units of 2**-_UNIT
        self._squares = 0  # in units of 2**(-2 * _UNIT)

    def add(self, values: Any) -> None:
        """Count some more finite numbers."""
        for begin in range(0, len(values), _ROWS):
            self._add(np.asarray(values[begin : begin + _ROWS], np.float64))

    def _add(self, values: Any) -> None:
        self.count += len(values)
        self.low = min(self.low, float(values.min()))
        self.high = max(self.high, float(values.max()))
        fractions, exponents = np.frexp(values)
        mantissas = np.ldexp(fractions, 53).astype(np.int64)
        for exponent in np.unique(exponents).tolist():
            whole = mantissas[exponents == exponent]
            limbs = [(whole >> shift) & ((1 << _LIMB) - 1) for shift in (0, _LIMB)]
            limbs.append(whole >> (2 * _LIMB))
            total = sum(int(limb.sum()) << (i * _LIMB) for i, limb in enumerate(limbs))
            squares = sum(
                int(np.dot(a, b)) << ((i + j) * _LIMB)
                for i, a in enumerate(limbs)
                for j, b in enumerate(limbs)
            )
            shift = exponent - 53 + _UNIT
            self._sum += total << shift
            self._squares += squares << (2 * shift)

    @property
    def mean(self) -> float:
        """Correctly rounded."""
        return float(Fraction(self._sum, self.count << _UNIT))

    @property
    def deviation(self) -> float:
        """The root of the mean square distance from the mean; 0 if all numbers are equal."""
        # n * sum(x**2) - sum(x)**2 has no rounding; its root is that of n**2 times the variance.
        spread = self.count * self._squares - self._sum * self._sum
        if spread == 0:
            return 0.0
        more = 256  # bits, so that the root of an integer is exact enough to be rounded
        return float(Fraction(isqrt(spread << more), self.count << (_UNIT + more // 2)))


class Scale(NamedTuple):
    """A mean, and a deviation that is 0 if there is nothing to tell apart."""

    mean: float
    deviation: float

    def applied(self, values: Any) -> Any:
        """Deviations from the mean, 0 where missing."""
        exponent = frexp(max(abs(self.mean), self.deviation))[1]
        with np.errstate(over="ignore", under="ignore"):
            away = np.ldexp(values, -exponent) - ldexp(self.mean, -exponent)
            result = away / ldexp(self.deviation, -exponent)
        return np.where(np.isnan(values), 0.0, np.clip(result, -LIMIT, LIMIT))


MOST_NUMBERS = 1 << 24  # numbers that are kept


class DistinctNumbers:
    """Keeps the numbers so far, up to a limit; of more it is known only while they rise."""

    def __init__(self) -> None:
        self.are_distinct = True
        self._is_rising = True
        self._last: Any = None
        self._kept: Any = None
        self._is_full = False

    @property
    def is_unknown(self) -> bool:
        """Whether there were too many to tell."""
        return self.are_distinct and self._is_full and not self._is_rising

    def add(self, values: Any) -> None:
        """Look at some more, an array."""
        if not self.are_distinct or not len(values):
            return
        follows = self._last is None or values[0] > self._last
        self._is_rising = bool(self._is_rising and follows and (values[1:] > values[:-1]).all())
        self._last = values[-1]
        if not self._is_full:
            kept = values if self._kept is None else np.concatenate([self._kept, values])
            self._kept = np.unique(kept)
            self.are_distinct = len(self._kept) == len(kept)
            self._is_full = len(kept) > MOST_NUMBERS
        if self._is_full or not self.are_distinct:
            self._kept = None


MOST_WORDS = 1 << 20  # different words of a column that are counted
CYCLES = ("year", "week", "day")


class ColumnSummary:
    """Counts, sums and ranges of the cells of a column.

    ``chosen`` is the kind that the user chose for the column. The rows may come in chunks if
    ``is_chunked``: numbers, dates and words as they are understood in the whole table.
    """

    def __init__(self, name: str, chosen: str | None = None, is_chunked: bool = False) -> None:
        self.name = name
        self.chosen = chosen
        self.rows = self.missing = 0
        self.is_whole = True
        self.is_as_written = False
        self.order: str | None = None
        self.first: str | None = None  # the first word
        self.words_differ = False
        self.moments = Moments()  # of numbers, or of dates in seconds from 1970
        self.words: Counter[str] = Counter()
        self.cycles: dict[str, tuple[int, int]] = {}  # the range of the places in each
        self._is_chunked = is_chunked
        self._own_kind = ""
        self._has_more_words = False
        self._distinct = DistinctNumbers()

    @property
    def kind(self) -> str:
        """The kind that the column is encoded as."""
        if self.chosen is not None or not self._is_chunked or self._own_kind in ("number", "date"):
            return self.chosen or self._own_kind
        present = self.rows - self.missing
        kind = kind_of_words(present, len(self.words))
        if self._has_more_words and kind == "category":
            raise self._too_many("words", MOST_WORDS)
        return kind

    @property
    def is_plain(self) -> bool:
        """Whether its words are numbers as short as can be, which may be written in other ways."""
        return not self.is_as_written and self._own_kind != "date"

    @property
    def counted_words(self) -> Counter[str]:
        """How often each word occurs."""
        if self._has_more_words:
            raise self._too_many("words", MOST_WORDS)
        return self.words

    @property
    def are_distinct(self) -> bool:
        """Whether the numbers differ in every row."""
        if self._distinct.is_unknown:
            raise self._too_many("numbers", MOST_NUMBERS)
        return self._distinct.are_distinct

    def add(self, column: Column, op: str) -> None:
        """Look at some more rows."""
        present = ~column.missing
        if self.rows == 0 and len(column):
            self.first = column.taken(np.array([0])).words()[0]
        self.rows += len(column)
        self.missing += int(column.missing.sum())
        self._own_kind = column.kind
        self.is_as_written = column.is_as_written
        self.order = column.order
        kind = self.chosen or column.kind
        if kind == "drop" or not present.any():
            return
        self.is_whole = self.is_whole and column.is_whole
        if kind == "number":
            self._add_numbers(column, finite_numbers(column, op)[present])
        elif kind == "date":
            self._add_dates(column.dates(op=op)[present])
        elif kind == "category" or (self._is_chunked and self.chosen is None):
            self._add_words(column.words()[present].tolist())

    def _add_numbers(self, column: Column, values: Any) -> None:
        if column.is_as_written:
            self.words_differ |= any(word != self.first for word in column.words())
        self.moments.add(values)
        if self.chosen is None and self.is_whole:
            self._distinct.add(values)

    def _add_dates(self, dates: Any) -> None:
        self.moments.add(dates.astype(np.int64).astype(np.float64))
        for cycle in CYCLES:
            places = _places(dates, cycle)
            low, high = int(places.min()), int(places.max())
            least, most = self.cycles.get(cycle, (low, high))
            self.cycles[cycle] = (min(low, least), max(high, most))

    def _add_words(self, words: list[str]) -> None:
        if not self._has_more_words:
            self.words.update(words)
            self._has_more_words = self._is_chunked and len(self.words) > MOST_WORDS

    def _too_many(self, things: str, most: int) -> ValueError:
        requirement = (
            f"a column must have at most {most:,} different {things} to be understood "
            f"(kinds={{{self.name!r}: 'drop'}} leaves it out)"
        )
        return value_error("fit", requirement, column=self.name)


def finite_numbers(column: Column, op: str) -> Any:
    """The numbers of a column, refused where one is infinite."""
    values = column.numbers(op)
    wrong = np.isinf(values)
    if wrong.any():
        raise column.cell_error(op, "numbers must be finite", int(wrong.argmax()))
    return values


def _places(dates: Any, cycle: str) -> Any:
    """The day of the year, the day of the week or the second of the day."""
    days = dates.astype("datetime64[D]")
    if cycle == "year":
        months = dates.astype("datetime64[M]")
        return months.astype(np.int64) % 12 * 31 + (days - months).astype(np.int64)
    if cycle == "week":
        return days.astype(np.int64) % 7
    return (dates - days).astype(np.int64)
