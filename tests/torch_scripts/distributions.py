import torch
from seeded import normal, report, uniform
from torch import distributions as D

loc, scale = normal(3), uniform(3) + 0.5
p, q = D.Normal(loc, scale), D.Normal(torch.zeros(3), torch.ones(3))
value = normal(3)
report(
    *p.log_prob(value).tolist(),
    *p.entropy().tolist(),
    *p.cdf(value).tolist(),
    *D.kl_divergence(p, q).tolist(),
)
c = D.Categorical(logits=normal(2, 4))
report(
    *c.log_prob(torch.tensor([1, 3])).tolist(), *c.entropy().tolist(), *c.probs.flatten().tolist()
)
report(*D.kl_divergence(c, D.Categorical(torch.ones(2, 4))).tolist())
b = D.Bernoulli(uniform(3))
report(*b.log_prob(torch.tensor([1.0, 0.0, 1.0])).tolist(), *b.entropy().tolist())
u = D.Uniform(torch.zeros(2), torch.tensor([2.0, 3.0]))
report(*u.log_prob(torch.ones(2)).tolist(), *u.entropy().tolist())
report(
    *D.Exponential(scale).log_prob(torch.ones(3)).tolist(),
    *D.Laplace(loc, scale).log_prob(value).tolist(),
)
A = normal(3, 3)
cov = (A @ A.t() + torch.eye(3)).requires_grad_()
m = D.MultivariateNormal(loc, cov)
lp = m.log_prob(normal(4, 3))
lp.sum().backward()
report(*lp.tolist(), m.entropy(), *(cov.grad + cov.grad.t()).flatten().tolist())
report(D.kl_divergence(m, D.MultivariateNormal(torch.zeros(3), torch.eye(3))))
i = D.Independent(p, 1)
report(i.log_prob(value), i.entropy(), *D.LogNormal(loc, scale).log_prob(value.exp()).tolist())
torch.manual_seed(0)
samples = p.rsample((2000,))
report(samples.shape[0], samples.shape[1], round(float((samples.mean(0) - loc).abs().max()) < 0.2))
