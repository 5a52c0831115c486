"""What all metrics share, and the mean, which many of them are."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any, ClassVar

import numpy as np

from extensor.core import entries
from extensor.errors import arguments, type_error, value_error

_LIMIT = 2.0**62  # of counts, whose sums are still integers


class Metric:
    """What all metrics share; a subclass says what a batch adds and what comes of it in the end."""

    tasks: ClassVar[tuple[str, ...]] = ()  # for which it has a meaning

    def reset(self) -> None:
        """Forget all batches."""
        raise self._lacking("reset")

    def update(self, output: Any, target: Any) -> None:
        """Take a batch into account."""
        raise self._lacking("update")

    def compute(self) -> Any:
        """The value for all batches since the last reset: a float, or an array."""
        raise self._lacking("compute")

    def _lacking(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__}: needs a method {name}")


class Stateful(Metric):
    """A metric whose sums are small and can be kept in a checkpoint."""

    def state_dict(self) -> dict[str, Any]:
        """The sums so far."""
        raise self._lacking("state_dict")

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""
        self._prepared_state(state_dict, f"{type(self).__name__}.load_state_dict")()

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        """What takes over ``state_dict``, once all of it is known to fit."""
        raise self._lacking("_prepared_state")


class Mean(Stateful):
    """The mean of numbers that each stand for some samples: a running loss. NaN of none.

    >>> from extensor.train import Mean
    >>> mean = Mean()
    >>> mean.add(1.0, 10)
    >>> mean.add(4.0, 5)
    >>> mean.compute()
    2.0
    """

    _least_total: ClassVar[float] = -inf

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.total = 0.0
        self.count = 0

    def update(self, output: Any, target: Any) -> None:
        if type(self) is Mean:
            raise type_error("Mean", "a mean is told numbers, by add(value, count), not outputs")
        raise self._lacking("update")

    def add(self, value: float, count: int) -> None:
        """Take into account a mean ``value`` of ``count`` samples."""
        value, count = _counted(value, count)
        self.total += value * count
        self.count += count

    def compute(self) -> float:
        return self.total / self.count if self.count else nan

    def state_dict(self) -> dict[str, Any]:
        return {"total": self.total, "count": self.count}

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        given = entries.with_keys(op, state_dict, ["total", "count"], name)
        total = float(entries.number(op, "total", given["total"]))
        count = entries.count(op, "count", given["count"])
        if total < self._least_total:
            raise value_error(op, f"total must be {self._least_total:g} or greater", total=total)

        def commit() -> None:
            self.reset()
            self.total, self.count = total, count

        return commit


def _counted(value: Any, count: Any) -> tuple[float, int]:
    if type(value) is float and type(count) is int:
        return value, count
    found = entries.number("Mean", "value", value)
    return float(found), entries.count("Mean", "count", count)


def bounded(op: str, name: str, value: Any, least: int, most: int) -> int:
    """An integer from ``least`` to ``most``, the size of something that is kept."""
    number = arguments.integer(op, name, value, least)
    if number > most:
        raise value_error(op, f"{name} must be at most {most}", **{name: number})
    return number


def checked_sums(
    op: str,
    key: str,
    value: Any,
    shape: tuple[int | None, ...],
    least: float = 0,
    finite: bool = False,
) -> Any:
    """A copy of an array of a state in float64, of ``shape``, where None is any size."""
    copy = _shaped(op, key, value, shape).astype(np.float64)
    if finite and not np.isfinite(copy).all():
        raise value_error(op, f"{key} must be finite numbers")
    if not (copy >= least).all():
        raise value_error(op, f"{key} must be numbers from {least} on")
    return copy


def checked_counts(op: str, key: str, value: Any, shape: tuple[int | None, ...]) -> Any:
    """The same for how often something was found."""
    array = _shaped(op, key, value, shape)
    if array.dtype.kind not in "iu":
        raise type_error(op, f"{key} must be integers", dtype=str(array.dtype))
    if not (array >= 0).all() or array.sum(dtype=np.float64) >= _LIMIT:
        raise value_error(op, f"{key} must be numbers from 0 on, in all less than 2**62")
    return array.astype(np.int64)


def _shaped(op: str, key: str, value: Any, shape: tuple[int | None, ...]) -> Any:
    array = entries.array(op, key, value)
    sizes = array.shape
    if len(sizes) != len(shape) or any(
        size not in (None, found) for size, found in zip(shape, sizes, strict=True)
    ):
        words = ", ".join("any" if size is None else str(size) for size in shape)
        comma = "," if len(shape) == 1 else ""
        raise value_error(op, f"{key} must have a shape of ({words}{comma})", shape=sizes)
    return array
