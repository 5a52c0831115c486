"""Beginnings of parameters: new tensors by shape, and with a trailing underscore into given ones.

The functions with an underscore have PyTorch's arguments. All draw from ``ex.random``.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erf, inf, prod, sqrt
from typing import Any

import numpy as np

from extensor import random
from extensor.arrays.dtypes import DType, float32, get_default_dtype, is_half
from extensor.arrays.shapes import target
from extensor.core import creation, door
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor, wrap
from extensor.errors import value_error
from extensor.errors.explanation import checked
from extensor.random import Generator

_GAINS = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv_transpose2d", "sigmoid"), 1.0),
    "tanh": 5 / 3,
    "relu": sqrt(2),
    "selu": 3 / 4,
}
# Below this share of the normal distribution too many draws would be thrown away.
_LEAST_MASS = 0.01


@checked
def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much weights before ``nonlinearity`` must grow to keep the variance of what it gives.

    ``param`` is the slope of ``"leaky_relu"``.

    >>> from extensor.nn.init import calculate_gain
    >>> calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)  # the square of an integer may not fit one
        return sqrt(2 / (1 + slope * slope))
    if nonlinearity not in _GAINS:
        known = ", ".join(sorted([*_GAINS, "leaky_relu"]))
        raise value_error(
            "calculate_gain", f"nonlinearity must be one of {known}", nonlinearity=nonlinearity
        )
    return _GAINS[nonlinearity]


@checked
def calculate_fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs each unit of a weight has: (out, in, *kernel) as in PyTorch."""
    if len(shape) < 2:
        raise value_error("calculate_fans", "a weight must have two axes", shape=tuple(shape))
    out_channels, in_channels, *kernel = shape
    return in_channels * prod(kernel), out_channels * prod(kernel)


