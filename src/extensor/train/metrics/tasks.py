"""Metrics of classes know their task: how outputs are read, and what is found by them."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from extensor.errors import arguments, value_error
from extensor.train.metrics.base import Mean, Metric
from extensor.train.metrics.chosen import Chosen, chosen
from extensor.train.metrics.given import check_probabilities, one_label, several_labels

Scores = Literal["logits", "probabilities"]
ClassTask = Literal["multiclass", "binary"]
LabelTask = Literal["multiclass", "binary", "multilabel"]
TokenTask = Literal["multiclass", "sequence"]
AnyTask = Literal["multiclass", "binary", "multilabel", "sequence"]


class OfClasses(Metric):
    """A metric of one class among several, of two classes by one score, or of several labels."""

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "binary", "multilabel")

    def _settle(
        self,
        task: Any,
        scores: Any = "logits",
        ignore_index: Any = None,
        class_axis: Any = None,
    ) -> None:
        """Keep what was asked for, once it is known to make sense."""
        op = type(self).__name__
        self.ignore_index = _integer(op, "ignore_index", ignore_index)
        self.task: str = arguments.choice(op, "task", task, self.tasks)
        self.scores: str = arguments.choice(op, "scores", scores, ("logits", "probabilities"))
        self.class_axis = _integer(op, "class_axis", class_axis)
        if self._of_labels and ignore_index is not None:
            requirement = f"ignore_index must be None for task={task!r}, whose targets are 0 or 1"
            raise value_error(op, requirement, ignore_index=ignore_index)
        if self._of_labels and class_axis is not None:
            requirement = f"class_axis must be None for task={task!r}, which has no such axis"
            raise value_error(op, requirement, class_axis=class_axis)

    @property
    def _of_labels(self) -> bool:
        return self.task in ("binary", "multilabel")

    def _chosen(self, output: Any, target: Any) -> Chosen:
        """The scores and the class of each sample."""
        axis = self.class_axis
        if axis is None and self.task == "multiclass":
            axis = 1
        probabilities = self.scores == "probabilities"
        op = type(self).__name__
        return chosen(op, output, target, self.tasks, axis, self.ignore_index, probabilities)

    def _labelled(self, output: Any, target: Any) -> tuple[Any, Any]:
        """Scores and truth of shape (samples, labels); there is one label if there are two classes."""
        op = type(self).__name__
        if self.task == "binary":
            scores, truth = one_label(op, output, target, self.tasks)
        else:
            scores, truth = several_labels(op, output, target)
        if self.scores == "probabilities":
            check_probabilities(op, scores)
        return scores, truth

    def _found(self, scores: Any) -> Any:
        """Which labels the scores say."""
        return scores > (0.5 if self.scores == "probabilities" else 0)

    def _check_size(self, number: int, expected: int | None, again: bool, axis: int = 1) -> None:
        """Refuse a number of classes or labels not expected, ``again`` if batches before said which."""
        if expected in (None, number):
            return
        kind, along = ("labels", "") if self._of_labels else ("classes", f" along axis {axis}")
        requirement = f"output must have the scores of {expected} {kind}{along}"
        hint = ", as the batches before, which reset() forgets" if again else ""
        raise value_error(type(self).__name__, requirement + hint, **{kind: number})


class MeanOfClasses(OfClasses, Mean):
    """A mean over samples that are all scored for the same number of classes."""

    _least_total: ClassVar[float] = 0.0

    def reset(self) -> None:
        super().reset()
        self._size: int | None = None

    def _chosen(self, output: Any, target: Any) -> Chosen:
        found = super()._chosen(output, target)
        self._check_size(found.scores.shape[1], self._size, True, found.axis)
        return found

    def _labelled(self, output: Any, target: Any) -> tuple[Any, Any]:
        scores, truth = super()._labelled(output, target)
        self._check_size(scores.shape[1], self._size, True)
        return scores, truth

    def _take(self, total: float, count: int, size: int) -> None:
        """Add to the sums what a batch of scores of ``size`` classes or labels gave."""
        self.total += total
        self.count += count
        self._size = size


def _integer(op: str, name: str, value: Any) -> int | None:
    return None if value is None else arguments.integer(op, name, value)
