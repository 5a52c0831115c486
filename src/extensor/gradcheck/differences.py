"""Derivatives from function values alone, with an estimate of how far they can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

_ROUNDING = 8 * np.finfo(np.float64).eps
_LADDER = (1.0, 10.0, 0.1, 1e-2, 1e-3, 1e-4)


@dataclass
class Slope:
    """The derivative of a vector by one number: from both sides, and from each."""

    value: Any
    error: Any
    left: Any
    right: Any

    def trusted(self, tolerance: Any) -> Any:
        """Where the error is small, in itself or beside the value."""
        return self.error <= np.maximum(tolerance, 1e-2 * np.abs(self.value))


def _better(first: Slope, second: Slope, tolerance: Callable[[Any], Any]) -> Slope:
    """The better of two estimates, element by element.

    A small error alone is not enough: steps across a singular point give small numbers too.
    """
    trust_first = first.trusted(tolerance(first.value))
    trust_second = second.trusted(tolerance(second.value))
    better = np.where(trust_first == trust_second, second.error < first.error, trust_second)
    pairs = zip(vars(second).values(), vars(first).values(), strict=True)
    return Slope(*(np.where(better, a, b) for a, b in pairs))


def slope(function: Callable[[float], Any], step: float, tolerance: Callable[[Any], Any]) -> Slope:
    """The derivative of ``function`` at 0, from values at one and two steps on either side.

    Their combination is exact to the fourth power of the step, so a step large enough to drown
    rounding is small enough for the truth. Other steps are tried only where the estimated error
    exceeds ``tolerance(value)``: larger ones help where rounding rules, smaller ones near a
    singular point.
    """
    middle = function(0.0)
    best = _at(function, middle, step)
    for factor in _LADDER[1:]:
        if np.all(best.error <= tolerance(best.value)):
            break
        best = _better(best, _at(function, middle, step * factor), tolerance)
    return best


def _at(function: Callable[[float], Any], middle: Any, step: float) -> Slope:
    above, below = function(step), function(-step)
    far_above, far_below = function(2 * step), function(-2 * step)
    with np.errstate(all="ignore"):
        near = (above - below) / (2 * step)
        far = (far_above - far_below) / (4 * step)
        value = (4 * near - far) / 3
        size = np.max(np.abs([above, below, far_above, far_below]), axis=0)
        error = np.abs(value - near) + _ROUNDING * size / step
        right = (4 * above - far_above - 3 * middle) / (2 * step)
        left = (3 * middle - 4 * below + far_below) / (2 * step)
    # Outside the function's domain there is no estimate at all.
    return Slope(value, np.where(np.isfinite(error), error, np.inf), left, right)
