"""Where the elements of many arrays lie in one flat row, and how the row is cut.

A row holds arrays of one dtype one after the other, each from a multiple of 16 elements on. It is cut
into blocks of the same size whatever else is asked for: what is added up block by block does not
depend on buckets, which are sent as wholes, nor on chunks, the part of a bucket that a worker owns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

BLOCK = 1024  # elements
_ALIGNMENT = 16


class Place(NamedTuple):
    """An array lies at ``begin`` to ``end`` of row ``row``."""

    row: int
    begin: int
    end: int


class Bucket(NamedTuple):
    """A part of a row, whole blocks from ``begin`` to ``end``, that is sent when it is known."""

    row: int
    begin: int
    end: int

    def chunk(self, workers: int, rank: int) -> tuple[int, int]:
        """The part of the row that worker ``rank`` finishes."""
        blocks = (self.end - self.begin) // BLOCK
        first, last = (blocks * number // workers for number in (rank, rank + 1))
        return self.begin + first * BLOCK, self.begin + last * BLOCK


class Layout:
    """Rows for arrays of these ``shapes`` and ``dtypes``, and buckets of about ``bucket_bytes``.

    A bucket has a block for each worker at least, so that all of them have a part in every one.
    """

    def __init__(
        self,
        shapes: Sequence[tuple[int, ...]],
        dtypes: Sequence[Any],
        bucket_bytes: int,
        workers: int = 1,
    ) -> None:
        self.shapes = list(shapes)
        self.dtypes = list(dict.fromkeys(np.dtype(dtype) for dtype in dtypes))
        self.places: list[Place] = []
        lengths = [0] * len(self.dtypes)
        for shape, dtype in zip(shapes, dtypes, strict=True):
            row = self.dtypes.index(np.dtype(dtype))
            begin = lengths[row]
            end = begin + int(np.prod(shape, dtype=np.int64))
            lengths[row] = _up_to(end, _ALIGNMENT)
            self.places.append(Place(row, begin, end))
        self.lengths = [_up_to(length, BLOCK) for length in lengths]
        self.buckets = [
            Bucket(row, begin, min(begin + size, length))
            for row, (length, dtype) in enumerate(zip(self.lengths, self.dtypes, strict=True))
            for size in [_up_to(max(bucket_bytes // dtype.itemsize, workers * BLOCK), BLOCK)]
            for begin in range(0, length, size)
        ]
        # By array the buckets it lies in; by bucket how many arrays it waits for.
        self.buckets_of = [
            [
                number
                for number, bucket in enumerate(self.buckets)
                if bucket.row == place.row and bucket.begin < place.end and place.begin < bucket.end
            ]
            for place in self.places
        ]
        self.waited_for = [0] * len(self.buckets)
        for numbers in self.buckets_of:
            for number in numbers:
                self.waited_for[number] += 1

    @property
    def nbytes(self) -> int:
        """The bytes of all rows."""
        pairs = zip(self.lengths, self.dtypes, strict=True)
        return sum(length * dtype.itemsize for length, dtype in pairs)

    def rows(self) -> list[Any]:
        """New rows, all zeros."""
        pairs = zip(self.lengths, self.dtypes, strict=True)
        return [np.zeros(length, dtype) for length, dtype in pairs]

    def view(self, rows: Sequence[Any], index: int) -> Any:
        """Array ``index`` as a view of ``rows``."""
        place = self.places[index]
        return rows[place.row][place.begin : place.end].reshape(self.shapes[index])


def _up_to(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple
