"""Writing into tensors: ``x[i] = v``, and ``x += v`` with its kin.

What is not recorded changes the memory of the tensor, and with it all that share it. A write that is
recorded leaves the memory to those who saved it, and gives the tensor new memory and a new place on
the tape. A view would miss that, so nobody else may hold the memory then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from extensor import _native
from extensor.arrays.dtypes import is_exact, is_floating
from extensor.arrays.supplement import set_at
from extensor.core import changes, door, modes, tape, tracing
from extensor.core.tensor import Tensor, is_recorded_in, to_array, wrap
from extensor.errors import type_error, value_error
from extensor.ops.indexing import At
from extensor.ops.indices import (
    check_updates,
    explained,
    plain,
    read_index,
    selected,
    with_own_arrays,
)

_PLAIN_INDICES = (int, type(...))
_LARGE = 2.0**127  # below it, every number is finite as a float32


_native.set_writing(door.setitem, changes.mark)


def set_item(x: Tensor, index: Any, value: Any) -> None:
    """``x[index] = value``, recorded if ``x`` or ``value`` is."""
    if type(index) not in _PLAIN_INDICES:
        index = read_index("setitem", index)
    if _is_recorded(x, value):
        _check_recordable("setitem", x, value, "x.at[i].set(v)")
        if not is_floating(x.dtype):
            raise type_error(
                "setitem",
                "a tensor that takes what requires grad must be floating",
                dtype=str(x.dtype),
            )
        if hasattr(value, "__array__") and not isinstance(value, Tensor):
            value = to_array(value, op="setitem")  # before the tensor is looked at
        _replace(x, At(_before(x), index).set(value))
    else:
        _write(x, index, value)


def in_place(function: Callable[..., Any], symbol: str) -> Callable[[Tensor, Any], Tensor]:
    """The operator ``x += v`` for the op of ``x + v``."""
    name = function.__name__

    def operator(x: Tensor, value: Any) -> Tensor:
        return overwrite(name, x, function, (value,), symbol)

    operator.__name__ = operator.__qualname__ = f"__i{name}__"
    operator.__doc__ = f"``x {symbol}= value``: changes ``x`` itself."
    return operator


def overwrite(
    name: str,
    x: Tensor,
    function: Callable[..., Any],
    values: tuple[Any, ...],
    symbol: str | None = None,
) -> Tensor:
    """Give ``x`` itself the result of ``function(x, *values)``, recorded if ``x`` or a value is."""
    recorded = _is_recorded(x, values[0] if len(values) == 1 else values)
    if recorded:
        functional = f"x = x {symbol} v" if symbol else f"x = x.{name.removesuffix('_')}(...)"
        _check_recordable(name, x, values, functional)
    # Recorded on the present x: once x has its new node, it would be its own parent.
    result = function(_before(x) if recorded else x, *values)
    _check_result(name, symbol, x, result)
    if recorded:
        _replace(x, result if result.dtype == x.dtype else result.astype(x.dtype))
    else:
        _write(x, ..., result, name)
    return x


def _is_recorded(x: Tensor, value: Any) -> bool:
    return modes.mode.recording and (x._requires_grad or is_recorded_in(value))


def _check_recordable(name: str, x: Tensor, value: Any, functional: str) -> None:
    if x._requires_grad and x._node is None:
        raise RuntimeError(
            f"{name}: a leaf that requires grad cannot be changed in place while the tape records; "
            f"do it inside no_grad(), or compute a new tensor: {functional}"
        )
    if hasattr(x._array, "at"):  # its library gives new memory to every change
        _check_unseen(name, x)
        return
    if _native.shares_memory(x, []) and _native.shares_memory(x, _saved_from(x, value)):
        raise RuntimeError(
            f"{name}: a view, another tensor, an array or the tape holds the memory of this tensor "
            f"too and would miss the recorded change; compute a new tensor, {functional}, "
            "or change a clone()"
        )


def _saved_from(x: Tensor, value: Any) -> list[Any]:
    """The things saved by the calls behind ``x`` and ``value`` since ``x`` has its memory.

    They need it as it is, and may well hold it: ``h[t] = w * h[t - 1]``.
    """
    oldest = 0 if x._node is None else x._node.number
    saved: list[Any] = []
    values = value if isinstance(value, tuple) else (value,)
    stack = [x._node, *(getattr(each, "_node", None) for each in values)]
    seen = set()
    while stack:
        node = stack.pop()
        if isinstance(node, tape.Node) and node.number >= oldest and node not in seen:
            seen.add(node)
            saved.extend(node.saved)
            stack.extend(node.parents)
    return saved


def _before(x: Tensor) -> Tensor:
    """The present ``x`` as a tensor that will not change."""
    before = wrap(x._array)
    before._node = x._node
    before._requires_grad = x._requires_grad
    return before


def _replace(x: Tensor, result: Tensor) -> None:
    # New memory, never the old: nodes that saved the old array still need its values.
    x._array = result._array
    x._node = result._node
    x._requires_grad = result._requires_grad
    # Whoever saved the tensor itself finds other values in it from now on.
    changes.mark(x._array, modes.mode.anomaly)


def _check_result(name: str, symbol: str | None, x: Tensor, result: Tensor) -> None:
    written = f"{symbol}=" if symbol else name
    if result.shape != x.shape:
        raise value_error(
            name,
            f"the result of {written} must have the shape {x.shape} of the tensor it changes",
            result_shape=result.shape,
        )
    same_kind = is_floating(x.dtype) or np.can_cast(result.dtype, x.dtype, "same_kind")
    if not same_kind:
        raise type_error(
            name,
            f"the result of {written} must fit the dtype {x.dtype} of the tensor it changes "
            f"(x = x {symbol or name} v makes a new one)",
            result_dtype=str(result.dtype),
        )


def _write(x: Tensor, index: Any, value: Any, name: str = "setitem") -> None:
    array = x._array
    items = index if type(index) in _PLAIN_INDICES else with_own_arrays(plain(name, index))
    new = value._array if isinstance(value, Tensor) else value
    if getattr(new, "dtype", None) is not array.dtype:
        new = _in_dtype(name, new, array.dtype)
        if x._array is not array:  # reading the value has run code that gave the tensor another
            _write(x, index, new, name)
            return
    if hasattr(array, "at"):
        _check_unseen(name, x)
        x._array = _rewritten(array, items, new)
        changes.mark(x._array, modes.mode.anomaly)
        return
    try:
        door.setitem(array, items, new)
    except (IndexError, OverflowError, ValueError) as error:
        if isinstance(array, np.ndarray) and not array.flags.writeable:
            requirement = "the memory of the tensor is read-only (change a clone() of it)"
            raise value_error(name, requirement) from None
        check_updates(name, tuple(np.shape(new)), selected(name, array.shape, index), "value")
        if isinstance(error, IndexError):
            raise explained(name, array.shape, plain(name, index)) from None
        raise
    except TypeError:
        selected(name, array.shape, index)  # says what is wrong with the parts of a slice
        library = type(array).__module__.partition(".")[0]
        raise type_error(name, "arrays must allow changes in place", library=library) from None
    changes.mark(array, modes.mode.anomaly)


def _check_unseen(name: str, x: Tensor) -> None:
    trace = tracing.current()
    if trace is not None:
        trace.check_unseen(name, x)


@door.through_door
def _rewritten(array: Any, index: Any, value: Any) -> Any:
    """A copy of an array that cannot be changed, with ``value`` at ``index``."""
    return set_at(array, index, value)


@door.through_door
def _cast(array: Any, dtype: Any) -> Any:
    with np.errstate(all="ignore"):
        return array.astype(dtype)


def _in_dtype(name: str, value: Any, dtype: Any) -> Any:
    """``value`` as an array that can be written: rounded to a float, but exact as anything else."""
    if is_floating(dtype):
        if type(value) is int and abs(value) < 2**1023:
            value = float(value)  # NumPy has no integers beyond 64 bits
        if type(value) is float and dtype.itemsize > 2 and abs(value) < _LARGE:
            return value
        if not isinstance(value, Tensor | np.ndarray):
            with np.errstate(all="ignore"):  # what is too large for a float is infinite
                return to_array(value, dtype, name)
        array = to_array(value, op=name)
        return array if array.dtype == dtype else _cast(array, dtype)
    new = to_array(value, op=name)
    if new.dtype != dtype and not is_exact(new, dtype):
        raise value_error(
            name, f"value must fit dtype {dtype} (cast it with astype)", value_dtype=str(new.dtype)
        )
    return new
