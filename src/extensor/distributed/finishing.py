"""What is done to the sums of gradients before a step: unscaling, clipping, and their norm.

It is done to rows: to whole ones, or to the chunks that this worker owns. The norm is added up from
fixed blocks, so that both give the same bits.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from extensor.distributed.exchange import Exchange
from extensor.distributed.layout import BLOCK
from extensor.distributed.norms import block_squares, norm_of_blocks
from extensor.optim.clipping import clip_values, multiply_gradients, norm_of

_TAG = 3


class Finishing:
    """The rows of an exchange, or with ``own`` only the chunks that this worker has the sums of."""

    def __init__(self, exchange: Exchange, own: bool) -> None:
        self.exchange = exchange
        self.workers = exchange.workers
        self.is_shared = own and self.workers.size > 1
        layout = exchange.layout
        self.spans = [
            self._spans(rank) if self.is_shared else [] for rank in range(self.workers.size)
        ]
        whole = [(row, 0, length) for row, length in enumerate(layout.lengths)]
        mine = self.spans[self.workers.rank] if self.is_shared else whole
        self.arrays = [exchange.rows[row][begin:end] for row, begin, end in mine]
        # Where the blocks of each row begin among those of all.
        self._first = np.cumsum([0, *(length // BLOCK for length in layout.lengths)]).tolist()

    def _spans(self, rank: int) -> list[tuple[int, int, int]]:
        return [
            (bucket.row, *bucket.chunk(self.workers.size, rank))
            for bucket in self.exchange.layout.buckets
        ]

    def is_finite(self) -> bool:
        """True if all sums are, on all workers."""
        return isfinite(self._agreed(np.array([norm_of(self.arrays, float("inf"))])))

    def _agreed(self, number: Any) -> float:
        if not self.is_shared:
            return float(number[0])
        return float(sum(self._gathered([number] * self.workers.size))[0])

    def scale(self, factor: float) -> None:
        """Multiply all by ``factor``."""
        multiply_gradients(self.arrays, factor)

    def clip(self, bound: float) -> None:
        """Bring all elements into ``[-bound, bound]``."""
        clip_values(self.arrays, bound)

    def norm(self) -> float:
        """The norm of all sums."""
        squares = [block_squares(array) for array in self.arrays]
        if not self.is_shared:
            return norm_of_blocks(np.concatenate([np.zeros(0), *squares]))
        counts = [sum((end - begin) // BLOCK for _, begin, end in spans) for spans in self.spans]
        rows = [np.empty(count) for count in counts]
        rows[self.workers.rank] = np.concatenate([np.zeros(0), *squares])
        whole = np.empty(self._first[-1])
        for spans, found in zip(self.spans, self._gathered(rows), strict=True):
            at = 0
            for row, begin, end in spans:
                first, count = self._first[row] + begin // BLOCK, (end - begin) // BLOCK
                whole[first : first + count] = found[at : at + count]
                at += count
        return norm_of_blocks(whole)

    def _gathered(self, rows: list[Any]) -> list[Any]:
        """What each worker has at its own place of ``rows``."""
        rank = self.workers.rank
        found = [row if number == rank else np.empty_like(row) for number, row in enumerate(rows)]
        transfer = self.workers.transfer()
        for peer in self.workers.others:
            if found[peer].size:
                transfer.receive(peer, _TAG, found[peer])
            if found[rank].size:
                transfer.send(peer, _TAG, found[rank])
        transfer.wait("norms")
        return found
