"""Metrics of probabilities: how surprising the truth is, and whether they can be believed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import exp, inf, nan
from typing import Any, ClassVar

import numpy as np

from extensor.core import entries
from extensor.errors import value_error
from extensor.train.metrics.metric import (
    ClassMean,
    ClassMetric,
    LabelTask,
    Scores,
    Stateful,
    TokenTask,
    bounded,
    checked_sums,
)
from extensor.train.metrics.metric_inputs import log_sigmoid, log_softmax

_LARGEST = 709.0  # whose exp is still a float
_MOST_BINS = 10**6


class LogLoss(ClassMean):
    """The mean of ``-log(p)``, where ``p`` is the predicted probability of the truth.

    For several labels it is the mean over all samples and labels. Without a sample the value is NaN,
    and infinite if the truth ever had the probability 0, where scikit-learn clips the probability.

    Parameters
    ----------
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "binary", "multilabel", "sequence"}, default "multiclass"
        Meaning of outputs and targets, see the notes of `Accuracy`.
    scores : {"logits", "probabilities"}, default "logits"
        Whether outputs are logits or probabilities.
    class_axis : int, optional
        Axis of the outputs along which the classes lie. Default: 1 for "multiclass"; for "sequence" the
        only axis after the first without which the output has the target's shape.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not for this task.

    See Also
    --------
    Accuracy : Its notes describe the outputs and targets of each task.

    Notes
    -----
    A target of probabilities ``q``, see `Accuracy`, adds ``-sum(q * log(p))`` for its sample.

    Examples
    --------
    >>> from extensor.train import LogLoss
    >>> loss = LogLoss(task="binary", scores="probabilities")
    >>> loss.update([0.5, 0.25], [1, 0])
    >>> round(loss.compute(), 4)
    0.4904
    """

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "binary", "multilabel", "sequence")
    higher_is_better: ClassVar[bool | None] = False

    def update(self, output: Any, target: Any) -> None:
        losses, size = (self._of_truth if self._is_of_labels else self._of_classes)(output, target)
        self._take(float(losses.sum()), losses.size, size)

    def _of_truth(self, output: Any, target: Any) -> tuple[Any, int]:
        scores, truth = self._label_scores(output, target)
        wide = scores.astype(np.float64)
        if self.scores == "logits":
            logs = log_sigmoid(np.where(truth, wide, -wide))
        else:
            with np.errstate(divide="ignore"):
                logs = np.where(truth, np.log(wide), np.log1p(-wide))
        return -logs, scores.shape[1]

    def _of_classes(self, output: Any, target: Any) -> tuple[Any, int]:
        scores, classes, shares, _ = self._class_scores(output, target)
        if self.scores == "logits":
            logs = log_softmax(type(self).__name__, scores)
        else:
            with np.errstate(divide="ignore"):
                logs = np.log(scores.astype(np.float64))
        if shares is None:
            return -logs[np.arange(len(classes)), classes], scores.shape[1]
        return -(shares * np.where(shares > 0, logs, 0)).sum(axis=1), scores.shape[1]


class Perplexity(LogLoss):
    """``exp`` of the log loss: among how many equally likely classes the model seems to choose.

    It is 1 at best. Without a sample the value is NaN.

    Parameters
    ----------
    ignore_index : int or None, default -100
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "sequence"}, default "sequence"
        Meaning of outputs and targets, see the notes of `Accuracy`.
    scores : {"logits", "probabilities"}, default "logits"
        Whether outputs are logits or probabilities.
    class_axis : int, optional
        Axis of the outputs along which the classes lie. Default: 1 for "multiclass"; for "sequence" the
        only axis after the first without which the output has the target's shape.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not for this task.

    See Also
    --------
    Accuracy : Its notes describe the outputs and targets of each task.
    LogLoss : Its logarithm.

    Examples
    --------
    >>> from extensor.train import Perplexity
    >>> perplexity = Perplexity()
    >>> perplexity.update([[[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]], [[1, 3]])
    >>> round(perplexity.compute(), 4)
    4.0
    """

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "sequence")

    def __init__(
        self,
        ignore_index: int | None = -100,
        *,
        task: TokenTask = "sequence",
        scores: Scores = "logits",
        class_axis: int | None = None,
    ) -> None:
        super().__init__(ignore_index, task=task, scores=scores, class_axis=class_axis)

    def compute(self) -> float:
        mean = super().compute()
        return exp(mean) if mean < _LARGEST else mean * inf


class CalibrationError(ClassMetric, Stateful):
    """The expected calibration error: how far predicted probabilities are from the fractions that occur.

    Samples are put into bins by their probability. The error is the mean over the bins, weighted by
    their numbers of samples, of the distance between the mean probability and the fraction of
    predictions that came true. Without a sample the value is NaN.

    Parameters
    ----------
    bins : int, default 10
        Number of bins of equal width, from 1 to 1,000,000.
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "binary", "multilabel"}, default "multiclass"
        Meaning of outputs and targets, see the notes of `Accuracy`.
    scores : {"logits", "probabilities"}, default "logits"
        Whether outputs are logits or probabilities.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not for this task.

    See Also
    --------
    Accuracy : Its notes describe the outputs and targets of each task.

    Notes
    -----
    For "binary" the prediction is that the sample is positive; for "multiclass" that it has the most
    probable class, with the probability of that class; for "multilabel" each label is taken as "binary"
    is, and the value is the mean over the labels. A probability ``p`` is in bin ``i`` if
    ``i / bins <= p < (i + 1) / bins``; 1 is in the last one.

    Examples
    --------
    >>> from extensor.train import CalibrationError
    >>> error = CalibrationError(task="binary", scores="probabilities")
    >>> error.update([0.75, 0.75, 0.25, 0.25], [1, 1, 0, 0])
    >>> error.compute()
    0.25
    """

    higher_is_better: ClassVar[bool | None] = False

    def __init__(
        self,
        bins: int = 10,
        ignore_index: int | None = None,
        *,
        task: LabelTask = "multiclass",
        scores: Scores = "logits",
    ) -> None:
        self.bins = bounded("CalibrationError", "bins", bins, 1, _MOST_BINS)
        self._set_options(task, scores, ignore_index)
        self.reset()

    def reset(self) -> None:
        self.count = 0
        self._size: int | None = None  # of the classes or labels
        self._probability = np.zeros((0, self.bins))
        self._events = np.zeros((0, self.bins))

    def update(self, output: Any, target: Any) -> None:
        probability, events, size = self._pairs(output, target)
        self._check_size(size, self._size, True)
        self._size = size
        if not len(probability):
            return
        if not self.count:
            self._probability = np.zeros((probability.shape[1], self.bins))
            self._events = np.zeros_like(self._probability)
        edges = np.arange(1, self.bins) / self.bins
        places = np.searchsorted(edges, probability, side="right")
        for label, place in enumerate(places.T):
            for sums, x in ((self._probability, probability), (self._events, events)):
                sums[label] += np.bincount(place, weights=x[:, label], minlength=self.bins)
        self.count += len(probability)

    def _pairs(self, output: Any, target: Any) -> tuple[Any, Any, int]:
        """Probabilities and events of shape (samples, labels), and the number of classes or labels."""
        is_logits = self.scores == "logits"
        if self._is_of_labels:
            scores, truth = self._label_scores(output, target)
            wide = np.exp(log_sigmoid(scores)) if is_logits else scores.astype(np.float64)
            return wide, truth, scores.shape[1]
        scores, classes, _, _ = self._class_scores(output, target)
        logs = log_softmax("CalibrationError", scores) if is_logits else None
        wide = scores.astype(np.float64) if logs is None else np.exp(logs)
        highest = wide.max(axis=1, keepdims=True)
        return highest, (scores.argmax(axis=1) == classes)[:, None], scores.shape[1]

    def compute(self) -> float:
        if not self.count:
            return nan
        distance = np.abs(self._probability - self._events).sum(axis=1)
        return float(distance.mean() / self.count)

    def state_dict(self) -> dict[str, Any]:
        sums = {"probability": self._probability.copy(), "events": self._events.copy()}
        return {"count": self.count, **sums}

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        given = entries.with_keys(op, state_dict, ["count", "probability", "events"], name)
        count = entries.count(op, "count", given["count"])
        several = self.task == "multilabel" and count > 0
        shape = (None if several else int(count > 0), self.bins)
        first = checked_sums(op, "probability", given["probability"], shape, finite=True)
        if several and not len(first):
            raise value_error(op, "probability must have a row for each label", shape=first.shape)
        second = checked_sums(op, "events", given["events"], first.shape, finite=True)
        size = len(first) if several else None
        sums = {"_probability": first, "_events": second}
        return partial(vars(self).update, count=count, _size=size, **sums)


class _Ranking(ClassMetric):
    """The scores of all samples, and which are positive, for each class or label."""

    higher_is_better: ClassVar[bool | None] = True

    def __init__(
        self,
        ignore_index: int | None = None,
        *,
        task: LabelTask = "multiclass",
        scores: Scores = "logits",
    ) -> None:
        self._set_options(task, scores, ignore_index)
        self.reset()

    def reset(self) -> None:
        self._scores: list[Any] = []
        self._truth: list[Any] = []

    def update(self, output: Any, target: Any) -> None:
        if self._is_of_labels:
            scores, truth = self._label_scores(output, target)
            scores = np.array(scores, np.float64)
        else:
            scores, classes, _, _ = self._class_scores(output, target)
            truth = classes[:, None] == np.arange(scores.shape[1])
            # A class is ranked by its probability, which a score alone does not tell.
            is_logits = self.scores == "logits"
            wide = np.array(scores, np.float64)
            scores = log_softmax(type(self).__name__, wide) if is_logits else wide
        if self._scores:
            self._check_size(scores.shape[1], self._scores[0].shape[1], True)
        self._scores.append(scores)
        self._truth.append(truth)

    def compute(self) -> float:
        if not self._scores:
            return nan
        scores, truth = np.concatenate(self._scores), np.concatenate(self._truth)
        pairs = zip(scores.T, truth.T, strict=True)
        return float(np.mean([self._of_one(*_counts(*pair)) for pair in pairs]))

    def _of_one(self, positive: Any, negative: Any) -> float:
        raise NotImplementedError


def _counts(scores: Any, truth: Any) -> tuple[Any, Any]:
    """How many positive and negative samples have each score, from the highest on."""
    order = np.argsort(-scores)
    ranked, hits = scores[order], truth[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if len(ranked) else order
    positive = np.diff(np.cumsum(hits)[ends], prepend=0)
    return positive, np.diff(ends + 1, prepend=0) - positive


class ROCAUC(_Ranking):
    """The area under the ROC curve: how often a positive sample scores higher than a negative one.

    A tie counts half. The value is 1 at best and 0.5 for a guess; it is NaN if all samples of a class
    or label are positive, or all negative.

    Parameters
    ----------
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "binary", "multilabel"}, default "multiclass"
        Meaning of outputs and targets, see the notes of `Accuracy`.
    scores : {"logits", "probabilities"}, default "logits"
        Whether outputs are logits or probabilities.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not for this task.

    See Also
    --------
    Accuracy : Its notes describe the outputs and targets of each task.

    Notes
    -----
    For several classes the value is the mean over them, each against the rest and ranked by its
    probability; for several labels the mean over them. The metric keeps the scores of all samples in
    memory, so a trainer takes it among its ``metrics`` but not among its ``train_metrics``.

    Examples
    --------
    >>> from extensor.train import ROCAUC
    >>> area = ROCAUC(task="binary")
    >>> area.update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> area.compute()
    0.75
    """

    def _of_one(self, positive: Any, negative: Any) -> float:
        pairs = int(positive.sum()) * int(negative.sum())
        if not pairs:
            return nan
        below = negative.sum() - np.cumsum(negative)
        return float((positive * (2 * below + negative)).sum()) / (2 * pairs)


class AveragePrecision(_Ranking):
    """The mean precision at the scores of the positive samples, a summary of precision and recall.

    The precision at a score is the fraction of positive samples among all with this score or a higher
    one. The value is NaN if a class or label has no positive sample, where scikit-learn returns 0 with
    a warning.

    Parameters
    ----------
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "binary", "multilabel"}, default "multiclass"
        Meaning of outputs and targets, see the notes of `Accuracy`.
    scores : {"logits", "probabilities"}, default "logits"
        Whether outputs are logits or probabilities.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not for this task.

    See Also
    --------
    Accuracy : Its notes describe the outputs and targets of each task.

    Notes
    -----
    For several classes the value is the mean over them, each against the rest and ranked by its
    probability; for several labels the mean over them. The metric keeps the scores of all samples in
    memory, so a trainer takes it among its ``metrics`` but not among its ``train_metrics``.

    Examples
    --------
    >>> from extensor.train import AveragePrecision
    >>> precision = AveragePrecision(task="binary")
    >>> precision.update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> round(precision.compute(), 4)
    0.8333
    """

    def _of_one(self, positive: Any, negative: Any) -> float:
        right = np.cumsum(positive)
        if not positive.any():
            return nan
        return float((positive * (right / (right + np.cumsum(negative)))).sum() / right[-1])
