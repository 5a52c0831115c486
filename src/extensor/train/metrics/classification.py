"""How often the class is found, or is among the first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan
from typing import Any, ClassVar, Literal

import numpy as np

from extensor.core import entries
from extensor.errors import arguments, value_error
from extensor.train.metrics.metric import (
    ClassMean,
    ClassMetric,
    ClassTask,
    LabelTask,
    Scores,
    Stateful,
    TokenTask,
    bounded,
    checked_counts,
)


class Accuracy(ClassMean):
    """The fraction of samples whose highest score is that of their class.

    Of classes that share the highest score, the first counts as predicted. Without a sample the value
    is NaN.

    Parameters
    ----------
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "binary", "multilabel", "sequence"}, default "multiclass"
        Meaning of outputs and targets, see the notes.
    scores : {"logits", "probabilities"}, default "logits"
        Whether outputs are logits or probabilities.
    class_axis : int, optional
        Axis of the outputs along which the classes lie. Default: 1 for "multiclass"; for "sequence" the
        only axis after the first without which the output has the target's shape.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not for this task.

    Notes
    -----
    All metrics of classes and labels read outputs and targets by their ``task``:

    - "multiclass": scores of shape (samples, classes, ...), and class numbers from 0 of shape
      (samples, ...). The target may also hold probabilities of the scores' shape; the most probable
      class is the true one then.
    - "binary": one score for each sample, and a 0 or 1, both of shape (samples,) or (samples, 1). A
      sample is predicted as positive if its logit is above 0, or its probability above 0.5.
    - "multilabel": scores, and 0 or 1, both of shape (samples, labels). Labels are predicted as above.
      Here a sample is right if all its labels are.
    - "sequence": scores of shape (samples, positions, tokens), and the number of the true token for
      each position, (samples, positions). Each position counts as one sample.

    Probabilities must be from 0 to 1 and, over the classes, sum to 1. NaN, other shapes and unknown
    classes raise an error. By name, as in ``Trainer(metrics=["accuracy"])``, a metric gets its task
    from the loss and the outputs.

    Examples
    --------
    >>> from extensor.train import Accuracy
    >>> accuracy = Accuracy()
    >>> accuracy.update([[0.1, 0.9], [0.8, 0.2]], [1, 1])
    >>> accuracy.compute()
    0.5
    >>> accuracy = Accuracy(task="binary")
    >>> accuracy.update([[2.0], [-1.0], [0.5], [-3.0]], [1, 0, 0, 0])
    >>> accuracy.compute()
    0.75
    """

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "binary", "multilabel", "sequence")
    higher_is_better: ClassVar[bool | None] = True

    def update(self, output: Any, target: Any) -> None:
        if self._is_of_labels:
            scores, truth = self._label_scores(output, target)
            right = (self._predicted(scores) == truth).all(axis=1)
        else:
            scores, classes, _, _ = self._class_scores(output, target)
            right = scores.argmax(axis=1) == classes
        self._take(int(np.count_nonzero(right)), len(right), scores.shape[1])


class TopKAccuracy(ClassMean):
    """The fraction of samples whose class is among the ``k`` highest scores.

    Ties count as wrong: the score of the class must be higher than all but ``k - 1`` others. Without a
    sample the value is NaN.

    Parameters
    ----------
    k : int, default 5
        Number of classes that count as predicted, 1 or more. Outputs must have as many classes.
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "sequence"}, default "multiclass"
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

    Examples
    --------
    >>> from extensor.train import TopKAccuracy
    >>> accuracy = TopKAccuracy(k=2)
    >>> accuracy.update([[0.1, 0.2, 0.7], [0.6, 0.3, 0.1]], [1, 2])
    >>> accuracy.compute()
    0.5
    """

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "sequence")
    higher_is_better: ClassVar[bool | None] = True

    def __init__(
        self,
        k: int = 5,
        ignore_index: int | None = None,
        *,
        task: TokenTask = "multiclass",
        scores: Scores = "logits",
        class_axis: int | None = None,
    ) -> None:
        super().__init__(ignore_index, task=task, scores=scores, class_axis=class_axis)
        self.k = arguments.integer("TopKAccuracy", "k", k, 1)

    def update(self, output: Any, target: Any) -> None:
        scores, classes, _, axis = self._class_scores(output, target)
        number = scores.shape[1]
        if number < self.k:
            requirement = f"output must have at least {self.k} classes along axis {axis}"
            raise value_error("TopKAccuracy", f"{requirement}, or k be less", classes=number)
        places = np.arange(len(classes))
        better = scores >= scores[places, classes][:, None]
        better[places, classes] = False
        self._take(int(np.count_nonzero(better.sum(axis=1) < self.k)), len(classes), number)


Average = Literal["auto", "macro", "weighted"]
_MOST_CLASSES = 2**20  # whose matrix no memory holds


class ConfusionMatrix(ClassMetric, Stateful):
    """How many samples of each class, a row, were predicted as each class, a column.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, or of labels. "multiclass" needs it; "binary" has 2. Default for labels: as
        many as the first batch has.
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "binary", "multilabel"}, default "multiclass"
        Meaning of outputs and targets, see the notes of `Accuracy`.
    scores : {"logits", "probabilities"}, default "logits"
        Whether outputs are logits or probabilities.

    Attributes
    ----------
    counts : numpy.ndarray of int64, (classes, classes) or (labels, 2, 2)
        The counts so far.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not for this task.

    See Also
    --------
    Accuracy : Its notes describe the outputs and targets of each task.
    extensor.report.write_report : A page that shows the matrix.

    Notes
    -----
    `compute` returns a copy of the counts. For "binary" the rows and columns are 0 and 1. Several
    labels have such a matrix of 0 and 1 each: (labels, 2, 2).

    Examples
    --------
    >>> from extensor.train import ConfusionMatrix
    >>> matrix = ConfusionMatrix(num_classes=3)
    >>> matrix.update([[9, 1, 0], [2, 5, 3], [4, 0, 1]], [0, 1, 2])
    >>> matrix.compute()
    array([[1, 0, 0],
           [0, 1, 0],
           [1, 0, 0]])
    """

    def __init__(
        self,
        num_classes: int | None = None,
        ignore_index: int | None = None,
        *,
        task: LabelTask = "multiclass",
        scores: Scores = "logits",
    ) -> None:
        op = type(self).__name__
        self._set_options(task, scores, ignore_index)
        if num_classes is not None or task == "multiclass":
            least = 1 if task == "multilabel" else 2
            num_classes = bounded(op, "num_classes", num_classes, least, _MOST_CLASSES)
        if task == "binary" and num_classes not in (None, 2):
            requirement = "num_classes must be 2 or None for task='binary'"
            raise value_error(op, requirement, num_classes=num_classes)
        self.num_classes = 2 if task == "binary" else num_classes
        self.reset()

    def reset(self) -> None:
        size = self.num_classes or 0
        shape = (size, 2, 2) if self.task == "multilabel" else (size, size)
        self.counts: Any = np.zeros(shape, np.int64)

    def update(self, output: Any, target: Any) -> None:
        if self._is_of_labels:
            scores, truth = self._label_scores(output, target)
            found = self._predicted(scores)
            if self.task == "binary":
                self._count(truth[:, 0], found[:, 0])
            else:
                self._count_labels(truth, found)
            return
        scores, classes, _, _ = self._class_scores(output, target)
        self._check_size(scores.shape[1], self.num_classes, False)
        self._count(classes, scores.argmax(axis=1))

    def _count(self, true: Any, found: Any) -> None:
        size = len(self.counts)
        numbers = np.bincount(true * size + found, minlength=size * size)
        self.counts += numbers.reshape(size, size)

    def _count_labels(self, truth: Any, found: Any) -> None:
        labels = truth.shape[1]
        self._check_size(labels, len(self.counts) or None, self.num_classes is None)
        if not len(self.counts):
            self.counts = np.zeros((labels, 2, 2), np.int64)
        kinds = 2 * truth + found
        numbers = np.stack([(kinds == kind).sum(axis=0) for kind in range(4)], axis=1)
        self.counts += numbers.reshape(labels, 2, 2)

    def compute(self) -> Any:
        return self.counts.copy()

    def state_dict(self) -> dict[str, Any]:
        return {"counts": self.counts.copy()}

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        given = entries.with_keys(op, state_dict, ["counts"], name)
        size = self.num_classes
        shape = (size, 2, 2) if self.task == "multilabel" else (size, size)
        counts = checked_counts(op, "counts", given["counts"], shape)
        return partial(vars(self).update, counts=counts)

    def _summed(self) -> tuple[Any, Any, Any]:
        """Of each class or label: how many were found rightly, how many there are, and were found."""
        if self.task == "multilabel":
            positive = self.counts[:, 1, :].sum(axis=1)
            return self.counts[:, 1, 1], positive, self.counts[:, :, 1].sum(axis=1)
        return np.diag(self.counts), self.counts.sum(axis=1), self.counts.sum(axis=0)


class BalancedAccuracy(ConfusionMatrix):
    """The mean over the classes of the fraction of their samples that were predicted correctly.

    Each class counts the same, however rare it is. Classes without a sample are left out; without any
    sample the value is NaN.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes. "multiclass" needs it; "binary" has 2.
    ignore_index : int, optional
        Class of targets that are left out. Only where targets are class numbers.
    task : {"multiclass", "binary"}, default "multiclass"
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

    Examples
    --------
    >>> from extensor.train import BalancedAccuracy
    >>> accuracy = BalancedAccuracy(task="binary")
    >>> accuracy.update([-1.0, -2.0, -3.0, 1.0, -1.0], [0, 0, 0, 1, 1])
    >>> accuracy.compute()
    0.75
    """

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "binary")
    higher_is_better: ClassVar[bool | None] = True

    def __init__(
        self,
        num_classes: int | None = None,
        ignore_index: int | None = None,
        *,
        task: ClassTask = "multiclass",
        scores: Scores = "logits",
    ) -> None:
        super().__init__(num_classes, ignore_index, task=task, scores=scores)

    def compute(self) -> Any:
        right, true, _ = self._summed()
        occurs = true > 0
        return float((right[occurs] / true[occurs]).mean()) if occurs.any() else nan


class _PerClass(ConfusionMatrix):
    """A fraction for each class or label, and their average."""

    higher_is_better: ClassVar[bool | None] = True

    def __init__(
        self,
        num_classes: int | None = None,
        average: Average | None = "auto",
        ignore_index: int | None = None,
        *,
        task: LabelTask = "multiclass",
        scores: Scores = "logits",
    ) -> None:
        words = ("auto", "macro", "weighted", None)
        self.average = arguments.choice(type(self).__name__, "average", average, words)
        super().__init__(num_classes, ignore_index, task=task, scores=scores)

    def _denominator(self, true: Any, found: Any) -> Any:
        raise NotImplementedError

    def compute(self) -> Any:
        right, true, found = self._summed()
        if not self.counts.any():
            return nan if self.average else np.full(len(right), nan)
        # A class that neither occurs nor is found counts as 0, as elsewhere.
        whole = np.maximum(self._denominator(true, found), np.finfo(np.float64).tiny)
        fractions = right / whole
        if self.average is None:
            return fractions
        if self.average == "auto" and self.task == "binary":
            return float(fractions[1])
        if self.average == "weighted" and true.any():
            return float(np.average(fractions, weights=true))
        return float(fractions.mean())


class Precision(_PerClass):
    """The fraction of the samples predicted as a class that belong to it.

    It is 0 for a class that was never predicted. Without any sample the value is NaN.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, or of labels. "multiclass" needs it; "binary" has 2. Default for labels: as
        many as the first batch has.
    average : {"auto", "macro", "weighted"} or None, default "auto"
        Value of `compute`: the mean over the classes or labels ("macro"), their mean weighted by their
        numbers of samples ("weighted"), or an array with one number for each (None). "auto" is
        "macro", but for "binary" the value of the positive class.
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

    Examples
    --------
    >>> from extensor.train import Precision
    >>> precision = Precision(task="binary")
    >>> precision.update([2.0, -1.0, 0.5, -3.0], [1, 0, 0, 1])
    >>> precision.compute()
    0.5
    >>> precision = Precision(num_classes=3, average=None)
    >>> precision.update([[9, 1, 0], [2, 5, 3], [4, 0, 1]], [0, 1, 2])
    >>> precision.compute()
    array([0.5, 1. , 0. ])
    """

    def _denominator(self, true: Any, found: Any) -> Any:
        return found


class Recall(_PerClass):
    """The fraction of the samples of a class that were predicted as it.

    It is 0 for a class without a sample. Without any sample at all the value is NaN.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, or of labels. "multiclass" needs it; "binary" has 2. Default for labels: as
        many as the first batch has.
    average : {"auto", "macro", "weighted"} or None, default "auto"
        Value of `compute`: the mean over the classes or labels ("macro"), their mean weighted by their
        numbers of samples ("weighted"), or an array with one number for each (None). "auto" is
        "macro", but for "binary" the value of the positive class.
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

    Examples
    --------
    >>> from extensor.train import Recall
    >>> recall = Recall(num_classes=3)
    >>> recall.update([[9, 1, 0], [2, 5, 3], [4, 0, 1]], [0, 1, 2])
    >>> round(recall.compute(), 4)
    0.6667
    """

    def _denominator(self, true: Any, found: Any) -> Any:
        return true


class F1(_PerClass):
    """The harmonic mean of precision and recall.

    It is 0 for a class that is never predicted correctly. Without any sample the value is NaN.

    Parameters
    ----------
    num_classes : int, optional
        Number of classes, or of labels. "multiclass" needs it; "binary" has 2. Default for labels: as
        many as the first batch has.
    average : {"auto", "macro", "weighted"} or None, default "auto"
        Value of `compute`: the mean over the classes or labels ("macro"), their mean weighted by their
        numbers of samples ("weighted"), or an array with one number for each (None). "auto" is
        "macro", but for "binary" the value of the positive class.
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

    Examples
    --------
    >>> from extensor.train import F1
    >>> f1 = F1(task="binary")
    >>> f1.update([2.0, -1.0, 0.5, -3.0], [1, 0, 0, 1])
    >>> f1.compute()
    0.5
    """

    def _denominator(self, true: Any, found: Any) -> Any:
        return (true + found) / 2
