"""Where the arrays of a file begin: the headers of ``.npy``, ``.npz`` and safetensors."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from extensor.data.npy import NpyError, read_npy, read_npy_header
from extensor.data.streaming.cache import Loaded
from extensor.data.streaming.mapped import MappedShard, Stored
from extensor.data.streaming.shard import (
    OP,
    Choice,
    Part,
    PiecedShard,
    Shard,
    Stamp,
    damaged,
    usable_dtype,
    usual_names,
)
from extensor.io.layout import LONGEST, LayoutError, UnknownDTypeError, read_header
from extensor.io.limits import check_decoded
from extensor.io.paths import unreadable
from extensor.io.regular_files import open_regular

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
        try:
            with open(place, "rb", opener=open_regular) as file:
                stored = _npy(file, name, place)
        except OSError as error:
            raise unreadable(OP, place, error) from error
        _check_size(stored, stamps[place].size - stored.offset)
        arrays.append(stored)
    return MappedShard(path, checked(path, arrays), stamps)


def npz_shard(path: Path, choice: Choice) -> Shard:
    """A shard that is an ``.npz`` file: mapped, or decompressed as a whole."""
    stamp = Stamp.of(path)
    try:
        with open(path, "rb", opener=open_regular) as file, zipfile.ZipFile(path) as archive:
            members = {
                info.filename.removesuffix(".npy"): info
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
            names = usual_names(path, list(members), choice)
            chosen = [members[name] for name in names]
            if all(info.compress_type == zipfile.ZIP_STORED for info in chosen):
                arrays = [
                    _stored_member(file, info, name, path)
                    for name, info in zip(names, chosen, strict=True)
                ]
                return MappedShard(path, checked(path, arrays), {path: stamp})
            check_decoded(OP, path, sum(info.file_size for info in chosen), stamp.size)
            arrays = []
            for name, info in zip(names, chosen, strict=True):
                with archive.open(info) as stream:
                    stored = _npy(stream, name, path)
                _check_size(stored, info.file_size - stored.offset)
                arrays.append(stored)
            return CompressedShard(path, checked(path, arrays), stamp)
    except OSError as error:
        raise unreadable(OP, path, error) from error
    except _ZIP as error:
        raise damaged(_NPZ, path) from error


def check_sums(path: Path) -> None:
    """Refuse an ``.npz`` file of which a member has not the checksum that stands beside it."""
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except OSError as error:
        raise unreadable(OP, path, error) from error
    except _ZIP as error:
        raise damaged(_NPZ, path) from error
    if bad is not None:
        raise damaged(_NPZ, path)


def safetensors_shard(path: Path, choice: Choice) -> Shard:
    """A shard that is a safetensors file."""
    stamp = Stamp.of(path)
    try:
        with open(path, "rb", opener=open_regular) as file:
            length = int.from_bytes(file.read(8), "little")
            if stamp.size < 8 or length > min(stamp.size - 8, LONGEST):
                raise LayoutError
            entries = read_header(file.read(length), stamp.size - 8 - length).entries
    except OSError as error:
        raise unreadable(OP, path, error) from error
    except (LayoutError, UnknownDTypeError) as error:
        raise damaged(_SAFE, path) from error
    found = {}
    place = 8 + length
    for entry in entries:
        found[entry.name] = Stored(entry.name, path, place, entry.dtype, entry.shape)
        place += entry.size
    arrays = [found[name] for name in usual_names(path, list(found), choice)]
    return MappedShard(path, checked(path, arrays), {path: stamp})


def checked(path: Path, arrays: Sequence[Stored]) -> list[Stored]:
    """The arrays of a shard, if they have the same length, and any samples."""
    for array in arrays:
        usable_dtype(path, array.name, array.dtype)
        if not array.shape:
            raise damaged(f"{array.name} must have an axis of samples", path, shape=())
    lengths = {array.name: array.shape[0] for array in arrays}
    if len(set(lengths.values())) > 1:
        raise damaged("the parts of a shard must have the same length", path, lengths=lengths)
    if arrays[0].shape[0] == 0:
        raise damaged("shard must have samples", path, samples=0)
    return list(arrays)


def _npy(stream: Any, name: str, path: Path) -> Stored:
    """The header of an ``.npy`` file; the offset counts from where the stream began."""
    try:
        header = read_npy_header(stream)
    except NpyError as error:
        raise damaged(_NPY, path) from error
    if header.dtype.hasobject:
        raise damaged("shard must have numbers, not objects, which would be unpickled", path)
    if header.fortran and len(header.shape) > 1:
        requirement = "the samples of a shard must lie one after the other (np.ascontiguousarray)"
        raise damaged(requirement, path, order="F")
    return Stored(name, path, header.length, header.dtype, header.shape)


def _stored_member(file: BinaryIO, info: zipfile.ZipInfo, name: str, path: Path) -> Stored:
    # The data of a member follow its local header, which repeats the name and may have more extra
    # fields than the directory of the archive knows of.
    file.seek(info.header_offset + 26)
    sizes = file.read(4)
    begin = (
        info.header_offset + 30 + sum(int.from_bytes(sizes[i : i + 2], "little") for i in (0, 2))
    )
    file.seek(begin)
    stored = _npy(file, name, path)
    _check_size(stored, info.file_size - stored.offset)
    file.seek(0, 2)
    if begin + info.file_size > file.tell():
        raise damaged(_NPZ, path)
    return stored._replace(offset=begin + stored.offset)


def _check_size(array: Stored, size: int) -> None:
    needed = prod(array.shape) * array.dtype.itemsize
    if size != needed:
        requirement = f"shard must have {needed} bytes of data for shape {array.shape}"
        raise damaged(requirement, array.path, bytes=max(size, 0))


class CompressedShard(PiecedShard):
    """The arrays of an ``.npz`` that is compressed: read as a whole or not at all."""

    def __init__(self, path: Path, arrays: Sequence[Stored], stamp: Stamp) -> None:
        self.path = path
        self.stamp = stamp
        self.samples = arrays[0].shape[0]
        self.bounds = np.array([self.samples])
        self.parts = tuple(
            Part(x.name, x.dtype.newbyteorder("="), tuple(x.shape[1:])) for x in arrays
        )

    def load(self, begin: int, end: int, ahead: bool) -> Loaded:
        """All arrays."""
        if Stamp.of(self.path) != self.stamp:
            raise damaged("a shard must not change while it is used", self.path)
        arrays = []
        try:
            with zipfile.ZipFile(self.path) as archive:
                for part in self.parts:
                    with archive.open(f"{part.name}.npy") as stream:
                        array = read_npy(stream, archive.getinfo(stream.name).file_size)
                        stream.read(1)  # the end, where its checksum is compared
                    arrays.append(np.ascontiguousarray(array, part.dtype))
        except MemoryError:
            raise
        except Exception as error:
            # Each way to compress fails in its own way.
            if isinstance(error, OSError) and error.errno is not None:
                raise unreadable(OP, self.path, error) from error
            raise damaged(_NPZ, self.path) from error
        return Loaded(arrays, sum(array.nbytes for array in arrays))
