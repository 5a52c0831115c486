"""Folders of shards as samples for a model: opened, looked through once, and given batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.data import ArrayDataset, ShardedDataset
from extensor.data.pictures import is_picture
from extensor.data.streaming import ShardedSubset
from extensor.data.streaming.columns import column_names
from extensor.data.streaming.huggingface import is_dataset_dict, split_folders
from extensor.data.streaming.index import INDEX, read_index
from extensor.data.streaming.indexed import Indexed
from extensor.data.streaming.members import PICTURE
from extensor.data.streaming.shard_files import (
    COLUMNS,
    ENDINGS,
    find_shards,
    is_glob,
    shards_below,
)
from extensor.data.streaming.shuffle import BlockShuffle, Run
from extensor.errors import value_error
from extensor.io.paths import is_there
from extensor.train.experiments.config import Config
from extensor.train.experiments.goal import Goal
from extensor.train.experiments.targets import is_number, numbered

_ROWS = 1 << 16  # targets that are looked at together
_MOST_DISTINCT = 10**6  # values of targets that are kept; of more they are numbers
_SPLITS = ("train", "validation", "test")

Batch = tuple[Any, ...]


def sharded_kind(path: Path) -> str | None:
    """The kind of data in a folder of shards, or that a pattern matches; None if it is neither."""
    if is_glob(path):
        return _kind_of_shards(path, [one.path for one in find_shards(path)[0]])
    if not is_there(path) or not path.is_dir():
        return None
    if (path / INDEX).is_file():
        index = read_index(path)
        return None if index is None else index.kind
    try:
        inside = [entry for entry in path.iterdir() if entry.name[0] != "."]
        files = [entry for entry in inside if not entry.is_dir()]
        shards = [entry for entry in files if entry.suffix.lower() in ENDINGS]
        if any(entry.is_dir() for entry in inside):
            # Folders are those of classes if they have pictures, whatever lies beside them.
            if any(is_picture(entry) for entry in path.rglob("*")):
                return None
            shards += shards_below(path)
    except OSError:
        return None  # which is said when it is read
    return _kind_of_shards(path, shards) if shards else None


def _kind_of_shards(source: Path, shards: Sequence[Path]) -> str:
    if not any(path.suffix.lower() == ".tar" for path in shards):
        return "arrays"
    try:
        return "pictures" if input_part(source) == PICTURE else "arrays"
    except ValueError:
        return "arrays"  # of which data.inputs and data.target say which members they are


def is_sharded(source: Any) -> bool:
    """Whether ``source`` is a folder of shards, or a pattern for some."""
    if not isinstance(source, str | os.PathLike):
        return False
    return sharded_kind(Path(source)) is not None


def shard_paths(source: Any) -> set[str]:
    """The real paths of the shards in a folder or that a pattern matches; none if it is neither."""
    if not is_sharded(source):
        return set()
    files = [file for one in find_shards(source)[0] for file in one.files.values()]
    return {os.path.realpath(file) for file in files}


def with_splits(data: Config) -> Config:
    """``[data]`` with the splits of a Hugging Face ``DatasetDict`` in the place of its folder."""
    folder = Path(data["train"])
    if not is_dataset_dict(folder):
        return data
    splits = split_folders(folder)
    others = [name for name in splits if name not in _SPLITS]
    if "train" not in splits or others:
        requirement = f"splits must be called {', '.join(_SPLITS)} ({folder}/NAME takes one alone)"
        raise value_error("data", requirement, path=str(folder), splits=list(splits))
    return {
        **{name: str(path) for name, path in splits.items()},
        **data,
        "train": str(splits["train"]),
    }


def with_columns(table: Config) -> Config:
    """``[data]`` with the columns that are inputs: of Parquet and its kin all but the target."""
    found, index = find_shards(table["train"])
    first = next((one for one in found if one.path.suffix.lower() in COLUMNS), None)
    if "inputs" in table or first is None or index is not None:
        return table
    names = column_names(first.path, first.partition)
    target = table.get("target")
    if len(names) == 1 or (target is None and {"x", "y"} <= set(names)):
        return table
    if target not in names:
        requirement = "data.target must say which column is to be learned (--target NAME)"
        given = {} if target is None else {"target": target}
        raise value_error("config", requirement, **given, path=str(first.path), columns=names)
    return {**table, "inputs": [name for name in names if name != target]}


def chosen_parts(table: Config) -> list[Any] | None:
    """The arrays or columns that ``[data]`` names; None for the usual ones."""
    if not {"inputs", "target"} & table.keys():
        return None
    return [table.get("inputs", "x"), table.get("target", "y")]


def target_part(dataset: ShardedDataset, table: Config) -> Any:
    """The name of the part that is to be learned."""
    return table.get("target", dataset.parts[1].name)


def check_two_parts(dataset: ShardedDataset, source: str) -> None:
    """Refuse shards without a target, or with more than one."""
    if len(dataset.parts) != 2:
        requirement = "shards must have inputs and a target (data.inputs and data.target name them)"
        found = [part.name for part in dataset.parts]
        raise value_error("data", requirement, path=source, parts=found)


def input_part(source: Any) -> str:
    """The name of the part that a model takes, if the configuration does not say it."""
    found, index = find_shards(source)
    if index is not None:
        return index.parts[0][0]
    archives = [one.path for one in found if one.path.suffix.lower() == ".tar"]
    return ShardedDataset(archives[:1], size=1).parts[0].name if archives else "x"


def numbering(names: Sequence[str] | None, goal: Goal, source: str) -> Callable[[Any], Any]:
    """From targets to the numbers of the model's classes.

    Where the data have ``names``, targets are places among them. Otherwise they are the numbers that
    the classes are called by, or if these are words, the numbers of the classes.
    """
    if goal.task not in ("binary", "multiclass") or not goal.classes:
        return lambda targets: targets
    if names is None and all(map(is_number, goal.classes)):
        return lambda targets: numbered(ArrayDataset(targets, targets), goal, source).arrays[-1]
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


class Survey(NamedTuple):
    """What there is among the targets of all samples: which values, and their mean and deviation."""

    samples: int
    shape: tuple[int, ...]
    are_floats: bool
    distinct: Any
    mean: Any
    std: Any


def surveyed(source: str, name: Any) -> Survey:
    """Look at all targets once, some at a time, and at nothing else."""
    targets = ShardedDataset(source, [name])
    part = targets.parts[0]
    distinct: Any = np.empty(0, part.dtype)
    wide = np.zeros((2, *part.shape))
    low = None  # that large numbers are measured from
    for begin in range(0, len(targets), _ROWS):
        (rows,) = targets.batch(slice(begin, begin + _ROWS))
        if is_floating(rows.dtype) and not np.isfinite(rows).all():
            bad = ~np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)
            requirement = "targets must have no NaN or infinity"
            sample = begin + int(bad.argmax())
            raise value_error("data", requirement, path=source, sample=sample)
        if low is None:
            low = rows[0].astype(np.float64)
        distance = rows.astype(np.float64) - low
        wide += [distance.sum(axis=0), (distance * distance).sum(axis=0)]
        if len(distinct) <= _MOST_DISTINCT:
            distinct = np.union1d(distinct, rows)
    mean = wide[0] / len(targets)
    variance = np.maximum(wide[1] / len(targets) - mean * mean, 0.0)
    return Survey(
        len(targets), part.shape, is_floating(part.dtype), distinct, mean + low, np.sqrt(variance)
    )


class ShardSamples(Indexed):
    """Samples of shards as a model and its loss take them: ``convert`` makes them so, by batches."""

    op = "ShardSamples"

    def __init__(
        self,
        dataset: ShardedDataset | ShardedSubset,
        convert: Callable[[Batch], Batch],
        source: str = "",
    ) -> None:
        self.dataset = dataset
        self.convert = convert
        self.source = source

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def fingerprint(self) -> str:
        """Another text for other samples."""
        return self.dataset.fingerprint

    def batch(self, indices: Any) -> Batch:
        batch = self.convert(self.dataset.batch(indices))
        if is_floating(batch[0].dtype) and not np.isfinite(batch[0]).all():
            bad = ~np.isfinite(batch[0].reshape(len(batch[0]), -1)).all(axis=1)
            place = int(self._wanted(indices)[bad.argmax()])
            number = (
                self.dataset.number(place) if isinstance(self.dataset, ShardedSubset) else place
            )
            requirement = "inputs must have no NaN or infinity"
            raise value_error("data", requirement, path=self.source, sample=number)
        return batch

    def read_ahead(self, runs: list[Run]) -> None:
        """Begin to read runs of samples."""
        self.dataset.read_ahead(runs)

    def shuffling(self) -> BlockShuffle:
        """The sampler that a loader takes for ``shuffle=True``."""
        return self.dataset.shuffling()
