"""Shards of tokens: a sample is a window of them, and for each the one that follows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from extensor.arrays.dtypes import int64
from extensor.data.streaming.cache import Loaded
from extensor.data.streaming.mapped import MappedShard
from extensor.data.streaming.shard import OP, Part, PiecedShard, Shard, damaged
from extensor.errors import value_error


class TokenShard(PiecedShard):
    """Windows of ``context`` tokens as :class:`~extensor.data.TextWindows` has them, in one shard.

    Each begins where the one before ends, and the last ends where the shard ends.
    """

    def __init__(self, shard: Shard, context: int) -> None:
        tokens = shard.parts[0]
        if not isinstance(shard, MappedShard) or len(shard.parts) > 1 or tokens.shape:
            requirement = "context is for shards of one row of tokens, not compressed"
            raise value_error(OP, requirement, path=str(shard.path), context=context)
        if tokens.dtype.kind not in "iu":
            requirement = "tokens must be integers"
            raise damaged(requirement, shard.path, dtype=str(tokens.dtype))
        if shard.samples <= context:
            requirement = f"shard must have {context + 1} tokens or more, a window and what follows"
            raise damaged(requirement, shard.path, tokens=shard.samples)
        self.path = shard.path
        self.shard = shard
        self.context = context
        self.samples = -(-(shard.samples - 1) // context)
        self.parts = (Part("inputs", int64, (context,)), Part("targets", int64, (context,)))

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
