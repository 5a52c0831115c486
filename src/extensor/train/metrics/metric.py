"""The base classes of metrics: any, a mean, and those of classes and labels."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any, ClassVar, Literal

import numpy as np

from extensor.core import entries
from extensor.errors import arguments, type_error, value_error
from extensor.train.metrics.metric_inputs import (
    ClassScores,
    binary_scores,
    check_probabilities,
    class_scores,
    label_scores,
)
from extensor.train.tasks import TASKS

Scores = Literal["logits", "probabilities"]
ClassTask = Literal["multiclass", "binary"]
LabelTask = Literal["multiclass", "binary", "multilabel"]
TokenTask = Literal["multiclass", "sequence"]
AnyTask = Literal["multiclass", "binary", "multilabel", "sequence"]

_LIMIT = 2.0**62  # of counts, whose sums are still integers


class Metric:
    """Base class of metrics: numbers computed over all samples, batch by batch.

    A subclass defines ``update``, ``compute`` and ``reset``. Pass instances by name to a trainer,
    as in ``Trainer(metrics={"span": Span()})``; any object with these three methods will do.

    Attributes
    ----------
    tasks : tuple of str
        The tasks that the metric has a meaning for, of "regression", "binary", "multiclass",
        "multilabel" and "sequence".
    higher_is_better : bool or None
        Whether larger values are better; None if the metric has no single value to compare.

    Notes
    -----
    The training metrics of a trainer also need ``state_dict`` and ``load_state_dict``, as they are
    part of checkpoints. On several workers validation metrics see all batches in their order on the
    first worker, so the value is that of one process.

    Examples
    --------
    >>> import extensor as ex
    >>> class Span(ex.train.Metric):
    ...     def __init__(self):
    ...         self.reset()
    ...     def reset(self):
    ...         self.largest = 0.0
    ...     def update(self, output, target):
    ...         self.largest = max(self.largest, float(abs(output - target).max()))
    ...     def compute(self):
    ...         return self.largest
    >>> span = Span()
    >>> span.update(ex.tensor([1.0, 2.0]), ex.tensor([1.5, 2.0]))
    >>> span.compute()
    0.5
    """

    tasks: ClassVar[tuple[str, ...]] = ()  # for which it has a meaning
    higher_is_better: ClassVar[bool | None] = None

    def reset(self) -> None:
        """Forget all batches."""
        raise self._lacking("reset")

    def update(self, output: Any, target: Any) -> None:
        """Add a batch.

        Parameters
        ----------
        output : array_like
            Outputs of the model for the batch, samples first. The class says which shapes it takes.
        target : array_like
            The targets of the same samples.

        Raises
        ------
        ValueError
            If the shapes do not fit each other or the metric, or a value has no meaning for it. The
            metric is not changed then.
        TypeError
            If the dtype of `target` does not fit.
        """
        raise self._lacking("update")

    def compute(self) -> Any:
        """Return the value for all batches since the last reset.

        Returns
        -------
        float or numpy.ndarray
            The value; NaN if there is none, for example before the first batch.
        """
        raise self._lacking("compute")

    def _lacking(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__}: needs a method {name}")


class Stateful(Metric):
    """A metric whose sums are small and can be kept in a checkpoint."""

    def state_dict(self) -> dict[str, Any]:
        """Return the sums of all batches since the last reset.

        Returns
        -------
        dict of str to object
            Numbers and arrays.
        """
        raise self._lacking("state_dict")

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from sums that `state_dict` returned.

        Parameters
        ----------
        state_dict : dict of str to object
            The sums.

        Raises
        ------
        ValueError
            If they are not those of such a metric. The metric is not changed then.
        """
        self._prepared_state(state_dict, f"{type(self).__name__}.load_state_dict")()

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        """The function that takes over ``state_dict``, after all of it was checked."""
        raise self._lacking("_prepared_state")


