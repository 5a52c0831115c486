"""Integers, and ones with a probability."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import ceil
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor.arrays.dtypes import (
    DType,
    as_dtype,
    bool_,
    float32,
    float64,
    get_default_dtype,
    int64,
    is_floating,
    uint32,
)
from extensor.arrays.shapes import is_broadcastable_to, target
from extensor.core import door
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import type_error, value_error
from extensor.errors.explanation import explaining
from extensor.random.continuous import rounded
from extensor.random.generator import Generator, drawn
from extensor.random.philox import LIMIT, random_bernoulli, random_bits, random_integers

if TYPE_CHECKING:
    from extensor.typing import TensorLike


@explaining
def randint(
    low: int,
    high: int,
    shape: int | Sequence[int] = (),
    dtype: DType = int64,
    generator: Generator | None = None,
) -> Tensor:
    """Integers from ``low`` up to, not including, ``high``, all exactly equally likely.

    Parameters
    ----------
    low, high : int
        The bounds. ``high`` is not included.
    shape : int or sequence of ints
        The shape.
    dtype : dtype_like, default int64
        A dtype of integers or booleans.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The integers, in ``shape``.

    Raises
    ------
    ValueError
        If ``low`` is not below ``high`` or an integer does not fit ``dtype``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.random.randint(0, 10, 3, generator=ex.random.Generator(0))
    tensor([8, 6, 3])
    """
    dtype = as_dtype(dtype, "randint")
    if is_floating(dtype):
        raise type_error("randint", "dtype must be bool or an integer dtype", dtype=str(dtype))
    try:
        low, high = index(low), index(high)
    except TypeError:
        raise type_error("randint", "low and high must be ints", low=low, high=high) from None
    if low >= high:
        raise value_error("randint", "low must be below high", low=low, high=high)
    least, most = _bounds(dtype)
    if low < least or high - 1 > most:
        raise value_error("randint", f"the integers must fit dtype {dtype}", low=low, high=high)
    sizes = target("randint", shape)
    span = high - low - 1
    return wrap(drawn("randint", generator, random_integers, sizes, dtype, low % LIMIT, span))


@cache
def _bounds(dtype: DType) -> tuple[int, int]:
    return (0, 1) if dtype == bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)


@explaining
def bernoulli(
    p: TensorLike,
    shape: int | Sequence[int] | None = None,
    dtype: DType = None,
    generator: Generator | None = None,
) -> Tensor:
    """1 with probability ``p``, else 0, to within 2**-32.

    Parameters
    ----------
    p : tensor_like
        Probabilities. An array broadcasts to ``shape``.
    shape : int or sequence of ints, optional
        The shape, by default that of ``p``.
    dtype : dtype_like, optional
        The dtype, by default that of ``p`` if it is a floating array, else the default dtype.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        Zeros and ones, in ``shape``.

    Raises
    ------
    ValueError
        If a probability is not in [0, 1] or ``p`` does not broadcast to ``shape``.

    Examples
    --------
    >>> from extensor.random import bernoulli
    >>> bernoulli([0.0, 1.0])
    tensor([0., 1.])
    """
    if isinstance(p, int | float):
        return _coins(p, () if shape is None else shape, dtype or get_default_dtype(), generator)
    chances = to_array(p, op="bernoulli")
    if dtype is None:
        dtype = chances.dtype if is_floating(chances.dtype) else get_default_dtype()
    sizes = chances.shape if shape is None else target("bernoulli", shape)
    if chances.ndim == 0:
        return _coins(float(chances), sizes, dtype, generator)
    wide = np.asarray(chances, float64)
    if not ((wide >= 0) & (wide <= 1)).all():
        raise value_error("bernoulli", "p must be in [0, 1]", p=p)
    if not is_broadcastable_to(chances.shape, sizes):
        raise value_error(
            "bernoulli", "p must broadcast to shape", p_shape=chances.shape, shape=sizes
        )
    bits = drawn("bernoulli", generator, random_bits, sizes, uint32)
    return rounded(_below(bits, wide), as_dtype(dtype, "bernoulli"))


def _coins(p: float, shape: Any, dtype: DType, generator: Generator | None) -> Tensor:
    if not 0 <= p <= 1:
        raise value_error("bernoulli", "p must be in [0, 1]", p=p)
    dtype = as_dtype(dtype, "bernoulli")
    direct = dtype if dtype in (bool_, float32) else bool_
    threshold = ceil(p * 2**32)
    sizes = target("bernoulli", shape)
    array = drawn("bernoulli", generator, random_bernoulli, sizes, direct, threshold)
    return rounded(array, dtype)


@door.through_door
@door.exact_formula
def _below(xp: Any, bits: Any, chances: Any) -> Any:
    return xp.astype(bits, xp.float64) < chances * 2.0**32
