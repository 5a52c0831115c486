import torch
import torch.nn as nn

from seeded import normal, report

x = normal(3, 4).requires_grad_()
modules = [
    nn.ReLU(),
    nn.ReLU6(),
    nn.ELU(0.7),
    nn.SELU(),
    nn.CELU(0.5),
    nn.GELU(),
    nn.GELU("tanh"),
    nn.SiLU(),
    nn.Mish(),
    nn.Softplus(2),
    nn.Softsign(),
    nn.Tanh(),
    nn.Sigmoid(),
    nn.LogSigmoid(),
    nn.Hardtanh(-0.5, 0.5),
    nn.Hardswish(),
    nn.Hardsigmoid(),
    nn.Tanhshrink(),
    nn.Softshrink(0.3),
    nn.Hardshrink(0.3),
    nn.LeakyReLU(0.1),
    nn.PReLU(),
    nn.Softmax(dim=-1),
    nn.LogSoftmax(dim=0),
    nn.Softmin(dim=1),
    nn.GLU(dim=1),
    nn.Threshold(0.1, -1.0),
    nn.Identity(),
    nn.Flatten(0),
    nn.Unflatten(1, (2, 2)),
]
total = 0
for module in modules:
    out = module(x)
    total = total + (out * torch.linspace(0, 1, out.numel()).view(out.shape)).sum()
    report(out.sum())
total.backward()
report(*x.grad.flatten().tolist())
y = normal(4)
for name in "exp log1p sqrt rsqrt sin cos tan atan sinh cosh erf sigmoid floor ceil round trunc sign reciprocal square expm1 log2 log10 neg abs".split():
    report(getattr(y.abs(), name)().sum())
