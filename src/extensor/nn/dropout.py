"""Dropout as modules: active in training, the identity in evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from extensor.core.creation import asarray
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.ops import dropout, dropout2d

if TYPE_CHECKING:
    from extensor.typing import TensorLike


class _Dropout(Module):
    """``inplace`` is taken so that PyTorch's code runs; the input stays as it is."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        if not 0 <= p <= 1:
            raise value_error(type(self).__name__, "p must be in [0, 1]", p=p)
        self.p = p


class Dropout(_Dropout):
    """Sets elements to 0 with probability ``p`` and divides the others by ``1 - p``."""

    def forward(self, x: TensorLike) -> Tensor:
        # What changes nothing need not be recorded.
        return dropout(x, self.p) if self.training and self.p else asarray(x)


class Dropout2d(_Dropout):
    """Sets whole channels to 0 with probability ``p`` and divides the others by ``1 - p``."""

    def forward(self, x: TensorLike) -> Tensor:
        return dropout2d(x, self.p, self.training)
