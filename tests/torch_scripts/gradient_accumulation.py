import torch
from seeded import fill, integers, normal, report
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset

net = fill(
    nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(approximate="tanh"), nn.Linear(8, 3))
)
opt = torch.optim.AdamW(net.parameters(), lr=0.01, eps=1e-6)
first, second = (
    TensorDataset(normal(12, 4), integers(3, 12)),
    TensorDataset(normal(12, 4), integers(3, 12)),
)
loader = DataLoader(ConcatDataset([first, Subset(second, range(6))]), batch_size=3, drop_last=True)
accumulation = 2
ema = {k: v.clone() for k, v in net.state_dict().items()}
opt.zero_grad()
for i, (x, y) in enumerate(loader):
    with torch.set_grad_enabled(True), torch.autocast(device_type="cpu", enabled=False):
        loss = nn.functional.cross_entropy(net(x), y) / accumulation
    loss.backward()
    if (i + 1) % accumulation == 0:
        total = torch.nn.utils.clip_grad_norm_(net.parameters(), max_norm=0.5)
        opt.step()
        opt.zero_grad()
        for k, v in net.state_dict().items():
            ema[k].mul_(0.9).add_(v, alpha=0.1)
        report(total)
    report(loss)
report(sum(v.sum() for v in ema.values()), len(loader))
