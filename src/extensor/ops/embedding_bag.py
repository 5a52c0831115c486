"""Sums, means and maxima of bags of embeddings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor, wrap
from extensor.errors import type_error, value_error
from extensor.ops.embedding import check_rows, padding_row
from extensor.ops.gathering import take
from extensor.ops.indexing import place
from extensor.ops.selection import where

Bag = Literal["sum", "mean", "max"]
BAGS = ("sum", "mean", "max")


def _bags(indices: Shape, offsets: Shape | None, include_last_offset: bool) -> int:
    if offsets is None:
        return indices[0]
    return offsets[0] - bool(include_last_offset)


def _shape(
    name: str, shapes: Shapes, mode: Any, include_last_offset: Any = False, padding_idx: Any = None
) -> Shape:
    indices, weight = tuple(shapes["indices"]), tuple(shapes["weight"])
    offsets, factors = shapes["offsets"], shapes["per_sample_weights"]
    got = {"indices_shape": indices, "offsets_shape": offsets}
    if len(weight) != 2:
        raise value_error(name, "weight must be 2-D (rows, features)", weight_shape=weight)
    if len(indices) != (2 if offsets is None else 1):
        raise value_error(name, "indices must be 2-D, or 1-D with offsets", **got)
    if offsets is not None and (
        len(offsets) != 1 or offsets[0] < (1 if include_last_offset else 0)
    ):
        raise value_error(name, "offsets must be 1-D with one for each bag", **got)
    if mode not in BAGS:
        raise value_error(name, f"mode must be one of {', '.join(BAGS)}", mode=mode)
    if include_last_offset and offsets is None:
        raise value_error(name, "include_last_offset needs offsets", offsets=None)
    if factors is not None:
        if mode != "sum":
            raise value_error(name, "per_sample_weights need mode='sum'", mode=mode)
        if tuple(factors) != indices:
            got = {"per_sample_weights_shape": tuple(factors), "indices_shape": indices}
            raise value_error(name, "per_sample_weights must have the shape of indices", **got)
    padding_row(name, padding_idx, weight[0])
    return (_bags(indices, offsets, include_last_offset), weight[1])


def _check(
    name: str,
    indices: Any,
    weight: Any,
    offsets: Any,
    per_sample_weights: Any,
    mode: str,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> None:
    check_rows(name, indices, weight, padding_idx)
    if not is_floating(weight.dtype):
        raise type_error(name, "weight must be floating", weight_dtype=str(weight.dtype))
    if offsets is None:
        return
    starts = np.asarray(offsets)
    if starts.dtype.kind not in "iu":
        raise type_error(name, "offsets must be integers", offsets_dtype=str(starts.dtype))
    ends = [*starts.tolist(), indices.shape[0]]
    if (ends[0] != 0 and len(starts)) or any(a > b for a, b in pairwise(ends)):
        wanted = f"offsets must rise from 0 to at most {indices.shape[0]}"
        raise value_error(name, wanted, offsets=starts.tolist())
    if include_last_offset and ends[-2] != ends[-1]:
        wanted = f"the last of offsets must be {indices.shape[0]}"
        raise value_error(name, wanted, offsets=starts.tolist())
    if not len(starts) and indices.shape[0]:
        raise value_error(name, "each index must be in a bag", offsets=[])


def _numbers(indices: Any, offsets: Any, bags: int) -> Any:
    """The number of the bag of each index, in a line."""
    if offsets is None:
        return np.repeat(np.arange(bags), indices.shape[1])
    ends = np.append(np.asarray(offsets)[:bags], indices.shape[0])
    return np.repeat(np.arange(bags), np.diff(ends))


def _kept(indices: Any, padding_idx: int | None, rows: int) -> Any:
    """Which indices count, in a line."""
    row = padding_row("embedding_bag", padding_idx, rows)
    flat = np.asarray(indices).reshape(-1)
    return np.ones(flat.shape, bool) if row is None else flat != row


def _sizes(numbers: Any, kept: Any, bags: int) -> Any:
    """How many indices count in each bag, at least 1."""
    return np.maximum(np.bincount(numbers[kept], minlength=bags), 1)


def _winners(weight: Any, flat: Any, numbers: Any, bags: int) -> Any:
    """Which of the indices ``flat`` is the largest of its bag in each feature; -1 of an empty bag."""
    best = np.full((bags, weight.shape[1]), -1)
    values = np.asarray(weight)[flat]
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(bags + 1))
    for bag in range(bags):
        inside = order[starts[bag] : starts[bag + 1]]
        if inside.size:
            best[bag] = inside[values[inside].argmax(axis=0)]
    return best


@op(shape=_shape, check=_check)
def embedding_bag(
    xp: Any,
    indices: Indices,
    weight: Array,
    offsets: Indices | None = None,
    per_sample_weights: Array | None = None,
    mode: Bag = "mean",
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or maximum of the rows of ``weight`` at the indices of each bag.

    An empty bag gives 0. Derivative: in ``weight`` ``grad_output`` of its bag to each row, times its
    factor, divided by the size of the bag for means; for maxima to the first of the largest. In
    ``per_sample_weights`` the product of the row and ``grad_output``.

    Parameters
    ----------
    indices : (bags, length) or (n,), ints
        The numbers of the rows, a bag in each row of them, or all bags one after the other.
    weight : (rows, features)
        The table.
    offsets : (bags,), ints
        The position of the first index of each bag, for 1-D ``indices``.
    per_sample_weights : in the shape of ``indices``
        A factor for each row, for sums only.
    mode
        What is made of a bag.
    include_last_offset
        Whether ``offsets`` end with the number of indices.
    padding_idx
        A row that does not count and gets no gradient.

    Returns
    -------
    Tensor
        The bags, (bags, features).

    Raises
    ------
    ValueError
        If an index is out of range, or the offsets do not rise.

    >>> import extensor as ex
    >>> table = ex.tensor([[1.0, 2.0], [3.0, 0.0], [5.0, 6.0]])
    >>> ex.embedding_bag([0, 1, 2], table, [0, 2])
    tensor([[2., 1.],
            [5., 6.]])
    >>> ex.embedding_bag_backward([[1.0, 1.0]], [[0, 1]], table, mode="max").grad_weight
    tensor([[0., 1.],
            [1., 0.],
            [0., 0.]])
    """
    bags = _bags(indices.shape, None if offsets is None else offsets.shape, include_last_offset)
    flat, numbers = np.asarray(indices).reshape(-1), _numbers(indices, offsets, bags)
    kept = _kept(indices, padding_idx, weight.shape[0])
    if mode == "max":
        best = _winners(weight, flat[kept], numbers[kept], bags)
        rows = xp.asarray(np.where(best < 0, 0, flat[kept][best] if kept.any() else 0))
        taken = xp.take_along_axis(weight, rows, axis=0) if weight.shape[0] else rows
        return xp.where(xp.asarray(best < 0), xp.zeros((), dtype=weight.dtype), taken)
    values = xp.take(weight, xp.asarray(flat[kept]), axis=0)
    if per_sample_weights is not None:
        factors = xp.take(xp.reshape(per_sample_weights, (-1,)), xp.asarray(np.flatnonzero(kept)))
        values = values * factors[:, None]
    total = place.op.compute(values, (bags, weight.shape[1]), xp.asarray(numbers[kept]))
    if mode == "mean":
        total = total / xp.asarray(_sizes(numbers, kept, bags)[:, None], dtype=weight.dtype)
    return total


