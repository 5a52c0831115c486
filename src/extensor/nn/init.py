"""Beginnings of parameters: new tensors by shape, and with a trailing underscore into given ones.

The functions with an underscore have PyTorch's arguments. All draw from ``ex.random``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf, inf, prod, sqrt
from typing import Any

import numpy as np

from extensor import random
from extensor.arrays.dtypes import DType, float32, get_default_dtype, is_half
from extensor.arrays.shapes import target
from extensor.core import creation, door
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor, wrap
from extensor.errors import arguments, value_error
from extensor.errors.explanation import checked
from extensor.random import Generator

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "trunc_normal_",
    "truncated_normal",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros",
    "zeros_",
]

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
    """Return the factor of initial weights that keeps the variance of activations behind a
    nonlinearity.

    Parameters
    ----------
    nonlinearity : str
        "linear", "conv1d", "conv2d", "conv_transpose2d", "sigmoid" (gain 1), "tanh" (5/3), "relu"
        (sqrt 2), "selu" (3/4) or "leaky_relu".
    param : float, optional
        Slope of "leaky_relu", by default 0.01; its gain is ``sqrt(2 / (1 + param**2))``.

    Returns
    -------
    float
        The gain.

    Raises
    ------
    ValueError
        If the name is unknown.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.calculate_gain("leaky_relu", 1.0)
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
    """Return the numbers of inputs and outputs of each unit of a weight.

    Parameters
    ----------
    shape : sequence of ints
        Shape of the weight: (out, in, ...), as in linear layers and convolutions.

    Returns
    -------
    tuple of int
        ``fan_in`` and ``fan_out``: in and out, times the size of the kernel.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.calculate_fans((8, 3, 5, 5))
    (75, 200)
    """
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
    """Return a new tensor of uniform numbers.

    Parameters
    ----------
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    low : float, default 0.0
        Lower bound, included.
    high : float, default 1.0
        Upper bound, excluded.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.uniform((2, 3), low=-0.1, high=0.1).shape
    (2, 3)
    """
    return random.uniform(low, high, shape, dtype, generator=generator)


@checked
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor with uniform numbers.

    Parameters
    ----------
    tensor : Tensor
        The tensor to fill. It is changed in place, without being recorded.
    a : float, default 0.0
        Lower bound, included.
    b : float, default 1.0
        Upper bound, excluded.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Examples
    --------
    >>> import extensor as ex
    >>> weight = ex.nn.init.uniform_(ex.empty((2, 3)), -0.1, 0.1)
    >>> bool(abs(weight).max() <= 0.1)
    True
    """
    return _fill(tensor, uniform(tensor.shape, tensor.dtype, a, b, generator))


@checked
def normal(
    shape: int | Sequence[int],
    dtype: DType = None,
    mean: float = 0.0,
    std: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Return a new tensor of normally distributed numbers.

    Parameters
    ----------
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    mean : float, default 0.0
        Mean of the distribution.
    std : float, default 1.0
        Standard deviation of the distribution.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.normal((2, 3), std=0.02).shape
    (2, 3)
    """
    return random.normal(mean, std, shape, dtype, generator=generator)


