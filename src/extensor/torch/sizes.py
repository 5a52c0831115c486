"""Shapes as PyTorch has them: sizes one by one, and a shape that counts its elements."""

from __future__ import annotations

import operator
from math import prod
from typing import Any


class Size(tuple):  # type: ignore[type-arg]
    """The shape of a tensor: a tuple of ints that knows the number of elements."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        return prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size((*self, *other))


class Count(int):
    """The number of elements, which is a function too: ``size()`` is the shape.

    The core reads ``x.size`` as a number, PyTorch's users call it.
    """

    _shape: tuple[int, ...]

    def __new__(cls, array: Any) -> Count:
        made = int.__new__(cls, array.size)
        made._shape = array.shape
        return made

    def __call__(self, dim: int | None = None) -> Any:
        return Size(self._shape) if dim is None else self._shape[dim]

    def __reduce__(self) -> Any:
        return int, (int(self),)


def loose_sizes(op: str, sizes: Any) -> tuple[int, ...]:
    """``f(2, 3)`` and ``f((2, 3))`` as ``(2, 3)``."""
    if len(sizes) == 1 and not hasattr(sizes[0], "__index__"):
        sizes = sizes[0]
    try:
        return tuple(operator.index(size) for size in sizes)
    except TypeError:
        raise TypeError(f"{op}: sizes must be ints, got {sizes!r}") from None


def dims_of(dim: Any) -> Any:
    """``dim`` for the core, which takes ints and tuples; an empty sequence is all dimensions."""
    if type(dim) is list or isinstance(dim, tuple):
        return tuple(dim) or None
    return dim
