"""Embedding: a row of a table for each index."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.indexing import place
from extensor.ops.selection import where


def _embedding_shape(name: str, shapes: Shapes, padding_idx: Any) -> Shape:
    indices, weight = tuple(shapes["indices"]), tuple(shapes["weight"])
    if len(weight) != 2:
        raise value_error(name, "weight must be 2-D (rows, features)", weight_shape=weight)
    padding_row(name, padding_idx, weight[0])
    return (*indices, weight[1])


def padding_row(name: str, padding_idx: Any, rows: int) -> int | None:
    if padding_idx is None:
        return None
    try:
        row = index(padding_idx)
    except TypeError:
        raise type_error(name, "padding_idx must be an int", padding_idx=padding_idx) from None
    if not -rows <= row < rows:
        raise value_error(name, f"padding_idx must be a row of {rows}", padding_idx=padding_idx)
    return row % rows


def check_rows(name: str, indices: Any, weight: Any, padding_idx: int | None) -> None:
    """Not counted from the end, as elsewhere: -1 is a common mark for nothing at all."""
    array, rows = np.asarray(indices), weight.shape[0]
    if array.dtype.kind not in "iu":
        raise type_error(name, "indices must be integers", indices_dtype=str(array.dtype))
    wrong = array[(array < 0) | (array >= rows)]
    if wrong.size:
        raise value_error(name, f"indices must be in [0, {rows - 1}]", index=int(wrong[0]))


@op(kernel="embedding", shape=_embedding_shape, check=check_rows, widen=False)
def embedding(xp: Any, indices: Indices, weight: Array, padding_idx: int | None = None) -> Any:
    """The rows of ``weight`` at ``indices``.

    Derivative: ``grad_output`` added to each row as often as it was read, in the order of
    ``indices``; 0 for the row ``padding_idx``.

    Parameters
    ----------
    indices : ints of any shape
        The numbers of the rows, from 0 up.
    weight : (rows, features)
        The table.
    padding_idx
        A row that gets no gradient.

    Returns
    -------
    Tensor
        The rows, of shape ``(*indices.shape, features)``.

    Raises
    ------
    ValueError
        If an index or ``padding_idx`` is out of range.

    >>> import extensor as ex
    >>> ex.embedding([1, 0, 1], [[1.0, 2.0], [3.0, 4.0]])
    tensor([[3., 4.],
            [1., 2.],
            [3., 4.]])
    >>> ex.embedding_backward([[1.0], [2.0], [4.0]], [1, 0, 1], (3, 1), padding_idx=0)
    tensor([[0.],
            [5.],
            [0.]])
    """
    rows = xp.take(weight, xp.reshape(indices, (-1,)), axis=0)
    return xp.reshape(rows, (*indices.shape, weight.shape[1]))


@embedding.backward(kernel="embedding_backward")
def embedding_backward(
    grad_output: Tensor, indices: Tensor, weight_shape: Shape, padding_idx: int | None = None
) -> Tensor:
    """Zeros of ``weight_shape`` with ``grad_output`` added at ``indices``, but for the padding."""
    row = padding_row("embedding_backward", padding_idx, weight_shape[0])
    if row is not None:
        padding = (indices == row).reshape((*indices.shape, 1))
        grad_output = where(padding, 0.0, grad_output)
    return place(grad_output, weight_shape, indices)
