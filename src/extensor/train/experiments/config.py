"""The configuration of an experiment: a TOML file or a dict, changes in it, and its keys."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import date, time
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from extensor.errors import arguments, type_error, value_error
from extensor.errors.suggestions import nearest as nearest
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import file_text
from extensor.io.toml import check_depth, parse_toml

Config = dict[str, Any]
Source = str | Path | Mapping[str, Any] | None

_NUMBER = (int, float)
_NUMBERS = (int, float, list)
_NAMED = dict  # a table with a name, whose other keys are the arguments of what it names

# Each key, and what its value must be; a dict is a table.
KEYS: dict[str, Any] = {
    "seed": int,
    "epochs": int,
    "accumulate": int,
    "micro_batches": int,
    "shard_optimizer": bool,
    "sync_batch_norm": bool,
    "loss_reduction": str,
    "amp": str,
    "compile": str,
    "device": str,
    "metrics": list,
    "data": {
        "name": str,
        "root": str,
        "kind": str,
        "task": str,
        "train": str,
        "validation": str,
        "test": str,
        "validation_fraction": _NUMBER,
        "test_fraction": _NUMBER,
        "stratify": bool,
        "group": (str, int),
        "in_order": bool,
        "class_weight": str,
        "sampling": str,
        "inputs": (str, list),
        "target": (str, int, list),
        "header": bool,
        "delimiter": str,
        "decimal": str,
        "encoding": str,
        "columns": dict,
        "drop": list,
        "window": int,
        "horizon": int,
        "vocabulary": str,
        "context": int,
        "size": (int, list),
        "mode": str,
        "batch_size": int,
        "workers": int,
        "standardize": bool,
        "standardize_target": bool,
        "normalize": {"mean": _NUMBERS, "std": _NUMBERS, "scale": _NUMBER},
        "augment": _NAMED,
    },
    "model": _NAMED,
    "loss": _NAMED,
    "optimizer": _NAMED,
    "schedule": _NAMED,
    "early_stopping": {"monitor": str, "patience": int, "min_delta": _NUMBER},
    "samples": {"length": int, "prompt": str, "temperature": _NUMBER},
    "checkpoints": {"every": int, "keep": int, "best": str},
    "clipping": {"norm": _NUMBER, "value": _NUMBER},
    "ema": {"decay": _NUMBER, "warmup": bool},
    "resumed": dict,
}
DEFAULTS: Config = {"seed": 0}
_WORDS = {"class_weight": ("balanced",), "sampling": ("weighted",)}  # entries of [data]
_AT_LEAST = {"seed": 0, "epochs": 1, "accumulate": 1, "micro_batches": 1}


def read_config(source: Source = None, changes: Iterable[tuple[str, Any]] = ()) -> Config:
    """The configuration in ``source``, with ``changes`` made in it, checked and with defaults."""
    config = stored_config(source)
    for key, value in changes:
        set_entry(config, key, value)
    return checked_config(config)


def stored_config(source: Source) -> Config:
    """What stands in ``source``: a TOML file, a dict, or without either the one for the digits."""
    if isinstance(source, Mapping):
        check_depth("config", source, "a dict")
        return plain_table(source, "")
    is_empty = isinstance(source, str) and not source  # which the system takes for this folder
    place = files("extensor.train.experiments") / "digits.toml"
    if source is not None:
        place = as_path("config", "." if is_empty else source, ", or a dict")
    try:
        text = _text_of(place)
    except OSError as error:
        raise unreadable("config", source, error) from error
    except UnicodeDecodeError:
        raise value_error("config", "file must be TOML, in UTF-8", path=str(source)) from None
    return parse_toml("config", text, source)


def _text_of(place: Any) -> str:
    """The text of a file, of the user's or one that comes with the library."""
    if isinstance(place, Path):
        return file_text(place)
    return str(place.read_text(encoding="utf-8"))


def plain_table(table: Mapping[str, Any], path: str) -> Config:
    """A copy as TOML would have it: an entry that is None is not there."""
    for key in table:
        if not isinstance(key, str):
            raise type_error("config", "keys must be strings", key=arguments.briefly(key))
    return {k: _plain(x, f"{path}{k}") for k, x in table.items() if x is not None}


def _plain(value: Any, path: str) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return plain_table(value, f"{path}.")
    if isinstance(value, list | tuple):
        return [_plain(x, path) for x in value]
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str | int | float | date | time):  # what TOML has
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
    """``config`` with the defaults of a run, or an error that names the wrong entry.

    ``[resumed]`` is what a run says of its past: what was changed in it, and from which step on.
    """
    config = {**DEFAULTS, **config}
    check_depth("config", config, "changes")
    _check(config, KEYS, "")
    for key, words in _WORDS.items():
        if config["data"].get(key, words[0]) not in words if "data" in config else False:
            requirement = f"data.{key} must be one of {list(words)}"
            raise value_error("config", requirement, **{key: config["data"][key]})
    if "data" not in config:
        raise value_error("config", "[data] must be there", tables=list(config))
    if "model" not in config and not {"train", "name"} & config["data"].keys():
        requirement = "data.train must be there, the file or folder to learn from"
        raise value_error("config", requirement, entries=list(config["data"]))
    if "model" not in config and "train" not in config["data"]:
        raise value_error("config", "[model] must be there", tables=list(config))
    for key, least in _AT_LEAST.items():
        if config.get(key, least) < least:
            raise value_error("config", f"{key} must be {least} or more", **{key: config[key]})
    return config


def has_model(config: Config) -> bool:
    """Whether somebody has chosen a model; entries for that which is usual for a file choose none."""
    return "model" in config and ("name" in config["model"] or "train" not in config["data"])


def _check(table: Mapping[str, Any], keys: Mapping[str, Any], path: str) -> None:
    check_keys(path, table, keys)
    for key, value in table.items():
        kind = keys[key]
        wanted = dict if isinstance(kind, Mapping) else kind
        # To Python True is a number, to those who write configurations it is not.
        if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
            words = _said(wanted)
            raise value_error("config", f"{path}{key} must be {words}", **{key: value})
        if isinstance(kind, Mapping):
            _check(value, kind, f"{path}{key}.")


def _said(kinds: Any) -> str:
    names = {dict: "a table", str: "a string", int: "an integer", float: "a number"}
    names |= {list: "a list", bool: "true or false"}
    return " or ".join(names[kind] for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))


def check_keys(path: str, table: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a key that is not ``known``, and suggest the one that was probably meant."""
    names = list(known)
    for key in table:
        if key not in names:
            raise value_error("config", f"unknown key{nearest(key, names, path)}", key=path + key)
