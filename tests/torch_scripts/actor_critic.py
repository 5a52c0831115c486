import torch
import torch.nn as nn
from seeded import fill, normal, report
from torch.distributions import Independent, Normal


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Tanh())
        self.mean = nn.Linear(16, 2)
        self.log_std = nn.Parameter(torch.zeros(2))
        self.value = nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return Independent(Normal(self.mean(h), self.log_std.exp()), 1), self.value(h).squeeze(-1)


net = fill(ActorCritic())
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
states, actions, returns = normal(16, 3), normal(16, 2), normal(16)
with torch.no_grad():
    dist, value = net(states)
    old, advantage = dist.log_prob(actions), returns - value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
for _ in range(8):
    dist, value = net(states)
    ratio = torch.exp(dist.log_prob(actions) - old)
    surrogate = torch.min(ratio * advantage, torch.clamp(ratio, 1 - 0.2, 1 + 0.2) * advantage)
    loss = -surrogate.mean() + 0.5 * (returns - value).pow(2).mean() - 0.01 * dist.entropy().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
