"""Dtypes by PyTorch's names, and its rules for mixed ones. A dtype is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays import dtypes as core
from extensor.arrays.dtypes import as_dtype, is_floating, promote
from extensor.core.tensor import Tensor as CoreTensor
from extensor.ops.casting import cast

NAMES = {
    "float32": core.float32,
    "float": core.float32,
    "float64": core.float64,
    "double": core.float64,
    "float16": core.float16,
    "half": core.float16,
    "int64": core.int64,
    "long": core.int64,
    "int32": core.int32,
    "int": core.int32,
    "int16": core.int16,
    "short": core.int16,
    "int8": core.int8,
    "uint8": core.uint8,
    "uint16": core.uint16,
    "uint32": core.uint32,
    "uint64": core.uint64,
    "bool": core.bool_,
}
# By the name of a class or method: the dtype that it stands for.
CLASSES = {
    "FloatTensor": core.float32,
    "DoubleTensor": core.float64,
    "HalfTensor": core.float16,
    "LongTensor": core.int64,
    "IntTensor": core.int32,
    "ShortTensor": core.int16,
    "CharTensor": core.int8,
    "ByteTensor": core.uint8,
    "BoolTensor": core.bool_,
}
CASTS = {
    "float": core.float32,
    "double": core.float64,
    "half": core.float16,
    "long": core.int64,
    "int": core.int32,
    "short": core.int16,
    "char": core.int8,
    "byte": core.uint8,
    "bool": core.bool_,
}
_NUMBERS = (bool, int, float)


def named_dtype(dtype: Any, op: str = "dtype") -> Any:
    """The dtype that a script has given: one of ours, NumPy's, or Python's ``float`` and ``int``."""
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.")
        dtype = NAMES.get(name, CLASSES.get(name)) or name
    elif dtype is float:
        return core.get_default_dtype()
    return as_dtype(dtype, op)


def category(dtype: Any) -> int:
    """0 for booleans, 1 for integers, 2 for floats: a higher one decides."""
    return 2 if is_floating(dtype) else 0 if dtype == core.bool_ else 1


def matched(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands of different dtypes, a 0-d tensor cast to the other's dtype as a number would be.

    It decides only if it is of a higher category: a float beside integers.
    """
    if not (isinstance(a, CoreTensor) and isinstance(b, CoreTensor)):
        return a, b
    if (a.ndim == 0) != (b.ndim == 0) and a.dtype != b.dtype:
        if a.ndim == 0 and category(a.dtype) <= category(b.dtype):
            return cast(a, b.dtype), b
        if b.ndim == 0 and category(b.dtype) <= category(a.dtype):
            return a, cast(b, a.dtype)
    return a, b


def result_type(a: Any, b: Any) -> np.dtype[Any]:
    """The dtype of the result of an operation on two tensors or numbers.

    Parameters
    ----------
    a, b : Tensor or number
        The operands.
    """
    if isinstance(a, CoreTensor) and isinstance(b, CoreTensor):
        a, b = matched(a, b)
        return promote(a.dtype, b.dtype)
    if isinstance(b, CoreTensor):
        a, b = b, a
    kind = type(b)
    if isinstance(a, CoreTensor):
        if kind is bool or category(a.dtype) == 2:
            return a.dtype
        if kind is int:
            return core.int64 if a.dtype == core.bool_ else a.dtype
        return core.get_default_dtype()
    return core.get_default_dtype() if float in (type(a), kind) else core.int64


def promote_types(type1: Any, type2: Any) -> np.dtype[Any]:
    """The dtype that holds the values of both.

    Parameters
    ----------
    type1, type2 : dtype_like
        The dtypes.
    """
    return promote(named_dtype(type1), named_dtype(type2))


def can_cast(from_: Any, to: Any) -> bool:
    """Whether a cast stays within a category or goes to a higher one.

    Parameters
    ----------
    from_, to : dtype_like
        The dtypes.
    """
    return category(named_dtype(from_)) <= category(named_dtype(to))


def set_default_dtype(d: Any) -> None:
    """Set the dtype of tensors that are made of Python floats.

    Parameters
    ----------
    d : dtype_like
        A floating dtype.
    """
    core.set_default_dtype(named_dtype(d))


def finfo(type: Any = None) -> Any:
    """NumPy's description of a floating dtype: eps, max, min, tiny.

    Parameters
    ----------
    type : dtype_like, optional
        The dtype, by default the default dtype.
    """
    dtype = core.get_default_dtype() if type is None else named_dtype(type)
    if core.is_bfloat16(dtype):
        import ml_dtypes

        return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return _FloatInfo(dtype)


class _FloatInfo:
    def __init__(self, dtype: Any) -> None:
        info = np.finfo(dtype)
        self.dtype, self.bits = dtype, info.bits
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = float(info.resolution)


def iinfo(type: Any) -> Any:
    """NumPy's description of an integer dtype: bits, max, min.

    Parameters
    ----------
    type : dtype_like
        The dtype.
    """
    return np.iinfo(named_dtype(type))
