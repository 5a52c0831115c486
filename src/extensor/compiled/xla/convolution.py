"""Convolutions and the largest of windows by XLA's own operations; formulas would spell windows out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import inf
from typing import Any

from extensor.arrays.dtypes import is_floating, is_half
from extensor.compiled.xla.library import jax, jnp
from extensor.ops import convolution, convolution_transposed, pooling
from extensor.ops.windows import Sliding, ints, sizes


def after(axis: Sliding) -> int:
    """The zeros behind the last element; fewer than none where windows do not reach it."""
    reach = (axis.windows - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1
    return reach - axis.size - axis.before


def _convolved(along: Sequence[Sliding], groups: int, dtype: Any) -> Callable[[Any, Any], Any]:
    def convolved(x: Any, weight: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x,
            weight,
            [axis.stride for axis in along],
            [(axis.before, after(axis)) for axis in along],
            rhs_dilation=[axis.dilation for axis in along],
            feature_group_count=groups,
            preferred_element_type=dtype,
        )

    return convolved


def _sum_dtype(x: Any) -> Any:
    return jnp.float32 if is_half(x.dtype) else x.dtype


def _with_bias(result: Any, bias: Any, dtype: Any) -> Any:
    if bias is not None:
        shape = (*bias.shape, *(1,) * (result.ndim - 2))
        result = result + bias.astype(result.dtype).reshape(shape)
    return result.astype(dtype)


def _back(gradient: Any, weight: Any, along: Sequence[Sliding], groups: int) -> Any:
    """The adjoint in the input, in the dtype that sums are made in."""
    wide = _sum_dtype(gradient)
    shape = (gradient.shape[0], weight.shape[1] * groups, *sizes(along))
    forward = _convolved(along, groups, wide)
    like = jax.ShapeDtypeStruct(shape, wide)
    weight = weight.astype(wide)
    return jax.linear_transpose(lambda x: forward(x, weight), like)(gradient.astype(wide))[0]


def _forward(name: str, axes: int) -> Callable[..., Any]:
    def kernel(
        x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        if not is_floating(x.dtype) or x.ndim != axes + 2 or 0 in x.shape:
            return NotImplemented
        size, kernel_size = x.shape[2:], weight.shape[2:]
        along = convolution.sliding(name, size, kernel_size, stride, padding, dilation)
        return _with_bias(_convolved(along, groups, _sum_dtype(x))(x, weight), bias, x.dtype)

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
        along = convolution_transposed._sliding(name, x.shape[2:], weight.shape[2:], *how)
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
    wide = _sum_dtype(gradient)
    forward, inputs = _convolved(along, groups, wide), x.astype(wide)
    shape = (gradient.shape[1], x.shape[1] // groups, *kernel)
    like = jax.ShapeDtypeStruct(shape, wide)
    found = jax.linear_transpose(lambda w: forward(inputs, w), like)(gradient.astype(wide))[0]
    return found.astype(gradient.dtype)


def _largest(name: str, axes: int) -> Callable[..., Any]:
    def kernel(x: Any, *how: Any) -> Any:
        if not is_floating(x.dtype) or x.ndim != axes + 2 or 0 in x.shape:
            return NotImplemented
        along = pooling.sliding(name, x.shape[2:], *how)
        return jax.lax.reduce_window(
            x,
            jnp.array(-inf, x.dtype),
            jax.lax.max,
            (1, 1, *[axis.kernel for axis in along]),
            (1, 1, *[axis.stride for axis in along]),
            ((0, 0), (0, 0), *[(axis.before, max(after(axis), 0)) for axis in along]),
            window_dilation=(1, 1, *[axis.dilation for axis in along]),
        )[windows_there_are(along)]

    return kernel


def windows_there_are(along: Sequence[Sliding]) -> tuple[slice, ...]:
    """The slices of the wanted windows; XLA makes more if there is room behind the last."""
    return (slice(None), slice(None), *[slice(axis.windows) for axis in along])


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
    room = [(0, 0, 0), (0, 0, 0), *[(axis.before, max(after(axis), 0), 0) for axis in along]]
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
}
