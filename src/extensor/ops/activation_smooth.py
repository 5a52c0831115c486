"""Activations that bend smoothly: the exponential units, softplus and the gated ones."""

from __future__ import annotations

from typing import Any

from extensor.arrays import supplement
from extensor.arrays.shapes import Shape, Shapes, axis_index, same
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.activation import sigmoid, tanh
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.exponential import exp
from extensor.ops.joining import concatenate, split
from extensor.ops.rounding import to_zero
from extensor.ops.selection import where

# Klambauer et al. 2017: with these two, mean 0 and variance 1 are a fixed point of the network.
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def _exponential_unit(xp: Any, x: Any, alpha: float) -> Any:
    return xp.where(x > 0, x, alpha * xp.expm1(x))


def _exponential_slope(x: Tensor, alpha: float) -> Tensor:
    return where(x > 0, 1.0, alpha * exp(x))


@op(kernel="elu", shape=same, floats=True, kinks=to_zero)
def elu(xp: Any, x: Array, alpha: float = 1.0) -> Any:
    """The exponential linear unit: ``x`` where it is positive, else ``alpha * (exp(x) - 1)``.

    Derivative: 1 or ``alpha * exp(x)``, ``alpha`` at 0.

    Parameters
    ----------
    alpha
        Minus the value that is approached at -inf.

    >>> import extensor as ex
    >>> ex.elu_backward([1.0, 1.0], [0.0, 2.0], alpha=0.5)
    tensor([0.5, 1. ])
    >>> ex.elu([-1.0, 2.0])
    tensor([-0.63212055,  2.        ])
    """
    return _exponential_unit(xp, x, alpha)


@elu.backward(kernel="elu_backward")
def elu_backward(grad_output: Tensor, x: Tensor, alpha: float = 1.0) -> Tensor:
    """``grad_output`` times 1 or ``alpha * exp(x)``."""
    return chain_rule(grad_output, _exponential_slope(x, alpha))


@op(kernel="selu", shape=same, floats=True, kinks=to_zero)
def selu(xp: Any, x: Array) -> Any:
    """The scaled `elu`: ``scale * elu(x, alpha)`` with ``scale`` 1.0507 and ``alpha`` 1.6733.

    Derivative: ``scale`` or ``scale * alpha * exp(x)``, the latter at 0.

    >>> import extensor as ex
    >>> ex.selu([0.0, 1.0])
    tensor([0.      , 1.050701])
    >>> ex.selu([-1.0, 1.0])
    tensor([-1.1113307,  1.050701 ])
    >>> ex.selu_backward([1.0], [1.0])
    tensor([1.050701])
    """
    return SELU_SCALE * _exponential_unit(xp, x, SELU_ALPHA)


@selu.backward(kernel="selu_backward")
def selu_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * scale`` times 1 or ``alpha * exp(x)``."""
    return chain_rule(grad_output, SELU_SCALE * _exponential_slope(x, SELU_ALPHA))


def _softplus(name: str, shapes: Shapes, beta: float) -> Shape:
    if not beta > 0:
        raise value_error(name, "beta must be above 0", beta=beta)
    return same(name, shapes)


@op(kernel="softplus", shape=_softplus, floats=True)
def softplus(xp: Any, x: Array, beta: float = 1.0) -> Any:
    """A smooth rectifier, ``log(1 + exp(beta * x)) / beta``.

    It does not overflow, so it needs no threshold.

    Derivative: ``sigmoid(beta * x)``.

    Parameters
    ----------
    beta
        The sharpness of the bend at 0.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.softplus([-1000.0, 0.0, 1000.0])
    tensor([0.000000e+00, 6.931472e-01, 1.000000e+03])
    >>> ex.softplus_backward([1.0, 1.0, 1.0], [-1000.0, 0.0, 1000.0])
    tensor([0. , 0.5, 1. ])
    """
    return xp.logaddexp(beta * x, xp.zeros((), dtype=x.dtype)) / beta


@softplus.backward(kernel="softplus_backward", unfolds=True)
def softplus_backward(grad_output: Tensor, x: Tensor, beta: float = 1.0) -> Tensor:
    """``grad_output * sigmoid(beta * x)``."""
    return chain_rule(grad_output, sigmoid(beta * x))


@op(shape=same, floats=True)
def log_sigmoid(xp: Any, x: Array) -> Any:
    """``log(sigmoid(x))``, without overflow. Derivative: ``sigmoid(-x)``.

    >>> import extensor as ex
    >>> ex.log_sigmoid([-1000.0, 0.0, 1000.0])
    tensor([-1.000000e+03, -6.931472e-01,  0.000000e+00])
    >>> ex.log_sigmoid_backward([1.0, 1.0], [-1000.0, 0.0])
    tensor([1. , 0.5])
    """
    x = supplement.in_c_order(x)
    return xp.minimum(x, xp.zeros((), dtype=x.dtype)) - xp.log1p(xp.exp(-xp.abs(x)))


@log_sigmoid.backward()
def log_sigmoid_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * sigmoid(-x)``."""
    return chain_rule(grad_output, sigmoid(-x))


def _celu(name: str, shapes: Shapes, alpha: float) -> Shape:
    if alpha == 0:
        raise value_error(name, "alpha must not be 0", alpha=alpha)
    return same(name, shapes)


