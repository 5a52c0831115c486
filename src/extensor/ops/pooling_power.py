"""The power mean of windows without its divisor: the norm of their elements."""

from __future__ import annotations

from math import prod
from typing import Any

from extensor.arrays.shapes import Shape, Shapes
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.arithmetic import power
from extensor.ops.chain import chain_rule
from extensor.ops.pooling import SHARED as SHARED
from extensor.ops.pooling import pooled
from extensor.ops.pooling_average import (
    avg_pool1d,
    avg_pool1d_backward,
    avg_pool2d,
    avg_pool2d_backward,
    check_floating,
)
from extensor.ops.pooling_volume import avg_pool3d, avg_pool3d_backward
from extensor.ops.selection import where
from extensor.ops.windows import Ints, for_axes, ints


def _shape(
    name: str, axes: int, shapes: Shapes, norm_type: Any, kernel_size: Any, stride: Any, ceil: Any
) -> Shape:
    if not isinstance(norm_type, int | float) or isinstance(norm_type, bool):
        raise type_error(name, "norm_type must be a number", norm_type=norm_type)
    if not 0 < norm_type < float("inf"):
        raise value_error(name, "norm_type must be above 0 and finite", norm_type=norm_type)
    return pooled(name, axes, shapes, kernel_size, stride, 0, 1, ceil)


def _norms(xp: Any, average: Any, x: Any, norm_type: float, kernel: Shape, *how: Any) -> Any:
    # Windows that ceil_mode cuts off are stretched to their full size, as in PyTorch.
    total = average.op.compute(xp.pow(x, xp.asarray(norm_type, dtype=x.dtype)), kernel, *how)
    total = xp.maximum(total * prod(kernel), xp.zeros((), dtype=x.dtype))
    return xp.pow(total, xp.asarray(1 / norm_type, dtype=x.dtype))


def _to_x(
    average_backward: Any,
    grad_output: Tensor,
    x: Tensor,
    output: Tensor,
    norm_type: float,
    kernel: Shape,
    *how: Any,
) -> Tensor:
    """``x**(p - 1) * output**(1 - p)``, 0 for a window whose norm is 0."""
    safe = where(output == 0, 1.0, output)
    share = where(output == 0, 0.0, chain_rule(grad_output, power(safe, 1 - norm_type)))
    spread = average_backward(share * prod(kernel), x.shape, kernel, *how)
    return chain_rule(spread, power(x, norm_type - 1))


@op(shape=for_axes(1, _shape), check=check_floating)
def lp_pool1d(
    xp: Any,
    x: Array,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Any:
    """The norm of each window of sequences, ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Where the sum is negative, the result is 0. Derivative: ``x**(p - 1) * output**(1 - p)``, 0 where
    the output is 0.

    Parameters
    ----------
    x : (batch, channels, length)
        The sequences. The batch axis may be missing.
    norm_type
        The exponent: 1 for sums, 2 for Euclidean norms.
    ceil_mode
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        The norms, of shape (batch, channels, length). See `max_pool2d` for the sizes.

    >>> import extensor as ex
    >>> ex.lp_pool1d([[[3.0, 4.0, 0.0, 0.0]]], 2, 2)
    tensor([[[5., 0.]]])
    >>> ex.lp_pool1d_backward([[[5.0]]], [[[3.0, 4.0]]], [[[5.0]]], 2, 2)
    tensor([[[3., 4.]]])
    """
    kernel = ints("lp_pool1d", "kernel_size", kernel_size, 1)
    how = (kernel, stride, 0, ceil_mode, True)
    return _norms(xp, avg_pool1d, x, norm_type, *how)


@lp_pool1d.backward()
def lp_pool1d_backward(
    grad_output: Tensor,
    x: Tensor,
    output: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output * x**(p - 1) * output**(1 - p)``, summed over the windows of each element."""
    kernel = ints("lp_pool1d_backward", "kernel_size", kernel_size, 1)
    how = (norm_type, kernel, stride, 0, ceil_mode)
    return _to_x(avg_pool1d_backward, grad_output, x, output, *how)


@op(shape=for_axes(2, _shape), check=check_floating)
def lp_pool2d(
    xp: Any,
    x: Array,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Any:
    """The norm of each window of pictures, ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Where the sum is negative, the result is 0. Derivative: ``x**(p - 1) * output**(1 - p)``, 0 where
    the output is 0.

    Parameters
    ----------
    x : (batch, channels, height, width)
        The pictures. The batch axis may be missing.
    norm_type
        The exponent: 1 for sums, 2 for Euclidean norms.
    ceil_mode
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        The norms, of shape (batch, channels, height, width). See `max_pool2d` for the sizes.

    >>> import extensor as ex
    >>> ex.lp_pool2d([[[[3.0], [4.0]]]], 2, (2, 1))
    tensor([[[[5.]]]])
    >>> ex.lp_pool2d_backward([[[[5.0]]]], [[[[3.0], [4.0]]]], [[[[5.0]]]], 2, (2, 1))
    tensor([[[[3.],
              [4.]]]])
    """
    kernel = ints("lp_pool2d", "kernel_size", kernel_size, 2)
    how = (kernel, stride, 0, ceil_mode, True, None)
    return _norms(xp, avg_pool2d, x, norm_type, *how)


@lp_pool2d.backward()
def lp_pool2d_backward(
    grad_output: Tensor,
    x: Tensor,
    output: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output * x**(p - 1) * output**(1 - p)``, summed over the windows of each element."""
    kernel = ints("lp_pool2d_backward", "kernel_size", kernel_size, 2)
    how = (norm_type, kernel, stride, 0, ceil_mode)
    return _to_x(avg_pool2d_backward, grad_output, x, output, *how)


@op(shape=for_axes(3, _shape), check=check_floating)
def lp_pool3d(
    xp: Any,
    x: Array,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Any:
    """The norm of each window of volumes, ``sum(x**p)**(1 / p)`` for ``p = norm_type``.

    Where the sum is negative, the result is 0. Derivative: ``x**(p - 1) * output**(1 - p)``, 0 where
    the output is 0.

    Parameters
    ----------
    x : (batch, channels, depth, height, width)
        The volumes. The batch axis may be missing.
    norm_type
        The exponent: 1 for sums, 2 for Euclidean norms.
    ceil_mode
        Whether the last window may end behind the input, instead of being dropped. Its sum is
        multiplied as if it were full.

    Returns
    -------
    Tensor
        The norms, of shape (batch, channels, depth, height, width). See `max_pool2d` for the sizes.

    >>> import extensor as ex
    >>> ex.lp_pool3d([[[[[3.0, 4.0]]]]], 2, (1, 1, 2))
    tensor([[[[[5.]]]]])
    >>> ex.lp_pool3d_backward([[[[[5.0]]]]], [[[[[3.0, 4.0]]]]], [[[[[5.0]]]]], 2, (1, 1, 2))
    tensor([[[[[3., 4.]]]]])
    """
    kernel = ints("lp_pool3d", "kernel_size", kernel_size, 3)
    how = (kernel, stride, 0, ceil_mode, True, None)
    return _norms(xp, avg_pool3d, x, norm_type, *how)


@lp_pool3d.backward()
def lp_pool3d_backward(
    grad_output: Tensor,
    x: Tensor,
    output: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """``grad_output * x**(p - 1) * output**(1 - p)``, summed over the windows of each element."""
    kernel = ints("lp_pool3d_backward", "kernel_size", kernel_size, 3)
    how = (norm_type, kernel, stride, 0, ceil_mode)
    return _to_x(avg_pool3d_backward, grad_output, x, output, *how)
