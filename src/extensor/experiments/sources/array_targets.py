"""Targets in arrays: whether whole numbers are classes, numbers or truth, and how they are numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from extensor import data as library_data
from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.core.tensor import to_array
from extensor.data import ArrayDataset, Dataset, ImageFolder
from extensor.errors import value_error
from extensor.experiments.goal import Goal, TaskChoice, choose_task, summary_of_array
from extensor.experiments.spec import DataSpec, ExperimentSpec, is_function_name
from extensor.random.generator import Generator

_MOST_CLASSES = 10**6  # that a model can be asked for
_OWN = "as they are"
_WORDS = {"classes": "classes", "numbers": "numbers", "signs": "numbers", "truth": "0 or 1"}


def _target_kind(loss_name: str, loss_targets: str, train: object) -> str:
    """The kind of the targets, by the loss if there is one, otherwise by their values."""
    if loss_name:
        return _WORDS.get(loss_targets, _OWN)
    is_class = class_numbers(train) is not None or _gives_classes(train)
    return "classes" if is_class else "numbers"


def task_of_arrays(spec: ExperimentSpec, train: object) -> TaskChoice:
    """Choose the task, and give the reason.

    With a chosen model, but neither a loss nor a task, whole numbers are classes, and each class has an
    output.
    """
    known = None if train is None else _last_array(train)
    if known is not None and (spec.data.task is not None or not spec.has_model):
        where = {} if spec.data.train is None else {"path": spec.data.train}
        return choose_task(summary_of_array(known, **where), spec)
    words = _target_kind(spec.loss_name, spec.loss_traits.targets, train)
    kind = words if words != _OWN else _target_kind("", "", train)
    several = known is not None and known.ndim > 1 and known[0].size > 1
    tasks = {"classes": "multiclass", "0 or 1": "multilabel" if several else "binary"}
    return TaskChoice(tasks.get(kind, "regression"), f"targets {words}")


def goal_of_arrays(
    spec: ExperimentSpec, task: str, train: Dataset, every: Dataset | None = None
) -> Goal:
    """The goal for the targets of ``train``; ``every`` has all classes that occur."""
    known = targets_of(train)
    if task == "regression":
        goal = Goal(task)
        is_possible = known is not None and spec.is_of_any_scale
        if not is_target_scaled(spec, is_possible, "for arrays, and for MSELoss or L1Loss"):
            return goal
        return goal.learned_scale(np.asarray(known).reshape(len(known), -1))
    is_file = spec.data.train is not None
    names = class_names(spec.data) if is_file else getattr(train, "classes", None)
    if names is None and known is not None:
        counted = targets_of(train if every is None else every)
        names = counted_names(counted, task, spec.has_model)
    return Goal(task, classes=tuple(names or ()), scores=spec.loss_traits.scores)


def is_target_scaled(spec: ExperimentSpec, is_possible: bool, use: str) -> bool:
    """Whether numbers are scaled: as configured, by default if no model is chosen."""
    asked = spec.data.standardize_target
    if asked and not is_possible:
        requirement = f"data.standardize_target is {use}"
        raise value_error("config", requirement, loss=spec.loss_name)
    return is_possible and (not spec.has_model if asked is None else asked)


def counted_names(targets: Any, task: str, is_chosen: bool) -> list[str]:
    """Names of classes that have none: the numbers that occur, or up to the largest for a model."""
    if task == "multilabel":
        return [str(number) for number in range(targets.shape[1])]
    if not is_chosen:
        return [_shown(value) for value in np.unique(targets).tolist()]
    largest = int(targets.max())
    if largest >= _MOST_CLASSES:
        requirement = "labels must be the numbers of classes, from 0 on"
        raise value_error("data", requirement, label=largest)
    return [str(number) for number in range(max(2, largest + 1))]


def with_class_numbers(dataset: Any, goal: Goal, source: str, is_checked: bool = True) -> Any:
    """``dataset`` with the numbers of classes for targets that are other numbers, such as -1 and 1."""
    targets = _last_array(dataset)
    if targets is None:
        return dataset
    numbers = number_classes(targets, goal, source, is_checked)
    return dataset if numbers is targets else ArrayDataset(*dataset.arrays[:-1], numbers)


def number_classes(targets: Any, goal: Goal, source: str, is_checked: bool = True) -> Any:
    """The number of the class of each target, if classes are called by numbers.

    With ``is_checked`` a target that is no class of the training data is refused.
    """
    if not goal.row.is_of_one_class or not goal.classes:
        return targets
    if not all(map(is_number, goal.classes)) or targets[0].size != 1:
        return targets
    values = np.array([_value(name) for name in goal.classes])
    is_float = is_floating(targets.dtype) and goal.task == "multiclass"
    is_right = np.array_equal(values, np.arange(len(values))) and not is_float
    if is_right and not is_checked:
        return targets
    flat = np.asarray(targets).reshape(-1)
    places = np.searchsorted(values, flat).clip(max=len(values) - 1)
    wrong = values[places] != flat
    if wrong.any():
        sample = int(wrong.argmax())
        requirement = f"targets must be classes of the training data ({some_names(goal.classes)})"
        given = {"sample": sample, "target": flat[sample].item()}
        raise value_error("data", requirement, path=source, **given)
    return targets if is_right else places.astype(np.int64)


def some_names(classes: Sequence[str]) -> str:
    """The first classes, for a message."""
    return ", ".join(classes[:10]) + (", ..." if len(classes) > 10 else "")


def _shown(value: float) -> str:
    """A number as the name of its class: whole ones to their last digit."""
    return f"{value:.15g}" if isinstance(value, float) else str(int(value))


def _value(name: str) -> float | int:
    """The number that :func:`_shown` made a name of."""
    return int(name) if name.lstrip("-").isdecimal() else float(name)


def is_number(text: str) -> bool:
    """Whether a class is called by a number."""
    try:
        return _shown(_value(text)) == text
    except ValueError:
        return False


def targets_of(dataset: object) -> Any:
    """The targets of all samples, where they are known."""
    numbers = class_numbers(dataset)
    return _last_array(dataset) if numbers is None else numbers


def class_names(data: DataSpec, part: str = "train") -> list[str] | None:
    """The names of the classes in the file or folder of a part, if it has names."""
    path = Path(getattr(data, part))
    if path.is_dir():
        return ImageFolder(path).classes
    if path.suffix == ".csv":
        target = -1 if data.target is None else data.target
        return library_data.csv_classes(path, target, **data.options("delimiter", "header"))  # type: ignore[arg-type]
    return None


def class_numbers(dataset: object) -> Any:
    """The classes of all samples, or None if they are not known or the targets no classes."""
    if isinstance(dataset, ImageFolder):
        return np.array([number for _, number in dataset.samples])
    target = _last_array(dataset)
    is_class = target is not None and target.ndim == 1 and not is_floating(target.dtype)
    return target if is_class else None


def _gives_classes(dataset: Any) -> bool:
    """Whether the samples of a user's data set end with a whole number."""
    if isinstance(dataset, ArrayDataset | ImageFolder):
        return False
    sample = dataset[0]
    if not isinstance(sample, tuple | list) or len(sample) < 2:
        return False
    target = np.asarray(to_array(sample[-1], op="data"))
    return target.ndim == 0 and not is_floating(target.dtype)


