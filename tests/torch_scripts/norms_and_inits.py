import torch
import torch.nn as nn
import torch.nn.functional as F
from seeded import fill, normal, report
from torch.nn.utils import (
    parameters_to_vector,
    remove_weight_norm,
    vector_to_parameters,
    weight_norm,
)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


net = nn.Sequential(
    nn.Conv2d(2, 4, 3),
    nn.GroupNorm(2, 4),
    nn.InstanceNorm2d(4, affine=True),
    nn.BatchNorm2d(4),
    nn.AdaptiveAvgPool2d((1, 1)),
    nn.Flatten(),
)
net.apply(weights_init)
fill(net)
with torch.no_grad():
    net[3].weight.fill_(1.5)
x = normal(3, 2, 6, 6)
report(*net(x).flatten().tolist())
layer = weight_norm(fill(nn.Linear(3, 2)))
out = layer(normal(4, 3))
out.sum().backward()
report(*layer.weight_g.flatten().tolist(), *layer.weight_g.grad.flatten().tolist(), out.sum())
remove_weight_norm(layer)
vector = parameters_to_vector(layer.parameters())
vector_to_parameters(vector * 2, layer.parameters())
report(vector.numel(), *layer.weight.flatten().tolist())
report(
    *nn.init.eye_(torch.empty(2, 3)).flatten().tolist(), nn.init.calculate_gain("leaky_relu", 0.2)
)
report(
    *F.layer_norm(x, x.shape[1:]).sum((1, 2, 3)).tolist(),
    *F.normalize(x, dim=1).sum((1, 2, 3)).tolist(),
)
