"""A line search for the strong Wolfe conditions. Nocedal and Wright, "Numerical Optimization", 3.5."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, sqrt
from typing import Any, NamedTuple

_DECREASE = 1e-4  # share of the decrease along the slope that a step must reach
_CURVATURE = 0.9  # share of the slope that may be left
_MARGIN = 0.1  # share of a bracket in which a trial counts as near its end


class TriedPoint(NamedTuple):
    """A step along the direction, with the loss, the gradient and the slope there."""

    step: float
    loss: float
    gradient: Any
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], TriedPoint],
    start: TriedPoint,
    step: float,
    reach: float,
    tolerance: float,
    most: int,
) -> tuple[TriedPoint, int]:
    """A point that decreases the loss enough and is flat enough, or the best of ``most`` trials.

    ``reach`` is the largest element of the direction; brackets that move no parameter by
    ``tolerance`` are not divided further. Also returns the number of evaluations.
    """
    goal = _Goal(start)
    previous, point, trials = start, evaluate(step), 0
    bracket: list[TriedPoint] = []
    while trials < most and not bracket:
        if goal.is_too_high(point) or (trials > 1 and point.loss >= previous.loss):
            bracket = [previous, point]
        elif goal.is_flat(point):
            return point, trials + 1
        elif point.slope >= 0:
            bracket = [previous, point]
        else:
            bounds = (point.step + 0.01 * (point.step - previous.step), 10 * point.step)
            further = _cubic_minimum(previous, point, bounds)
            previous, point = point, evaluate(further)
            trials += 1
    return _zoom(evaluate, goal, bracket or [start, point], reach, tolerance, trials, most)


class _Goal:
    """The strong Wolfe conditions for points on the line from ``start``."""

    def __init__(self, start: TriedPoint) -> None:
        self.start = start

    def is_too_high(self, point: TriedPoint) -> bool:
        """Whether the loss has not decreased enough."""
        return point.loss > self.start.loss + _DECREASE * point.step * self.start.slope

    def is_flat(self, point: TriedPoint) -> bool:
        """Whether the slope has become small enough."""
        return abs(point.slope) <= -_CURVATURE * self.start.slope


def _zoom(
    evaluate: Callable[[float], TriedPoint],
    goal: _Goal,
    bracket: list[TriedPoint],
    reach: float,
    tolerance: float,
    trials: int,
    most: int,
) -> tuple[TriedPoint, int]:
    """Shrink a bracket that holds a good point; its lower end when there is no trial left."""
    was_near_end = False
    low, high = _by_loss(bracket)
    while trials < most and abs(bracket[1].step - bracket[0].step) * reach >= tolerance:
        step, was_near_end = _trial(bracket, was_near_end)
        point = evaluate(step)
        trials += 1
        if goal.is_too_high(point) or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = _by_loss(bracket)
            continue
        is_done = goal.is_flat(point)
        if not is_done and point.slope * (bracket[high].step - bracket[low].step) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if is_done:
            break
    return bracket[low], trials + 1


def _by_loss(bracket: list[TriedPoint]) -> tuple[int, int]:
    return (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)


def _trial(bracket: list[TriedPoint], was_near_end: bool) -> tuple[float, bool]:
    """The next step to try, and whether it is near an end of the bracket.

    The second time in a row it is moved inwards, as the bracket would hardly shrink.
    """
    step = _cubic_minimum(bracket[0], bracket[1])
    least, largest = sorted(point.step for point in bracket)
    margin = _MARGIN * (largest - least)
    if min(largest - step, step - least) >= margin:
        return step, False
    if was_near_end or step >= largest or step <= least:
        is_above = abs(step - largest) < abs(step - least)
        return (largest - margin if is_above else least + margin), False
    return step, True


def _cubic_minimum(
    a: TriedPoint, b: TriedPoint, bounds: tuple[float, float] | None = None
) -> float:
    """The minimum, within bounds, of the cubic with the losses and slopes of two points."""
    if a.step > b.step:
        a, b = b, a
    low, high = bounds or (a.step, b.step)
    if a.step == b.step:
        return (low + high) / 2
    middle = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step)
    square = middle * middle - a.slope * b.slope
    width = b.slope - a.slope + 2 * sqrt(square) if square >= 0 else 0.0
    if not isfinite(width) or width == 0:
        return (low + high) / 2
    step = b.step - (b.step - a.step) * ((b.slope + sqrt(square) - middle) / width)
    return min(max(step, low), high)
