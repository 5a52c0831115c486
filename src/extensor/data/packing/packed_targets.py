"""Columns of targets as numbers: classes by their places, whole numbers and others as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from extensor.data.packing.writing import OP
from extensor.data.table.cell_facts import kind_of_words
from extensor.data.table.cells import as_whole, brief
from extensor.data.table.column import Column
from extensor.data.table.column_summary import MOST_WORDS
from extensor.errors import value_error

_TRUTH = {"False": 0, "True": 1}


class TargetSummary:
    """What the cells of a target are, added up chunk by chunk: none of them is missing.

    ``is_one_of_several`` columns, which must be numbers, or True and False.
    """

    def __init__(self, name: str, is_one_of_several: bool) -> None:
        self.name = name
        self.is_whole = True
        self._is_one_of_several = is_one_of_several
        self._rows = 0
        self._words: set[str] | None = None

    def add(self, column: Column) -> None:
        """Look at some more rows."""
        self._rows += len(column)
        if column.kind == "date":
            requirement = "the target must be a column of numbers or words, not of dates"
            raise value_error(OP, requirement, source=column.source, target=self.name)
        if column.kind == "number":
            self.is_whole = self.is_whole and column.is_whole and _as_integers(column) is not None
            self._check_finite(column)
            return
        self._words = self._words or set()
        self._words.update(column.words())
        if self._is_one_of_several and not self._words <= _TRUTH.keys():
            requirement = "several targets must be columns of numbers, or of True and False"
            row = next(i for i, word in enumerate(column.words()) if word not in _TRUTH)
            where, cell = column.origin.place(row), brief(column.words()[row])
            raise value_error(OP, requirement, **where, target=self.name, cell=cell)
        if len(self._words) > MOST_WORDS:
            requirement = f"the target must have at most {MOST_WORDS:,} different words"
            raise value_error(OP, requirement, source=column.source, target=self.name)

    @property
    def kind(self) -> str:
        """ "number", "category" or "text"; several labels are numbers."""
        if self._words is None or self._is_one_of_several:
            return "number"
        return kind_of_words(self._rows, len(self._words))

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The words in their order, if they are such."""
        return None if self._words is None else tuple(sorted(self._words))

    def numbered(self, column: Column) -> Any:
        """The targets as they are stored."""
        if self._words is None:
            return _as_integers(column) if self.is_whole else column.numbers(OP)
        known = (
            _TRUTH if self._is_one_of_several else {x: i for i, x in enumerate(self.classes or ())}
        )
        return np.array([known[word] for word in column.words()], np.int64)

    def _check_finite(self, column: Column) -> None:
        wrong = ~np.isfinite(column.numbers(OP))
        if wrong.any():
            row = int(wrong.argmax())
            where, cell = column.origin.place(row), brief(column.words()[row])
            raise value_error(
                OP, "targets must be finite numbers", **where, target=self.name, cell=cell
            )


def target_columns(targets: Sequence[TargetSummary]) -> str:
    """The dtype of targets: other numbers than whole ones keep all their digits."""
    is_whole = all(target.is_whole for target in targets)
    return "int64" if is_whole else "float64"


def _as_integers(column: Column) -> Any:
    """Whole numbers to their last digit; None if one has more digits than an integer."""
    if not column.is_as_written:
        return column.numbers(OP).astype(np.int64)
    found = [as_whole(cell) for cell in column.words()]
    return None if None in found else np.array(found, np.int64)
