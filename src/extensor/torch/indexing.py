"""Elements taken from a tensor and put into one, by indices along a dimension."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from extensor import ops
from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch.tensor_class import Tensor, array_of, functions_of, named, wrapped


def along(input: Any, dim: int, index: Any) -> tuple[Any, ...]:
    """The index of NumPy's for ``index`` along a dimension, at every place of it."""
    array = array_of(index, "index")
    places = list(np.indices(array.shape, sparse=True)) if array.ndim else [np.zeros((), np.int64)]
    places[dim % max(array.ndim, 1)] = array
    return tuple(places)


def _of_rows(function: Any) -> Any:
    """Lets a function of dimensions take 0-d tensors, as if they were vectors of one element."""

    @wraps(function)
    def call(input: Any, dim: int, index: Any, *args: Any, **kwargs: Any) -> Any:
        if input.ndim:
            return function(input, dim, index, *args, **kwargs)
        row = ops.reshape(input, (1,))
        tensors = [ops.reshape(x, (-1,)) if isinstance(x, CoreTensor) else x for x in args]
        result = function(row, 0, ops.reshape(index, (-1,)), *tensors, **kwargs)
        return ops.reshape(result, tuple(index.shape) if function.__name__ == "gather" else ())

    return call


@named
@_of_rows
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """The elements at ``index`` along a dimension; ``index`` may be smaller in the others."""
    if index.ndim != input.ndim:
        raise RuntimeError(f"gather: index must have {input.ndim} dimensions, got {index.ndim}")
    shape = [size for axis, size in enumerate(input.shape) if axis != dim % max(input.ndim, 1)]
    own = [size for axis, size in enumerate(index.shape) if axis != dim % max(input.ndim, 1)]
    if shape == own and input.ndim:
        return ops.gather(input, index, dim)
    return ops.getitem(input, along(input, dim, index))


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Tensor:
    """The elements at ``indices`` along a dimension, other dimensions broadcast."""
    if dim is None:
        return gather(ops.reshape(input, (-1,)), 0, ops.reshape(indices, (-1,)))  # type: ignore[no-any-return]
    shape = list(np.broadcast_shapes(_without(input, dim), _without(indices, dim)))
    sizes = [*shape[: dim % input.ndim], 0, *shape[dim % input.ndim :]]
    sizes[dim % input.ndim] = input.shape[dim]
    wide = ops.broadcast_to(input, tuple(sizes))
    sizes[dim % input.ndim] = indices.shape[dim]
    return gather(wide, dim, ops.broadcast_to(indices, tuple(sizes)))  # type: ignore[no-any-return]


def _without(x: Any, dim: int) -> tuple[int, ...]:
    return tuple(size for axis, size in enumerate(x.shape) if axis != dim % x.ndim)


@named
def index_select(input: Any, dim: int, index: Any) -> Any:
    """The places ``index`` of a dimension."""
    if input.ndim == 0:
        return ops.reshape(ops.getitem(ops.reshape(input, (1,)), index), ())
    return ops.index_select(input, ops.reshape(index, (-1,)), dim)


@named
def take(input: Any, index: Any) -> Any:
    """The elements at ``index``, counted through the whole tensor."""
    return ops.take(input, index)


@named
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where ``mask`` holds, in one dimension."""
    a, b = np.broadcast_shapes(tuple(input.shape), tuple(mask.shape)), input
    return ops.getitem(ops.broadcast_to(b, a), ops.broadcast_to(mask, a))


def _source(input: Any, index: Any, src: Any) -> Any:
    """The part of ``src`` that ``index`` has a place for."""
    if not isinstance(src, CoreTensor):
        return wrapped(np.full(index.shape, src, input.dtype))
    return src[tuple(slice(size) for size in index.shape)] if index.ndim else src


@named
@_of_rows
def scatter(
    input: Any,
    dim: int,
    index: Any,
    src: Any = None,
    *,
    value: Any = None,
    reduce: str | None = None,
) -> Any:
    """``input`` with ``src`` at ``index`` along a dimension, or added or multiplied there."""
    values = _source(input, index, src if value is None else value)
    place = along(input, dim, index)
    if reduce is None:
        return ops.index_set(input, values, place)
    if reduce == "add":
        return ops.index_add(input, values, place)
    if reduce == "multiply":
        return scatter_reduce(input, dim, index, values, "prod")
    raise RuntimeError(f"scatter: reduce must be 'add' or 'multiply', got {reduce!r}")


@named
@_of_rows
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """``input`` with ``src`` added at ``index`` along a dimension."""
    return ops.index_add(input, _source(input, index, src), along(input, dim, index))


@named
@_of_rows
def scatter_reduce(
    input: Any, dim: int, index: Any, src: Any, reduce: Any, *, include_self: bool = True
) -> Any:
    """``input`` with ``src`` reduced into ``index``: "sum", "mean", "amax", "amin" or "prod"."""
    place, values = along(input, dim, index), _source(input, index, src)
    if reduce in ("sum", "mean"):
        zero = wrapped(np.zeros((), input.dtype))
        start = input if include_self else ops.index_set(input, zero, place)
        total = ops.index_add(start, values, place)
        if reduce == "sum":
            return total
        counts = np.full(input.shape, int(include_self), input.dtype)
        np.add.at(counts, place, 1)
        divide = ops.divide if is_floating(input.dtype) else ops.floor_divide
        return divide(total, wrapped(np.maximum(counts, 1)))
    if not is_floating(input.dtype):
        return _reduced_integers(input, place, values, reduce, include_self)
    return ops.scatter_reduce(input, index, values, dim, reduce, include_self)


def _reduced_integers(input: Any, place: Any, values: Any, reduce: str, include_self: bool) -> Any:
    """The same of integers, which a float could not hold."""
    limits = (0, 1) if input.dtype == np.bool_ else np.iinfo(input.dtype)
    low, high = limits if isinstance(limits, tuple) else (limits.min, limits.max)
    update, neutral = {
        "prod": (np.multiply, 1),
        "amax": (np.maximum, low),
        "amin": (np.minimum, high),
    }[reduce]
    result = input._array.copy()
    if not include_self:
        result[place] = neutral
    update.at(result, place, values._array)
    return wrapped(result)


@named
@_of_rows
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: float = 1) -> Any:
    """``input`` with ``alpha * source`` added at places of a dimension."""
    source = source if alpha == 1 else ops.multiply(source, alpha)
    return ops.index_add(input, source, _at(input, dim, index))


@named
@_of_rows
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """``input`` with ``source`` at places of a dimension."""
    return ops.index_set(input, source, _at(input, dim, index))


@named
@_of_rows
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """``input`` with a value at places of a dimension."""
    return ops.index_set(input, value, _at(input, dim, index))


def _at(input: Any, dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * (dim % max(input.ndim, 1)), index)


@named
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """``input`` with ``values`` at ``indices``, or added there."""
    return (ops.index_add if accumulate else ops.index_set)(input, values, tuple(indices))


@named
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """``input`` with the elements of ``source`` in turn where ``mask`` holds."""
    wide = np.broadcast_to(array_of(mask, "masked_scatter"), input.shape)
    values = ops.getitem(ops.reshape(source, (-1,)), slice(int(wide.sum())))
    return ops.index_set(input, values, wrapped(wide))


@named
def select_scatter(input: Any, src: Any, dim: int, index: int) -> Any:
    """``input`` with ``src`` at one place of a dimension."""
    return ops.index_set(input, src, (*(slice(None),) * (dim % input.ndim), index))


FUNCTIONS = functions_of(globals())
del FUNCTIONS["along"]
