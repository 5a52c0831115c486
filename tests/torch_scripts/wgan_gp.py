import torch
from seeded import fill, normal, report, uniform
from torch import autograd, nn

G = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
fill(G, D)
opt_g = torch.optim.RMSprop(G.parameters(), lr=1e-3)
opt_d = torch.optim.RMSprop(D.parameters(), lr=1e-3)


def gradient_penalty(real, fake):
    alpha = uniform(real.size(0), 1).expand(real.size())
    mixed = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = D(mixed)
    grads = autograd.grad(
        outputs=out,
        inputs=mixed,
        grad_outputs=torch.ones(out.size()),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean() * 10


for _ in range(6):
    for p in D.parameters():
        p.requires_grad = True
    real = normal(8, 2)
    fake = G(normal(8, 3)).detach()
    D.zero_grad()
    loss = D(fake).mean() - D(real).mean() + gradient_penalty(real.data, fake.data)
    loss.backward()
    opt_d.step()
    for p in D.parameters():
        p.requires_grad = False
    G.zero_grad()
    cost = -D(G(normal(8, 3))).mean()
    cost.backward()
    opt_g.step()
    report(loss, cost)
for p in D.parameters():
    p.data.clamp_(-0.01, 0.01)
report(max(p.abs().max().item() for p in D.parameters()))
