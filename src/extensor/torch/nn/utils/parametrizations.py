"""Weights that are computed before each call: by direction and length, or with a largest singular
value of 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor import ops
from extensor.core.modes import no_grad
from extensor.torch.creation import randn
from extensor.torch.nn.module import Parameter
from extensor.torch.tensor_class import handed_out

__all__ = ["spectral_norm", "weight_norm"]


def _norm_of(weight: Any, dim: int | None) -> Any:
    if dim is None:
        return ops.norm(weight)
    axes = tuple(axis for axis in range(weight.ndim) if axis != dim % weight.ndim)
    return ops.norm(weight, 2, axes, True)


def _detach(module: Any, name: str) -> Any:
    """The parameter, taken off the module, which computes it from now on."""
    weight = getattr(module, name)
    delattr(module, name)
    return weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Split a weight into its length ``weight_g`` and its direction ``weight_v``, which are learned."""
    weight = _detach(module, name)
    with no_grad():
        length = _norm_of(weight, dim)
    module.register_parameter(f"{name}_g", Parameter(handed_out(length)))
    module.register_parameter(f"{name}_v", Parameter(weight.data))

    def compute(module: Any, _: Any) -> None:
        g, v = getattr(module, f"{name}_g"), getattr(module, f"{name}_v")
        weight = ops.multiply(v, ops.divide(g, _norm_of(v, dim)))
        object.__setattr__(module, name, handed_out(weight))

    compute(module, None)
    hook = module.register_forward_pre_hook(compute)
    object.__setattr__(module, f"_weight_norm_{name}", (hook, name))
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again."""
    hook, _ = vars(module).pop(f"_weight_norm_{name}")
    hook.remove()
    weight = getattr(module, name).detach()
    for part in (name, f"{name}_g", f"{name}_v"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight))
    return module


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int = 0
) -> Any:
    """Divide a weight by its largest singular value, which power iterations follow in training."""
    weight = _detach(module, name)
    module.register_parameter(f"{name}_orig", Parameter(weight.data))
    rows = weight.shape[dim]
    columns = weight._array.size // rows
    for vector, size in (("u", rows), ("v", columns)):
        start = randn(size, dtype=weight.dtype)
        module.register_buffer(f"{name}_{vector}", handed_out(ops.divide(start, ops.norm(start))))

    def compute(module: Any, _: Any) -> None:
        original = getattr(module, f"{name}_orig")
        matrix = ops.reshape(ops.moveaxis(original, dim, 0), (rows, columns))
        u, v = (getattr(module, f"{name}_{vector}") for vector in "uv")
        if module.training:
            for _ in range(n_power_iterations):
                v._array[...] = _unit(matrix._array.T @ u._array, eps)
                u._array[...] = _unit(matrix._array @ v._array, eps)
        sigma = ops.dot(u.clone(), ops.matmul(matrix, v.clone()))
        object.__setattr__(module, name, handed_out(ops.divide(original, sigma)))

    compute(module, None)
    module.register_forward_pre_hook(compute)
    return module


def _unit(vector: Any, eps: float) -> Any:
    return vector / max(np.linalg.norm(vector), eps)
