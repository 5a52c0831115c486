import torch
from seeded import fill, report
from torch import nn

net = fill(nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1)))
x = torch.linspace(0, 1, 20).unsqueeze(1)
x.requires_grad = True
opt = torch.optim.LBFGS(
    net.parameters(), lr=0.5, max_iter=5, history_size=8, line_search_fn="strong_wolfe"
)
rates = []


def closure():
    opt.zero_grad()
    u = net(x)
    (du,) = torch.autograd.grad(u.sum(), x, create_graph=True)
    loss = ((du - torch.cos(3 * x)) ** 2).mean() + (u[0] ** 2).sum()
    loss.backward()
    rates.append(loss.item())
    return loss


for _ in range(3):
    report(opt.step(closure))
report(*rates[:4])
