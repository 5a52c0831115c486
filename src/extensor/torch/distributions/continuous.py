"""Distributions of real numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from extensor import ops, random
from extensor.core.modes import no_grad
from extensor.torch.distributions.distribution import (
    Distribution,
    broadcast,
    function,
    noise,
    numpy_sample,
)
from extensor.torch.tensor_class import handed_out

_LOG_ROOT = 0.5 * math.log(2 * math.pi)


class Normal(Distribution):
    """The normal distribution.

    Parameters
    ----------
    loc : Tensor or float
        The mean.
    scale : Tensor or float
        The standard deviation.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
    tensor(-0.9189385)
    """

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale**2

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.loc + self.scale * noise(
            random.randn, self._extended_shape(sample_shape), self.loc
        )

    def log_prob(self, value: Any) -> Any:
        return -((value - self.loc) ** 2) / (2 * self.variance) - self.scale.log() - _LOG_ROOT

    def entropy(self) -> Any:
        return 0.5 + _LOG_ROOT + self.scale.log()

    def cdf(self, value: Any) -> Any:
        return 0.5 * (1 + ((value - self.loc) / (self.scale * math.sqrt(2))).erf())


class LogNormal(Normal):
    """The distribution of the exponential of normal values.

    Parameters
    ----------
    loc, scale : Tensor or float
        Those of the normal distribution.
    """

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale**2 / 2).exp()

    @property
    def variance(self) -> Any:
        square = self.scale**2
        return square.expm1() * (2 * self.loc + square).exp()

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return super().rsample(sample_shape).exp()

    def log_prob(self, value: Any) -> Any:
        log = value.log()
        return -((log - self.loc) ** 2) / (2 * self.scale**2) - self.scale.log() - _LOG_ROOT - log

    def entropy(self) -> Any:
        return super().entropy() + self.loc

    def cdf(self, value: Any) -> Any:
        return super().cdf(value.log())


class HalfNormal(Distribution):
    """The magnitudes of normal values of mean 0.

    Parameters
    ----------
    scale : Tensor or float
        The standard deviation of the normal distribution.
    """

    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = broadcast(scale)
        self._base = Normal(0.0, self.scale)
        super().__init__(self.scale.shape)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale**2 * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._base.rsample(sample_shape).abs()

    def log_prob(self, value: Any) -> Any:
        density = self._base.log_prob(value) + math.log(2)
        return handed_out(ops.where(ops.greater_equal(value, 0), density, -math.inf))

    def entropy(self) -> Any:
        return self._base.entropy() - math.log(2)


class Uniform(Distribution):
    """The uniform distribution.

    Parameters
    ----------
    low, high : Tensor or float
        The bounds. ``high`` is not included.
    """

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast(low, high)
        if not bool((self.low < self.high).all()):
            raise ValueError("Uniform: low must be below high")
        super().__init__(self.low.shape)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def variance(self) -> Any:
        return (self.high - self.low) ** 2 / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        part = noise(random.rand, self._extended_shape(sample_shape), self.low)
        return self.low + part * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        inside = ops.logical_and(ops.less_equal(self.low, value), ops.less(value, self.high))
        return handed_out(ops.where(inside, 0.0, -math.inf)) - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()


class Exponential(Distribution):
    """The exponential distribution.

    Parameters
    ----------
    rate : Tensor or float
        The inverse of the mean.
    """

    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast(rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        part = noise(random.rand, self._extended_shape(sample_shape), self.rate)
        return handed_out(ops.negative(ops.log1p(ops.negative(part)))) / self.rate

    def log_prob(self, value: Any) -> Any:
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        return 1 - (-self.rate * value).exp()

    def entropy(self) -> Any:
        return 1.0 - self.rate.log()


class Laplace(Distribution):
    """The Laplace distribution.

    Parameters
    ----------
    loc, scale : Tensor or float
        The middle and the mean distance from it.
    """

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale**2

    def rsample(self, sample_shape: Any = ()) -> Any:
        part = noise(random.rand, self._extended_shape(sample_shape), self.loc)
        u = handed_out(ops.subtract(ops.multiply(part, 1 - np.finfo(part.dtype).eps), 0.5))
        return self.loc - self.scale * u.sign() * (-2 * u.abs()).log1p()

    def log_prob(self, value: Any) -> Any:
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Cauchy(Distribution):
    """The Cauchy distribution.

    Parameters
    ----------
    loc, scale : Tensor or float
        The middle and half of the width at half of the height.
    """

    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast(loc, scale)
        super().__init__(self.loc.shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        part = noise(random.rand, self._extended_shape(sample_shape), self.loc)
        return self.loc + self.scale * handed_out(
            ops.tan(ops.multiply(ops.subtract(part, 0.5), math.pi))
        )

    def log_prob(self, value: Any) -> Any:
        squares = (((value - self.loc) / self.scale) ** 2).log1p()
        return -math.log(math.pi) - self.scale.log() - squares

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class Gamma(Distribution):
    """The gamma distribution.

    Parameters
    ----------
    concentration, rate : Tensor or float
        The shape, and the inverse of the scale.
    """

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast(concentration, rate)
        super().__init__(self.concentration.shape)

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate**2

    def sample(self, sample_shape: Any = ()) -> Any:
        shape, rate = self.concentration._array, self.rate._array
        return numpy_sample(
            lambda generator, size: generator.gamma(shape, 1 / rate, size),
            self._extended_shape(sample_shape),
            self.rate,
        )

    def log_prob(self, value: Any) -> Any:
        lgamma, a = function("lgamma"), self.concentration
        return a * self.rate.log() + (a - 1) * value.log() - self.rate * value - lgamma(a)

    def entropy(self) -> Any:
        lgamma, digamma, a = function("lgamma"), function("digamma"), self.concentration
        return a - self.rate.log() + lgamma(a) + (1.0 - a) * digamma(a)


class Dirichlet(Distribution):
    """The Dirichlet distribution over the last dimension.

    Parameters
    ----------
    concentration : Tensor
        The weights, above 0.
    """

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:])

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def variance(self) -> Any:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def sample(self, sample_shape: Any = ()) -> Any:
        weights = self.concentration._array
        drawn = numpy_sample(
            lambda generator, size: generator.gamma(weights, 1.0, size),
            self._extended_shape(sample_shape),
            self.concentration,
        )
        with no_grad():
            return drawn / drawn.sum(-1, True)

    def log_prob(self, value: Any) -> Any:
        lgamma, a = function("lgamma"), self.concentration
        powers = handed_out(ops.sum(ops.multiply(ops.log(value), ops.subtract(a, 1.0)), -1))
        return powers + lgamma(a.sum(-1)) - ops.sum(lgamma(a), -1)

    def entropy(self) -> Any:
        lgamma, digamma, a = function("lgamma"), function("digamma"), self.concentration
        total, count = a.sum(-1), a.shape[-1]
        parts = handed_out(ops.sum(ops.multiply(ops.subtract(a, 1.0), digamma(a)), -1))
        logs = handed_out(ops.subtract(ops.sum(lgamma(a), -1), lgamma(total)))
        return logs - (count - total) * digamma(total) - parts


class Beta(Distribution):
    """The beta distribution.

    Parameters
    ----------
    concentration1, concentration0 : Tensor or float
        The weights of 1 and of 0.
    """

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = broadcast(concentration1, concentration0)
        super().__init__(self.concentration1.shape)

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total**2 * (total + 1))

    def sample(self, sample_shape: Any = ()) -> Any:
        a, b = self.concentration1._array, self.concentration0._array
        return numpy_sample(
            lambda generator, size: generator.beta(a, b, size),
            self._extended_shape(sample_shape),
            self.concentration1,
        )

    def _both(self) -> Dirichlet:
        return Dirichlet(handed_out(ops.stack([self.concentration1, self.concentration0], -1)))

    def log_prob(self, value: Any) -> Any:
        pair = ops.stack([value, ops.subtract(1.0, value)], -1)
        return self._both().log_prob(handed_out(pair))

    def entropy(self) -> Any:
        return self._both().entropy()
