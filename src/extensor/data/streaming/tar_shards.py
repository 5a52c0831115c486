"""Tar shards, as webdataset has them: the members of a sample follow each other under one key."""

from __future__ import annotations

import io
import json
import os
from array import array
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import float32, int64, uint8
from extensor.data.array_files import read_npy
from extensor.data.picture_files import CHANNELS, ENDINGS, decode_picture
from extensor.data.streaming.shard import (
    OP,
    Choice,
    Loaded,
    SamplePart,
    Shard,
    Stamp,
    damaged,
    open_unchanged,
    shard_error,
    usable_dtype,
    will_need,
)
from extensor.errors import is_ours, marked, value_error
from extensor.io.paths import explain_unreadable
from extensor.io.state_file import DamagedFileError

PICTURE = "picture"  # the name of a part that is a picture, whatever its ending
_TARGETS = ("cls", "json", "txt")
_PICTURES = frozenset(ending[1:] for ending in ENDINGS)


def usual_parts(endings: list[str], path: Path) -> list[str]:
    """The parts of a sample with these endings: a picture or array, and what is to be learned.

    Names without a dot come first; else ``x.npy`` and ``y.cls`` are taken by their last ending.
    """
    plain = [PICTURE for ending in endings if ending in _PICTURES] or ["npy"] * ("npy" in endings)
    targets = [ending for ending in _TARGETS if ending in endings]
    pairs = [[x for x in endings if x.startswith(beginning)] for beginning in ("x.", "y.")]
    if [*map(len, pairs)] == [1, 1] and not (plain or targets):
        return [name for (name,) in pairs]
    inputs = plain or _with_format(endings, {"npy", *_PICTURES})
    if not targets:
        others = [ending for ending in _with_format(endings, _TARGETS) if ending not in inputs]
        targets = others if len(others) == 1 else []
    if len(inputs) != 1:
        requirement = "parts must say which members make a sample, as parts=('jpg', 'cls')"
        raise shard_error(requirement, path, members=endings)
    return [*inputs, *targets[:1]]


def _with_format(endings: list[str], formats: Collection[str]) -> list[str]:
    return [ending for ending in endings if _format(ending) in formats]


def _format(name: str) -> str:
    """How a member is written, by the last of its endings: ``npy`` for ``x.npy``."""
    return name.rpartition(".")[2]


def _json_member(part: str) -> tuple[str, str] | None:
    """The ending of the member and the key in it, of a part such as ``meta.json.label``."""
    before, dot, key = f".{part}".partition(".json.")
    return (f"{before}.json"[1:], key) if dot else None


def matches(part: str, ending: str) -> bool:
    """Whether a member with this ending is that part: ``json.label`` is a key in a ``.json``."""
    if part == PICTURE:
        return ending in _PICTURES
    entry = _json_member(part)
    return ending == part or (entry is not None and ending == entry[0])


class Decoding:
    """How members become arrays: pictures of one size and mode, numbers from text and JSON."""

    def __init__(self, size: tuple[int, int] | None, mode: str) -> None:
        self.size = size
        self.mode = mode

    def part(self, name: str, content: bytes, where: Path) -> SamplePart:
        """The description of a part, from the first sample."""
        if self._is_picture(name) and self.size is not None:
            return SamplePart(name, uint8, (CHANNELS[self.mode], *self.size))
        array = self.array(name, content, where)
        return SamplePart(name, array.dtype, array.shape)

    def array(self, name: str, content: bytes, where: Path) -> Any:
        """A member; ``where`` names the shard and the sample in messages."""
        if self._is_picture(name):
            try:
                return decode_picture(OP, where, self.size, self.mode, content)
            except ValueError as error:
                raise marked(DamagedFileError(str(error))) from None
        if (entry := _json_member(name)) or _format(name) == "json":
            return _numbers(_entry(content, entry[1] if entry else "", name, where), name, where)
        if _format(name) == "npy":
            return _npy(content, where)
        try:
            text = content.decode().strip()
            if "_" in text:
                raise ValueError
            is_whole = text.isascii() and text.lstrip("+-").isdecimal()
            return _numbers(int(text) if is_whole else float(text), name, where)
        except ValueError as error:
            if is_ours(error):
                raise
            requirement = f"a member .{name} must be a number (parts= chooses among the members)"
            raise damaged(requirement, where) from None

    def part_array(self, part: SamplePart, content: bytes, where: Path) -> Any:
        """A member that must be as those of other samples are."""
        array = self.array(part.name, content, where)
        if array.shape != part.shape:
            pictures = self.size is None and self._is_picture(part.name)
            hint = " (size= resizes pictures)" if pictures else ""
            requirement = f"{part.name} must have shape {part.shape} in every sample{hint}"
            raise damaged(requirement, where, shape=array.shape)
        is_whole = array.dtype == int64 and part.dtype == float32 and _format(part.name) != "npy"
        if array.dtype != part.dtype and not is_whole:
            requirement = f"{part.name} must be {part.dtype} in every sample"
            raise damaged(requirement, where, dtype=str(array.dtype))
        return array

    def _is_picture(self, name: str) -> bool:
        return name == PICTURE or (_json_member(name) is None and _format(name) in _PICTURES)


