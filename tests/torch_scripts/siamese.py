import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, integers, normal, report
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self):
        self.a, self.b, self.label = normal(24, 1, 6, 6), normal(24, 1, 6, 6), integers(2, 24)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return (self.a[i], self.b[i]), float(self.label[i])


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(
            nn.ReflectionPad2d(1),
            nn.Conv2d(1, 4, 3),
            nn.ReLU(inplace=True),
            nn.BatchNorm2d(4),
            nn.Flatten(),
            nn.Linear(144, 5),
        )

    def forward(self, a, b):
        return self.cnn(a), self.cnn(b)


class ContrastiveLoss(torch.nn.Module):
    def __init__(self, margin=2.0):
        super(ContrastiveLoss, self).__init__()
        self.margin = margin

    def forward(self, a, b, label):
        d = F.pairwise_distance(a, b, keepdim=True)
        return torch.mean(
            (1 - label) * torch.pow(d, 2)
            + label * torch.pow(torch.clamp(self.margin - d, min=0.0), 2)
        )


net = fill(Siamese())
criterion, opt = ContrastiveLoss(), torch.optim.Adam(net.parameters(), lr=5e-4)
for (a, b), label in DataLoader(Pairs(), batch_size=6, num_workers=2, pin_memory=False):
    opt.zero_grad()
    loss = criterion(*net(a, b), label.to(a.dtype).view(-1, 1))
    loss.backward()
    opt.step()
    report(loss)
