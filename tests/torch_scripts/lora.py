import math
import torch
import torch.nn as nn
from seeded import fill, normal, report


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.lora_A = nn.Parameter(torch.zeros(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.lora_A.data.copy_(normal(r, base.in_features))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling


model = fill(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3)))
for name, module in list(model.named_children()):
    if isinstance(module, nn.Linear):
        setattr(model, name, LoRALinear(module))
trainable = [p for n, p in model.named_parameters() if p.requires_grad]
report(sum(p.numel() for p in trainable), len(list(model.parameters())))
opt = torch.optim.AdamW(trainable, lr=1e-2)
x, y = normal(16, 6), normal(16, 3)
for _ in range(8):
    loss = nn.MSELoss()(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    report(loss)
