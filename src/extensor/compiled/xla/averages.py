"""The mean of windows by XLA's own sum of windows; the formula would spell every element out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import is_half
from extensor.compiled.xla.convolution import after, windows_there_are
from extensor.compiled.xla.library import jax, jnp
from extensor.ops import pooling
from extensor.ops.pooling_average import _areas, _undilated
from extensor.ops.windows import Sliding


def _sums(x: Any, along: Sequence[Sliding]) -> Any:
    summed = jax.lax.reduce_window(
        x,
        np.zeros((), x.dtype)[()],  # a number: only then XLA's sum is known to be linear
        jax.lax.add,
        (1, 1, *[axis.kernel for axis in along]),
        (1, 1, *[axis.stride for axis in along]),
        ((0, 0), (0, 0), *[(axis.before, max(after(axis), 0)) for axis in along]),
    )
    return summed[windows_there_are(along)]


def _wide(x: Any) -> Any:
    return x.astype(jnp.float32) if is_half(x.dtype) else x


def _forward(name: str, axes: int) -> Callable[..., Any]:
    def kernel(x: Any, *how: Any) -> Any:
        if x.ndim != axes + 2 or 0 in x.shape:
            return NotImplemented
        along = pooling.sliding(name, x.shape[2:], *_undilated(*how))
        areas = jnp.asarray(_areas(along, *how[4:]), _wide(x).dtype)
        return (_sums(_wide(x), along) / areas).astype(x.dtype)

    return kernel


def _backward(name: str, axes: int) -> Callable[..., Any]:
    def kernel(grad_output: Any, input_shape: Sequence[int], *how: Any) -> Any:
        if len(input_shape) != axes + 2 or 0 in input_shape or 0 in grad_output.shape:
            return NotImplemented
        along = pooling.sliding(name, tuple(input_shape)[2:], *_undilated(*how))
        wide = _wide(grad_output)
        share = wide / jnp.asarray(_areas(along, *how[4:]), wide.dtype)
        like = jax.ShapeDtypeStruct(tuple(input_shape), wide.dtype)
        spread = jax.linear_transpose(lambda x: _sums(x, along), like)(share)[0]
        return spread.astype(grad_output.dtype)

    return kernel


KERNELS: dict[str, Callable[..., Any]] = {
    "avg_pool1d": _forward("avg_pool1d", 1),
    "avg_pool2d": _forward("avg_pool2d", 2),
    "avg_pool1d_backward": _backward("avg_pool1d_backward", 1),
    "avg_pool2d_backward": _backward("avg_pool2d_backward", 2),
}