def _last_array(dataset: object) -> Any:
    is_known = isinstance(dataset, ArrayDataset) and len(dataset.arrays) > 1
    return dataset.arrays[-1] if is_known else None  # type: ignore[attr-defined]


def check_targets(spec: ExperimentSpec, train: Dataset, test: Dataset) -> None:
    """Refuse targets that the loss does not take."""
    loss = spec.loss_name
    kind = _target_kind(loss, spec.loss_traits.targets, train)
    names = None if spec.data.train is None else class_names(spec.data)
    if names is not None and kind == "numbers":
        raise value_error("data", f"targets must be numbers for {loss}, not words", words=names)
    if names is not None and kind == "0 or 1" and len(names) != 2:
        raise value_error("data", f"targets must be two classes for {loss}", classes=names)
    for part, dataset in (("train", train), ("test", test)):
        targets = _last_array(dataset)
        if targets is None:
            continue
        if kind == "classes" and is_floating(targets.dtype) and targets[0].size == 1:
            raise value_error(
                "data",
                f"targets of {part} must be whole numbers (without a point) or words for "
                f"{loss}, or the loss be one of numbers, such as MSELoss",
                target=float(targets.flat[0]),
            )
        _check_values(part, spec, targets)
    numbers = class_numbers(train) if kind == "classes" else None
    if numbers is not None and len(np.unique(numbers)) < 2:
        classes = np.unique(numbers).tolist()
        raise value_error("data", "train must have at least two classes", classes=classes)


