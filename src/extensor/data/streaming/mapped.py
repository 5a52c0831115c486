"""Shards whose arrays lie in files as they are in memory: mapped, a piece at a time."""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from extensor.data.streaming.cache import Loaded
from extensor.data.streaming.shard import (
    OP,
    Part,
    PiecedShard,
    Stamp,
    damaged,
    opened,
    will_need,
    will_not_need,
)
from extensor.io.paths import unreadable
from extensor.io.state import DamagedFileError


class Stored(NamedTuple):
    """An array in a file: its name, where its bytes begin, and what they are."""

    name: str
    path: Path
    offset: int
    dtype: np.dtype[Any]  # in the order of bytes of the file
    shape: tuple[int, ...]


class MappedShard(PiecedShard):
    """Arrays of the same length, each a part; sample ``i`` is row ``i`` of each."""

    def __init__(self, path: Path, arrays: Sequence[Stored], stamps: dict[Path, Stamp]) -> None:
        self.path = path
        self.arrays = tuple(arrays)
        self.stamps = stamps
        self.samples = arrays[0].shape[0]
        self.parts = tuple(
            Part(x.name, x.dtype.newbyteorder("="), tuple(x.shape[1:])) for x in arrays
        )

    def check_unchanged(self) -> None:
        # Pages that are mapped show what is written into the file, and end the process where it ends.
        for path, stamp in self.stamps.items():
            if (now := Stamp.of(path)) != stamp:
                raise damaged("a shard must not change while it is used", path, bytes=now.size)

    def load(self, begin: int, end: int, ahead: bool) -> Loaded:
        """Map the rows, and with ``ahead`` let the system read them."""
        found = [self.rows_of(array, begin, end, ahead) for array in self.arrays]
        let_go = partial(self.let_go, begin, end) if self.is_passing else None
        return Loaded([x for x, _ in found], sum(size for _, size in found), let_go)

    def let_go(self, begin: int, end: int) -> None:
        """Let the system use the memory of these rows for something else."""
        for array in self.arrays:
            row = Part(array.name, array.dtype, array.shape[1:]).size
            with suppress(OSError, DamagedFileError):
                file = opened(array.path, self.stamps[array.path])
                try:
                    will_not_need(file, array.offset + begin * row, (end - begin) * row)
                finally:
                    os.close(file)

    def rows_of(self, array: Stored, begin: int, end: int, ahead: bool) -> tuple[Any, int]:
        """Rows of one array, and the bytes they take."""
        shape = (end - begin, *array.shape[1:])
        row = Part(array.name, array.dtype, shape[1:]).size
        if row == 0:
            return np.empty(shape, array.dtype), 0
        first = array.offset + begin * row
        place = first - first % mmap.ALLOCATIONGRANULARITY
        size = first + (end - begin) * row - place
        file = opened(array.path, self.stamps[array.path])
        try:
            if ahead:
                will_need(file, place, size)
            memory = mmap.mmap(file, size, access=mmap.ACCESS_READ, offset=place)
        except OSError as error:
            raise unreadable(OP, array.path, error) from error
        finally:
            os.close(file)
        rows = np.frombuffer(memory, np.uint8, offset=first - place).view(array.dtype)
        rows = rows.reshape(shape)
        if array.dtype == np.bool_ and rows.size and rows.view(np.uint8).max() > 1:
            raise damaged("a part of bools must have no bytes but 0 and 1", array.path)
        if not array.dtype.isnative:
            rows = rows.astype(array.dtype.newbyteorder("="))
        return rows, size
