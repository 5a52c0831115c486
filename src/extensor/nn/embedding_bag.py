"""Sums, means and maxima of bags of embeddings, as a module."""

from __future__ import annotations

from extensor.arrays.dtypes import DType
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.errors.keywords import DEVICE, LOOKED_UP, NOTHING, also_takes
from extensor.nn.embedding import Embedding
from extensor.ops import embedding_bag
from extensor.ops.embedding_bag import BAGS, Bag
from extensor.typing import TensorLike


@also_takes(**DEVICE, **LOOKED_UP, _weight=NOTHING)
class EmbeddingBag(Embedding):
    """Sum, mean or maximum of learnable vectors, looked up by bags of indices.

    Parameters
    ----------
    num_embeddings : int
        Number of vectors. Indices are from 0 to ``num_embeddings - 1``.
    embedding_dim : int
        Size of each vector.
    mode : {"sum", "mean", "max"}, default "mean"
        What is made of the vectors of a bag.
    include_last_offset : bool, default False
        Whether ``offsets`` end with the number of indices.
    padding_idx : int, optional
        Index of a vector that does not count: it begins with 0 and gets no gradient.
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
        If ``mode`` is unknown or ``padding_idx`` is out of range. In a call, if an index is, or the
        offsets do not rise.

    See Also
    --------
    ex.embedding_bag : The function.
    Embedding : Gives the vectors themselves.

    Notes
    -----
    Shape: (bags, length) of integers, or (n,) with offsets -> (bags, embedding_dim).

    Examples
    --------
    >>> import extensor as ex
    >>> table = ex.nn.EmbeddingBag(10, 4, mode="sum")
    >>> table([[1, 2, 3], [4, 5, 6]]).shape
    (2, 4)
    >>> table([1, 2, 3, 4], offsets=[0, 1, 3]).shape
    (3, 4)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        *,
        mode: Bag = "mean",
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        dtype: DType = None,
    ) -> None:
        if mode not in BAGS:
            requirement = f"mode must be one of {', '.join(BAGS)}"
            raise value_error("EmbeddingBag", requirement, mode=mode)
        super().__init__(num_embeddings, embedding_dim, padding_idx, dtype=dtype)
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(
        self,
        indices: TensorLike,
        offsets: TensorLike | None = None,
        per_sample_weights: TensorLike | None = None,
    ) -> Tensor:
        """Look up the bags.

        Parameters
        ----------
        indices : tensor_like of ints, (bags, length) or (n,)
            The indices, a bag in each row of them, or all bags one after the other.
        offsets : tensor_like of ints, (bags,), optional
            The position of the first index of each bag, for 1-D ``indices``.
        per_sample_weights : tensor_like, in the shape of ``indices``, optional
            A factor for each vector, for sums only.

        Returns
        -------
        Tensor, (bags, embedding_dim)
            The bags.
        """
        return embedding_bag(
            indices,
            self.weight,
            offsets,
            per_sample_weights,
            self.mode,
            self.include_last_offset,
            self.padding_idx,
        )
