import torch
import torch.nn as nn
from seeded import fill, normal, report
from torch.distributions import MultivariateNormal


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2), nn.Tanh())
        self.t = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 2))

    def forward(self, x):
        kept = x * self.mask
        s, t = self.s(kept) * (1 - self.mask), self.t(kept) * (1 - self.mask)
        return (1 - self.mask) * (x - t) * torch.exp(-s) + kept, -s.sum(dim=1)


masks = torch.tensor([[0.0, 1.0], [1.0, 0.0]] * 2)
flow = fill(nn.ModuleList([Coupling(m) for m in masks]))
prior = MultivariateNormal(torch.zeros(2), torch.eye(2))
opt = torch.optim.Adam([p for p in flow.parameters() if p.requires_grad], lr=5e-3)
data = normal(32, 2) @ torch.tensor([[1.0, 0.5], [0.0, 0.7]])
for _ in range(8):
    z, logdet = data, data.new_zeros(data.shape[0])
    for layer in flow:
        z, d = layer(z)
        logdet += d
    loss = -(prior.log_prob(z) + logdet).mean()
    opt.zero_grad()
    loss.backward(retain_graph=True)
    opt.step()
    report(loss)
