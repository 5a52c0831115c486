"""Places in one block of memory for buffers that are needed at different times."""

from __future__ import annotations

from typing import NamedTuple

_LINE = 64  # bytes of a cache line, on which every buffer begins


class Lifetime(NamedTuple):
    """A buffer, the steps that write it first and read it last, and its size."""

    buffer: int
    first: int
    last: int
    bytes: int


def plan_arena(lifetimes: list[Lifetime]) -> tuple[dict[int, int], int]:
    """The offset of each buffer, and the bytes that all of them need.

    Of the free places that are large enough the one that was given up last is taken: its memory is
    still in the caches.
    """
    offsets: dict[int, int] = {}
    free: list[tuple[int, int]] = []  # offset and size, the one given up last at the end
    waiting = sorted(lifetimes, key=lambda x: (x.first, x.buffer))
    living: list[tuple[int, int, int]] = []  # last step, offset, size
    size = 0
    for x in waiting:
        for ended in sorted(y for y in living if y[0] < x.first):
            living.remove(ended)
            _give_up(free, ended[1], ended[2])
        needed = max(-(-x.bytes // _LINE), 1) * _LINE
        fitting = [i for i, (_, room) in enumerate(free) if room >= needed]
        if fitting:
            offset, room = free.pop(fitting[-1])
            if room > needed:
                free.insert(fitting[-1], (offset + needed, room - needed))
        else:
            offset, size = _grow(free, size, needed)
        offsets[x.buffer] = offset
        living.append((x.last, offset, needed))
    return offsets, size


def _give_up(free: list[tuple[int, int]], offset: int, size: int) -> None:
    """Add a place to the free ones, joined with its neighbours."""
    for neighbour in list(free):
        begin, room = neighbour
        if begin + room == offset or offset + size == begin:
            free.remove(neighbour)
            offset, size = min(begin, offset), room + size
    free.append((offset, size))


def _grow(free: list[tuple[int, int]], size: int, needed: int) -> tuple[int, int]:
    """A place at the end, which begins in the free one that ends there, if any."""
    for place in free:
        offset, room = place
        if offset + room == size:
            free.remove(place)
            return offset, offset + needed
    return size, size + needed
