"""Numbers of any size, standardized without a sum or a quotient that overflows."""

from __future__ import annotations

from fractions import Fraction
from math import frexp, isfinite, isqrt, ldexp
from typing import Any, NamedTuple

import numpy as np

# Among n numbers none is further than sqrt(n) deviations from the mean: those that were fitted are not
# changed by it, and what comes later stays finite in float32.
LIMIT = 1e6
_UNIT = 1126  # every float64 is an integer times 2**-1126
_LIMB = 18  # bits; sums of products of two such stay below 2**63 for 2**27 numbers
_ROWS = 1 << 24


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

    @staticmethod
    def of(moments: Moments) -> Scale:
        """Of finite numbers, at least one."""
        return Scale(moments.mean, moments.deviation)

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
