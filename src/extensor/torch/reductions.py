"""Sums, means, extremes, orders and counts along dimensions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from extensor import ops
from extensor.arrays.dtypes import bool_, float32, float64, int64, is_floating
from extensor.core import modes
from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch.dtypes import named_dtype
from extensor.torch.elementwise import FUNCTIONS as ELEMENTWISE
from extensor.torch.sizes import dims_of
from extensor.torch.tensor_class import Tensor, array_of, functions_of, named, wrapped


class ValuesAndIndices(NamedTuple):
    """What reductions along a dimension return: the values, and where they stand."""

    values: Any
    indices: Any


def _pair(values: Any, indices: Any) -> ValuesAndIndices:
    values.__class__ = Tensor
    indices.__class__ = Tensor
    return ValuesAndIndices(values, indices)


def _in(input: Any, dtype: Any) -> Any:
    return input if dtype is None else ops.cast(input, named_dtype(dtype))


def _sum_dtype(input: Any, dtype: Any) -> Any:
    """Integers are added up as int64."""
    if dtype is None and not is_floating(input.dtype):
        dtype = int64
    return input if dtype is None or dtype == input.dtype else ops.cast(input, named_dtype(dtype))


@named
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of the elements, or along dimensions."""
    return ops.sum(_sum_dtype(input, dtype), dims_of(dim), keepdim)


@named
def nansum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum of the elements that are numbers."""
    add = ops.nansum if is_floating(input.dtype) else ops.sum
    return add(_sum_dtype(input, dtype), dims_of(dim), keepdim)


@named
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of the elements that are numbers."""
    return ops.nanmean(_in(input, dtype), dims_of(dim), keepdim)


@named
def mean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of the elements, or along dimensions."""
    input = _in(input, dtype)
    if not is_floating(input.dtype):
        raise RuntimeError(
            f"mean: dtype must be floating (cast it with float()), got {input.dtype}"
        )
    return ops.mean(input, dims_of(dim), keepdim)


@named
def prod(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product of the elements, or along a dimension."""
    result = ops.prod(_sum_dtype(input, dtype), dim, keepdim)
    return (
        result if dtype is None or result.dtype == dtype else ops.cast(result, named_dtype(dtype))
    )


def _correction(dim: Any, unbiased: bool | None, correction: float | None) -> tuple[Any, float]:
    if isinstance(dim, bool):  # var(False), the oldest way to say it
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    return dims_of(dim), 1 if correction is None else correction


