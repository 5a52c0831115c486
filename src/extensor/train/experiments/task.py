"""Which task the targets make: worked out from themselves and the loss, or as it is said."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.errors import value_error
from extensor.train.experiments.config import Config, nearest
from extensor.train.experiments.goal import LOSSES, TASKS

OF_CLASSES = ("CrossEntropyLoss", "NLLLoss")
OF_NUMBERS = ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "HingeLoss")
OF_LOGITS = ("BCEWithLogitsLoss", "FocalLoss")
OF_TRUTH = (*OF_LOGITS, "BCELoss")
_OF_PAIRS = ("KLDivLoss", "TripletMarginLoss", "CosineEmbeddingLoss")  # or of distributions

_TWO = "the target must have at least two different values"
_USUAL = ("CrossEntropyLoss", "BCEWithLogitsLoss", "MSELoss")
_MOST_CLASSES = 20  # among whole numbers; more are numbers
_SAMPLES = 5  # of each class at least, in the mean


class Seen(NamedTuple):
    """What targets look like: how many columns and samples, and which values there are."""

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


class Task(NamedTuple):
    """The name of a task, and why it is this one."""

    name: str
    reason: str


def loss_name(config: Config) -> str:
    """The loss that the configuration names, or nothing."""
    return str(config.get("loss", {}).get("name", ""))


def is_of_any_scale(config: Config) -> bool:
    """Whether the numbers to be learned may be scaled: the loss has no length of its own."""
    return loss_name(config) in ("", "MSELoss", "L1Loss")


def seen_in(array: Any, **where: Any) -> Seen:
    """What targets in an array look like; messages say ``where`` it is."""
    columns = 1 if array.ndim == 1 else int(np.prod(array.shape[1:]))
    distinct = np.unique(array[: 10**6])
    whole = not is_floating(array.dtype)
    return Seen(columns, len(array), False, whole, distinct[: 10**4].tolist(), where)


def decided(seen: Seen, config: Config) -> Task:
    """The task of ``config``: as ``[data] task`` says, by the loss, or by what was seen."""
    loss = loss_name(config)
    given = config["data"].get("task")
    if given is not None and given not in TASKS:
        raise value_error(
            "config", f"data.task must be one of {list(TASKS)}{_near(given)}", task=given
        )
    if loss in _OF_PAIRS:
        requirement = f"loss must be one of single targets, such as {', '.join(_USUAL)}"
        raise value_error("config", requirement, loss=loss)
    by_loss = _by_loss(loss, seen)
    if None not in (given, by_loss) and given != by_loss and not _alike(given, str(by_loss)):
        requirement = f"loss must fit the task {given}, as {LOSSES[given]} does"
        raise value_error("config", requirement, loss=loss)
    if loss == "HingeLoss" and not set(seen.distinct) <= {-1, 1}:
        values = {**seen.where, "values": seen.distinct[:4]}
        raise value_error("data", "targets must be -1 or 1 for HingeLoss", **values)
    if given is not None:
        _check(given, seen, f"the task {given}")
        return Task(given, "as data.task says")
    if by_loss is not None:
        _check(by_loss, seen, loss)
        return Task(by_loss, f"for {loss}")
    found = _by_values(seen)
    if found.name == "binary" and _outputs(config) == 2:
        return Task("multiclass", f"{found.reason}, and the model has an output for each")
    return found


def _outputs(config: Config) -> Any:
    """How many outputs somebody has given the model, if that can be seen."""
    model = config.get("model", {})
    sizes = model.get("sizes")
    last = sizes[-1] if isinstance(sizes, list) and sizes else None
    return model.get("num_classes", model.get("outputs", last))


def _near(given: Any) -> str:
    words = nearest(given, TASKS) if isinstance(given, str) else ""
    return words if "did you mean" in words else ""


def _alike(task: str, other: str) -> bool:
    """Two classes may be learned as two, each with a score of its own."""
    return {task, other} <= {"binary", "multilabel"} or (task, other) == ("sequence", "multiclass")


def _by_loss(loss: str, seen: Seen) -> str | None:
    if loss in OF_CLASSES:
        return "multiclass"
    if loss in OF_NUMBERS:
        return "regression"
    if loss in OF_TRUTH:
        return "multilabel" if seen.columns > 1 else "binary"
    return None


def _by_values(seen: Seen) -> Task:
    count = len(seen.distinct)
    if seen.columns > 1:
        if seen.is_truth:
            return Task("multilabel", f"{seen.columns} columns of 0 and 1")
        _check("regression", seen, "several columns, or 0 and 1")
        return Task("regression", f"{seen.columns} columns of numbers")
    if count < 2:
        raise value_error("data", _TWO, **seen.where, values=seen.distinct)
    if count == 2 and (seen.are_words or seen.are_whole or seen.is_truth):
        return Task("binary", f"two values, {_said(seen.distinct)}")
    if seen.are_words:
        return Task("multiclass", f"{count} different words")
    if seen.are_whole and count <= _MOST_CLASSES and seen.samples >= _SAMPLES * count:
        return Task("multiclass", f"{count} different whole numbers (numbers: --task regression)")
    many = f"{count:,} different " if count < 10**4 else ""
    classes = seen.are_counts and count <= _MOST_CLASSES
    hint = " (classes: --task multiclass)" if classes else ""
    return Task("regression", f"{many}{'whole ' if seen.are_whole else ''}numbers{hint}")


def _said(values: list[Any]) -> str:
    return " and ".join(map(str, values))


def _check(task: str, seen: Seen, whom: str) -> None:
    """Refuse targets that ``task`` cannot be of; ``whom`` they are for."""
    found: dict[str, Any] = {**seen.where, "values": seen.distinct[:4]}
    several: dict[str, Any] = {**seen.where, "columns": seen.columns}
    if task == "regression" and seen.are_words:
        raise value_error("data", f"targets must be numbers for {whom}", **found)
    if task == "binary" and (seen.columns != 1 or len(seen.distinct) != 2):
        requirement = f"the target must be one column of two values for {whom}"
        raise value_error("data", requirement, **{**several, **found})
    if task == "multilabel" and (seen.columns < 2 or not seen.is_truth):
        requirement = f"targets must be two or more columns of 0 and 1 for {whom}"
        raise value_error("data", requirement, **{**several, **found})
    if task == "multiclass" and seen.columns != 1:
        requirement = f"the target must be one column for {whom}"
        raise value_error("data", requirement, **several)
    if task == "multiclass" and len(seen.distinct) < 2:
        raise value_error("data", _TWO, **found)
    if task == "multiclass" and not (seen.are_words or seen.are_counts):
        requirement = f"targets must be words or whole numbers for {whom}"
        raise value_error("data", requirement, **found)
    if task == "sequence":
        requirement = "the task sequence is for texts (a .txt file)"
        raise value_error("config", requirement, task=task)
