"""The base of all kinds of data: their division, their preparation, and the data ready to train on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from extensor.core import entries
from extensor.data import Dataset, ShardedDataset
from extensor.data.picture_files import is_picture
from extensor.data.splitting import TEST, VALIDATION, least_share, split_indices
from extensor.data.streaming import ShardedSubset
from extensor.data.streaming.index import INDEX, read_index
from extensor.data.streaming.shard_files import ENDINGS, find_shards, shards_below
from extensor.data.streaming.tar_shards import PICTURE
from extensor.errors import value_error
from extensor.experiments.goal import Goal, TaskChoice
from extensor.experiments.sources.shard_samples import ShardSamples, class_numbering
from extensor.experiments.spec import DataSpec, ExperimentSpec
from extensor.io.paths import is_glob, is_there
from extensor.random.generator import Generator

_MOST = 2**26  # bytes of an array that a digest looks at
HELD = ("validation", "test")  # parts that may have a file of their own
_FEW = 20  # samples, of which each is worth 5 % or more


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
    arrays = [array for dataset in datasets for array in _arrays(dataset)]
    if not arrays and not prints:
        return ""
    digest = hashlib.sha256("".join(prints).encode())
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str}".encode())
        row = max(1, array.nbytes // max(1, len(array)))
        step = max(1, -(-len(array) * row // _MOST))
        digest.update(np.ascontiguousarray(array[::step]).tobytes())
    return digest.hexdigest()[:32]


def _arrays(dataset: Any) -> list[Any]:
    arrays = getattr(dataset, "arrays", None)
    if arrays is None:
        arrays = (getattr(dataset, name, None) for name in ("tokens", "inputs", "targets"))
    return [x for x in arrays if isinstance(x, np.ndarray)]


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
