"""Columns brought to a mean of 0 and a deviation of 1, as it is learned from samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from extensor.errors import value_error

# What rounding leaves of the deviation of a column that is constant, in units of its mean.
_ROUNDING = 100 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Scaling:
    """The mean and variance of each column, and the weight of the samples they are of."""

    mean: Any
    variance: Any
    count: float

    @classmethod
    def of(cls, op: str, name: str, values: Any, weights: Any = None) -> Scaling:
        """Learned from the rows of a matrix, each with its weight."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.average(values, axis=0, weights=weights).astype(np.float64)
            # Once more around the first mean: the sum of many equal numbers is rounded many times.
            mean = mean + np.average(values - mean, axis=0, weights=weights)
            variance = np.average((values - mean) ** 2, axis=0, weights=weights)
        if not np.isfinite(variance).all():
            requirement = f"{name} must have squares that are finite (or scale=False)"
            raise value_error(op, requirement, column=int(np.argmin(np.isfinite(variance))))
        count = len(values) if weights is None else float(weights.sum())
        return cls(mean, variance, count)

    def joined(self, other: Scaling) -> Scaling:
        """That of the samples of both."""
        count = self.count + other.count
        share = other.count / count
        step = other.mean - self.mean
        between = share * (1 - share) * step * step
        return Scaling(
            self.mean + share * step,
            self.variance + share * (other.variance - self.variance) + between,
            count,
        )

    @property
    def deviation(self) -> Any:
        """What a column is divided by: 1 where it is constant."""
        deviation = np.sqrt(self.variance)
        return np.where(deviation <= _ROUNDING * np.abs(self.mean), 1.0, deviation)

    def scaled(self, values: Any) -> Any:
        """A matrix with each column at a mean of 0 and a deviation of 1."""
        return (values - self.mean) / self.deviation

    def restored(self, values: Any) -> Any:
        """What :meth:`scaled` made ``values`` of."""
        return values * self.deviation + self.mean
