"""Quantiles, medians and elements of a given rank; sums and means that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays import supplement
from extensor.arrays.shapes import (
    Shape,
    Shapes,
    axis_indices,
    axis_or_none,
    count,
    reduced,
    reduced_nonempty,
    same,
)
from extensor.arrays.supplement import in_c_order
from extensor.core.creation import zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.errors.expectations import is_number
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.comparison import isnan
from extensor.ops.gathering import scatter_add
from extensor.ops.movement import permute
from extensor.ops.reduction import SHARED as SHARED
from extensor.ops.reduction import Axis, expanded
from extensor.ops.selection import where
from extensor.ops.sorting import argsort, gap_to_neighbour


def _lines(x: Any, axis: Axis, name: str) -> tuple[list[int], tuple[int, ...]]:
    """The order that puts the reduced axes last, and the shape with them as one."""
    axes = axis_indices(name, axis, len(x.shape))
    rest = [k for k in range(len(x.shape)) if k not in axes]
    shape = tuple(x.shape[k] for k in rest)
    return [*rest, *axes], (*shape, count([x.shape[k] for k in axes]))


def _ranks(size: int, q: float) -> tuple[int, int, float]:
    """The two places between which a quantile lies, and how far along."""
    place = float(q) * (size - 1)
    low = int(place)
    return low, min(low + 1, size - 1), place - low


def _quantile_shape(
    name: str, shapes: Shapes, q: Any, axis: Axis = None, keepdims: bool = False
) -> Shape:
    if not is_number(q) or isinstance(q, bool):
        raise type_error(name, "q must be a number", q=type(q).__name__)
    if not 0 <= q <= 1:
        raise value_error(name, "q must be in [0, 1]", q=float(q))
    return reduced_nonempty(name, shapes, axis, keepdims)


def _to_other(x: Any, *attributes: Any) -> Any:
    return gap_to_neighbour(np.ravel(x), 0, False).reshape(np.shape(x))


def _quantile(xp: Any, name: str, x: Any, q: float, axis: Axis, keepdims: bool) -> Any:
    order, shape = _lines(x, axis, name)
    line = xp.sort(xp.reshape(xp.permute_dims(x, tuple(order)), shape), axis=-1)
    low, high, part = _ranks(shape[-1], q)
    below, above = line[..., low], line[..., high]
    result = below + part * (above - below) if part else below
    result = xp.where(xp.isnan(line[..., -1]), line[..., -1], result)  # NaN is sorted to the end
    return xp.reshape(result, reduced(name, {"x": x.shape}, axis, keepdims))


def _quantile_backward(name: str, grad_output: Tensor, x: Tensor, q: float, axis: Axis) -> Tensor:
    order, shape = _lines(x, axis, name)
    line = permute(x, order).reshape(shape)
    low, high, part = _ranks(shape[-1], q)
    ranks = argsort(line, -1)
    gradient = grad_output.reshape((*shape[:-1], 1))
    found = scatter_add(zeros(shape, x.dtype), ranks[..., low : low + 1], (1 - part) * gradient, -1)
    if part:
        found = scatter_add(found, ranks[..., high : high + 1], part * gradient, -1)
    inverse = sorted(range(x.ndim), key=order.__getitem__)
    return permute(found.reshape([x.shape[k] for k in order]), inverse)


@op(shape=_quantile_shape, floats=True, kinks=_to_other)
def quantile(xp: Any, x: Array, q: float, axis: Axis = None, keepdims: bool = False) -> Any:
    """The number below which the share ``q`` of the elements over ``axis`` lies.

    Between two elements it lies on a line. NaN if an element is. Derivative: the weights of the two
    elements; of equal elements the first in order.

    Parameters
    ----------
    q
        The share, from 0 to 1.

    Returns
    -------
    Tensor
        The quantiles, in the shape of ``x`` without the reduced axes, or with size 1 there.

    Raises
    ------
    ValueError
        If ``q`` or ``axis`` is out of range, or a reduced axis has size 0.

    >>> import extensor as ex
    >>> ex.quantile([1.0, 5.0, 3.0], 0.75)
    tensor(4.)
    >>> ex.quantile_backward(1.0, [1.0, 5.0, 3.0], 0.75)
    tensor([0. , 0.5, 0.5])
    """
    return _quantile(xp, "quantile", x, q, axis, keepdims)


@quantile.backward()
def quantile_backward(
    grad_output: Tensor, x: Tensor, q: float, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` to the elements at the quantile, by their weights."""
    return _quantile_backward("quantile_backward", grad_output, x, q, axis)


