"""Sources of data: the kind of a file, and its preparation, also restored from a checkpoint.

Each kind has a module with a preparation and a function ``prepare``, and all but series have
``prepare_shards`` for folders of shards.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from extensor.core import entries
from extensor.data.picture_files import is_picture
from extensor.data.splitting import VALIDATION
from extensor.data.streaming.shard_files import SPLITS, split_folders
from extensor.data.table.reading import ENDINGS as TABLE_ENDINGS
from extensor.data.table.reading import table_suffix
from extensor.errors import type_error, value_error
from extensor.errors.screen import screen_line
from extensor.experiments.sources import (
    array_source,
    picture_source,
    series_source,
    table_source,
    text_source,
)
from extensor.experiments.sources.preparation import (
    HELD,
    Preparation,
    PreparedData,
    Samples,
    is_sharded,
    shard_paths,
    sharded_kind,
)
from extensor.experiments.spec import TABLES, DataSpec, ExperimentSpec
from extensor.io.paths import as_path, check_unicode, existing, is_glob, is_there

__all__ = [
    "Preparation",
    "PreparedData",
    "Samples",
    "preparation_state",
    "prepare_data",
    "restore_preparation",
    "with_kind",
]

_SOURCES: dict[str, Any] = {
    "arrays": array_source,
    "table": table_source,
    "series": series_source,
    "pictures": picture_source,
    "text": text_source,
}
_WORKERS = 2  # threads that read shards, by default
_IN_MEMORY = "is for data in memory, not for shards"
_REFUSED = {
    **dict.fromkeys(("class_weight", "sampling", "stratify", "group", "in_order"), _IN_MEMORY),
    **dict.fromkeys(("header", "delimiter"), _IN_MEMORY),
    **dict.fromkeys(("size", "mode"), "is for pictures, not for these shards"),
    **dict.fromkeys(
        ("columns", "drop", "decimal", "encoding"),
        "must be set when the table is packed (extensor pack --help)",
    ),
}
_RESTORE: dict[str, Any] = {
    "table": table_source.TablePreparation.from_state,
    "series": series_source.SeriesPreparation.from_state,
    "pictures": picture_source.PicturePreparation.from_state,
    "text": text_source.TextPreparation.from_state,
}
_ENDINGS = {
    "table": TABLE_ENDINGS,
    "text": (".txt", ".text", ".md"),
    "arrays": (".npz", ".npy"),
}


def with_kind(spec: ExperimentSpec) -> ExperimentSpec:
    """Add the kind of the data, as written or inferred from the file name, and check it."""
    data = spec.data
    data.check_entry("kind", _SOURCES, f"one of {list(_SOURCES)}")
    if data.name is not None and data.train is not None:
        requirement = "data must have a name or a file to train on, not both"
        raise value_error("config", requirement, name=data.name)
    for key, path in data.options("train", *HELD).items():
        as_path("config", path, name=f"data.{key}")
        check_unicode("config", f"data.{key}", path)
    if data.train is not None:
        data = with_splits(data)
    kind = data.kind
    if kind is None:
        kind = "arrays" if data.train is None else kind_of_file(data.train)
        if kind == "table" and (data.horizon is not None or data.window is not None):
            kind = "series"
    if kind in TABLES and data.standardize is True:
        data = data.without("standardize")  # as it is anyway
    data.check_kind(kind)
    is_usual = not spec.has_model
    if kind != "arrays" or is_usual:
        _check_apart(data)
    data = data.with_entries(kind=kind)
    if kind == "arrays" and is_usual and data.validation is None:
        data = data.with_defaults(validation_fraction=VALIDATION)
    return spec.with_entries(data=data)


def _check_apart(data: DataSpec) -> None:
    """Refuse to validate or test on training data, which would flatter the model."""
    paths = data.options("train", *HELD)
    files = {key: shard_paths(path) | {os.path.realpath(path)} for key, path in paths.items()}
    for key in HELD:
        same = [x for x in files if x != key and key in files and files[x] & files[key]]
        if same:
            requirement = f"data.{key} must be another file than data.{same[0]}"
            raise value_error("config", requirement, **{key: paths[key]})


def kind_of_file(path: str) -> str:
    """The kind of data in a file or folder, by its name."""
    place = as_path("data", path)
    if is_glob(place) or (is_there(place) and place.is_dir()):
        return sharded_kind(place) or "pictures"
    for kind, endings in _ENDINGS.items():
        if place.name.lower().endswith(endings):
            return kind
    existing(place)
    table_suffix("data", place)
    every = ", ".join(ending for endings in _ENDINGS.values() for ending in endings)
    requirement = f"file must end with one of {every}, or data.kind must be set"
    if is_picture(place):
        requirement = (
            "pictures must lie in folders, one for each class; train on the one around them"
        )
    raise value_error("data", requirement, path=str(path))


def prepare_data(spec: ExperimentSpec, state: Any = None) -> PreparedData:
    """Prepare the data of ``spec``. ``state`` is that of a preparation learned earlier."""
    kind, train = spec.data.kind or "arrays", spec.data.train
    if train is not None and not is_glob(train):
        existing(train)
    prepare = _prepare_shards if is_sharded(train) else _SOURCES[kind].prepare
    learnt = None if state is None else restore_preparation(spec, state)
    prepared: PreparedData = prepare(spec, learnt)
    return prepared._replace(lines=[screen_line(line) for line in prepared.lines])


def _prepare_shards(spec: ExperimentSpec, learnt: Any | None) -> PreparedData:
    """Open the shards, look at some of them, and divide the samples."""
    data = spec.data
    for key, requirement in _REFUSED.items():
        value = getattr(data, key)
        if value is not None and not (key in ("size", "mode") and data.kind == "pictures"):
            raise value_error("config", f"data.{key} {requirement}", **{key: value})
    kind = sharded_kind(Path(data.train or ""))
    if data.kind != kind:
        requirement = f"data.kind must be {kind!r} for these shards"
        raise value_error("config", requirement, kind=data.kind)
    spec = spec.with_entries(data=data.with_defaults(workers=_WORKERS))
    prepared: PreparedData = _SOURCES[str(kind)].prepare_shards(spec, learnt)
    return prepared


def restore_preparation(spec: ExperimentSpec, state: Any, op: str = "load") -> Preparation:
    """The preparation of a run, from one of its checkpoints."""
    if state is None and spec.data.kind is None:
        return array_source.preparation_of_first_release(spec)
    kind = spec.data.kind or "arrays"
    stored = entries.with_keys(op, state, ("kind", "learnt", "digest"), "preparation")
    for key in ("kind", "digest"):
        if not isinstance(stored[key], str):
            raise type_error(op, f"preparation.{key} must be a string")
    if stored["kind"] != kind:
        requirement = f"the checkpoint must have been made with data of the kind {kind}"
        raise value_error(op, requirement, kind=stored["kind"])
    if kind == "arrays":
        return array_source.ArrayPreparation.from_state(stored["learnt"], spec, op)
    preparation: Preparation = _RESTORE[kind](stored["learnt"], op)
    return preparation


def preparation_state(preparation: Preparation, digest: str) -> dict[str, Any]:
    """The state for :func:`restore_preparation`, with the digest of the data."""
    return {"kind": preparation.kind, "learnt": preparation.state_dict(), "digest": digest}


_SPLITS = ("train", "validation", "test")


def with_splits(data: DataSpec) -> DataSpec:
    """``[data]`` with the folder of a Hugging Face ``DatasetDict`` replaced by its splits."""
    folder = Path(data.train or "")
    if not is_there(folder / SPLITS):
        return data
    splits = split_folders(folder)
    others = [name for name in splits if name not in _SPLITS]
    if "train" not in splits or others:
        requirement = f"splits must be called {', '.join(_SPLITS)} ({folder}/NAME takes one alone)"
        raise value_error("data", requirement, path=str(folder), splits=list(splits))
    paths = {name: str(path) for name, path in splits.items()}
    return data.without("train").with_defaults(**paths)


def __dir__() -> list[str]:
    return sorted(__all__)
