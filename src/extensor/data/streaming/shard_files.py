"""The files of shards: those of a folder, a list, a pattern, or a data set that others saved."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from extensor.data.streaming.hive import partition_values
from extensor.data.streaming.huggingface import is_dataset_dict, saved_files
from extensor.data.streaming.index import INDEX, Index, PackedShard, read_index
from extensor.data.streaming.shard import OP
from extensor.errors import arguments, type_error, value_error
from extensor.io.paths import as_path, unreadable

COLUMNS = (".parquet", ".arrow", ".feather")
ENDINGS = (".npy", ".npz", ".safetensors", ".tar", *COLUMNS)
_LONE = "x"  # the name of the array in a file that has none
_SKIPPED = (".", "_")  # how names begin that Hive, Spark and systems keep for themselves


class Found(NamedTuple):
    """A shard by its name: its files by their parts, its entry in an index, its Hive columns."""

    path: Path
    files: dict[str, Path]
    packed: PackedShard | None = None
    partition: Mapping[str, Any] = {}


def find_shards(source: Any) -> tuple[list[Found], Index | None]:
    """The shards in a folder, in a list, or that a pattern such as ``data/*.parquet`` matches."""
    if not isinstance(source, str | os.PathLike):
        if not isinstance(source, list | tuple):
            requirement = "source must be a folder of shards, or a list of them"
            raise type_error(OP, requirement, source=arguments.briefly(source))
        if not source:
            raise value_error(OP, "source must have at least one shard", source=[])
        names = [as_path(OP, path, name=f"source[{i}]") for i, path in enumerate(source)]
        files = [file for name in names for file in (matches(name) if is_glob(name) else [name])]
        return _grouped([_known(path) for path in files]), None
    place = as_path(OP, source, name="source")
    if is_glob(place):
        return _grouped([_known(path) for path in matches(place)]), None
    if not place.is_dir():
        if not place.exists():
            requirement = "source must be there, a folder of shards or one of them"
            raise value_error(OP, requirement, source=str(place))
        return _grouped([_known(place)]), None
    return _in_folder(place)


def is_glob(source: Any) -> bool:
    """Whether ``source`` is a pattern for names of files, and not the name of one."""
    if not isinstance(source, str | os.PathLike):
        return False
    text = os.fspath(source)
    return isinstance(text, str) and glob.has_magic(text) and not os.path.lexists(text)


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


def _in_folder(place: Path) -> tuple[list[Found], Index | None]:
    if is_dataset_dict(place):
        requirement = "source must be one split of a data set (its folder)"
        splits = sorted(path.name for path in _inside(place) if path.is_dir())
        raise value_error(OP, requirement, source=str(place), splits=splits)
    files = [path for path in _inside(place) if _is_shard(path)]
    below = list(shards_below(place))
    index = read_index(place)
    if index is not None:
        return _listed(place, [*files, *below], index), index
    if saved := saved_files(place, files):
        return _grouped(saved), None
    if not files and below:
        partitions = partition_values(place, below)
        if partitions is not None:
            return [
                one._replace(partition=partitions[path])
                for path, one in zip(below, _grouped(below), strict=True)
            ], None
    if below:
        requirement = (
            "the shards of a folder must all lie in it, or all in folders such as year=2020 "
            f"({place}/**/*{below[0].suffix} takes those of all folders)"
        )
        raise value_error(OP, requirement, path=str(below[0]))
    if not files:
        requirement = f"source must have shards ({', '.join(ENDINGS)})"
        raise value_error(OP, requirement, source=str(place))
    return _grouped(files), None


def shards_below(folder: Path) -> Iterator[Path]:
    """The shards in the folders within a folder, at any depth, sorted."""
    seen = {os.path.realpath(folder)}

    def below(outer: Path) -> Iterator[Path]:
        for inner in _inside(outer):
            if (
                inner.is_dir()
                and not _is_shard(inner)
                and (place := os.path.realpath(inner)) not in seen
            ):
                seen.add(place)  # a link may lead back to where it lies
                yield from (path for path in _inside(inner) if _is_shard(path))
                yield from below(inner)

    return below(folder)


def _inside(folder: Path) -> list[Path]:
    try:
        found = sorted(folder.iterdir())
        return [x for x in found if not x.name.startswith(_SKIPPED if x.is_dir() else ".")]
    except OSError as error:
        raise unreadable(OP, folder, error) from error


def _is_shard(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS


def _known(path: Path) -> Path:
    if path.suffix.lower() not in ENDINGS:
        requirement = f"a shard must end with {', '.join(ENDINGS)}"
        raise value_error(OP, requirement, path=str(path))
    return path


def _listed(folder: Path, files: Sequence[Path], index: Index) -> list[Found]:
    """The shards of an index, which must be all."""
    names = {folder / file.name for shard in index.shards for file in shard.files}
    others = [path for path in files if path not in names]
    if others:
        requirement = f"the shards of a folder must all be in its {INDEX}, or it in none"
        raise value_error(OP, requirement, path=str(others[0]))
    found = []
    for shard in index.shards:
        (one,) = _grouped([_known(folder / file.name) for file in shard.files])[:1]
        found.append(one._replace(packed=shard))
    return found


def _grouped(files: Sequence[Path]) -> list[Found]:
    """One shard for each file, or for all ``name.x.npy`` and ``name.y.npy`` of one name."""
    found: dict[Path, Found] = {}
    for path in files:
        stem, dot, part = path.stem.rpartition(".")
        if path.suffix.lower() == ".npy" and dot and stem:
            shard = found.setdefault(path.with_name(stem), Found(path.with_name(stem), {}))
            if part in shard.files:
                raise value_error(OP, "a shard must be given once", path=str(path))
            shard.files[part] = path
        elif path in found:
            raise value_error(OP, "a shard must be given once", path=str(path))
        else:
            found[path] = Found(path, {_LONE: path})
    return list(found.values())
