"""The configuration of an experiment: read from TOML or a dict, checked, and kept as frozen dataclasses.

A table of the configuration is a :class:`Section`, whose missing entries are None. A table that names
something and holds its arguments is a :class:`NamedSpec`. Both remember the order of their entries, so
a configuration is written as it was read, with additions before or after."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from datetime import date, time
from importlib.resources import files
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from extensor.errors import arguments, type_error, value_error
from extensor.errors.messages import KEY_UNKNOWN, suggestion
from extensor.io.paths import as_path, explain_unreadable
from extensor.io.regular_files import file_text
from extensor.io.toml import check_depth, parse_toml
from extensor.train.tasks import LossTraits, loss_traits

Config = dict[str, Any]
Self = TypeVar("Self", bound="Section")
TABLES = ("table", "series")
_CLASSES = ("table", "pictures", "arrays")


@dataclass(frozen=True, eq=False)
class NamedSpec:
    """A table with the ``name`` of a model, a loss or the like, and ``arguments`` for it."""

    entries: Mapping[str, Any]  # in the order in which they are written

    @property
    def name(self) -> Any:
        """The name, or None."""
        return self.entries.get("name")

    @property
    def is_function(self) -> bool:
        """Whether the name is a user's function, ``module:function``."""
        return is_function_name(self.name)

    @property
    def arguments(self) -> Config:
        """All entries but the name."""
        return {key: value for key, value in self.entries.items() if key != "name"}

    def with_defaults(self, **entries: Any) -> NamedSpec:
        """A copy with the missing ones of these entries, before the others."""
        return NamedSpec({**entries, **self.entries})

    def to_dict(self) -> Config:
        """The table as a dict."""
        return _tables_last(self.entries)


@dataclass(frozen=True)
class Section:
    """A table of the configuration; ``written`` are its entries, in their order."""

    written: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    @classmethod
    def from_dict(cls: type[Self], table: Mapping[str, Any]) -> Self:
        """The section of a table with known keys. Values are not checked."""
        return cls(written=()).with_entries(**table)

    def to_dict(self) -> Config:
        """The table as TOML has it: values first, then tables."""
        return _tables_last({key: getattr(self, key) for key in self.written})

    def with_entries(self: Self, **entries: Any) -> Self:
        """A copy with these entries; new ones come after the others."""
        new = tuple(key for key in entries if key not in self.written)
        values = {key: _as_section(type(self), key, value) for key, value in entries.items()}
        return replace(self, written=(*self.written, *new), **values)

    def with_defaults(self: Self, **entries: Any) -> Self:
        """A copy with these entries before the others; values that it has already stay."""
        new = {key: value for key, value in entries.items() if key not in self.written}
        rest = tuple(key for key in self.written if key not in entries)
        return replace(self.with_entries(**new), written=(*entries, *rest))

    def without(self: Self, *keys: str) -> Self:
        """A copy that lacks these entries."""
        left = tuple(key for key in self.written if key not in keys)
        return replace(self, written=left, **dict.fromkeys(keys))


def _as_section(kind: type[Section], key: str, value: Any) -> Any:
    table = _hints(kind)[key][0]
    if not isinstance(value, Mapping):
        return value
    if isinstance(table, type) and issubclass(table, Section):
        return table.from_dict(value)
    return NamedSpec(value) if table is NamedSpec else value


def _tables_last(entries: Mapping[str, Any]) -> Config:
    """A copy of plain values in the order that TOML gives them, which has no word for None."""
    plain = {
        key: x.to_dict() if isinstance(x, Section | NamedSpec) else deepcopy(x)
        for key, x in entries.items()
        if x is not None
    }
    plain = {key: _tables_last(x) if isinstance(x, dict) else x for key, x in plain.items()}
    values = {key: x for key, x in plain.items() if not isinstance(x, dict)}
    return values | {key: x for key, x in plain.items() if isinstance(x, dict)}


@dataclass(frozen=True)
class NormalizeSpec(Section):
    """``[data.normalize]``: the arguments of :class:`~extensor.data.Normalize`."""

    mean: int | float | list[float] | None = None
    std: int | float | list[float] | None = None
    scale: int | float | None = None


def _for(*kinds: str) -> dict[str, Any]:
    """The metadata of an entry that has a meaning for these kinds of data only."""
    return {"kinds": kinds}


