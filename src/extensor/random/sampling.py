"""Elements in a random order, and some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor.arrays.dtypes import float64, is_floating, uint64
from extensor.arrays.shapes import check_shape, count, target
from extensor.arrays.supplement import argsort
from extensor.core import door
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import value_error
from extensor.errors.explanation import explaining
from extensor.random.continuous import interval_of
from extensor.random.discrete import randint
from extensor.random.generator import Generator, drawn
from extensor.random.philox import LIMIT, random_integers, random_uniform

if TYPE_CHECKING:
    from extensor.typing import TensorLike


@explaining
def permutation(x: TensorLike, generator: Generator | None = None) -> Tensor:
    """The ints below ``x`` in a random order, or an array's elements along its first axis.

    Parameters
    ----------
    x : int or tensor_like
        A number of ints, or an array whose first axis is reordered.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The ints or elements in a random order.

    Examples
    --------
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

    Parameters
    ----------
    a : int or tensor_like
        A number of ints, or an array whose elements along the first axis are drawn.
    shape : int or sequence of ints
        The shape.
    replace : bool, default True
        Whether an element can be drawn twice.
    p : tensor_like, optional
        The probability of each element, by default all equal. They must sum to 1.
    generator : Generator, optional
        The source, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        The elements drawn, in ``shape``.

    Raises
    ------
    ValueError
        If ``p`` does not fit, or without ``replace`` there are too few elements.

    Examples
    --------
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
        interval = interval_of("choice", 0.0, 1.0, float64)
        fractions = drawn("choice", generator, random_uniform, needed, float64, *interval)
        select = _with_replacement if replace else _without_replacement
        found = select(chances, fractions)[:number]
    elif not replace:
        found = _order("choice", size, generator)[:number]
    else:
        found = randint(0, max(size, 1), number, generator=generator)._array
    indices = wrap(found.reshape(sizes))
    return indices if values is None else values[indices]


@door.exact_formula
def _sorted(xp: Any, keys: Any, axis: int, descending: bool) -> Any:
    return argsort(xp, keys, axis, descending)


_argsort = door.computation("argsort", "argsort", _sorted)


@door.through_door
@door.exact_formula
def _with_replacement(xp: Any, chances: Any, fractions: Any) -> Any:
    # The sums end in exactly 1, so no fraction lies beyond them, nor any on a chance of 0.
    sums = xp.cumsum(chances)
    return xp.searchsorted(sums / sums[-1:], fractions, side="right")


@door.through_door
@door.exact_formula
def _without_replacement(xp: Any, chances: Any, fractions: Any) -> Any:
    # Exponential waiting times: the first to come is each in proportion to its chance, and so on.
    with np.errstate(divide="ignore"):
        waits = xp.where(chances > 0, -xp.log1p(-fractions) / chances, xp.inf)
    return xp.argsort(waits, stable=True)


def _order(op: str, size: int, generator: Generator | None) -> Any:
    """A random order of ``size`` things: that of random keys of 64 bits, one for each."""
    attributes = (size,), uint64, 0, LIMIT - 1
    return drawn(op, generator, random_integers, *attributes, then=lambda x: _argsort(x, -1, False))


def _chances(p: Any, size: int) -> Any:
    given = to_array(p, op="choice")
    chances = np.asarray(given, float64)
    check_shape("choice", "p", chances.shape, (size,))
    if not (chances >= 0).all():
        raise value_error("choice", "p must not be negative", p=p)
    error = abs(float(chances.sum()) - 1)
    spacing = np.spacing(np.ones((), given.dtype)) if is_floating(given.dtype) else 0
    if not error <= float(spacing) ** 0.5:
        raise value_error("choice", "p must sum to 1", sum=float(chances.sum()))
    return chances


def _as_tensor(op: str, x: Any) -> Tensor:
    return x if isinstance(x, Tensor) else wrap(to_array(x, op=op))
