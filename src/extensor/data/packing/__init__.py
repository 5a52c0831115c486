"""Shards made of what one has: pictures in folders, a table in a CSV file, a text."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from extensor.data.decoding import MODES
from extensor.data.packing.pictures import pack_pictures
from extensor.data.packing.table import pack_table
from extensor.data.packing.text import pack_text
from extensor.data.packing.writing import OP, checked_folder, new_folder
from extensor.data.streaming.index import write_index
from extensor.errors import arguments, type_error, value_error
from extensor.io.paths import as_path

__all__ = ["Packed", "pack"]

_SHARD = 1 << 28  # bytes
_TABLES = (".csv", ".tsv", ".tab")


class Packed(NamedTuple):
    """What was packed: pictures, a table or a text, how many samples, shards and bytes."""

    kind: str
    samples: int
    shards: int
    size: int


def pack(
    source: str | Path,
    folder: str | Path,
    *,
    shard_size: int = _SHARD,
    form: str = "tar",
    size: int | tuple[int, int] | None = None,
    mode: str = "RGB",
    seed: int = 0,
    target: str | int | None = -1,
    delimiter: str | None = None,
    header: bool | None = None,
    tokens: str = "character",
) -> Packed:
    """Make a folder of shards for :class:`ShardedDataset`, with an index of their digests.

    Of a folder of class folders come pictures, in a random order that ``seed`` decides: in ``form``
    "tar" as they are, or with ``size`` as PNG, and in "npy" as arrays. Of a ``.csv`` come the columns
    as floats and the column ``target``, as :func:`read_csv` takes them, in the order of the file. Of
    any other file comes text, its "character" or "byte" as ``tokens``. Shards have about
    ``shard_size`` bytes. Neither a file nor a text has to fit into memory.

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
    is_table = place.suffix.lower() in _TABLES and not place.is_dir()
    column = _column(target)
    between = _delimiter(delimiter, place)
    if header is not None:
        header = arguments.flag(OP, "header", header)
    with new_folder(to) as partial:
        if place.is_dir():
            index = pack_pictures(place, partial, shard_size, form, pair, mode, seed)
        elif is_table:
            index = pack_table(place, partial, shard_size, column, between, header)
        else:
            index = pack_text(place, partial, shard_size, tokens)
        write_index(partial.path, index)
    samples = sum(shard.samples for shard in index.shards)
    bytes_in_all = sum(file.size for shard in index.shards for file in shard.files)
    return Packed(index.kind, samples, len(index.shards), bytes_in_all)


def _column(target: Any) -> str | int | None:
    if target is None or isinstance(target, str):
        return target
    if isinstance(target, bool) or not isinstance(target, int):
        requirement = "target must be the name or number of a column, or None"
        raise type_error(OP, requirement, target=arguments.briefly(target))
    return target


def _delimiter(delimiter: Any, source: Path) -> str:
    if delimiter is None:
        return "," if source.suffix.lower() == ".csv" else "\t"
    if not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '\r\n"':
        requirement = "delimiter must be one character"
        raise value_error(OP, requirement, delimiter=arguments.briefly(delimiter))
    return delimiter
