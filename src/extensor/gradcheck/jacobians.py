"""The Jacobian of a function at a point, by its rules and by finite differences, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from extensor.gradcheck.diagnosis import Evidence
from extensor.gradcheck.differences import Slope, slope
from extensor.gradcheck.point import Point


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

    def step(self, x: float) -> float:
        return self.eps * max(1.0, abs(x))


@dataclass(frozen=True)
class OutputCombinations:
    """The combinations of output elements that are differentiated.

    Where there are few elements, each is a row of its own (``each``). The last row is always
    random: only there a rule shows up that does not use ``grad_output`` as it should, if the output
    is one number.
    """

    weights: Any
    each: bool

    @classmethod
    def of(
        cls, outputs: Sequence[Any], settings: Settings, rng: np.random.Generator
    ) -> OutputCombinations:
        size = sum(x.size for x in outputs)
        if size > settings.max_elements:
            return cls(rng.standard_normal((max(1, settings.directions), size)), False)
        return cls(np.concatenate([np.eye(size), rng.uniform(0.5, 1.5, (1, size))]), True)

    def combined(self, outputs: Sequence[Any]) -> Any:
        values = np.concatenate([x.ravel() for x in outputs])
        with np.errstate(all="ignore"):
            if self.each:
                return np.append(values, self.weights[-1] @ values)
            return self.weights @ values


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

    def evidence(
        self, others: Sequence[JacobianComparison], outputs: Sequence[Any], each: bool
    ) -> Evidence:
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


def compare(
    point: Point, rows: OutputCombinations, settings: Settings, rng: np.random.Generator
) -> list[JacobianComparison]:
    """A comparison for each checked input."""
    comparisons = []
    for k, gradients in enumerate(point.jacobian(rows.weights)):
        x = point.arrays[k]
        columns = np.arange(x.size)
        directions: list[Any] = []
        if x.size > settings.max_elements:
            columns = np.sort(rng.choice(x.size, settings.max_elements, replace=False))
            directions = [rng.standard_normal(x.size) for _ in range(settings.directions)]
            directions = [d / np.linalg.norm(d) for d in directions]
        slopes = element_slopes(point, k, columns, rows, settings)
        for direction in directions:
            change = _along(direction.reshape(x.shape))
            step = settings.step(float(np.abs(x).max()))
            slopes.append(_slope(point, k, change, step, rows, settings))
        along = [gradients @ direction for direction in directions]
        analytic = np.concatenate([gradients[:, columns], *(a[:, None] for a in along)], axis=1)
        comparisons.append(_comparison(point.checked[k], x, columns, analytic, slopes, settings))
    return comparisons


def element_slopes(
    point: Point, k: int, columns: Any, rows: OutputCombinations, settings: Settings
) -> list[Slope]:
    """The derivative of all rows by some elements of array ``k``."""
    x = point.arrays[k]
    return [
        _slope(point, k, _at(j), settings.step(float(x.flat[j])), rows, settings) for j in columns
    ]


def _comparison(
    position: int,
    x: Any,
    columns: Any,
    analytic: Any,
    slopes: Sequence[Slope],
    settings: Settings,
) -> JacobianComparison:
    fields = [
        np.array([getattr(s, name) for s in slopes]).reshape(analytic.shape[::-1]).T
        for name in ("value", "error", "left", "right")
    ]
    joined = Slope(*fields)
    size = np.maximum(np.abs(analytic), np.abs(joined.value))
    # An estimate that did not settle must not excuse a wrong gradient: at most 0.1 percent.
    error = np.minimum(joined.error, 1e-3 * size + settings.atol)
    return JacobianComparison(
        position, x, columns, analytic, joined, settings.tolerance(size) + error
    )


def _slope(
    point: Point,
    k: int,
    change: Callable[[Any, float], None],
    step: float,
    rows: OutputCombinations,
    settings: Settings,
) -> Slope:
    def moved(distance: float) -> Any:
        outputs, _ = point.moved(k, lambda array: change(array, distance)).call()
        return rows.combined([x._array for x in outputs])

    return slope(moved, step, settings.tolerance)


def _at(element: int) -> Callable[[Any, float], None]:
    def change(array: Any, distance: float) -> None:
        array.flat[element] += distance

    return change


def _along(direction: Any) -> Callable[[Any, float], None]:
    def change(array: Any, distance: float) -> None:
        array += distance * direction

    return change
