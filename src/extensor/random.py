"""Random numbers from a counter: each is a function of the seed and its place, and of nothing else.

Philox4x32-10 turns a seed of 64 bits and the number of a block into four words of 32 bits. A call
takes the next blocks of its generator, as many as its elements need. So the state is two ints, any
call can be repeated from it, and the threads that fill an array need not agree on anything.
Uniforms and integers are the same on every machine; normals may differ in their last bits.

Functions draw from ``default_generator`` unless they are given another. It starts with seed 0 in
every process: two runs of a program are equal until :func:`manual_seed` is told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from math import ceil, isfinite
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
    is_half,
    uint32,
    uint64,
)
from extensor.arrays.shapes import Shape, count, target
from extensor.core import door
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import type_error, value_error
from extensor.errors.explanation import explaining
from extensor.generator import (
    Generator,
    default_generator,
    drawn,
    get_state,
    manual_seed,
    set_state,
)
from extensor.ops.casting import cast
from extensor.philox import (
    LIMIT,
    random_bernoulli,
    random_bits,
    random_integers,
    random_normal,
    random_uniform,
)

if TYPE_CHECKING:
    from extensor.typing import TensorLike

__all__ = [
    "Generator",
    "bernoulli",
    "choice",
    "default_generator",
    "get_state",
    "manual_seed",
    "normal",
    "permutation",
    "rand",
    "randint",
    "randn",
    "set_state",
    "uniform",
]


@explaining
def rand(
    *shape: int | Sequence[int],
    dtype: DType = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers in [0, 1), 1 never among them: ``rand(2, 3)`` or ``rand((2, 3))``.

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
    """
    low, high = _number("uniform", "low", low), _number("uniform", "high", high)
    return _as_leaf(_uniform("uniform", low, high, shape, dtype, generator), requires_grad)


def _uniform(
    op: str, low: float, high: float, shape: Any, dtype: DType, generator: Generator | None
) -> Tensor:
    dtype = _floating(op, dtype)
    interval = _interval(op, low, high, dtype)
    wide = float32 if is_half(dtype) else dtype
    array = drawn(op, generator, random_uniform, target(op, shape), wide, *interval)
    return _tensor(array, dtype)


@lru_cache(maxsize=256)
def _interval(op: str, low: float, high: float, dtype: np.dtype[Any]) -> tuple[float, float, float]:
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
    """Normal numbers. For tensors write ``mean + std * randn(shape)``, which has gradients."""
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
    return _tensor(array, dtype)


@explaining
def randint(
    low: int,
    high: int,
    shape: int | Sequence[int] = (),
    dtype: DType = int64,
    generator: Generator | None = None,
) -> Tensor:
    """Integers from ``low`` up to, not including, ``high``, all exactly equally likely."""
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

    ``p`` is a number, or an array that broadcasts to ``shape`` and without one gives its own.

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
    if not _broadcasts(chances.shape, sizes):
        raise value_error(
            "bernoulli", "p must broadcast to shape", p_shape=chances.shape, shape=sizes
        )
    bits = drawn("bernoulli", generator, random_bits, sizes, uint32)
    return _tensor(door.run(_below, [bits, wide], []), as_dtype(dtype, "bernoulli"))


def _coins(p: float, shape: Any, dtype: DType, generator: Generator | None) -> Tensor:
    if not 0 <= p <= 1:
        raise value_error("bernoulli", "p must be in [0, 1]", p=p)
    dtype = as_dtype(dtype, "bernoulli")
    direct = dtype if dtype in (bool_, float32) else bool_
    threshold = ceil(p * 2**32)
    sizes = target("bernoulli", shape)
    array = drawn("bernoulli", generator, random_bernoulli, sizes, direct, threshold)
    return _tensor(array, dtype)


@explaining
def permutation(x: TensorLike, generator: Generator | None = None) -> Tensor:
    """The ints below ``x`` in a random order, or an array's elements along its first axis.

    >>> from extensor.random import Generator, permutation
    >>> permutation(5, generator=Generator(0))
    tensor([3, 4, 2, 1, 0])
    """
    if isinstance(x, int | np.integer):
        return wrap(_order("permutation", target("permutation", x, "x")[0], generator))
    values = _as_tensor("permutation", x)
    if values.ndim == 0:
        raise value_error("permutation", "x must be an int or have an axis", x_shape=())
    return values[wrap(_order("permutation", values.shape[0], generator))]


