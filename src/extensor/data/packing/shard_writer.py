"""A new folder of shards: written whole or not at all, and cleaned up after killed writers."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from extensor.data.streaming.index import PackedFile, PackedShard
from extensor.data.streaming.tar_shards import padded
from extensor.errors import value_error
from extensor.io.atomic import PARTIAL, sync_folder
from extensor.io.paths import as_path

if sys.platform != "win32":
    import fcntl

_MARK = ".extensor-pack"  # the file in such a folder that its writer holds locked


@contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold ``folder`` as that of a living writer, until the block ends."""
    if sys.platform == "win32":  # where abandoned folders cannot be recognized
        yield
        return
    # The file is locked before it gets its name, so a mark is never seen unlocked.
    unnamed = folder / f"{_MARK}.new"
    file = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.rename(unnamed, folder / _MARK)
        except OSError:  # a file system without locks: the folder would look abandoned
            os.unlink(unnamed)
        yield
    finally:
        os.close(file)


def remove_abandoned(parent: Path) -> None:
    """Delete the folders in ``parent`` whose writers are dead; those of the living stay."""
    if sys.platform == "win32":
        return
    for folder in parent.glob(f".*{PARTIAL}"):
        if folder.is_symlink():
            continue
        with suppress(OSError):  # there is no mark, or its writer has locked it
            file = os.open(folder / _MARK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            finally:
                os.close(file)
            shutil.rmtree(folder, ignore_errors=True)


OP = "pack"
_DIGITS = 5  # of the number of a shard, or more
Described = tuple[str, str, tuple[int, ...]]  # a part: name, dtype, shape


def checked_folder(folder: Any) -> Path:
    """The path of a folder that is not there yet, in one that is."""
    place = as_path(OP, folder, name="folder")
    if os.path.lexists(place):
        raise value_error(OP, "folder must be new", folder=str(folder))
    if not place.parent.is_dir():
        raise value_error(OP, "the parent folder must exist", folder=str(folder))
    return place


class NewFolder:
    """A folder that is being written into."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files: list[NewFile] = []

    def file(self, name: str) -> NewFile:
        """A new file in it."""
        self.files.append(NewFile(self.path / name))
        return self.files[-1]


@contextmanager
def new_folder(place: Path) -> Iterator[NewFolder]:
    """A folder to write into, which has the name ``place`` only when the block has come to its end."""
    remove_abandoned(place.parent)
    partial = place.with_name(f".{place.name}.{os.getpid()}{PARTIAL}")
    with _explain_write_errors(place):
        partial.mkdir()
    folder = NewFolder(partial)
    try:
        with hold_folder(partial):
            yield folder
            with _explain_write_errors(place):
                sync_folder(partial)
                os.rename(partial, place)
                (place / _MARK).unlink(missing_ok=True)
                sync_folder(place.parent)
    except BaseException:
        for file in folder.files:
            file.abandon()
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def _explain_write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        text = f"{OP}: could not write {path} ({error.strerror}); nothing was written"
        raise OSError(error.errno, text) from error


class NewFile:
    """A file that is being written, and the digest of what is in it so far."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._digest = hashlib.sha256()
        with _explain_write_errors(path):
            self._file = path.open("xb")

    def write(self, content: bytes | memoryview) -> None:
        """Add ``content``."""
        self._digest.update(content)
        self.size += len(content)
        with _explain_write_errors(self.path):
            self._file.write(content)

    def close(self) -> PackedFile:
        """Bring it to the disk."""
        with _explain_write_errors(self.path):
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        return PackedFile(self.path.name, self.size, self._digest.hexdigest())

    def abandon(self) -> None:
        """Close the file, which will be deleted."""
        with suppress(OSError):
            self._file.close()


def _shard_name(number: int) -> str:
    return f"shard-{number:0{_DIGITS}d}"


class ArrayShards:
    """Samples in ``.npy`` files, one for each part of a shard; all shards are of the same size."""

    def __init__(
        self, folder: NewFolder, parts: Sequence[Described], samples: int, shard_size: int
    ) -> None:
        self.folder = folder
        self.parts = parts
        size = max(1, sum(prod(shape) * np.dtype(dtype).itemsize for _, dtype, shape in parts))
        shards = max(1, -(-samples // max(1, shard_size // size)))
        shards = min(shards, max(1, samples))
        least, more = divmod(samples, shards)
        self._lengths = [least + (number < more) for number in range(shards)]
        self._files: list[NewFile] = []
        self._missing = 0  # in the shard that is being written
        self.written: list[PackedShard] = []

    def write(self, arrays: Sequence[Any]) -> None:
        """Add samples: an array for each part."""
        begin, end = 0, len(arrays[0])
        while begin < end:
            if not self._missing:
                self._begin()
            stop = min(end, begin + self._missing)
            for file, array, (_, dtype, _) in zip(self._files, arrays, self.parts, strict=True):
                content: Any = np.ascontiguousarray(array[begin:stop], dtype)
                file.write(content.reshape(-1).view(np.uint8).data)
            self._missing -= stop - begin
            begin = stop
            if not self._missing:
                length = self._lengths[len(self.written)]
                self.written.append(PackedShard(tuple(x.close() for x in self._files), length))

    def _begin(self) -> None:
        number = len(self.written)
        self._missing = self._lengths[number]
        self._files = []
        for name, dtype, shape in self.parts:
            file = self.folder.file(f"{_shard_name(number)}.{name}.npy")
            header = io.BytesIO()
            described = np.lib.format.dtype_to_descr(np.dtype(dtype))
            np.lib.format.write_array_header_1_0(
                header,
                {"descr": described, "fortran_order": False, "shape": (self._missing, *shape)},
            )
            file.write(header.getvalue())
            self._files.append(file)


class TarShards:
    """Samples in tar archives, each begun when the one before is large enough."""

    def __init__(self, folder: NewFolder, shard_size: int) -> None:
        self.folder = folder
        self.shard_size = shard_size
        self._file: NewFile | None = None
        self._samples = 0
        self.written: list[PackedShard] = []

    def write(self, members: Sequence[tuple[str, bytes]]) -> None:
        """Add the members of one sample, by their names."""
        if self._file is None:
            self._file = self.folder.file(f"{_shard_name(len(self.written))}.tar")
            self._samples = 0
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            self._file.write(info.tobuf(tarfile.USTAR_FORMAT))
            self._file.write(content)
            self._file.write(bytes(padded(len(content)) - len(content)))
        self._samples += 1
        if self._file.size >= self.shard_size:
            self.close()

    def close(self) -> None:
        """End the archive that is being written."""
        if self._file is not None:
            self._file.write(bytes(2 * tarfile.BLOCKSIZE))
            self.written.append(PackedShard((self._file.close(),), self._samples))
            self._file = None
