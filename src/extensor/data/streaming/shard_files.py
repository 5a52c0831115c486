"""The files of shards: in a folder, a list, a pattern, Hive's folders or a Hugging Face data set."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from extensor.data.streaming.index import (
    INDEX,
    Index,
    PackedShard,
    check_digests,
    check_files,
    read_index,
)
from extensor.data.streaming.shard import OP, damaged, shard_error
from extensor.data.table.arrow import import_pyarrow
from extensor.errors import arguments, type_error, value_error
from extensor.io.paths import as_path, explain_unreadable, is_glob, is_there
from extensor.io.state_file import DamagedFileError

_ENDING = ".parquet"


def partition_values(folder: Path, files: Sequence[Path]) -> dict[Path, Mapping[str, Any]] | None:
    """The values of the partition columns for each file, as pyarrow types them.

    None if the files do not lie in such folders. A value is a pyarrow scalar; Hive's word for a
    missing one, ``__HIVE_DEFAULT_PARTITION__``, is null.
    """
    keys = [_keys(path.relative_to(folder)) for path in files]
    if not all(keys):
        return None
    for path, names in zip(files, keys, strict=True):
        if path.suffix.lower() != _ENDING:
            raise shard_error("shards in folders such as year=2020 must be Parquet files", path)
        if names != keys[0] or len(set(names)) < len(names):
            requirement = (
                f"shards must all lie in folders for {', '.join(keys[0])}, in this order and once"
            )
            raise shard_error(requirement, path, folders=names)
    folders = [path.relative_to(folder).parent.as_posix() for path in files]
    columns = {name: _partition_column(name, folders, files[0]) for name in keys[0]}
    return {path: {name: columns[name][i] for name in columns} for i, path in enumerate(files)}


def _partition_column(name: str, folders: Sequence[str], path: Path) -> list[Any]:
    """The values of a column for each folder, by pyarrow's inference: int32, else words."""
    pyarrow = import_pyarrow(OP, path.name)
    for kind in (pyarrow.int32(), pyarrow.string()):
        values = [_partition_value(name, kind, inner) for inner in folders]
        if None not in values and any(value.is_valid for value in values):
            return values
        if None not in values:
            break
    requirement = "folders of a partition must have a value that can be read"
    raise shard_error(requirement, path, column=name)


def _keys(path: Path) -> list[str]:
    """The names before ``=`` in a path; none if a folder in it has no such name."""
    pairs = [folder.partition("=") for folder in path.parts[:-1]]
    return [key for key, _, _ in pairs] if all(key and equals for key, equals, _ in pairs) else []


def _partition_value(name: str, kind: Any, folders: str) -> Any:
    """The value of a column in the names of folders, a scalar; None if it is not of ``kind``."""
    import pyarrow
    from pyarrow import dataset

    schema = pyarrow.schema([(name, kind)])
    try:
        found = dataset.HivePartitioning(schema).parse(f"{folders}/")
        value = dataset.get_partition_keys(found).get(name)
    except (pyarrow.ArrowException, ValueError, UnicodeError):
        return None
    return pyarrow.scalar(value, kind)


STATE, SPLITS = "state.json", "dataset_dict.json"  # the latter is beside the folders of splits
_INFO = "dataset_info.json"
_CACHE = "cache-"  # how files begin that map and filter keep beside the data
_METADATA = b"huggingface"  # the key of the features in an Arrow schema


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
        raise shard_error(f"the shards of a folder must all be in its {STATE}", others[0])
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
        with explain_unreadable(OP, path):
            state = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict):
        raise damaged(f"{path.name} must be as save_to_disk writes it", path)
    return state


COLUMNS = (".parquet", ".arrow", ".feather")
ENDINGS = (".npy", ".npz", ".safetensors", ".tar", *COLUMNS)
_LONE = "x"  # the name of the array in a file that has none
_SKIPPED = (".", "_")  # how names begin that Hive, Spark and systems keep for themselves


class ShardEntry(NamedTuple):
    """A shard by its name: its files by their parts, its entry in an index, its Hive columns."""

    path: Path
    files: dict[str, Path]
    packed: PackedShard | None = None
    partition: Mapping[str, Any] = {}


def find_shards(source: Any) -> tuple[list[ShardEntry], Index | None]:
    """The shards in a folder, in a list, or that a pattern such as ``data/*.parquet`` matches."""
    if isinstance(source, str | os.PathLike):
        place = as_path(OP, source, name="source")
        if place.is_dir():
            return _in_folder(place)
        if not is_glob(place) and not place.exists():
            requirement = "source must exist, as a folder of shards or one of them"
            raise value_error(OP, requirement, source=str(place))
        names = [place]
    elif not isinstance(source, list | tuple):
        requirement = "source must be a folder of shards, or a list of them"
        raise type_error(OP, requirement, source=arguments.briefly(source))
    elif not source:
        raise value_error(OP, "source must have at least one shard", source=[])
    else:
        names = [as_path(OP, path, name=f"source[{i}]") for i, path in enumerate(source)]
    files = [file for name in names for file in (matches(name) if is_glob(name) else [name])]
    return _group_files(files), None


