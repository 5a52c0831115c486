"""Normalization of each element by the channels beside its own."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import Shape, Shapes
from extensor.arrays.supplement import set_at
from extensor.core.creation import zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.arithmetic import power
from extensor.ops.chain import chain_rule
from extensor.ops.padding import pad
from extensor.ops.windows import ints


def _shape(name: str, shapes: Shapes, size: Any, *_: Any) -> Shape:
    (shape,) = shapes.values()
    ints(name, "size", size, 1)
    if len(shape) < 3:
        raise value_error(name, "x must have at least 3 axes", x_shape=tuple(shape))
    return tuple(shape)


def _reach(size: int) -> tuple[int, int]:
    """The channels before and after, of which an even size has one more before."""
    return size // 2, (size - 1) // 2


def _beside(x: Tensor, before: int, after: int) -> Tensor:
    """The sum over each channel, ``before`` channels before it and ``after`` behind it."""
    channels = x.shape[1]
    widths = [(0, 0), (before, after), *[(0, 0)] * (x.ndim - 2)]
    padded, total = pad(x, widths), zeros_like(x)
    for k in range(before + after + 1):
        total = total + padded[:, k : k + channels]
    return total


@op(shape=_shape, floats=True)
def local_response_norm(
    xp: Any, x: Array, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> Any:
    """``x / (k + alpha / size * sum(x**2))**beta``, with a sum over ``size`` channels around each.

    Derivative: with the base ``s`` of the power, ``s**-beta`` and, from each channel that sees the
    element, ``-2 * alpha * beta / size`` times the product of both elements and ``s**(-beta - 1)``.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input.
    size
        The number of channels in a sum; an even one has one more before than behind.
    alpha
        The factor of the mean of squares.
    beta
        The exponent.
    k
        The number to which it is added.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    Raises
    ------
    ValueError
        If ``x`` has fewer than 3 axes, or ``size`` is less than 1.

    >>> import extensor as ex
    >>> ex.local_response_norm([[[1.0], [2.0]]], 2, alpha=2.0, beta=1.0, k=0.0).flatten()
    tensor([1. , 0.4])
    >>> x = ex.tensor([[[1.0], [2.0]]], dtype="float64")
    >>> ex.local_response_norm_backward([[[0.0], [1.0]]], x, 2, 2.0, 1.0, 0.0).flatten()
    tensor([-0.16, -0.12], dtype=float64)
    """
    before, after = _reach(size)
    squares, channels = x * x, x.shape[1]
    before, after = min(before, channels), min(after, channels)  # there are none further away
    base = xp.zeros_like(x)
    for shift in range(-before, after + 1):
        here = slice(max(0, -shift), max(0, channels - max(shift, 0)))
        there = slice(max(0, shift), max(0, channels + min(shift, 0)))
        base = set_at(base, (slice(None), here), base[:, here] + squares[:, there])
    base = k + base * (alpha / size)
    return x * xp.pow(base, xp.asarray(-beta, dtype=x.dtype))


@local_response_norm.backward()
def local_response_norm_backward(
    grad_output: Tensor,
    x: Tensor,
    size: int,
    alpha: float = 0.0001,
    beta: float = 0.75,
    k: float = 1.0,
) -> Tensor:
    """Through the numerator of each element, and through the sums that it is in."""
    before, after = (min(reach, x.shape[1]) for reach in _reach(size))
    base = k + _beside(x * x, before, after) * (alpha / size)
    own = chain_rule(grad_output, power(base, -beta))
    sums = _beside(chain_rule(grad_output, x * power(base, -beta - 1)), after, before)
    return own - x * sums * (2 * alpha * beta / size)
