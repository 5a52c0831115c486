import torch
from seeded import fill, integers, report, uniform
from torch import nn


class MF(nn.Module):
    def __init__(self, users, items, k):
        super().__init__()
        self.P, self.Q = nn.Embedding(users, k), nn.Embedding(items, k)
        self.bu, self.bi = nn.Embedding(users, 1), nn.Embedding(items, 1)
        self.mean = nn.Parameter(torch.FloatTensor([3.0]).to(torch.get_default_dtype()), False)

    def forward(self, u, i):
        return (
            (self.P(u) * self.Q(i)).sum(1) + self.bu(u).squeeze() + self.bi(i).squeeze() + self.mean
        )


model = fill(MF(6, 7, 3))
u, i, r = integers(6, 40), integers(7, 40), uniform(40) * 4 + 1
opt = torch.optim.Adam(
    filter(lambda p: p.requires_grad, model.parameters()), lr=0.05, weight_decay=1e-5
)
best = float("inf")
for epoch in range(8):
    perm = torch.arange(40).flip(0)
    total = 0.0
    for k in range(0, 40, 10):
        j = perm[k : k + 10]
        loss = nn.functional.smooth_l1_loss(model(u[j], i[j]), r[j])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(j)
    best = min(best, total)
    report(total / 40)