def _npy(content: bytes, where: Path) -> Any:
    try:
        array = read_npy(io.BytesIO(content), len(content))
    except MemoryError:
        raise
    except Exception as error:
        raise damaged("a member .npy must be a whole array of numbers", where) from error
    return np.ascontiguousarray(array, usable_dtype(where, "a member .npy", array.dtype))


def _entry(content: bytes, key: str, name: str, where: Path) -> Any:
    """The value in a member ``.json``, or that of a key in it."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        raise damaged("a member .json must be JSON", where) from None
    if not key and isinstance(value, dict):
        requirement = f"parts must name a key of .json, as '{name}.label'"
        raise shard_error(requirement, where, keys=list(value)[:10])
    if key and not (isinstance(value, dict) and key in value):
        raise damaged(f"a member .json must have the key {key!r}", where)
    return value[key] if key else value


def _numbers(value: Any, name: str, where: Path) -> Any:
    """A number, or lists of them, as an array of int64, float32 or bool."""
    try:
        array = np.array(value)
    except (ValueError, TypeError, RecursionError):
        array = np.array(None)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = array.astype(float32)
        if not np.isfinite(narrow).all():
            raise damaged(f"{name} must be a number that float32 has, not NaN or infinity", where)
        return narrow
    if array.dtype.kind in "ib":
        return array.astype(int64 if array.dtype.kind == "i" else bool)
    raise damaged(f"{name} must be a number, or lists of them of the same length", where)


BLOCK = 512
_TAR = "shard must be a whole tar archive, not compressed"
_ZEROS = bytes(BLOCK)
_FILES = (b"0", b"\0", b"7")
_PASSED_OVER = (b"5", b"g", b"K")  # folders, global headers, long names of links
_LONG_NAME, _EXTENDED = b"L", b"x"
_DIGITS = 20  # more than a size has; Python refuses to read thousands
_LONGEST = 1 << 20  # bytes of a header that gives a name


class Member(NamedTuple):
    """A file in an archive: its name, and where its bytes are."""

    name: str
    offset: int
    size: int


def padded(size: int) -> int:
    """``size`` up to the next whole block."""
    return -(-size // BLOCK) * BLOCK


def members(file: int, path: Path) -> Iterator[Member]:
    """The files in an archive, in order; an error if it does not end as an archive does."""
    whole = os.fstat(file).st_size
    place = 0
    name, size = "", -1  # that the header before has told
    while True:
        header = os.pread(file, BLOCK, place)
        if header == _ZEROS:
            return
        if len(header) < BLOCK or not _is_right(header):
            raise damaged(_TAR, path, position=place)
        kind = header[156:157]
        length = _number(header[124:136], path, place) if size < 0 else size
        place += BLOCK
        if length > whole - place:
            raise damaged(_TAR, path, position=place - BLOCK)
        if kind in (_LONG_NAME, _EXTENDED):
            if length > _LONGEST:
                raise damaged(_TAR, path, position=place - BLOCK)
            content = os.pread(file, length, place)
            if kind == _LONG_NAME:
                name = _text(content)
            else:
                fields = _records(content, path, place)
                digits = fields.get("size", "")
                is_size = digits.isdecimal() and len(digits) < _DIGITS
                name, size = fields.get("path", name), int(digits) if is_size else size
        else:
            if kind in _FILES:
                yield Member(name or _name(header), place, length)
            elif kind not in _PASSED_OVER:
                requirement = "the members of a tar shard must be plain files, no links"
                raise damaged(requirement, path, member=name or _name(header))
            name, size = "", -1
        place += padded(length)


def _is_right(header: bytes) -> bool:
    """Whether the bytes add up to the sum that stands among them, itself counted as spaces."""
    told = header[148:156].strip(b" \0")
    try:
        return int(told, 8) == sum(header) - sum(header[148:156]) + 8 * 32
    except ValueError:
        return False


def _number(field: bytes, path: Path, place: int) -> int:
    """Octal digits, or bytes after a first one of 0x80."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise damaged(_TAR, path, position=place) from None


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _name(header: bytes) -> str:
    """The name, with what it begins with where that did not fit."""
    prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
    return f"{prefix}/{_text(header[:100])}" if prefix else _text(header[:100])