class Mean(Stateful):
    """The mean of numbers that each stand for several samples, such as a running loss.

    It has no ``update``; numbers are added with `add`. Without any number the value is NaN.

    Examples
    --------
    >>> from extensor.train import Mean
    >>> mean = Mean()
    >>> mean.add(1.0, 10)
    >>> mean.add(4.0, 5)
    >>> mean.compute()
    2.0
    """

    _least_total: ClassVar[float] = -inf

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.total = 0.0
        self.count = 0

    def update(self, output: Any, target: Any) -> None:
        """Add a batch. A `Mean` itself takes numbers instead, by `add`.

        Parameters
        ----------
        output : array_like
            Outputs of the model for the batch, samples first. The class says which shapes it takes.
        target : array_like
            The targets of the same samples.

        Raises
        ------
        ValueError
            If the shapes do not fit each other or the metric, or a value has no meaning for it. The
            metric is not changed then.
        TypeError
            If the dtype of `target` does not fit, and always for a `Mean` itself.
        """
        if type(self) is Mean:
            raise type_error("Mean", "a mean takes numbers, by add(value, count), not outputs")
        raise self._lacking("update")

    def add(self, value: float, count: int) -> None:
        """Add the mean value of several samples.

        Parameters
        ----------
        value : float
            Mean value of the samples.
        count : int
            Number of samples, 0 or more.
        """
        if type(value) is not float or type(count) is not int:
            value = float(entries.number("Mean", "value", value))
            count = entries.count("Mean", "count", count)
        self.total += value * count
        self.count += count

    def compute(self) -> float:
        return self.total / self.count if self.count else nan

    def state_dict(self) -> dict[str, Any]:
        return {"total": self.total, "count": self.count}

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        given = entries.with_keys(op, state_dict, ["total", "count"], name)
        total = float(entries.number(op, "total", given["total"]))
        count = entries.count(op, "count", given["count"])
        if total < self._least_total:
            raise value_error(op, f"total must be {self._least_total:g} or greater", total=total)

        def commit() -> None:
            self.reset()
            self.total, self.count = total, count

        return commit


def bounded(op: str, name: str, value: Any, least: int, most: int) -> int:
    """An integer from ``least`` to ``most``, the size of something that is kept."""
    number = arguments.integer(op, name, value, least)
    if number > most:
        raise value_error(op, f"{name} must be at most {most}", **{name: number})
    return number


def checked_sums(
    op: str,
    key: str,
    value: Any,
    shape: tuple[int | None, ...],
    least: float = 0,
    finite: bool = False,
) -> Any:
    """A copy of an array of a state in float64, of ``shape``, where None is any size."""
    copy = _shaped(op, key, value, shape).astype(np.float64)
    if finite and not np.isfinite(copy).all():
        raise value_error(op, f"{key} must be finite numbers")
    if not (copy >= least).all():
        raise value_error(op, f"{key} must be numbers from {least} on")
    return copy


def checked_counts(op: str, key: str, value: Any, shape: tuple[int | None, ...]) -> Any:
    """The same for how often something was found."""
    array = _shaped(op, key, value, shape)
    if array.dtype.kind not in "iu":
        raise type_error(op, f"{key} must be integers", dtype=str(array.dtype))
    if not (array >= 0).all() or array.sum(dtype=np.float64) >= _LIMIT:
        raise value_error(op, f"{key} must be numbers from 0 on, in all less than 2**62")
    return array.astype(np.int64)


def _shaped(op: str, key: str, value: Any, shape: tuple[int | None, ...]) -> Any:
    array = entries.array(op, key, value)
    sizes = array.shape
    if len(sizes) != len(shape) or any(
        size not in (None, found) for size, found in zip(shape, sizes, strict=True)
    ):
        words = ", ".join("any" if size is None else str(size) for size in shape)
        comma = "," if len(shape) == 1 else ""
        raise value_error(op, f"{key} must have a shape of ({words}{comma})", shape=sizes)
    return array


