"""The shards of a folder or a list: found, and opened each by what its name ends with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from extensor.data.streaming.columns import ColumnShard
from extensor.data.streaming.headers import check_sums, npy_shard, npz_shard, safetensors_shard
from extensor.data.streaming.index import (
    INDEX,
    Index,
    PackedShard,
    check_digests,
    check_files,
    check_parts,
    read_index,
)
from extensor.data.streaming.members import Decoding
from extensor.data.streaming.shard import OP, Choice, Shard
from extensor.data.streaming.tar import TarShard
from extensor.data.streaming.tokens import TokenShard
from extensor.errors import arguments, type_error, value_error
from extensor.io.paths import as_path, unreadable

COLUMNS = (".parquet", ".arrow", ".feather")
ENDINGS = (".npy", ".npz", ".safetensors", ".tar", *COLUMNS)
_LONE = "x"  # the name of the array in a file that has none


class Found(NamedTuple):
    """A shard by its name: its files by their parts, and what an index says of it."""

    path: Path
    files: dict[str, Path]
    packed: PackedShard | None = None


def found_shards(source: Any) -> tuple[list[Found], Index | None]:
    """The shards in a folder, those that are listed, or the one that ``source`` is."""
    if not isinstance(source, str | os.PathLike):
        if not isinstance(source, list | tuple):
            requirement = "source must be a folder of shards, or a list of them"
            raise type_error(OP, requirement, source=arguments.briefly(source))
        if not source:
            raise value_error(OP, "source must have at least one shard", source=[])
        names = [as_path(OP, path, name=f"source[{i}]") for i, path in enumerate(source)]
        return _grouped([_known(path) for path in names]), None
    place = as_path(OP, source, name="source")
    if not place.is_dir():
        if not place.exists():
            requirement = "source must be there, a folder of shards or one of them"
            raise value_error(OP, requirement, source=str(place))
        return _grouped([_known(place)]), None
    try:
        inside = sorted(path for path in place.iterdir() if path.name[0] != ".")
    except OSError as error:
        raise unreadable(OP, place, error) from error
    files = [path for path in inside if path.suffix.lower() in ENDINGS]
    index = read_index(place)
    if index is not None:
        return _listed(place, files, index), index
    if not files:
        requirement = f"source must have shards ({', '.join(ENDINGS)})"
        raise value_error(OP, requirement, source=str(place))
    return _grouped(files), None


def _known(path: Path) -> Path:
    if path.suffix.lower() not in ENDINGS:
        requirement = f"a shard must end with {', '.join(ENDINGS)}"
        raise value_error(OP, requirement, path=str(path))
    return path


def _listed(folder: Path, files: Sequence[Path], index: Index) -> list[Found]:
    """The shards of an index, which must be all."""
    names = {file.name for shard in index.shards for file in shard.files}
    others = [path for path in files if path.name not in names]
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


class Opener:
    """Opens shards alike: which parts they have, and how tokens and pictures become samples."""

    def __init__(
        self,
        choice: Choice,
        context: int | None,
        decoding: Decoding,
        index: Index | None,
        verify: bool,
    ) -> None:
        self.choice = choice
        self.context = context
        self.decoding = decoding
        self.index = index
        self.verify = verify

    def __call__(self, found: Found) -> Shard:
        """The shard; an error that names it if it is not whole."""
        folder, packed = found.path.parent, found.packed
        if packed is not None:
            check_files(folder, packed)
        if packed is not None and self.verify:
            check_digests(folder, packed)
        shard = self._opened(found)
        if self.index is not None and packed is not None and self.choice is None:
            check_parts(shard, self.index, packed.samples)
        if self.context is not None:
            shard = TokenShard(shard, self.context)
        if packed is None and self.verify:
            self._read(shard, found)
        return shard

    def _read(self, shard: Shard, found: Found) -> None:
        """Compare with what checksums there are, and read all samples."""
        if found.path.suffix.lower() == ".npz":
            check_sums(found.path)
        shard.verify()

    def _opened(self, found: Found) -> Shard:
        path = next(iter(found.files.values()))
        ending = path.suffix.lower()
        if ending == ".npy":
            return npy_shard(found.path, found.files, self.choice)
        if ending == ".npz":
            return npz_shard(path, self.choice)
        if ending == ".safetensors":
            return safetensors_shard(path, self.choice)
        if ending == ".tar":
            told = None if found.packed is None else found.packed.samples
            return TarShard(path, self.choice, self.decoding, told)
        return ColumnShard(path, self.choice)
