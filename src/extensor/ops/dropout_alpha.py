"""Dropout for networks with `selu`: mean and variance of standardized inputs stay as they are."""

from __future__ import annotations

from math import sqrt
from typing import Any

from extensor.arrays.shapes import check_shape
from extensor.core.creation import zeros_like
from extensor.core.op import Array, Indices, op
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.ops.dropout import SHARED as SHARED
from extensor.ops.dropout import as_tensor, as_x, check_floating, drawn_mask
from extensor.ops.selection import where
from extensor.random.generator import Generator

# The limit of selu at minus infinity, -scale * alpha.
LOWEST = -1.7580993408473766


def _line(p: float) -> tuple[float, float]:
    """The factor and the summand that bring mean and variance back; where nothing stays, 0."""
    if p == 1:
        return 0.0, 0.0
    factor = 1 / sqrt((1 - p) * (1 + p * LOWEST**2))
    return factor, -factor * p * LOWEST


def _dropped(xp: Any, x: Any, mask: Any, p: float) -> Any:
    if mask is None:
        return x
    factor, summand = _line(p)
    lowest = xp.asarray(LOWEST * factor + summand, dtype=x.dtype)
    return xp.where(mask, x * factor + summand, lowest)


def _drop(grad_output: Tensor, mask: Tensor | None, p: float) -> Tensor:
    if mask is None:
        return grad_output
    return where(mask, grad_output * _line(p)[0], zeros_like(grad_output))


def _alpha_dropout(
    x: Any, p: float = 0.5, training: bool = False, generator: Generator | None = None
) -> tuple[Any, ...]:
    x = as_tensor("alpha_dropout", x)
    return x, drawn_mask("alpha_dropout", x.shape, p, training, generator), p


@op(shape=as_x, check=check_floating, arguments=_alpha_dropout)
def alpha_dropout(xp: Any, x: Array, mask: Indices | None, p: float) -> Any:
    """Elements set to the lowest value of `selu` with probability ``p``, then all scaled and shifted.

    With ``a = ((1 - p) * (1 + p * c**2))**-0.5`` for the value ``c = -1.7581`` an element becomes
    ``a * x - a * p * c`` where it stays, else ``a * c - a * p * c``. A mean of 0 and a variance of 1
    are kept. Derivative: ``a`` where the element stayed, else 0.

    >>> import extensor as ex
    >>> ex.alpha_dropout(ex.zeros(4), 0.5, True, generator=ex.random.Generator(0))
    tensor([ 0.77919382, -0.77919382, -0.77919382, -0.77919382])
    >>> ex.alpha_dropout_backward([1.0, 1.0], [True, False], 0.5)
    tensor([0.8864053, 0.       ])
    """
    return _dropped(xp, x, mask, p)


@alpha_dropout.backward()
def alpha_dropout_backward(grad_output: Tensor, mask: Tensor | None, p: float = 0.5) -> Tensor:
    """``a * grad_output`` where ``mask`` is true, else 0."""
    if mask is not None:
        check_shape("alpha_dropout_backward", "grad_output", grad_output.shape, mask.shape)
    return _drop(grad_output, mask, p)


def _feature_alpha_dropout(
    x: Any, p: float = 0.5, training: bool = False, generator: Generator | None = None
) -> tuple[Any, ...]:
    x = as_tensor("feature_alpha_dropout", x)
    if x.ndim < 2:
        requirement = "x must have a batch axis and a channel axis"
        raise value_error("feature_alpha_dropout", requirement, x_shape=x.shape)
    shape = (*x.shape[:2], *(1,) * (x.ndim - 2))
    return x, drawn_mask("feature_alpha_dropout", shape, p, training, generator), p


@op(shape=as_x, check=check_floating, arguments=_feature_alpha_dropout)
def feature_alpha_dropout(xp: Any, x: Array, mask: Indices | None, p: float) -> Any:
    """Channels set to the lowest value of `selu` with probability ``p``, as in `alpha_dropout`.

    Derivative: ``a`` where the channel stayed, else 0.

    Parameters
    ----------
    x : (batch, channels, ...)
        The input.

    >>> import extensor as ex
    >>> x = ex.zeros((1, 4, 1))
    >>> ex.feature_alpha_dropout(x, 0.5, True, generator=ex.random.Generator(0)).flatten()
    tensor([ 0.77919382, -0.77919382, -0.77919382, -0.77919382])
    >>> ex.feature_alpha_dropout_backward([[[1.0], [1.0]]], [[[True], [False]]], 0.5).flatten()
    tensor([0.8864053, 0.       ])
    """
    return _dropped(xp, x, mask, p)


@feature_alpha_dropout.backward()
def feature_alpha_dropout_backward(
    grad_output: Tensor, mask: Tensor | None, p: float = 0.5
) -> Tensor:
    """``a * grad_output`` where ``mask``, a bool for each channel, is true, else 0."""
    if mask is not None:
        wanted = (*grad_output.shape[:2], *(1,) * (grad_output.ndim - 2))
        check_shape("feature_alpha_dropout_backward", "mask", mask.shape, wanted)
    return _drop(grad_output, mask, p)
