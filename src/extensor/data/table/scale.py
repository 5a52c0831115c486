"""Numbers of any size, standardized without a sum or a quotient that overflows."""

from __future__ import annotations

from math import frexp, isfinite, ldexp
from typing import Any, NamedTuple

import numpy as np

# Among n numbers none is further than sqrt(n) deviations from the mean: those that were fitted are not
# changed by it, and what comes later stays finite in float32.
LIMIT = 1e6


class Scale(NamedTuple):
    """A mean, and a deviation that is 0 if there is nothing to tell apart."""

    mean: float
    deviation: float

    @staticmethod
    def of(values: Any) -> Scale:
        """Of finite numbers, at least one, in any order."""
        ordered = np.sort(values)  # so that the sums are the same for every order
        exponent = frexp(float(np.abs(ordered).max()))[1]
        scaled = np.ldexp(ordered, -exponent)
        mean = float(scaled.mean())
        deviation = float(np.sqrt(np.square(scaled - mean).mean()))
        if ordered[0] == ordered[-1]:
            mean, deviation = float(scaled[0]), 0.0
        return Scale(ldexp(mean, exponent), ldexp(deviation, exponent))

    def applied(self, values: Any) -> Any:
        """Deviations from the mean, 0 where missing."""
        exponent = frexp(max(abs(self.mean), self.deviation))[1]
        with np.errstate(over="ignore", under="ignore"):
            away = np.ldexp(values, -exponent) - ldexp(self.mean, -exponent)
            result = away / ldexp(self.deviation, -exponent)
        return np.where(np.isnan(values), 0.0, np.clip(result, -LIMIT, LIMIT))

    @property
    def is_right(self) -> bool:
        """Whether it can have been fitted."""
        return isfinite(self.mean) and isfinite(self.deviation) and self.deviation >= 0
