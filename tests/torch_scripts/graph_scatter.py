import torch
import torch.nn as nn
from seeded import fill, integers, normal, report


class SAGE(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.neigh = nn.Linear(i, o), nn.Linear(i, o, bias=False)

    def forward(self, x, edge_index):
        row, col = edge_index
        deg = torch.zeros(x.size(0), dtype=x.dtype).scatter_add_(
            0, col, torch.ones(col.numel(), dtype=x.dtype)
        )
        agg = torch.zeros_like(x).index_add_(0, col, x[row])
        return self.own(x) + self.neigh(agg / deg.clamp(min=1).unsqueeze(-1))


net = fill(nn.ModuleDict({"a": SAGE(4, 8), "b": SAGE(8, 3)}))
x, edges, y = normal(10, 4), torch.stack([integers(10, 30), integers(10, 30)]), integers(3, 10)
batch = torch.tensor([0] * 5 + [1] * 5)
opt = torch.optim.Adam(net.parameters(), lr=0.02)
for _ in range(6):
    h = net["b"](torch.relu(net["a"](x, edges)), edges)
    pooled = torch.zeros(2, 3, dtype=h.dtype).index_add(0, batch, h) / torch.bincount(
        batch
    ).unsqueeze(1)
    loss = nn.functional.cross_entropy(h, y) + pooled.std(dim=0).sum() * 0.1
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
