import torch
from seeded import normal, report, uniform
from torch import distributions as D

a, b = uniform(3) * 3 + 0.5, uniform(3) * 2 + 0.5
a.requires_grad_()
value = uniform(3)
beta = D.Beta(a, b)
report(
    *beta.log_prob(value).tolist(),
    *beta.entropy().tolist(),
    *beta.mean.tolist(),
    *beta.variance.tolist(),
)
gamma = D.Gamma(a, b)
report(*gamma.log_prob(value).tolist(), *gamma.entropy().tolist())
dirichlet = D.Dirichlet(a)
point = torch.softmax(normal(3), 0)
report(dirichlet.log_prob(point), dirichlet.entropy(), *dirichlet.mean.tolist())
poisson = D.Poisson(b)
report(*poisson.log_prob(torch.tensor([0.0, 1.0, 4.0])).tolist())
binomial = D.Binomial(5, uniform(3))
report(*binomial.log_prob(torch.tensor([0.0, 2.0, 5.0])).tolist(), *binomial.mean.tolist())
report(*D.Geometric(uniform(3)).log_prob(torch.tensor([0.0, 1.0, 2.0])).tolist())
one_hot = D.OneHotCategorical(logits=normal(4))
report(one_hot.log_prob(torch.tensor([0.0, 1.0, 0.0, 0.0])), one_hot.entropy())
report(*D.Cauchy(a, b).log_prob(value).tolist(), *D.HalfNormal(b).log_prob(value).tolist())
for p, q in (
    (beta, D.Beta(b, a)),
    (gamma, D.Gamma(b, a)),
    (dirichlet, D.Dirichlet(b)),
    (poisson, D.Poisson(a)),
    (D.Exponential(a), D.Exponential(b)),
    (D.Laplace(a, b), D.Laplace(b, a)),
    (D.Bernoulli(value), D.Bernoulli(1 - value)),
):
    report(*D.kl_divergence(p, q).flatten().tolist())
total = beta.log_prob(value).sum() + gamma.log_prob(value).sum() + dirichlet.log_prob(point)
total = total + dirichlet.entropy() + D.kl_divergence(beta, D.Beta(b, b)).sum()
total.backward()
report(*a.grad.tolist())
