"""The goal of training: the task, and the meaning of the numbers in targets and outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.core import entries
from extensor.data.table.column_statistics import divisor
from extensor.errors import arguments, value_error
from extensor.errors.suggestions import nearest
from extensor.experiments.spec import ExperimentSpec
from extensor.ops import sigmoid, softmax
from extensor.train.metrics import Metric
from extensor.train.metrics.metric import Stateful
from extensor.train.tasks import PROBABILITIES, TASKS, Task, task_of_targets

_TWO = "the target must have at least two different values"
_MOST_CLASSES = 20  # among whole numbers; more are numbers
_SAMPLES = 5  # of each class at least, in the mean


class TargetFacts(NamedTuple):
    """The facts of targets: how many columns and samples, and which values there are."""

    columns: int
    samples: int
    are_words: bool
    are_whole: bool
    distinct: list[Any]
    where: Mapping[str, Any] = MappingProxyType({})  # for messages: the file, the column

    @property
    def is_truth(self) -> bool:
        """Whether every value is 0 or 1."""
        return not self.are_words and set(self.distinct) <= {0, 1}

    @property
    def are_counts(self) -> bool:
        """Whether every value is a whole number, also one written with a point."""
        if self.are_words:
            return False
        return self.are_whole or all(float(x).is_integer() for x in self.distinct)


class TaskChoice(NamedTuple):
    """The name of a task, and why it is this one."""

    name: str
    reason: str


def summary_of_array(array: Any, **where: Any) -> TargetFacts:
    """The facts of targets in an array. Messages quote ``where``, its file or name."""
    columns = 1 if array.ndim == 1 else int(np.prod(array.shape[1:]))
    distinct = np.unique(array[: 10**6])
    whole = not is_floating(array.dtype)
    return TargetFacts(columns, len(array), False, whole, distinct[: 10**4].tolist(), where)


def choose_task(targets: TargetFacts, spec: ExperimentSpec) -> TaskChoice:
    """Choose the task: by ``[data] task``, by the loss, or by the values of the targets."""
    loss, asked = spec.loss_name, spec.data.task
    if asked is not None and asked not in TASKS:
        near = nearest(asked, TASKS) if isinstance(asked, str) else ""
        near = near if "did you mean" in near else ""
        raise value_error("config", f"data.task must be one of {list(TASKS)}{near}", task=asked)
    kind = spec.loss_traits.targets
    if kind in ("distributions", "several"):
        usual = "CrossEntropyLoss, BCEWithLogitsLoss, MSELoss"
        requirement = f"loss must be one of single targets, such as {usual}"
        raise value_error("config", requirement, loss=loss)
    by_loss = task_of_targets("numbers" if kind == "signs" else kind, targets.columns)
    if asked is not None and by_loss is not None:
        # One loss may serve both: two classes may be learned as two labels.
        is_alike = TASKS[asked].targets == TASKS[by_loss].targets
        if not is_alike and (asked, by_loss) != ("sequence", "multiclass"):
            requirement = f"loss must fit the task {asked}, as {TASKS[asked].loss} does"
            raise value_error("config", requirement, loss=loss)
    if kind == "signs" and not set(targets.distinct) <= {-1, 1}:
        values = {**targets.where, "values": targets.distinct[:4]}
        raise value_error("data", f"targets must be -1 or 1 for {loss}", **values)
    if asked is not None:
        _check_targets(asked, targets, f"the task {asked}")
        return TaskChoice(asked, "as data.task says")
    if by_loss is not None:
        _check_targets(by_loss, targets, loss)
        return TaskChoice(by_loss, f"for {loss}")
    choice = _task_of_values(targets)
    if choice.name == "binary" and _outputs_asked(spec) == 2:
        return TaskChoice("multiclass", f"{choice.reason}, and the model has an output for each")
    return choice


def _outputs_asked(spec: ExperimentSpec) -> Any:
    """The number of outputs in ``[model]``, if it has one."""
    model = spec.model_entries
    sizes = model.get("sizes")
    last = sizes[-1] if isinstance(sizes, list) and sizes else None
    return model.get("num_classes", model.get("outputs", last))


def _task_of_values(targets: TargetFacts) -> TaskChoice:
    if targets.columns > 1:
        if targets.is_truth:
            return TaskChoice("multilabel", f"{targets.columns} columns of 0 and 1")
        _check_targets("regression", targets, "several columns, or 0 and 1")
        return TaskChoice("regression", f"{targets.columns} columns of numbers")
    count = len(targets.distinct)
    if count < 2:
        raise value_error("data", _TWO, **targets.where, values=targets.distinct)
    if count == 2 and (targets.are_words or targets.are_whole or targets.is_truth):
        return TaskChoice("binary", f"two values, {' and '.join(map(str, targets.distinct))}")
    if targets.are_words:
        return TaskChoice("multiclass", f"{count} different words")
    if targets.are_whole and count <= _MOST_CLASSES and targets.samples >= _SAMPLES * count:
        reason = f"{count} different whole numbers (numbers: --task regression)"
        return TaskChoice("multiclass", reason)
    many = f"{count:,} different " if count < 10**4 else ""
    is_near = targets.are_counts and count <= _MOST_CLASSES
    hint = " (classes: --task multiclass)" if is_near else ""
    reason = f"{many}{'whole ' if targets.are_whole else ''}numbers{hint}"
    return TaskChoice("regression", reason)


def _check_targets(task: str, targets: TargetFacts, whom: str) -> None:
    """Refuse targets that ``task`` cannot be of; ``whom`` they are for."""
    values: dict[str, Any] = {**targets.where, "values": targets.distinct[:4]}
    several: dict[str, Any] = {**targets.where, "columns": targets.columns}
    count = len(targets.distinct)
    if task == "regression" and targets.are_words:
        raise value_error("data", f"targets must be numbers for {whom}", **values)
    if task == "binary" and (targets.columns != 1 or count != 2):
        requirement = f"the target must be one column of two values for {whom}"
        raise value_error("data", requirement, **{**several, **values})
    if task == "multilabel" and (targets.columns < 2 or not targets.is_truth):
        requirement = f"targets must be two or more columns of 0 and 1 for {whom}"
        raise value_error("data", requirement, **{**several, **values})
    if task == "multiclass":
        if targets.columns != 1:
            raise value_error("data", f"the target must be one column for {whom}", **several)
        if count < 2:
            raise value_error("data", _TWO, **values)
        if not (targets.are_words or targets.are_counts):
            requirement = f"targets must be words or whole numbers for {whom}"
            raise value_error("data", requirement, **values)
    if task == "sequence":
        requirement = "the task sequence is for texts (a .txt file)"
        raise value_error("config", requirement, task=task)


@dataclass(frozen=True)
class Goal:
    """The task, and what its numbers mean.

    ``names`` are the names of the target columns, ``classes`` those of the classes or labels, by their
    numbers. Of two classes the second is the positive one. Numbers are learned as
    ``(number - mean) / std``. ``scores`` is "logits" or "probabilities", the kind of outputs.
    """

    task: str
    names: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    scores: str = "logits"

    @property
    def row(self) -> Task:
        """The row of the table of tasks."""
        return TASKS[self.task]

    @property
    def outputs(self) -> int:
        """How many numbers a model gives for a sample."""
        if self.task == "binary":
            return 1
        return len(self.classes) or len(self.mean) or max(1, len(self.names))

    def scaled(self, numbers: Any) -> Any:
        """Numbers as they are learned."""
        if not self.mean:
            return np.asarray(numbers).astype(get_default_dtype(), copy=False)
        wide = np.asarray(numbers, np.float64)
        with np.errstate(over="ignore"):  # the metrics refuse what is not finite
            return ((wide - self.mean) / self.std).astype(get_default_dtype())

    def as_loss_takes(self, targets: Any) -> Any:
        """Numbers scaled, numbers of classes as they are, labels as floats; of two classes a column."""
        if self.task == "regression":
            return self.scaled(targets)
        if self.task == "multiclass":
            return targets
        targets = targets.astype(get_default_dtype())
        return targets if self.task == "multilabel" else targets[:, None]

    def in_units(self, numbers: Any) -> Any:
        """Numbers in their own units, from learned ones."""
        if not self.mean:
            return numbers
        return np.asarray(numbers, np.float64) * self.std + self.mean

    def learned_scale(self, numbers: Any) -> Goal:
        """This goal, with the scale of these numbers, a row for each sample."""
        wide = np.asarray(numbers, np.float64)
        mean, low, high = wide.mean(axis=0), wide.min(axis=0), wide.max(axis=0)
        std = divisor(wide.std(axis=0), mean, low, high)
        return replace(self, mean=tuple(mean.tolist()), std=tuple(std.tolist()))

    def probabilities(self, outputs: Any) -> Any:
        """The probability of each class or label; of two classes both; None for numbers."""
        if not self.classes:
            return None
        outputs = np.asarray(outputs)
        if self.scores != PROBABILITIES:
            wide = outputs.astype(np.float64)
            is_of_labels, axis = self.row.is_of_labels, self.row.class_axis
            outputs = (sigmoid(wide) if is_of_labels else softmax(wide, axis=axis)).numpy()
        if self.task != "binary":
            return outputs
        positive = outputs.reshape(len(outputs))
        return np.stack([1 - positive, positive], axis=1)

    def answers(self, outputs: Any) -> Any:
        """The outputs as names of classes, lists of labels, or numbers in their own units."""
        if not self.classes:
            return self.in_units(outputs)
        chances = self.probabilities(outputs)
        names = np.array(self.classes, object)
        if self.task == "multilabel":
            return [names[row > 0.5].tolist() for row in chances]
        return names[chances.argmax(axis=1)]

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {key: list(x) if isinstance(x, tuple) else x for key, x in vars(self).items()}

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> Goal:
        """Restore it from the result of :meth:`state_dict`, checked."""
        stored = entries.with_keys(op, state, [x.name for x in fields(cls)], "goal")
        for key, kinds in (("task", tuple(TASKS)), ("scores", ("logits", PROBABILITIES))):
            arguments.choice(op, f"goal.{key}", stored[key], kinds)
        words = {key: _tuple(op, key, stored[key], str) for key in ("names", "classes")}
        scale = {key: _tuple(op, key, stored[key], float) for key in ("mean", "std")}
        if len(scale["mean"]) != len(scale["std"]) or not all(x > 0 for x in scale["std"]):
            raise value_error(op, "goal.std must have a positive number for each of goal.mean")
        if not all(map(isfinite, (*scale["mean"], *scale["std"]))):
            raise value_error(op, "goal.mean and goal.std must be finite")
        goal = cls(stored["task"], **words, **scale, scores=stored["scores"])
        goal._check_counts(op)
        return goal

    def _check_counts(self, op: str) -> None:
        """Refuse names and classes that are not as many as the task has."""
        names, classes, scaled = len(self.names), len(self.classes), len(self.mean)
        right = {
            "regression": classes == 0 and (scaled == 0 or names in (0, scaled)),
            "binary": classes in (0, 2) and names <= 1,
            "multiclass": classes != 1 and names <= 1,
            "multilabel": names in (0, classes),
            "sequence": names == classes == 0,
        }
        are_distinct = len(set(self.classes)) == classes and len(set(self.names)) == names
        if not right[self.task] or not are_distinct or (scaled and self.task != "regression"):
            requirement = f"goal must have names and classes for the task {self.task}, each once"
            raise value_error(op, requirement, names=names, classes=classes, numbers=scaled)


def _tuple(op: str, key: str, value: Any, kind: type) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(x, kind) for x in value):
        raise value_error(op, f"goal.{key} must be a list of {kind.__name__}")
    return tuple(value)


@dataclass(eq=False)
class InUnits(Metric):
    """A metric of numbers that are learned on another scale, in their own units."""

    metric: Metric
    goal: Goal

    def reset(self) -> None:
        self.metric.reset()

    def update(self, output: Any, target: Any) -> None:
        self.metric.update(*(self.goal.in_units(np.asarray(x)) for x in (output, target)))

    def compute(self) -> Any:
        return self.metric.compute()


class SumsInUnits(InUnits, Stateful):
    """The same, of a metric whose sums a checkpoint can hold."""

    metric: Stateful

    def state_dict(self) -> dict[str, Any]:
        return self.metric.state_dict()

    def _prepared_state(self, state_dict: Any, op: str, name: str = "") -> Callable[[], None]:
        return self.metric._prepared_state(state_dict, op, name)


def metrics_in_units(metrics: Mapping[str, Metric], goal: Goal) -> dict[str, Metric]:
    """``metrics`` that see the numbers that ``goal`` scales in their own units."""
    if not goal.mean:
        return dict(metrics)
    return {
        name: (SumsInUnits if isinstance(x, Stateful) else InUnits)(x, goal)
        for name, x in metrics.items()
    }


def balance(goal: Goal, targets: Any) -> list[float]:
    """A weight for each class, so that all count the same: ``samples / (classes * samples_of_class)``.

    For two classes and for labels it is the weight of a positive relative to a negative.
    """
    targets = np.asarray(targets)
    if goal.row.is_of_labels:
        positive = targets.reshape(len(targets), -1).sum(axis=0, dtype=np.float64)
        return ((len(targets) - positive) / np.maximum(positive, 1)).tolist()  # type: ignore[no-any-return]
    counts = np.bincount(targets.reshape(-1).astype(np.int64), minlength=len(goal.classes))
    weights = targets.size / (len(goal.classes) * np.maximum(counts, 1))
    return weights.tolist()  # type: ignore[no-any-return]


def class_counts(goal: Goal, targets: Any, most: int = 12) -> str:
    """Describe how often each class occurs."""
    targets = np.asarray(targets)
    if goal.task == "multilabel":
        counts: Sequence[int] = targets.sum(axis=0).astype(int).tolist()
    else:
        whole = targets.reshape(-1).astype(np.int64)
        counts = np.bincount(whole, minlength=len(goal.classes)).tolist()
    named = [f"{name} {count:,}" for name, count in zip(goal.classes, counts, strict=True)]
    more = f", and {len(named) - most} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more
