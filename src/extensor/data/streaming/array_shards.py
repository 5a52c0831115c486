"""Shards of arrays and tokens: ``.npy``, ``.npz`` and safetensors, mapped where they can be."""

from __future__ import annotations

import mmap
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import int64
from extensor.data.array_files import (
    NpyError,
    npy_members,
    read_npy,
    read_npy_header,
    stored_begin,
)
from extensor.data.streaming.shard import (
    OP,
    Choice,
    Loaded,
    PiecedShard,
    SamplePart,
    Shard,
    Stamp,
    damaged,
    explain_damage,
    open_unchanged,
    shard_error,
    usable_dtype,
    usual_names,
    will_need,
    will_not_need,
)
from extensor.io.limits import check_decoded
from extensor.io.paths import explain_unreadable
from extensor.io.regular_files import open_regular
from extensor.io.safetensors_layout import LayoutError, UnknownDTypeError, header_text, read_header
from extensor.io.state_file import DamagedFileError


class Stored(NamedTuple):
    """An array in a file: its name, where its bytes begin, and what they are."""

    name: str
    path: Path
    offset: int
    dtype: np.dtype[Any]  # in the order of bytes of the file
    shape: tuple[int, ...]

    @property
    def row_size(self) -> int:
        """The bytes of one sample."""
        return prod(self.shape[1:]) * self.dtype.itemsize


class ArrayShard(PiecedShard):
    """Arrays of the same length, each a part; sample ``i`` is row ``i`` of each."""

    def __init__(self, path: Path, arrays: Sequence[Stored], stamps: dict[Path, Stamp]) -> None:
        for array in arrays:
            usable_dtype(path, array.name, array.dtype)
            if not array.shape:
                raise damaged(f"{array.name} must have an axis of samples", path, shape=())
        lengths = {array.name: array.shape[0] for array in arrays}
        if len(set(lengths.values())) > 1:
            raise damaged("the parts of a shard must have the same length", path, lengths=lengths)
        self.path = path
        self.arrays = tuple(arrays)
        self.stamps = stamps
        self.samples = arrays[0].shape[0]
        if self.samples == 0:
            raise damaged("shard must have samples", path, samples=0)
        self.parts = tuple(
            SamplePart(x.name, x.dtype.newbyteorder("="), tuple(x.shape[1:])) for x in arrays
        )


class MappedShard(ArrayShard):
    """Arrays that lie in files as they are, of which pieces are mapped into memory."""

    def check_unchanged(self) -> None:
        # Pages that are mapped show what is written into the file, and end the process where it ends.
        for path, stamp in self.stamps.items():
            stamp.check(path)

    def load(self, begin: int, end: int, ahead: bool) -> Loaded:
        """Map the rows, and with ``ahead`` let the system read them."""
        found = [self.rows_of(array, begin, end, ahead) for array in self.arrays]
        let_go = partial(self.let_go, begin, end) if self.is_passing else None
        return Loaded([x for x, _ in found], sum(size for _, size in found), let_go)

    def let_go(self, begin: int, end: int) -> None:
        """Let the system use the memory of these rows for something else."""
        for array in self.arrays:
            place, size = array.offset + begin * array.row_size, (end - begin) * array.row_size
            stamp = self.stamps[array.path]
            with suppress(OSError, DamagedFileError), open_unchanged(array.path, stamp) as file:
                will_not_need(file, place, size)

    def rows_of(self, array: Stored, begin: int, end: int, ahead: bool) -> tuple[Any, int]:
        """Rows of one array, and the bytes they take."""
        shape = (end - begin, *array.shape[1:])
        if array.row_size == 0:
            return np.empty(shape, array.dtype), 0
        first = array.offset + begin * array.row_size
        place = first - first % mmap.ALLOCATIONGRANULARITY
        size = first + (end - begin) * array.row_size - place
        stamp = self.stamps[array.path]
        with open_unchanged(array.path, stamp) as file, explain_unreadable(OP, array.path):
            if ahead:
                will_need(file, place, size)
            memory = mmap.mmap(file, size, access=mmap.ACCESS_READ, offset=place)
        rows = np.frombuffer(memory, np.uint8, offset=first - place).view(array.dtype)
        rows = rows.reshape(shape)
        if array.dtype == np.bool_ and rows.size and rows.view(np.uint8).max() > 1:
            raise damaged("a part of bools must have only the bytes 0 and 1", array.path)
        if not array.dtype.isnative:
            rows = rows.astype(array.dtype.newbyteorder("="))
        return rows, size


_NPY = "shard must be a whole .npy file of numbers"
_NPZ = "shard must be a whole .npz file of arrays"
_SAFE = "shard must be a whole safetensors file"
_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def npy_shard(path: Path, files: dict[str, Path], choice: Choice) -> Shard:
    """A shard of ``.npy`` files, one for each part."""
    names = usual_names(path, list(files), choice)
    stamps = {files[name]: Stamp.of(files[name]) for name in names}
    arrays = []
    for name in names:
        place = files[name]
        with explain_unreadable(OP, place), open(place, "rb", opener=open_regular) as file:
            arrays.append(_npy(file, name, place, stamps[place].size))
    return MappedShard(path, arrays, stamps)


