"""Tar shards, as webdataset has them: the members of a sample follow each other under one key."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from extensor.arrays.dtypes import int64
from extensor.data.streaming.archive import Member, members
from extensor.data.streaming.cache import Cache, Loaded
from extensor.data.streaming.members import Decoding, matches, usual_parts
from extensor.data.streaming.shard import (
    OP,
    Choice,
    Part,
    Shard,
    Stamp,
    damaged,
    opened,
    will_need,
)
from extensor.errors import value_error
from extensor.io.paths import unreadable


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
        file = opened(path, self.stamp)
        try:
            key, first = next(_samples(file, path))
            self.names = usual_parts(list(first), path) if choice is None else list(choice)
            self.samples = len(self._table(file)) if told is None else told
            self.parts = tuple(
                decoding.part(name, self._member(file, *place), self._where(key))
                for name, place in zip(self.names, self._places(key, first), strict=True)
            )
        finally:
            os.close(file)

    @property
    def sample_size(self) -> int:
        return max(1, self.stamp.size // self.samples)

    def fill(
        self, targets: Sequence[Any], places: Any, rows: Any, piece: int, cache: Cache
    ) -> None:
        """Read and decode them one by one."""
        table = self._offsets(cache)
        file = opened(self.path, self.stamp)
        try:
            for place, row in zip(places.tolist(), rows.tolist(), strict=True):
                for i, (part, target) in enumerate(zip(self.parts, targets, strict=True)):
                    content = self._member(file, *table[row, i].tolist())
                    target[place] = self._array(part, content, row)
        finally:
            os.close(file)

    def read_ahead(self, begin: int, end: int, piece: int, cache: Cache) -> None:
        """Let the system read their bytes."""
        table = self._offsets(cache)
        file = opened(self.path, self.stamp)
        try:
            first, last = int(table[begin, :, 0].min()), int(table[end - 1].sum(axis=-1).max())
            will_need(file, first, last - first)
        finally:
            os.close(file)

    def _array(self, part: Part, content: bytes, row: int) -> Any:
        return self.decoding.checked(part, content, self._where(f"sample {row}"))

    def _where(self, sample: str) -> Path:
        return self.path / sample

    def _offsets(self, cache: Cache) -> Any:
        """Offset and size of each part of each sample, an array (samples, parts, 2)."""

        def load() -> Loaded:
            file = opened(self.path, self.stamp)
            try:
                table = self._table(file)
            finally:
                os.close(file)
            if len(table) != self.samples:
                requirement = f"shard must have {self.samples} samples, as its index says"
                raise damaged(requirement, self.path, samples=len(table))
            return Loaded(table, table.nbytes)

        return cache.get((id(self), "offsets"), load)

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
        try:
            content = os.pread(file, size, offset)
        except OSError as error:
            raise unreadable(OP, self.path, error) from error
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
