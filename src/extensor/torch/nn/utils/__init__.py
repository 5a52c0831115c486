"""``torch.nn.utils``: clipping, vectors of parameters, and weights that are computed."""

from __future__ import annotations

from typing import Any

from extensor import ops
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor as CoreTensor
from extensor.optim import clipping
from extensor.torch import creation, reductions, shapes
from extensor.torch.nn.utils import parametrizations as parametrizations
from extensor.torch.nn.utils import rnn as rnn
from extensor.torch.nn.utils.parametrizations import (
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)
from extensor.torch.tensor_class import wrapped

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "remove_weight_norm",
    "rnn",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def _with_gradients(parameters: Any) -> list[Any]:
    given = [parameters] if isinstance(parameters, CoreTensor) else list(parameters)
    return [x for x in given if x.grad is not None]


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale gradients so that their common norm is at most ``max_norm``; the norm before is returned."""
    chosen = _with_gradients(parameters)
    total = get_total_norm([x.grad for x in chosen], norm_type, error_if_nonfinite)
    factor = max_norm / (total.item() + 1e-6)
    # As PyTorch does, whose losses are compared with ours: by a number that is never above 1.
    with no_grad():
        for x in chosen:
            x.grad.mul_(min(factor, 1.0))
    return total


def get_total_norm(
    tensors: Any,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """The norm of all elements of several tensors."""
    with no_grad():
        norms = [reductions.norm(x, float(norm_type)) for x in tensors]
        total = (
            reductions.norm(shapes.stack(norms), float(norm_type)) if norms else creation.zeros(())
        )
    if error_if_nonfinite and not bool(ops.isfinite(total)):
        raise RuntimeError("clip_grad_norm_: the norm of the gradients is not finite")
    return total


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Limit the elements of gradients to ``[-clip_value, clip_value]``."""
    clipping.clip_grad_value(_with_gradients(parameters), float(clip_value))


def parameters_to_vector(parameters: Any) -> Any:
    """All parameters as one vector."""
    return shapes.cat([shapes.reshape(x, -1) for x in parameters])


def vector_to_parameters(vec: Any, parameters: Any) -> None:
    """Write the parts of a vector into parameters."""
    start = 0
    for x in parameters:
        count = x._array.size
        x.data = wrapped(vec._array[start : start + count].reshape(x._array.shape).copy())
        start += count


def __dir__() -> list[str]:
    return sorted(__all__)
