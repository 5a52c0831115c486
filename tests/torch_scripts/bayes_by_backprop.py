import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import normal, report
from torch.distributions import Normal, kl_divergence


class BayesLinear(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.mu = nn.Parameter(normal(o, i, scale=0.2))
        self.rho = nn.Parameter(torch.full((o, i), -3.0))
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x):
        sigma = F.softplus(self.rho)
        weight = self.mu + sigma * normal(*self.mu.shape)
        prior = Normal(torch.zeros_like(self.mu), torch.ones_like(self.mu))
        self.kl = kl_divergence(Normal(self.mu, sigma), prior).sum()
        return F.linear(x, weight, self.bias)


net = nn.Sequential(BayesLinear(2, 8), nn.Tanh(), BayesLinear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = normal(32, 2)
y = x.prod(1, keepdim=True)
for _ in range(8):
    out = net(x)
    nll = -Normal(out, 0.1).log_prob(y).sum()
    loss = nll + sum(m.kl for m in net.modules() if isinstance(m, BayesLinear))
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
