"""Metrics: numbers about outputs and targets, summed up batch by batch.

A metric has ``update(output, target)``, ``compute()`` and ``reset()``. What it keeps is small whatever the
number of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, nan, sqrt
from typing import Any

import numpy as np

from extensor import entries
from extensor.errors import value_error
from extensor.ops import cross_entropy
from extensor.tape import no_grad


class Metric:
    """What all metrics share; a subclass says what a batch adds and what comes of it in the end."""

    def reset(self) -> None:
        """Forget all batches."""
        raise NotImplementedError

    def update(self, output: Any, target: Any) -> None:
        """Take a batch into account."""
        raise NotImplementedError

    def compute(self) -> Any:
        """The value for all batches since the last reset: a float, or an array."""
        raise NotImplementedError


class Mean(Metric):
    """The mean of numbers that each stand for some samples: a running loss.

    >>> from extensor.train import Mean
    >>> mean = Mean()
    >>> mean.add(1.0, 10)
    >>> mean.add(4.0, 5)
    >>> mean.compute()
    2.0
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.total = 0.0
        self.count = 0

    def add(self, value: float, count: int) -> None:
        """Take into account a mean ``value`` of ``count`` samples."""
        self.total += value * count
        self.count += count

    def compute(self) -> float:
        return self.total / self.count if self.count else nan

    def state_dict(self) -> dict[str, Any]:
        """The sums so far."""
        return {"total": self.total, "count": self.count}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave."""
        self._prepared_state(state_dict, "Mean.load_state_dict")()

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        """What takes over ``state_dict``, once all of it is known to fit."""
        given = entries.with_keys(op, state_dict, ["total", "count"], name)
        total = float(entries.number(op, "total", given["total"]))
        count = entries.count(op, "count", given["count"])

        def commit() -> None:
            self.total, self.count = total, count

        return commit


class MeanAbsoluteError(Mean):
    """The mean of ``|output - target|`` over all elements."""

    def update(self, output: Any, target: Any) -> None:
        difference = _difference("MeanAbsoluteError", output, target)
        self.add(float(np.abs(difference).mean()), difference.size)


class RootMeanSquaredError(Mean):
    """The root of the mean of ``(output - target)**2`` over all elements."""

    def update(self, output: Any, target: Any) -> None:
        difference = _difference("RootMeanSquaredError", output, target)
        self.add(float(np.square(difference).mean()), difference.size)

    def compute(self) -> float:
        return sqrt(super().compute())


def _difference(op: str, output: Any, target: Any) -> Any:
    # In float64: a sum over many samples in float32 would lose the small ones.
    first, second = (np.asarray(x, np.float64) for x in (output, target))
    if first.shape != second.shape:
        raise value_error(
            op,
            "output and target must have the same shape",
            output_shape=first.shape,
            target_shape=second.shape,
        )
    return first - second


class Perplexity(Mean):
    """``exp`` of the mean cross-entropy: among how many classes the model seems to guess."""

    def __init__(self, ignore_index: int = -100) -> None:
        super().__init__()
        self.ignore_index = ignore_index

    def update(self, output: Any, target: Any) -> None:
        classes = np.asarray(target)
        counted = int(np.count_nonzero(classes != self.ignore_index))
        if counted:
            with no_grad():
                loss = cross_entropy(output, target, ignore_index=self.ignore_index)
            self.add(float(loss), counted)

    def compute(self) -> float:
        return exp(super().compute())
