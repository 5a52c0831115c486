import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, report, uniform


def gram_matrix(x):
    a, b, c, d = x.size()
    features = x.view(a * b, c * d)
    return torch.mm(features, features.t()).div(a * b * c * d)


class StyleLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = gram_matrix(target).detach()

    def forward(self, x):
        self.loss = F.mse_loss(gram_matrix(x), self.target)
        return x


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, x):
        self.loss = F.mse_loss(x, self.target)
        return x


class Normalization(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = mean.clone().view(-1, 1, 1)
        self.std = std.clone().view(-1, 1, 1)

    def forward(self, img):
        return (img - self.mean) / self.std


content, style = uniform(1, 3, 8, 8), uniform(1, 3, 8, 8)
cnn = fill(nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 4, 3, padding=1)))
model = nn.Sequential(Normalization(torch.tensor([0.5, 0.4, 0.4]), torch.tensor([0.2, 0.2, 0.2])))
style_losses, content_losses = [], []
for i, layer in enumerate(cnn.children()):
    model.add_module(f"layer_{i}", layer)
    if isinstance(layer, nn.Conv2d):
        style_losses.append(StyleLoss(model(style).detach()))
        model.add_module(f"style_{i}", style_losses[-1])
        content_losses.append(ContentLoss(model(content).detach()))
        model.add_module(f"content_{i}", content_losses[-1])
model.eval()
model.requires_grad_(False)
img = content.clone().requires_grad_(True)
optimizer = torch.optim.Adam([img], lr=0.05)
for _ in range(8):
    with torch.no_grad():
        img.clamp_(0, 1)
    optimizer.zero_grad()
    model(img)
    loss = 1000 * sum(s.loss for s in style_losses) + sum(c.loss for c in content_losses)
    loss.backward()
    optimizer.step()
    report(loss)
