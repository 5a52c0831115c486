"""Activations: the rectifiers, the sigmoids, GELU and softmax."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from extensor.arrays import error_function, supplement
from extensor.arrays.shapes import Shape, Shapes, axis_or_none, count, same, same_along
from extensor.core.creation import zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp
from extensor.ops.rounding import to_zero
from extensor.ops.selection import where
from extensor.ops.special import normal_cdf, normal_pdf


@op(kernel="relu", shape=same, kinks=to_zero)
def relu(xp: Any, x: Array) -> Any:
    """The rectified linear unit, ``max(x, 0)``.

    Derivative: 1 where ``x`` is positive, else 0, also at 0.

    >>> import extensor as ex
    >>> ex.relu([-1.0, 0.0, 2.0])
    tensor([0., 0., 2.])
    >>> ex.relu_backward([1.0, 1.0, 1.0], [-1.0, 0.0, 2.0])
    tensor([0., 0., 1.])
    """
    return xp.maximum(x, xp.zeros((), dtype=x.dtype))


@relu.backward(kernel="relu_backward", unfolds=True)
def relu_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output`` where ``x`` is positive, else 0."""
    return where(x > 0, grad_output, zeros_like(grad_output))


@op(kernel="leaky_relu", shape=same, floats=True, kinks=to_zero)
def leaky_relu(xp: Any, x: Array, alpha: float = 0.01) -> Any:
    """The leaky rectifier: ``x`` where it is positive, else ``alpha * x``.

    Derivative: 1 or ``alpha``, ``alpha`` at 0.

    Parameters
    ----------
    alpha
        Slope for negative ``x``.

    >>> import extensor as ex
    >>> ex.leaky_relu([-1.0, 2.0], alpha=0.5)
    tensor([-0.5,  2. ])
    >>> ex.leaky_relu_backward([1.0, 1.0], [-1.0, 2.0], alpha=0.5)
    tensor([0.5, 1. ])
    """
    return xp.where(x > 0, x, alpha * x)


@leaky_relu.backward(kernel="leaky_relu_backward")
def leaky_relu_backward(grad_output: Tensor, x: Tensor, alpha: float = 0.01) -> Tensor:
    """``grad_output`` where ``x`` is positive, else ``alpha * grad_output``."""
    return where(x > 0, grad_output, alpha * grad_output)


def _prelu(name: str, shapes: Shapes) -> Shape:
    x, alpha = shapes["x"], shapes["alpha"]
    if len(alpha) > 1 or (count(alpha) != 1 and (len(x) < 2 or alpha[0] != x[1])):
        raise value_error(
            name,
            "alpha must be one number, or one for each channel on axis 1",
            alpha_shape=tuple(alpha),
            x_shape=tuple(x),
        )
    return tuple(x)


def _beside_channels(alpha_shape: Shape, ndim: int) -> Shape:
    """The shape in which alpha broadcasts along axis 1 of a tensor with ``ndim`` axes."""
    return () if count(alpha_shape) == 1 else (*alpha_shape, *(1,) * (ndim - 2))


@op(kernel="prelu", shape=_prelu, floats=True, kinks=to_zero)
def prelu(xp: Any, x: Array, alpha: Array) -> Any:
    """The leaky rectifier with learnt slopes: ``x`` where it is positive, else ``alpha * x``.

    Derivative in ``x``: 1 or ``alpha``, ``alpha`` at 0. In ``alpha``: ``min(x, 0)``.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input; of any shape if there is one slope.
    alpha : one number or (channels,)
        Slope for negative ``x``: one, or one for each channel, which are axis 1.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``alpha`` is neither one number nor one for each channel.

    >>> import extensor as ex
    >>> ex.prelu([[-2.0, 3.0]], [0.5, 0.25])
    tensor([[-1.,  3.]])
    >>> ex.prelu_backward([[1.0, 1.0]], [[-2.0, -3.0]], [0.5, 0.25])
    prelu_gradients(grad_x=tensor([[0.5 , 0.25]]), grad_alpha=tensor([-2., -3.]))
    """
    return xp.where(x > 0, x, xp.reshape(alpha, _beside_channels(alpha.shape, x.ndim)) * x)


