"""``torch.nn.init``: initial values, written into tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from extensor.core.modes import no_grad
from extensor.nn import init as core
from extensor.ops.in_place import set_item
from extensor.torch.creation import randperm
from extensor.torch.tensor_class import handed_out, wrapped

_NAMES = """
    constant_ kaiming_normal_ kaiming_uniform_ normal_ ones_ orthogonal_ trunc_normal_ uniform_
    xavier_normal_ xavier_uniform_ zeros_
""".split()


def _written(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        function(tensor, *args, **kwargs)
        return handed_out(tensor)

    return call


for _name in _NAMES:
    globals()[_name] = _written(getattr(core, _name))
calculate_gain = core.calculate_gain


def _write(tensor: Any, array: Any) -> Any:
    with no_grad():
        set_item(tensor, ..., wrapped(array.astype(tensor.dtype)))
    return tensor


def eye_(tensor: Any) -> Any:
    """Ones on the diagonal of a matrix."""
    return _write(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Convolution kernels that keep as many channels as possible."""
    array = np.zeros(tensor.shape)
    outputs = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(outputs, tensor.shape[1])):
            array[(group * outputs + channel, channel, *middle)] = 1
    return _write(tensor, array)


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal numbers, of which a part of each column is zero."""
    rows, columns = tensor.shape
    globals()["normal_"](tensor, 0.0, std)
    array = tensor._array.copy()
    for column in range(columns):
        chosen = randperm(rows, generator=generator)._array[: int(np.ceil(sparsity * rows))]
        array[chosen, column] = 0
    return _write(tensor, array)


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    return core.calculate_fans(tuple(tensor.shape))


__all__ = sorted([*_NAMES, "calculate_gain", "dirac_", "eye_", "sparse_"])


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'torch.nn.init' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
