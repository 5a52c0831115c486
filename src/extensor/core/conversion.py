"""Conversion of arguments that are not already tensors of one dtype."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import (
    bool_,
    get_default_dtype,
    int64,
    is_floating,
    is_numeric_scalar,
    promote,
)
from extensor.core import door, tracing
from extensor.core.kinds import Array, Arrays, Indices, Target
from extensor.core.tensor import Tensor, to_array, wrap
from extensor.errors import type_error, value_error
from extensor.errors.array_likes import is_nested
from extensor.errors.torch_names import Size

_SCALARS = (bool, int, float, Size, tracing.Number)


def promoted(
    op: str, inputs: Sequence[Any], names: Sequence[str], kinds: Sequence[Any], floats: bool
) -> list[Any]:
    """The inputs as tensors, the differentiable ones of one dtype.

    A change of dtype is the ``cast`` op, on the tape, so that each gradient comes back in its own
    input's dtype. Python numbers are weak: they take the dtype of the arrays they meet.
    """
    if Arrays in kinds:
        return [_promote_sequence(op, inputs[kinds.index(Arrays)], names[0], floats)]
    if Target in kinds and inputs[kinds.index(Target)] is not None:
        inputs, kinds = _decide_target(op, inputs, kinds)
    arrays = [i for i, kind in enumerate(kinds) if kind is not Indices]
    same = _of_one_dtype(op, [inputs[i] for i in arrays], [names[i] for i in arrays], floats)
    tensors: list[Any] = [None] * len(kinds)
    for i, tensor in zip(arrays, same, strict=True):
        tensors[i] = tensor
    for i, kind in enumerate(kinds):
        if kind is Indices and inputs[i] is not None:
            tensors[i] = as_tensor(op, names[i], inputs[i], kind)
    return tensors


def _promote_sequence(op: str, sequence: Any, name: str, floats: bool) -> list[Any]:
    if not is_nested(sequence) or not sequence:
        raise type_error(
            op, "needs a sequence of at least one tensor", **{name: type(sequence).__name__}
        )
    members = [f"{name}[{index}]" for index in range(len(sequence))]
    for member, value in zip(members, sequence, strict=True):
        if value is None:
            raise type_error(op, f"{member} must be a tensor", **{member: None})
    return _of_one_dtype(op, sequence, members, floats)


def _decide_target(
    op: str, inputs: Sequence[Any], kinds: Sequence[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Inputs and kinds with the target as a tensor: differentiable if floating, else indices."""
    i = kinds.index(Target)
    target = inputs[i] if isinstance(inputs[i], Tensor) else wrap(to_array(inputs[i], op=op))
    kind = Array if is_floating(target.dtype) else Indices
    return [*inputs[:i], target, *inputs[i + 1 :]], [*kinds[:i], kind, *kinds[i + 1 :]]


def as_tensor(op: str, name: str, value: Any, kind: Any) -> Any:
    """One argument as a tensor, a sequence of arrays as a list of tensors; None stays None."""
    if value is None or isinstance(value, Tensor):
        return value
    if is_nested(value) and (kind is Arrays or any(isinstance(x, Tensor) for x in value)):
        member = Array if kind is Arrays else kind
        return [as_tensor(op, f"{name}[{i}]", x, member) for i, x in enumerate(value)]
    return wrap(to_array(value, op=op))


def _of_one_dtype(op: str, inputs: Sequence[Any], names: Sequence[str], floats: bool) -> list[Any]:
    dtype = None
    tensors: list[Any] = []
    for value in inputs:
        if isinstance(value, np.generic):
            inputs = _with_weak_scalars(inputs)
            break
    for name, value in zip(names, inputs, strict=True):
        weak = type(value) in _SCALARS
        tensor = value if weak else as_tensor(op, name, value, Array)
        if isinstance(tensor, list):
            tensor = wrap(to_array(value, op=op))
        tensors.append(tensor)
        if not weak and tensor is not None:
            dtype = tensor.dtype if dtype is None else promote(dtype, tensor.dtype)
    # Numbers come last: they are weak, and may only decide where no array has.
    for value in inputs:
        if type(value) in _SCALARS:
            dtype = _with_scalar(dtype, value)
    if floats and not is_floating(dtype):
        dtype = get_default_dtype()
    return [_cast(op, n, x, dtype) for n, x in zip(names, tensors, strict=True)]


def check_real(op: str, names: Iterable[str], attributes: Iterable[Any]) -> None:
    """Refuse complex attributes, which NumPy would compute with and then cut to their real parts."""
    for name, value in zip(names, attributes, strict=False):
        kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
        if kind == "c" or isinstance(value, complex):
            raise type_error(op, f"{name} must be a number", **{name: type(value).__name__})


def _with_weak_scalars(inputs: Sequence[Any]) -> Sequence[Any]:
    """NumPy's scalars beside tensors or arrays as the Python numbers that they stand for.

    ``x / np.sqrt(2)`` would be float64 otherwise, and all that is computed from it. Among themselves
    they keep their dtypes.
    """
    if all(x is None or isinstance(x, np.generic | bool | int | float) for x in inputs):
        return inputs
    return [x.item() if isinstance(x, np.generic) and is_numeric_scalar(x) else x for x in inputs]


def _with_scalar(dtype: np.dtype[Any] | None, value: Any) -> np.dtype[Any]:
    if isinstance(value, tracing.Number):
        value = value.value
    if isinstance(value, bool):
        return bool_ if dtype is None else dtype
    if isinstance(value, int):
        return int64 if dtype is None or dtype == bool_ else dtype
    return dtype if dtype is not None and is_floating(dtype) else get_default_dtype()


def _cast(op: str, name: str, value: Any, dtype: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, Tensor):
        return value if value.dtype == dtype else value.astype(dtype)
    if isinstance(value, tracing.Number):
        return wrap(value.trace.scalar(value, dtype))
    try:
        with np.errstate(
            over="ignore"
        ):  # a number beyond the dtype's range is infinite, as in IEEE
            # bfloat16 takes no int beyond 64 bits, though it has numbers as large.
            number = float(value) if is_floating(dtype) else value
            return wrap(door.constant(number, dtype))
    except OverflowError:
        raise value_error(op, f"{name} must fit dtype {dtype}", **{name: value}) from None


def unwrapped(x: Any) -> Any:
    """A tensor's array, a list of tensors' arrays; anything else as it is."""
    try:
        return x._array
    except AttributeError:
        pass
    if isinstance(x, list) and x and all(isinstance(item, Tensor) for item in x):
        return [item._array for item in x]
    return x


def own_indices(x: Any, kind: Any) -> Any:
    """A copy of integers that are used as indices; anything else as it is.

    They are checked and then read again: whoever shares their memory (another thread, or a process
    that maps the same file) could change them in between.
    """
    is_index = kind in (Indices, Target) and isinstance(x, np.ndarray) and x.dtype.kind in "iu"
    return x.copy() if is_index else x


def shape_of(x: Any) -> Any:
    """The shape of a tensor or array, the shapes of a sequence of them; None for None."""
    if x is None:
        return None
    if isinstance(x, list | tuple):
        return [tuple(item.shape) for item in x]
    return tuple(x.shape)
