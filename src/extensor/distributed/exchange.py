"""The gradients of a step, added by the tree over all workers while the backward pass goes on.

A worker adds what its own micro-batches complete of the tree, bucket by bucket. Chunk ``c`` of each such
part goes to worker ``c``, which finishes the tree there. Then the chunks are given to all, if they are
wanted whole. Messages may come in any order: what is added to what does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.core import door
from extensor.distributed.micro_batches import PartialSums, TreeNode, parts, share, total
from extensor.distributed.workers import Workers
from extensor.errors import value_error

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

    def chunks(self, workers: int, rank: int) -> list[tuple[int, int, int]]:
        """Row, begin and end of the part of each bucket that worker ``rank`` finishes."""
        return [(bucket.row, *bucket.chunk(workers, rank)) for bucket in self.buckets]

    def view(self, rows: Sequence[Any], index: int) -> Any:
        """Array ``index`` as a view of ``rows``."""
        place = self.places[index]
        return rows[place.row][place.begin : place.end].reshape(self.shapes[index])


def _up_to(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


RESERVED = 8  # tags for others to use
_WHAT = "gradients"


@door.through_door
def add_to(target: Any, source: Any) -> Any:
    """``target + source``, in place."""
    return np.add(target, source, out=target)


class _Cut(NamedTuple):
    """Elements of an array, and where they lie in a bucket."""

    bucket: int
    source: slice
    target: slice


class _State:
    """A bucket on its way: the parts of the tree here, what comes from others, and the result."""

    def __init__(self, sums: PartialSums[Any], workers: Workers) -> None:
        self.sums = sums
        self.waiting = 0  # for arrays of the micro-batch that is being computed
        self.array: Any = None  # of this micro-batch, if it does not go into its neighbour's
        self.received: list[list[Any]] = []  # by worker and part
        self.incoming = workers.transfer()
        self.outgoing = workers.transfer()
        self.gathering = workers.transfer()
        self.is_reduced = False


class Exchange:
    """Gives :attr:`rows` the sums of what the workers put in: all of them, or only the own chunks."""

    def __init__(self, workers: Workers, layout: Layout) -> None:
        self.workers = workers
        self.layout = layout
        self.rows = layout.rows()
        self._cuts = [self._cut(index) for index in range(len(layout.places))]
        self._free: list[list[Any]] = [[] for _ in layout.buckets]
        self._received: dict[int, list[list[list[Any]]]] = {}  # by the number of micro-batches
        self._states: list[_State] = []
        self._open: list[int] = []
        self._missing: set[int] = set()
        self._own_parts: set[TreeNode] = set()
        self._parts: list[list[TreeNode]] = []
        self._number = 0
        self._count = 0
        self._gathers = True

    def _cut(self, index: int) -> list[_Cut]:
        place = self.layout.places[index]
        cuts = []
        for number in self.layout.buckets_of[index]:
            bucket = self.layout.buckets[number]
            begin, end = max(place.begin, bucket.begin), min(place.end, bucket.end)
            source = slice(begin - place.begin, end - place.begin)
            cuts.append(_Cut(number, source, slice(begin - bucket.begin, end - bucket.begin)))
        return cuts

    def begin(self, count: int, gathers: bool = True) -> None:
        """A step of ``count`` micro-batches begins; with ``gathers`` all get all sums."""
        size, rank = self.workers.size, self.workers.rank
        self._count = count
        self._gathers = gathers
        self._parts = [parts(count, share(count, size, number)) for number in range(size)]
        self._own_parts = set(self._parts[rank])
        # Tags are unique within a step. Steps may share them: MPI keeps the order of messages with one
        # tag between two workers, and no worker begins a step before it has finished the last.
        tags = RESERVED + (max(map(len, self._parts)) + 1) * len(self.layout.buckets)
        if tags > self.workers.last_tag:
            requirement = f"there must be at most {self.workers.last_tag} messages in a step"
            raise value_error("distributed", requirement, messages=tags)
        self._states = [
            _State(PartialSums(count, self._adding(number)), self.workers)
            for number in range(len(self.layout.buckets))
        ]
        self._open = list(range(len(self._states)))
        for number, state in enumerate(self._states):
            if size > 1:
                self._expect(number, state)

    def _expect(self, number: int, state: _State) -> None:
        """Let what others send for a bucket come where it is to be added."""
        if self._count not in self._received:
            self._received = {self._count: self._buffers()}
        state.received = self._received[self._count][number]
        for peer in self.workers.others:
            for index, array in enumerate(state.received[peer]):
                if array.size:
                    state.incoming.receive(peer, self._tag(number, index), array)
        if self._gathers:
            for peer in self.workers.others:
                chunk = self._chunk(self.rows, number, peer)
                if chunk.size:
                    state.gathering.receive(peer, self._tag(number, -1), chunk)

    def _buffers(self) -> list[list[list[Any]]]:
        return [
            [
                [np.empty(len(own), own.dtype) for _ in nodes] if peer != self.workers.rank else []
                for peer, nodes in enumerate(self._parts)
            ]
            for number in range(len(self.layout.buckets))
            for own in [self._chunk(self.rows, number, self.workers.rank)]
        ]

    def _tag(self, bucket: int, part: int) -> int:
        return RESERVED + (part + 1) * len(self.layout.buckets) + bucket

    def _chunk(self, rows: Sequence[Any], number: int, rank: int) -> Any:
        bucket = self.layout.buckets[number]
        begin, end = bucket.chunk(self.workers.size, rank)
        return rows[bucket.row][begin:end]

    def _adding(self, number: int) -> Callable[[Any, Any], Any]:
        def add(left: Any, right: Any) -> Any:
            self._free[number].append(right)
            return add_to(left, right)

        return add

    def _new(self, number: int) -> Any:
        bucket = self.layout.buckets[number]
        row = self.rows[bucket.row]
        if self.workers.size == 1 and self._number == 0:
            return row[bucket.begin : bucket.end]  # where the sum of all is wanted in the end
        if self._free[number]:
            return self._free[number].pop()
        return np.zeros(bucket.end - bucket.begin, row.dtype)

    def start(self, number: int) -> None:
        """Micro-batch ``number``, one of this worker's, begins.

        Micro-batches come in the order of their numbers.
        """
        self._number = number
        self._missing = set(range(len(self._cuts)))
        for bucket, state in enumerate(self._states):
            state.waiting = self.layout.waited_for[bucket]
            nodes = state.sums.nodes
            # A right neighbour is added into the left one in place, as the tree would add them next.
            joins = number % 2 == 1 and bool(nodes) and nodes[-1][0] == (0, number - 1)
            state.array = None if joins else self._new(bucket)

    def put(self, index: int, gradient: Any) -> None:
        """The gradient of array ``index`` for this micro-batch; each only once."""
        self._missing.discard(index)
        flat = None if gradient is None else np.asarray(gradient).reshape(-1)
        for bucket, source, target in self._cuts[index]:
            state = self._states[bucket]
            part = 0 if flat is None else flat[source]
            if state.array is None:
                add_to(state.sums.nodes[-1][1][target], part)
            else:
                door.setitem(state.array, target, part)
            state.waiting -= 1
            if state.waiting == 0:
                self._complete(bucket, state)
        if self._open:
            self.poll()

    def end(self) -> None:
        """The micro-batch is over: arrays that got no gradient count as zeros."""
        for index in sorted(self._missing):
            self.put(index, None)

    def _complete(self, number: int, state: _State) -> None:
        """A bucket of this micro-batch is known: add it up, and send what nothing here adds to."""
        if state.array is None:
            _, left = state.sums.nodes.pop()
            state.sums.put(TreeNode(1, self._number // 2), left)
        else:
            state.sums.put(TreeNode(0, self._number), state.array)
        node, array = state.sums.nodes[-1]
        if node not in self._own_parts:
            return
        bucket = self.layout.buckets[number]
        index = self._parts[self.workers.rank].index(node)
        for peer in self.workers.others:
            begin, end = bucket.chunk(self.workers.size, peer)
            if begin < end:
                part = array[begin - bucket.begin : end - bucket.begin]
                state.outgoing.send(peer, self._tag(number, index), part)

    def poll(self) -> bool:
        """Move on whatever can be moved on; True if nothing is left to wait for.

        Called at each gradient that arrives, since MPI does not move while Python computes.
        """
        # A bucket passes three stages, each on every worker: the own parts of the tree are sent
        # (outgoing), those of others come for the own chunk (incoming), the finished chunk goes to
        # all (gathering). Buckets are independent of each other, so whichever is ready is moved on;
        # the order of messages decides on nothing, as the tree says what is added to what.
        left = []
        for number in self._open:
            state = self._states[number]
            if not state.is_reduced:
                # The own part must be complete too: a micro-batch may still be added to it.
                known = len(state.sums.nodes) == len(self._own_parts) and all(
                    node in self._own_parts for node, _ in state.sums.nodes
                )
                if known and state.waiting == 0 and state.incoming.is_over():
                    self._reduce(number, state)
            # Outgoing arrays are views of sums and are used again, so they must have left as well.
            if not (state.is_reduced and state.gathering.is_over() and state.outgoing.is_over()):
                left.append(number)
        self._open = left
        return not left

    def _reduce(self, number: int, state: _State) -> None:
        """Finish the tree in the own chunk of a bucket."""
        rank, bucket = self.workers.rank, self.layout.buckets[number]
        begin, end = bucket.chunk(self.workers.size, rank)
        result = self.rows[bucket.row][begin:end]
        if begin < end:
            own = [
                array[begin - bucket.begin : end - bucket.begin] for _, array in state.sums.nodes
            ]
            nodes = [
                (node, array)
                for peer, found in enumerate(self._parts)
                for node, array in zip(
                    found, own if peer == rank else state.received[peer], strict=True
                )
            ]
            found = total(self._count, nodes, add_to)
            if self.workers.size > 1:
                door.setitem(result, slice(None), found)
            for peer in self.workers.others if self._gathers else ():
                state.gathering.send(peer, self._tag(number, -1), result)
        state.is_reduced = True

    def finish(self) -> None:
        """Wait until the sums are known here, all or those of the own chunks."""
        if self._open:
            self.workers.wait_until(self.poll, self._late, _WHAT)
        for number, state in enumerate(self._states):
            if self.workers.size > 1:
                self._free[number] += [array for _, array in state.sums.nodes]
        self._states = []

    def _late(self) -> set[int]:
        """Who keeps this worker waiting; one that waits itself is not to be blamed for it."""
        states = [self._states[number] for number in self._open]
        stages = zip(*[(x.incoming, x.outgoing, x.gathering) for x in states], strict=True)
        late = ({peer for transfer in stage for peer in transfer.late()} for stage in stages)
        return next(filter(None, late), set())

    def gather(self, rows: Sequence[Any], what: str) -> None:
        """Give the own chunks of ``rows`` to all, and get theirs."""
        transfer = self.workers.transfer()
        for number in range(len(self.layout.buckets)):
            own = self._chunk(rows, number, self.workers.rank)
            for peer in self.workers.others:
                chunk = self._chunk(rows, number, peer)
                if chunk.size:
                    transfer.receive(peer, self._tag(number, -1), chunk)
                if own.size:
                    transfer.send(peer, self._tag(number, -1), own)
        transfer.wait(what)
