"""Checks of a layer's inputs before its op sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extensor.arrays.dtypes import is_floating
from extensor.core.modes import mode
from extensor.core.tensor import Tensor
from extensor.errors import type_error

if TYPE_CHECKING:
    from extensor.nn.module import Module

# By PyTorch's names, where the inputs of its layers stand.
_POSITIONS = (("input", 0), ("input1", 0), ("input2", 1), ("log_input", 0))


def in_dtype_of(module: Module, parameter: Tensor | None, x: Any) -> Any:
    """``x``, refused if it is of another float dtype than the module's ``parameter``.

    The op would bring both to one dtype: a batch of float64, as NumPy makes them, would let the whole
    network compute in float64. Integers take the parameter's dtype, and autocast its own.
    """
    if parameter is None:
        return x
    expected = parameter._array.dtype
    if type(x) is Tensor and x._array.dtype is expected:  # the usual case, soon found
        return x
    given = getattr(x, "dtype", expected)
    if given == expected or not is_floating(given) or mode.casting:
        return x
    raise type_error(
        type(module).__name__,
        f"the input must have the dtype {expected} of the parameters "
        f'(x.astype("{expected}"), or module.to("{given}"))',
        dtype=str(given),
    )


def by_position(
    forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """PyTorch calls ``input`` what comes first into each of its layers, whatever we call it."""
    if forward.__module__.startswith("extensor."):
        for name, position in _POSITIONS:
            if name in kwargs and len(args) == position:
                args = (*args, kwargs.pop(name))
    return args, kwargs
