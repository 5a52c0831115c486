import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, normal, report

net = fill(
    nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(inplace=True), nn.Linear(12, 4))
)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.OneCycleLR(
    opt, max_lr=0.1, epochs=2, steps_per_epoch=4, cycle_momentum=False
)
base = normal(8, 6)
for _ in range(6):
    features = net(torch.cat([base + 0.1 * normal(8, 6), base + 0.1 * normal(8, 6)], dim=0))
    labels = torch.cat([torch.arange(8) for _ in range(2)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    features = F.normalize(features, dim=1)
    similarity = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool)
    labels = labels[~mask].view(labels.shape[0], -1)
    similarity = similarity[~mask].view(similarity.shape[0], -1)
    positives = similarity[labels.bool()].view(labels.shape[0], -1)
    negatives = similarity[~labels.bool()].view(similarity.shape[0], -1)
    logits = torch.cat([positives, negatives], dim=1) / 0.5
    loss = F.cross_entropy(logits, torch.zeros(logits.shape[0], dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    scheduler.step()
    report(loss, scheduler.get_last_lr()[0])
