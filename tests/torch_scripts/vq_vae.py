import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, normal, report


class VectorQuantizer(nn.Module):
    def __init__(self, k, d, beta=0.25):
        super().__init__()
        self.beta = beta
        self.embedding = nn.Embedding(k, d)
        self.embedding.weight.data.uniform_(-1.0 / k, 1.0 / k)

    def forward(self, z):
        d = (
            torch.sum(z**2, dim=1, keepdim=True)
            + torch.sum(self.embedding.weight**2, dim=1)
            - 2 * torch.matmul(z, self.embedding.weight.t())
        )
        indices = torch.argmin(d, dim=1).unsqueeze(1)
        encodings = torch.zeros(indices.shape[0], self.embedding.num_embeddings, dtype=z.dtype)
        encodings.scatter_(1, indices, 1)
        z_q = torch.matmul(encodings, self.embedding.weight).view(z.shape)
        loss = torch.mean((z_q.detach() - z) ** 2) + self.beta * torch.mean((z_q - z.detach()) ** 2)
        z_q = z + (z_q - z).detach()
        e_mean = torch.mean(encodings, dim=0)
        perplexity = torch.exp(-torch.sum(e_mean * torch.log(e_mean + 1e-10)))
        return loss, z_q, perplexity


enc, vq, dec = fill(nn.Linear(6, 2), VectorQuantizer(5, 2), nn.Linear(2, 6))
params = list(enc.parameters()) + list(vq.parameters()) + list(dec.parameters())
opt = torch.optim.Adam(params, lr=1e-2, amsgrad=True)
x = normal(16, 6)
for _ in range(6):
    loss, z_q, perplexity = vq(enc(x))
    total = F.mse_loss(dec(z_q), x) / x.var() + loss
    opt.zero_grad()
    total.backward()
    opt.step()
    report(total, perplexity)
