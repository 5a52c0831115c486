import torch
from seeded import fill, integers, normal, report
from torch import nn

net = fill(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
use_amp = torch.cuda.is_available()
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
x, y = normal(12, 6), integers(3, 12)
for _ in range(6):
    with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=use_amp):
        loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(set_to_none=True)
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
    report(loss, scaler.get_scale())
