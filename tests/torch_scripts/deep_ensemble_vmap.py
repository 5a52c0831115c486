import copy
import torch
from seeded import fill, normal, report
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

models = [fill(nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 2))) for _ in range(3)]
params, buffers = stack_module_state(models)
base = copy.deepcopy(models[0])
x, y = normal(5, 3), normal(5, 2)


def run(params, buffers, x):
    return functional_call(base, (params, buffers), (x,))


out = vmap(run, in_dims=(0, 0, None))(params, buffers, x)
report(*out.shape, *out.mean(0).flatten().tolist(), *out.std(0).flatten().tolist())
loss = (out - y).pow(2).mean(dim=(1, 2)).sum()
loss.backward()
with torch.no_grad():
    for p in params.values():
        p -= 0.1 * p.grad
report(loss, *(p.norm() for p in params.values()))
