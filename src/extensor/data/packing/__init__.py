"""Shards made of what one has: pictures in folders, a table in a CSV file, a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from extensor.data.decoding import MODES
from extensor.data.packing.pictures import pack_pictures
from extensor.data.packing.table import TableRequest, pack_table
from extensor.data.packing.text import pack_text
from extensor.data.packing.writing import OP, checked_folder, new_folder
from extensor.data.streaming.index import read_index, write_index
from extensor.data.table.reading import ENDINGS
from extensor.data.table.table_encoding import TableEncoding
from extensor.errors import arguments, value_error
from extensor.io.paths import as_path

__all__ = ["Packed", "pack"]

_SHARD = 1 << 28  # bytes


class Packed(NamedTuple):
    """What was packed: pictures, a table or a text, how many samples, shards and bytes.

    ``lines`` say how a table was read, and what became of its columns.
    """

    kind: str
    samples: int
    shards: int
    size: int
    lines: tuple[str, ...] = ()


def pack(
    source: str | Path,
    folder: str | Path,
    *,
    shard_size: int = _SHARD,
    form: str = "tar",
    size: int | tuple[int, int] | None = None,
    mode: str = "RGB",
    seed: int = 0,
    target: str | int | Sequence[str | int] | None = None,
    with_target: bool = True,
    kinds: Mapping[str, str] | None = None,
    like: str | Path | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    tokens: str = "character",
) -> Packed:
    """Make a folder of shards for :class:`ShardedDataset`, with an index of their digests.

    Of a folder of class folders come pictures, in a random order that ``seed`` decides: in ``form``
    "tar" as they are, or with ``size`` as PNG, and in "npy" as arrays. Of any file that is no table
    comes text, its "character" or "byte" as ``tokens``. Shards have about ``shard_size`` bytes.
    Neither a table in text nor a text has to fit into memory.

    A table (``.csv`` and what else ``extensor train`` takes for one) is read by :func:`read_table`,
    whose options ``delimiter``, ``decimal``, ``encoding`` and ``header`` are, and encoded by
    :class:`TableEncoder`, to which ``kinds`` go. Its features are the part "x", and ``target`` the
    part "y": the names or numbers of columns, by default the one that training would take. Words
    are numbered in alphabetical order; rows without a target are left out; ``with_target=False``
    is for tables without one. The encoder is fitted to all rows of the file and goes with the
    shards. With ``like``, a folder of shards, the rows are encoded as those there were: so the rows
    to test on have the same columns, and nothing is learnt from them.

    The folder must be new. It has its name when all is in it, and until then there is none.
    """
    place = as_path(OP, source, name="source")
    to = checked_folder(folder)
    shard_size = arguments.integer(OP, "shard_size", shard_size, 1)
    arguments.choice(OP, "form", form, ("tar", "npy"))
    arguments.choice(OP, "mode", mode, MODES)
    arguments.choice(OP, "tokens", tokens, ("character", "byte"))
    seed = arguments.integer(OP, "seed", seed, 0)
    pair = None if size is None else arguments.pair(OP, "size", size, 1)
    if not place.exists():
        raise value_error(OP, "source must be there", source=str(source))
    if not (place.is_dir() or place.is_file()):
        requirement = "source must be a file or a folder, not a pipe or a device"
        raise value_error(OP, requirement, source=str(source))
    with_target = arguments.flag(OP, "with_target", with_target)
    if not with_target and target is not None:
        requirement = "target must be None if there is none"
        raise value_error(OP, requirement, target=arguments.briefly(target))
    options = {"delimiter": delimiter, "decimal": decimal, "encoding": encoding, "header": header}
    request = TableRequest(
        options, target, with_target, kinds or {}, _encoding(like, target, kinds)
    )
    lines: list[str] = []
    with new_folder(to) as partial:
        if place.is_dir():
            index = pack_pictures(place, partial, shard_size, form, pair, mode, seed)
        elif place.name.lower().endswith(ENDINGS):
            index, lines = pack_table(place, partial, shard_size, request)
        else:
            index = pack_text(place, partial, shard_size, tokens)
        write_index(partial.path, index)
    samples = sum(shard.samples for shard in index.shards)
    bytes_in_all = sum(file.size for shard in index.shards for file in shard.files)
    return Packed(index.kind, samples, len(index.shards), bytes_in_all, tuple(lines))


def _encoding(like: Any, target: Any, kinds: Any) -> TableEncoding | None:
    """The encoding of shards that others should be like."""
    if like is None:
        return None
    if target is not None or kinds:
        requirement = "like says what columns and targets are: target and kinds must be left out"
        raise value_error(OP, requirement, like=str(like))
    index = read_index(as_path(OP, like, name="like"))
    if index is None or index.encoding is None:
        raise value_error(OP, "like must be a folder of shards of a table", like=str(like))
    return index.encoding
