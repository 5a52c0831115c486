"""Whether numbers that come in chunks all differ."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 1 << 24  # numbers that are kept


class DistinctNumbers:
    """Keeps the numbers so far, up to a limit; of more it is known only while they rise."""

    def __init__(self) -> None:
        self.are_distinct = True
        self._is_rising = True
        self._last: Any = None
        self._kept: Any = None
        self._is_full = False

    @property
    def is_unknown(self) -> bool:
        """Whether there were too many to tell."""
        return self.are_distinct and self._is_full and not self._is_rising

    def add(self, values: Any) -> None:
        """Look at some more, an array."""
        if not self.are_distinct or not len(values):
            return
        follows = self._last is None or values[0] > self._last
        self._is_rising = bool(self._is_rising and follows and (values[1:] > values[:-1]).all())
        self._last = values[-1]
        if not self._is_full:
            kept = values if self._kept is None else np.concatenate([self._kept, values])
            self._kept = np.unique(kept)
            self.are_distinct = len(self._kept) == len(kept)
            self._is_full = len(kept) > MOST
        if self._is_full or not self.are_distinct:
            self._kept = None
