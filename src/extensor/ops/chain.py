"""The steps that almost every rule takes: multiply by a derivative, divide by a denominator.

In both a gradient of zero stays zero even where the derivative is infinite or NaN, so a branch that
``where`` did not take cannot poison the one it took.
"""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import broadcast, same
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.broadcasting import summed_to


@op(kernel="chain_rule", shape=broadcast, floats=True)
def chain_rule(xp: Any, gradient: Array, derivative: Array) -> Any:
    """``gradient * derivative``, and exactly 0 where ``gradient`` is 0.

    Derivative: as for ``multiply``.

    Parameters
    ----------
    gradient
        The gradient that comes in.
    derivative
        The derivative to multiply it by.

    Returns
    -------
    Tensor
        The product, in the shape to which both broadcast.

    Notes
    -----
    Rules multiply with it, so that a gradient of zero stays zero even where a derivative is
    infinite or NaN.

    >>> import extensor as ex
    >>> ex.chain_rule([0.0, 2.0], [float("inf"), 3.0])
    tensor([0., 6.])
    >>> ex.chain_rule_backward([1.0, 1.0], [0.0, 2.0], [5.0, 3.0]).grad_gradient
    tensor([5., 3.])
    """
    zero = xp.zeros((), dtype=gradient.dtype)
    return xp.where(gradient == 0, zero, gradient * derivative)


@chain_rule.backward(kernel="multiply_backward", unfolds=True)
def chain_rule_backward(
    grad_output: Tensor, gradient: Tensor, derivative: Tensor
) -> tuple[Any, Any]:
    """``grad_output * derivative`` and ``grad_output * gradient``, summed to the inputs' shapes."""
    return (
        lambda: summed_to(chain_rule(grad_output, derivative), gradient.shape),
        lambda: summed_to(chain_rule(grad_output, gradient), derivative.shape),
    )


@op(kernel="chain_divide", shape=broadcast, floats=True)
def chain_divide(xp: Any, gradient: Array, denominator: Array) -> Any:
    """``gradient / denominator``, and exactly 0 where ``gradient`` is 0.

    Derivative: as for ``divide``.

    Parameters
    ----------
    gradient
        The gradient that comes in.
    denominator
        The number to divide it by.

    Returns
    -------
    Tensor
        The quotient, in the shape to which both broadcast.

    >>> import extensor as ex
    >>> ex.chain_divide([0.0, 6.0], [0.0, 3.0])
    tensor([0., 2.])
    >>> ex.chain_divide_backward([1.0], [6.0], [3.0]).grad_denominator
    tensor([-0.6666667])
    """
    zero = xp.zeros((), dtype=gradient.dtype)
    return xp.where(gradient == 0, zero, gradient / denominator)


@chain_divide.backward()
def chain_divide_backward(
    grad_output: Tensor, gradient: Tensor, denominator: Tensor
) -> tuple[Any, Any]:
    """``grad_output / denominator`` and ``-grad_output * gradient / denominator**2``."""
    quotient = chain_divide(grad_output, denominator)
    return (
        lambda: summed_to(quotient, gradient.shape),
        lambda: summed_to(-chain_rule(quotient, gradient / denominator), denominator.shape),
    )


@op(kernel="lift", shape=same, floats=True)
def lift(xp: Any, x: Array, least: float) -> Any:
    """``x``, with a magnitude below ``least`` raised to ``least`` (sign kept).

    Derivative: ``grad_output``, 0 where ``x`` was raised.

    Parameters
    ----------
    least
        The least magnitude. 0 changes nothing.

    >>> import extensor as ex
    >>> ex.lift([0.0, -0.1, 2.0], 0.5)
    tensor([ 0.5, -0.5,  2. ])
    >>> ex.lift([-1e-12, 0.5], 1e-3)
    tensor([-0.001,  0.5  ])
    >>> ex.lift_backward([1.0, 1.0], [-1e-12, 0.5], 1e-3)
    tensor([0., 1.])
    """
    least = xp.asarray(least, dtype=x.dtype)
    return xp.where(xp.abs(x) < least, xp.copysign(least, x), x)


@lift.backward()
def lift_backward(grad_output: Tensor, x: Tensor, least: float) -> Tensor:
    """``grad_output`` where ``x`` was not raised, else 0."""
    return chain_rule(grad_output, (abs(x) >= least).astype(x.dtype))


def over(gradient: Tensor, denominator: Tensor, eps: float) -> Tensor:
    """``gradient / denominator`` with the denominator lifted to ``eps``; plain IEEE where eps is 0."""
    if eps == 0:
        return gradient / denominator
    return chain_divide(gradient, lift(denominator, eps))


def times(gradient: Tensor, derivative: Tensor, eps: float) -> Tensor:
    """``gradient * derivative``, zeros kept; plain IEEE where eps is 0."""
    return gradient * derivative if eps == 0 else chain_rule(gradient, derivative)