@dataclass(frozen=True)
class DataSpec(Section):
    """``[data]``: the place of the data, their targets, and how they are read and divided."""

    name: str | None = field(default=None, metadata=_for("arrays"))
    root: str | None = field(default=None, metadata=_for("arrays"))
    kind: str | None = None
    task: str | None = None
    train: str | None = None
    validation: str | None = None
    test: str | None = None
    validation_fraction: int | float | None = None
    test_fraction: int | float | None = None
    stratify: bool | None = field(default=None, metadata=_for("table", "pictures"))
    group: str | int | None = field(default=None, metadata=_for("table"))
    in_order: bool | None = field(default=None, metadata=_for("table"))
    class_weight: str | None = field(default=None, metadata=_for(*_CLASSES))
    sampling: str | None = field(default=None, metadata=_for(*_CLASSES))
    inputs: str | list[Any] | None = field(default=None, metadata=_for("arrays"))
    target: str | int | list[Any] | None = field(default=None, metadata=_for(*TABLES, "arrays"))
    header: bool | None = field(default=None, metadata=_for(*TABLES, "arrays"))
    delimiter: str | None = field(default=None, metadata=_for(*TABLES, "arrays"))
    decimal: str | None = field(default=None, metadata=_for(*TABLES))
    encoding: str | None = field(default=None, metadata=_for(*TABLES))
    columns: dict[str, Any] | None = field(default=None, metadata=_for(*TABLES))
    drop: list[Any] | None = field(default=None, metadata=_for(*TABLES))
    window: int | None = field(default=None, metadata=_for("series"))
    horizon: int | None = field(default=None, metadata=_for("series"))
    vocabulary: str | None = field(default=None, metadata=_for("text"))
    context: int | None = field(default=None, metadata=_for("text"))
    size: int | list[int] | None = field(default=None, metadata=_for("pictures", "arrays"))
    mode: str | None = field(default=None, metadata=_for("pictures", "arrays"))
    batch_size: int | None = None
    workers: int | None = None
    standardize: bool | None = field(default=None, metadata=_for("arrays"))
    standardize_target: bool | None = field(default=None, metadata=_for("arrays"))
    normalize: NormalizeSpec | None = field(default=None, metadata=_for("arrays", "pictures"))
    augment: dict[str, Any] | None = field(default=None, metadata=_for("pictures", "arrays"))

    def options(self, *names: str) -> Config:
        """These entries, without missing ones."""
        return {key: getattr(self, key) for key in names if getattr(self, key) is not None}

    def check_entry(self, key: str, allowed: Collection[Any], requirement: str) -> None:
        """Refuse an entry that is written and none of those ``allowed``."""
        value = getattr(self, key)
        if value is not None and value not in allowed:
            raise value_error("config", f"data.{key} must be {requirement}", **{key: value})

    def check_kind(self, kind: str) -> None:
        """Refuse entries that mean nothing for data of this kind."""
        for entry in fields(self):
            key, kinds = entry.name, entry.metadata.get("kinds", (kind,))
            value = getattr(self, key)
            if value is not None and kind not in kinds:
                requirement = f"data.{key} is for {', '.join(kinds)}, not for {kind}"
                shown = value.to_dict() if isinstance(value, Section) else value
                raise value_error("config", requirement, **{key: shown})


@dataclass(frozen=True)
class EarlyStoppingSpec(Section):
    """``[early_stopping]``: the arguments of :class:`~extensor.train.EarlyStopping`."""

    monitor: str | None = None
    patience: int | None = None
    min_delta: int | float | None = None


@dataclass(frozen=True)
class SamplesSpec(Section):
    """``[samples]``: the texts that a model writes after each epoch."""

    length: int | None = None
    prompt: str | None = None
    temperature: int | float | None = None


@dataclass(frozen=True)
class CheckpointsSpec(Section):
    """``[checkpoints]``: which are written and kept."""

    every: int | None = None
    keep: int | None = None
    best: str | None = None


@dataclass(frozen=True)
class ClippingSpec(Section):
    """``[clipping]``: the largest gradients."""

    norm: int | float | None = None
    value: int | float | None = None


@dataclass(frozen=True)
class EMASpec(Section):
    """``[ema]``: the arguments of :class:`~extensor.optim.EMA`."""

    decay: int | float | None = None
    warmup: bool | None = None


