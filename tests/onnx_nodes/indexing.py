"""Nodes that read or write at indices."""

from __future__ import annotations

from typing import Any

import extensor as ex
from extensor import Tensor


def _places(indices: Tensor, shape: tuple[int, ...], batch_dims: int = 0) -> tuple[Any, ...]:
    """The index that the last axis of ``indices`` spells, below ``batch_dims`` shared axes."""
    index = [indices[..., i] for i in range(indices.shape[-1])]
    own = index[0].ndim
    shared = [
        ex.reshape(ex.arange(shape[axis]), (1,) * axis + (-1,) + (1,) * (own - axis - 1))
        for axis in range(batch_dims)
    ]
    return (*shared, *index)


def _along(indices: Tensor, axis: int) -> tuple[Any, ...]:
    """The index of the elements that ``indices`` names line by line, as ``ex.gather`` reads them."""
    grids = ex.meshgrid(*(ex.arange(size) for size in indices.shape), indexing="ij")
    return tuple(indices if i == axis % indices.ndim else grid for i, grid in enumerate(grids))


def _changed(x: Tensor, index: tuple[Any, ...], updates: Tensor, reduction: str) -> Tensor:
    place = x.at[index]
    return {"none": place.set, "add": place.add}[reduction](updates)


def _scatter_elements(
    x: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: str = "none"
) -> Tensor:
    if reduction == "add":
        return ex.scatter_add(x, indices, updates, axis)
    return _changed(x, _along(indices, axis), updates, reduction)


def _scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none") -> Tensor:
    return _changed(x, _places(indices, x.shape), updates, reduction)


def _compress(x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """The condition may be shorter than the axis."""
    if axis is None:
        x, axis = ex.ravel(x), 0
    axis %= x.ndim
    return x[(*(slice(None),) * axis, slice(len(condition)))][(*(slice(None),) * axis, condition)]


NODES: dict[str, Any] = {
    "Compress": _compress,
    "Gather": lambda x, indices, *, axis=0: ex.take(x, indices, axis),
    "GatherElements": lambda x, indices, *, axis=0: ex.gather(x, indices, axis),
    "GatherND": lambda x, indices, *, batch_dims=0: x[_places(indices, x.shape, batch_dims)],
    "Scatter": _scatter_elements,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
}
