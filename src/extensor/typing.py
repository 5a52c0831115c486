"""Names for annotations: what the functions of ExTensor take. Nothing of it is needed to compute.

>>> import extensor as ex
>>> from extensor.typing import TensorLike
>>> def softness(x: TensorLike) -> ex.Tensor:
...     return ex.softmax(x).max()
>>> softness([1.0, 1.0])
tensor(0.5)
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Protocol, SupportsIndex, TypeAlias, TypeVar

import numpy as np

from extensor.core.tensor import Tensor
from extensor.ops.loss import Reduction

__all__ = [
    "DTypeLike",
    "Index",
    "Nested",
    "Reduction",
    "ShapeLike",
    "SupportsArray",
    "TensorLike",
]

Element_co = TypeVar("Element_co", covariant=True)


class SupportsArray(Protocol):
    """NumPy's arrays and scalars, and what it can turn into an array: tensors of other libraries."""

    def __array__(self) -> Any: ...


class Nested(Protocol[Element_co]):
    """A sequence of elements, or of sequences of them, however deep.

    A str is none, though its elements are strs again: it can only be asked whether it holds a str.
    A dict is none either: it has no ``count``.
    """

    def __len__(self) -> int: ...

    @property
    def count(self) -> object: ...

    def __contains__(self, value: object, /) -> bool: ...

    def __getitem__(self, index: int, /) -> Element_co | Nested[Element_co]: ...


Element: TypeAlias = Tensor | float | SupportsArray
TensorLike: TypeAlias = Element | Nested[Element]
ShapeLike: TypeAlias = int | Sequence[int]
DTypeLike: TypeAlias = str | np.dtype[Any] | type[np.generic] | type[float] | type[int] | type[bool]
Selecting: TypeAlias = SupportsIndex | SupportsArray | Nested[SupportsIndex | SupportsArray]
IndexItem: TypeAlias = Selecting | slice | EllipsisType | None
Index: TypeAlias = IndexItem | tuple[IndexItem, ...]


def __dir__() -> list[str]:
    return sorted(__all__)
