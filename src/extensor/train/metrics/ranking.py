"""Metrics of order: whether the positive samples have the higher scores. They keep all samples."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from extensor.train.metrics.probabilities import log_softmax
from extensor.train.metrics.tasks import LabelTask, OfClasses, Scores


class _Ranking(OfClasses):
    """The scores of all samples, and which are positive, for each class or label."""

    def __init__(
        self,
        ignore_index: int | None,
        *,
        task: LabelTask,
        scores: Scores,
    ) -> None:
        self._settle(task, scores, ignore_index)
        self.reset()

    def reset(self) -> None:
        self._scores: list[Any] = []
        self._truth: list[Any] = []

    def update(self, output: Any, target: Any) -> None:
        if self._of_labels:
            scores, truth = self._labelled(output, target)
            scores = np.array(scores, np.float64)
        else:
            scores, classes, _, _ = self._chosen(output, target)
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
    """The chance that a positive sample has a higher score than a negative one; ties count half.

    Of several classes it is the mean over them, each against the rest and ranked by its
    probability; of several labels their mean. NaN if all samples of a class or label are positive
    or all negative, as scikit-learn has it. It keeps the scores of all samples.

    >>> from extensor.train import ROCAUC
    >>> area = ROCAUC(task="binary")
    >>> area.update([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1])
    >>> area.compute()
    0.75
    """

    def __init__(
        self,
        ignore_index: int | None = None,
        *,
        task: LabelTask = "multiclass",
        scores: Scores = "logits",
    ) -> None:
        super().__init__(ignore_index, task=task, scores=scores)

    def _of_one(self, positive: Any, negative: Any) -> float:
        pairs = int(positive.sum()) * int(negative.sum())
        if not pairs:
            return nan
        below = negative.sum() - np.cumsum(negative)
        return float((positive * (2 * below + negative)).sum()) / (2 * pairs)


class AveragePrecision(_Ranking):
    """The mean of the precision at each score that positive samples have, weighted by their number.

    The precision at a score is the fraction of positive samples among those with this score or a
    higher one. Of several classes it is the mean over them, each against the rest and ranked by its
    probability; of several labels their mean. NaN if a class or label has no positive sample, where
    scikit-learn says 0 and warns. It keeps the scores of all samples.
    """

    def __init__(
        self,
        ignore_index: int | None = None,
        *,
        task: LabelTask = "multiclass",
        scores: Scores = "logits",
    ) -> None:
        super().__init__(ignore_index, task=task, scores=scores)

    def _of_one(self, positive: Any, negative: Any) -> float:
        right = np.cumsum(positive)
        if not positive.any():
            return nan
        return float((positive * (right / (right + np.cumsum(negative)))).sum() / right[-1])
