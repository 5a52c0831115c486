"""Arrays: those of a file or of a data set with a name, as they are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.core.tensor import to_array
from extensor.data import ArrayDataset, Dataset, ShardedDataset
from extensor.data.streaming import ShardedSubset
from extensor.errors import arguments, type_error, value_error
from extensor.io.paths import existing
from extensor.train.experiments.config import Config, has_model
from extensor.train.experiments.data import (
    as_inputs,
    as_targets,
    check_samples,
    input_transforms,
    read_data,
    read_file,
    standardized,
)
from extensor.train.experiments.goal import Goal, counted
from extensor.train.experiments.kinds.preparation import Preparation, Prepared, Samples
from extensor.train.experiments.kinds.sharded import (
    ShardSamples,
    check_two_parts,
    chosen_parts,
    input_part,
    is_sharded,
    numbering,
    surveyed,
    target_part,
)
from extensor.train.experiments.targets import (
    class_names,
    goal_of,
    numbered,
    target_transforms,
    targets_of,
    task_of,
)


class ArrayPreparation(Preparation):
    """What the targets stand for; the rest stands in the configuration, under ``normalize``."""

    kind = "arrays"

    def __init__(self, config: Config, goal: Goal, sample: Any) -> None:
        self.config = config
        self.goal = goal
        self.sample = sample  # the shape and dtype of one input
        self.train: Dataset | None = None  # whose targets decide what is done with them

    def arguments(self) -> dict[str, Any]:
        shape = self.sample[0]
        sizes: dict[str, Any] = {"inputs": int(np.prod(shape)), "outputs": self.goal.outputs}
        if len(shape) == 3:
            side = shape[1] if shape[1] == shape[2] else list(shape[1:])
            sizes |= {"in_channels": shape[0], "image_size": side, "num_classes": self.goal.outputs}
        return sizes if self.goal.classes or self.goal.task == "regression" else {}

    def transforms(self) -> list[Any]:
        return input_transforms(self.config, self.sample[1])

    def target_transforms(self) -> list[Any]:
        return [] if self.train is None else target_transforms(self.config, self.goal, self.train)

    def labelled(self, source: Any) -> Samples:
        if is_sharded(source):
            samples = self._in_shards(os.fspath(source))
            self.train = samples if self.train is None else self.train
            return Samples(samples)
        path = os.fspath(existing(source))
        dataset = read_file(path, self.config["data"])
        check_samples("inputs", dataset)
        self._check(dataset)
        dataset = numbered(dataset, self.goal, path)
        self.train = dataset if self.train is None else self.train
        return Samples(dataset)

    def unlabelled(self, source: Any) -> Samples:
        if is_sharded(source):
            shards = ShardedDataset(
                source, [self.config["data"].get("inputs") or input_part(source)]
            )
            self._check_shape(shards, str(source))
            return Samples(ShardSamples(shards, lambda batch: (as_inputs(batch[0]),)))
        dataset = _dataset(self.config, source)
        check_samples("inputs", dataset)
        self._check(dataset)
        return Samples(dataset)

    def _check(self, dataset: Any) -> None:
        """Refuse inputs that are not like those that the model was trained with."""
        _check_columns(self.config, dataset)
        if self.sample[0] and isinstance(dataset, ArrayDataset):
            shape, found = self.sample[0], dataset.arrays[0].shape[1:]
            if len(found) != len(shape) and np.prod(found) != np.prod(shape):
                axes = ", ".join(map(str, ("samples", *shape)))
                requirement = f"inputs must have the shape of those trained with, ({axes})"
                raise value_error("data", requirement, shape=dataset.arrays[0].shape)

    def _check_shape(self, dataset: ShardedDataset, path: str) -> None:
        """Refuse shards of other inputs than those that the model was trained with."""
        shape = dataset.parts[0].shape
        if shape != self.sample[0]:
            requirement = f"inputs must have the shape of those trained with, {self.sample[0]}"
            raise value_error("data", requirement, path=path, shape=shape)

    def _in_shards(self, path: str) -> ShardSamples:
        """Samples that have the shape and the classes of those to train on."""
        table = self.config["data"]
        dataset = ShardedDataset(path, chosen_parts(table))
        check_two_parts(dataset, path)
        self._check_shape(dataset, path)
        numbers = numbering(dataset.classes, self.goal, path)
        numbers(as_targets(surveyed(path, target_part(dataset, table)).distinct))
        return self.of_shards(dataset, dataset.classes, path)

    def of_shards(
        self,
        dataset: ShardedDataset | ShardedSubset,
        names: list[str] | None = None,
        source: str = "",
    ) -> ShardSamples:
        """Inputs and targets as the model and its loss take them; ``names`` are those of classes."""
        numbers = numbering(names, self.goal, source)
        return ShardSamples(
            dataset, lambda batch: (as_inputs(batch[0]), numbers(as_targets(batch[1]))), source
        )

    def state_dict(self) -> dict[str, Any]:
        shape, dtype = self.sample
        return {"goal": self.goal.state_dict(), "shape": list(shape), "dtype": dtype}

    @classmethod
    def from_state(cls, state: Any, config: Config, op: str = "load") -> ArrayPreparation:
        """What :meth:`state_dict` gave, checked."""
        given = entries.with_keys(op, state, ("goal", "shape", "dtype"), "preparation")
        shape = given["shape"]
        if not isinstance(shape, list) or not all(entries.is_integer(x) and x >= 0 for x in shape):
            raise value_error(op, "preparation.shape must be a list of integers from 0 on")
        dtype = arguments.text(op, "preparation.dtype", given["dtype"])
        return cls(config, Goal.from_state(given["goal"], op), (tuple(shape), dtype))


def prepare(config: Config, state: Any = None) -> Prepared:
    """Read the arrays, and learn what the configuration asks for."""
    train, validation, test = read_data(config)
    config = standardized(_scaled_as_usual(config, train), train)
    is_own = not has_model(config)  # otherwise there may be more classes than those that occur
    every = _together(config, train, validation, test) if is_own else train
    task, reason = task_of(config, every)
    if state is not None:
        goal = ArrayPreparation.from_state(state, config).goal
    else:
        goal = goal_of(config, task, train, every)
    sample = _sample(train)
    source = config["data"].get("train", "")
    if is_own and not sample[0]:
        requirement = "inputs must have columns, as x[:, None] has one"
        raise value_error("data", requirement, path=source, shape=train.arrays[0].shape)  # type: ignore[attr-defined]
    if "kind" in config["data"]:
        _check_alike(sample, {"validation": validation, "test": test})
    places = {name: config["data"].get(name, source) for name in ("validation", "test")}
    train = numbered(train, goal, source, is_own)
    test = numbered(test, goal, places["test"], is_own)
    if validation is not None:
        validation = numbered(validation, goal, places["validation"], is_own)
    if goal.mean and state is None:
        config = {**config, "data": {**config["data"], "standardize_target": True}}
    made = ArrayPreparation(config, goal, sample)
    made.train = train
    sizes = [f"{len(train):,} to train on"]
    sizes += [] if validation is None else [f"{len(validation):,} for validation"]
    count = len(train) + sum(len(x) for x in (validation, test) if x is not None)
    lines = [f"{source}: {count:,} samples of shape {sample[0]}"] if source else []
    lines.append(f"task {task}: {reason}")
    known = targets_of(numbered(every, goal, source)) if is_own and goal.classes else None
    if known is not None:
        lines.append(f"{'labels' if task == 'multilabel' else 'classes'} {counted(goal, known)}")
    lines.append(f"divided: {', '.join(sizes)}, {len(test):,} for the test")
    names = getattr(test, "paths", None)
    return Prepared(
        config, made, train, validation, test, lines,
        None if names is None else [str(path) for path in names], targets_of(train),
    )  # fmt: skip


def _scaled_as_usual(config: Config, train: Any) -> Config:
    """``config``, which standardizes columns and channels if it leaves the model open."""
    data = config["data"]
    is_open = not has_model(config) and not {"standardize", "normalize"} & data.keys()
    if not is_open or not isinstance(train, ArrayDataset) or train.arrays[0].ndim not in (2, 4):
        return config
    return {**config, "data": {**data, "standardize": True}}


def of_an_earlier_run(config: Config) -> ArrayPreparation:
    """That of a run of version 0.1.0, which says nothing of it: the configuration has it all."""
    loss = str(config.get("loss", {}).get("name", ""))
    names: list[str] = []
    if "train" in config["data"]:
        try:
            names = class_names(config["data"]["train"], config["data"]) or []
        except (OSError, ValueError):
            names = []  # the data are not where they were
    task, _ = task_of({"loss": {"name": loss}, "data": {}}, None)
    return ArrayPreparation(config, Goal(task, classes=tuple(names)), ((), "float32"))


def _together(config: Config, *parts: Any) -> Any:
    """The targets of all parts that come from one file: a rare class may be in any of them."""
    named = (None, *(config["data"].get(name) for name in ("validation", "test")))
    found = [
        part.arrays[-1]
        for part, name in zip(parts, named, strict=True)
        if name is None and isinstance(part, ArrayDataset) and len(part.arrays) > 1
    ]
    targets = np.concatenate(found) if found else None
    return parts[0] if targets is None else ArrayDataset(targets, targets)


def _check_alike(sample: Any, parts: Mapping[str, Any]) -> None:
    """Refuse samples of another shape than those to train on."""
    for name, part in parts.items():
        if isinstance(part, ArrayDataset) and part.arrays[0].shape[1:] != sample[0]:
            requirement = f"{name} must have samples of the shape {sample[0]}, as those to train on"
            raise value_error("data", requirement, shape=part.arrays[0].shape[1:])


def _sample(train: Any) -> tuple[tuple[int, ...], str]:
    first = train[0]
    one = np.asarray(to_array(first[0] if isinstance(first, tuple | list) else first, op="data"))
    return one.shape, str(one.dtype)


def _dataset(config: Config, inputs: Any) -> Dataset:
    if isinstance(inputs, str | os.PathLike):
        return read_file(os.fspath(inputs), config["data"], with_target=False)
    if hasattr(inputs, "__array__") or isinstance(inputs, list):
        array = to_array(inputs, op="predict")
        if array.ndim == 0:
            raise value_error("predict", "inputs must have an axis of samples", inputs_shape=())
        return ArrayDataset(as_inputs(array))
    has_items = hasattr(inputs, "__len__") and hasattr(inputs, "__getitem__")
    if not has_items or isinstance(inputs, type | bytes | Mapping | tuple):
        requirement = "inputs must be an array, a tensor, a data set or a file"
        raise type_error("predict", requirement, inputs=arguments.briefly(inputs))
    return inputs  # type: ignore[no-any-return]


def _check_columns(config: Config, inputs: Any) -> None:
    """Refuse a table of other columns than the model was trained with, where they are known."""
    table = inputs.arrays[0] if isinstance(inputs, ArrayDataset) else None
    if table is None or table.ndim != 2:
        return
    mean = config["data"].get("normalize", {}).get("mean")
    model = config.get("model", {})
    sizes = model.get("sizes") or [model.get("inputs")] if model.get("name") == "mlp" else [None]
    columns = len(mean) if isinstance(mean, list) else sizes[0] or table.shape[1]
    if table.shape[1] != columns:
        requirement = f"inputs must have {columns} columns, those that the model was trained with"
        hint = " (the targets are none of them)" if table.shape[1] == columns + 1 else ""
        raise value_error("data", requirement + hint, columns=table.shape[1])