def _check_values(part: str, spec: ExperimentSpec, targets: Any) -> None:
    kind = spec.loss_traits.targets
    if kind not in ("truth", "signs"):
        return
    low, high = (0, 1) if kind == "truth" else (-1, 1)
    # Truth may be a probability too.
    between = (targets < low) | (targets > high)
    wrong = between if kind == "truth" else ~np.isin(targets, (low, high))
    if wrong.any():
        raise value_error(
            "data",
            f"targets of {part} must be {low} or {high} for {spec.loss_name}",
            target=targets[wrong].flat[0].item(),
            sample=int(np.nonzero(wrong)[0][0]),
        )


def check_labels(parts: Mapping[str, object], classes: int) -> None:
    """Refuse labels for which a model of ``classes`` classes has no output."""
    if classes == 1:
        raise value_error(
            "config",
            "a model of one output chooses no class: give it an output for each, or say "
            "loss.name='BCEWithLogitsLoss' for two classes, 'MSELoss' for numbers",
            outputs=1,
        )
    for part, dataset in parts.items():
        numbers = class_numbers(dataset)
        if numbers is not None and not (numbers.min() >= 0 and numbers.max() < classes):
            sample = int(((numbers < 0) | (numbers >= classes)).argmax())
            raise value_error(
                "data",
                f"labels of {part} must be in [0, {classes - 1}], the classes of the model",
                label=int(numbers[sample]),
                sample=sample,
            )


def check_default_loss(loss: str, output: Any, target: Any) -> None:
    """Explain the default ``loss`` if targets are single numbers and outputs are not."""
    if is_floating(target.dtype) and target.size == 1 != output.size:
        raise value_error(
            "config",
            f"no [loss] is given, so {loss} is taken for targets that are written with a point, "
            "and the model must have one output; classes are whole numbers (0, not 0.0; "
            "astype('int64')), for which CrossEntropyLoss is taken",
            outputs=output.size,
            target=float(target),
        )


def _as_floats(batch: tuple[Any, ...], _generator: Generator, column: bool) -> tuple[Any, ...]:
    """Make floats of whole numbers; a column, as a model of one output gives."""
    *others, target = batch
    if is_floating(target.dtype):
        return batch
    target = target.astype(get_default_dtype())
    return (*others, target[:, None] if column and target.ndim == 1 else target)


def _scaled(batch: tuple[Any, ...], _generator: Generator, goal: Goal) -> tuple[Any, ...]:
    """Bring targets to the scale on which they are learned; a column, where they have no axis."""
    *others, target = batch
    return (*others, goal.scaled(target.reshape(len(target), -1)))


def array_target_transforms(spec: ExperimentSpec, goal: Goal, train: Dataset) -> list[Any]:
    """The transforms of the targets of every batch. Data of a user's function keep their shape."""
    if goal.mean:
        return [partial(_scaled, goal=goal)]
    known = _last_array(train)
    is_own = _target_kind(spec.loss_name, spec.loss_traits.targets, train) == _OWN
    if goal.task == "multiclass" or is_own or (known is not None and is_floating(known.dtype)):
        return []
    return [partial(_as_floats, column=not is_function_name(spec.data.name))]
