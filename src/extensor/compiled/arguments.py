"""Arguments and results as lists of leaves and a description of how they were nested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor.compiled.residence import held_by
from extensor.core.tensor import Tensor
from extensor.errors import value_error

_PLAIN = (bool, int, str, bytes, type(None), complex)


class Leaves:
    """What was found in nested arguments: tensors and arrays, floats, and other objects."""

    def __init__(self) -> None:
        self.tensors: list[Any] = []
        self.floats: list[float] = []
        self.others: list[Any] = []

    def described(self, value: Any) -> Any:
        """What ``value`` is, with everything on which the computation may depend; it has a hash."""
        kind = type(value)
        if kind is np.ndarray:
            self.tensors.append(value)
            return "array", value.shape, value.dtype
        if isinstance(value, Tensor):
            self.tensors.append(value)
            held = held_by(value)
            if value._node is not None:
                raise value_error(
                    "compile",
                    "a tensor given must be a leaf, as no gradient leaves the function (detach() it)",
                    shape=value.shape,
                )
            grad = value.grad if value._requires_grad else None
            return "tensor", held.shape, held.dtype, value._requires_grad, grad is not None
        if isinstance(value, np.ndarray):
            self.tensors.append(value)
            return "array", value.shape, value.dtype
        if kind is float:
            self.floats.append(value)
            return ("float",)
        if kind in _PLAIN:
            return "plain", kind, value
        if isinstance(value, list | tuple):
            return (kind, *[self.described(x) for x in value])
        if isinstance(value, dict):
            return (kind, tuple(value), *[self.described(x) for x in value.values()])
        self.others.append(value)
        return "other", id(value)


def rebuilt(
    value: Any, tensor: Callable[[Any], Any], number: Callable[[Any], Any] = lambda x: x
) -> Any:
    """``value`` with its tensors, arrays and floats replaced, in the order of their finding."""
    if isinstance(value, Tensor | np.ndarray):
        return tensor(value)
    if type(value) is float:
        return number(value)
    if isinstance(value, list | tuple):
        items = [rebuilt(x, tensor, number) for x in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return type(value)((key, rebuilt(x, tensor, number)) for key, x in value.items())
    return value