def _records(content: bytes, path: Path, place: int) -> dict[str, str]:
    """The lines ``<length> <key>=<value>`` of an extended header."""
    found = {}
    while content:
        digits, _, _ = content.partition(b" ")
        length = int(digits) if digits.isdigit() and len(digits) < 8 else 0
        key, equals, value = content[len(digits) + 1 : length - 1].partition(b"=")
        if length > len(content) or not equals or content[length - 1 : length] != b"\n":
            raise damaged(_TAR, path, position=place)
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        content = content[length:]
    if any(key.startswith("GNU.sparse") for key in found):
        raise damaged("the members of a tar shard must be plain files, not sparse", path)
    return found


class TarShard(Shard):
    """A sample is the members ``key.jpg``, ``key.cls`` and so on; a thread that asks decodes them.

    Where each begins is found by the headers when it is first asked for. ``told`` is how many an
    index says there are; without one they are counted.
    """

    in_memory = False

    def __init__(
        self, path: Path, choice: Choice, decoding: Decoding, told: int | None = None
    ) -> None:
        self.path = path
        self.stamp = Stamp.of(path)
        self.decoding = decoding
        if choice is not None and not all(isinstance(name, str) for name in choice):
            raise value_error(OP, "parts of tar shards must be names", parts=list(choice))
        with open_unchanged(path, self.stamp) as file:
            key, first = next(_samples(file, path))
            self.names = usual_parts(list(first), path) if choice is None else list(choice)
            self.samples = len(self._table(file)) if told is None else told
            self.parts = tuple(
                decoding.part(name, self._member(file, *place), self._where(key))
                for name, place in zip(self.names, self._places(key, first), strict=True)
            )

    @property
    def sample_size(self) -> int:
        return max(1, self.stamp.size // self.samples)

    def fill(self, targets: Sequence[Any], places: Any, rows: Any) -> None:
        """Read and decode them one by one."""
        table = self._offsets()
        with open_unchanged(self.path, self.stamp) as file:
            for place, row in zip(places.tolist(), rows.tolist(), strict=True):
                for i, (part, target) in enumerate(zip(self.parts, targets, strict=True)):
                    content = self._member(file, *table[row, i].tolist())
                    where = self._where(f"sample {row}")
                    target[place] = self.decoding.part_array(part, content, where)

    def read_ahead(self, begin: int, end: int) -> None:
        """Let the system read their bytes."""
        table = self._offsets()
        with open_unchanged(self.path, self.stamp) as file:
            first, last = int(table[begin, :, 0].min()), int(table[end - 1].sum(axis=-1).max())
            will_need(file, first, last - first)

    def _where(self, sample: str) -> Path:
        return self.path / sample

    def _offsets(self) -> Any:
        """Offset and size of each part of each sample, an array (samples, parts, 2)."""

        def load() -> Loaded:
            with open_unchanged(self.path, self.stamp) as file:
                table = self._table(file)
            if len(table) != self.samples:
                requirement = f"shard must have {self.samples} samples, as its index says"
                raise damaged(requirement, self.path, samples=len(table))
            return Loaded(table, table.nbytes)

        return self.cache.get((id(self), "offsets"), load)

    def _table(self, file: int) -> Any:
        places = array("q")
        for key, found in _samples(file, self.path):
            for place in self._places(key, found):
                places.extend(place)
        return np.frombuffer(places, int64).reshape(-1, len(self.names), 2)

    def _places(self, key: str, found: dict[str, Member]) -> Iterator[tuple[int, int]]:
        """Offset and size of each part of a sample."""
        for name in self.names:
            fitting = [member for ending, member in found.items() if matches(name, ending)]
            if len(fitting) != 1:
                requirement = f"every sample must have one member for the part {name!r}"
                raise damaged(requirement, self.path, key=key, members=list(found))
            yield fitting[0].offset, fitting[0].size

    def _member(self, file: int, offset: int, size: int) -> bytes:
        with explain_unreadable(OP, self.path):
            content = os.pread(file, size, offset)
        if len(content) < size:
            raise damaged("shard must be a whole tar archive", self.path, position=offset)
        return content


def _samples(file: int, path: Path) -> Iterator[tuple[str, dict[str, Member]]]:
    """The key of each sample, and its members by their endings."""
    current, found = "", dict[str, Member]()
    for member in members(file, path):
        folder, slash, name = member.name.rpartition("/")
        stem, _, ending = name.partition(".")
        if not stem or not ending:
            continue  # hidden, or what belongs to no sample
        key, ending = folder + slash + stem, ending.lower()
        if found and key != current:
            yield current, found
            found = {}
        current = key
        if ending in found:
            requirement = "the members of a sample must have different endings"
            raise damaged(requirement, path, member=member.name)
        found[ending] = member
    if not found:
        raise damaged("shard must have samples", path, samples=0)
    yield current, found