@named
def var(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    """The variance; its denominator is the number of elements minus ``correction``, 1 by default."""
    dim, ddof = _correction(dim, unbiased, correction)
    return ops.var(input, dim, keepdim, ddof)


@named
def std(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    """The square root of the variance."""
    dim, ddof = _correction(dim, unbiased, correction)
    return ops.std(input, dim, keepdim, ddof)


def var_mean(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The variance and the mean."""
    average = mean(input, None if isinstance(dim, bool) else dim, keepdim)
    return var(input, dim, unbiased, keepdim, correction=correction), average


def std_mean(
    input: Any,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The standard deviation and the mean."""
    average = mean(input, None if isinstance(dim, bool) else dim, keepdim)
    return std(input, dim, unbiased, keepdim, correction=correction), average


def _extreme(input: Any, dim: Any, keepdim: bool, largest: bool) -> Any:
    if isinstance(dim, CoreTensor):
        return ELEMENTWISE["maximum" if largest else "minimum"](input, dim)
    reduce = ops.max_reduce if largest else ops.min_reduce
    if dim is None:
        return reduce(input)
    if input.ndim == 0:
        return _pair(ops.clone(input), wrapped(np.zeros((), np.int64)))
    indices = (ops.argmax if largest else ops.argmin)(input, dim, True)
    # By the index: of several equal elements one gets the gradient.
    if modes.mode.recording and input._requires_grad:
        values = ops.gather(input, indices, dim)
        values = values if keepdim else ops.squeeze(values, dim)
    else:
        values = reduce(input, dim, keepdim)
    return _pair(values, indices if keepdim else ops.squeeze(indices, dim))


@named
def max(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The greatest element; with ``dim`` values and indices; with a tensor the greater of each two."""
    return _extreme(input, dim if other is None else other, keepdim, True)


@named
def min(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """The smallest element; with ``dim`` values and indices; with a tensor the smaller of each two."""
    return _extreme(input, dim if other is None else other, keepdim, False)


@named
def amax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The greatest element along dimensions. Equal ones share the gradient."""
    return ops.max_reduce(input, dims_of(dim), keepdim)


@named
def amin(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element along dimensions. Equal ones share the gradient."""
    return ops.min_reduce(input, dims_of(dim), keepdim)


def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The smallest and the greatest element."""
    return amin(input, dim, keepdim), amax(input, dim, keepdim)


@named
def argmax(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the greatest element."""
    return ops.argmax(input, dim, keepdim)


@named
def argmin(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The index of the smallest element."""
    return ops.argmin(input, dim, keepdim)


@named
def all(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements are true."""
    return ops.all(input, dims_of(dim), keepdim)


@named
def any(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether one of the elements is true."""
    return ops.any(input, dims_of(dim), keepdim)


@named
def count_nonzero(input: Any, dim: Any = None) -> Any:
    """The number of elements that are not 0."""
    return ops.count_nonzero(input, dims_of(dim))


@named
def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """``log(sum(exp(x)))`` along dimensions."""
    return ops.logsumexp(input, dims_of(dim), keepdim)


@named
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """``exp(x) / sum(exp(x))`` along a dimension."""
    return ops.softmax(_in(input, dtype), dim)


@named
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    return ops.log_softmax(_in(input, dtype), dim)


@named
def cumsum(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Sums of the elements up to each one."""
    return ops.cumsum(_sum_dtype(input, dtype), dim)


@named
def cumprod(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Products of the elements up to each one."""
    return ops.cumprod(_sum_dtype(input, dtype), dim)


@named
def logcumsumexp(input: Any, dim: int) -> Any:
    """``log(cumsum(exp(x)))``."""
    return ops.logcumsumexp(input, dim)


def _of_number(function: Any, input: Any, *args: Any) -> Any:
    """A reduction of a 0-d tensor: that of its only element."""
    made = function(ops.reshape(input, (1,)), *args)
    return _pair(*(ops.reshape(x, ()) for x in made))


def cummax(input: Any, dim: int) -> Any:
    """The greatest of the elements up to each one, and where it stands."""
    return _of_number(cummax, input, 0) if input.ndim == 0 else _pair(*ops.cummax(input, dim))


def cummin(input: Any, dim: int) -> Any:
    """The smallest of the elements up to each one, and where it stands."""
    return _of_number(cummin, input, 0) if input.ndim == 0 else _pair(*ops.cummin(input, dim))


def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order, and where they stood. Equal elements keep their order."""
    if input.ndim == 0:
        return _pair(ops.clone(input), wrapped(np.zeros((), np.int64)))
    indices = ops.argsort(input, dim, descending)
    return _pair(ops.gather(input, indices, dim), indices)


@named
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that put the elements in order."""
    return ops.argsort(input, dim, descending)


def msort(input: Any) -> Tensor:
    """The elements in order along the first dimension."""
    return sort(input, 0)[0]  # type: ignore[no-any-return]


def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The ``k`` greatest elements in order, and where they stand."""
    return _pair(*ops.topk(input, k, dim, largest))


def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The element that is the ``k``-th from below, and where it stands."""
    if input.ndim == 0:
        return _of_number(kthvalue, input, k)
    ordered = sort(input, dim)
    if not 1 <= k <= input.shape[dim]:
        raise RuntimeError(f"kthvalue: k must be from 1 to {input.shape[dim]}, got k={k}")
    place = slice(k - 1, k)
    index = (slice(None),) * (dim % input.ndim) + (place,)
    values, indices = ordered.values[index], ordered.indices[index]
    return _pair(*(x if keepdim else ops.squeeze(x, dim) for x in (values, indices)))


def median(input: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower of the middle elements; with ``dim`` also where it stands."""
    if dim is None:
        flat = ops.reshape(input, (-1,))
        return kthvalue(flat, (flat.shape[0] + 1) // 2, 0).values
    count = input.shape[dim] if input.ndim else 1
    return kthvalue(input, (count + 1) // 2, dim, keepdim)


def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element, the smallest of several, and where it stands last."""
    if input.ndim == 0:
        return _of_number(mode, input)
    array = np.moveaxis(array_of(input, "mode"), dim, -1)
    places = np.empty(array.shape[:-1], np.int64)
    for index in np.ndindex(*places.shape):
        found, counts = np.unique(array[index], return_counts=True)
        places[index] = np.flatnonzero(array[index] == found[counts.argmax()])[-1]
    indices = wrapped(np.expand_dims(places, dim))
    values = ops.gather(input, indices, dim)
    return _pair(*(x if keepdim else ops.squeeze(x, dim) for x in (values, indices)))


# What part of the way from the lower element to the upper one to go.
_BETWEEN: dict[str, Any] = {
    "linear": lambda part: part,
    "lower": np.zeros_like,
    "higher": lambda part: (part > 0) * 1.0,
    "midpoint": lambda part: (part > 0) * 0.5,
    "nearest": np.rint,
}


@named
def quantile(
    input: Any,
    q: Any,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Any:
    """The value below which a fraction ``q`` of the elements lies."""
    if interpolation not in _BETWEEN:
        raise RuntimeError(
            f"quantile: interpolation must be one of {list(_BETWEEN)}, got {interpolation!r}"
        )
    if isinstance(q, CoreTensor) and q.requires_grad:
        raise NotImplementedError("quantile: has no gradient in q here")
    if dim is None or input.ndim == 0:
        ones = (1,) * input.ndim if keepdim else ()
        flat = quantile(ops.reshape(input, (-1,)), q, 0, interpolation=interpolation)
        return ops.reshape(flat, (*flat.shape, *ones))
    ordered = sort(input, dim).values
    places = np.asarray(array_of(q, "quantile"), np.float64) * (input.shape[dim] - 1)
    lower = np.floor(places).astype(np.int64)
    upper = np.ceil(places).astype(np.int64)
    weight = _BETWEEN[interpolation](places - lower)
    made = []
    for low, high, part in zip(lower.ravel(), upper.ravel(), weight.ravel(), strict=True):
        a, b = (ops.take(ordered, int(x), dim) for x in (low, high))
        value = ops.add(a, ops.multiply(ops.subtract(b, a), float(part)))
        made.append(ops.unsqueeze(value, dim) if keepdim else value)
    return made[0] if places.ndim == 0 else ops.stack(made, 0)


@named
def norm(
    input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """The norm of all elements, or along dimensions: 2 by default, any number, or "nuc" not at all."""
    if p == "nuc":
        raise RuntimeError("norm: the nuclear norm is not implemented here")
    order = 2 if p in ("fro", None) else float(p)
    input, dim = _in(input, dtype), dims_of(dim)
    if order in (float("inf"), float("-inf")):
        reduce = ops.max_reduce if order > 0 else ops.min_reduce
        return reduce(ops.abs(input), dim, keepdim)
    if order == 0:
        return ops.cast(ops.count_nonzero(input, dim, keepdim), input.dtype)
    if order < 0:
        powers = ops.sum(ops.power(ops.abs(input), order), dim, keepdim)
        return ops.power(powers, 1 / order)
    return ops.norm(input, order, dim, keepdim)


@named
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The norm of the difference."""
    return norm(ops.subtract(input, other), p)


@named
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along a dimension, ``n`` times."""
    if n == 0:
        return ops.clone(input)
    parts = [x for x in (prepend, input, append) if x is not None]
    x = ops.concatenate(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        before = (slice(None),) * (dim % x.ndim)
        later, earlier = x[(*before, slice(1, None))], x[(*before, slice(None, -1))]
        x = (ops.logical_xor if x.dtype == bool_ else ops.subtract)(later, earlier)
    return x


def unique(
    input: Any,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements in order; their places and counts if asked for."""
    find: Any = np.unique  # whose overloads know no flags
    made = find(
        array_of(input, "unique"),
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=dim,
    )
    if not isinstance(made, tuple):
        return wrapped(made)
    parts = list(made)
    if return_inverse and dim is None:
        parts[1] = parts[1].reshape(input.shape)
    return tuple(wrapped(x) for x in parts)


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements without repetitions of neighbours."""
    if dim is not None:
        raise NotImplementedError("unique_consecutive: dim is not implemented here")
    flat = array_of(input, "unique_consecutive").ravel()
    first = np.ones(flat.shape, bool)
    first[1:] = flat[1:] != flat[:-1]
    made = [flat[first]]
    if return_inverse:
        made.append((np.cumsum(first) - 1).reshape(input.shape))
    if return_counts:
        made.append(np.diff(np.append(np.flatnonzero(first), flat.size)))
    parts = tuple(wrapped(x) for x in made)
    return parts if len(parts) > 1 else parts[0]


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0, a row for each."""
    array = array_of(input, "nonzero")
    if array.ndim == 0 and not as_tuple:
        return wrapped(np.zeros((int(bool(array)), 0), np.int64))
    found = np.nonzero(np.atleast_1d(array))
    if as_tuple:
        return tuple(wrapped(x) for x in found)
    return wrapped(np.stack(found, axis=1))


def argwhere(input: Any) -> Tensor:
    """The indices of the elements that are not 0, a row for each."""
    return nonzero(input)  # type: ignore[no-any-return]


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each integer occurs, or the sum of its weights."""
    weight = None if weights is None else array_of(weights, "bincount")
    counts = np.bincount(array_of(input, "bincount"), weight, minlength)
    if weight is None:
        return wrapped(counts)
    return wrapped(counts.astype(float32 if weight.dtype == float32 else float64))


def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """The number of elements in equal intervals from ``min`` to ``max``, by default those of the data."""
    array = array_of(input, "histc")
    low, high = (array.min(), array.max()) if min == 0 and max == 0 and array.size else (min, max)
    counts, _ = np.histogram(array, bins, (float(low), float(high)))
    return wrapped(counts.astype(array.dtype))


def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
) -> Tensor:
    """Where each element would be put into a sorted sequence, or into its own row."""
    ordered = array_of(sorted_sequence, "searchsorted")
    values = np.asarray(array_of(input, "searchsorted"))
    way: Any = side or ("right" if right else "left")
    dtype = np.int32 if out_int32 else np.int64
    if ordered.ndim == 1:
        return wrapped(np.asarray(np.searchsorted(ordered, values, way), dtype))
    made: Any = np.empty(values.shape, dtype)
    for index in np.ndindex(*ordered.shape[:-1]):
        made[index] = np.searchsorted(ordered[index], values[index], way)
    return wrapped(made)


def bucketize(
    input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """The number of the interval between boundaries in which each element lies."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Where the elements are among others."""
    a, b = array_of(elements, "isin"), array_of(test_elements, "isin")
    return wrapped(np.isin(a, b, assume_unique=assume_unique, invert=invert))


FUNCTIONS = functions_of(globals())
