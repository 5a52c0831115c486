import math
import torch
import torch.nn as nn
from seeded import fill, integers, normal, report

steps = 20
betas = torch.linspace(1e-4, 0.02, steps)
alphas = 1.0 - betas
bars = torch.cumprod(alphas, dim=0)


def embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half).to(betas.dtype) / half)
    args = t[:, None].to(betas.dtype) * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU())
        self.inp = nn.Linear(2, 16)
        self.out = nn.Sequential(nn.GELU(), nn.Linear(16, 2))

    def forward(self, x, t):
        return self.out(self.inp(x) + self.time(embedding(t, 8)))


model = fill(Denoiser())
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
data = normal(32, 2)
for _ in range(10):
    t = integers(steps, 32)
    noise = normal(32, 2)
    a = bars.gather(0, t).unsqueeze(1)
    noisy = a.sqrt() * data + (1 - a).sqrt() * noise
    loss = nn.functional.mse_loss(model(noisy, t), noise)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    report(loss)


@torch.no_grad()
def sample():
    x = normal(4, 2)
    for i in reversed(range(steps)):
        t = torch.full((4,), i, dtype=torch.long)
        mean = (x - betas[i] / (1 - bars[i]).sqrt() * model(x, t)) / alphas[i].sqrt()
        x = mean + betas[i].sqrt() * normal(4, 2) if i > 0 else mean
    return x


report(*sample().flatten().tolist())