@op(shape=_celu, floats=True)
def celu(xp: Any, x: Array, alpha: float = 1.0) -> Any:
    """The continuously differentiable `elu`: ``alpha * (exp(x / alpha) - 1)`` where ``x`` is negative.

    Elsewhere it is ``x``. Derivative: 1 or ``exp(x / alpha)``.

    Parameters
    ----------
    alpha
        Minus the value that is approached at -inf.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``alpha`` is 0.

    >>> import extensor as ex
    >>> ex.celu([-1.0, 2.0], alpha=0.5)
    tensor([-0.43233237,  2.        ])
    >>> ex.celu_backward([1.0, 1.0], [0.0, 2.0])
    tensor([1., 1.])
    """
    x = supplement.in_c_order(x)
    return xp.where(x > 0, x, alpha * xp.expm1(x / alpha))


@celu.backward()
def celu_backward(grad_output: Tensor, x: Tensor, alpha: float = 1.0) -> Tensor:
    """``grad_output`` times 1 or ``exp(x / alpha)``."""
    return chain_rule(grad_output, where(x > 0, 1.0, exp(x / alpha)))


@op(kernel="softsign", shape=same, floats=True)
def softsign(xp: Any, x: Array) -> Any:
    """``x / (1 + |x|)``, which is -1 and 1 at the infinities. Derivative: ``1 / (1 + |x|)**2``.

    >>> import extensor as ex
    >>> ex.softsign([-1.0, 0.0, 3.0])
    tensor([-0.5 ,  0.  ,  0.75])
    >>> ex.softsign_backward([1.0], [1.0])
    tensor([0.25])
    """
    return xp.where(xp.isinf(x), xp.sign(x), x / (1 + xp.abs(x)))


@softsign.backward(kernel="softsign_backward")
def softsign_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / (1 + |x|)**2``."""
    size = 1 + abs(x)
    return chain_divide(chain_divide(grad_output, size), size)


@op(kernel="silu", shape=same, floats=True)
def silu(xp: Any, x: Array) -> Any:
    """The sigmoid linear unit ``x * sigmoid(x)``, also called swish; 0 at -inf.

    Derivative: ``sigmoid(x) * (1 + x * sigmoid(-x))``.

    >>> import extensor as ex
    >>> ex.silu([-1.0, 0.0, 1.0])
    tensor([-0.26894143,  0.        ,  0.7310586 ])
    >>> ex.silu_backward([1.0, 1.0], [0.0, 100.0])
    tensor([0.5, 1. ])
    """
    return supplement.gated(xp, supplement.sigmoid(xp, x), x)


@silu.backward(kernel="silu_backward")
def silu_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * sigmoid(x) * (1 + x * sigmoid(-x))``."""
    growth = 1 + chain_rule(sigmoid(-x), x)
    return chain_rule(grad_output, chain_rule(sigmoid(x), growth))


@op(kernel="mish", shape=same, floats=True)
def mish(xp: Any, x: Array) -> Any:
    """``x * tanh(softplus(x))``; 0 at -inf.

    Derivative: ``gate + x * (1 - gate**2) * sigmoid(x)`` with ``gate`` the tanh.

    >>> import extensor as ex
    >>> ex.mish([0.0, 1000.0])
    tensor([   0., 1000.])
    >>> ex.mish([-1.0, 0.0, 1.0])
    tensor([-0.30340147,  0.        ,  0.8650984 ])
    >>> ex.mish_backward([1.0], [0.0])
    tensor([0.6])
    """
    gate = xp.tanh(xp.logaddexp(x, xp.zeros((), dtype=x.dtype)))
    return supplement.gated(xp, gate, x)


@mish.backward(kernel="mish_backward")
def mish_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * (gate + x * (1 - gate**2) * sigmoid(x))``."""
    gate = tanh(softplus(x))
    slope = (1 - gate) * (1 + gate) * sigmoid(x)
    return chain_rule(grad_output, gate + chain_rule(slope, x))


def _glu_shape(name: str, shapes: Shapes, axis: int) -> Shape:
    shape = same(name, shapes)
    index = axis_index(name, axis, len(shape))
    if shape[index] % 2:
        raise value_error(name, "the size of axis must be even", axis=axis, x_shape=shape)
    return (*shape[:index], shape[index] // 2, *shape[index + 1 :])


@op(kernel="glu", shape=_glu_shape, floats=True)
def glu(xp: Any, x: Array, axis: int = -1) -> Any:
    """The gated linear unit ``a * sigmoid(b)``, for the two halves ``a`` and ``b`` of ``x``.

    Derivative: ``sigmoid(b)`` and ``a * sigmoid(b) * sigmoid(-b)``, joined again.

    Parameters
    ----------
    axis
        The axis to halve. Its size must be even.

    Returns
    -------
    Tensor
        The result, in the shape of ``x`` with ``axis`` halved.

    Raises
    ------
    ValueError
        If the size of ``axis`` is odd or ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.glu([3.0, 5.0, 0.0, 1000.0])
    tensor([1.5, 5. ])
    >>> ex.glu([1.0, 2.0, 0.0, 0.0])
    tensor([0.5, 1. ])
    >>> ex.glu_backward([1.0], [3.0, 0.0])
    tensor([0.5 , 0.75])
    """
    front = (slice(None),) * axis_index("glu", axis, x.ndim)
    half = x.shape[axis] // 2
    return supplement.gated(
        xp, supplement.sigmoid(xp, x[(*front, slice(half, None))]), x[(*front, slice(None, half))]
    )


@glu.backward(kernel="glu_backward")
def glu_backward(grad_output: Tensor, x: Tensor, axis: int = -1) -> Tensor:
    """``grad_output`` times ``sigmoid(b)`` and ``a * sigmoid(b) * sigmoid(-b)``, joined again."""
    a, b = split(x, 2, axis)
    gate = sigmoid(b)
    slope = chain_rule(gate * sigmoid(-b), a)
    return concatenate([chain_rule(grad_output, gate), chain_rule(grad_output, slope)], axis)
