"""A shard: its parts and samples, and the cache of the pieces that are in memory."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from itertools import pairwise
from math import prod
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays import storage
from extensor.arrays.dtypes import as_dtype
from extensor.errors import is_ours, marked, value_error
from extensor.io.paths import explain_unreadable, unreadable
from extensor.io.regular_files import open_regular
from extensor.io.state_file import DamagedFileError


class Loaded(NamedTuple):
    """Something in memory, or mapped, how many bytes that is, and what to do when it is forgotten."""

    content: Any
    size: int
    let_go: Callable[[], None] | None = None


class Cache:
    """The results of ``load`` by their keys, as long as there is room.

    What is being loaded by one thread is waited for by others. Whoever still uses what has been
    forgotten keeps it in memory, which is one part for each thread.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.used = 0
        self._entries: OrderedDict[Hashable, Loaded] = OrderedDict()
        self._coming: dict[Hashable, Future[Loaded]] = {}
        self._lock = Lock()

    def get(self, key: Hashable, load: Callable[[], Loaded]) -> Any:
        """The content for ``key``, loaded by this thread if by none yet."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
                return entry.content
            future = Future[Loaded]()
            coming = self._coming.setdefault(key, future)
        if coming is not future:
            return coming.result().content
        try:
            loaded = load()
        except BaseException as error:
            with self._lock:
                del self._coming[key]
            future.set_exception(error)
            raise
        forgotten = []
        with self._lock:
            del self._coming[key]
            self._entries[key] = loaded
            self.used += loaded.size
            while self.used > self.room and len(self._entries) > 1:
                _, entry = self._entries.popitem(last=False)
                self.used -= entry.size
                forgotten.append(entry.let_go)
                del entry  # and with it what was mapped
        future.set_result(loaded)
        for let_go in forgotten:
            if let_go is not None:
                let_go()
        return loaded.content


OP = "ShardedDataset"
PIECE = 1 << 22  # bytes that are read together
Choice = Sequence[Any] | None  # of the parts of a sample: their names, or None for the usual ones


class SamplePart(NamedTuple):
    """A part of every sample, such as an image or its class: name, dtype and shape."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """The bytes of one sample."""
        return prod(self.shape) * self.dtype.itemsize


class Stamp(NamedTuple):
    """By what it is seen that a file is still the one that was opened."""

    size: int
    modified: int

    @staticmethod
    def of(path: Path, file: int | None = None) -> Stamp:
        """Of the file as it is now; ``file`` is its number if it is open."""
        with explain_unreadable(OP, path):
            status = os.stat(path if file is None else file)
        if not S_ISREG(status.st_mode):
            raise damaged("a shard must be a file", path)
        return Stamp(status.st_size, status.st_mtime_ns)

    def check(self, path: Path, file: int | None = None) -> None:
        """Refuse a file that is not as it was."""
        if (now := Stamp.of(path, file)) != self:
            raise damaged("a shard must not change while it is used", path, bytes=now.size)


def shard_error(requirement: str, path: Path, **got: object) -> ValueError:
    """The error for a shard that is not as it must be."""
    return value_error(OP, requirement, path=str(path), **got)


def damaged(requirement: str, path: Path, **got: object) -> DamagedFileError:
    """The error for a shard that is not whole."""
    return marked(DamagedFileError(str(shard_error(requirement, path, **got))))


@contextmanager
def explain_damage(requirement: str, path: Path, *errors: type[Exception]) -> Iterator[None]:
    """Raise ``errors`` within the block as damage, and those of the system in our words."""
    expected: tuple[type[Exception], ...] = (OSError, *errors)
    try:
        yield
    except MemoryError:
        raise
    except expected as error:
        if is_ours(error):
            raise
        if isinstance(error, OSError) and error.errno is not None:
            raise unreadable(OP, path, error) from error
        raise damaged(requirement, path) from error


def parts_text(parts: Iterable[tuple[str, Any, Sequence[int] | None]]) -> str:
    """The parts of a sample for messages: name, dtype and shape of each."""
    return ", ".join(f"{name} {dtype}{list(shape or ())}" for name, dtype, shape in parts)


def equal_runs(numbers: Any) -> list[tuple[int, int]]:
    """Begin and end of each run of equal numbers in an array."""
    if not len(numbers):
        return []
    cuts = (numbers[1:] != numbers[:-1]).nonzero()[0] + 1
    return list(pairwise([0, *cuts.tolist(), len(numbers)]))


@contextmanager
def open_unchanged(path: Path, stamp: Stamp) -> Iterator[int]:
    """The number of a file that is open within the block, which must be as it was."""
    with explain_unreadable(OP, path):
        file = open_regular(path, os.O_RDONLY)
    try:
        stamp.check(path, file)
        yield file
    finally:
        os.close(file)


def will_need(file: int, begin: int, size: int) -> None:
    """Let the system read a part of a file meanwhile."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file, begin, size, os.POSIX_FADV_WILLNEED)


