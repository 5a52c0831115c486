"""Metrics of numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, nan, sqrt
from typing import Any, ClassVar

import numpy as np

from extensor.core import entries
from extensor.errors import value_error
from extensor.train.metrics.metric import Mean, Metric, Stateful, checked_sums
from extensor.train.metrics.metric_inputs import columns, numbers


class _MeanError(Mean):
    """The mean of a function of the differences, which is 0 or greater."""

    tasks: ClassVar[tuple[str, ...]] = ("regression",)
    higher_is_better: ClassVar[bool | None] = False
    _least_total: ClassVar[float] = 0.0
    _error: ClassVar[Any]

    def update(self, output: Any, target: Any) -> None:
        found, true = numbers(type(self).__name__, output, target)
        if true.size:
            with np.errstate(over="ignore"):
                self.add(float(self._error(found - true).mean()), true.size)


class MeanAbsoluteError(_MeanError):
    """The mean of ``|output - target|`` over all elements.

    Outputs and targets have the same shape, any one. Targets must be finite, and outputs not NaN.
    Without a sample the value is NaN.

    Examples
    --------
    >>> from extensor.train import MeanAbsoluteError
    >>> error = MeanAbsoluteError()
    >>> error.update([2.5, 0.0, 2.0], [3.0, 0.0, 1.0])
    >>> error.compute()
    0.5
    """

    _error = np.absolute


class RootMeanSquaredError(_MeanError):
    """The root of the mean of ``(output - target)**2`` over all elements.

    Outputs and targets have the same shape, any one. Targets must be finite, and outputs not NaN.
    Several columns have one root in common, where scikit-learn takes the mean of their roots. Without a
    sample the value is NaN.

    Examples
    --------
    >>> from extensor.train import RootMeanSquaredError
    >>> error = RootMeanSquaredError()
    >>> error.update([1.0, 5.0], [1.0, 1.0])
    >>> round(error.compute(), 4)
    2.8284
    """

    _error = np.square

    def compute(self) -> float:
        return sqrt(super().compute())


class MedianAbsoluteError(Metric):
    """The median of ``|output - target|``; for several columns the mean of their medians.

    Outputs and targets have the same shape, (samples,) or (samples, columns). Targets must be finite,
    and outputs not NaN. Without a sample the value is NaN.

    Notes
    -----
    The metric keeps the errors of all samples in memory, so a trainer takes it among its ``metrics``
    but not among its ``train_metrics``.

    Examples
    --------
    >>> from extensor.train import MedianAbsoluteError
    >>> error = MedianAbsoluteError()
    >>> error.update([1.0, 2.0, 90.0], [1.5, 2.0, 3.0])
    >>> error.compute()
    0.5
    """

    tasks: ClassVar[tuple[str, ...]] = ("regression",)
    higher_is_better: ClassVar[bool | None] = False

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._errors: list[Any] = []

    def update(self, output: Any, target: Any) -> None:
        found, true = columns("MedianAbsoluteError", output, target)
        if self._errors:
            _check_columns("MedianAbsoluteError", true, self._errors[0].shape[1])
        with np.errstate(over="ignore"):
            self._errors.append(np.abs(found - true))

    def compute(self) -> float:
        errors = np.concatenate(self._errors) if self._errors else np.empty((0, 1))
        with np.errstate(over="ignore"):
            return float(np.median(errors, axis=0).mean()) if len(errors) else nan


class R2(Stateful):
    """R², the fraction of the variance of the targets that the outputs explain.

    It is ``1 - sum((target - output)**2) / sum((target - mean(target))**2)``, the mean over several
    columns: 1 at best, 0 for outputs that are always the mean. It is NaN for fewer than two samples.
    For targets that are all equal it is 1 if every output is exact, otherwise 0.

    Outputs and targets have the same shape, (samples,) or (samples, columns). Targets must be finite,
    and outputs not NaN.

    Examples
    --------
    >>> from extensor.train import R2
    >>> r2 = R2()
    >>> r2.update([2.5, 0.0, 2.0, 8.0], [3.0, 0.0, 2.0, 7.0])
    >>> r2.compute()
    0.9519230769230769
    """

    tasks: ClassVar[tuple[str, ...]] = ("regression",)
    higher_is_better: ClassVar[bool | None] = True
    _KEYS = ("mean", "low", "high", "spread", "residue")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.count = 0
        self._sums = {key: np.zeros(0) for key in self._KEYS}

    def update(self, output: Any, target: Any) -> None:
        found, true = columns("R2", output, target)
        if self.count:
            _check_columns("R2", true, len(self._sums["mean"]))
        if not len(true):
            return
        with np.errstate(over="ignore", invalid="ignore"):
            mean = true.mean(axis=0)
            fresh = {
                "mean": mean,
                "low": true.min(axis=0),
                "high": true.max(axis=0),
                "spread": np.square(true - mean).sum(axis=0),
                "residue": np.square(true - found).sum(axis=0),
            }
            self._sums = self._joined(fresh, len(true)) if self.count else fresh
        self.count += len(true)

    def _joined(self, fresh: dict[str, Any], count: int) -> dict[str, Any]:
        """Those of both: squares around two means, not of the numbers, whose difference would be lost."""
        before, whole = self._sums, self.count + count
        moved = fresh["mean"] - before["mean"]
        between = np.square(moved) * (self.count * count / whole)
        return {
            "mean": before["mean"] + moved * (count / whole),
            "low": np.minimum(before["low"], fresh["low"]),
            "high": np.maximum(before["high"], fresh["high"]),
            "spread": before["spread"] + fresh["spread"] + between,
            "residue": before["residue"] + fresh["residue"],
        }

    def compute(self) -> float:
        if self.count < 2:
            return nan
        sums = self._sums
        # The spread of equal numbers is a rounding of their mean, which may not be 0.
        constant = (sums["low"] == sums["high"]) | (sums["spread"] == 0)
        with np.errstate(over="ignore", invalid="ignore"):
            fractions = sums["residue"] / np.where(constant, 1, sums["spread"])
            values = np.where(constant, sums["residue"] == 0, 1 - fractions)
            return float(values.mean())

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count, **{key: x.copy() for key, x in self._sums.items()}}

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        given = entries.with_keys(op, state_dict, ["count", *self._KEYS], name)
        count = entries.count(op, "count", given["count"])
        size = max(1, entries.array(op, "spread", given["spread"]).size) if count else 0
        sums = {key: checked_sums(op, key, given[key], (size,)) for key in ("spread", "residue")}
        for key in ("mean", "low", "high"):
            sums[key] = checked_sums(op, key, given[key], (size,), least=-inf, finite=True)
        return partial(vars(self).update, count=count, _sums=sums)


def _check_columns(op: str, true: Any, expected: int) -> None:
    if true.shape[1] != expected:
        requirement = f"output and target must have {expected} columns"
        hint = "as the batches before, which reset() forgets"
        raise value_error(op, f"{requirement}, {hint}", columns=true.shape[1])
