"""Folders of shards as samples for a model: opened, looked through once, and given batch by batch."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.data import ShardedDataset
from extensor.data.streaming import ShardedSubset
from extensor.data.streaming.index import INDEX, read_index
from extensor.data.streaming.indexed import Indexed
from extensor.data.streaming.opening import ENDINGS
from extensor.data.streaming.shuffle import BlockShuffle, Run
from extensor.errors import value_error
from extensor.train.experiments.config import Config

_ROWS = 1 << 16  # targets that are looked at together
_MOST_DISTINCT = 10**6  # values of targets that are kept; of more they are numbers
_KINDS = {"table": "arrays", "pictures": "pictures", "text": "text"}  # by what was packed

Batch = tuple[Any, ...]


def sharded_kind(path: Path) -> str | None:
    """The kind of data in a folder of shards; None if it is no such folder."""
    if not path.is_dir():
        return None
    if (path / INDEX).is_file():
        index = read_index(path)
        return None if index is None else _KINDS[index.kind]
    try:
        inside = [entry for entry in path.iterdir() if entry.name[0] != "."]
    except OSError:
        return None  # which is said when it is read
    endings = {entry.suffix.lower() for entry in inside if not entry.is_dir()}
    # Folders are those of classes, whatever lies beside them.
    if not endings & {*ENDINGS} or any(entry.is_dir() for entry in inside):
        return None
    return "pictures" if ".tar" in endings else "arrays"


def is_sharded(source: Any) -> bool:
    """Whether ``source`` is a folder of shards."""
    if not isinstance(source, str | os.PathLike):
        return False
    return sharded_kind(Path(source)) is not None


def chosen_parts(table: Config) -> list[Any] | None:
    """The arrays or columns that ``[data]`` names; None for the usual ones."""
    if not {"inputs", "target"} & table.keys():
        return None
    return [table.get("inputs", "x"), table.get("target", "y")]


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
        self, dataset: ShardedDataset | ShardedSubset, convert: Callable[[Batch], Batch]
    ) -> None:
        self.dataset = dataset
        self.convert = convert

    def __len__(self) -> int:
        return len(self.dataset)

    @property
    def fingerprint(self) -> str:
        """Another text for other samples."""
        return self.dataset.fingerprint

    def batch(self, indices: Any) -> Batch:
        return self.convert(self.dataset.batch(indices))

    def read_ahead(self, runs: list[Run]) -> None:
        """Begin to read runs of samples."""
        self.dataset.read_ahead(runs)

    def shuffling(self) -> BlockShuffle:
        """The sampler that a loader takes for ``shuffle=True``."""
        return self.dataset.shuffling()
