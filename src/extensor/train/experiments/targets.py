"""What targets in arrays are: the loss says whether whole numbers are classes, numbers, or truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from extensor import data
from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.core.tensor import to_array
from extensor.data import ArrayDataset, Dataset, ImageFolder
from extensor.errors import value_error
from extensor.random.generator import Generator
from extensor.train.experiments.config import Config, has_model
from extensor.train.experiments.goal import Goal
from extensor.train.experiments.task import (
    OF_CLASSES,
    OF_NUMBERS,
    OF_TRUTH,
    decided,
    is_of_any_scale,
    loss_name,
    seen_in,
)

_ALLOWED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(OF_TRUTH, (0, 1)),
    "HingeLoss": (-1, 1),
}

_MOST_CLASSES = 10**6  # that a model can be asked for
CLASSES, NUMBERS, TRUTH, OWN = "classes", "numbers", "0 or 1", "as they are"


def kind_of(config: Config, train: object) -> str:
    """What the targets are: by the loss if one is given, otherwise by themselves."""
    loss = loss_name(config)
    if loss in OF_CLASSES:
        return CLASSES
    if loss in OF_NUMBERS:
        return NUMBERS
    if loss in OF_TRUTH:
        return TRUTH
    if loss:
        return OWN
    return CLASSES if class_numbers(train) is not None or _gives_classes(train) else NUMBERS


def task_of(config: Config, train: object) -> tuple[str, str]:
    """The task and why it is this one.

    Where somebody has chosen a model, and neither a loss nor a task, whole numbers are classes, each
    with an output of its own.
    """
    known = None if train is None else _array(train)
    if known is not None and ("task" in config["data"] or not has_model(config)):
        where = {"path": config["data"]["train"]} if "train" in config["data"] else {}
        return tuple(decided(seen_in(known, **where), config))  # type: ignore[return-value]
    kind = kind_of(config, train)
    kind = kind if kind != OWN else kind_of({}, train)
    several = known is not None and known.ndim > 1 and known[0].size > 1
    task = {CLASSES: "multiclass", TRUTH: "multilabel" if several else "binary"}.get(
        kind, "regression"
    )
    return task, f"targets {kind_of(config, train)}"


def goal_of(config: Config, task: str, train: Dataset, every: Dataset | None = None) -> Goal:
    """What the targets of ``train`` stand for; ``every`` has all classes that occur."""
    scores = "probabilities" if loss_name(config) == "BCELoss" else "logits"
    known = targets_of(train)
    if task == "regression":
        goal = Goal(task)
        asked = config["data"].get("standardize_target")
        possible = known is not None and is_of_any_scale(config)
        if asked and not possible:
            requirement = "data.standardize_target is for arrays, and for MSELoss or L1Loss"
            raise value_error("config", requirement, loss=loss_name(config))
        if not possible or not (not has_model(config) if asked is None else asked):
            return goal
        return goal.learned_scale(np.asarray(known).reshape(len(known), -1))
    table = config["data"]
    names = (
        class_names(table["train"], table) if "train" in table else getattr(train, "classes", None)
    )
    if names is None and known is not None:
        names = counted_names(
            targets_of(train if every is None else every), task, has_model(config)
        )
    return Goal(task, classes=tuple(names or ()), scores=scores)


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


def numbered(dataset: Any, goal: Goal, source: str, is_checked: bool = True) -> Any:
    """``dataset`` with the numbers of classes for targets that are other numbers, such as -1 and 1.

    With ``is_checked`` a target that is no class of the training data is refused.
    """
    targets = _array(dataset)
    if goal.task not in ("binary", "multiclass") or targets is None or not goal.classes:
        return dataset
    if not all(map(is_number, goal.classes)) or targets[0].size != 1:
        return dataset
    values = np.array([_value(name) for name in goal.classes])
    is_float = is_floating(targets.dtype) and goal.task == "multiclass"
    is_right = np.array_equal(values, np.arange(len(values))) and not is_float
    if is_right and not is_checked:
        return dataset
    flat = np.asarray(targets).reshape(-1)
    places = np.searchsorted(values, flat).clip(max=len(values) - 1)
    wrong = values[places] != flat
    if wrong.any():
        sample = int(wrong.argmax())
        shown = ", ".join(goal.classes[:10]) + (", ..." if len(values) > 10 else "")
        requirement = f"targets must be classes of the training data ({shown})"
        raise value_error(
            "data", requirement, path=source, sample=sample, target=flat[sample].item()
        )
    if is_right:
        return dataset
    return ArrayDataset(*dataset.arrays[:-1], places.astype(np.int64))


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
    return _array(dataset) if numbers is None else numbers


def class_names(path: str, table: Config) -> list[str] | None:
    """The names of the classes in a file or folder, if it has names."""
    if Path(path).is_dir():
        return ImageFolder(path).classes
    if Path(path).suffix == ".csv":
        return data.csv_classes(path, table.get("target", -1), **table_options(table))
    return None


def table_options(table: Config) -> dict[str, Any]:
    """What ``[data]`` says of how a table is written."""
    return {key: table[key] for key in ("delimiter", "header") if key in table}


def class_numbers(dataset: object) -> Any:
    """The classes of all samples, or None if they are not known or the targets no classes."""
    if isinstance(dataset, ImageFolder):
        return np.array([number for _, number in dataset.samples])
    if not isinstance(dataset, ArrayDataset) or len(dataset.arrays) < 2:
        return None
    target = dataset.arrays[-1]
    return target if target.ndim == 1 and not is_floating(target.dtype) else None


def _gives_classes(dataset: Any) -> bool:
    """Whether the samples of a data set of the user's own end with a whole number."""
    if isinstance(dataset, ArrayDataset | ImageFolder):
        return False
    sample = dataset[0]
    if not isinstance(sample, tuple | list) or len(sample) < 2:
        return False
    target = np.asarray(to_array(sample[-1], op="data"))
    return target.ndim == 0 and not is_floating(target.dtype)