@embedding_bag.backward()
def embedding_bag_backward(
    grad_output: Tensor,
    indices: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    per_sample_weights: Tensor | None = None,
    mode: Bag = "mean",
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, Any]:
    """To the rows that each bag is made of, and to their factors; by hand without factors too."""
    bags, width = grad_output.shape
    flat, numbers = np.asarray(indices).reshape(-1), _numbers(indices, offsets, bags)
    kept = _kept(indices, padding_idx, weight.shape[0])

    def to_weight() -> Tensor:
        if mode == "max":
            best = _winners(weight.detach(), flat[kept], numbers[kept], bags)
            rows = np.where(best < 0, 0, flat[kept][best] if kept.any() else 0)
            gradient = where(wrap(best < 0), 0.0, grad_output)
            return place(gradient, weight.shape, (rows, np.arange(width)))
        gradient = grad_output
        if mode == "mean":
            gradient = gradient / wrap(_sizes(numbers, kept, bags)[:, None]).astype(gradient.dtype)
        shares = take(gradient, numbers[kept], axis=0)
        if per_sample_weights is not None:
            factors = take(per_sample_weights.reshape(-1), np.flatnonzero(kept))
            shares = shares * factors.reshape(-1, 1)
        return place(shares, weight.shape, flat[kept])

    def to_factors() -> Tensor:
        rows = take(weight, flat[kept], axis=0) * take(grad_output, numbers[kept], axis=0)
        places = np.flatnonzero(kept)
        return place(rows.sum(axis=1), (flat.size,), places).reshape(indices.shape)

    return to_weight, to_factors
