"""Arrays of a file or of a named data set, as they are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.core.tensor import to_array
from extensor.data import ArrayDataset, Dataset, Normalize, ShardedDataset
from extensor.data.streaming import ShardedSubset
from extensor.data.table.column_statistics import divisor
from extensor.errors import arguments, type_error, value_error
from extensor.experiments.goal import Goal, choose_task, class_counts
from extensor.experiments.sources.array_configurations import (
    as_inputs,
    as_targets,
    check_samples,
    read_array_file,
    read_arrays,
)
from extensor.experiments.sources.array_targets import (
    array_target_transforms,
    class_names,
    counted_names,
    goal_of_arrays,
    is_target_scaled,
    targets_of,
    task_of_arrays,
    with_class_numbers,
)
from extensor.experiments.sources.preparation import (
    HELD,
    Preparation,
    PreparedData,
    Samples,
    ShardSamples,
    Survey,
    check_two_parts,
    class_numbering,
    divide_shards,
    input_part,
    is_sharded,
    named_parts,
    part_name,
    prepared_shards,
    some_inputs,
    survey_targets,
    with_columns,
)
from extensor.experiments.spec import DataSpec, ExperimentSpec, NamedSpec
from extensor.io.paths import existing
from extensor.train.nonfinite import first_infinite


@dataclass(eq=False)
class ArrayPreparation(Preparation):
    """The goal and the shape of a sample; the rest stands in the configuration."""

    kind = "arrays"

    goal: Goal
    shape: tuple[int, ...]  # of one input
    dtype: str
    spec: ExperimentSpec
    train: Dataset | None = None  # its targets decide on their transforms

    def arguments(self) -> dict[str, Any]:
        shape = self.shape
        sizes: dict[str, Any] = {"inputs": int(np.prod(shape)), "outputs": self.goal.outputs}
        if len(shape) == 3:
            side = shape[1] if shape[1] == shape[2] else list(shape[1:])
            sizes |= {"in_channels": shape[0], "image_size": side, "num_classes": self.goal.outputs}
        return sizes if self.goal.classes or self.goal.task == "regression" else {}

    def transforms(self) -> list[Any]:
        """The normalization. By default bytes are divided by 255."""
        normalize = self.spec.data.normalize
        if normalize is not None:
            return [Normalize(**normalize.to_dict())]
        return [Normalize(scale=255.0)] if self.dtype == "uint8" else []

    def target_transforms(self) -> list[Any]:
        if self.train is None:
            return []
        return array_target_transforms(self.spec, self.goal, self.train)

    def labelled(self, source: Any) -> Samples:
        if is_sharded(source):
            dataset: Dataset = self._open_shards(os.fspath(source))
        else:
            path = os.fspath(existing(source))
            dataset = read_array_file(path, self.spec.data)
            check_samples("inputs", dataset)
            self._check(dataset)
            dataset = with_class_numbers(dataset, self.goal, path)
        self.train = dataset if self.train is None else self.train
        return Samples(dataset)

    def unlabelled(self, source: Any) -> Samples:
        if is_sharded(source):
            shards = ShardedDataset(source, [self.spec.data.inputs or input_part(source)])
            self._check_shape(shards, str(source))
            return Samples(ShardSamples(shards, lambda batch: (as_inputs(batch[0]),)))
        dataset = _input_dataset(self.spec.data, source)
        check_samples("inputs", dataset)
        self._check(dataset)
        return Samples(dataset)

    def _check(self, dataset: Any) -> None:
        """Refuse inputs that differ in shape from the training data."""
        _check_columns(self.spec, dataset)
        if self.shape and isinstance(dataset, ArrayDataset):
            shape = dataset.arrays[0].shape[1:]
            if len(shape) != len(self.shape) and np.prod(shape) != np.prod(self.shape):
                axes = ", ".join(map(str, ("samples", *self.shape)))
                requirement = f"inputs must have the same shape as in training, ({axes})"
                raise value_error("data", requirement, shape=dataset.arrays[0].shape)

    def _check_shape(self, dataset: ShardedDataset, path: str) -> None:
        """Refuse shards whose inputs differ in shape from the training data."""
        shape = dataset.parts[0].shape
        if shape != self.shape:
            requirement = f"inputs must have the same shape as in training, {self.shape}"
            raise value_error("data", requirement, path=path, shape=shape)

    def _open_shards(self, path: str) -> ShardSamples:
        """Samples with the shape and the classes of the training data."""
        data = self.spec.data
        dataset = ShardedDataset(path, named_parts(data))
        check_two_parts(dataset, path)
        self._check_shape(dataset, path)
        numbers = class_numbering(dataset.classes, self.goal, path)
        target = part_name(data, "target", dataset.parts[1].name)
        numbers(as_targets(survey_targets(path, target).distinct))
        return self.of_shards(dataset, dataset.classes, path)

    def shard_batch(self, inputs: Any, targets: Any, numbers: Callable[[Any], Any]) -> Any:
        return as_inputs(inputs), numbers(as_targets(targets))

    def state_dict(self) -> dict[str, Any]:
        return {"goal": self.goal.state_dict(), "shape": list(self.shape), "dtype": self.dtype}

    @classmethod
    def from_state(cls, state: Any, spec: ExperimentSpec, op: str = "load") -> ArrayPreparation:
        """Restore it from the result of :meth:`state_dict`, checked."""
        stored = entries.with_keys(op, state, ("goal", "shape", "dtype"), "preparation")
        shape = stored["shape"]
        if not isinstance(shape, list) or not all(entries.is_integer(x) and x >= 0 for x in shape):
            raise value_error(op, "preparation.shape must be a list of integers from 0 on")
        dtype = arguments.text(op, "preparation.dtype", stored["dtype"])
        return cls(Goal.from_state(stored["goal"], op), tuple(shape), dtype, spec)


def prepare(spec: ExperimentSpec, learnt: ArrayPreparation | None) -> PreparedData:
    """Read the arrays, and learn their scale and their classes."""
    train, validation, test = read_arrays(spec)
    axes = train.arrays[0].ndim if isinstance(train, ArrayDataset) else None
    spec = with_normalization(spec, axes, lambda: train.arrays[0])  # type: ignore[attr-defined]
    is_open = not spec.has_model  # a chosen model may have more classes than occur
    every = _join_targets(spec.data, train, validation, test) if is_open else train
    task = task_of_arrays(spec, every)
    goal = learnt.goal if learnt else goal_of_arrays(spec, task.name, train, every)
    first = train[0]
    one = np.asarray(to_array(first[0] if isinstance(first, tuple | list) else first, op="data"))
    shape = one.shape
    source = spec.data.train or ""
    if is_open and not shape:
        requirement = "inputs must have columns, as x[:, None] has one"
        raise value_error("data", requirement, path=source, shape=train.arrays[0].shape)  # type: ignore[attr-defined]
    is_written = spec.data.kind is not None  # not so in runs of the first release
    for name, part in (("validation", validation), ("test", test)):
        if is_written and isinstance(part, ArrayDataset) and part.arrays[0].shape[1:] != shape:
            requirement = f"{name} must have samples of the shape {shape}, as those to train on"
            raise value_error("data", requirement, shape=part.arrays[0].shape[1:])

    def number(part: Any, path: str | None = None) -> Any:
        return None if part is None else with_class_numbers(part, goal, path or source, is_open)

    parts = (number(train), number(validation, spec.data.validation), number(test, spec.data.test))
    if goal.mean and learnt is None:
        spec = spec.with_data(standardize_target=True)
    preparation = ArrayPreparation(goal, shape, str(one.dtype), spec, train=parts[0])
    sizes = [0 if part is None else len(part) for part in parts]
    lines = [f"{source}: {sum(sizes):,} samples of shape {shape}"] if source else []
    lines.append(f"task {task.name}: {task.reason}")
    known = (
        targets_of(with_class_numbers(every, goal, source)) if goal.classes and is_open else None
    )
    if known is not None:
        what = "labels" if task.name == "multilabel" else "classes"
        lines.append(f"{what} {class_counts(goal, known)}")
    held = "" if validation is None else f"{sizes[1]:,} for validation, "
    lines.append(f"divided: {sizes[0]:,} to train on, {held}{sizes[2]:,} for the test")
    paths = getattr(test, "paths", None)
    names = None if paths is None else list(map(str, paths))
    return PreparedData(spec, preparation, *parts, lines, names, targets_of(parts[0]))


def prepare_shards(spec: ExperimentSpec, learnt: ArrayPreparation | None) -> PreparedData:
    """Rows of numbers, such as those of a table, or arrays of any shape."""
    are_all_columns = spec.data.inputs is None
    spec = spec.with_entries(data=with_columns(spec.data))
    data = spec.data
    source = str(data.train)
    target, inputs = part_name(data, "target", "y"), part_name(data, "inputs", "x")
    if target == inputs or (isinstance(inputs, list) and target in inputs):
        requirement = "data.target must not be one of data.inputs"
        raise value_error("config", requirement, target=target)
    dataset = ShardedDataset(source, named_parts(data))
    if are_all_columns:
        dataset.check_columns()
    check_two_parts(dataset, source)
    if not dataset.parts[0].shape:
        requirement = "inputs must have columns, as x[:, None] has one"
        raise value_error("data", requirement, path=source, shape=(len(dataset),))
    survey = survey_targets(source, part_name(data, "target", dataset.parts[1].name))
    task = choose_task(survey.facts(dataset.classes, source), spec)
    parts = divide_shards(spec, dataset)
    shape, dtype = dataset.parts[0].shape, str(dataset.parts[0].dtype)
    if learnt is not None:
        goal = learnt.goal
    else:
        goal = _array_goal(spec, task.name, survey, dataset)
        spec = with_normalization(spec, 1 + len(shape), lambda: _finite_inputs(parts[0], source))
        if goal.mean:
            spec = spec.with_data(standardize_target=True)
    preparation = ArrayPreparation(goal, shape, dtype, spec)
    # Targets that are no classes are refused before anything begins.
    class_numbering(dataset.classes, goal, source)(as_targets(survey.distinct))
    preparation.train = preparation.of_shards(parts[0], dataset.classes)
    return prepared_shards(spec, preparation, dataset, parts, task)


def _array_goal(spec: ExperimentSpec, task: str, survey: Survey, dataset: ShardedDataset) -> Goal:
    if task == "regression":
        is_scaled = is_target_scaled(spec, spec.is_of_any_scale, "for MSELoss or L1Loss")
        return survey.scaled(Goal(task)) if is_scaled else Goal(task)
    names = dataset.classes
    if names is None and task == "multilabel":
        names = [str(number) for number in range(survey.columns)]
    if names is None:
        names = counted_names(survey.distinct, task, spec.has_model)
    return Goal(task, classes=tuple(names), scores=spec.loss_traits.scores)


def _finite_inputs(train: ShardedSubset, source: str) -> Any:
    rows = some_inputs(train).astype(np.float64)
    if first_infinite(rows) is not None:
        raise value_error("data", "inputs must have no NaN or infinity", path=source)
    return rows


def with_normalization(
    spec: ExperimentSpec, axes: int | None, rows: Callable[[], Any]
) -> ExperimentSpec:
    """Replace ``standardize`` in ``spec`` with the means and deviations of these data.

    A trained model then works without its training data. By default columns and channels are
    standardized if no model is chosen. ``axes`` is the number of axes of the inputs, or None if they
    are not arrays. ``rows`` reads the inputs to learn from.
    """
    data = spec.data
    is_open = data.standardize is None and data.normalize is None and not spec.has_model
    if not (axes in (2, 4) if is_open else data.standardize):
        return spec
    if data.normalize is not None or axes is None:
        requirement = "data.standardize needs arrays, and no data.normalize beside it"
        raise value_error("config", requirement, standardize=True)
    spec = spec.with_entries(data=data.without("standardize"))
    return spec.with_data(normalize=channel_scale(rows()))


def channel_scale(inputs: Any) -> dict[str, list[float]]:
    """``[data.normalize]`` for the columns or channels of ``inputs``, along axis 1."""
    axes = tuple(axis for axis in range(inputs.ndim) if axis != 1)
    mean = inputs.mean(axis=axes, dtype=np.float64)
    deviation = inputs.std(axis=axes, dtype=np.float64)
    std = divisor(deviation, mean, inputs.min(axis=axes), inputs.max(axis=axes))
    return {"mean": mean.tolist(), "std": std.tolist()}


def preparation_of_first_release(spec: ExperimentSpec) -> ArrayPreparation:
    """The preparation of a run of version 0.1.0, from its configuration, as its checkpoints have none."""
    names: list[str] = []
    if spec.data.train is not None:
        try:
            names = class_names(spec.data) or []
        except (OSError, ValueError):
            names = []  # the data are not where they were
    bare = ExperimentSpec(loss=NamedSpec({"name": spec.loss_name}))
    goal = Goal(task_of_arrays(bare, None).name, classes=tuple(names))
    return ArrayPreparation(goal, (), "float32", spec)


def _join_targets(data: DataSpec, *parts: Any) -> Any:
    """The targets of all parts that come from one file: a rare class may be in any of them."""
    paths = (None, *(getattr(data, name) for name in HELD))
    arrays = [
        part.arrays[-1]
        for part, path in zip(parts, paths, strict=True)
        if path is None and isinstance(part, ArrayDataset) and len(part.arrays) > 1
    ]
    if not arrays:
        return parts[0]
    targets = np.concatenate(arrays)
    return ArrayDataset(targets, targets)


def _input_dataset(data: DataSpec, inputs: Any) -> Dataset:
    if isinstance(inputs, str | os.PathLike):
        return read_array_file(os.fspath(inputs), data, with_target=False)
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


def _check_columns(spec: ExperimentSpec, inputs: Any) -> None:
    """Refuse a table of other columns than the model was trained with, where they are known."""
    table = inputs.arrays[0] if isinstance(inputs, ArrayDataset) else None
    if table is None or table.ndim != 2:
        return
    mean = None if spec.data.normalize is None else spec.data.normalize.mean
    model = spec.model_entries
    sizes = model.get("sizes") or [model.get("inputs")] if model.get("name") == "mlp" else [None]
    columns = len(mean) if isinstance(mean, list) else sizes[0] or table.shape[1]
    if table.shape[1] != columns:
        requirement = f"inputs must have {columns} columns, as in training"
        hint = " (the targets are none of them)" if table.shape[1] == columns + 1 else ""
        raise value_error("data", requirement + hint, columns=table.shape[1])