@dataclass(frozen=True)
class ExperimentSpec(Section):
    """The whole configuration. ``resumed`` is the record of changes during a run."""

    seed: int = 0
    epochs: int = 0  # 0 until the defaults for the data are known
    accumulate: int | None = None
    micro_batches: int | None = None
    shard_optimizer: bool | None = None
    sync_batch_norm: bool | None = None
    loss_reduction: str | None = None
    amp: str | None = None
    compile: str | None = None
    device: str | None = None
    metrics: list[Any] | None = None
    data: DataSpec = DataSpec()
    model: NamedSpec | None = None
    loss: NamedSpec | None = None
    optimizer: NamedSpec | None = None
    schedule: NamedSpec | None = None
    early_stopping: EarlyStoppingSpec | None = None
    samples: SamplesSpec | None = None
    checkpoints: CheckpointsSpec | None = None
    clipping: ClippingSpec | None = None
    ema: EMASpec | None = None
    resumed: dict[str, Any] | None = None

    @property
    def loss_name(self) -> str:
        """The name of the chosen loss, or an empty string."""
        return "" if self.loss is None else str(self.loss.name or "")

    @property
    def loss_traits(self) -> LossTraits:
        """The outputs and targets that this loss takes."""
        return loss_traits(self.loss_name)

    @property
    def is_of_any_scale(self) -> bool:
        """Whether numbers to be learned may be scaled: no loss is chosen that has a length."""
        return not self.loss_name or self.loss_traits.of_any_scale

    @property
    def has_model(self) -> bool:
        """Whether a model is chosen. Entries without a name only change the usual model of a file."""
        named = self.model is not None and self.model.name is not None
        return named or (self.model is not None and self.data.train is None)

    @property
    def model_entries(self) -> Mapping[str, Any]:
        """The entries of ``[model]``, none if there is no such table."""
        return {} if self.model is None else self.model.entries

    def with_data(self, **entries: Any) -> ExperimentSpec:
        """A copy with these entries in ``[data]``."""
        return self.with_entries(data=self.data.with_entries(**entries))


def _hints(section: type[Section]) -> dict[str, tuple[Any, ...]]:
    """Of each entry the types that its value may have, without None."""
    if section not in _HINTS:
        hints = get_type_hints(section)
        _HINTS[section] = {
            entry.name: _kinds(hints[entry.name])
            for entry in fields(section)
            if entry.name != "written"
        }
    return _HINTS[section]


_HINTS: dict[type[Section], dict[str, tuple[Any, ...]]] = {}


def _kinds(hint: Any) -> tuple[Any, ...]:
    kinds = get_args(hint) if isinstance(hint, UnionType) else (hint,)
    return tuple(get_origin(kind) or kind for kind in kinds if kind is not NoneType)


def _keys(section: type[Section]) -> Config:
    """Each key and the types of its value; a section is a dict of its keys."""
    return {
        key: _keys(kinds[0])
        if issubclass(kinds[0], Section)
        else tuple(dict if kind is NamedSpec else kind for kind in kinds)
        for key, kinds in _hints(section).items()
    }


KEYS: Config = _keys(ExperimentSpec)


Source = str | Path | Mapping[str, Any] | None

_LEAST = {"seed": 0, "epochs": 1, "accumulate": 1, "micro_batches": 1}
_WORDS = {"class_weight": ("balanced",), "sampling": ("weighted",)}  # entries of [data]


def read_config(source: Source = None, changes: Iterable[tuple[str, Any]] = ()) -> Config:
    """The configuration in ``source``, with ``changes`` made in it, checked and with defaults."""
    config = stored_config(source)
    for key, value in changes:
        set_entry(config, key, value)
    return checked_config(config)


def stored_config(source: Source) -> Config:
    """The configuration in a TOML file or a dict, by default that of the digits."""
    if isinstance(source, Mapping):
        check_depth("config", source, "a dict")
        return _plain_table(source, "")
    is_empty = isinstance(source, str) and not source  # which the system takes for this folder
    place = files("extensor.experiments") / "digits.toml"
    if source is not None:
        place = as_path("config", "." if is_empty else source, ", or a dict")
    try:
        with explain_unreadable("config", source):
            text = file_text(place) if isinstance(place, Path) else place.read_text("utf-8")
    except UnicodeDecodeError:
        raise value_error("config", "file must be TOML, in UTF-8", path=str(source)) from None
    return parse_toml("config", text, source)


def _plain_table(table: Mapping[str, Any], path: str) -> Config:
    """A copy as TOML would have it: an entry that is None is not there."""
    for key in table:
        if not isinstance(key, str):
            raise type_error("config", "keys must be strings", key=arguments.briefly(key))
    return {k: _plain(x, f"{path}{k}") for k, x in table.items() if x is not None}


def _plain(value: Any, path: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return _plain_table(value, f"{path}.")
    if isinstance(value, list | tuple):
        return [_plain(x, path) for x in value]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str | int | float | date | time):  # the types of TOML
        return value
    requirement = f"{path} must be a string, a number, true or false, or a list or dict of them"
    raise type_error("config", requirement, type=type(value).__name__)


def set_entry(config: Config, key: str, value: Any) -> None:
    """Set one value, of ``optimizer.lr`` for example; None removes the entry."""
    if value is None and not _has(config, key.split(".")):
        return
    table, last = place_of(config, key, "changes", key=key)
    if value is None:
        del table[last]
    else:
        table[last] = _plain(value, key)


def _has(table: Any, names: list[str]) -> bool:
    for name in names:
        if not isinstance(table, dict) or name not in table:
            return False
        table = table[name]
    return True


