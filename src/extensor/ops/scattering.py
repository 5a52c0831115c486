"""Writing and combining along an axis, at indices that are a tensor."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import Shape, Shapes, axis_index, axis_or_none
from extensor.arrays.supplement import along_axis, combine_at, set_at
from extensor.core.creation import arange, ones, zeros
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import arguments, type_error
from extensor.ops.broadcasting import broadcast_to, reduce_to_shape
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.gathering import check_scatter, gather, scatter_add, scatter_shape
from extensor.ops.selection import where

SHARED = """
Parameters
----------
x
    The tensor to copy.
indices : ints with as many axes as ``x``
    The positions along ``axis``; negative ones count from the end.
updates
    The values, which broadcast to the shape of ``indices``.
axis
    The axis of the positions.

Returns
-------
Tensor
    The copy, in the shape of ``x``.

Raises
------
ValueError
    If the shapes do not fit, or an index or ``axis`` is out of range.
"""
Reduce = Literal["sum", "prod", "mean", "amax", "amin"]
_REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")
_COMBINED = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "maximum", "amin": "minimum"}
_NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -inf, "amin": inf}


def _places(xp: Any, name: str, x: Any, indices: Any, axis: int) -> tuple[Any, Any, Any]:
    """A copy of ``x``, the index of the places, and their shape; 0-d tensors as lines of one."""
    along = axis_or_none(name, axis, x.ndim)
    copy = xp.asarray(x, copy=True)
    if along is None:
        copy, indices, along = xp.reshape(copy, (1,)), xp.reshape(indices, (1,)), 0
    index = along_axis(xp, indices, copy.shape, axis_index(name, along, copy.ndim))
    return copy, index, np.broadcast_shapes(*(part.shape for part in index))


@op(shape=scatter_shape, check=check_scatter, widen=False)
def scatter(xp: Any, x: Array, indices: Indices, updates: Array, axis: int) -> Any:
    """A copy of ``x`` with ``updates`` written at ``indices`` along ``axis``, line by line.

    Of several values for one place the last stays. Derivative: ``grad_output`` where nothing was
    written to ``x``, and ``grad_output`` read at ``indices`` to the updates that stayed.

    >>> import extensor as ex
    >>> ex.scatter([0.0, 0.0, 0.0], [2, 0], [1.0, 2.0], axis=0)
    tensor([2., 0., 1.])
    >>> ex.scatter_backward([1.0, 2.0, 3.0], (3,), [2, 2], (2,), axis=0)
    scatter_gradients(grad_x=tensor([1., 2., 0.]), grad_updates=tensor([0., 3.]))
    """
    copy, index, shape = _places(xp, "scatter", x, indices, axis)
    return xp.reshape(set_at(copy, index, xp.broadcast_to(updates, shape)), x.shape)


@scatter.backward()
def scatter_backward(
    grad_output: Tensor, x_shape: Shape, indices: Tensor, updates_shape: Shape, axis: int
) -> tuple[Any, Any]:
    """``grad_output`` where nothing was written, and ``grad_output`` read at ``indices``."""
    if not x_shape:
        return zeros((), grad_output.dtype), grad_output
    read = gather(grad_output, indices, axis)
    numbers = arange(read.size).reshape(read.shape)
    last = scatter(zeros(x_shape, numbers.dtype) - 1, indices, numbers, axis)
    stayed = gather(last, indices, axis) == numbers
    return (
        lambda: where(last < 0, grad_output, 0.0),
        lambda: reduce_to_shape(where(stayed, read, 0.0), updates_shape),
    )


def _reduced_shape(name: str, shapes: Shapes, axis: int, reduce: str, include_self: bool) -> Shape:
    arguments.choice(name, "reduce", reduce, _REDUCTIONS)
    return scatter_shape(name, shapes, axis)


def _check_reduced(
    name: str, x: Any, indices: Any, updates: Any, axis: int, reduce: str, include_self: bool
) -> None:
    if not is_floating(x.dtype):
        raise type_error(name, "x and updates must be floating", x_dtype=str(x.dtype))
    check_scatter(name, x, indices, updates, axis)


def _to_zero_or_tie(
    x: Any, indices: Any, updates: Any, axis: int, reduce: str, include_self: bool
) -> Any:
    """Extremes have a kink where two values are equal; the others have none."""
    if reduce not in ("amax", "amin"):
        return np.full(np.shape(x), inf)
    values = np.concatenate([np.ravel(x), np.ravel(updates)])
    gaps = np.abs(values[:, None] - values) + np.where(np.eye(values.size, dtype=bool), inf, 0)
    return np.min(gaps) if values.size > 1 else inf


@op(shape=_reduced_shape, check=_check_reduced, floats=True, kinks=_to_zero_or_tie)
def scatter_reduce(
    xp: Any,
    x: Array,
    indices: Indices,
    updates: Array,
    axis: int,
    reduce: Reduce,
    include_self: bool = True,
) -> Any:
    """A copy of ``x`` with ``updates`` combined at ``indices`` along ``axis``, line by line.

    Derivative: that of the sum, product, mean or extreme of the values at each place; several equal
    extremes share it equally.

    Parameters
    ----------
    reduce
        How values for the same place are combined.
    include_self
        Whether the value of ``x`` is one of them. If not, it stays only where nothing is written.

    >>> import extensor as ex
    >>> ex.scatter_reduce([1.0, 2.0], [0, 0], [3.0, 5.0], 0, "mean")
    tensor([3., 2.])
    >>> ex.scatter_reduce([1.0, 2.0], [0, 0], [3.0, 5.0], 0, "amax", include_self=False)
    tensor([5., 2.])
    >>> x, updates = ex.tensor([1.0, 2.0]), ex.tensor([3.0, 5.0])
    >>> output = ex.scatter_reduce(x, [0, 0], updates, 0, "prod")
    >>> ex.scatter_reduce_backward([1.0, 1.0], x, [0, 0], updates, output, 0, "prod").grad_updates
    tensor([5., 3.])
    """
    copy, index, shape = _places(xp, "scatter_reduce", x, indices, axis)
    if not include_self:
        neutral = xp.full(shape, _NEUTRAL[reduce], dtype=x.dtype)
        copy = set_at(copy, index, neutral)
    values = xp.broadcast_to(updates, shape)
    result = combine_at(xp, copy, index, values, _COMBINED[reduce])
    if reduce == "mean":
        counts = xp.ones_like(result)
        if not include_self:
            counts = set_at(counts, index, xp.zeros(shape, dtype=x.dtype))
        result = result / combine_at(xp, counts, index, xp.ones(shape, dtype=x.dtype), "add")
    return xp.reshape(result, x.shape)


@scatter_reduce.backward()
def scatter_reduce_backward(
    grad_output: Tensor,
    x: Tensor,
    indices: Tensor,
    updates: Tensor,
    output: Tensor,
    axis: int,
    reduce: Reduce,
    include_self: bool = True,
) -> tuple[Any, Any]:
    """``grad_output`` times the derivatives of the sums, products, means or extremes."""
    if x.ndim == 0:
        line = [t.reshape((1,)) for t in (grad_output, x, indices, updates, output)]
        rest: tuple[Any, ...] = (0, reduce, include_self)
        gradients = scatter_reduce_backward(*line, *rest)  # type: ignore[arg-type]
        return gradients[0].reshape(()), lambda: gradients[1].reshape(updates.shape)
    places = gather(x.detach(), indices, axis).shape
    values = broadcast_to(updates, places)
    one = ones(places, x.dtype)
    counts = scatter_add(zeros(x.shape, x.dtype), indices, one, axis)
    # 1 where the value of x is one of those that are combined.
    own = ones(x.shape, x.dtype) if include_self else (counts == 0).astype(x.dtype)
    if reduce in ("sum", "mean"):
        each = grad_output / (counts + own) if reduce == "mean" else grad_output
        of_x, of_updates = chain_rule(each, own), gather(each, indices, axis)
    elif reduce == "prod":
        of_x, of_updates = _of_products(grad_output, x, indices, values, axis, own)
    else:
        won = (values == gather(output, indices, axis)).astype(x.dtype).detach()
        own = chain_rule(own, (x == output).astype(x.dtype)).detach()
        each = chain_divide(grad_output, scatter_add(own, indices, won, axis))
        of_x, of_updates = chain_rule(each, own), chain_rule(gather(each, indices, axis), won)
    return of_x, lambda: reduce_to_shape(of_updates, updates.shape)


def _of_products(
    grad_output: Tensor, x: Tensor, indices: Tensor, values: Tensor, axis: int, own: Tensor
) -> tuple[Tensor, Tensor]:
    """Of each factor, the product of the others at its place.

    It is the product of those that are not 0, times the others that are. Of a single one that is
    its value, which is 0 but has a derivative.
    """
    factors = where(own == 0, 1.0, x)
    zero_x, zero_values = factors == 0, values == 0
    safe_x, safe_values = where(zero_x, 1.0, factors), where(zero_values, 1.0, values)
    product = scatter_reduce(safe_x, indices, safe_values, axis, "prod")
    flag_x, flag_values = zero_x.astype(x.dtype), zero_values.astype(x.dtype)
    none_x, none_values = where(zero_x, factors, 0.0), where(zero_values, values, 0.0)
    flags = scatter_add(flag_x, indices, flag_values, axis)
    nones = scatter_add(none_x, indices, none_values, axis)

    def others(rest: Tensor, safe: Tensor, number: Tensor, total: Tensor) -> Tensor:
        return rest / safe * where(number == 0, 1.0, where(number == 1, total, 0.0))

    of_x = where(own == 1, others(product, safe_x, flags - flag_x, nones - none_x), 0.0)
    product, flags, nones = (gather(t, indices, axis) for t in (product, flags, nones))
    of_values = others(product, safe_values, flags - flag_values, nones - none_values)
    return chain_rule(grad_output, of_x), chain_rule(gather(grad_output, indices, axis), of_values)
