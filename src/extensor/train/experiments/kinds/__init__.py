"""Kinds of data that people have: each is read, learnt from, and prepares new ones alike."""

from __future__ import annotations

import os
from typing import Any

from extensor.core import entries
from extensor.data.pictures import is_picture
from extensor.data.streaming.shard_files import is_glob
from extensor.data.table.reading import FOREIGN
from extensor.errors import type_error, value_error
from extensor.errors.screen import screen_line
from extensor.io.paths import as_path, check_unicode, existing, is_there
from extensor.train.experiments.config import Config, has_model
from extensor.train.experiments.kinds import arrays, pictures, series, shards, table, text
from extensor.train.experiments.kinds.parts import VALIDATION
from extensor.train.experiments.kinds.preparation import (
    Preparation,
    Prepared,
    Samples,
)
from extensor.train.experiments.kinds.sharded import (
    is_sharded,
    shard_paths,
    sharded_kind,
    with_splits,
)

__all__ = [
    "KINDS",
    "Preparation",
    "Prepared",
    "Samples",
    "prepared",
    "restored",
    "stored",
    "with_kind",
]

KINDS: dict[str, Any] = {
    "arrays": arrays,
    "table": table,
    "series": series,
    "pictures": pictures,
    "text": text,
}
_RESTORED: dict[str, Any] = {
    "table": table.TablePreparation.from_state,
    "series": series.SeriesPreparation.from_state,
    "pictures": pictures.PicturePreparation.from_state,
    "text": text.TextPreparation.from_state,
}
_TEXTS = (".txt", ".text", ".md")
_ARRAYS = (".npz", ".npy")
ENDINGS = (*table.ENDINGS, *_TEXTS, *_ARRAYS)


def with_kind(config: Config) -> Config:
    """``config`` with the kind of its data: as it is said, or by the name of the file."""
    data = config["data"]
    kind = data.get("kind")
    if kind is not None and kind not in KINDS:
        raise value_error("config", f"data.kind must be one of {list(KINDS)}", kind=kind)
    if "name" in data and "train" in data:
        requirement = "data must have a name or a file to train on, not both"
        raise value_error("config", requirement, name=data["name"])
    for key in ("train", *_HELD):
        if key in data:
            as_path("config", data[key], name=f"data.{key}")
            check_unicode("config", f"data.{key}", data[key])
    if "train" in data:
        data = with_splits(data)
    if kind is None:
        kind = kind_of_file(data["train"]) if "train" in data else "arrays"
        if kind == "table" and ("horizon" in data or "window" in data):
            kind = "series"
    if kind in _TABLES and data.get("standardize") is True:
        data = {
            key: value for key, value in data.items() if key != "standardize"
        }  # as it is anyway
    for key, kinds in _ONLY.items():
        if key in data and kind not in kinds:
            requirement = f"data.{key} is for {', '.join(kinds)}, not for {kind}"
            raise value_error("config", requirement, **{key: data[key]})
    if kind != "arrays" or not has_model(config):
        _check_apart(data)
    data = {**data, "kind": kind}
    if kind == "arrays" and not has_model(config) and "validation" not in data:
        data = {"validation_fraction": VALIDATION, **data}
    return {**config, "data": data}


def _check_apart(data: Config) -> None:
    """Refuse to choose by, or to test on, what was learned: it would seem better than it is."""
    there = {
        key: shard_paths(data[key]) | {os.path.realpath(data[key])}
        for key in ("train", *_HELD)
        if key in data
    }
    for key in _HELD:
        same = [x for x in there if x != key and key in there and there[x] & there[key]]
        if same:
            requirement = f"data.{key} must be another file than data.{same[0]}"
            raise value_error("config", requirement, **{key: data[key]})


# Entries that mean something for some kinds only.
_HELD = ("validation", "test")
_TABLES = ("table", "series")
_CLASSES = ("table", "pictures", "arrays")
_ONLY: dict[str, tuple[str, ...]] = {
    "name": ("arrays",),
    "root": ("arrays",),
    "inputs": ("arrays",),
    "target": (*_TABLES, "arrays"),
    "class_weight": _CLASSES,
    "sampling": _CLASSES,
    "augment": ("pictures", "arrays"),
    "normalize": ("arrays", "pictures"),
    "standardize": ("arrays",),
    "standardize_target": ("arrays",),
    "delimiter": (*_TABLES, "arrays"),
    "header": (*_TABLES, "arrays"),
    "decimal": _TABLES,
    "encoding": _TABLES,
    "columns": _TABLES,
    "drop": _TABLES,
    "group": ("table",),
    "in_order": ("table",),
    "stratify": ("table", "pictures"),
    "window": ("series",),
    "horizon": ("series",),
    "size": ("pictures", "arrays"),
    "mode": ("pictures", "arrays"),
    "vocabulary": ("text",),
    "context": ("text",),
}


def kind_of_file(path: str) -> str:
    """The kind of data that lie in a file or folder, by its name."""
    place = as_path("data", path)
    name = place.name.lower()
    if is_glob(place) or (is_there(place) and place.is_dir()):
        return sharded_kind(place) or "pictures"
    if name.endswith(table.ENDINGS):
        return "table"
    if name.endswith(_TEXTS):
        return "text"
    if name.endswith(_ARRAYS):
        return "arrays"
    existing(place)
    requirement = f"file must end with one of {', '.join(ENDINGS)}, or data.kind say what it is"
    if place.suffix.lower() in FOREIGN:
        requirement = f"file must be CSV, Parquet or Arrow ({FOREIGN[place.suffix.lower()]})"
    elif is_picture(place):
        requirement = (
            "pictures must lie in folders, one for each class; train on the one around them"
        )
    raise value_error("data", requirement, path=str(path))


def prepared(config: Config, state: Any = None) -> Prepared:
    """The data of ``config``; what was learnt about them is ``state``, if it was learnt already."""
    kind = config["data"].get("kind", "arrays")
    if "train" in config["data"] and not is_glob(config["data"]["train"]):
        existing(config["data"]["train"])
    module = shards if is_sharded(config["data"].get("train")) else KINDS[kind]
    made: Prepared = module.prepare(config, None if state is None else _inside(state, kind))
    return made._replace(lines=[screen_line(line) for line in made.lines])


def restored(config: Config, state: Any, op: str = "load") -> Preparation:
    """What a run has learnt about its data, from a checkpoint of it."""
    if state is None and "kind" not in config["data"]:
        return arrays.of_an_earlier_run(config)
    kind = config["data"].get("kind", "arrays")
    inside = _inside(state, kind, op)
    if kind == "arrays":
        return arrays.ArrayPreparation.from_state(inside, config, op)
    made: Preparation = _RESTORED[kind](inside, op)
    return made


def _inside(state: Any, kind: str, op: str = "load") -> Any:
    given = entries.with_keys(op, state, ("kind", "learnt", "digest"), "preparation")
    for key in ("kind", "digest"):
        if not isinstance(given[key], str):
            raise type_error(op, f"preparation.{key} must be a string")
    if given["kind"] != kind:
        requirement = f"the checkpoint must have been made with data of the kind {kind}"
        raise value_error(op, requirement, kind=given["kind"])
    return given["learnt"]


def stored(preparation: Preparation, digest: str) -> dict[str, Any]:
    """What :func:`restored` takes, and the digest of the data that it was learnt from."""
    return {"kind": preparation.kind, "learnt": preparation.state_dict(), "digest": digest}
