import os
import tempfile
import torch
from seeded import fill, normal, report
from torch import nn

net = fill(nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = normal(8, 3), normal(8, 1)


def step(model, optimizer):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


for _ in range(3):
    report(step(net, opt))
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "checkpoint.pt")
    torch.save(
        {
            "epoch": 3,
            "model_state_dict": net.state_dict(),
            "optimizer": opt.state_dict(),
            "best": (0.5, [1, 2]),
        },
        path,
    )
    state = torch.load(path, map_location="cpu", weights_only=True)
    torch.save(net.state_dict(), path)
    weights = torch.load(path)
    torch.save(torch.arange(3), path)
    report(*torch.load(path).tolist())
other = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))
other.load_state_dict(state["model_state_dict"])
again = torch.optim.Adam(other.parameters(), lr=0.5)
again.load_state_dict(state["optimizer"])
report(state["epoch"], state["best"][1][1], len(weights))
for _ in range(3):
    report(step(other, again) - step(net, opt))
