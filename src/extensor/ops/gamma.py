"""The logarithm of the gamma function and its derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays import gamma_function
from extensor.arrays.shapes import Shape, Shapes, same
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.chain import chain_rule

_MOST = 150  # the factorial of the next order is still a float64


@op(shape=same, floats=True)
def lgamma(xp: Any, x: Array) -> Any:
    """The logarithm of the magnitude of the gamma function; inf at 0, -1, -2, ...

    Derivative: ``digamma(x)``.

    >>> import extensor as ex
    >>> ex.lgamma([1.0, 5.0, 0.5, -1.0])
    tensor([0.       , 3.1780539, 0.5723649,       inf])
    >>> ex.lgamma_backward([1.0], [2.0])
    tensor([0.42278433])
    """
    return gamma_function.lgamma(xp, in_c_order(x))


@lgamma.backward()
def lgamma_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * digamma(x)``."""
    return chain_rule(grad_output, digamma(x))


@op(shape=same, floats=True)
def digamma(xp: Any, x: Array) -> Any:
    """The derivative of ``lgamma``; -inf at 0, NaN at -1, -2, ...

    Derivative: ``polygamma(x, 1)``.

    >>> import extensor as ex
    >>> ex.digamma([1.0, 2.0])
    tensor([-0.5772157 ,  0.42278433])
    >>> ex.digamma_backward([1.0], [1.0])
    tensor([1.644934])
    """
    return gamma_function.digamma(xp, in_c_order(x))


@digamma.backward()
def digamma_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * polygamma(x, 1)``."""
    return chain_rule(grad_output, polygamma(x, 1))


def _order(name: str, shapes: Shapes, n: Any) -> Shape:
    if isinstance(n, bool) or not isinstance(n, int | np.integer):
        raise type_error(name, "n must be an int", n=n)
    if not 0 <= n <= _MOST:
        raise value_error(name, f"n must be in [0, {_MOST}]", n=n)
    return same(name, shapes)


@op(shape=_order, floats=True)
def polygamma(xp: Any, x: Array, n: int) -> Any:
    """The ``n``-th derivative of ``digamma``.

    At 0, -1, -2, ... it is inf for odd ``n`` and NaN for even ones. Derivative:
    ``polygamma(x, n + 1)``.

    Parameters
    ----------
    n
        The order, from 0 to 150.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``n`` is out of range.

    >>> import extensor as ex
    >>> ex.polygamma([1.0, 2.0], 1)
    tensor([1.644934 , 0.6449341])
    >>> ex.polygamma_backward([1.0], [1.0], 0)
    tensor([1.644934])
    """
    return gamma_function.polygamma(xp, in_c_order(x), int(n))


@polygamma.backward()
def polygamma_backward(grad_output: Tensor, x: Tensor, n: int) -> Tensor:
    """``grad_output * polygamma(x, n + 1)``."""
    if n == _MOST:
        raise value_error("polygamma_backward", f"n must be below {_MOST}", n=n)
    return chain_rule(grad_output, polygamma(x, int(n) + 1))