def npz_shard(path: Path, choice: Choice) -> Shard:
    """A shard that is an ``.npz`` file: mapped, or decompressed as a whole."""
    stamp = Stamp.of(path)
    with (
        explain_damage(_NPZ, path, *_ZIP),
        open(path, "rb", opener=open_regular) as file,
        zipfile.ZipFile(path) as archive,
    ):
        members = npy_members(archive)
        names = usual_names(path, list(members), choice)
        is_mapped = all(members[name].compress_type == zipfile.ZIP_STORED for name in names)
        if not is_mapped:
            check_decoded(OP, path, sum(members[name].file_size for name in names), stamp.size)
        arrays = []
        for name in names:
            info = members[name]
            with archive.open(info) as stream:
                stored = _npy(stream, name, path, info.file_size)
            if is_mapped:
                begin = stored_begin(file, info)
                if begin + info.file_size > stamp.size:
                    raise damaged(_NPZ, path)
                stored = stored._replace(offset=begin + stored.offset)
            arrays.append(stored)
    return (MappedShard if is_mapped else CompressedShard)(path, arrays, {path: stamp})


def check_sums(path: Path) -> None:
    """Refuse an ``.npz`` file of which a member has not the checksum that stands beside it."""
    with explain_damage(_NPZ, path, *_ZIP), zipfile.ZipFile(path) as archive:
        if archive.testzip() is not None:
            raise damaged(_NPZ, path)


def safetensors_shard(path: Path, choice: Choice) -> Shard:
    """A shard that is a safetensors file."""
    stamp = Stamp.of(path)
    with (
        explain_damage(_SAFE, path, LayoutError, UnknownDTypeError),
        open(path, "rb", opener=open_regular) as file,
    ):
        text = header_text(file, stamp.size)
        entries = read_header(text, stamp.size - 8 - len(text)).entries
    found = {}
    place = 8 + len(text)
    for entry in entries:
        found[entry.name] = Stored(entry.name, path, place, entry.dtype, entry.shape)
        place += entry.size
    arrays = [found[name] for name in usual_names(path, list(found), choice)]
    return MappedShard(path, arrays, {path: stamp})


def _npy(stream: Any, name: str, path: Path, size: int) -> Stored:
    """The array in a stream of ``size`` bytes; its offset counts from where the stream began."""
    try:
        header = read_npy_header(stream)
    except NpyError as error:
        raise damaged(_NPY, path) from error
    if header.dtype.hasobject:
        raise damaged("shard must have numbers, not objects, which would be unpickled", path)
    if header.fortran and len(header.shape) > 1:
        requirement = "the samples of a shard must lie one after the other (np.ascontiguousarray)"
        raise damaged(requirement, path, order="F")
    if size - header.length != header.data_size:
        requirement = f"shard must have {header.data_size} bytes of data for shape {header.shape}"
        raise damaged(requirement, path, bytes=max(size - header.length, 0))
    return Stored(name, path, header.length, header.dtype, header.shape)


class CompressedShard(ArrayShard):
    """The arrays of an ``.npz`` that is compressed: read as a whole or not at all."""

    def __init__(self, path: Path, arrays: Sequence[Stored], stamps: dict[Path, Stamp]) -> None:
        super().__init__(path, arrays, stamps)
        self.bounds = np.array([self.samples])

    def load(self, begin: int, end: int, ahead: bool) -> Loaded:
        """All arrays."""
        self.stamps[self.path].check(self.path)
        arrays = []
        # Each way to compress fails in its own way.
        with explain_damage(_NPZ, self.path, Exception), zipfile.ZipFile(self.path) as archive:
            for part in self.parts:
                with archive.open(f"{part.name}.npy") as stream:
                    array = read_npy(stream, archive.getinfo(stream.name).file_size)
                    stream.read(1)  # the end, where its checksum is compared
                arrays.append(np.ascontiguousarray(array, part.dtype))
        return Loaded(arrays, sum(array.nbytes for array in arrays))


class TokenShard(PiecedShard):
    """Windows of ``context`` tokens as :class:`~extensor.data.TextWindows` has them, in one shard.

    Each begins where the one before ends, and the last ends where the shard ends.
    """

    def __init__(self, shard: Shard, context: int) -> None:
        tokens = shard.parts[0]
        if not isinstance(shard, MappedShard) or len(shard.parts) > 1 or tokens.shape:
            requirement = "context is for shards of one row of tokens, not compressed"
            raise shard_error(requirement, shard.path, context=context)
        if tokens.dtype.kind not in "iu":
            raise damaged("tokens must be integers", shard.path, dtype=str(tokens.dtype))
        if shard.samples <= context:
            requirement = f"shard must have {context + 1} tokens or more, a window and what follows"
            raise damaged(requirement, shard.path, tokens=shard.samples)
        self.path = shard.path
        self.shard = shard
        self.context = context
        self.samples = -(-(shard.samples - 1) // context)
        self.parts = (
            SamplePart("inputs", int64, (context,)),
            SamplePart("targets", int64, (context,)),
        )

    @property
    def sample_size(self) -> int:
        return self.context * self.shard.parts[0].dtype.itemsize

    def check_unchanged(self) -> None:
        self.shard.check_unchanged()

    def load(self, begin: int, end: int, ahead: bool) -> Loaded:
        """The tokens of these windows, and where each begins among them."""
        starts = self._first(np.arange(begin, end))
        last = int(starts[-1]) + self.context + 1
        tokens, size = self.shard.rows_of(self.shard.arrays[0], int(starts[0]), last, ahead)
        let_go = partial(self.shard.let_go, int(starts[0]), last) if self.is_passing else None
        return Loaded((tokens, starts - starts[0]), size + starts.nbytes, let_go)

    def put(self, target: Any, places: Any, part: int, arrays: Any, rows: Any) -> None:
        """The windows, and for targets those one token further."""
        tokens, starts = arrays
        target[places] = tokens.take(starts[rows][:, None] + np.arange(part, part + self.context))

    def _first(self, row: Any) -> Any:
        return np.minimum(row * self.context, self.shard.samples - 1 - self.context)
