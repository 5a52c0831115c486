"""Metrics: numbers about outputs and targets, summed up batch by batch.

A metric has ``update(output, target)``, ``compute()`` and ``reset()``. What it keeps is small whatever the
number of samples.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, nan, sqrt
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import entries
from extensor.core.modes import no_grad
from extensor.core.tensor import to_array
from extensor.errors import arguments, type_error, value_error
from extensor.ops import cross_entropy

_LARGEST = 709.0  # whose exp is still a float
_TOLERANCE = 1e-2  # of a sum of probabilities, which may be stored in 16 bits


class Metric:
    """What all metrics share; a subclass says what a batch adds and what comes of it in the end."""

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
            self.reset()
            self.total, self.count = total, count

        return commit


def _counted(value: Any, count: Any) -> tuple[float, int]:
    if type(value) is float and type(count) is int:
        return value, count
    found = entries.number("Mean", "value", value)
    return float(found), entries.count("Mean", "count", count)


class MeanAbsoluteError(Mean):
    """The mean of ``|output - target|`` over all elements."""

    def update(self, output: Any, target: Any) -> None:
        difference = _difference("MeanAbsoluteError", output, target)
        if difference.size:
            self.add(float(np.abs(difference).mean()), difference.size)


class RootMeanSquaredError(Mean):
    """The root of the mean of ``(output - target)**2`` over all elements."""

    def update(self, output: Any, target: Any) -> None:
        difference = _difference("RootMeanSquaredError", output, target)
        if difference.size:
            self.add(float(np.square(difference).mean()), difference.size)

    def compute(self) -> float:
        return sqrt(super().compute())


def _difference(op: str, output: Any, target: Any) -> Any:
    # In float64: a sum over many samples in float32 would lose the small ones.
    first, second = (np.asarray(to_array(x, op=op), np.float64) for x in (output, target))
    if first.shape != second.shape:
        raise value_error(
            op,
            "output and target must have the same shape",
            output_shape=first.shape,
            target_shape=second.shape,
        )
    return first - second


def scores_and_classes(
    op: str, output: Any, target: Any, ignore_index: int | None = None
) -> tuple[Any, Any]:
    """Scores of shape (samples, classes) and true classes of shape (samples,), or an error.

    The target may be probabilities too. What has the class ``ignore_index`` is left out.
    """
    scores, classes = (np.asarray(to_array(x, op=op)) for x in (output, target))
    shapes = {"output_shape": scores.shape, "target_shape": classes.shape}
    if scores.ndim == 1 or (scores.ndim > 1 and scores.shape[1] < 2):
        requirement = "output must have the scores of two or more classes along axis 1"
        join = "stack" if scores.ndim == 1 else "concatenate"
        hint = f"one logit x for each sample as two scores: ex.{join}([-x, x], axis=1)"
        raise value_error(op, f"{requirement} ({hint})", **shapes)
    given_probabilities = scores.ndim > 1 and classes.shape == scores.shape
    if not given_probabilities and (
        scores.ndim < 2 or scores.shape[:1] + scores.shape[2:] != classes.shape
    ):
        requirement = "output must be scores with the classes along axis 1, target their numbers"
        raise value_error(op, requirement, **shapes)
    scores = np.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1])
    if given_probabilities:
        classes = _most_probable(op, np.moveaxis(classes, 1, -1).reshape(scores.shape))
    elif is_floating(classes.dtype):
        requirement = "target must be class numbers, integers (target.astype('int64') if they are)"
        raise type_error(op, requirement, target_dtype=str(classes.dtype))
    classes = classes.reshape(-1).astype(np.int64)
    if ignore_index is not None:
        counted = classes != ignore_index
        scores, classes = scores[counted], classes[counted]
    _check_values(op, scores, classes)
    return scores, classes


def _most_probable(op: str, probabilities: Any) -> Any:
    wide = np.asarray(probabilities, np.float64)
    wrong = ~((wide >= 0).all(axis=1) & (np.abs(wide.sum(axis=1) - 1) < _TOLERANCE))
    if wrong.any():
        row = wide[int(wrong.argmax())]
        raise value_error(
            op,
            "a target of the shape of output must be probabilities that sum to 1 along axis 1 "
            "(several labels for each sample are not what it measures)",
            sum=float(row.sum()),
            least=float(row.min()),
        )
    return wide.argmax(axis=1)


def _check_values(op: str, scores: Any, classes: Any) -> None:
    number = scores.shape[1]
    wrong = (classes < 0) | (classes >= number)
    if wrong.any():
        value = int(classes[wrong.argmax()])
        hint = f" (ignore_index={value} leaves it out)" if value < 0 else ""
        requirement = f"target must be classes in [0, {number - 1}], those of output{hint}"
        raise value_error(op, requirement, target=value)
    if is_floating(scores.dtype) and np.isnan(scores).any():
        sample = int(np.isnan(scores).any(axis=1).argmax())
        raise value_error(op, "output must have no NaN", sample=sample)


class MeanOverClasses(Mean):
    """A mean over samples that are all scored for the same number of classes."""

    def reset(self) -> None:
        super().reset()
        self._classes: int | None = None

    def _scored(self, output: Any, target: Any, ignore_index: int | None) -> tuple[Any, Any]:
        """Those of :func:`scores_and_classes`; refused if earlier batches had other classes."""
        op = type(self).__name__
        scores, classes = scores_and_classes(op, output, target, ignore_index)
        if self._classes not in (None, scores.shape[1]):
            requirement = f"output must have the scores of {self._classes} classes along axis 1"
            hint = "as the batches before, which reset() forgets"
            raise value_error(op, f"{requirement}, {hint}", classes=scores.shape[1])
        self._classes = scores.shape[1]
        return scores, classes


class Perplexity(MeanOverClasses):
    """``exp`` of the mean cross-entropy: among how many classes the model seems to guess."""

    def __init__(self, ignore_index: int = -100) -> None:
        super().__init__()
        self.ignore_index = arguments.integer("Perplexity", "ignore_index", ignore_index)

    def update(self, output: Any, target: Any) -> None:
        _, classes = self._scored(output, target, self.ignore_index)
        if classes.size:
            with no_grad():
                loss = cross_entropy(output, target, ignore_index=self.ignore_index)
            self.add(float(loss), classes.size)

    def compute(self) -> float:
        mean = super().compute()
        return exp(mean) if mean < _LARGEST else mean * inf
