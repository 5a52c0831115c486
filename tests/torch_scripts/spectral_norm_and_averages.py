import torch
import torch.nn as nn
from seeded import fill, normal, report
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.checkpoint import checkpoint

layer = fill(nn.utils.spectral_norm(nn.Linear(4, 3), n_power_iterations=2))
with torch.no_grad():
    for u in (layer.weight_u, layer.weight_v):
        u.copy_(nn.functional.normalize(normal(*u.shape), dim=0))
net = nn.Sequential(layer, nn.Tanh(), fill(nn.Linear(3, 1)))
average = AveragedModel(net[2])
ema = AveragedModel(net[2], multi_avg_fn=get_ema_multi_avg_fn(0.9))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = normal(8, 4), normal(8, 1)
for _ in range(5):
    hidden = checkpoint(net[1], net[0](x), use_reentrant=False)
    loss = nn.functional.mse_loss(net[2](hidden), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    average.update_parameters(net[2])
    ema.update_parameters(net[2])
    report(loss, layer.weight_orig.norm())
report(*average.module.weight.flatten().tolist(), *ema.module.weight.flatten().tolist())
net.eval()
report(*net(x[:2]).flatten().tolist())
