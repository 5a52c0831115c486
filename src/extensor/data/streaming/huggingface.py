"""Folders that ``save_to_disk`` of Hugging Face's datasets writes: Arrow streams, listed in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from extensor.data.streaming.shard import OP, damaged
from extensor.errors import value_error
from extensor.io.paths import is_there, unreadable

STATE, SPLITS = "state.json", "dataset_dict.json"
_INFO = "dataset_info.json"
_CACHE = "cache-"  # how files begin that map and filter keep beside the data
_METADATA = b"huggingface"  # the key of the features in an Arrow schema


def is_dataset_dict(folder: Path) -> bool:
    """Whether a folder has one folder for each split."""
    return is_there(folder / SPLITS)


def split_folders(folder: Path) -> dict[str, Path]:
    """The folder of each split of a ``DatasetDict``."""
    listed = _read(folder / SPLITS).get("splits")
    names = listed if isinstance(listed, list) else []
    if not names or not all(isinstance(x, str) and Path(x).name == x for x in names):
        raise damaged(f"{SPLITS} must list the splits", folder / SPLITS)
    return {name: folder / name for name in names}


def saved_files(folder: Path, shards: Sequence[Path]) -> list[Path]:
    """The files of a saved ``Dataset``, in order; none if the folder is not one."""
    if not (is_there(folder / STATE) and is_there(folder / _INFO)):
        return []
    listed = _read(folder / STATE).get("_data_files")
    entries = listed if isinstance(listed, list) else []
    names = [x.get("filename") if isinstance(x, Mapping) else None for x in entries]
    # Only names of this folder: such a file may come from anywhere.
    if not names or not all(isinstance(x, str) and Path(x).name == x for x in names):
        raise damaged(f"{STATE} must list the files of the data set", folder / STATE)
    files = [folder / str(name) for name in names]
    others = [x for x in shards if x not in files and not x.name.startswith(_CACHE)]
    if others:
        requirement = f"the shards of a folder must all be in its {STATE}"
        raise value_error(OP, requirement, path=str(others[0]))
    return files


def class_names(schema: Any, column: str) -> list[str] | None:
    """The names of the classes that a ``ClassLabel`` column numbers; None if it is none."""
    try:
        features = json.loads((schema.metadata or {})[_METADATA])["info"]["features"]
        names = features[column]["names"]
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
    usable = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return names if usable and len(set(names)) == len(names) else None


def _read(path: Path) -> dict[str, Any]:
    try:
        state = json.loads(path.read_bytes())
    except OSError as error:
        raise unreadable(OP, path, error) from error
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise damaged(f"{path.name} must be as save_to_disk writes it", path)
    return state
