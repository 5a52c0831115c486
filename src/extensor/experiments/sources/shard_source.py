"""Data larger than memory, in folders of shards: divided, learnt from a part, and read when needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data import ShardedDataset
from extensor.data.streaming import ShardedSubset
from extensor.data.streaming.tar_shards import PICTURE
from extensor.data.table.column_statistics import divisor
from extensor.errors import value_error
from extensor.experiments.goal import Goal, TargetFacts, TaskChoice, choose_task
from extensor.experiments.sources.array_configurations import as_targets
from extensor.experiments.sources.array_source import ArrayPreparation, with_normalization
from extensor.experiments.sources.array_targets import counted_names, is_target_scaled
from extensor.experiments.sources.picture_source import (
    PicturePreparation,
    choose_size,
    picture_goal,
    picture_scale,
)
from extensor.experiments.sources.preparation import (
    PreparedData,
    Samples,
    held_fractions,
    part_sizes,
    prepared_data,
    sharded_kind,
)
from extensor.experiments.sources.shard_samples import (
    Survey,
    check_two_parts,
    class_numbering,
    first_infinite,
    named_parts,
    part_name,
    survey_targets,
    with_columns,
)
from extensor.experiments.sources.table_source import TablePreparation
from extensor.experiments.sources.target_columns import number_word, words_differ
from extensor.experiments.sources.text_source import (
    TextPreparation,
    context_of,
    text_fractions,
    with_text_entries,
)
from extensor.experiments.spec import ExperimentSpec
from extensor.random.generator import Generator

_WORKERS = 2  # threads that read, by default
_IN_MEMORY = "is for data in memory, not for shards"
_REFUSED = {
    **dict.fromkeys(("class_weight", "sampling", "stratify", "group", "in_order"), _IN_MEMORY),
    **dict.fromkeys(("header", "delimiter"), _IN_MEMORY),
    **dict.fromkeys(("size", "mode"), "is for pictures, not for these shards"),
    **dict.fromkeys(
        ("columns", "drop", "decimal", "encoding"),
        "must be said when the table is packed (extensor pack --help)",
    ),
}
_LOOKED_AT = 1 << 14  # samples at most, for means and deviations
_STRETCHES = 64  # from so many places
_BYTES = 1 << 27  # to read for means and deviations
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # of pictures that are arrays, by channels


def prepare(spec: ExperimentSpec, learnt: Any | None) -> PreparedData:
    """Open the shards, look at some of them, and divide the samples."""
    data = spec.data
    for key, requirement in _REFUSED.items():
        value = getattr(data, key)
        if value is not None and not (key in ("size", "mode") and data.kind == "pictures"):
            raise value_error("config", f"data.{key} {requirement}", **{key: value})
    kinds: dict[str | None, Callable[..., PreparedData]]
    kinds = {"arrays": _arrays, "table": _table, "pictures": _pictures, "text": _text}
    kind = sharded_kind(Path(data.train or ""))
    if data.kind != kind or kind not in kinds:
        requirement = f"data.kind must be {kind!r} for these shards"
        raise value_error("config", requirement, kind=data.kind)
    spec = spec.with_entries(data=data.with_defaults(workers=_WORKERS))
    return kinds[kind](spec, learnt)


def _arrays(spec: ExperimentSpec, learnt: ArrayPreparation | None) -> PreparedData:
    """Rows of numbers, such as those of a table, or arrays of any shape."""
    are_all_columns = spec.data.inputs is None
    spec = spec.with_entries(data=with_columns(spec.data))
    data = spec.data
    source = str(data.train)
    target, inputs = part_name(data, "target", "y"), part_name(data, "inputs", "x")
    if target == inputs or (isinstance(inputs, list) and target in inputs):
        requirement = "data.target must be none of data.inputs"
        raise value_error("config", requirement, target=target)
    dataset = ShardedDataset(source, named_parts(data))
    if are_all_columns:
        dataset.check_columns()
    check_two_parts(dataset, source)
    if not dataset.parts[0].shape:
        requirement = "inputs must have columns, as x[:, None] has one"
        raise value_error("data", requirement, path=source, shape=(len(dataset),))
    survey = survey_targets(source, part_name(data, "target", dataset.parts[1].name))
    task = choose_task(_summary(survey, dataset, source), spec)
    parts = _divide(spec, ShardedSubset.whole(dataset))
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
    return _prepared(spec, preparation, dataset, parts, task)


def _table(spec: ExperimentSpec, learnt: TablePreparation | None) -> PreparedData:
    """Rows of a packed table, encoded as in its index."""
    data = spec.data
    source = str(data.train)
    dataset = ShardedDataset(source)
    check_two_parts(dataset, source)
    encoding = dataset.encoding
    assert encoding is not None  # as an index of a table has one
    names = list(encoding.targets)
    target = names[0] if len(names) == 1 else names
    if data.target is not None and data.target not in (names, target):
        requirement = f"data.target must be that of the packed table, {names}"
        raise value_error("config", requirement, target=data.target)
    survey = survey_targets(source, dataset.parts[1].name)
    task = choose_task(_summary(survey, dataset, source), spec)
    if data.task is None and encoding.kinds[0] == "text":
        raise words_differ(names[0], source, len(dataset.classes or ()), len(dataset))
    parts = _divide(spec, ShardedSubset.whole(dataset))
    preparation = learnt
    if preparation is None:
        goal = _table_goal(spec, task.name, survey, dataset, tuple(names))
        preparation = TablePreparation(encoding.encoder, goal, {}, dict(encoding.options))
    if preparation.goal.row.is_of_one_class:
        # Targets that are no classes are refused before anything begins.
        class_numbering(dataset.classes, preparation.goal, source)(survey.distinct)
    spec = spec.with_data(target=target, task=task.name)
    described = [f"  {line}" for line in encoding.encoder.describe()]
    return _prepared(spec, preparation, dataset, parts, task, described)


def _table_goal(
    spec: ExperimentSpec,
    task: str,
    survey: Survey,
    dataset: ShardedDataset,
    names: tuple[str, ...],
) -> Goal:
    """The goal for a packed table, the same as for its file."""
    if task == "regression":
        goal = Goal(task, names)
        return _with_scale(goal, survey) if spec.is_of_any_scale else goal
    classes = names if task == "multilabel" else dataset.classes
    classes = tuple(classes or map(number_word, survey.distinct.tolist()))
    return Goal(task, names, classes, scores=spec.loss_traits.scores)


def _summary(survey: Survey, dataset: ShardedDataset, source: str) -> TargetFacts:
    columns, names = int(np.prod(survey.shape, dtype=int)), dataset.classes
    distinct = survey.distinct[: 10**4].tolist() if names is None else names
    facts = (columns, survey.samples, names is not None, not survey.are_floats)
    return TargetFacts(*facts, distinct, {"path": source})


def _array_goal(spec: ExperimentSpec, task: str, survey: Survey, dataset: ShardedDataset) -> Goal:
    if task == "regression":
        is_scaled = is_target_scaled(spec, spec.is_of_any_scale, "for MSELoss or L1Loss")
        return _with_scale(Goal(task), survey) if is_scaled else Goal(task)
    names = dataset.classes
    if names is None and task == "multilabel":
        names = [str(number) for number in range(int(np.prod(survey.shape, dtype=int)))]
    if names is None:
        names = counted_names(survey.distinct, task, spec.has_model)
    return Goal(task, classes=tuple(names), scores=spec.loss_traits.scores)


def _with_scale(goal: Goal, survey: Survey) -> Goal:
    """A goal with the scale of the numbers that are learned."""
    std = divisor(survey.std, survey.mean)
    mean = np.reshape(survey.mean, -1).tolist()
    return replace(goal, mean=tuple(mean), std=tuple(np.reshape(std, -1).tolist()))


def _finite_inputs(train: ShardedSubset, source: str) -> Any:
    rows = _some_inputs(train).astype(np.float64)
    if first_infinite(rows) is not None:
        raise value_error("data", "inputs must have no NaN or infinity", path=source)
    return rows


def _some_inputs(train: ShardedSubset, most: int = _LOOKED_AT) -> Any:
    """Inputs of some samples to train on, from all over the shards."""
    size = max(1, sum(part.nbytes for part in train.batch(slice(0, 1))))
    count = min(len(train), most, max(1, _BYTES // size))
    length = -(-count // _STRETCHES)
    begins = np.linspace(0, len(train) - length, _STRETCHES).astype(np.int64)
    places = np.unique(begins[:, None] + np.arange(length)) if count < len(train) else slice(count)
    return train.batch(places)[0]


def _pictures(spec: ExperimentSpec, learnt: PicturePreparation | None) -> PreparedData:
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
    divided = _divide(spec, ShardedSubset.whole(dataset))
    preparation = learnt
    if preparation is None:
        scale = picture_scale(_some_inputs(divided[0], 512), data.normalize)
        preparation = PicturePreparation(size, mode, *scale, goal)
    spec = spec.with_data(task=goal.task, size=list(preparation.size), mode=preparation.mode)
    return _prepared(spec, preparation, dataset, divided, TaskChoice(goal.task, reason))


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
    for key, asked, packed in (("size", data.size, list(size)), ("mode", data.mode, mode)):
        if asked not in (None, packed):
            requirement = f"data.{key} must be that of the packed pictures, {packed}"
            raise value_error("config", requirement, **{key: asked})
    return size, mode


def _colours(source: str) -> str:
    """ "L" if the first pictures have no colours, otherwise "RGB"."""
    some = ShardedDataset(source, size=32, mode="RGB")
    pixels = some.batch(slice(0, 50))[0].astype(np.int16)
    return "RGB" if np.abs(pixels - pixels[:, :1]).max() > 8 else "L"


def _text(spec: ExperimentSpec, learnt: TextPreparation | None) -> PreparedData:
    """Tokens, of which the next one is learned. The last ones are for the test."""
    data = spec.data
    source = str(data.train)
    if data.task not in (None, "sequence"):
        requirement = "data.task must be 'sequence' for shards of tokens"
        raise value_error("config", requirement, task=data.task)
    context = context_of(data)
    dataset = ShardedDataset(source, context=context)
    vocabulary = dataset.vocabulary
    if vocabulary is None:
        requirement = "shards of tokens must have the index that extensor pack writes"
        raise value_error("data", requirement, path=source)
    if vocabulary.kind == "character" and len(vocabulary.characters) < 2:
        requirement = f"{source} must have at least two different characters"
        raise value_error("data", requirement, characters=list(vocabulary.characters))
    if data.vocabulary not in (None, vocabulary.kind):
        requirement = f"data.vocabulary must be that of the shards, {vocabulary.kind!r}"
        raise value_error("config", requirement, vocabulary=data.vocabulary)
    preparation = learnt or TextPreparation(vocabulary, context)
    whole, count = ShardedSubset.whole(dataset), len(dataset)
    validation, test = text_fractions(data)
    cuts = [
        count - sum(max(1, round(share * count)) for share in shares if share)
        for shares in ((validation, test), (test,))
    ]
    if cuts[0] < 1:
        requirement = f"{source} must have windows for each part, or data.context be less"
        raise value_error("data", requirement, windows=count, context=context)
    parts = [whole.between(*bounds) for bounds in pairwise((0, *cuts, count))]
    return _prepared(with_text_entries(spec, preparation), preparation, dataset, parts, None)


def _divide(
    spec: ExperimentSpec, whole: ShardedSubset
) -> tuple[ShardedSubset, ShardedSubset | None, ShardedSubset | None]:
    """The parts of the samples, None for a part with its own folder."""
    generator = Generator(spec.seed)
    rest, held, left = whole, [], 1.0
    for share in reversed(held_fractions(spec.data)):
        part = None
        if share:
            try:
                rest, part = rest.split(share / left, generator)
            except ValueError:
                requirement = f"{spec.data.train} must have samples for each part"
                raise value_error("data", requirement, samples=len(whole)) from None
            left -= share
        held.append(part)
    return rest, held[1], held[0]


def _prepared(
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
