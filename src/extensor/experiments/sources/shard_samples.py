"""Folders of shards as samples for a model: opened, looked through once, and given batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.data import ShardedDataset
from extensor.data.dataset import IndexedDataset
from extensor.data.streaming import ShardedSubset
from extensor.data.streaming.column_shards import column_names
from extensor.data.streaming.shard_files import COLUMNS, find_shards
from extensor.data.streaming.shuffle import BlockShuffle, Run
from extensor.data.table.column_statistics import divisor
from extensor.errors import value_error
from extensor.experiments.goal import Goal, TargetFacts
from extensor.experiments.sources.array_targets import is_number, number_classes
from extensor.experiments.spec import DataSpec

_ROWS = 1 << 16  # targets that are read together
_LOOKED_AT = 1 << 14  # samples at most, for means and deviations
_STRETCHES = 64  # from so many places
_BYTES = 1 << 27  # to read for means and deviations
_MOST_DISTINCT = 10**6  # values of targets that are kept; of more they are numbers

Batch = tuple[Any, ...]


def with_columns(data: DataSpec) -> DataSpec:
    """``[data]`` with the columns that are inputs: of Parquet and its kin all but the target."""
    shards, index = find_shards(data.train)
    first = next((one for one in shards if one.path.suffix.lower() in COLUMNS), None)
    if data.inputs is not None or first is None or index is not None:
        return data
    names = column_names(first.path, first.partition)
    target = data.target
    if len(names) == 1 or (target is None and {"x", "y"} <= set(names)):
        return data
    if target not in names:
        requirement = "data.target must say which column is to be learned (--target NAME)"
        given = {} if target is None else {"target": target}
        raise value_error("config", requirement, **given, path=str(first.path), columns=names)
    return data.with_entries(inputs=[name for name in names if name != target])


def named_parts(data: DataSpec) -> list[Any] | None:
    """The arrays or columns that ``[data]`` names; None for the usual ones."""
    if data.inputs is None and data.target is None:
        return None
    return [part_name(data, "inputs", "x"), part_name(data, "target", "y")]


def part_name(data: DataSpec, key: str, usual: str) -> Any:
    """The name of an array or the names of columns, as configured or the usual one."""
    name = getattr(data, key)
    return usual if name is None else name


def check_two_parts(dataset: ShardedDataset, source: str) -> None:
    """Refuse shards without a target, or with more than one."""
    if len(dataset.parts) != 2:
        requirement = "shards must have inputs and a target (data.inputs and data.target name them)"
        parts = [part.name for part in dataset.parts]
        raise value_error("data", requirement, path=source, parts=parts)


def class_numbering(names: Sequence[str] | None, goal: Goal, source: str) -> Callable[[Any], Any]:
    """From targets to the numbers of the model's classes.

    Where the data have ``names``, targets are places among them. Otherwise they are the numbers that
    the classes are called by, or if these are words, the numbers of the classes.
    """
    if not goal.row.is_of_one_class or not goal.classes:
        return lambda targets: targets
    if names is None and all(map(is_number, goal.classes)):
        return lambda targets: number_classes(targets, goal, source)
    known = {name: number for number, name in enumerate(goal.classes)}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        requirement = f"classes must be those of the training data, {list(known)[:10]}"
        raise value_error("data", requirement, path=source, **{"class": unknown[0]})
    places = np.array([known[name] for name in names or goal.classes])

    def by_name(targets: Any) -> Any:
        flat = np.asarray(targets)
        whole = flat.astype(np.int64, copy=False)
        wrong = (whole != flat) | (whole < 0) | (whole >= len(places))
        if wrong.any():
            requirement = f"labels must be whole numbers in [0, {len(places) - 1}], of the classes"
            raise value_error("data", requirement, path=source, label=flat[wrong].flat[0].item())
        return places[whole]

    return by_name


def some_inputs(train: ShardedSubset, most: int = _LOOKED_AT) -> Any:
    """Inputs of some samples to train on, from all over the shards."""
    size = max(1, sum(part.nbytes for part in train.batch(slice(0, 1))))
    count = min(len(train), most, max(1, _BYTES // size))
    length = -(-count // _STRETCHES)
    begins = np.linspace(0, len(train) - length, _STRETCHES).astype(np.int64)
    places = np.unique(begins[:, None] + np.arange(length)) if count < len(train) else slice(count)
    return train.batch(places)[0]


def first_infinite(rows: Any) -> int | None:
    """The first row that has NaN or infinity, or None."""
    if not is_floating(rows.dtype) or np.isfinite(rows).all():
        return None
    return int((~np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)).argmax())


class Survey(NamedTuple):
    """The targets of all samples: their values, mean and deviation."""

    samples: int
    shape: tuple[int, ...]
    are_floats: bool
    distinct: Any
    mean: Any
    std: Any

    @property
    def columns(self) -> int:
        """How many numbers a target has."""
        return int(np.prod(self.shape, dtype=int))

    def facts(self, classes: Sequence[str] | None, source: str) -> TargetFacts:
        """The facts that the task is chosen by; ``classes`` are the names that the shards have."""
        distinct = self.distinct[: 10**4].tolist() if classes is None else list(classes)
        where = {"path": source}
        is_words = classes is not None
        return TargetFacts(
            self.columns, self.samples, is_words, not self.are_floats, distinct, where
        )

    def scaled(self, goal: Goal) -> Goal:
        """``goal`` with the scale of the numbers that are learned."""
        std = divisor(self.std, self.mean)
        mean, deviation = (tuple(np.reshape(x, -1).tolist()) for x in (self.mean, std))
        return replace(goal, mean=mean, std=deviation)


def survey_targets(source: str, name: Any) -> Survey:
    """Look at all targets once, some at a time, and at nothing else."""
    targets = ShardedDataset(source, [name])
    part = targets.parts[0]
    distinct: Any = np.empty(0, part.dtype)
    wide = np.zeros((2, *part.shape))
    low = None  # that large numbers are measured from
    for begin in range(0, len(targets), _ROWS):
        (rows,) = targets.batch(slice(begin, begin + _ROWS))
        bad = first_infinite(rows)
        if bad is not None:
            requirement = "targets must have no NaN or infinity"
            raise value_error("data", requirement, path=source, sample=begin + bad)
        if low is None:
            low = rows[0].astype(np.float64)
        distance = rows.astype(np.float64) - low
        wide += [distance.sum(axis=0), (distance * distance).sum(axis=0)]
        if len(distinct) <= _MOST_DISTINCT:
            distinct = np.union1d(distinct, rows)
    mean = wide[0] / len(targets)
    variance = np.maximum(wide[1] / len(targets) - mean * mean, 0.0)
    scale = (mean + low, np.sqrt(variance))
    return Survey(len(targets), part.shape, is_floating(part.dtype), distinct, *scale)


@dataclass(eq=False)
class ShardSamples(IndexedDataset):
    """Samples of shards as a model and its loss take them: ``convert`` makes them so, by batches."""

    dataset: ShardedDataset | ShardedSubset
    convert: Callable[[Batch], Batch]
    source: str = ""

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def fingerprint(self) -> str:
        """Another text for other samples."""
        return self.dataset.fingerprint

    def batch(self, indices: Any) -> Batch:
        batch = self.convert(self.dataset.batch(indices))
        bad = first_infinite(batch[0])
        if bad is not None:
            place = int(self._places("batch", indices)[bad])
            if isinstance(self.dataset, ShardedSubset):
                place = self.dataset.number(place)
            requirement = "inputs must have no NaN or infinity"
            raise value_error("data", requirement, path=self.source, sample=place)
        return batch

    def read_ahead(self, runs: list[Run]) -> None:
        """Begin to read runs of samples."""
        self.dataset.read_ahead(runs)

    def shuffling(self) -> BlockShuffle:
        """The sampler that a loader takes for ``shuffle=True``."""
        return self.dataset.shuffling()
