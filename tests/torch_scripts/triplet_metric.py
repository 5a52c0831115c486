import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, normal, report

net = fill(nn.Sequential(nn.Linear(4, 8), nn.ELU(), nn.Linear(8, 3)))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
a, p, n = normal(8, 4), normal(8, 4), normal(8, 4)
triplet = nn.TripletMarginLoss(margin=1.0, p=2)
cosine = nn.CosineEmbeddingLoss(margin=0.2)
rank = nn.MarginRankingLoss(margin=0.1)
for _ in range(6):
    ea, ep, en = F.normalize(net(a), p=2, dim=1), net(p), net(n)
    sim = F.cosine_similarity(ea.unsqueeze(1), ep.unsqueeze(0), dim=2) / 0.5
    info_nce = F.cross_entropy(sim, torch.arange(8))
    loss = triplet(ea, ep, en) + cosine(ep, en, torch.ones(8) * -1) + info_nce
    loss = loss + rank(ep.sum(1), en.sum(1), torch.ones(8)) + torch.cdist(ea, ep).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
