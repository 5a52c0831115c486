"""Pictures in folders, one for each class, of any sizes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data import ArrayDataset, Dataset, ImageFolder, Normalize, ShardedDataset
from extensor.data.picture_files import CHANNELS, MODES, PictureFiles, find_pictures, picture_sizes
from extensor.data.streaming.tar_shards import PICTURE
from extensor.errors import arguments, value_error
from extensor.experiments.goal import Goal, TargetFacts, TaskChoice, choose_task, class_counts
from extensor.experiments.sources.array_targets import counted_names
from extensor.experiments.sources.preparation import (
    HELD,
    Preparation,
    PreparedData,
    Samples,
    ShardSamples,
    check_two_parts,
    divide_samples,
    divide_shards,
    input_part,
    is_sharded,
    prepared_data,
    prepared_shards,
    some_inputs,
    survey_targets,
)
from extensor.experiments.spec import DataSpec, ExperimentSpec, NormalizeSpec
from extensor.io.paths import check_unicode, existing

_SIDES = (8, 12, 16, 24, 32, 48, 64)  # of pictures as they are learned, by default
_LARGEST = 4096  # pixels of a side
_IN_MEMORY = 2**30  # bytes of pictures that are decoded once and kept
_LOOKED_AT = 500  # pictures, for the mean and deviation of each channel
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # of pictures that are arrays, by channels
_MOST = 1e6  # that a mean or a deviation of bytes between 0 and 1 may be said to be


@dataclass(eq=False)
class PicturePreparation(Preparation):
    """The size that pictures are brought to, the mean of each channel, and the names of the classes."""

    kind = "pictures"

    size: tuple[int, int]
    mode: str
    mean: list[float]
    std: list[float]
    goal: Goal

    def arguments(self) -> dict[str, Any]:
        height, width = self.size
        return {
            "in_channels": len(self.mean),
            "image_size": height if height == width else [height, width],
            "num_classes": self.goal.outputs,
            "inputs": len(self.mean) * height * width,
            "outputs": self.goal.outputs,
        }

    def transforms(self) -> list[Any]:
        return [Normalize(self.mean, self.std, 255.0)]

    def labelled(self, source: Any) -> Samples:
        if is_sharded(source):
            dataset = ShardedDataset(source, size=self.size, mode=self.mode)
            check_two_parts(dataset, str(source))
            self._check_shape(dataset, str(source))
            return Samples(self.of_shards(dataset, dataset.classes, str(source)))
        folder = ImageFolder(existing(source), self.size, self.mode)
        numbers = {name: number for number, name in enumerate(self.goal.classes)}
        unknown = [name for name in folder.classes if name not in numbers]
        if unknown:
            requirement = f"folders must be classes of the training data, {list(numbers)[:10]}"
            raise value_error("data", requirement, folder=str(folder.root / unknown[0]))
        labels = np.array([numbers[folder.classes[i]] for _, i in folder.samples])
        names = [str(path.relative_to(folder.root)) for path in folder.paths]
        return Samples(self.pictures(folder.paths, labels), names)

    def pictures(self, paths: list[Path], labels: Any) -> LabelledPictures:
        """Pictures in files, and their classes as the loss takes them."""
        files = PictureFiles(paths, self.size, self.mode)
        return LabelledPictures(files, self.goal.as_loss_takes(labels))

    def unlabelled(self, source: Any) -> Samples:
        if not isinstance(source, str | os.PathLike):
            return Samples(self._of_arrays(source))
        if is_sharded(source):
            parts = [input_part(source)]
            dataset = ShardedDataset(Path(source), parts, size=self.size, mode=self.mode)
            self._check_shape(dataset, str(source))
            return Samples(ShardSamples(dataset, lambda batch: batch))
        paths = find_pictures(existing(source))
        root = Path(source)
        names = [str(x.relative_to(root)) if root.is_dir() else str(x) for x in paths]
        return Samples(PictureFiles(paths, self.size, self.mode), names)

    def shard_batch(self, inputs: Any, targets: Any, numbers: Callable[[Any], Any]) -> Any:
        labels = np.asarray(numbers(targets)).reshape(-1).astype(np.int64, copy=False)
        return inputs, self.goal.as_loss_takes(labels)

    def _check_shape(self, dataset: ShardedDataset, source: str) -> None:
        """Refuse pictures that are arrays already, of another size or mode."""
        shape, dtype = dataset.parts[0].shape, dataset.parts[0].dtype
        expected = (len(self.mean), *self.size)
        if shape != expected or dtype != np.uint8:
            requirement = f"pictures must be bytes of the same shape as in training, {expected}"
            raise value_error("data", requirement, path=source, shape=shape, dtype=str(dtype))

    def _of_arrays(self, source: Any) -> ArrayDataset:
        """Bytes that are pictures already, of the size that the model was trained with."""
        array = np.asarray(getattr(source, "_array", source))
        shape = (len(self.mean), *self.size)
        if array.shape[1:] != shape or array.dtype != np.uint8:
            requirement = f"pictures must be bytes of shape (samples, {', '.join(map(str, shape))})"
            raise value_error("predict", requirement, shape=array.shape, dtype=str(array.dtype))
        return ArrayDataset(array)

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> PicturePreparation:
        """Restore it from the result of :meth:`state_dict`, checked."""
        stored = cls._stored(op, state)
        size = arguments.pair(op, "size", stored["size"], 1)
        if max(size) > _LARGEST:
            raise value_error(op, f"size must be at most {_LARGEST}", size=max(size))
        mode = arguments.choice(op, "mode", stored["mode"], MODES)
        mean, std = (np.atleast_1d(arguments.numbers(op, x, stored[x])) for x in ("mean", "std"))
        are_right = (np.abs(mean) < _MOST).all() and ((std > 1 / _MOST) & (std < _MOST)).all()
        if not len(mean) == len(std) == CHANNELS[mode] or not are_right:
            requirement = "mean and std must have a number for each channel, std a positive one"
            raise value_error(op, requirement, mode=mode)
        goal = Goal.from_state(stored["goal"], op)
        if not goal.row.is_of_one_class or not goal.classes:
            raise value_error(op, "goal must have the classes of the pictures", task=goal.task)
        return cls(size, mode, mean.tolist(), std.tolist(), goal)


@dataclass(eq=False)
class LabelledPictures:
    """Pictures and their targets, decoded when they are asked for."""

    pictures: Dataset
    targets: Any

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self.pictures[index], self.targets[index]


def picture_goal(
    spec: ExperimentSpec, classes: Sequence[str], count: int, source: str
) -> tuple[Goal, str]:
    """The classes to learn, and why it is this task."""
    seen = TargetFacts(1, count, True, False, list(classes), {"path": source})
    task = choose_task(seen, spec)
    goal = Goal(task.name, ("class",), tuple(classes), scores=spec.loss_traits.scores)
    return goal, task.reason


def prepare(spec: ExperimentSpec, learnt: PicturePreparation | None) -> PreparedData:
    """Find the pictures, choose their size, and divide them."""
    data = spec.data
    root = existing(data.train)
    if root.resolve().parent == root.resolve():
        requirement = "folder must have a folder of pictures for each class, and no whole system"
        raise value_error("data", requirement, path=str(root))
    folder = ImageFolder(root)
    for name in folder.classes:
        check_unicode("data", "the folder of a class", name)
    goal, reason = picture_goal(spec, folder.classes, len(folder), str(root))
    labels = np.array([number for _, number in folder.samples])
    sizes = picture_sizes(folder.paths)
    size, mode = choose_size(data, sizes), data.mode or _choose_mode(folder.paths)
    division = divide_samples(spec, len(folder), labels)
    paths = np.array(folder.paths, object)
    if learnt is None:
        looked_at = paths[division.train][:: max(1, len(division.train) // _LOOKED_AT)]
        files = PictureFiles(looked_at.tolist(), size, mode)
        pixels = np.stack([files[i] for i in range(len(files))])
        scale = picture_scale(pixels, data.normalize)
        learnt = PicturePreparation(size, mode, *scale, goal)
    preparation = learnt

    def part(rows: Any) -> Samples:
        files = preparation.pictures(paths[rows].tolist(), labels[rows])
        return Samples(files, [str(path.relative_to(root)) for path in paths[rows]])

    low, high = sizes.min(axis=0).tolist(), sizes.max(axis=0).tolist()
    spread = _by(low) if low == high else f"{_by(low)} to {_by(high)}"
    lines = [
        f"{root}: {len(folder):,} pictures of {spread} pixels in {len(folder.classes)} folders",
        f"learned as {_by(preparation.size)} pixels, mode {preparation.mode}",
        f"task {goal.task}: {reason.replace('different words', 'folders')}",
        f"classes {class_counts(goal, labels)}",
        f"divided: {division.describe(data)}",
    ]
    if folder.ignored:
        several = f"{folder.ignored:,} files that are no pictures are"
        words = "1 file that is no picture is" if folder.ignored == 1 else several
        lines.insert(1, f"{words} left out")
    spec = spec.with_data(task=goal.task, size=list(preparation.size), mode=preparation.mode)
    train: Any = part(division.train).dataset
    targets = train.targets
    prepared = prepared_data(spec, preparation, train, division[1:], part, lines, targets)
    parts = [_decode(getattr(prepared, name), data) for name in ("train", *HELD)]
    return prepared._replace(train=parts[0], validation=parts[1], test=parts[2])


def prepare_shards(spec: ExperimentSpec, learnt: PicturePreparation | None) -> PreparedData:
    """Pictures in archives, decoded when they are needed, or as arrays."""
    data = spec.data
    source = str(data.train)
    whole = ShardedDataset(source, size=1)
    if len(whole.parts) != 2:
        requirement = "shards of pictures must have a class for each (.cls beside each picture)"
        parts = [part.name for part in whole.parts]
        raise value_error("data", requirement, path=source, parts=parts)
    size, mode = _size_and_mode(spec, whole)
    dataset = ShardedDataset(source, size=size, mode=mode)
    names = dataset.classes
    if names is None:
        survey = survey_targets(source, whole.parts[1].name)
        names = counted_names(survey.distinct, "multiclass", is_chosen=False)
    goal, reason = picture_goal(spec, names, len(dataset), source)
    divided = divide_shards(spec, dataset)
    preparation = learnt
    if preparation is None:
        scale = picture_scale(some_inputs(divided[0], 512), data.normalize)
        preparation = PicturePreparation(size, mode, *scale, goal)
    spec = spec.with_data(task=goal.task, size=list(preparation.size), mode=preparation.mode)
    return prepared_shards(spec, preparation, dataset, divided, TaskChoice(goal.task, reason))


def _size_and_mode(spec: ExperimentSpec, whole: ShardedDataset) -> tuple[tuple[int, int], str]:
    """The size and mode of pictures as they are learned. Arrays keep theirs."""
    data, shape = spec.data, whole.parts[0].shape
    if whole.parts[0].name == PICTURE:
        first = ShardedDataset([whole.paths[0]])  # of the others the sizes may be others
        size = choose_size(data, np.array([first.parts[0].shape[1:]]))
        return size, data.mode or _colours(str(data.train))
    if len(shape) != 3 or shape[0] not in _MODES:
        requirement = "pictures must be arrays of channels, height and width"
        raise value_error("data", requirement, path=data.train, shape=shape)
    size, mode = (shape[1], shape[2]), _MODES[shape[0]]
    for key, packed in (("size", list(size)), ("mode", mode)):
        data.check_entry(key, [packed], f"that of the packed pictures, {packed}")
    return size, mode


def _colours(source: str) -> str:
    """ "L" if the first pictures have no colours, otherwise "RGB"."""
    some = ShardedDataset(source, size=32, mode="RGB")
    pixels = some.batch(slice(0, 50))[0].astype(np.int16)
    return "RGB" if np.abs(pixels - pixels[:, :1]).max() > 8 else "L"


def _by(size: Sequence[int]) -> str:
    return "x".join(map(str, size))


def choose_size(data: DataSpec, sizes: Any) -> tuple[int, int]:
    """The size in ``[data]``, or a square near the median size."""
    if data.size is not None:
        size = arguments.pair("config", "data.size", data.size, 1)
        if max(size) > _LARGEST:
            requirement = f"data.size must be at most {_LARGEST} pixels"
            raise value_error("config", requirement, size=data.size)
        return size
    middle = float(np.median(sizes))
    side = min(_SIDES, key=lambda x: abs(x - middle)) if middle < _SIDES[-1] else _SIDES[-1]
    return side, side


def _choose_mode(paths: list[Path]) -> str:
    """ "L" if the first pictures have no colours, otherwise "RGB"."""
    for path in paths[:: max(1, len(paths) // 50)]:
        pixels = PictureFiles([path], 32, "RGB")[0].astype(np.int16)
        if np.abs(pixels - pixels[:1]).max() > 8:
            return "RGB"
    return "L"


def picture_scale(pixels: Any, normalize: NormalizeSpec | None) -> tuple[list[float], list[float]]:
    """The mean and deviation of each channel of pictures of bytes, or as configured."""
    if normalize is not None:
        return _scale_as_written(normalize, pixels.shape[1])
    axes = (0, 2, 3)
    numbers = pixels.astype(np.float64) / 255
    # A tiny deviation would amplify noise.
    deviation = np.maximum(numbers.std(axis=axes), 0.05)
    return numbers.mean(axis=axes).round(4).tolist(), deviation.round(4).tolist()


def _scale_as_written(spec: NormalizeSpec, channels: int) -> tuple[list[float], list[float]]:
    """A mean and a deviation for each channel of bytes that are divided by 255."""
    options = spec.to_dict()
    op, scale = "config", options.get("scale", 255.0) / 255
    Normalize(**options)
    both = []
    for key, usual in (("mean", 0.0), ("std", 1.0)):
        numbers = arguments.numbers(op, f"data.normalize.{key}", options.get(key, usual))
        if numbers.ndim and len(numbers) != channels:
            requirement = (
                f"data.normalize.{key} must be one number, or {channels}, one for each channel"
            )
            raise value_error(op, requirement, **{key: numbers.tolist()})
        both.append(((np.zeros(channels) + numbers) * scale).tolist())
    return both[0], both[1]


def _decode(dataset: Any, data: DataSpec) -> Dataset:
    """Kept in memory if they fit: decoding takes longer than learning."""
    first, _ = dataset[0]
    if len(dataset) * first.nbytes > _IN_MEMORY:
        return dataset  # type: ignore[no-any-return]
    with ThreadPoolExecutor(max(1, 2 if data.workers is None else data.workers)) as pool:
        pictures = list(pool.map(dataset.pictures.__getitem__, range(len(dataset))))
    return ArrayDataset(np.stack(pictures), dataset.targets)
