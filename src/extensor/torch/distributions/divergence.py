"""The divergence of one distribution from another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor import ops
from extensor.torch.distributions import continuous, discrete, multivariate
from extensor.torch.distributions.distribution import Independent, function, sum_last
from extensor.torch.tensor_class import handed_out

_RULES: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """A decorator for the function that computes the divergence of two kinds of distributions."""

    def register(rule: Any) -> Any:
        _RULES[type_p, type_q] = rule
        return rule

    return register


def kl_divergence(p: Any, q: Any) -> Any:
    """``sum(p * log(p / q))``."""
    for first in type(p).__mro__:
        for second in type(q).__mro__:
            if (first, second) in _RULES:
                return _RULES[first, second](p, q)
    raise NotImplementedError(
        f"kl_divergence: of {type(p).__name__} and {type(q).__name__} is not implemented here"
    )


@register_kl(continuous.Normal, continuous.Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    distance = ((p.loc - q.loc) / q.scale) ** 2
    return 0.5 * (ratio + distance - 1 - ratio.log())


@register_kl(discrete.Bernoulli, discrete.Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    # In logits, where neither chance is rounded to 0 or 1.
    def log_chances(logits: Any) -> tuple[Any, Any]:
        return handed_out((-ops.softplus(-logits), -ops.softplus(logits)))  # type: ignore[no-any-return]

    (p1, p0), (q1, q0) = log_chances(p.logits), log_chances(q.logits)
    return p.probs * (p1 - q1) + (1 - p.probs) * (p0 - q0)


@register_kl(discrete.Categorical, discrete.Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = handed_out(ops.where(ops.equal(p.probs, 0), 0.0, p.probs * (p.logits - q.logits)))
    return terms.sum(-1)


@register_kl(discrete.OneHotCategorical, discrete.OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(continuous.Exponential, continuous.Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(continuous.Laplace, continuous.Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(discrete.Poisson, discrete.Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(continuous.Uniform, continuous.Uniform)
def _uniform(p: Any, q: Any) -> Any:
    inside = ops.logical_and(ops.less_equal(q.low, p.low), ops.less_equal(p.high, q.high))
    return handed_out(ops.where(inside, ((q.high - q.low) / (p.high - p.low)).log(), float("inf")))


@register_kl(continuous.Gamma, continuous.Gamma)
def _gamma(p: Any, q: Any) -> Any:
    lgamma, digamma = function("lgamma"), function("digamma")
    a, b = p.concentration, q.concentration
    logs = b * (p.rate / q.rate).log() + handed_out(ops.subtract(lgamma(b), lgamma(a)))
    return logs + (a - b) * digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(continuous.Dirichlet, continuous.Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    lgamma, digamma = function("lgamma"), function("digamma")
    a, b = p.concentration, q.concentration
    totals = handed_out(ops.subtract(lgamma(a.sum(-1)), lgamma(b.sum(-1))))
    parts = handed_out(ops.sum(ops.subtract(lgamma(a), lgamma(b)), -1))
    means = handed_out(ops.subtract(digamma(a), ops.unsqueeze(digamma(a.sum(-1)), -1)))
    return totals - parts + ((a - b) * means).sum(-1)


@register_kl(continuous.Beta, continuous.Beta)
def _beta(p: Any, q: Any) -> Any:
    return _dirichlet(p._both(), q._both())


@register_kl(multivariate.MultivariateNormal, multivariate.MultivariateNormal)
def _multivariate(p: Any, q: Any) -> Any:
    size = p.event_shape[0]
    columns = [multivariate.solve_lower(q.scale_tril, p.scale_tril[..., j]) for j in range(size)]
    trace = sum((column**2).sum(-1) for column in columns)
    distance = (multivariate.solve_lower(q.scale_tril, q.loc - p.loc) ** 2).sum(-1)
    logs = q._log_determinant() - p._log_determinant()
    return logs + 0.5 * (trace + distance - size)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: both must reinterpret as many dimensions")
    return sum_last(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