@checked
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor with normally distributed numbers.

    Parameters
    ----------
    tensor : Tensor
        The tensor to fill. It is changed in place, without being recorded.
    mean : float, default 0.0
        Mean of the distribution.
    std : float, default 1.0
        Standard deviation of the distribution.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.normal_(ex.empty((2, 3)), std=0.02).shape
    (2, 3)
    """
    return _fill(tensor, normal(tensor.shape, tensor.dtype, mean, std, generator))


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
    """Return a new tensor of normally distributed numbers between two bounds.

    Numbers outside the bounds are drawn again.

    Parameters
    ----------
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    mean : float, default 0.0
        Mean of the distribution before truncation.
    std : float, default 1.0
        Standard deviation of the distribution before truncation.
    low : float, default -2.0
        Lower bound: a value, not a multiple of ``std``.
    high : float, default 2.0
        Upper bound: a value, too.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ValueError
        If less than 1 % of the distribution lies within the bounds, or ``std`` is not positive.

    Examples
    --------
    >>> import extensor as ex
    >>> weight = ex.nn.init.truncated_normal((100,), std=0.02, low=-0.04, high=0.04)
    >>> bool(abs(weight).max() <= 0.04)
    True
    """
    mass = _normal_cdf((high - mean) / std) - _normal_cdf((low - mean) / std) if std > 0 else 0.0
    if not mass >= _LEAST_MASS:
        wanted = f"at least {_LEAST_MASS:.0%} of the normal distribution must lie within the bounds"
        raise value_error("truncated_normal", wanted, mean=mean, std=std, low=low, high=high)
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
    """Fill a tensor with normally distributed numbers between two bounds.

    Parameters
    ----------
    tensor : Tensor
        The tensor to fill. It is changed in place, without being recorded.
    mean : float, default 0.0
        Mean of the distribution before truncation.
    std : float, default 1.0
        Standard deviation of the distribution before truncation.
    a : float, default -2.0
        Lower bound: a value, not a multiple of ``std``.
    b : float, default 2.0
        Upper bound: a value, too.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Raises
    ------
    ValueError
        If less than 1 % of the distribution lies within the bounds, or ``std`` is not positive.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.trunc_normal_(ex.empty((2, 3)), std=0.02).shape
    (2, 3)
    """
    return _fill(tensor, truncated_normal(tensor.shape, tensor.dtype, mean, std, a, b, generator))


@checked
def constant(shape: int | Sequence[int], value: float, dtype: DType = None) -> Tensor:
    """Return a new tensor of one value.

    Parameters
    ----------
    shape : int or sequence of ints
        Shape of the result.
    value : float
        The value of each element.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.

    Returns
    -------
    Tensor
        A new tensor.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.constant(2, 0.5)
    tensor([0.5, 0.5])
    """
    return creation.full(shape, value, get_default_dtype() if dtype is None else dtype)


@checked
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill a tensor with one value.

    Parameters
    ----------
    tensor : Tensor
        The tensor to fill. It is changed in place, without being recorded.
    val : float
        The value of each element.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.constant_(ex.empty(2), 0.5)
    tensor([0.5, 0.5])
    """
    return _fill(tensor, val)


@checked
def zeros(shape: int | Sequence[int], dtype: DType = None) -> Tensor:
    """Return a new tensor of zeros.

    Parameters
    ----------
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.

    Returns
    -------
    Tensor
        A new tensor.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.zeros(2)
    tensor([0., 0.])
    """
    return constant(shape, 0.0, dtype)


@checked
def zeros_(tensor: Tensor) -> Tensor:
    """Fill a tensor with zeros.

    Parameters
    ----------
    tensor : Tensor
        The tensor to fill. It is changed in place, without being recorded.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.zeros_(ex.nn.Linear(2, 1).bias)
    tensor([0.], requires_grad=True)
    """
    return _fill(tensor, 0.0)


@checked
def ones(shape: int | Sequence[int], dtype: DType = None) -> Tensor:
    """Return a new tensor of ones.

    Parameters
    ----------
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.

    Returns
    -------
    Tensor
        A new tensor.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.ones(2)
    tensor([1., 1.])
    """
    return constant(shape, 1.0, dtype)


@checked
def ones_(tensor: Tensor) -> Tensor:
    """Fill a tensor with ones.

    Parameters
    ----------
    tensor : Tensor
        The tensor to fill. It is changed in place, without being recorded.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.ones_(ex.empty(2))
    tensor([1., 1.])
    """
    return _fill(tensor, 1.0)