def place_of(config: Config, entry: str, op: str, **given: Any) -> tuple[Config, str]:
    """The table that has, or will have, ``entry``, and its name in it."""
    *tables, last = entry.split(".")
    if (*tables, last)[0] == "resumed":
        raise value_error(op, "resumed is for the run itself to write", **given)
    table = config
    for name in tables:
        table = table.setdefault(name, {})
        if not isinstance(table, dict):
            raise value_error(op, f"{name} must be a table", **given)
    return table, last


def checked_config(config: Config) -> Config:
    """``config`` with the defaults of a run, or an error that names the wrong entry."""
    config = {"seed": 0, **config}
    check_depth("config", config, "changes")
    _check(config, KEYS, "")
    data = config.get("data", {})
    for key, words in _WORDS.items():
        if data.get(key, words[0]) not in words:
            requirement = f"data.{key} must be one of {list(words)}"
            raise value_error("config", requirement, **{key: data[key]})
    if "data" not in config:
        raise value_error("config", "[data] must be given", tables=list(config))
    if "model" not in config and not {"train", "name"} & data.keys():
        requirement = "data.train must be given, the file or folder to train on"
        raise value_error("config", requirement, entries=list(data))
    if "model" not in config and "train" not in data:
        raise value_error("config", "[model] must be given", tables=list(config))
    for key, least in _LEAST.items():
        if config.get(key, least) < least:
            raise value_error("config", f"{key} must be {least} or more", **{key: config[key]})
    return config


def _check(table: Mapping[str, Any], keys: Mapping[str, Any], path: str) -> None:
    check_keys(path, table, keys)
    for key, value in table.items():
        kinds = (dict,) if isinstance(keys[key], dict) else keys[key]
        # True is a number in Python, but not in a configuration.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join(_WORDS_OF_TYPES[kind] for kind in kinds)
            raise value_error("config", f"{path}{key} must be {words}", **{key: value})
        if isinstance(keys[key], dict):
            _check(value, keys[key], f"{path}{key}.")


_WORDS_OF_TYPES: dict[type, str] = {
    dict: "a table",
    str: "a string",
    int: "an integer",
    float: "a number",
    list: "a list",
    bool: "true or false",
}


def check_keys(path: str, table: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a key that is not ``known``, and suggest the one that was probably meant."""
    names = list(known)
    for key in table:
        if key not in names:
            raise KEY_UNKNOWN.error(suggestion(key, names, path), key=path + key)


def check_effect(changes: Mapping[str, tuple[Any, Any]], spec: ExperimentSpec) -> None:
    """Refuse entries that the schedule overwrites at each step."""
    if spec.schedule is None or spec.schedule.name != "OneCycleLR":
        return
    scheduled = {"optimizer.lr": "schedule.max_lr"}
    if spec.schedule.arguments.get("cycle_momentum", True):
        momenta = "schedule.base_momentum and schedule.max_momentum"
        scheduled["optimizer.momentum"] = momenta
        before, after = changes.get("optimizer.betas", (None, None))
        if before and after and before[0] != after[0]:
            scheduled["optimizer.betas"] = momenta
    for key, instead in scheduled.items():
        if key in changes:
            requirement = f"{key} has no effect under OneCycleLR; set {instead}"
            raise value_error("config", requirement, **{key.rpartition(".")[2]: changes[key][1]})


def listed_changes(op: str, changes: Any) -> list[tuple[str, Any]]:
    """Check ``changes``, and return its entries and values."""
    if changes is None:
        return []
    if not isinstance(changes, Mapping):
        requirement = "changes must be a dict of entries and values, as {'optimizer.lr': 0.01}"
        raise type_error(op, requirement, changes=arguments.briefly(changes))
    for key in changes:
        if not isinstance(key, str) or not all(key.split(".")):
            requirement = "changes must name entries, as {'optimizer.lr': 0.01}"
            raise value_error(op, requirement, key=arguments.briefly(key))
    return list(changes.items())


def is_function_name(name: object) -> bool:
    """Whether an entry ``name`` is a user's function, ``module:function``."""
    return isinstance(name, str) and ":" in name


def function_names(config: Mapping[str, Any]) -> dict[str, str]:
    """The functions that a configuration names, by entry.

    >>> from extensor.experiments.spec import function_names
    >>> function_names({"model": {"name": "mymodels:wide"}, "optimizer": {"name": "Adam"}})
    {'model.name': 'mymodels:wide'}
    """
    tables = {key: x for key, x in config.items() if key != "resumed"}
    names = dict(_names_in(tables, ""))
    augmentations = tables["data"].get("augment") if isinstance(tables.get("data"), dict) else None
    # An augmentation has no entry for its name: its table is called by it.
    for name in augmentations if isinstance(augmentations, Mapping) else ():
        if is_function_name(name):
            names[f"data.augment.{name}"] = name
    return names


def _names_in(table: Mapping[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _names_in(value, f"{path}{key}.")
        elif key == "name" and is_function_name(value):
            yield path + key, value
