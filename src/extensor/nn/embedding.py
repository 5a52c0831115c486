"""A table of vectors, looked up by index."""

from __future__ import annotations

from operator import index

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
from extensor.typing import TensorLike


@also_takes(**DEVICE, **LOOKED_UP, _weight=NOTHING, _freeze=(False,))
class Embedding(Module):
    """Table of learnable vectors, looked up by index.

    Parameters
    ----------
    num_embeddings : int
        Number of vectors. Indices are from 0 to ``num_embeddings - 1``.
    embedding_dim : int
        Size of each vector.
    padding_idx : int, optional
        Index of a vector that stays 0: it begins with 0 and gets no gradient. A negative one counts
        from the end.
    dtype : dtype_like, optional
        Floating dtype of the parameters, by default that of `ex.get_default_dtype`.

    Attributes
    ----------
    weight : Parameter, (num_embeddings, embedding_dim)
        The table. Initially drawn from the standard normal distribution, with 0 in the row
        ``padding_idx``.

    Raises
    ------
    ValueError
        If ``padding_idx`` is out of range. In a call, if an index is; negative indices are not
        allowed.

    See Also
    --------
    ex.embedding : The function.

    Notes
    -----
    Shape: (...) of integers -> (..., embedding_dim).

    Examples
    --------
    >>> import extensor as ex
    >>> table = ex.nn.Embedding(10, 4, padding_idx=0)
    >>> table([[1, 2, 3]]).shape
    (1, 3, 4)
    >>> table([0]).tolist()
    [[0.0, 0.0, 0.0, 0.0]]
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
                requirement = f"padding_idx must be in [{-num_embeddings}, {num_embeddings - 1}]"
                raise value_error("Embedding", requirement, padding_idx=padding_idx)
            padding_idx = index(padding_idx) % num_embeddings
        self.padding_idx = padding_idx
        self.weight = Parameter(empty((num_embeddings, embedding_dim), dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw a new table from the standard normal distribution; the row ``padding_idx`` is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx] = 0.0

    def forward(self, indices: TensorLike) -> Tensor:
        """Look up the vectors at ``indices``.

        Parameters
        ----------
        indices : tensor_like of ints, (...)
            The indices, from 0 to ``num_embeddings - 1``.

        Returns
        -------
        Tensor, (..., embedding_dim)
            The vectors.
        """
        return embedding(indices, self.weight, self.padding_idx)
