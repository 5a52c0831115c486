"""The Jacobian of a function at a point, by its rules and by finite differences, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extensor.gradcheck.diagnosis import Evidence
from extensor.gradcheck.point import Point

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
    best = _slope_from(function, middle, step)
    for factor in _LADDER[1:]:
        if np.all(best.error <= tolerance(best.value)):
            break
        best = _better(best, _slope_from(function, middle, step * factor), tolerance)
    return best


def _slope_from(function: Callable[[float], Any], middle: Any, step: float) -> Slope:
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


@dataclass(frozen=True)
class Settings:
    """The arguments of :func:`extensor.check_gradient` that say how to compare."""

    eps: float
    rtol: float
    atol: float
    max_elements: int
    directions: int
    kinks: bool

    def tolerance(self, value: Any) -> Any:
        return self.atol + self.rtol * np.abs(value)


@dataclass
class JacobianComparison:
    """One input's Jacobian, twice: a row for each combination of outputs, a column per element.

    ``columns`` are the elements; columns beyond those belong to random directions.
    """

    position: int
    x: Any
    columns: Any
    analytic: Any
    slopes: Slope
    tolerance: Any

    @property
    def numeric(self) -> Any:
        return self.slopes.value

    @property
    def kinked(self) -> Any:
        """Where the slopes from left and right differ for good."""
        left, right = self.slopes.left, self.slopes.right
        return np.abs(left - right) > 1e-3 * np.maximum(np.abs(left), np.abs(right)) + 1e-4

    @property
    def relative_error(self) -> Any:
        size = np.maximum(np.abs(self.analytic), np.abs(self.numeric))
        with np.errstate(all="ignore"):
            return np.where(size > 0, np.abs(self.analytic - self.numeric) / size, 0)

    def wrong(self, between: bool) -> Any:
        """Where the two differ; ``between`` lets pass what lies between the one-sided slopes."""
        # Written so that a difference that is not a number is wrong.
        wrong = ~(np.abs(self.analytic - self.numeric) <= self.tolerance)
        if between:
            low = np.minimum(self.slopes.left, self.slopes.right) - self.tolerance
            high = np.maximum(self.slopes.left, self.slopes.right) + self.tolerance
            wrong &= ~(self.kinked & (low <= self.analytic) & (self.analytic <= high))
        return wrong

    def evidence(self, others: Sequence[JacobianComparison], jacobians: Jacobians) -> Evidence:
        each, outputs = jacobians.each, jacobians.outputs
        rows = slice(0, -1) if each else slice(None)
        columns = slice(0, len(self.columns))
        return Evidence(
            self.analytic[rows, columns],
            self.numeric[rows, columns],
            self.tolerance[rows, columns],
            self.x.ravel()[self.columns],
            self.x.shape,
            np.concatenate([y.ravel() for y in outputs]),
            [y.shape for y in outputs],
            each and len(self.columns) == self.x.size,
            {
                f"input {other.position}": other.numeric[rows, : len(other.columns)]
                for other in others
                if other is not self
            },
        )


class Jacobians:
    """The Jacobians of a function at a point, for combinations of the elements of its outputs.

    Where there are few elements, each is a row of its own (``each``). The last row is always
    random: only there a rule shows up that does not use ``grad_output`` as it should, if the output
    is one number.
    """

    def __init__(
        self, point: Point, outputs: Sequence[Any], settings: Settings, rng: np.random.Generator
    ) -> None:
        self.point = point
        self.outputs = outputs
        self.settings = settings
        size = sum(x.size for x in outputs)
        self.each = size <= settings.max_elements
        self.rows = (
            np.concatenate([np.eye(size), rng.uniform(0.5, 1.5, (1, size))])
            if self.each
            else rng.standard_normal((max(1, settings.directions), size))
        )

    def compare(self, rng: np.random.Generator) -> list[JacobianComparison]:
        """A comparison for each checked input."""
        return [
            self._comparison(k, gradients, rng)
            for k, gradients in enumerate(self.point.jacobian(self.rows))
        ]

    def _comparison(self, k: int, gradients: Any, rng: np.random.Generator) -> JacobianComparison:
        x, settings = self.point.arrays[k], self.settings
        columns = np.arange(x.size)
        directions: list[Any] = []
        if x.size > settings.max_elements:
            columns = np.sort(rng.choice(x.size, settings.max_elements, replace=False))
            directions = [rng.standard_normal(x.size) for _ in range(settings.directions)]
            directions = [d / np.linalg.norm(d) for d in directions]
        slopes = self.element_slopes(self.point, k, columns)
        largest = float(np.abs(x).max()) if directions else 0.0
        slopes += [self._slope(self.point, k, slice(None), d, largest) for d in directions]
        along = [gradients @ direction for direction in directions]
        analytic = np.concatenate([gradients[:, columns], *(a[:, None] for a in along)], axis=1)
        fields = [
            np.array([getattr(s, name) for s in slopes]).reshape(analytic.shape[::-1]).T
            for name in ("value", "error", "left", "right")
        ]
        joined = Slope(*fields)
        size = np.maximum(np.abs(analytic), np.abs(joined.value))
        # An estimate that did not settle must not excuse a wrong gradient: at most 0.1 percent.
        tolerance = settings.tolerance(size) + np.minimum(joined.error, 1e-3 * size + settings.atol)
        return JacobianComparison(self.point.checked[k], x, columns, analytic, joined, tolerance)

    def element_slopes(self, point: Point, k: int, columns: Any) -> list[Slope]:
        """The derivative of all rows by some elements of array ``k``."""
        values = point.arrays[k].flat
        return [self._slope(point, k, j, 1.0, float(values[j])) for j in columns]

    def _slope(self, point: Point, k: int, elements: Any, direction: Any, x: float) -> Slope:
        def combined(distance: float) -> Any:
            outputs, _ = point.moved(k, elements, distance * direction).call()
            values = np.concatenate([y._array.ravel() for y in outputs])
            with np.errstate(all="ignore"):
                if self.each:
                    return np.append(values, self.rows[-1] @ values)
                return self.rows @ values

        return slope(combined, self.settings.eps * max(1.0, abs(x)), self.settings.tolerance)
