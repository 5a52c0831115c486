"""Metrics of classes. Scores have the classes along axis 1, as the losses take them."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from extensor.errors import arguments, value_error
from extensor.train.metrics import MeanOverClasses, Metric, scores_and_classes


class Accuracy(MeanOverClasses):
    """The fraction of samples whose highest score is that of their class.

    >>> from extensor.train import Accuracy
    >>> accuracy = Accuracy()
    >>> accuracy.update([[0.1, 0.9], [0.8, 0.2]], [1, 1])
    >>> accuracy.compute()
    0.5

    What has the class ``ignore_index`` does not count, here and below.
    """

    def __init__(self, ignore_index: int | None = None) -> None:
        super().__init__()
        self.ignore_index = _integer("Accuracy", "ignore_index", ignore_index)

    def update(self, output: Any, target: Any) -> None:
        scores, classes = self._scored(output, target, self.ignore_index)
        self.total += int(np.count_nonzero(scores.argmax(axis=1) == classes))
        self.count += len(classes)


class TopKAccuracy(MeanOverClasses):
    """The fraction of samples whose class is among the ``k`` highest scores; ties count against it."""

    def __init__(self, k: int = 5, ignore_index: int | None = None) -> None:
        super().__init__()
        self.k = arguments.integer("TopKAccuracy", "k", k, 1)
        self.ignore_index = _integer("TopKAccuracy", "ignore_index", ignore_index)

    def update(self, output: Any, target: Any) -> None:
        scores, classes = self._scored(output, target, self.ignore_index)
        if scores.shape[1] < self.k:
            self._classes = None
            requirement = f"output must have at least {self.k} classes along axis 1, or k be less"
            raise value_error("TopKAccuracy", requirement, classes=scores.shape[1])
        places = np.arange(len(classes))
        own = scores[places, classes]
        better = scores >= own[:, None]
        better[places, classes] = False
        self.total += int(np.count_nonzero(better.sum(axis=1) < self.k))
        self.count += len(classes)


class ConfusionMatrix(Metric):
    """How many samples of each class, a row, were taken for each class, a column."""

    def __init__(self, num_classes: int, ignore_index: int | None = None) -> None:
        name = type(self).__name__
        self.num_classes = arguments.integer(name, "num_classes", num_classes, 2)
        self.ignore_index = _integer(name, "ignore_index", ignore_index)
        self.reset()

    def reset(self) -> None:
        self.counts = np.zeros((self.num_classes, self.num_classes), np.int64)

    def update(self, output: Any, target: Any) -> None:
        name = type(self).__name__
        scores, classes = scores_and_classes(name, output, target, self.ignore_index)
        size = self.num_classes
        if scores.shape[1] != size:
            requirement = f"output must have the scores of {size} classes along axis 1"
            raise value_error(name, requirement, classes=scores.shape[1])
        found = scores.argmax(axis=1)
        self.counts += np.bincount(classes * size + found, minlength=size * size).reshape(
            size, size
        )

    def compute(self) -> Any:
        return self.counts.copy()


class _PerClass(ConfusionMatrix):
    """A fraction for each class, and their mean ("macro"), or None for an array of them all."""

    def __init__(
        self,
        num_classes: int,
        average: str | None = "macro",
        ignore_index: int | None = None,
    ) -> None:
        self.average = arguments.choice(type(self).__name__, "average", average, ("macro", None))
        super().__init__(num_classes, ignore_index)

    def _denominator(self, true: Any, found: Any) -> Any:
        raise NotImplementedError

    def compute(self) -> Any:
        if not self.counts.any():
            return nan if self.average else np.full(self.num_classes, nan)
        right = np.diag(self.counts)
        whole = self._denominator(self.counts.sum(axis=1), self.counts.sum(axis=0))
        # A class that neither occurs nor is found counts as 0, as elsewhere.
        fractions = right / np.maximum(whole, np.finfo(np.float64).tiny)
        return float(fractions.mean()) if self.average else fractions


class Precision(_PerClass):
    """Of the samples taken for a class, the fraction that belong to it; 0 if there are none."""

    def __init__(
        self,
        num_classes: int,
        average: str | None = "macro",
        ignore_index: int | None = None,
    ) -> None:
        super().__init__(num_classes, average, ignore_index)

    def _denominator(self, true: Any, found: Any) -> Any:
        return found


class Recall(_PerClass):
    """Of the samples of a class, the fraction that were taken for it; 0 if there are none."""

    def __init__(
        self,
        num_classes: int,
        average: str | None = "macro",
        ignore_index: int | None = None,
    ) -> None:
        super().__init__(num_classes, average, ignore_index)

    def _denominator(self, true: Any, found: Any) -> Any:
        return true


class F1(_PerClass):
    """The harmonic mean of precision and recall; 0 if both are."""

    def __init__(
        self,
        num_classes: int,
        average: str | None = "macro",
        ignore_index: int | None = None,
    ) -> None:
        super().__init__(num_classes, average, ignore_index)

    def _denominator(self, true: Any, found: Any) -> Any:
        return (true + found) / 2


def _integer(op: str, name: str, value: Any) -> int | None:
    return None if value is None else arguments.integer(op, name, value)
