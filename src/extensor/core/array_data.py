"""Data of users as arrays: numbers, nested lists, tensors and arrays of any library."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor._native import TensorBase
from extensor.arrays.dtypes import (
    DType,
    as_dtype,
    first_misfit,
    get_default_dtype,
    is_bfloat16,
    is_floating,
    supported,
)
from extensor.core import modes
from extensor.errors import type_error, value_error
from extensor.errors.array_likes import as_numpy, is_array_like, is_nested


def to_array(data: Any, dtype: DType = None, op: str = "tensor") -> Any:
    """``data`` as an array of a supported dtype, without a copy where it already is one."""
    if isinstance(data, TensorBase):
        data = data._array
    if dtype is not None:
        dtype = as_dtype(dtype, op)
    if isinstance(data, np.ndarray | np.generic) or not hasattr(data, "__array_namespace__"):
        return _to_numpy(data, dtype, op)
    return data if dtype is None or data.dtype == dtype else data.astype(dtype)


def _to_numpy(data: Any, dtype: Any, op: str) -> Any:
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(data)
    else:
        array = _read_array(data, op)
        if dtype is None and array.dtype == np.float64 and not is_array_like(data):
            dtype = _dtype_of_tensors_in(data) or get_default_dtype()
    if dtype is None:
        supported(array.dtype, op)
        return array
    if array.dtype.kind not in "biuf" and not is_bfloat16(array.dtype):
        raise type_error(op, "data must be numbers", data=type(data).__name__)
    if not is_floating(dtype) and array.dtype != dtype:
        plain = not is_array_like(data) and _dtype_of_tensors_in(data) is None
        misfit = first_misfit(array, dtype, plain)
        if misfit is not None:
            raise value_error(op, f"data must fit dtype {dtype}", data=misfit)
    return array.astype(dtype, copy=False)


def _read_array(data: Any, op: str) -> Any:
    if modes.mode.recording and is_recorded_in(data):
        raise type_error(
            op, "tensors that require grad must be joined (ex.stack) or detached before"
        )
    try:
        return as_numpy(_plain(data))
    except (ValueError, TypeError, OverflowError, BufferError) as error:
        raise type_error(
            op,
            "data must be numbers, nested lists of equal lengths or an array",
            data=type(data).__name__,
            **({"reason": str(error)} if is_array_like(data) else {}),
        ) from error


def _plain(data: Any) -> Any:
    """Nested lists with the tensors inside them turned into arrays."""
    if isinstance(data, TensorBase):
        return data._array
    if is_nested(data) and any(isinstance(x, TensorBase | list | tuple) for x in data):
        return [_plain(x) for x in data]
    return data


def _dtype_of_tensors_in(data: Any) -> DType:
    while is_nested(data) and data:
        data = data[0]
    return getattr(data, "dtype", None)


def is_recorded_in(data: Any) -> bool:
    """True if ``data`` is, or a list that holds, a tensor that requires grad."""
    if is_nested(data):
        return any(is_recorded_in(item) for item in data)
    return isinstance(data, TensorBase) and data._requires_grad