@checked
def uniform(
    shape: int | Sequence[int],
    dtype: DType = None,
    low: float = 0.0,
    high: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers from ``low`` up to, not including, ``high``."""
    return random.uniform(low, high, shape, dtype, generator=generator)


@checked
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform numbers from ``a`` up to, not including, ``b``."""
    return _filled(tensor, uniform(tensor.shape, tensor.dtype, a, b, generator))


@checked
def normal(
    shape: int | Sequence[int],
    dtype: DType = None,
    mean: float = 0.0,
    std: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers."""
    return random.normal(mean, std, shape, dtype, generator=generator)


@checked
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Normal numbers."""
    return _filled(tensor, normal(tensor.shape, tensor.dtype, mean, std, generator))


@checked
def truncated_normal(
    shape: int | Sequence[int],
    dtype: DType = None,
    mean: float = 0.0,
    std: float = 1.0,
    low: float = -2.0,
    high: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers, those outside ``low`` and ``high`` drawn again until none is.

    The bounds are values, not multiples of ``std``.
    """
    mass = _normal_cdf((high - mean) / std) - _normal_cdf((low - mean) / std) if std > 0 else 0.0
    if not mass >= _LEAST_MASS:
        raise value_error(
            "truncated_normal",
            f"at least {_LEAST_MASS:.0%} of the normal distribution must lie within the bounds",
            mean=mean,
            std=std,
            low=low,
            high=high,
        )
    values = random.normal(mean, std, shape, dtype, generator=generator)
    while (count := int((outside := (values < low) | (values > high)).numpy().sum())) > 0:
        values[outside] = random.normal(mean, std, count, values.dtype, generator=generator)
    return values


@checked
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers between ``a`` and ``b``."""
    made = truncated_normal(tensor.shape, tensor.dtype, mean, std, a, b, generator)
    return _filled(tensor, made)


@checked
def constant(shape: int | Sequence[int], value: float, dtype: DType = None) -> Tensor:
    """Every element ``value``."""
    return creation.full(shape, value, get_default_dtype() if dtype is None else dtype)


@checked
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Every element ``val``."""
    return _filled(tensor, val)


@checked
def zeros(shape: int | Sequence[int], dtype: DType = None) -> Tensor:
    """Every element 0."""
    return constant(shape, 0.0, dtype)


@checked
def zeros_(tensor: Tensor) -> Tensor:
    """Every element 0."""
    return _filled(tensor, 0.0)


@checked
def ones(shape: int | Sequence[int], dtype: DType = None) -> Tensor:
    """Every element 1."""
    return constant(shape, 1.0, dtype)


@checked
def ones_(tensor: Tensor) -> Tensor:
    """Every element 1."""
    return _filled(tensor, 1.0)


@checked
def xavier_uniform(
    fan_in: int,
    fan_out: int,
    shape: int | Sequence[int],
    dtype: DType = None,
    gain: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers of variance ``gain**2 * 2 / (fan_in + fan_out)`` (Glorot and Bengio 2010).

    >>> import extensor as ex
    >>> weight = ex.xavier_uniform(2, 4, (4, 2))
    >>> bool(abs(weight).max() <= 1.0)
    True
    """
    bound = sqrt(3) * _xavier_std("xavier_uniform", fan_in, fan_out, gain)
    return random.uniform(-bound, bound, shape, dtype, generator=generator)


@checked
def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """:func:`xavier_uniform` with the fans of the tensor's shape."""
    fans = calculate_fans(tensor.shape)
    return _filled(tensor, xavier_uniform(*fans, tensor.shape, tensor.dtype, gain, generator))


@checked
def xavier_normal(
    fan_in: int,
    fan_out: int,
    shape: int | Sequence[int],
    dtype: DType = None,
    gain: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers of variance ``gain**2 * 2 / (fan_in + fan_out)`` (Glorot and Bengio 2010)."""
    std = _xavier_std("xavier_normal", fan_in, fan_out, gain)
    return random.normal(0.0, std, shape, dtype, generator=generator)


@checked
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """:func:`xavier_normal` with the fans of the tensor's shape."""
    fans = calculate_fans(tensor.shape)
    return _filled(tensor, xavier_normal(*fans, tensor.shape, tensor.dtype, gain, generator))


@checked
def kaiming_uniform(
    fan_in: int,
    fan_out: int,
    shape: int | Sequence[int],
    dtype: DType = None,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform numbers of variance ``gain**2 / fan`` (He et al. 2015).

    The fan is that of ``mode``, the gain that of ``nonlinearity`` with slope ``a``.
    """
    bound = sqrt(3) * _kaiming_std("kaiming_uniform", fan_in, fan_out, a, mode, nonlinearity)
    return random.uniform(-bound, bound, shape, dtype, generator=generator)


@checked
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """:func:`kaiming_uniform` with the fans of the tensor's shape."""
    fans = calculate_fans(tensor.shape)
    made = kaiming_uniform(*fans, tensor.shape, tensor.dtype, a, mode, nonlinearity, generator)
    return _filled(tensor, made)


@checked
def kaiming_normal(
    fan_in: int,
    fan_out: int,
    shape: int | Sequence[int],
    dtype: DType = None,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers of variance ``gain**2 / fan`` (He et al. 2015), as :func:`kaiming_uniform`."""
    std = _kaiming_std("kaiming_normal", fan_in, fan_out, a, mode, nonlinearity)
    return random.normal(0.0, std, shape, dtype, generator=generator)


@checked
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """:func:`kaiming_normal` with the fans of the tensor's shape."""
    fans = calculate_fans(tensor.shape)
    made = kaiming_normal(*fans, tensor.shape, tensor.dtype, a, mode, nonlinearity, generator)
    return _filled(tensor, made)


@checked
def orthogonal(
    shape: int | Sequence[int],
    dtype: DType = None,
    gain: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """A random orthogonal matrix times ``gain`` (Saxe et al. 2013).

    Its rows are orthonormal, or its columns if it has more rows than columns. Axes after the
    second count as columns.
    """
    sizes = target("orthogonal", shape)
    if len(sizes) < 2:
        raise value_error("orthogonal", "shape must have two axes", shape=sizes)
    dtype = get_default_dtype() if dtype is None else dtype
    rows, columns = sizes[0], prod(sizes[1:])
    tall = (max(rows, columns), min(rows, columns))
    drawn = random.randn(tall, dtype=float32 if is_half(dtype) else dtype, generator=generator)
    basis = wrap(_orthonormal(drawn.numpy()))
    matrix = basis if rows >= columns else basis.T
    return (gain * matrix.reshape(sizes)).astype(dtype)


@checked
def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """A random orthogonal matrix times ``gain``."""
    return _filled(tensor, orthogonal(tensor.shape, tensor.dtype, gain, generator))


@door.through_door
@door.exact_formula
def _orthonormal(xp: Any, a: Any) -> Any:
    # The signs make the distribution uniform: QR alone leaves a diagonal of one sign.
    q, r = xp.linalg.qr(a)
    return q * xp.where(xp.linalg.diagonal(r) < 0, -1, 1).astype(q.dtype)


def _filled(tensor: Tensor, values: Any) -> Tensor:
    array = tensor._array
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise value_error("init", "tensor must not be read-only", shape=tensor.shape)
    with no_grad():
        tensor[...] = values
    return tensor


def _normal_cdf(x: float) -> float:
    return (1 + erf(x / sqrt(2))) / 2 if abs(x) < inf else float(x > 0)


def _xavier_std(op: str, fan_in: int, fan_out: int, gain: float) -> float:
    if fan_in < 0 or fan_out < 0 or fan_in + fan_out == 0:
        raise value_error(op, "fans must be positive", fan_in=fan_in, fan_out=fan_out)
    return gain * sqrt(2 / (fan_in + fan_out))


def _kaiming_std(
    op: str, fan_in: int, fan_out: int, a: float, mode: str, nonlinearity: str
) -> float:
    fans = {"fan_in": fan_in, "fan_out": fan_out}
    if mode not in fans:
        raise value_error(op, "mode must be 'fan_in' or 'fan_out'", mode=mode)
    if fans[mode] <= 0:
        raise value_error(op, f"{mode} must be positive", **{mode: fans[mode]})
    return calculate_gain(nonlinearity, a) / sqrt(fans[mode])
