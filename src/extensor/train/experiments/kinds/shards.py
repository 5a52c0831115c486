"""Data larger than memory, in folders of shards: learnt from a part, divided, and read when needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data import ShardedDataset
from extensor.data.streaming import ShardedSubset
from extensor.data.streaming.members import PICTURE
from extensor.errors import arguments, value_error
from extensor.random.generator import Generator
from extensor.train.experiments.config import Config, has_model
from extensor.train.experiments.data import as_targets
from extensor.train.experiments.goal import Goal
from extensor.train.experiments.kinds.arrays import ArrayPreparation
from extensor.train.experiments.kinds.columns import number_word, words_differ
from extensor.train.experiments.kinds.parts import TEST, VALIDATION, fractions
from extensor.train.experiments.kinds.pictures import PicturePreparation, chosen_size, learned_scale
from extensor.train.experiments.kinds.preparation import Prepared, Samples
from extensor.train.experiments.kinds.sharded import (
    Survey,
    check_two_parts,
    chosen_parts,
    numbering,
    sharded_kind,
    surveyed,
    target_part,
    with_columns,
)
from extensor.train.experiments.kinds.table import TablePreparation
from extensor.train.experiments.kinds.text import CONTEXT, TextPreparation
from extensor.train.experiments.targets import counted_names
from extensor.train.experiments.task import Seen, decided, is_of_any_scale, loss_name

_WORKERS = 2  # threads that read, unless it is said
_REFUSED = ("class_weight", "sampling", "stratify", "group", "in_order", "header", "delimiter")
_OF_PACKING = ("columns", "drop", "decimal", "encoding")
_OF_PICTURES = ("size", "mode")
_LOOKED_AT = 1 << 14  # samples at most, for means and deviations
_STRETCHES = 64  # from so many places
_BYTES = 1 << 27  # that are looked at
_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}  # of pictures that are arrays, by channels


def prepare(config: Config, state: Any = None) -> Prepared:
    """Open the shards, look at some of them, and divide the samples."""
    table = config["data"]
    for key in _REFUSED:
        if key in table:
            requirement = f"data.{key} is for data in memory, not for shards"
            raise value_error("config", requirement, **{key: table[key]})
    for key in _OF_PICTURES if table["kind"] == "arrays" else ():
        if key in table:
            requirement = f"data.{key} is for pictures, not for these shards"
            raise value_error("config", requirement, **{key: table[key]})
    for key in _OF_PACKING:
        if key in table:
            requirement = f"data.{key} must be said when the table is packed (extensor pack --help)"
            raise value_error("config", requirement, **{key: table[key]})
    kinds = {"arrays": _arrays, "table": _table, "pictures": _pictures, "text": _text}
    if table["kind"] != (right := sharded_kind(Path(table["train"]))):
        requirement = f"data.kind must be {right!r} for these shards"
        raise value_error("config", requirement, kind=table["kind"])
    config = {**config, "data": {"workers": _WORKERS, **table}}
    return kinds[table["kind"]](config, state)


def _arrays(config: Config, state: Any) -> Prepared:
    """Rows of numbers, such as those of a table, or arrays of any shape."""
    table = with_columns(config["data"])
    are_all_columns = "inputs" not in config["data"]
    config = {**config, "data": table}
    source = table["train"]
    target, inputs = table.get("target", "y"), table.get("inputs", "x")
    if target == inputs or (isinstance(inputs, list) and target in inputs):
        requirement = "data.target must be none of data.inputs"
        raise value_error("config", requirement, target=target)
    dataset = ShardedDataset(source, chosen_parts(table))
    if are_all_columns:
        dataset.check_columns()
    check_two_parts(dataset, source)
    if not dataset.parts[0].shape:
        requirement = "inputs must have columns, as x[:, None] has one"
        raise value_error("data", requirement, path=source, shape=(len(dataset),))
    survey = surveyed(source, target_part(dataset, table))
    seen = _seen(survey, dataset, source)
    task = decided(seen, config)
    train, validation, test = _divided(config, ShardedSubset.whole(dataset))
    if state is None:
        goal = _goal(config, task.name, survey, dataset)
        config = _standardized(config, train, dataset)
    else:
        goal = ArrayPreparation.from_state(state, config).goal
    if goal.mean and state is None:
        config = {**config, "data": {**config["data"], "standardize_target": True}}
    shape, dtype = dataset.parts[0].shape, str(dataset.parts[0].dtype)
    made = ArrayPreparation(config, goal, (shape, dtype))
    numbering(dataset.classes, goal, source)(as_targets(survey.distinct))  # before anything begins
    made.train = made.of_shards(train, dataset.classes)
    return _prepared(config, made, dataset, (train, validation, test), task)


def _table(config: Config, state: Any) -> Prepared:
    """Rows of a table that was packed, encoded as their index says."""
    table = config["data"]
    source = table["train"]
    dataset = ShardedDataset(source)
    check_two_parts(dataset, source)
    encoding = dataset.encoding
    assert encoding is not None  # as an index of a table has one
    names = list(encoding.targets)
    if table.get("target", names) not in (names, names[0] if len(names) == 1 else names):
        requirement = f"data.target must be that of the packed table, {names}"
        raise value_error("config", requirement, target=table["target"])
    survey = surveyed(source, dataset.parts[1].name)
    task = decided(_seen(survey, dataset, source), config)
    if "task" not in table and encoding.kinds[0] == "text":
        raise words_differ(names[0], source, len(dataset.classes or ()), len(dataset))
    parts = _divided(config, ShardedSubset.whole(dataset))
    if state is not None:
        made = TablePreparation.from_state(state)
    else:
        goal = _table_goal(config, task.name, survey, dataset, tuple(names))
        made = TablePreparation(encoding.encoder, goal, {}, dict(encoding.options))
    if made.goal.task in ("binary", "multiclass"):
        numbering(dataset.classes, made.goal, source)(survey.distinct)  # before anything begins
    changed = {"target": names[0] if len(names) == 1 else names, "task": task.name}
    config = {**config, "data": {**table, **changed}}
    described = [f"  {line}" for line in encoding.encoder.describe()]
    return _prepared(config, made, dataset, parts, task, described)


def _table_goal(
    config: Config, task: str, survey: Survey, dataset: ShardedDataset, names: tuple[str, ...]
) -> Goal:
    """What is learned of a packed table, as of its file."""
    scores = "probabilities" if loss_name(config) == "BCELoss" else "logits"
    if task == "regression":
        return _scaled(Goal(task, names), survey) if is_of_any_scale(config) else Goal(task, names)
    if task == "multilabel":
        return Goal(task, names, names, scores=scores)
    classes = dataset.classes or [number_word(value) for value in survey.distinct.tolist()]
    return Goal(task, names, tuple(classes), scores=scores)


def _seen(survey: Survey, dataset: ShardedDataset, source: str) -> Seen:
    columns = int(np.prod(survey.shape, dtype=int))
    named = dataset.classes is not None
    distinct = dataset.classes if named else survey.distinct[: 10**4].tolist()
    whole = not survey.are_floats
    return Seen(columns, survey.samples, named, whole, distinct or [], {"path": source})


def _goal(config: Config, task: str, survey: Survey, dataset: ShardedDataset) -> Goal:
    scores = "probabilities" if loss_name(config) == "BCELoss" else "logits"
    if task != "regression":
        names = dataset.classes
        if names is None and task == "multilabel":
            names = [str(number) for number in range(int(np.prod(survey.shape, dtype=int)))]
        if names is None:
            names = counted_names(survey.distinct, task, has_model(config))
        return Goal(task, classes=tuple(names), scores=scores)
    asked = config["data"].get("standardize_target", not has_model(config))
    if asked and not is_of_any_scale(config):
        if "standardize_target" in config["data"]:
            requirement = "data.standardize_target is for MSELoss or L1Loss"
            raise value_error("config", requirement, loss=loss_name(config))
        asked = False
    return _scaled(Goal(task), survey) if asked else Goal(task)


def _scaled(goal: Goal, survey: Survey) -> Goal:
    """A goal with the scale of the numbers that are learned."""
    varies = survey.std > 1e-12 * np.abs(survey.mean)  # all that rounding leaves is no scale
    std = np.where(varies, survey.std, 1.0)
    mean = np.reshape(survey.mean, -1).tolist()
    return replace(goal, mean=tuple(mean), std=tuple(np.reshape(std, -1).tolist()))


def _standardized(config: Config, train: ShardedSubset, dataset: ShardedDataset) -> Config:
    """``config`` with a mean and a deviation for each column or channel, if it leaves them open."""
    table = dict(config["data"])
    said = "standardize" in table
    asked = table.pop("standardize", False)
    if asked and "normalize" in table:
        requirement = "data.standardize needs no data.normalize beside it"
        raise value_error("config", requirement, standardize=True)
    shape = dataset.parts[0].shape
    is_usual = not has_model(config) and "normalize" not in table and len(shape) in (1, 3)
    if not asked and (said or not is_usual):
        return config
    rows = _looked_at(train).astype(np.float64)
    if not np.isfinite(rows).all():
        raise value_error("data", "inputs must have no NaN or infinity", path=table["train"])
    axes = tuple(axis for axis in range(rows.ndim) if axis != 1)
    deviation = rows.std(axis=axes)
    table["normalize"] = {
        "mean": rows.mean(axis=axes).tolist(),
        "std": np.where(deviation > 0, deviation, 1.0).tolist(),
    }
    return {**config, "data": table}


def _looked_at(train: ShardedSubset, most: int = _LOOKED_AT) -> Any:
    """Inputs of some samples to train on, from all over the shards."""
    size = max(1, sum(part.nbytes for part in train.batch(slice(0, 1))))
    count = min(len(train), most, max(1, _BYTES // size))
    length = -(-count // _STRETCHES)
    begins = np.linspace(0, len(train) - length, _STRETCHES).astype(np.int64)
    places = np.unique(begins[:, None] + np.arange(length)) if count < len(train) else slice(count)
    return train.batch(places)[0]


def _pictures(config: Config, state: Any) -> Prepared:
    """Pictures in archives, decoded when they are needed, or as arrays."""
    table = config["data"]
    source = table["train"]
    whole = ShardedDataset(source, size=1)
    if len(whole.parts) != 2:
        requirement = "shards of pictures must have a class for each (.cls beside each picture)"
        found = [part.name for part in whole.parts]
        raise value_error("data", requirement, path=source, parts=found)
    source_shape = whole.parts[0].shape
    if whole.parts[0].name == PICTURE:
        first = ShardedDataset([whole.paths[0]])  # of the others the sizes may be others
        size = chosen_size(table, np.array([first.parts[0].shape[1:]]))
        mode = table.get("mode") or _colours(source)
    else:
        if len(source_shape) != 3 or source_shape[0] not in _MODES:
            requirement = "pictures must be arrays of channels, height and width"
            raise value_error("data", requirement, path=source, shape=source_shape)
        size, mode = (source_shape[1], source_shape[2]), _MODES[source_shape[0]]
        for key, packed in (("size", list(size)), ("mode", mode)):
            given = table.get(key, packed)
            if given != packed:
                requirement = f"data.{key} must be that of the packed pictures, {packed}"
                raise value_error("config", requirement, **{key: given})
    dataset = ShardedDataset(source, size=size, mode=mode)
    names = dataset.classes
    if names is None:
        survey = surveyed(source, whole.parts[1].name)
        names = counted_names(survey.distinct, "multiclass", is_chosen=False)
    seen = Seen(1, len(dataset), True, False, list(names), {"path": source})
    task = decided(seen, config)
    scores = "probabilities" if loss_name(config) == "BCELoss" else "logits"
    goal = Goal(task.name, ("class",), tuple(names), scores=scores)
    parts = _divided(config, ShardedSubset.whole(dataset))
    if state is not None:
        made = PicturePreparation.from_state(state)
    else:
        pixels = _looked_at(parts[0], 512)
        made = PicturePreparation(size, mode, *learned_scale(pixels, table.get("normalize")), goal)
    changed = {"task": task.name, "size": list(made.size), "mode": made.mode}
    config = {**config, "data": {**table, **changed}}
    return _prepared(config, made, dataset, parts, task)


def _colours(source: str) -> str:
    """ "L" if the first pictures have no colours, otherwise "RGB"."""
    some = ShardedDataset(source, size=32, mode="RGB")
    pixels = some.batch(slice(0, 50))[0].astype(np.int16)
    return "RGB" if np.abs(pixels - pixels[:, :1]).max() > 8 else "L"


def _text(config: Config, state: Any) -> Prepared:
    """Tokens, of which the next is to be learned; what comes last is for the test."""
    table = config["data"]
    source = table["train"]
    if table.get("task", "sequence") != "sequence":
        requirement = "data.task must be 'sequence' for shards of tokens"
        raise value_error("config", requirement, task=table["task"])
    context = arguments.integer("config", "data.context", table.get("context", CONTEXT), 2)
    dataset = ShardedDataset(source, context=context)
    if dataset.vocabulary is None:
        requirement = "shards of tokens must have the index that extensor pack writes"
        raise value_error("data", requirement, path=source)
    if dataset.vocabulary.kind == "character" and len(dataset.vocabulary.characters) < 2:
        requirement = f"{source} must have at least two different characters"
        raise value_error("data", requirement, characters=list(dataset.vocabulary.characters))
    if table.get("vocabulary", dataset.vocabulary.kind) != dataset.vocabulary.kind:
        requirement = f"data.vocabulary must be that of the shards, {dataset.vocabulary.kind!r}"
        raise value_error("config", requirement, vocabulary=table["vocabulary"])
    made = TextPreparation(dataset.vocabulary, context)
    if state is not None:
        made = TextPreparation.from_state(state)
    whole, count = ShardedSubset.whole(dataset), len(dataset)
    validation, test = fractions(config, 0.05, 0.05)
    cuts = [
        count - sum(max(1, round(share * count)) for share in shares if share)
        for shares in ((validation, test), (test,))
    ]
    if cuts[0] < 1:
        requirement = f"{source} must have windows for each part, or data.context be less"
        raise value_error("data", requirement, windows=count, context=context)
    bounds = [0, *cuts, count]
    parts = [whole.between(bounds[i], bounds[i + 1]) for i in range(3)]
    held = {
        name: None if name in table else part
        for name, part in zip(("validation", "test"), parts[1:], strict=True)
    }
    changed = {"task": "sequence", "context": made.context, "vocabulary": made.vocabulary.kind}
    config = {**config, "data": {**table, **changed}}
    return _prepared(config, made, dataset, (parts[0], held["validation"], held["test"]), None)


def _divided(
    config: Config, whole: ShardedSubset
) -> tuple[ShardedSubset, ShardedSubset | None, ShardedSubset | None]:
    """The parts of the samples; those with a folder of their own are None."""
    shares = fractions(config, VALIDATION, TEST)
    generator = Generator(config["seed"])
    rest, held, left = whole, [], 1.0
    for share in reversed(shares):
        part = None
        if share:
            try:
                rest, part = rest.split(share / left, generator)
            except ValueError:
                requirement = f"{config['data']['train']} must have samples for each part"
                raise value_error("data", requirement, samples=len(whole)) from None
            left -= share
        held.append(part)
    return rest, held[1], held[0]


def _prepared(
    config: Config,
    made: Any,
    dataset: ShardedDataset,
    parts: tuple[Any, Any, Any],
    task: Any,
    described: Sequence[str] = (),
) -> Prepared:
    """The parts as samples for the model, and what a person should know of them."""
    table = config["data"]
    train, *held = parts
    names = ("validation", "test")
    samples = [
        made.labelled(table[name]) if part is None else Samples(_samples(made, part, dataset))
        for name, part in zip(names, held, strict=True)
    ]
    said = [f"{len(train):,} to train on"]
    for name, part in zip(names, held, strict=True):
        words = "for the test" if name == "test" else "for validation"
        said.append(f"{name} from {table[name]}" if part is None else f"{len(part):,} {words}")
    shapes = ", ".join(f"{part.name} {part.dtype} {part.shape}" for part in dataset.parts)
    lines = [
        f"{table['train']}: {len(dataset):,} samples in {len(dataset.paths):,} shards ({shapes})"
    ]
    lines += described
    if task is not None:
        lines.append(f"task {task.name}: {task.reason}")
    if made.goal.classes:
        shown = ", ".join(made.goal.classes[:12])
        lines.append(f"classes {shown}{', ...' if len(made.goal.classes) > 12 else ''}")
    lines.append(
        f"divided{'' if task else ' in order'}: {', '.join(said)}; read as they are needed"
    )
    lines += [f"{table[n]}: {x}" for n, s in zip(names, samples, strict=True) for x in s.lines]
    validation, test = (x.dataset for x in samples)
    return Prepared(config, made, _samples(made, train, dataset), validation, test, lines)


def _samples(made: Any, part: ShardedSubset, dataset: ShardedDataset) -> Any:
    """A part of the shards as the model takes it."""
    if made.kind == "text":
        return part
    return made.of_shards(part, dataset.classes, source=str(dataset.paths[0].parent))
