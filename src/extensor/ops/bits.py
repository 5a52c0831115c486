"""Integers and booleans bit by bit, without a gradient: the operators ``&``, ``|``, ``^``, ``~``."""

from __future__ import annotations

from typing import Any

from extensor.arrays.dtypes import is_floating
from extensor.arrays.shapes import broadcast, same
from extensor.core.op import Array, op
from extensor.errors import type_error


def _check_bits(name: str, *arrays: Any) -> None:
    dtype = arrays[0].dtype
    if is_floating(dtype):
        raise type_error(name, "inputs must be booleans or integers", dtype=str(dtype))


@op(shape=broadcast, check=_check_bits, differentiable=False, widen=False)
def bitwise_and(xp: Any, a: Array, b: Array) -> Any:
    """The bits that both have; of booleans, whether both are true.

    Parameters
    ----------
    a, b
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    TypeError
        If an operand is floating.

    >>> import extensor as ex
    >>> ex.bitwise_and([12, 10], 6)
    tensor([4, 2])
    """
    return xp.bitwise_and(a, b)


@op(shape=broadcast, check=_check_bits, differentiable=False, widen=False)
def bitwise_or(xp: Any, a: Array, b: Array) -> Any:
    """The bits that either has; of booleans, whether either is true.

    Parameters
    ----------
    a, b
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    TypeError
        If an operand is floating.

    >>> import extensor as ex
    >>> ex.bitwise_or([12, 10], 6)
    tensor([14, 14])
    """
    return xp.bitwise_or(a, b)


@op(shape=broadcast, check=_check_bits, differentiable=False, widen=False)
def bitwise_xor(xp: Any, a: Array, b: Array) -> Any:
    """The bits that exactly one has; of booleans, whether exactly one is true.

    Parameters
    ----------
    a, b
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape to which ``a`` and ``b`` broadcast.

    Raises
    ------
    TypeError
        If an operand is floating.

    >>> import extensor as ex
    >>> ex.bitwise_xor([12, 10], 6)
    tensor([10, 12])
    """
    return xp.bitwise_xor(a, b)


@op(shape=same, check=_check_bits, differentiable=False, widen=False)
def bitwise_not(xp: Any, x: Array) -> Any:
    """The complement of every bit; of booleans, whether it is false.

    Parameters
    ----------
    x
        Integers or booleans.

    Returns
    -------
    Tensor
        The bits, in the shape of ``x``.

    Raises
    ------
    TypeError
        If ``x`` is floating.

    >>> import extensor as ex
    >>> ex.bitwise_not([0, 5])
    tensor([-1, -6])
    >>> ~ex.tensor([True, False])
    tensor([False,  True])
    """
    return xp.bitwise_invert(x)
