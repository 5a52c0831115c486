import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, normal, report, rng
from torch.distributions import Categorical


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 16)
        self.affine2 = nn.Linear(16, 2)

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.affine1(x))), dim=1)


policy = fill(Policy())
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
eps = 1e-8
for _ in range(5):
    log_probs, rewards, entropies = [], [], []
    for _ in range(8):
        m = Categorical(policy(normal(1, 4)))
        action = torch.tensor([int(rng.integers(2))])
        log_probs.append(m.log_prob(action))
        entropies.append(m.entropy())
        rewards.append(float(rng.normal()))
    R, returns = 0, []
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    loss = (
        torch.cat([-p * R for p, R in zip(log_probs, returns)]).sum()
        - 0.01 * torch.stack(entropies).mean()
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)
