import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, normal, report

D = fill(nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.1), nn.Linear(8, 1)))
G = fill(nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)))
d_opt = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.0, 0.9))
g_opt = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.0, 0.9))
for _ in range(5):
    real, z = normal(6, 2), normal(6, 3)
    with torch.no_grad():
        fake = G(z)
    d_loss = F.relu(1.0 - D(real)).mean() + F.relu(1.0 + D(fake)).mean()
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    for p in D.parameters():
        p.requires_grad_(False)
    g_loss = -D(G(z)).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
    for p in D.parameters():
        p.requires_grad_(True)
    report(d_loss, g_loss)
