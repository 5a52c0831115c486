"""Convolutions, and the largest and the mean of windows, by XLA's own operations.

The formulas would spell every element of a window out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import inf
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_floating
from extensor.compiled.xla.library import jax, jnp, sum_dtype, wide
from extensor.ops import convolution, convolution_transposed, pooling
from extensor.ops.pooling_average import areas, undilated
from extensor.ops.windows import Sliding, ints, sizes


def _after(axis: Sliding) -> int:
    """The zeros behind the last element; fewer than none where windows do not reach it."""
    reach = (axis.windows - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1
    return reach - axis.size - axis.before


def _convolved(along: Sequence[Sliding], groups: int, dtype: Any) -> Callable[[Any, Any], Any]:
    def convolved(x: Any, weight: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x,
            weight,
            [axis.stride for axis in along],
            [(axis.before, _after(axis)) for axis in along],
            rhs_dilation=[axis.dilation for axis in along],
            feature_group_count=groups,
            preferred_element_type=dtype,
        )

    return convolved


def _with_bias(result: Any, bias: Any, dtype: Any) -> Any:
    if bias is not None:
        shape = (*bias.shape, *(1,) * (result.ndim - 2))
        result = result + bias.astype(result.dtype).reshape(shape)
    return result.astype(dtype)


def _back(gradient: Any, weight: Any, along: Sequence[Sliding], groups: int) -> Any:
    """The adjoint in the input, in the dtype that sums are made in."""
    gradient = wide(gradient)
    shape = (gradient.shape[0], weight.shape[1] * groups, *sizes(along))
    forward = _convolved(along, groups, gradient.dtype)
    like = jax.ShapeDtypeStruct(shape, gradient.dtype)
    weight = weight.astype(gradient.dtype)
    return jax.linear_transpose(lambda x: forward(x, weight), like)(gradient)[0]


def _forward(name: str, axes: int) -> Callable[..., Any]:
    def kernel(
        x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        if not is_floating(x.dtype) or x.ndim != axes + 2 or 0 in x.shape:
            return NotImplemented
        size, kernel_size = x.shape[2:], weight.shape[2:]
        along = convolution.sliding(name, size, kernel_size, stride, padding, dilation)
        return _with_bias(_convolved(along, groups, sum_dtype(x.dtype))(x, weight), bias, x.dtype)

    return kernel


def _transposed(name: str, axes: int) -> Callable[..., Any]:
    def kernel(
        x: Any,
        weight: Any,
        bias: Any,
        stride: Any,
        padding: Any,
        output_padding: Any,
        groups: int,
        dilation: Any,
    ) -> Any:
        if not is_floating(x.dtype) or x.ndim != axes + 2 or 0 in x.shape:
            return NotImplemented
        how = (stride, padding, output_padding, dilation)
        along = convolution_transposed.sliding_back(name, x.shape[2:], weight.shape[2:], *how)
        return _with_bias(_back(x, weight, along, groups), bias, x.dtype)

    return kernel


def conv2d_grad_x(
    gradient: Any, weight: Any, size: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """The adjoint of the convolution in its input."""
    if not is_floating(gradient.dtype) or 0 in gradient.shape:
        return NotImplemented
    of_x = ints("conv2d_grad_x", "size", size, 2, least=0)
    how = (stride, padding, dilation)
    along = convolution.sliding("conv2d_grad_x", of_x, weight.shape[2:], *how)
    return _back(gradient, weight, along, groups).astype(gradient.dtype)


def conv2d_grad_weight(
    gradient: Any, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """The adjoint of the convolution in its weight."""
    if not is_floating(gradient.dtype) or 0 in gradient.shape or 0 in x.shape:
        return NotImplemented
    kernel = ints("conv2d_grad_weight", "kernel_size", kernel_size, 2)
    how = (stride, padding, dilation)
    along = convolution.sliding("conv2d_grad_weight", x.shape[2:], kernel, *how)
    gradient, inputs = wide(gradient), wide(x)
    forward = _convolved(along, groups, gradient.dtype)
    shape = (gradient.shape[1], x.shape[1] // groups, *kernel)
    like = jax.ShapeDtypeStruct(shape, gradient.dtype)
    return jax.linear_transpose(lambda w: forward(inputs, w), like)(gradient)[0].astype(x.dtype)


def _largest(name: str, axes: int) -> Callable[..., Any]:
    def kernel(x: Any, *how: Any) -> Any:
        if not is_floating(x.dtype) or x.ndim != axes + 2 or 0 in x.shape:
            return NotImplemented
        along = pooling.sliding(name, x.shape[2:], *how)
        return _over_windows(x, jnp.array(-inf, x.dtype), jax.lax.max, along)

    return kernel


def _over_windows(x: Any, first: Any, combine: Any, along: Sequence[Sliding]) -> Any:
    """The elements of each window combined, beginning with ``first``."""
    found = jax.lax.reduce_window(
        x,
        first,
        combine,
        (1, 1, *[axis.kernel for axis in along]),
        (1, 1, *[axis.stride for axis in along]),
        ((0, 0), (0, 0), *[(axis.before, max(_after(axis), 0)) for axis in along]),
        window_dilation=(1, 1, *[axis.dilation for axis in along]),
    )
    # XLA makes more windows if there is room behind the last.
    return found[(slice(None), slice(None), *[slice(axis.windows) for axis in along])]


def max_pool2d_backward(grad_output: Any, x: Any, *how: Any) -> Any:
    """The first of the largest elements of each window gets its gradient.

    Which one that is, is found for all windows element by element of a window; then each of these
    elements in turn is spread to where it came from. XLA's scatter for it is many times slower here.
    """
    if not is_floating(x.dtype) or x.ndim != 4 or 0 in x.shape or 0 in grad_output.shape:
        return NotImplemented
    along = pooling.sliding("max_pool2d_backward", x.shape[2:], *how)
    # Above the padding, whatever they are; NaN counts as largest.
    sizes_of = jnp.where(jnp.isnan(x), inf, jnp.maximum(x, jnp.finfo(x.dtype).min)).astype(x.dtype)
    room = [(0, 0, 0), (0, 0, 0), *[(axis.before, max(_after(axis), 0), 0) for axis in along]]
    padded = jax.lax.pad(sizes_of, jnp.array(-inf, x.dtype), room)
    best = jnp.full(grad_output.shape, -inf, x.dtype)
    first = jnp.full(grad_output.shape, -1, jnp.int32)
    places = list(product(*[range(axis.kernel) for axis in along]))
    for number, place in enumerate(places):
        seen = _elements(padded, along, place)
        wins = seen > best
        best, first = jnp.where(wins, seen, best), jnp.where(wins, number, first)
    # Without it XLA would find the place anew for each element of a window.
    first = jax.lax.optimization_barrier(first)
    total = jnp.zeros(x.shape, grad_output.dtype)
    zero = jnp.zeros((), grad_output.dtype)
    for number, place in enumerate(places):
        share = jnp.where(first == number, grad_output, zero)
        spread = [(0, 0, 0), (0, 0, 0)]
        for axis, k in zip(along, place, strict=True):
            low = k * axis.dilation - axis.before
            reach = low + (axis.windows - 1) * axis.stride + 1
            spread.append((low, axis.size - reach, axis.stride - 1))
        total = total + jax.lax.pad(share, zero, spread)
    return total


def _elements(padded: Any, along: Sequence[Sliding], place: Sequence[int]) -> Any:
    """The element at ``place`` of all windows."""
    cuts = []
    for axis, k in zip(along, place, strict=True):
        start = k * axis.dilation
        cuts.append(slice(start, start + (axis.windows - 1) * axis.stride + 1, axis.stride))
    return padded[(..., *cuts)]


def _sums(x: Any, along: Sequence[Sliding]) -> Any:
    first = np.zeros((), x.dtype)[()]  # a number: only then XLA's sum is known to be linear
    return _over_windows(x, first, jax.lax.add, along)


def _mean(name: str, axes: int) -> Callable[..., Any]:
    def kernel(x: Any, *how: Any) -> Any:
        if x.ndim != axes + 2 or 0 in x.shape:
            return NotImplemented
        along = pooling.sliding(name, x.shape[2:], *undilated(*how))
        counts = jnp.asarray(areas(along, *how[4:]), wide(x).dtype)
        return (_sums(wide(x), along) / counts).astype(x.dtype)

    return kernel


def _mean_backward(name: str, axes: int) -> Callable[..., Any]:
    def kernel(grad_output: Any, input_shape: Sequence[int], *how: Any) -> Any:
        if len(input_shape) != axes + 2 or 0 in input_shape or 0 in grad_output.shape:
            return NotImplemented
        along = pooling.sliding(name, tuple(input_shape)[2:], *undilated(*how))
        share = wide(grad_output)
        share = share / jnp.asarray(areas(along, *how[4:]), share.dtype)
        like = jax.ShapeDtypeStruct(tuple(input_shape), share.dtype)
        spread = jax.linear_transpose(lambda x: _sums(x, along), like)(share)[0]
        return spread.astype(grad_output.dtype)

    return kernel


KERNELS: dict[str, Callable[..., Any]] = {
    "conv1d": _forward("conv1d", 1),
    "conv2d": _forward("conv2d", 2),
    "conv2d_grad_x": conv2d_grad_x,
    "conv2d_grad_weight": conv2d_grad_weight,
    "conv_transpose1d": _transposed("conv_transpose1d", 1),
    "conv_transpose2d": _transposed("conv_transpose2d", 2),
    "max_pool1d": _largest("max_pool1d", 1),
    "max_pool2d": _largest("max_pool2d", 2),
    "max_pool2d_backward": max_pool2d_backward,
    "avg_pool1d": _mean("avg_pool1d", 1),
    "avg_pool2d": _mean("avg_pool2d", 2),
    "avg_pool1d_backward": _mean_backward("avg_pool1d_backward", 1),
    "avg_pool2d_backward": _mean_backward("avg_pool2d_backward", 2),
}