@prelu.backward(kernel="prelu_backward")
def prelu_backward(grad_output: Tensor, x: Tensor, alpha: Tensor) -> tuple[Any, Any]:
    """``grad_output`` times 1 or ``alpha``, and times ``min(x, 0)``, summed over all but alpha."""
    beside = _beside_channels(alpha.shape, x.ndim)

    def to_alpha() -> Tensor:
        below = where(x > 0, 0.0, x)
        return reduce_to_shape(chain_rule(grad_output, below), beside).reshape(alpha.shape)

    return (
        lambda: where(x > 0, grad_output, chain_rule(grad_output, alpha.reshape(beside))),
        to_alpha,
    )


@op(kernel="sigmoid", shape=same, floats=True)
def sigmoid(xp: Any, x: Array) -> Any:
    """The logistic function ``1 / (1 + exp(-x))``, without overflow.

    Derivative: ``output * (1 - output)``.

    >>> import extensor as ex
    >>> ex.sigmoid([-1000.0, 0.0, 1000.0])
    tensor([0. , 0.5, 1. ])
    >>> ex.sigmoid_backward([1.0], output=[0.5])
    tensor([0.25])
    """
    return supplement.sigmoid(xp, x)


@sigmoid.backward(kernel="sigmoid_backward", unfolds=True)
def sigmoid_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``grad_output * output * (1 - output)``."""
    return chain_rule(grad_output, output * (1 - output))


@op(kernel="tanh", shape=same, floats=True)
def tanh(xp: Any, x: Array) -> Any:
    """The hyperbolic tangent. Derivative: ``1 - output**2``.

    >>> import extensor as ex
    >>> ex.tanh([0.0, 1.0])
    tensor([0.       , 0.7615942])
    >>> ex.tanh_backward([1.0, 1.0], output=[0.0, 0.5])
    tensor([1.  , 0.75])
    """
    return xp.tanh(x)


@tanh.backward(kernel="tanh_backward", unfolds=True)
def tanh_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``grad_output * (1 - output**2)``."""
    return chain_rule(grad_output, (1 - output) * (1 + output))


def _gelu(name: str, shapes: Shapes, approximate: bool) -> Shape:
    # A string, as PyTorch has it, would silently mean True.
    if not isinstance(approximate, bool):
        raise type_error(name, "approximate must be True or False", approximate=approximate)
    return same(name, shapes)


def _twice_tanh_argument(x: Any) -> Any:
    """Of an array or a tensor: (1 + tanh(u)) / 2 is sigmoid(2u), which keeps its digits below 0."""
    return 2 * sqrt(2 / pi) * (x + 0.044715 * (x * x * x))


@op(kernel="gelu", shape=_gelu, floats=True)
def gelu(xp: Any, x: Array, approximate: bool = False) -> Any:
    """The Gaussian error linear unit ``x * Phi(x)``, where ``Phi`` is the normal distribution.

    With ``approximate``, ``Phi(x)`` is
    ``(1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2``.

    Derivative: ``Phi(x) + x * Phi'(x)``. Both keep their digits where ``Phi`` is tiny, and are
    0 at -inf.

    Parameters
    ----------
    approximate
        Whether to use the tanh formula, as in GPT-2, instead of the exact function.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    TypeError
        If ``approximate`` is not a bool. PyTorch's strings "none" and "tanh" are False and True
        here.

    >>> import extensor as ex
    >>> ex.gelu([-1.0, 0.0, 1.0])
    tensor([-0.15865526,  0.        ,  0.8413447 ])
    >>> ex.gelu_backward([1.0, 1.0], [0.0, 100.0])
    tensor([0.5, 1. ])
    """
    gate = (
        supplement.sigmoid(xp, _twice_tanh_argument(x))
        if approximate
        else error_function.normal_cdf(xp, x)
    )
    return supplement.gated(xp, gate, x)


@gelu.backward(kernel="gelu_backward")
def gelu_backward(grad_output: Tensor, x: Tensor, approximate: bool = False) -> Tensor:
    """``grad_output * (Phi(x) + x * Phi'(x))``."""
    if not approximate:
        return chain_rule(grad_output, normal_cdf(x) + chain_rule(normal_pdf(x), x))
    doubled = _twice_tanh_argument(x)
    slope = 2 * sqrt(2 / pi) * (1 + 3 * 0.044715 * (x * x))
    growth = 1 + chain_rule(sigmoid(-doubled), x * slope)
    return chain_rule(grad_output, chain_rule(sigmoid(doubled), growth))


