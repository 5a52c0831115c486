"""What becomes of a column of numbers or of categories in a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from extensor.core import entries
from extensor.data.table.cells import number_text
from extensor.data.table.column import Column
from extensor.data.table.column_summary import ColumnSummary, finite_numbers
from extensor.data.table.scale import Scale
from extensor.errors import type_error, value_error

LEVELS = 50
_SHOWN = 5  # categories that a description names


@dataclass(frozen=True)
class NumberFeatures:
    """A number less its mean, in deviations; where some were missing, also whether it is."""

    kind: ClassVar[str] = "number"
    name: str
    scale: Scale
    low: float
    high: float
    missing: int

    @staticmethod
    def of(summary: ColumnSummary) -> NumberFeatures | None:
        """From the rows to learn from; None if they do not differ."""
        scale, moments = Scale.of(summary.moments), summary.moments
        if scale.deviation == 0 and not summary.missing:
            return None
        return NumberFeatures(summary.name, scale, moments.low, moments.high, summary.missing)

    @property
    def features(self) -> list[str]:
        value = [self.name] if self.scale.deviation else []
        return [*value, *([f"{self.name} missing"] if self.missing else [])]

    def encoded(self, column: Column, op: str) -> list[Any]:
        values = finite_numbers(column, op)
        result = [self.scale.applied(values)] if self.scale.deviation else []
        return [*result, column.missing] if self.missing else result

    def remarks(self, column: Column) -> list[str]:
        return unexpected(self.name, column, self.missing, "the mean")

    def said(self) -> str:
        span = " to ".join(_short(x) for x in (self.low, self.high))
        if not self.scale.deviation:
            return f"number, {span}{_missing(self.missing)}; whether it is missing"
        too = ", and whether it is missing" if self.missing else ""
        return f"number, {span}{_missing(self.missing)}; standardized{too}"

    def state(self) -> dict[str, Any]:
        return {**self.scale._asdict(), "low": self.low, "high": self.high, "missing": self.missing}

    @staticmethod
    def from_state(op: str, name: str, where: str, state: Mapping[str, Any]) -> NumberFeatures:
        state = entries.with_keys(op, state, ("mean", "deviation", "low", "high", "missing"), where)
        scale, low, high, missing = scale_and_range(op, where, state)
        return NumberFeatures(name, scale, low, high, missing)


@dataclass(frozen=True)
class CategoryFeatures:
    """A feature for each word, one for all others, and one for none where some were missing."""

    kind: ClassVar[str] = "category"
    name: str
    levels: tuple[str, ...]
    rest: int  # how many words there were besides
    missing: int
    is_plain: bool  # numbers, which may be written in other ways

    @staticmethod
    def of(summary: ColumnSummary) -> CategoryFeatures | None:
        """From the rows to learn from; None if they do not differ."""
        counted, missing = summary.counted_words, summary.missing
        if len(counted) < 2 and not missing:
            return None
        common = sorted(counted, key=lambda word: (-counted[word], word))
        levels = tuple(sorted(common[:LEVELS]))
        rest = len(counted) - len(levels)
        return CategoryFeatures(summary.name, levels, rest, missing, summary.is_plain)

    @property
    def features(self) -> list[str]:
        levels = [f"{self.name}={level}" for level in self.levels]
        gone = [f"{self.name} missing"] if self.missing else []
        return [*levels, f"{self.name} other", *gone]

    def encoded(self, column: Column, op: str) -> list[Any]:
        words = column.plain_words() if self.is_plain else column.words()
        places: dict[Any, int] = {level: place for place, level in enumerate(self.levels)}
        if self.missing:
            places[None] = len(self.levels) + 1
        other = len(self.levels)
        found = np.fromiter((places.get(word, other) for word in words), np.int64, len(words))
        return [found == place for place in range(len(self.features))]

    def remarks(self, column: Column) -> list[str]:
        words = column.plain_words() if self.is_plain else column.words()
        new = sorted({*words[~column.missing]} - {*self.levels})
        if self.rest or not new:  # which of the rest it is nobody knows any more
            return unexpected(self.name, column, self.missing, "other")
        values = "1 value" if len(new) == 1 else f"{len(new)} values"
        shown = ", ".join(map(repr, new[:_SHOWN])) + (", ..." if len(new) > _SHOWN else "")
        found = f"{self.name}: {values} that training did not have ({shown}), taken as other"
        return [found, *unexpected(self.name, column, self.missing, "other")]

    def said(self) -> str:
        shown = ", ".join(self.levels[:_SHOWN]) + (", ..." if len(self.levels) > _SHOWN else "")
        number = len(self.levels) + self.rest
        rest = f", {self.rest} of them as other" if self.rest else ""
        words = "value" if number == 1 else "values"
        return f"category, {number} {words} ({shown}){_missing(self.missing)}; one-hot{rest}"

    def state(self) -> dict[str, Any]:
        return {
            "levels": list(self.levels),
            "rest": self.rest,
            "missing": self.missing,
            "is_plain": self.is_plain,
        }

    @staticmethod
    def from_state(op: str, name: str, where: str, state: Mapping[str, Any]) -> CategoryFeatures:
        state = entries.with_keys(op, state, ("levels", "rest", "missing", "is_plain"), where)
        levels = words(op, f"{where}.levels", state["levels"])
        if not 1 <= len(levels) <= LEVELS or levels != sorted(set(levels)):
            requirement = f"{where}.levels must be 1 to {LEVELS} words in their order, each once"
            raise value_error(op, requirement, levels=len(levels))
        return CategoryFeatures(
            name,
            tuple(levels),
            entries.count(op, f"{where}.rest", state["rest"]),
            entries.count(op, f"{where}.missing", state["missing"]),
            entries.truth(op, f"{where}.is_plain", state["is_plain"]),
        )


def unexpected(name: str, column: Column, missing: int, instead: str) -> list[str]:
    """A sentence on cells that are missing, where none were."""
    number = int(column.missing.sum())
    if missing or not number:
        return []
    return [f"{name}: {number} missing, as none was in training; taken as {instead}"]


def words(op: str, name: str, value: Any) -> list[str]:
    """A list of strings, none empty, from a state."""
    if not isinstance(value, list | tuple) or not all(isinstance(x, str) and x for x in value):
        raise type_error(op, f"{name} must be a list of strings, none empty")
    return list(value)


def scale_and_range(
    op: str, where: str, state: Mapping[str, Any]
) -> tuple[Scale, float, float, int]:
    """What numbers and dates keep alike, from a state."""
    mean, deviation, low, high = (
        float(entries.number(op, f"{where}.{key}", state[key]))
        for key in ("mean", "deviation", "low", "high")
    )
    missing = entries.count(op, f"{where}.missing", state["missing"])
    scale = Scale(mean, deviation)
    has_feature = deviation > 0 or missing > 0
    if not (scale.is_right and isfinite(low) and isfinite(high) and low <= high and has_feature):
        requirement = f"{where} must have a mean, a deviation and a range, all finite"
        raise value_error(op, requirement, mean=mean, deviation=deviation, low=low, high=high)
    return scale, low, high, missing


def _short(value: float) -> str:
    """A number for a person: whole, or of four digits."""
    return number_text(value) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _missing(number: int) -> str:
    return f", {number} missing" if number else ""
