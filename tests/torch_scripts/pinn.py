import torch
import torch.nn as nn
from seeded import fill, report

net = fill(
    nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1))
)
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(opt, gamma=0.95)
t = torch.linspace(0, 2, 20).view(-1, 1).requires_grad_(True)
zero = torch.zeros(1, 1, requires_grad=True)
for _ in range(10):
    opt.zero_grad()
    u = net(t)
    du = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)[0]
    d2u = torch.autograd.grad(du, t, torch.ones_like(du), create_graph=True)[0]
    u0 = net(zero)
    v0 = torch.autograd.grad(u0, zero, torch.ones_like(u0), create_graph=True)[0]
    loss = torch.mean((d2u + 4 * u) ** 2) + (torch.squeeze(u0) - 1) ** 2 + torch.squeeze(v0) ** 2
    loss.backward()
    opt.step()
    scheduler.step()
    report(loss)
