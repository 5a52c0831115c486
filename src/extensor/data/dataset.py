"""Data sets: anything that has a length and can be indexed, and the one for arrays in memory."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from extensor import random
from extensor.arrays import storage
from extensor.core.tensor import to_array
from extensor.errors import arguments, value_error
from extensor.random.generator import Generator


class Dataset(Protocol):
    """What a loader needs: how many samples there are, and each of them.

    A sample is an array or a tuple of arrays, numbers among them, of the same shapes throughout.
    """

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Any: ...


@runtime_checkable
class BatchDataset(Protocol):
    """A data set that can give many samples at once, with no Python for each."""

    def __len__(self) -> int: ...

    def batch(self, indices: Any) -> tuple[Any, ...]:
        """The samples at ``indices``, an array or a slice, stacked: one array for each part."""
        ...


class ArrayDataset:
    """Arrays of the same length, such as images and their labels; sample ``i`` is row ``i`` of each.

    >>> from extensor.data import ArrayDataset
    >>> dataset = ArrayDataset([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    >>> len(dataset)
    2
    >>> dataset[1]
    (array([3., 4.], dtype=float32), np.int64(1))
    >>> dataset
    ArrayDataset(2 samples: float32 (2,), int64 ())
    """

    def __init__(self, *arrays: Any) -> None:
        if not arrays:
            raise value_error("ArrayDataset", "at least one array must be given", arrays=arrays)
        self.arrays = tuple(to_array(x, op="ArrayDataset") for x in arrays)
        shapes = [x.shape for x in self.arrays]
        if any(len(shape) == 0 or shape[0] != shapes[0][0] for shape in shapes):
            raise value_error("ArrayDataset", "arrays must have the same length", shapes=shapes)

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(x[index] for x in self.arrays)

    def __repr__(self) -> str:
        parts = ", ".join(f"{x.dtype} {tuple(x.shape[1:])}" for x in self.arrays)
        return f"{type(self).__name__}({len(self)} samples: {parts})"

    def batch(self, indices: Any) -> tuple[Any, ...]:
        """The rows at ``indices``; those of a slice share the memory of the data set."""
        if isinstance(indices, slice):
            return self[indices]
        return tuple(rows(x, indices) for x in self.arrays)

    def split(
        self, fraction: float, generator: Generator | None = None
    ) -> tuple[ArrayDataset, ArrayDataset]:
        """Two data sets of randomly chosen samples, the second with ``fraction`` of them."""
        arguments.number("split", "fraction", fraction, fraction=True)
        order = random.permutation(len(self), generator).numpy()
        first, second = np.split(order, [len(self) - round(len(self) * fraction)])
        return ArrayDataset(*self.batch(first)), ArrayDataset(*self.batch(second))


def rows(array: Any, indices: Any) -> Any:
    """Rows in memory of the pool: a fresh block of this size would cost more than filling it."""
    target = storage.empty((*np.shape(indices), *array.shape[1:]), array.dtype)
    # With "raise", NumPy fills a buffer of its own first; the indices have been checked.
    np.take(array, indices, axis=0, out=target, mode="clip")
    return target
