"""Metrics of classes. Scores have the classes along axis 1, as the losses take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.errors import value_error
from extensor.train.metrics import Mean, Metric


def _scores_and_classes(op: str, output: Any, target: Any) -> tuple[Any, Any]:
    """Scores of shape (samples, classes) and true classes of shape (samples,)."""
    scores, classes = np.asarray(output), np.asarray(target)
    if classes.shape == scores.shape:  # probabilities
        classes = classes.argmax(axis=1)
    if scores.ndim < 2 or scores.shape[:1] + scores.shape[2:] != classes.shape:
        raise value_error(
            op,
            "output must be scores with the classes along axis 1, target their numbers",
            output_shape=scores.shape,
            target_shape=classes.shape,
        )
    scores = np.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1])
    return scores, classes.reshape(-1)


class Accuracy(Mean):
    """The fraction of samples whose highest score is that of their class.

    >>> from extensor.train import Accuracy
    >>> accuracy = Accuracy()
    >>> accuracy.update([[0.1, 0.9], [0.8, 0.2]], [1, 1])
    >>> accuracy.compute()
    0.5
    """

    def update(self, output: Any, target: Any) -> None:
        scores, classes = _scores_and_classes("Accuracy", output, target)
        self.total += int(np.count_nonzero(scores.argmax(axis=1) == classes))
        self.count += len(classes)


class TopKAccuracy(Mean):
    """The fraction of samples whose class is among the ``k`` highest scores; ties count against it."""

    def __init__(self, k: int = 5) -> None:
        super().__init__()
        if k < 1:
            raise value_error("TopKAccuracy", "k must be 1 or more", k=k)
        self.k = k

    def update(self, output: Any, target: Any) -> None:
        scores, classes = _scores_and_classes("TopKAccuracy", output, target)
        places = np.arange(len(classes))
        own = scores[places, classes]
        better = scores >= own[:, None]
        better[places, classes] = False
        self.total += int(np.count_nonzero(better.sum(axis=1) < self.k))
        self.count += len(classes)


class ConfusionMatrix(Metric):
    """How many samples of each class, a row, were taken for each class, a column."""

    def __init__(self, num_classes: int) -> None:
        if num_classes < 1:
            raise value_error(
                type(self).__name__, "num_classes must be 1 or more", num_classes=num_classes
            )
        self.num_classes = num_classes
        self.reset()

    def reset(self) -> None:
        self.counts = np.zeros((self.num_classes, self.num_classes), np.int64)

    def update(self, output: Any, target: Any) -> None:
        name = type(self).__name__
        scores, classes = _scores_and_classes(name, output, target)
        found = scores.argmax(axis=1)
        size = self.num_classes
        for values, which in ((classes, "target"), (found, "output")):
            if values.size and not (values.min() >= 0 and values.max() < size):
                worst = values.max() if values.min() >= 0 else values.min()
                raise value_error(
                    name, f"{which} must be classes in [0, {size - 1}]", **{which: int(worst)}
                )
        self.counts += np.bincount(classes * size + found, minlength=size * size).reshape(
            size, size
        )

    def compute(self) -> Any:
        return self.counts.copy()


class _PerClass(ConfusionMatrix):
    """A fraction for each class, and their mean ("macro"), or None for an array of them all."""

    def __init__(self, num_classes: int, average: str | None = "macro") -> None:
        if average not in ("macro", None):
            raise value_error(
                type(self).__name__, "average must be 'macro' or None", average=average
            )
        self.average = average
        super().__init__(num_classes)

    def _denominator(self, true: Any, found: Any) -> Any:
        raise NotImplementedError

    def compute(self) -> Any:
        right = np.diag(self.counts)
        whole = self._denominator(self.counts.sum(axis=1), self.counts.sum(axis=0))
        # A class that neither occurs nor is found counts as 0, as elsewhere.
        fractions = right / np.maximum(whole, np.finfo(np.float64).tiny)
        return float(fractions.mean()) if self.average else fractions


class Precision(_PerClass):
    """Of the samples taken for a class, the fraction that belong to it; 0 if there are none."""

    def _denominator(self, true: Any, found: Any) -> Any:
        return found


class Recall(_PerClass):
    """Of the samples of a class, the fraction that were taken for it; 0 if there are none."""

    def _denominator(self, true: Any, found: Any) -> Any:
        return true


class F1(_PerClass):
    """The harmonic mean of precision and recall; 0 if both are."""

    def _denominator(self, true: Any, found: Any) -> Any:
        return (true + found) / 2
