"""Running products, extremes and logarithms of sums along an axis."""

from __future__ import annotations

from math import inf
from typing import Any

from extensor.arrays import supplement
from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import Shape, axis_or_none, same_along
from extensor.core.creation import ones_like, zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp
from extensor.ops.gathering import scatter_add
from extensor.ops.joining import concatenate
from extensor.ops.logarithmic import difference
from extensor.ops.movement import moveaxis
from extensor.ops.selection import where
from extensor.ops.sorting import gap_to_neighbour

SHARED = """
Parameters
----------
axis
    The axis to go along.

Returns
-------
Tensor
    The result, in the shape of ``x``.

Raises
------
ValueError
    If ``axis`` is out of range.
"""


def _accumulated(xp: Any, name: str, combine: str, x: Any, axis: int) -> Any:
    """A 0-d tensor is a line of one element."""
    along = axis_or_none(name, axis, x.ndim)
    line = xp.reshape(x, (1,)) if along is None else x
    return xp.reshape(supplement.accumulate(xp, combine, line, along or 0), x.shape)


def _suffix_sums(gradient: Tensor, factor: Tensor) -> Tensor:
    """The ``s`` with ``s[k] = gradient[k] + factor[k] * s[k + 1]`` along the last axis.

    Each turn doubles the number of terms in a sum. No number is divided by another, so that factors
    of 0 do no harm, and the result can be differentiated.
    """
    size, reach = gradient.shape[-1], 1
    while reach < size:
        head = gradient[..., : size - reach] + chain_rule(gradient[..., reach:], factor)
        gradient = concatenate([head, gradient[..., size - reach :]], -1)
        if 2 * reach < size:
            factor = factor[..., : size - 2 * reach] * factor[..., reach:]
        reach *= 2
    return gradient


@op(shape=same_along)
def cumprod(xp: Any, x: Array, axis: int = 0) -> Any:
    """The product of each element and all before it along ``axis``.

    Derivative: at each element the product of those before it, times the sum over all results from
    it on of ``grad_output`` and the factors in between; exact for any number of zeros.

    >>> import extensor as ex
    >>> ex.cumprod([2.0, 3.0, 4.0])
    tensor([ 2.,  6., 24.])
    >>> ex.cumprod_backward([1.0, 1.0, 1.0], [2.0, 0.0, 4.0])
    tensor([ 1., 10.,  0.])
    """
    along = axis_or_none("cumprod", axis, x.ndim)
    line = xp.reshape(x, (1,)) if along is None else x
    # As NumPy does; other libraries would multiply small integers in their own dtype.
    whole = xp.uint64 if "uint" in str(x.dtype) else xp.int64
    dtype = None if is_floating(x.dtype) else whole
    return xp.reshape(xp.cumulative_prod(line, axis=along or 0, dtype=dtype), x.shape)


@cumprod.backward()
def cumprod_backward(grad_output: Tensor, x: Tensor, axis: int = 0) -> Tensor:
    """The sums of ``grad_output`` times the products of all other factors."""
    along = axis_or_none("cumprod_backward", axis, x.ndim)
    if along is None:
        return grad_output
    factors = moveaxis(x, along, -1)
    sums = _suffix_sums(moveaxis(grad_output, along, -1), factors[..., 1:])
    first = ones_like(factors[..., :1])
    before = cumprod(concatenate([first, factors[..., :-1]], -1), -1)
    return moveaxis(chain_rule(sums, before), -1, along)


@op(shape=same_along, floats=True)
def logcumsumexp(xp: Any, x: Array, axis: int = 0) -> Any:
    """The logarithm of the running sum of ``exp(x)`` along ``axis``, without overflow.

    Derivative: ``exp(x[k] - output[j])`` for each result ``j`` from ``k`` on; 0 at -inf.

    >>> import extensor as ex
    >>> ex.logcumsumexp([1000.0, 1000.0])
    tensor([1000.    , 1000.6931])
    >>> ex.logcumsumexp_backward([0.0, 1.0], [0.0, 0.0], [0.0, 0.6931472])
    tensor([0.5, 0.5])
    """
    return _accumulated(xp, "logcumsumexp", "logaddexp", x, axis)


