"""Data and initial weights from NumPy, so that a script computes the same wherever it runs."""

import sys

import numpy as np
import torch

torch.set_default_dtype(getattr(torch, sys.argv[1]) if len(sys.argv) > 1 else torch.float64)
rng = np.random.default_rng(0)


def normal(*shape, scale=1.0):
    return torch.tensor(rng.normal(size=shape) * scale).to(torch.get_default_dtype())


def uniform(*shape):
    return torch.tensor(rng.uniform(size=shape)).to(torch.get_default_dtype())


def integers(high, *shape):
    return torch.from_numpy(rng.integers(0, high, shape))


def fill(*modules, scale=0.3):
    """Put seeded values into the parameters of modules; scales of normalizations stay at 1."""
    with torch.no_grad():
        for module in modules:
            for name, p in module.named_parameters():
                if p.dim() > 1 or "bias" in name:
                    p.copy_(normal(*p.shape, scale=scale))
    return modules[0] if len(modules) == 1 else modules


def report(*values):
    for value in values:
        print("%.10g" % float(value))