@explaining
def choice(
    a: TensorLike,
    shape: int | Sequence[int] = (),
    replace: bool = True,
    p: TensorLike | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Elements of ``a`` along its first axis, or ints below ``a``, drawn with probabilities ``p``.

    Without ``replace`` none is drawn twice; then ``p`` are the chances among those that are left.

    >>> from extensor.random import choice
    >>> choice([10, 20, 30], 4, p=[0.0, 1.0, 0.0])
    tensor([20, 20, 20, 20])
    """
    values = None if isinstance(a, int | np.integer) else _as_tensor("choice", a)
    if values is not None and values.ndim == 0:
        raise value_error("choice", "a must be an int or have an axis", a_shape=())
    size = target("choice", a, "a")[0] if values is None else values.shape[0]
    sizes = target("choice", shape)
    number = count(sizes)
    chances = None if p is None else _chances(p, size)
    possible = size if chances is None else int(np.count_nonzero(chances))
    if number > (possible if not replace else number * possible):
        raise value_error(
            "choice", f"{number} elements must be possible", possible=possible, replace=replace
        )
    if chances is not None:
        needed = (number if replace else size,)
        interval = _interval("choice", 0.0, 1.0, float64)
        fractions = drawn("choice", generator, random_uniform, needed, float64, *interval)
        select = _with_replacement if replace else _without_replacement
        found = door.run(select, [chances, fractions], [])[:number]
    elif not replace:
        found = _order("choice", size, generator)[:number]
    else:
        found = randint(0, max(size, 1), number, generator=generator)._array
    indices = wrap(found.reshape(sizes))
    return indices if values is None else values[indices]


@door.exact_formula
def _below(xp: Any, bits: Any, chances: Any) -> Any:
    return xp.astype(bits, xp.float64) < chances * 2.0**32


@door.exact_formula
def _sorted(xp: Any, keys: Any) -> Any:
    return xp.argsort(keys, stable=True)


@door.exact_formula
def _with_replacement(xp: Any, chances: Any, fractions: Any) -> Any:
    # The sums end in exactly 1, so no fraction lies beyond them, nor any on a chance of 0.
    sums = xp.cumsum(chances)
    return xp.searchsorted(sums / sums[-1:], fractions, side="right")


@door.exact_formula
def _without_replacement(xp: Any, chances: Any, fractions: Any) -> Any:
    # Exponential waiting times: the first to come is each in proportion to its chance, and so on.
    with np.errstate(divide="ignore"):
        waits = xp.where(chances > 0, -xp.log1p(-fractions) / chances, xp.inf)
    return xp.argsort(waits, stable=True)


def _order(op: str, size: int, generator: Generator | None) -> Any:
    """A random order of ``size`` things: that of random keys of 64 bits, one for each."""
    keys = drawn(op, generator, random_integers, (size,), uint64, 0, LIMIT - 1)
    return door.run(_sorted, [keys], [])


def _chances(p: Any, size: int) -> Any:
    given = to_array(p, op="choice")
    chances = np.asarray(given, float64)
    if chances.shape != (size,):
        raise value_error("choice", f"p must have shape ({size},)", p_shape=chances.shape)
    if not (chances >= 0).all():
        raise value_error("choice", "p must not be negative", p=p)
    error = abs(float(chances.sum()) - 1)
    spacing = np.spacing(np.ones((), given.dtype)) if is_floating(given.dtype) else 0
    if not error <= float(spacing) ** 0.5:
        raise value_error("choice", "p must sum to 1", sum=float(chances.sum()))
    return chances


def _tensor(array: Any, dtype: DType) -> Tensor:
    made: Tensor = wrap(array)
    return made if array.dtype == dtype else cast(made, dtype)


def _as_tensor(op: str, x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else wrap(to_array(x, op=op))


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


def _broadcasts(shape: Shape, to: Shape) -> bool:
    return len(shape) <= len(to) and all(
        size in (1, wanted) for size, wanted in zip(shape[::-1], to[::-1], strict=False)
    )
