"""A table of vectors, looked up by index."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING

from extensor.arrays.dtypes import DType
from extensor.core.creation import empty
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, LOOKED_UP, NOTHING, also_takes
from extensor.nn import init
from extensor.nn.module import Module
from extensor.nn.parameter import Parameter
from extensor.ops import embedding

if TYPE_CHECKING:
    from extensor.typing import TensorLike


@also_takes(**DEVICE, **LOOKED_UP, _weight=NOTHING, _freeze=(False,))
class Embedding(Module):
    """The rows of a learned table at the given indices.

    The row ``padding_idx`` begins with 0 and gets no gradient.

    >>> import extensor as ex
    >>> ex.nn.Embedding(10, 4)([[1, 2, 3]]).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        dtype: DType = None,
    ) -> None:
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise value_error(
                    "Embedding",
                    f"padding_idx must be in [{-num_embeddings}, {num_embeddings - 1}]",
                    padding_idx=padding_idx,
                )
            padding_idx = index(padding_idx) % num_embeddings
        self.padding_idx = padding_idx
        self.weight = Parameter(empty((num_embeddings, embedding_dim), dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew from the standard normal distribution."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0.0

    def forward(self, indices: TensorLike) -> Tensor:
        return embedding(indices, self.weight, self.padding_idx)
