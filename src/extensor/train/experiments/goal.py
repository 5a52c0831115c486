"""What is to be learned: the task, and what the numbers in targets and outputs stand for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype
from extensor.core import entries
from extensor.errors import arguments, value_error
from extensor.ops import sigmoid, softmax
from extensor.train.metrics import Metric
from extensor.train.metrics.base import Stateful

TASKS = ("regression", "binary", "multiclass", "multilabel", "sequence")
LOSSES = {
    "regression": "MSELoss",
    "binary": "BCEWithLogitsLoss",
    "multiclass": "CrossEntropyLoss",
    "multilabel": "BCEWithLogitsLoss",
    "sequence": "CrossEntropyLoss",
}
_STATE = ("task", "names", "classes", "mean", "std", "scores")


@dataclass(frozen=True)
class Goal:
    """The task, and what its numbers mean.

    ``names`` are those of the target columns. ``classes`` are named by their numbers; of two the
    second is the positive one; of several labels they are the labels. Numbers are learned as
    ``(number - mean) / std``. ``scores`` says whether outputs are "logits" or "probabilities".
    """

    task: str
    names: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    scores: str = "logits"

    @property
    def outputs(self) -> int:
        """How many numbers a model gives for a sample."""
        if self.task == "binary":
            return 1
        return len(self.classes) or len(self.mean) or max(1, len(self.names))

    @property
    def kinds(self) -> int | None:
        """Among how many classes the model chooses, if it does."""
        return len(self.classes) if self.classes and self.task != "multilabel" else None

    def scaled(self, numbers: Any) -> Any:
        """Numbers as they are learned."""
        if not self.mean:
            return np.asarray(numbers).astype(get_default_dtype(), copy=False)
        wide = np.asarray(numbers, np.float64)
        with np.errstate(over="ignore"):  # the metrics refuse what is not finite
            return ((wide - self.mean) / self.std).astype(get_default_dtype())

    def in_units(self, numbers: Any) -> Any:
        """Numbers as they were given, from those that are learned."""
        if not self.mean:
            return numbers
        return np.asarray(numbers, np.float64) * self.std + self.mean

    def learned_scale(self, numbers: Any) -> Goal:
        """This goal, with the scale of these numbers, a row for each sample."""
        wide = np.asarray(numbers, np.float64)
        deviation = wide.std(axis=0)
        # Of numbers that are equal, all that rounding leaves is no scale.
        varies = (deviation > 0) & (wide.min(axis=0) < wide.max(axis=0))
        return replace(
            self,
            mean=tuple(wide.mean(axis=0).tolist()),
            std=tuple(np.where(varies, deviation, 1.0).tolist()),
        )

    def probabilities(self, outputs: Any) -> Any:
        """The probability of each class or label; of two classes both; None for numbers."""
        if self.task == "regression" or not self.classes:
            return None
        if self.task == "binary":
            outputs = np.asarray(outputs).reshape(len(outputs))
            positive = outputs if self.scores == "probabilities" else _sigmoid(outputs)
            return np.stack([1 - positive, positive], axis=1)
        if self.scores == "probabilities":
            return np.asarray(outputs)
        if self.task == "multilabel":
            return _sigmoid(outputs)
        axis = 1 if self.task == "multiclass" else -1
        return softmax(np.asarray(outputs, np.float64), axis=axis).numpy()

    def answers(self, outputs: Any) -> Any:
        """What the outputs say: names of classes, lists of labels, or numbers in their own units."""
        if self.task == "regression" or not self.classes:
            return self.in_units(outputs)
        chances = self.probabilities(outputs)
        names = np.array(self.classes, object)
        if self.task == "multilabel":
            return [names[row > 0.5].tolist() for row in chances]
        return names[chances.argmax(axis=1)]

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        values = {key: getattr(self, key) for key in _STATE}
        return {key: list(x) if isinstance(x, tuple) else x for key, x in values.items()}

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> Goal:
        """What :meth:`state_dict` gave, checked."""
        given = entries.with_keys(op, state, _STATE, "goal")
        for key, kinds in (("task", TASKS), ("scores", ("logits", "probabilities"))):
            arguments.choice(op, f"goal.{key}", given[key], kinds)
        words = {key: _tuple(op, key, given[key], str) for key in ("names", "classes")}
        scale = {key: _tuple(op, key, given[key], float) for key in ("mean", "std")}
        if len(scale["mean"]) != len(scale["std"]) or not all(x > 0 for x in scale["std"]):
            raise value_error(op, "goal.std must have a positive number for each of goal.mean")
        if not all(map(isfinite, (*scale["mean"], *scale["std"]))):
            raise value_error(op, "goal.mean and goal.std must be finite")
        made = cls(given["task"], **words, **scale, scores=given["scores"])
        made._check_counts(op)
        return made

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


def _sigmoid(values: Any) -> Any:
    return sigmoid(np.asarray(values, np.float64)).numpy()


class InUnits(Metric):
    """A metric of numbers that are learned on another scale, in their own units."""

    def __init__(self, metric: Metric, goal: Goal) -> None:
        self.metric = metric
        self.goal = goal

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


def in_units(metrics: Mapping[str, Metric], goal: Goal) -> dict[str, Metric]:
    """``metrics`` of what ``goal`` scales, as users know the numbers."""
    if not goal.mean:
        return dict(metrics)
    return {
        name: (SumsInUnits if isinstance(x, Stateful) else InUnits)(x, goal)
        for name, x in metrics.items()
    }


def balance(goal: Goal, targets: Any) -> list[float]:
    """A weight for each class, so that all count alike: ``samples / (classes * samples of it)``.

    Of two classes and of labels it is how much more a positive counts than a negative.
    """
    targets = np.asarray(targets)
    if goal.task in ("binary", "multilabel"):
        positive = targets.reshape(len(targets), -1).sum(axis=0, dtype=np.float64)
        return ((len(targets) - positive) / np.maximum(positive, 1)).tolist()  # type: ignore[no-any-return]
    counts = np.bincount(targets.reshape(-1).astype(np.int64), minlength=len(goal.classes))
    weights = targets.size / (len(goal.classes) * np.maximum(counts, 1))
    return weights.tolist()  # type: ignore[no-any-return]


def counted(goal: Goal, targets: Any, most: int = 12) -> str:
    """Words for how often each class occurs."""
    targets = np.asarray(targets)
    if goal.task == "multilabel":
        counts: Sequence[int] = targets.sum(axis=0).astype(int).tolist()
    else:
        whole = targets.reshape(-1).astype(np.int64)
        counts = np.bincount(whole, minlength=len(goal.classes)).tolist()
    named = [f"{name} {count:,}" for name, count in zip(goal.classes, counts, strict=True)]
    more = f", and {len(named) - most} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more


Encode = Callable[[Any], Any]
