"""Samples that are windows of something long: cut out when they are asked for."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

import numpy as np

from extensor.core.tensor import to_array
from extensor.errors import arguments, index_error, type_error

Self = TypeVar("Self", bound="WindowDataset")


class WindowDataset:
    """What data sets of windows have in common: where each window begins, and samples by number.

    ``starts`` has the first row of each window.
    """

    starts: Any

    def _cut(self, begins: Any) -> tuple[Any, ...]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        op = type(self).__name__
        place = arguments.integer(op, "index", index)
        if not -len(self) <= place < len(self):
            requirement = f"index must be in [{-len(self)}, {len(self) - 1}]"
            raise index_error(op, requirement, index=place)
        return tuple(part[0] for part in self._cut(self.starts[[place]]))

    def batch(self, indices: Any) -> tuple[Any, ...]:
        """The samples at ``indices``, an array or a slice, stacked: one array for each part."""
        return self._cut(self._chosen("batch", indices))

    def take(self: Self, numbers: Any) -> Self:
        """The data set of the samples with these numbers, in their order; it shares the memory."""
        part = copy(self)
        part.starts = self._chosen("take", numbers)
        return part

    def _chosen(self, method: str, numbers: Any) -> Any:
        if isinstance(numbers, slice):
            return self.starts[numbers]
        op = f"{type(self).__name__}.{method}"
        places = to_array(numbers, op=op)
        if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
            given = arguments.briefly(numbers)
            raise type_error(op, "the numbers of samples must be a row of integers", numbers=given)
        if places.size and not 0 <= places.min() <= places.max() < len(self):
            worst = places.max() if places.min() >= 0 else places.min()
            requirement = f"the numbers of samples must be in [0, {len(self) - 1}]"
            raise index_error(op, requirement, number=int(worst))
        return self.starts[places.astype(np.int64)]
