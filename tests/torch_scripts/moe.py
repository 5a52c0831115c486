import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, normal, report


class MoE(nn.Module):
    def __init__(self, dim, experts, k):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(dim, 8), nn.SiLU(), nn.Linear(8, dim)) for _ in range(experts)]
        )

    def forward(self, x):
        logits = self.gate(x)
        weights, chosen = torch.topk(logits, self.k)
        weights = F.softmax(weights, dim=1)
        results = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows, nth = torch.where(chosen == i)
            results = results.index_add(0, rows, weights[rows, nth, None] * expert(x[rows]))
        load = F.one_hot(chosen, logits.size(1)).sum((0, 1)).to(x.dtype)
        balance = (load / load.sum() * logits.softmax(-1).mean(0)).sum() * logits.size(1)
        return results, balance


model = fill(MoE(4, 3, 2), scale=0.5)
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = normal(16, 4), normal(16, 4)
for _ in range(8):
    out, balance = model(x)
    loss = F.mse_loss(out, y) + 0.01 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