@op(shape=reduced_nonempty, floats=True, kinks=_to_other)
def median(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The middle element over ``axis``, or the mean of the two middle ones, as in NumPy.

    NaN if an element is. Derivative: 1 for the middle element, or a half for both; of equal
    elements the first in order.

    >>> import extensor as ex
    >>> ex.median([1.0, 5.0, 3.0, 4.0])
    tensor(3.5)
    >>> ex.median_backward(1.0, [1.0, 5.0, 3.0, 4.0])
    tensor([0. , 0. , 0.5, 0.5])
    """
    return _quantile(xp, "median", x, 0.5, axis, keepdims)


@median.backward()
def median_backward(
    grad_output: Tensor, x: Tensor, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` to the middle element, or half of it to both."""
    return _quantile_backward("median_backward", grad_output, x, 0.5, axis)


def _kth(name: str, shapes: Shapes, k: Any, axis: int, keepdims: bool) -> Shape:
    shape = same(name, shapes)
    along = axis_or_none(name, axis, len(shape))
    size = 1 if along is None else shape[along]
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise type_error(name, "k must be an int", k=k)
    if not 1 <= k <= size:
        raise value_error(name, f"k must be in [1, {size}] for axis {axis}", k=k)
    return reduced(name, shapes, axis, keepdims)


def _to_neighbour(x: Any, k: int, axis: int = -1, keepdims: bool = False) -> Any:
    return gap_to_neighbour(x, axis, False)


@op(shape=_kth, kinks=_to_neighbour)
def kthvalue(xp: Any, x: Array, k: int, axis: int = -1, keepdims: bool = False) -> tuple[Any, Any]:
    """The ``k``-th smallest element along ``axis``, and its index; NaN counts as largest.

    Of equal elements the first comes first. Derivative: ``grad_output`` (of the values) to the
    elements taken.

    Parameters
    ----------
    k
        The rank, from 1 on.
    axis
        The axis to search along.

    Returns
    -------
    tuple of Tensor
        The elements, and their indices of dtype int64.

    Raises
    ------
    ValueError
        If ``k`` or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.kthvalue([3.0, 1.0, 2.0], 2)
    (tensor(2.), tensor(2))
    >>> ex.kthvalue_backward(1.0, (3,), 2, 2)
    tensor([0., 0., 1.])
    """
    along = axis_or_none("kthvalue", axis, x.ndim)
    line = xp.reshape(x, (1,)) if along is None else x
    along = along or 0
    order = supplement.argsort(xp, line, along, False)
    places = order[(*(slice(None),) * along, slice(int(k) - 1, int(k)), ...)]
    values = xp.take_along_axis(line, places, axis=along)
    shape = _kth("kthvalue", {"x": x.shape}, k, axis, keepdims)
    return xp.reshape(values, shape), xp.reshape(places, shape)


@kthvalue.backward()
def kthvalue_backward(
    grad_output: Tensor,
    input_shape: Shape,
    indices: Tensor,
    k: int,
    axis: int = -1,
    keepdims: bool = False,
) -> Tensor:
    """Zeros of ``input_shape`` with ``grad_output`` at ``indices``."""
    along = axis_or_none("kthvalue_backward", axis, len(input_shape))
    if along is None:
        return grad_output.reshape(input_shape)
    kept = tuple(1 if n == along else size for n, size in enumerate(input_shape))
    whole = zeros(input_shape, grad_output.dtype)
    return scatter_add(whole, indices.reshape(kept), grad_output.reshape(kept), along)


@op(shape=reduced, floats=True)
def nansum(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The sum over ``axis`` of the elements that are not NaN. Derivative: 1, and 0 for NaN.

    >>> import extensor as ex
    >>> ex.nansum([1.0, float("nan"), 3.0])
    tensor(4.)
    >>> ex.nansum_backward(1.0, [1.0, float("nan")])
    tensor([1., 0.])
    """
    known = in_c_order(xp.where(xp.isnan(x), xp.zeros((), dtype=x.dtype), x))
    return xp.sum(known, axis=axis_indices("nansum", axis, x.ndim), keepdims=keepdims)


@nansum.backward()
def nansum_backward(
    grad_output: Tensor, x: Tensor, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` to the elements that are not NaN."""
    return where(isnan(x), 0.0, expanded(grad_output, x.shape, axis, keepdims))


@op(shape=reduced, floats=True)
def nanmean(xp: Any, x: Array, axis: Axis = None, keepdims: bool = False) -> Any:
    """The mean over ``axis`` of the elements that are not NaN, NaN if there are none.

    Derivative: 1 over the number of elements that are not NaN, and 0 for NaN.

    >>> import extensor as ex
    >>> ex.nanmean([1.0, float("nan"), 3.0])
    tensor(2.)
    >>> ex.nanmean_backward(1.0, [1.0, float("nan"), 3.0])
    tensor([0.5, 0. , 0.5])
    """
    axes = axis_indices("nanmean", axis, x.ndim)
    missing = xp.isnan(x)
    known = in_c_order(xp.where(missing, xp.zeros((), dtype=x.dtype), x))
    counts = xp.sum(xp.astype(~missing, x.dtype), axis=axes, keepdims=keepdims)
    return xp.sum(known, axis=axes, keepdims=keepdims) / counts


@nanmean.backward()
def nanmean_backward(
    grad_output: Tensor, x: Tensor, axis: Axis = None, keepdims: bool = False
) -> Tensor:
    """``grad_output`` over their number, to the elements that are not NaN."""
    known = where(isnan(x), 0.0, 1.0).astype(x.dtype)
    axes = axis_indices("nanmean_backward", axis, x.ndim)
    counts = known.sum(axis=axes, keepdims=True)
    each = chain_divide(expanded(grad_output, x.shape, axis, keepdims), counts)
    return chain_rule(each, known)
