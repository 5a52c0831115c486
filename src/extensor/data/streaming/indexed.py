"""Samples that are asked for by their numbers, one or many, and never by others."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from extensor.arrays.dtypes import int64
from extensor.core.tensor import to_array
from extensor.errors import arguments, index_error, type_error


class Indexed:
    """A data set that has ``batch``: its single samples, and the numbers that are asked for, checked."""

    op: ClassVar[str]

    def __len__(self) -> int:
        raise NotImplementedError

    def batch(self, indices: Any) -> tuple[Any, ...]:
        """The samples at ``indices``, an array or a slice, stacked: one array for each part."""
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        place = arguments.integer(self.op, "index", index)
        if not -len(self) <= place < len(self):
            requirement = f"index must be in [{-len(self)}, {len(self) - 1}]"
            raise index_error(self.op, requirement, index=place)
        return tuple(part[0] for part in self.batch(np.array([place % len(self)])))

    def _wanted(self, indices: Any) -> Any:
        if isinstance(indices, slice):
            return np.arange(*indices.indices(len(self)))
        wanted = to_array(indices, op=f"{self.op}.batch")
        if wanted.ndim != 1 or (wanted.size and wanted.dtype.kind not in "iu"):
            requirement = "the numbers of samples must be a row of integers, or a slice"
            raise type_error(f"{self.op}.batch", requirement, indices=arguments.briefly(indices))
        if wanted.size and not 0 <= wanted.min() <= wanted.max() < len(self):
            worst = wanted.max() if wanted.min() >= 0 else wanted.min()
            requirement = f"the numbers of samples must be in [0, {len(self) - 1}]"
            raise index_error(f"{self.op}.batch", requirement, number=int(worst))
        return wanted.astype(int64, copy=False)