@op(kernel="softmax", shape=same_along, floats=True)
def softmax(xp: Any, x: Array, axis: int = -1) -> Any:
    """``exp(x)`` divided by its sum over ``axis``, without overflow.

    Derivative: ``output * (grad_output - sum(grad_output * output))``, exactly 0 for one
    element. A row of -inf alone gives NaN, as 0 / 0; an axis of size 0 gives an empty result.

    Parameters
    ----------
    axis
        The axis whose elements are to sum to 1.

    Returns
    -------
    Tensor
        Positive numbers that sum to 1 over ``axis``, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.softmax([1000.0, 1000.0, -1000.0])
    tensor([0.5, 0.5, 0. ])
    >>> ex.softmax_backward([1.0, 0.0], output=[0.5, 0.5])
    tensor([ 0.25, -0.25])
    """
    if 0 in x.shape:
        return x
    along = axis_or_none("softmax", axis, x.ndim)
    powers = xp.exp(x - xp.max(x, axis=along, keepdims=True))
    return powers / xp.sum(powers, axis=along, keepdims=True)


@softmax.backward(kernel="softmax_backward")
def softmax_backward(grad_output: Tensor, output: Tensor, axis: int = -1) -> Tensor:
    """``output * (grad_output - sum(grad_output * output))``."""
    along = axis_or_none("softmax_backward", axis, output.ndim)
    mean = chain_rule(grad_output, output).sum(axis=along, keepdims=True)
    return chain_rule(grad_output - mean, output)


@op(shape=same_along, floats=True)
def softmin(xp: Any, x: Array, axis: int = -1) -> Any:
    """``exp(-x)`` divided by its sum over ``axis``, without overflow.

    Derivative: ``output * (sum(grad_output * output) - grad_output)``.

    Returns
    -------
    Tensor
        The weights, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.softmin([1000.0, 1000.0, 2000.0])
    tensor([0.5, 0.5, 0. ])
    >>> ex.softmin_backward([1.0, 0.0], [0.5, 0.5])
    tensor([-0.25,  0.25])
    """
    if 0 in x.shape:
        return x
    x = supplement.in_c_order(x)
    line = axis_or_none("softmin", axis, x.ndim)
    weights = xp.exp(xp.min(x, axis=line, keepdims=True) - x)
    return weights / xp.sum(weights, axis=line, keepdims=True)


@softmin.backward()
def softmin_backward(grad_output: Tensor, output: Tensor, axis: int = -1) -> Tensor:
    """``output * (sum(grad_output * output) - grad_output)``."""
    mean = chain_rule(grad_output, output).sum(axis=axis, keepdims=True)
    return chain_rule(mean - grad_output, output)


@op(kernel="log_softmax", shape=same_along, floats=True)
def log_softmax(xp: Any, x: Array, axis: int = -1) -> Any:
    """The logarithm of `softmax`, ``x - log(sum(exp(x)))`` over ``axis``, without overflow.

    Derivative: ``grad_output - exp(output) * sum(grad_output)``, exactly 0 for a single
    element. A row of -inf alone gives NaN; an axis of size 0 gives an empty result.

    Parameters
    ----------
    axis
        The axis whose probabilities are to sum to 1.

    Returns
    -------
    Tensor
        Log-probabilities, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``axis`` is out of range.

    >>> import extensor as ex
    >>> ex.log_softmax([0.0, 1000.0])
    tensor([-1000.,     0.])
    >>> ex.log_softmax_backward([1.0, 0.0], output=[-0.6931472, -0.6931472])
    tensor([ 0.5, -0.5])
    """
    return supplement.log_softmax(xp, x, axis_or_none("log_softmax", axis, x.ndim))


@log_softmax.backward(kernel="log_softmax_backward")
def log_softmax_backward(grad_output: Tensor, output: Tensor, axis: int = -1) -> Tensor:
    """``grad_output - exp(output) * sum(grad_output)``."""
    along = axis_or_none("log_softmax_backward", axis, output.ndim)
    total = grad_output.sum(axis=along, keepdims=True)
    return grad_output - chain_rule(total, exp(output))
