import torch
from seeded import fill, normal, report
from torch import nn
from torch.func import functional_call, grad, hessian, jacrev, vmap

net = fill(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)))
params = {k: v.detach() for k, v in net.named_parameters()}
x, y = normal(6, 3), normal(6, 1)


def loss(params, x, y):
    return (functional_call(net, params, (x.unsqueeze(0),)) - y).pow(2).mean()


gradients = grad(loss)(params, x[0], y[0])
report(*(g.norm() for g in gradients.values()))
per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
report(*(g.norm() for g in per_sample.values()))
f = lambda v: (v.sin() * v.prod()).sum()
v = normal(3)
report(*jacrev(lambda u: u**2 * u.sum())(v).flatten().tolist())
report(*hessian(f)(v).flatten().tolist())
report(*grad(grad(lambda s: s.sin() * s))(torch.tensor(0.7)).view(1).tolist())
report(*torch.autograd.functional.jacobian(lambda u: u.exp(), v).diagonal().tolist())
report(*vmap(torch.dot)(x, x).tolist())
