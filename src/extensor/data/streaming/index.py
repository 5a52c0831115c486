"""The index of packed shards: what they hold, and a digest of each file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.core import entries
from extensor.data.streaming.shard import OP, Shard, damaged, parts_text, shard_error
from extensor.data.streaming.tar_shards import PICTURE
from extensor.data.table.encoder import TableEncoder, words
from extensor.data.table.sniffing import TableFormat
from extensor.data.window_datasets import Vocabulary
from extensor.errors import arguments, type_error, value_error
from extensor.io.atomic import write_atomically
from extensor.io.paths import explain_unreadable
from extensor.io.regular_files import file_bytes, open_regular
from extensor.io.safetensors_layout import LayoutError, unique

INDEX = "index.json"
FORMAT = 2
KINDS = ("pictures", "table", "text")
_KEYS = ("extensor", "kind", "parts", "shards", "classes", "columns", "vocabulary", "encoding")


class PackedFile(NamedTuple):
    """A file of a shard: its name in the folder, its bytes and their SHA-256."""

    name: str
    size: int
    digest: str


class PackedShard(NamedTuple):
    """The files of a shard, and how many samples (of a text: tokens) are in it."""

    files: tuple[PackedFile, ...]
    samples: int


_ENCODING_KEYS = ("encoder", "targets", "kinds", "options")
_TARGET_KINDS = ("number", "category", "text")


class TableEncoding(NamedTuple):
    """The encoding of packed shards, which makes the same numbers of other rows.

    ``kinds`` are those of the targets: "number", "category" or "text". ``options`` are those that
    :func:`read_table` found.
    """

    encoder: TableEncoder
    targets: tuple[str, ...]
    kinds: tuple[str, ...]
    options: dict[str, Any]

    def state_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "encoder": self.encoder.state_dict(),
            "targets": list(self.targets),
            "kinds": list(self.kinds),
            "options": dict(self.options),
        }

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> TableEncoding:
        """The encoding that :meth:`state_dict` describes, checked."""
        given = entries.with_keys(op, state, _ENCODING_KEYS, "encoding")
        encoder = TableEncoder.from_state(given["encoder"], op)
        targets, kinds = (words(op, f"encoding.{key}", given[key]) for key in ("targets", "kinds"))
        for kind in kinds:
            arguments.choice(op, "encoding.kinds", kind, _TARGET_KINDS)
        names = [*targets, *encoder.names]
        if len(kinds) != len(targets) or len(set(names)) < len(names):
            requirement = "encoding must have a kind for each target, and each column once"
            raise value_error(op, requirement, targets=len(targets))
        options = entries.with_keys(op, given["options"], TableFormat._fields, "encoding.options")
        for key, option in options.items():
            if not isinstance(option, bool | None if key == "header" else str | None):
                raise type_error(op, f"encoding.options.{key} must say how a table is written")
        return cls(encoder, tuple(targets), tuple(kinds), dict(options))


class Index(NamedTuple):
    """All that is known of packed shards without looking at them.

    A part without a shape has not the same in every sample: pictures that were left as they are.
    """

    kind: str
    parts: tuple[tuple[str, str, tuple[int, ...] | None], ...]
    shards: tuple[PackedShard, ...]
    classes: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None
    vocabulary: Vocabulary | None = None
    encoding: TableEncoding | None = None


def write_index(folder: Path, index: Index) -> None:
    """Put it into the folder, beside the shards."""
    state = {
        "extensor": FORMAT,
        "kind": index.kind,
        "parts": [{"name": n, "dtype": d, "shape": s} for n, d, s in index.parts],
        "shards": [
            {
                "samples": shard.samples,
                "files": [{"name": n, "bytes": b, "sha256": d} for n, b, d in shard.files],
            }
            for shard in index.shards
        ],
        "classes": index.classes,
        "columns": index.columns,
        "vocabulary": None if index.vocabulary is None else index.vocabulary.state_dict(),
        "encoding": None if index.encoding is None else index.encoding.state_dict(),
    }
    text = json.dumps(state, ensure_ascii=False, indent=1) + "\n"
    write_atomically(folder / INDEX, text.encode("utf-8", "surrogateescape"))


def read_index(folder: Path) -> Index | None:
    """The index in a folder, checked; None if there is none."""
    path = folder / INDEX
    try:
        with explain_unreadable(OP, path):
            content = file_bytes(path)
    except FileNotFoundError:
        return None
    try:
        text = content.decode("utf-8", "surrogateescape")
        state = json.loads(text, object_pairs_hook=unique)
        return _index_of_state(state)
    except (LayoutError, RecursionError, ValueError, TypeError) as error:
        requirement = "index must be one that extensor pack wrote (earlier versions: pack again)"
        raise shard_error(requirement, path) from error


def _index_of_state(state: Any) -> Index:
    given = entries.with_keys(OP, state, _KEYS)
    if given["extensor"] != FORMAT or given["kind"] not in KINDS:
        raise LayoutError
    parts = tuple(_part(part) for part in given["parts"])
    shards = tuple(_shard(shard) for shard in given["shards"])
    names = [file.name for shard in shards for file in shard.files]
    vocabulary, encoding = given["vocabulary"], given["encoding"]
    classes = _words(given["classes"])
    if not parts or not shards or any(len(set(x)) < len(x) for x in (names, classes or ())):
        raise LayoutError
    "".join(classes or ()).encode()  # an error unless all is Unicode, as not all names of files
    if given["kind"] == "table":
        encoding = TableEncoding.from_state(encoding, OP)
        if parts[0][2] != (len(encoding.encoder.features),):
            raise LayoutError
    elif encoding is not None:
        raise LayoutError
    return Index(
        given["kind"],
        parts,
        shards,
        classes,
        _words(given["columns"]),
        None if vocabulary is None else Vocabulary.from_state(vocabulary),
        encoding,
    )


def _part(value: Any) -> tuple[str, str, tuple[int, ...] | None]:
    part = entries.with_keys(OP, value, ("name", "dtype", "shape"))
    name, dtype, shape = part["name"], part["dtype"], part["shape"]
    if not isinstance(name, str) or not isinstance(dtype, str):
        raise LayoutError
    sizes = None if shape is None else tuple(entries.count(OP, "shape", size) for size in shape)
    return name, str(np.dtype(dtype)), sizes


def _shard(value: Any) -> PackedShard:
    shard = entries.with_keys(OP, value, ("samples", "files"))
    files = []
    for one in shard["files"]:
        file = entries.with_keys(OP, one, ("name", "bytes", "sha256"))
        name, digest = file["name"], file["sha256"]
        # Of this folder, and no other: an index may come from anywhere.
        is_name = isinstance(name, str) and name == Path(name).name and "\0" not in name
        if not is_name or name in ("", "..") or not isinstance(digest, str):
            raise LayoutError
        files.append(PackedFile(name, entries.count(OP, "bytes", file["bytes"]), digest))
    if not files:
        raise LayoutError
    return PackedShard(tuple(files), entries.count(OP, "samples", shard["samples"]))


def _words(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise LayoutError
    return tuple(value)


def check_files(folder: Path, shard: PackedShard) -> None:
    """Refuse a shard of which a file is missing or of another length."""
    for file in shard.files:
        path = folder / file.name
        with explain_unreadable(OP, path):
            size = path.stat().st_size
        if size != file.size:
            raise damaged(f"shard must have {file.size} bytes, as its index says", path, bytes=size)


def check_digests(folder: Path, shard: PackedShard) -> None:
    """Refuse a shard whose content is not what was packed."""
    for file in shard.files:
        path = folder / file.name
        with (
            explain_unreadable(OP, path),
            open(path, "rb", buffering=0, opener=open_regular) as stream,
        ):
            found = hashlib.file_digest(stream, "sha256")
        if found.hexdigest() != file.digest:
            raise damaged("shard must be as it was packed (its digest differs)", path)


def check_parts(shard: Shard, index: Index, told: int) -> None:
    """Refuse a shard that is not what its index says."""
    found = [(part.name, str(part.dtype), part.shape) for part in shard.parts]
    expected = [
        # How a picture is decoded, its reader says.
        (name, dtype, found[i][2] if name == PICTURE and i < len(found) else shape)
        for i, (name, dtype, shape) in enumerate(index.parts)
    ]
    if found != expected or shard.samples != told:
        requirement = f"shard must have {told} samples of {parts_text(expected)}, as its index says"
        raise damaged(requirement, shard.path, samples=shard.samples, parts=parts_text(found))