class ClassMetric(Metric):
    """A metric of one class among several, of two classes by one score, or of several labels."""

    tasks: ClassVar[tuple[str, ...]] = ("multiclass", "binary", "multilabel")

    def _set_options(
        self, task: Any, scores: Any = "logits", ignore_index: Any = None, class_axis: Any = None
    ) -> None:
        """Keep what was asked for, once it is known to make sense."""
        op = type(self).__name__
        self.ignore_index = _integer(op, "ignore_index", ignore_index)
        self.task: str = arguments.choice(op, "task", task, self.tasks)
        self.scores: str = arguments.choice(op, "scores", scores, ("logits", "probabilities"))
        self.class_axis = _integer(op, "class_axis", class_axis)
        if self._is_of_labels and ignore_index is not None:
            requirement = f"ignore_index must be None for task={task!r}, whose targets are 0 or 1"
            raise value_error(op, requirement, ignore_index=ignore_index)
        if self._is_of_labels and class_axis is not None:
            requirement = f"class_axis must be None for task={task!r}, which has no such axis"
            raise value_error(op, requirement, class_axis=class_axis)

    @property
    def _is_of_labels(self) -> bool:
        return TASKS[self.task].is_of_labels

    def _class_scores(self, output: Any, target: Any) -> ClassScores:
        """The scores and the class of each sample."""
        axis = self.class_axis
        if axis is None and self.task == "multiclass":
            axis = 1
        probabilities = self.scores == "probabilities"
        op = type(self).__name__
        return class_scores(op, output, target, self.tasks, axis, self.ignore_index, probabilities)

    def _label_scores(self, output: Any, target: Any) -> tuple[Any, Any]:
        """Scores and truth of shape (samples, labels); there is one label if there are two classes."""
        op = type(self).__name__
        if self.task == "binary":
            scores, truth = binary_scores(op, output, target, self.tasks)
        else:
            scores, truth = label_scores(op, output, target)
        if self.scores == "probabilities":
            check_probabilities(op, scores)
        return scores, truth

    def _predicted(self, scores: Any) -> Any:
        """Which labels the scores say."""
        return scores > (0.5 if self.scores == "probabilities" else 0)

    def _check_size(self, number: int, expected: int | None, again: bool, axis: int = 1) -> None:
        """Refuse a number of classes or labels not expected, ``again`` if batches before said which."""
        if expected in (None, number):
            return
        kind, along = ("labels", "") if self._is_of_labels else ("classes", f" along axis {axis}")
        requirement = f"output must have the scores of {expected} {kind}{along}"
        hint = ", as the batches before, which reset() forgets" if again else ""
        raise value_error(type(self).__name__, requirement + hint, **{kind: number})


class ClassMean(ClassMetric, Mean):
    """A mean over samples that are all scored for the same number of classes."""

    _least_total: ClassVar[float] = 0.0

    def __init__(
        self,
        ignore_index: int | None = None,
        *,
        task: AnyTask = "multiclass",
        scores: Scores = "logits",
        class_axis: int | None = None,
    ) -> None:
        super().__init__()
        self._set_options(task, scores, ignore_index, class_axis)

    def reset(self) -> None:
        super().reset()
        self._size: int | None = None

    def _class_scores(self, output: Any, target: Any) -> ClassScores:
        scored = super()._class_scores(output, target)
        self._check_size(scored.scores.shape[1], self._size, True, scored.axis)
        return scored

    def _label_scores(self, output: Any, target: Any) -> tuple[Any, Any]:
        scores, truth = super()._label_scores(output, target)
        self._check_size(scores.shape[1], self._size, True)
        return scores, truth

    def _take(self, total: float, count: int, size: int) -> None:
        """Add to the sums what a batch of scores of ``size`` classes or labels gave."""
        self.total += total
        self.count += count
        self._size = size


def _integer(op: str, name: str, value: Any) -> int | None:
    return None if value is None else arguments.integer(op, name, value)
