"""``torch.distributions``: densities, samples and divergences."""

from __future__ import annotations

from extensor.torch.distributions.continuous import (
    Beta,
    Cauchy,
    Dirichlet,
    Exponential,
    Gamma,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)
from extensor.torch.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    OneHotCategorical,
    Poisson,
)
from extensor.torch.distributions.distribution import Distribution, Independent
from extensor.torch.distributions.divergence import kl_divergence, register_kl
from extensor.torch.distributions.multivariate import MultivariateNormal

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "Gamma",
    "Geometric",
    "HalfNormal",
    "Independent",
    "Laplace",
    "LogNormal",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "Poisson",
    "Uniform",
    "kl_divergence",
    "register_kl",
]


def __dir__() -> list[str]:
    return sorted(__all__)
