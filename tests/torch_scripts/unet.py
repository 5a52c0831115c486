import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, integers, normal, report


class DoubleConv(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(a, b, 3, padding=1, bias=False),
            nn.BatchNorm2d(b),
            nn.ReLU(inplace=True),
            nn.Conv2d(b, b, 3, padding=1, bias=False),
            nn.BatchNorm2d(b),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inc = DoubleConv(1, 4)
        self.down = nn.Sequential(nn.MaxPool2d(2), DoubleConv(4, 8))
        self.up = nn.ConvTranspose2d(8, 4, kernel_size=2, stride=2)
        self.conv = DoubleConv(8, 4)
        self.outc = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = self.inc(x)
        b = self.up(self.down(a))
        dy, dx = a.size()[2] - b.size()[2], a.size()[3] - b.size()[3]
        b = F.pad(b, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        return self.outc(self.conv(torch.cat([a, b], dim=1)))


net = fill(UNet())
x, mask = normal(2, 1, 9, 9), integers(2, 2, 9, 9)
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=0.9, weight_decay=1e-8)
for _ in range(5):
    logits = net(x)
    probs = F.softmax(logits, dim=1).float()
    onehot = F.one_hot(mask, 2).permute(0, 3, 1, 2).to(logits.dtype)
    dice = 1 - (2 * (F.softmax(logits, 1) * onehot).sum() + 1e-6) / (
        F.softmax(logits, 1).sum() + onehot.sum() + 1e-6
    )
    loss = F.cross_entropy(logits, mask) + dice
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    report(loss)