def check_chosen(loss: str, output: Any, target: Any) -> None:
    """Say why ``loss`` was chosen, if the model's outputs are not one number as the targets are."""
    if is_floating(target.dtype) and target.size == 1 != output.size:
        raise value_error(
            "config",
            f"no [loss] is given, so {loss} is taken for targets that are written with a point, "
            "and the model must have one output; classes are whole numbers (0, not 0.0; "
            "astype('int64')), for which CrossEntropyLoss is taken",
            outputs=output.size,
            target=float(target),
        )


def check_targets(config: Config, train: Dataset, test: Dataset) -> None:
    """Refuse targets that are not what the loss takes."""
    kind, loss = kind_of(config, train), loss_name(config)
    table = config["data"]
    names = class_names(table["train"], table) if "train" in table else None
    if names is not None and kind == NUMBERS:
        raise value_error("data", f"targets must be numbers for {loss}, not words", words=names)
    if names is not None and kind == TRUTH and len(names) != 2:
        raise value_error("data", f"targets must be two classes for {loss}", classes=names)
    for part, dataset in (("train", train), ("test", test)):
        targets = _array(dataset)
        if targets is None:
            continue
        if kind == CLASSES and is_floating(targets.dtype) and targets[0].size == 1:
            raise value_error(
                "data",
                f"targets of {part} must be whole numbers (without a point) or words for "
                f"{loss}, or the loss be one of numbers, such as MSELoss",
                target=float(targets.flat[0]),
            )
        if loss in _ALLOWED:
            _check_values(part, loss, targets, _ALLOWED[loss])
    numbers = class_numbers(train) if kind == CLASSES else None
    if numbers is not None and len(np.unique(numbers)) < 2:
        found = np.unique(numbers).tolist()
        raise value_error("data", "train must have at least two classes", classes=found)


def _array(dataset: object) -> Any:
    is_known = isinstance(dataset, ArrayDataset) and len(dataset.arrays) > 1
    return dataset.arrays[-1] if is_known else None  # type: ignore[attr-defined]


def _check_values(part: str, loss: str, targets: Any, allowed: tuple[int, ...]) -> None:
    low, high = allowed
    # Truth may be a probability too.
    wrong = (targets < low) | (targets > high) if loss in OF_TRUTH else ~np.isin(targets, allowed)
    if wrong.any():
        raise value_error(
            "data",
            f"targets of {part} must be {low} or {high} for {loss}",
            target=targets[wrong].flat[0].item(),
            sample=int(np.nonzero(wrong)[0][0]),
        )


def check_scores(loss: str, model: str) -> None:
    """Refuse a loss of probabilities for a model of the library, all of which give scores."""
    if loss in _OF_SCORES and ":" not in model:
        kind, instead = _OF_SCORES[loss]
        requirement = f"{loss} takes {kind}, and {model} gives scores, which {instead} takes"
        raise value_error("config", requirement, loss=loss)


_OF_SCORES = {
    "BCELoss": ("probabilities", "BCEWithLogitsLoss"),
    "NLLLoss": ("logarithms of probabilities", "CrossEntropyLoss"),
}


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


class AsNumbers:
    """Makes floats of targets that are whole numbers; a column, as a model of one output gives."""

    def __init__(self, column: bool) -> None:
        self.column = column

    def __call__(self, batch: tuple[Any, ...], generator: Generator) -> tuple[Any, ...]:
        *others, target = batch
        if is_floating(target.dtype):
            return batch
        target = target.astype(get_default_dtype())
        return (*others, target[:, None] if self.column and target.ndim == 1 else target)


class Scaled:
    """Brings targets to the scale on which they are learned; a column, where they have no axis."""

    def __init__(self, goal: Goal) -> None:
        self.goal = goal

    def __call__(self, batch: tuple[Any, ...], generator: Generator) -> tuple[Any, ...]:
        *others, target = batch
        return (*others, self.goal.scaled(target.reshape(len(target), -1)))


def target_transforms(config: Config, goal: Goal, train: Dataset) -> list[Any]:
    """What is done with the targets of every batch, before chance changes it.

    Those of a function of the user's own keep their shape.
    """
    if goal.mean:
        return [Scaled(goal)]
    known = _array(train)
    is_class = goal.task == "multiclass" or kind_of(config, train) == OWN
    if is_class or (known is not None and is_floating(known.dtype)):
        return []
    return [AsNumbers(column=":" not in str(config["data"].get("name", "")))]