@logcumsumexp.backward()
def logcumsumexp_backward(grad_output: Tensor, x: Tensor, output: Tensor, axis: int = 0) -> Tensor:
    """The sums of ``grad_output[j] * exp(x[k] - output[j])`` over all ``j`` from ``k`` on."""
    along = axis_or_none("logcumsumexp_backward", axis, x.ndim)
    if along is None:
        return where(x == -inf, 0.0, grad_output)
    totals = moveaxis(output, along, -1)
    factors = exp(difference(totals[..., :-1], totals[..., 1:]))
    sums = moveaxis(_suffix_sums(moveaxis(grad_output, along, -1), factors), -1, along)
    return chain_rule(where(x == -inf, 0.0, sums), exp(difference(x, output)))


def _to_tie(x: Any, axis: int = 0) -> Any:
    return gap_to_neighbour(x, axis, False)


def _running_extreme(xp: Any, name: str, combine: str, x: Any, axis: int) -> tuple[Any, Any]:
    values = _accumulated(xp, name, combine, x, axis)
    along = axis_or_none(name, axis, x.ndim)
    if along is None:
        return values, xp.zeros((), dtype=xp.int64)
    line = [1] * x.ndim
    line[along] = x.shape[along]
    places = xp.reshape(xp.arange(x.shape[along], dtype=xp.int64), tuple(line))
    is_new = (x == values) | (x != x)  # NaN is the extreme from where it stands
    marked = xp.where(is_new, places, xp.zeros_like(places))
    return values, supplement.accumulate(xp, "maximum", marked, along)


@op(shape=same_along, kinks=_to_tie)
def cummax(xp: Any, x: Array, axis: int = 0) -> tuple[Any, Any]:
    """The largest of each element and all before it along ``axis``, and its index.

    Of equal elements the last is taken; NaN counts as largest. Derivative: ``grad_output`` (of the
    values) added to the elements taken.

    Returns
    -------
    tuple of Tensor
        The running maxima, and their indices of dtype int64, both in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.cummax([1.0, 3.0, 2.0])
    (tensor([1., 3., 3.]), tensor([0, 1, 1]))
    >>> ex.cummax_backward([1.0, 1.0, 1.0], (3,), [0, 1, 1])
    tensor([1., 2., 0.])
    """
    return _running_extreme(xp, "cummax", "maximum", x, axis)


@cummax.backward()
def cummax_backward(
    grad_output: Tensor, input_shape: Shape, indices: Tensor, axis: int = 0
) -> Tensor:
    """``grad_output`` added at ``indices``."""
    return _add_at_extremes("cummax_backward", grad_output, input_shape, indices, axis)


@op(shape=same_along, kinks=_to_tie)
def cummin(xp: Any, x: Array, axis: int = 0) -> tuple[Any, Any]:
    """The smallest of each element and all before it along ``axis``, and its index.

    Of equal elements the last is taken; NaN counts as smallest. Derivative: ``grad_output`` (of the
    values) added to the elements taken.

    Returns
    -------
    tuple of Tensor
        The running minima, and their indices of dtype int64, both in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.cummin([2.0, 3.0, 1.0])
    (tensor([2., 2., 1.]), tensor([0, 0, 2]))
    >>> ex.cummin_backward([1.0, 1.0, 1.0], (3,), [0, 0, 2])
    tensor([2., 0., 1.])
    """
    return _running_extreme(xp, "cummin", "minimum", x, axis)


@cummin.backward()
def cummin_backward(
    grad_output: Tensor, input_shape: Shape, indices: Tensor, axis: int = 0
) -> Tensor:
    """``grad_output`` added at ``indices``."""
    return _add_at_extremes("cummin_backward", grad_output, input_shape, indices, axis)


def _add_at_extremes(
    name: str, grad_output: Tensor, input_shape: Shape, indices: Tensor, axis: int
) -> Tensor:
    along = axis_or_none(name, axis, len(input_shape))
    if along is None:
        return grad_output
    return scatter_add(zeros(input_shape, grad_output.dtype), indices, grad_output, along)