def will_not_need(file: int, begin: int, size: int) -> None:
    """Let the system forget a part of a file, in whole pages."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file, begin, size, os.POSIX_FADV_DONTNEED)


def names_in(part: str | Sequence[str]) -> list[str]:
    """The names of the arrays or columns that make one part."""
    return [part] if isinstance(part, str) else list(part)


def usable_dtype(path: Path, name: str, dtype: Any) -> np.dtype[Any]:
    """``dtype`` in the order of bytes of this machine, if it is one of ours."""
    try:
        return as_dtype(np.dtype(dtype).newbyteorder("="))
    except TypeError:
        requirement = f"{name} must have numbers of a dtype that tensors have"
        raise damaged(requirement, path, dtype=str(dtype)) from None


def usual_names(
    path: Path, names: Sequence[str], choice: Choice, several: bool = False
) -> list[Any]:
    """Which arrays or columns are the parts: those chosen, x and y, or the only one.

    ``several`` says that a part may be made of more than one.
    """
    if choice is None:
        if {"x", "y"} <= set(names):
            return ["x", "y"]
        if len(names) == 1:
            return list(names)
        requirement = "parts must say which arrays make a sample, as parts=('x', 'y')"
        raise shard_error(requirement, path, arrays=list(names))
    for name in choice:
        if not isinstance(name, str) and not several:
            raise shard_error("parts of arrays must be names", path, part=name)
        for one in names_in(name):
            if one not in names:
                hint = "parts= chooses, in a configuration data.inputs and data.target"
                raise damaged(f"shard must have {one!r} ({hint})", path, arrays=list(names))
            if list(names).count(one) > 1:
                raise shard_error(f"shard must have {one!r} once", path, arrays=list(names))
    return list(choice)


class Shard:
    """Samples of a file, which are written into memory of the caller.

    ``bounds`` has the ends of what can only be read as a whole; None if any piece can be. Of those
    that are ``in_memory`` pieces are kept, so that the memory limits what can be used at once.
    """

    path: Path
    parts: tuple[SamplePart, ...]
    samples: int
    piece: int  # how many samples are read together, where there are no bounds
    cache: Cache  # of all shards of a data set
    bounds: Any = None
    in_memory = True
    column_types: Mapping[str, str] = {}  # of all columns, where a shard has such
    class_names: Mapping[str, list[str]] = {}  # of parts that are numbers of classes
    is_passing = False  # the data do not fit into memory, so pages are not kept

    @property
    def stretches(self) -> Any:
        """The numbers of samples that are read as a whole, or of all if any piece can be."""
        return np.diff([self.samples] if self.bounds is None else self.bounds, prepend=0)

    def check_unchanged(self) -> None:
        """Raise if a file is not what it was, where its pages are used as they are."""

    @property
    def sample_size(self) -> int:
        """The bytes of a sample, which decide how many samples are read at once."""
        return max(1, sum(part.size for part in self.parts))

    def fill(self, targets: Sequence[Any], places: Any, rows: Any) -> None:
        """Put the samples at ``rows``, which rise, into places of the targets, one for each part."""
        raise NotImplementedError

    def read_ahead(self, begin: int, end: int) -> None:
        """Begin to read the samples from ``begin`` to ``end``."""
        raise NotImplementedError

    def verify(self) -> None:
        """Read all samples once, piece by piece."""
        self.piece, self.cache = max(1, PIECE // self.sample_size), Cache(1)
        for begin in range(0, self.samples, self.piece):
            rows = np.arange(begin, min(begin + self.piece, self.samples))
            targets = [np.empty((len(rows), *part.shape), part.dtype) for part in self.parts]
            self.fill(targets, np.arange(len(rows)), rows)


class PiecedShard(Shard):
    """A shard of which pieces are loaded and kept for a while: arrays, one for each part."""

    def load(self, begin: int, end: int, ahead: bool) -> Loaded:
        """The arrays of the samples from ``begin`` to ``end``; ``ahead`` if they are for later."""
        raise NotImplementedError

    def put(self, target: Any, places: Any, part: int, arrays: Any, rows: Any) -> None:
        """Put rows of a piece, counted from its first, into places of a target."""
        storage.copy_rows(target, places, arrays[part], rows)  # an index would keep the GIL

    def fill(self, targets: Sequence[Any], places: Any, rows: Any) -> None:
        """Piece by piece."""
        self.check_unchanged()
        numbers = self._pieces(rows)
        for first, last in equal_runs(numbers):
            begin, arrays = self._piece(int(numbers[first]), ahead=False)
            within = rows[first:last] - begin
            for part, target in enumerate(targets):
                self.put(target, places[first:last], part, arrays, within)

    def read_ahead(self, begin: int, end: int) -> None:
        """The pieces in which these samples lie."""
        first, last = self._pieces(np.array([begin, end - 1])).tolist()
        for number in range(first, last + 1):
            self._piece(number, ahead=True)

    def _pieces(self, rows: Any) -> Any:
        if self.bounds is None:
            return rows // self.piece
        return np.searchsorted(self.bounds, rows, side="right")

    def _piece(self, number: int, ahead: bool) -> tuple[int, Any]:
        if self.bounds is None:
            begin, end = number * self.piece, min((number + 1) * self.piece, self.samples)
        else:
            begin, end = (0 if number == 0 else int(self.bounds[number - 1])), self.bounds[number]
        key: Hashable = (id(self), number)
        return begin, self.cache.get(key, lambda: self.load(begin, int(end), ahead))