def matches(pattern: Path) -> list[Path]:
    """The files that match a pattern, sorted; ``**`` stands for any folders."""
    found = sorted(Path(name) for name in glob.glob(str(pattern), recursive=True))
    files = [path for path in found if not path.is_dir()]
    if not files:
        requirement = "a pattern must match at least one file"
        raise value_error(OP, requirement, pattern=str(pattern), folders=len(found))
    folders = [path for path in found if path.is_dir()]
    if folders and "**" not in pattern.name:
        requirement = "a pattern must match files, not folders (folder/*.parquet matches those)"
        raise value_error(OP, requirement, pattern=str(pattern), folder=str(folders[0]))
    return files


def _in_folder(place: Path) -> tuple[list[ShardEntry], Index | None]:
    if is_there(place / SPLITS):
        requirement = "source must be one split of a data set (its folder)"
        splits = sorted(path.name for path in _inside(place) if path.is_dir())
        raise value_error(OP, requirement, source=str(place), splits=splits)
    files = [path for path in _inside(place) if _is_shard(path)]
    below = list(shards_below(place))
    index = read_index(place)
    if index is not None:
        return _shards_of_index(place, [*files, *below], index), index
    if saved := saved_files(place, files):
        return _group_files(saved), None
    if not files and below:
        partitions = partition_values(place, below)
        if partitions is not None:
            return [
                one._replace(partition=partitions[path])
                for path, one in zip(below, _group_files(below), strict=True)
            ], None
    if below:
        requirement = (
            "the shards of a folder must all lie in it, or all in folders such as year=2020 "
            f"({place}/**/*{below[0].suffix} takes those of all folders)"
        )
        raise shard_error(requirement, below[0])
    if not files:
        requirement = f"source must have shards ({', '.join(ENDINGS)})"
        raise value_error(OP, requirement, source=str(place))
    return _group_files(files), None


def shards_below(folder: Path, seen: set[str] | None = None) -> Iterator[Path]:
    """The shards in the folders within a folder, at any depth, sorted; none in a folder of ``seen``."""
    seen = {os.path.realpath(folder)} if seen is None else seen
    for inner in _inside(folder):
        place = os.path.realpath(inner)
        if inner.is_dir() and not _is_shard(inner) and place not in seen:
            seen.add(place)  # a link may lead back to where it lies
            yield from (path for path in _inside(inner) if _is_shard(path))
            yield from shards_below(inner, seen)


def _inside(folder: Path) -> list[Path]:
    with explain_unreadable(OP, folder):
        found = sorted(folder.iterdir())
        return [x for x in found if not x.name.startswith(_SKIPPED if x.is_dir() else ".")]


def _is_shard(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS


def _shards_of_index(folder: Path, files: Sequence[Path], index: Index) -> list[ShardEntry]:
    """The shards of an index, which must be all."""
    names = {folder / file.name for shard in index.shards for file in shard.files}
    others = [path for path in files if path not in names]
    if others:
        requirement = f"the shards of a folder must all be in its {INDEX}, or it in none"
        raise shard_error(requirement, others[0])
    found = []
    for shard in index.shards:
        (one,) = _group_files([folder / file.name for file in shard.files])[:1]
        found.append(one._replace(packed=shard))
    return found


def _group_files(files: Sequence[Path]) -> list[ShardEntry]:
    """One shard for each file, or for all ``name.x.npy`` and ``name.y.npy`` of one name."""
    found: dict[Path, ShardEntry] = {}
    for path in files:
        if not _is_shard(path):
            raise shard_error(f"a shard must end with {', '.join(ENDINGS)}", path)
        stem, dot, part = path.stem.rpartition(".")
        if path.suffix.lower() == ".npy" and dot and stem:
            shard = found.setdefault(path.with_name(stem), ShardEntry(path.with_name(stem), {}))
            if part in shard.files:
                raise shard_error("a shard must be given once", path)
            shard.files[part] = path
        elif path in found:
            raise shard_error("a shard must be given once", path)
        else:
            found[path] = ShardEntry(path, {_LONE: path})
    return list(found.values())


def verify(folder: str | Path) -> tuple[int, int]:
    """Compare all files with the digests of their index; how many shards and bytes there are.

    The error names every shard that is damaged or missing.
    """
    op = "verify"
    place = as_path(op, folder, name="folder")
    if not place.is_dir():
        raise value_error(op, "folder must be one of shards", folder=str(folder))
    found, index = find_shards(place)
    if index is None:
        requirement = f"folder must have the {INDEX} that extensor pack writes"
        raise value_error(op, requirement, folder=str(folder))
    faults = []
    for one in found:
        assert one.packed is not None
        try:
            check_files(place, one.packed)
            check_digests(place, one.packed)
        except (DamagedFileError, OSError) as error:
            faults.append(str(error.strerror if isinstance(error, OSError) else error))
    if faults:
        raise DamagedFileError("\n".join(faults))
    return len(found), sum(file.size for shard in index.shards for file in shard.files)