@checked
def xavier_uniform(
    fan_in: int,
    fan_out: int,
    shape: int | Sequence[int],
    dtype: DType = None,
    gain: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Return uniform numbers of variance ``gain**2 * 2 / (fan_in + fan_out)``.

    They lie in ``[-b, b)`` with ``b = gain * sqrt(6 / (fan_in + fan_out))``, which suits layers
    before tanh or sigmoid.

    Parameters
    ----------
    fan_in : int
        Number of inputs of each unit.
    fan_out : int
        Number of outputs of each unit.
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    gain : float, default 1.0
        Factor of the standard deviation; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ValueError
        If a fan is negative or both are 0.

    References
    ----------
    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    2010.

    Examples
    --------
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
    """Fill a tensor by `xavier_uniform`, with the fans of its shape.

    Parameters
    ----------
    tensor : Tensor
        The weight to fill, of shape (out, in, ...). It is changed in place, without being recorded.
    gain : float, default 1.0
        Factor of the standard deviation; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Raises
    ------
    ValueError
        If ``tensor`` has fewer than two axes.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Linear(2, 4)
    >>> bool(abs(ex.nn.init.xavier_uniform_(layer.weight)).max() <= 1.0)
    True
    """
    return _fill_by_fans(tensor, xavier_uniform, gain, generator)


@checked
def xavier_normal(
    fan_in: int,
    fan_out: int,
    shape: int | Sequence[int],
    dtype: DType = None,
    gain: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Return normally distributed numbers of variance ``gain**2 * 2 / (fan_in + fan_out)``.

    Parameters
    ----------
    fan_in : int
        Number of inputs of each unit.
    fan_out : int
        Number of outputs of each unit.
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    gain : float, default 1.0
        Factor of the standard deviation; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ValueError
        If a fan is negative or both are 0.

    References
    ----------
    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    2010.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.xavier_normal(2, 4, (4, 2)).shape
    (4, 2)
    """
    std = _xavier_std("xavier_normal", fan_in, fan_out, gain)
    return random.normal(0.0, std, shape, dtype, generator=generator)


@checked
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a tensor by `xavier_normal`, with the fans of its shape.

    Parameters
    ----------
    tensor : Tensor
        The weight to fill, of shape (out, in, ...). It is changed in place, without being recorded.
    gain : float, default 1.0
        Factor of the standard deviation; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Raises
    ------
    ValueError
        If ``tensor`` has fewer than two axes.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.xavier_normal_(ex.empty((4, 2))).shape
    (4, 2)
    """
    return _fill_by_fans(tensor, xavier_normal, gain, generator)


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
    """Return uniform numbers of variance ``gain**2 / fan``.

    They lie in ``[-b, b)`` with ``b = gain * sqrt(3 / fan)``, which suits layers before relu.

    Parameters
    ----------
    fan_in : int
        Number of inputs of each unit.
    fan_out : int
        Number of outputs of each unit.
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    a : float, default 0.0
        Slope of "leaky_relu".
    mode : {"fan_in", "fan_out"}, default "fan_in"
        Which fan divides the variance: "fan_in" keeps the variance of activations, "fan_out" that
        of gradients.
    nonlinearity : str, default "leaky_relu"
        Function behind the layer, from which the gain follows; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ValueError
        If ``mode`` or ``nonlinearity`` is unknown, or the fan is not positive.

    References
    ----------
    He et al., "Delving deep into rectifiers", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> weight = ex.nn.init.kaiming_uniform(6, 4, (4, 6), nonlinearity="relu")
    >>> bool(abs(weight).max() <= 1.0)
    True
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
    """Fill a tensor by `kaiming_uniform`, with the fans of its shape.

    Parameters
    ----------
    tensor : Tensor
        The weight to fill, of shape (out, in, ...). It is changed in place, without being recorded.
    a : float, default 0.0
        Slope of "leaky_relu".
    mode : {"fan_in", "fan_out"}, default "fan_in"
        Which fan divides the variance: "fan_in" keeps the variance of activations, "fan_out" that
        of gradients.
    nonlinearity : str, default "leaky_relu"
        Function behind the layer, from which the gain follows; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Raises
    ------
    ValueError
        If ``mode`` or ``nonlinearity`` is unknown, or the fan is not positive.

    Examples
    --------
    >>> import extensor as ex
    >>> layer = ex.nn.Conv2d(3, 8, 3)
    >>> ex.nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu").shape
    (8, 3, 3, 3)
    """
    return _fill_by_fans(tensor, kaiming_uniform, a, mode, nonlinearity, generator)


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
    """Return normally distributed numbers of variance ``gain**2 / fan``.

    Parameters
    ----------
    fan_in : int
        Number of inputs of each unit.
    fan_out : int
        Number of outputs of each unit.
    shape : int or sequence of ints
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    a : float, default 0.0
        Slope of "leaky_relu".
    mode : {"fan_in", "fan_out"}, default "fan_in"
        Which fan divides the variance: "fan_in" keeps the variance of activations, "fan_out" that
        of gradients.
    nonlinearity : str, default "leaky_relu"
        Function behind the layer, from which the gain follows; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ValueError
        If ``mode`` or ``nonlinearity`` is unknown, or the fan is not positive.

    References
    ----------
    He et al., "Delving deep into rectifiers", 2015.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.kaiming_normal(6, 4, (4, 6), nonlinearity="relu").shape
    (4, 6)
    """
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
    """Fill a tensor by `kaiming_normal`, with the fans of its shape.

    Parameters
    ----------
    tensor : Tensor
        The weight to fill, of shape (out, in, ...). It is changed in place, without being recorded.
    a : float, default 0.0
        Slope of "leaky_relu".
    mode : {"fan_in", "fan_out"}, default "fan_in"
        Which fan divides the variance: "fan_in" keeps the variance of activations, "fan_out" that
        of gradients.
    nonlinearity : str, default "leaky_relu"
        Function behind the layer, from which the gain follows; see `calculate_gain`.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Raises
    ------
    ValueError
        If ``mode`` or ``nonlinearity`` is unknown, or the fan is not positive.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.kaiming_normal_(ex.empty((4, 6)), mode="fan_out").shape
    (4, 6)
    """
    return _fill_by_fans(tensor, kaiming_normal, a, mode, nonlinearity, generator)


@checked
def orthogonal(
    shape: int | Sequence[int],
    dtype: DType = None,
    gain: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Return a random orthogonal matrix times ``gain``.

    Its rows are orthonormal, or its columns if it has more rows than columns.

    Parameters
    ----------
    shape : sequence of ints
        Shape of the result, with two axes or more. Axes after the second count as columns.
    dtype : dtype_like, optional
        Floating dtype of the result, by default that of `ex.get_default_dtype`.
    gain : float, default 1.0
        Factor of all numbers.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        A new tensor.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    References
    ----------
    Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear neural
    networks", 2013.

    Examples
    --------
    >>> import extensor as ex
    >>> q = ex.nn.init.orthogonal((2, 3))
    >>> bool(abs(q @ q.T - ex.eye(2)).max() < 1e-6)
    True
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
    """Fill a tensor with a random orthogonal matrix times ``gain``.

    Parameters
    ----------
    tensor : Tensor
        The tensor to fill, with two axes or more. Axes after the second count as columns.
    gain : float, default 1.0
        Factor of all numbers.
    generator : Generator, optional
        Source of random numbers, by default ``ex.random.default_generator``.

    Returns
    -------
    Tensor
        ``tensor`` itself.

    Raises
    ------
    ValueError
        If there are fewer than two axes.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.nn.init.orthogonal_(ex.empty((2, 3))).shape
    (2, 3)
    """
    return _fill(tensor, orthogonal(tensor.shape, tensor.dtype, gain, generator))


@door.through_door
@door.exact_formula
def _orthonormal(xp: Any, a: Any) -> Any:
    # The signs make the distribution uniform: QR alone leaves a diagonal of one sign.
    q, r = xp.linalg.qr(a)
    return q * xp.where(xp.linalg.diagonal(r) < 0, -1, 1).astype(q.dtype)


def _fill(tensor: Tensor, values: Any) -> Tensor:
    array = tensor._array
    if isinstance(array, np.ndarray) and not array.flags.writeable:
        raise value_error("init", "tensor must not be read-only", shape=tensor.shape)
    with no_grad():
        tensor[...] = values
    return tensor


def _fill_by_fans(tensor: Tensor, make: Callable[..., Tensor], *options: Any) -> Tensor:
    fans = calculate_fans(tensor.shape)
    return _fill(tensor, make(*fans, tensor.shape, tensor.dtype, *options))


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
    arguments.choice(op, "mode", mode, tuple(fans))
    if fans[mode] <= 0:
        raise value_error(op, f"{mode} must be positive", **{mode: fans[mode]})
    return calculate_gain(nonlinearity, a) / sqrt(fans[mode])


def __dir__() -> list[str]:
    return sorted(__all__)
