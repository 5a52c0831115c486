"""Numbers from an interval, and normal ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from extensor.arrays.dtypes import DType, as_dtype, float32, get_default_dtype, is_floating, is_half
from extensor.arrays.shapes import target
from extensor.core.tensor import Tensor, wrap
from extensor.errors import type_error, value_error
from extensor.errors.explanation import explaining
from extensor.random.generator import Generator, drawn
from extensor.random.philox import random_normal, random_uniform


@explaining
def rand(
    *shape: int | Sequence[int],
    dtype: DType = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers in [0, 1), 1 never among them: ``rand(2, 3)`` or ``rand((2, 3))``.

    Parameters
    ----------
    *shape : int or sequence of ints
        The shape, as several ints or as one sequence.
    dtype : dtype_like, optional
        A floating dtype, by default the default dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The numbers, in ``shape``.

    Examples
    --------
    >>> from extensor.random import Generator, rand
    >>> rand(2, 2, generator=Generator(0))
    tensor([[0.39904642, 0.88052016],
            [0.73571277, 0.6054818 ]])
    """
    made = _uniform("rand", 0.0, 1.0, _sizes(shape), dtype, generator)
    return _as_leaf(made, requires_grad)


@explaining
def uniform(
    low: float = 0.0,
    high: float = 1.0,
    shape: int | Sequence[int] = (),
    dtype: DType = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers from ``low``, rounded to the dtype, up to, not including, ``high``.

    All are ``low`` where the two are equal. The 16-bit floats are rounded from float32.

    Parameters
    ----------
    low, high : float
        The interval. ``high`` is not included.
    shape : int or sequence of ints
        The shape.
    dtype : dtype_like, optional
        A floating dtype, by default the default dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The numbers, in ``shape``.

    Raises
    ------
    ValueError
        If ``low`` is above ``high`` or a bound is not finite.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.random.uniform(2.0, 3.0, 2, generator=ex.random.Generator(0))
    tensor([2.3990464, 2.88052  ])
    """
    low, high = _number("uniform", "low", low), _number("uniform", "high", high)
    return _as_leaf(_uniform("uniform", low, high, shape, dtype, generator), requires_grad)


def _uniform(
    op: str, low: float, high: float, shape: Any, dtype: DType, generator: Generator | None
) -> Tensor:
    dtype = _floating(op, dtype)
    interval = interval_of(op, low, high, dtype)
    wide = float32 if is_half(dtype) else dtype
    array = drawn(op, generator, random_uniform, target(op, shape), wide, *interval)
    return rounded(array, dtype)


@lru_cache(maxsize=256)
def interval_of(
    op: str, low: float, high: float, dtype: np.dtype[Any]
) -> tuple[float, float, float]:
    """``low``, the length, and the last number of ``dtype`` below ``high``."""
    if low > high:
        raise value_error(op, "low must not be above high", low=low, high=high)
    wide = float32 if is_half(dtype) else dtype
    if not (_fits(low, dtype) and _fits(high, dtype) and _fits(high - low, wide)):
        raise value_error(op, f"the interval must be finite in {dtype}", low=low, high=high)
    last = np.asarray(high).astype(dtype)
    if low < high and float(last) >= high:
        last = np.nextafter(last, np.asarray(-np.inf).astype(dtype))
        if float(last) < low:
            raise value_error(op, f"a {dtype} must lie in the interval", low=low, high=high)
    return low, high - low, float(last)


@explaining
def randn(
    *shape: int | Sequence[int],
    dtype: DType = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers of mean 0 and standard deviation 1: ``randn(2, 3)`` or ``randn((2, 3))``.

    Parameters
    ----------
    *shape : int or sequence of ints
        The shape, as several ints or as one sequence.
    dtype : dtype_like, optional
        A floating dtype, by default the default dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The numbers, in ``shape``.

    Examples
    --------
    >>> from extensor.random import Generator, randn
    >>> randn(4, generator=Generator(0)).numpy().round(3)
    array([ 0.991, -0.925, -0.618, -0.482], dtype=float32)
    """
    made = _normal("randn", 0.0, 1.0, _sizes(shape), dtype, generator)
    return _as_leaf(made, requires_grad)


@explaining
def normal(
    mean: float = 0.0,
    std: float = 1.0,
    shape: int | Sequence[int] = (),
    dtype: DType = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers. For tensors write ``mean + std * randn(shape)``, which has gradients.

    Parameters
    ----------
    mean, std : float
        The mean and the standard deviation.
    shape : int or sequence of ints
        The shape.
    dtype : dtype_like, optional
        A floating dtype, by default the default dtype.
    requires_grad : bool, default False
        Whether to record what is computed from the tensor.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The numbers, in ``shape``.

    Raises
    ------
    ValueError
        If ``std`` is negative or a number is not finite.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.random.normal(10.0, 0.0, 2)
    tensor([10., 10.])
    """
    mean, std = _number("normal", "mean", mean), _number("normal", "std", std)
    if std < 0:
        raise value_error("normal", "std must be 0 or more", std=std)
    return _as_leaf(_normal("normal", mean, std, shape, dtype, generator), requires_grad)


def _normal(
    op: str, mean: float, std: float, shape: Any, dtype: DType, generator: Generator | None
) -> Tensor:
    dtype = _floating(op, dtype)
    if not (_fits(mean, dtype) and _fits(std, dtype)):
        raise value_error(op, f"mean and std must be finite in {dtype}", mean=mean, std=std)
    wide = float32 if is_half(dtype) else dtype
    array = drawn(op, generator, random_normal, target(op, shape), wide, mean, std)
    return rounded(array, dtype)


def rounded(array: Any, dtype: np.dtype[Any]) -> Tensor:
    """A tensor of ``dtype``: what was drawn in a wider one is rounded."""
    made: Tensor = wrap(array)
    return made if array.dtype == dtype else made.astype(dtype)


def _as_leaf(made: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad is not False:
        made.requires_grad = requires_grad
    return made


def _sizes(shape: tuple[Any, ...]) -> Any:
    return shape[0] if len(shape) == 1 else shape


def _floating(op: str, dtype: DType) -> np.dtype[Any]:
    resolved = get_default_dtype() if dtype is None else as_dtype(dtype, op)
    if not is_floating(resolved):
        raise type_error(op, "dtype must be floating", dtype=str(resolved))
    return resolved


def _number(op: str, name: str, value: Any) -> float:
    try:
        number = float("x" if isinstance(value, str) else value)
    except (TypeError, ValueError):
        raise type_error(op, f"{name} must be a number", **{name: value}) from None
    if not isfinite(number):
        raise value_error(op, f"{name} must be finite", **{name: number})
    return number


@lru_cache(maxsize=256)
def _fits(number: float, dtype: DType) -> bool:
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.asarray(number).astype(dtype)))
