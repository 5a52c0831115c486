import torch
import torch.nn as nn
from seeded import fill, normal, report

G = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2, inplace=True), nn.Linear(16, 2), nn.Tanh())
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2, True), nn.Linear(16, 1), nn.Sigmoid())
fill(G, D)
bce = nn.BCELoss()
opt_g = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-3, betas=(0.5, 0.999))
for step in range(10):
    real, z = normal(8, 2), normal(8, 4)
    ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)
    D.zero_grad()
    fake = G(z)
    loss_d = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    loss_d.backward()
    opt_d.step()
    G.zero_grad()
    loss_g = bce(D(fake), ones)
    loss_g.backward()
    opt_g.step()
    report(loss_d, loss_g)
