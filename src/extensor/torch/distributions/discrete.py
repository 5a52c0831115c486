"""Distributions of classes and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import ops, random
from extensor.core.modes import no_grad
from extensor.torch import creation, shapes
from extensor.torch.distributions.distribution import (
    Distribution,
    broadcast,
    function,
    noise,
    numpy_sample,
)
from extensor.torch.nn import functional as F
from extensor.torch.tensor_class import handed_out, wrapped


def _one_of(op: str, probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError(f"{op}: needs either probs or logits")


class _Binary(Distribution):
    """A distribution with a chance, which is given by itself or as a logit."""

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        _one_of(type(self).__name__, probs, logits)
        self._is_logits = probs is None
        (self._given,) = broadcast(logits if probs is None else probs)
        super().__init__(self._given.shape)

    @property
    def probs(self) -> Any:
        """The chance."""
        return self._given.sigmoid() if self._is_logits else self._given

    @property
    def logits(self) -> Any:
        """The logarithm of the odds."""
        if self._is_logits:
            return self._given
        eps = float(np.finfo(self._given.dtype).eps)
        p = self._given.clamp(eps, 1 - eps)
        return p.log() - (-p).log1p()


class Bernoulli(_Binary):
    """1 with a chance, else 0.

    Parameters
    ----------
    probs : Tensor or float, optional
        The chance.
    logits : Tensor or float, optional
        Or the logarithm of the odds.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.distributions.Bernoulli(torch.tensor(0.5)).log_prob(torch.tensor(1.0))
    tensor(-0.6931472)
    """

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            part = noise(random.rand, self._extended_shape(sample_shape), self._given)
            return handed_out(ops.cast(ops.less(part, self.probs), self._given.dtype))

    def log_prob(self, value: Any) -> Any:
        logits, value = shapes.broadcast_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Geometric(_Binary):
    """The number of failures before the first success.

    Parameters
    ----------
    probs, logits : Tensor or float, optional
        The chance of a success, or its logit.
    """

    @property
    def mean(self) -> Any:
        return 1 / self.probs - 1

    @property
    def variance(self) -> Any:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            part = noise(random.rand, self._extended_shape(sample_shape), self._given)
            tries = ops.divide(ops.log1p(ops.negative(part)), ops.log1p(-self.probs))
            return handed_out(ops.floor(tries))

    def log_prob(self, value: Any) -> Any:
        return value * (-self.probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return (
            F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
            / self.probs
        )


class Binomial(_Binary):
    """The number of successes.

    Parameters
    ----------
    total_count : int
        The number of tries.
    probs, logits : Tensor or float, optional
        The chance of a success, or its logit.
    """

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(probs, logits)
        self.total_count, self._given = broadcast(total_count, self._given)
        self._batch_shape = self._given.shape

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        count, chance = self.total_count._array.astype(np.int64), self.probs._array
        return numpy_sample(
            lambda generator, size: generator.binomial(count, chance, size),
            self._extended_shape(sample_shape),
            self._given,
        )

    def log_prob(self, value: Any) -> Any:
        lgamma, n = function("lgamma"), self.total_count
        ways = handed_out(
            ops.subtract(lgamma(n + 1), ops.add(lgamma(value + 1), lgamma(n - value + 1)))
        )
        return ways + value * self.logits - n * F.softplus(self.logits)


class Poisson(Distribution):
    """Counts.

    Parameters
    ----------
    rate : Tensor or float
        The mean.
    """

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast(rate)
        super().__init__(self.rate.shape)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Any:
        rate = self.rate._array
        return numpy_sample(
            lambda generator, size: generator.poisson(rate, size),
            self._extended_shape(sample_shape),
            self.rate,
        )

    def log_prob(self, value: Any) -> Any:
        return value * self.rate.log() - self.rate - function("lgamma")(value + 1)


class Categorical(Distribution):
    """One of several classes.

    Parameters
    ----------
    probs : Tensor, optional
        The weights of the classes along the last dimension.
    logits : Tensor, optional
        Or their logarithms.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).probs
    tensor([0.25, 0.75])
    """

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        _one_of(type(self).__name__, probs, logits)
        self._is_logits = probs is None
        if probs is None:
            self._given = logits - logits.logsumexp(-1, True)
        else:
            self._given = probs / probs.sum(-1, True)
        super().__init__(self._given.shape[:-1])

    @property
    def _num_events(self) -> int:
        return int(self._given.shape[-1])

    @property
    def probs(self) -> Any:
        """The chances of the classes."""
        return self._given.softmax(-1) if self._is_logits else self._given

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        if self._is_logits:
            return self._given
        eps = float(np.finfo(self._given.dtype).eps)
        return self._given.clamp(eps, 1 - eps).log()

    def sample(self, sample_shape: Any = ()) -> Any:
        count = int(np.prod(sample_shape, dtype=np.int64))
        rows = self.probs.detach()._array.reshape(-1, self._num_events)
        drawn = creation.multinomial(wrapped(rows), max(count, 1), True)._array.T[:count]
        return wrapped(np.ascontiguousarray(drawn).reshape(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        value = value.long().unsqueeze(-1)
        value, log_pmf = shapes.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        least = float(np.finfo(self._given.dtype).min)
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)


class OneHotCategorical(Distribution):
    """One of several classes, as a row of zeros with a 1.

    Parameters
    ----------
    probs, logits : Tensor, optional
        The weights of the classes, or their logarithms.
    """

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, (self._categorical._num_events,))

    @property
    def probs(self) -> Any:
        """The chances of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        indices = self._categorical.sample(sample_shape)
        return creation.one_hot(indices, self._categorical._num_events).to(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Any:
        return self._categorical.entropy()
