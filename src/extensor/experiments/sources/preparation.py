"""The base of all kinds of data: their division, their preparation, and the data ready to train on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.core import entries
from extensor.data import Dataset, ShardedDataset
from extensor.data.dataset import IndexedDataset
from extensor.data.picture_files import is_picture
from extensor.data.splitting import TEST, VALIDATION, least_share, split_indices
from extensor.data.streaming import ShardedSubset
from extensor.data.streaming.column_shards import column_names
from extensor.data.streaming.index import INDEX, read_index
from extensor.data.streaming.shard_files import COLUMNS, ENDINGS, find_shards, shards_below
from extensor.data.streaming.shuffle import BlockShuffle, Run
from extensor.data.streaming.tar_shards import PICTURE
from extensor.data.table.column_statistics import divisor
from extensor.errors import value_error
from extensor.experiments.goal import Goal, TargetFacts, TaskChoice
from extensor.experiments.sources.array_targets import is_number, number_classes
from extensor.experiments.spec import DataSpec, ExperimentSpec
from extensor.io.paths import is_glob, is_there
from extensor.random.generator import Generator
from extensor.train.nonfinite import first_infinite

_MOST = 2**26  # bytes of an array that a digest looks at
HELD = ("validation", "test")  # parts that may have a file of their own
_FEW = 20  # samples, of which each is worth 5 % or more
_ROWS = 1 << 16  # targets that are read together
_LOOKED_AT = 1 << 14  # samples at most, for means and deviations
_STRETCHES = 64  # from so many places
_BYTES = 1 << 27  # to read for means and deviations
_MOST_DISTINCT = 10**6  # values of targets that are kept; of more they are numbers

Batch = tuple[Any, ...]


class Division(NamedTuple):
    """The numbers of the samples of each part, None for a part with its own file."""

    train: Any
    validation: Any
    test: Any

    def describe(self, data: DataSpec) -> str:
        """Describe the division."""
        is_rough = data.test is None and len(self.test) < _FEW
        warning = "; with so few test samples the scores are rough" if is_rough else ""
        return part_sizes(data, *self) + warning


def part_sizes(data: DataSpec, train: Any, validation: Any, test: Any) -> str:
    """Describe the parts: the number of samples, or the file they come from."""
    sizes = [f"{len(train):,} to train on"]
    for name, words, part in zip(HELD, ("validation", "the test"), (validation, test), strict=True):
        path = getattr(data, name)
        sizes.append(f"{len(part):,} for {words}" if path is None else f"{name} from {path}")
    return ", ".join(sizes)


def held_fractions(
    data: DataSpec, validation: float = VALIDATION, test: float = TEST
) -> tuple[float, float]:
    """The checked shares of validation and test, 0 for a part with its own file."""
    shares: list[float] = []
    for name, usual in zip(HELD, (validation, test), strict=True):
        key = f"{name}_fraction"
        has_file, share = getattr(data, name) is not None, getattr(data, key)
        if has_file and share is not None:
            raise value_error("config", f"data.{name} is a file, so data.{key} has no meaning")
        shares.append(0.0 if has_file else usual if share is None else share)
        if not has_file and not 0 < shares[-1] < 1:
            requirement = f"data.{key} must be between 0 and 1"
            raise value_error("config", requirement, **{key: shares[-1]})
    if not sum(shares) < 1:
        requirement = (
            "data.validation_fraction and data.test_fraction must leave samples to train on"
        )
        given = {"validation_fraction": shares[0], "test_fraction": shares[1]}
        raise value_error("config", requirement, **given)
    return shares[0], shares[1]


def divide_samples(
    spec: ExperimentSpec, count: int, classes: Any = None, groups: Any = None
) -> Division:
    """Divide ``count`` samples of the training file as ``[data]`` says.

    Each part has its share of each class, and groups stay together. Samples in order of time are cut:
    the last ones are for the test.
    """
    data = spec.data
    in_order = bool(data.in_order)
    if in_order and groups is not None:
        raise value_error("config", "data.in_order must be without data.group", in_order=True)
    least = least_share(count)
    validation, test = held_fractions(data, max(VALIDATION, least), max(TEST, least))
    stratified = classes if data.stratify is not False and not in_order else None
    try:
        parts = split_indices(
            count,
            validation=validation,
            test=test,
            generator=Generator(spec.seed),
            stratify=stratified,
            groups=groups,
            in_order=in_order,
        )
    except ValueError:
        raise _too_few(data, count, (validation, test), stratified, groups) from None
    return Division(
        parts[0],
        None if data.validation is not None else parts[1],
        None if data.test is not None else parts[2],
    )


def _too_few(
    data: DataSpec, count: int, shares: tuple[float, float], classes: Any, groups: Any
) -> ValueError:
    """The error for samples that cannot be divided, in terms of the configuration."""
    source = data.train
    needed = 1 + sum(share > 0 for share in shares)
    if groups is not None and len(np.unique(groups)) < needed:
        requirement = f"{source} must have {needed} groups or more, one for each part"
        given = {"group": data.group, "groups": len(np.unique(groups))}
        return value_error("data", requirement, **given)
    if classes is not None and np.bincount(classes).max() < needed <= count:
        requirement = (
            f"{source} must have classes of {needed} samples or more, for each part some "
            "(data.stratify=false lets chance divide them)"
        )
        return value_error("data", requirement, classes=len(np.unique(classes)), samples=count)
    wanted = [f"data.{name}_fraction={share:.3g}" for name, share in zip(HELD, shares, strict=True)]
    requirement = f"{source} must have samples for each part ({', '.join(wanted)})"
    return value_error("data", requirement, samples=count)


class Samples(NamedTuple):
    """Samples as a model takes them, and their names; without names they are counted."""

    dataset: Dataset
    names: Sequence[str] | None = None
    lines: Sequence[str] = ()  # remarks for a person


class Preparation:
    """Makes batches of files, arrays and tables, for one kind of data.

    ``goal`` is what is learned. A kind of data is a dataclass, whose fields are its state: each
    checkpoint holds ``state_dict``, in the order of the fields, so the order is part of the format.
    """

    kind: ClassVar[str]
    goal: Goal

    def arguments(self) -> dict[str, Any]:
        """The sizes that a model must have for these data, by the names that models give them."""
        raise NotImplementedError

    def transforms(self) -> list[Any]:
        """The transforms of the inputs of every batch."""
        return []

    def target_transforms(self) -> list[Any]:
        """The transforms of the targets of every batch, before those that draw random numbers."""
        return []

    def labelled(self, source: Any) -> Samples:
        """Inputs and targets of a file, to measure a model by."""
        raise NotImplementedError

    def unlabelled(self, source: Any) -> Samples:
        """The inputs in a file, a table or an array, to predict from; targets in it are ignored."""
        raise NotImplementedError

    def of_shards(
        self,
        dataset: ShardedDataset | ShardedSubset,
        names: list[str] | None = None,
        source: str = "",
    ) -> ShardSamples:
        """Samples of shards as the model and its loss take them. ``names`` are the class names."""
        numbers = class_numbering(names, self.goal, source)
        return ShardSamples(
            dataset, lambda batch: self.shard_batch(batch[0], batch[1], numbers), source
        )

    def shard_batch(self, inputs: Any, targets: Any, numbers: Callable[[Any], Any]) -> Any:
        """A batch of shards for the model; ``numbers`` makes class numbers of targets."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """Plain values and arrays."""
        state = {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        plain = {key: x.state_dict() for key, x in state.items() if hasattr(x, "state_dict")}
        return {key: list(x) if isinstance(x, tuple) else x for key, x in (state | plain).items()}

    @classmethod
    def _stored(cls, op: str, state: Any) -> Mapping[str, Any]:
        """A state with an entry for each field."""
        keys = [entry.name for entry in fields(cls)]  # type: ignore[arg-type]
        return entries.with_keys(op, state, keys, "preparation")


class PreparedData(NamedTuple):
    """Data ready to train on: the parts, their preparation, and remarks for a person.

    Without a part for validation, as in configurations that ask for none, the test data are measured
    after each epoch, and nothing may be chosen by them.
    """

    spec: ExperimentSpec
    preparation: Preparation
    train: Dataset
    validation: Dataset | None
    test: Dataset
    lines: list[str]
    names: Sequence[str] | None = None  # of the samples of test
    targets: Any = None  # of the training samples as the loss takes them, if they are known


def prepared_data(
    spec: ExperimentSpec,
    preparation: Preparation,
    train: Dataset,
    held: Iterable[Any],
    convert: Callable[[Any], Samples],
    lines: list[str],
    targets: Any = None,
) -> PreparedData:
    """The data with the samples to validate and to test with, which may have their own files.

    ``convert`` makes samples of a part of the training file, of which ``held`` has two.
    """
    samples = []
    for name, part in zip(HELD, held, strict=True):
        path = getattr(spec.data, name)
        samples.append(convert(part) if path is None else preparation.labelled(path))
        lines = [*lines, *(f"{path}: {line}" for line in samples[-1].lines)]
    validation, test = samples
    parts = (train, validation.dataset, test.dataset)
    return PreparedData(spec, preparation, *parts, lines, test.names, targets)


def divide_shards(
    spec: ExperimentSpec, dataset: ShardedDataset
) -> tuple[ShardedSubset, ShardedSubset | None, ShardedSubset | None]:
    """The parts of the samples, None for a part with its own folder."""
    generator = Generator(spec.seed)
    rest, held, left = ShardedSubset.whole(dataset), [], 1.0
    for share in reversed(held_fractions(spec.data)):
        part = None
        if share:
            try:
                rest, part = rest.split(share / left, generator)
            except ValueError:
                requirement = f"{spec.data.train} must have samples for each part"
                raise value_error("data", requirement, samples=len(dataset)) from None
            left -= share
        held.append(part)
    return rest, held[1], held[0]


def prepared_shards(
    spec: ExperimentSpec,
    preparation: Any,
    dataset: ShardedDataset,
    parts: Sequence[Any],
    task: TaskChoice | None,
    described: Sequence[str] = (),
) -> PreparedData:
    """The parts as samples for the model, and remarks for a person."""
    data = spec.data
    shapes = ", ".join(f"{part.name} {part.dtype} {part.shape}" for part in dataset.parts)
    lines = [f"{data.train}: {len(dataset):,} samples in {len(dataset.paths):,} shards ({shapes})"]
    lines += described
    if task is not None:
        lines.append(f"task {task.name}: {task.reason}")
    classes = preparation.goal.classes
    if classes:
        lines.append(f"classes {', '.join(classes[:12])}{', ...' if len(classes) > 12 else ''}")
    order = "" if task else " in order"
    lines.append(f"divided{order}: {part_sizes(data, *parts)}; read as they are needed")
    source = str(dataset.paths[0].parent)

    def samples(part: Any) -> Samples:
        is_text = preparation.kind == "text"
        return Samples(part if is_text else preparation.of_shards(part, dataset.classes, source))

    train = samples(parts[0]).dataset
    return prepared_data(spec, preparation, train, parts[1:], samples, lines)


def digest_of(*datasets: Any) -> str:
    """A short text that is another for other samples, or nothing where they are read one by one."""
    prints = [x.fingerprint for x in datasets if hasattr(x, "fingerprint")]
    arrays: list[Any] = []
    for dataset in datasets:
        parts = [getattr(dataset, name, None) for name in ("tokens", "inputs", "targets")]
        parts = getattr(dataset, "arrays", parts)
        arrays += [x for x in parts if isinstance(x, np.ndarray)]
    if not arrays and not prints:
        return ""
    digest = hashlib.sha256("".join(prints).encode())
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str}".encode())
        row = max(1, array.nbytes // max(1, len(array)))
        step = max(1, -(-len(array) * row // _MOST))
        digest.update(np.ascontiguousarray(array[::step]).tobytes())
    return digest.hexdigest()[:32]


def check_same_data(before: Any, *datasets: Any) -> None:
    """Refuse to continue with data that differ from those at the beginning."""
    if before and digest_of(*datasets) != before:
        requirement = (
            "the data must be the same as when the run began (they have changed since; begin a new "
            "run with them)"
        )
        raise value_error("data", requirement)


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
        shards = _shards_in(path)
    except OSError:
        return None  # reading it raises the error
    return _kind_of_shards(path, shards) if shards else None


def _shards_in(folder: Path) -> list[Path]:
    inside = [entry for entry in folder.iterdir() if entry.name[0] != "."]
    shards = [x for x in inside if x.suffix.lower() in ENDINGS and not x.is_dir()]
    if any(entry.is_dir() for entry in inside):
        # Folders with pictures are classes, whatever other files are there.
        if any(is_picture(entry) for entry in folder.rglob("*")):
            return []
        shards += shards_below(folder)
    return shards


def _kind_of_shards(source: Path, shards: Sequence[Path]) -> str:
    if not any(path.suffix.lower() == ".tar" for path in shards):
        return "arrays"
    try:
        return "pictures" if input_part(source) == PICTURE else "arrays"
    except ValueError:
        return "arrays"  # data.inputs and data.target name their members


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


def input_part(source: Any) -> str:
    """The name of the part with the inputs, if the configuration does not name it."""
    shards, index = find_shards(source)
    if index is not None:
        return index.parts[0][0]
    archives = [one.path for one in shards if one.path.suffix.lower() == ".tar"]
    return ShardedDataset(archives[:1], size=1).parts[0].name if archives else "x"


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
