"""The dtypes of ExTensor, the default float, and the promotion rule.

A dtype is NumPy's. bfloat16 comes from ``ml_dtypes``, which is imported the first time it is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from extensor.errors import expectations, is_ours, shown, type_error

if TYPE_CHECKING:
    from extensor.typing import DTypeLike

    DType: TypeAlias = DTypeLike | None  # as users give it
    Cached = TypeVar("Cached", bound=Callable[..., Any])

    def cache(function: Cached) -> Cached: ...  # the standard library's forgets the parameters

else:
    DType = Any
    cache = functools.cache

bool_ = np.dtype(np.bool_)
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (np.dtype(f"float{bits}") for bits in (16, 32, 64))

_NATIVE = frozenset(
    {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32, float64}
)
_default: np.dtype[Any] = float32

# Called with the bfloat16 dtype when the first array of it comes in: NumPy gives it a number of its own
# only when ml_dtypes is imported.
on_bfloat16: list[Callable[[np.dtype[Any]], None]] = []


@cache
def bfloat16() -> np.dtype[Any]:
    """The bfloat16 dtype; ``ex.bfloat16`` is its value."""
    import ml_dtypes

    return as_dtype(np.dtype(ml_dtypes.bfloat16))


@cache
def is_bfloat16(dtype: DType) -> bool:
    """True for the bfloat16 of ``ml_dtypes``."""
    return getattr(dtype, "name", None) == "bfloat16"


@cache
def is_floating(dtype: DType) -> bool:
    """True for float16, bfloat16, float32 and float64: the dtypes that can carry a gradient."""
    return getattr(dtype, "kind", None) == "f" or is_bfloat16(dtype) or "float" in str(dtype)


@cache
def is_half(dtype: DType) -> bool:
    """True for the two 16-bit floats, which compute in float32 and round once."""
    return is_bfloat16(dtype) or dtype == float16


def as_dtype(dtype: DType, op: str = "dtype") -> np.dtype[Any]:
    """The NumPy dtype that ``dtype`` (a name, type or dtype) stands for; a clear error if unsupported."""
    try:
        return supported(dtype, op)
    except TypeError as error:
        if is_ours(error):
            raise
        raise _unsupported(op, dtype) from None  # what has no hash has no place in a cache


@cache
def supported(dtype: DType, op: str) -> np.dtype[Any]:
    """The same for what has a hash: the dtype of an array."""
    if isinstance(dtype, str) and dtype == "bfloat16":
        return bfloat16()
    try:
        result = np.dtype(dtype)
    except (TypeError, ValueError):
        result = None
    if result in _NATIVE:
        return result
    if result is not None and is_bfloat16(result):
        for announce in on_bfloat16:
            announce(result)
        return result
    raise _unsupported(op, dtype)


def _is_dtype(value: Any) -> bool:
    try:
        return value is None or as_dtype(value) is not None
    except TypeError:
        return False


expectations.define("DType", "a dtype", _is_dtype)


def _unsupported(op: str, dtype: DType) -> TypeError:
    return type_error(
        op,
        "dtype must be bool, int8-64, uint8-64, float16, bfloat16, float32 or float64",
        dtype=shown(dtype),
    )


def get_default_dtype() -> np.dtype[Any]:
    """The dtype of Python floats and of integer inputs to an op that needs floats.

    Returns
    -------
    dtype
        float32 unless set.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.get_default_dtype()
    dtype('float32')
    """
    return _default


def set_default_dtype(dtype: DType) -> None:
    """Make a floating dtype the default.

    Parameters
    ----------
    dtype : dtype_like
        The dtype of Python floats and of integer inputs to an op that needs floats.

    Raises
    ------
    TypeError
        If ``dtype`` is not floating.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.tensor([1.0]).dtype
    dtype('float32')
    >>> ex.set_default_dtype(ex.float64)
    >>> ex.tensor([1.0]).dtype
    dtype('float64')
    >>> ex.set_default_dtype(ex.float32)
    """
    global _default
    resolved = as_dtype(dtype, "set_default_dtype")
    if not is_floating(resolved):
        raise type_error("set_default_dtype", "dtype must be floating", dtype=str(resolved))
    _default = resolved


@cache
def promote(first: np.dtype[Any], second: np.dtype[Any]) -> np.dtype[Any]:
    """The common dtype of two: an integer with a float takes the float's, otherwise NumPy's rule."""
    if first == second:
        return first
    if is_floating(first) != is_floating(second):
        return first if is_floating(first) else second
    if is_half(first) and is_half(second):
        return float32
    return np.promote_types(first, second)


def is_numeric_scalar(scalar: Any) -> bool:
    """True for those of NumPy's scalars that are numbers or booleans of a dtype of ours."""
    return scalar.dtype.kind in "biuf" or is_bfloat16(scalar.dtype)


def is_exact(values: Any, dtype: DType) -> bool:
    """True if an array of ``dtype`` can hold the array ``values`` as they are."""
    with np.errstate(all="ignore"):
        return bool(np.all(np.asarray(values.astype(dtype) == values)))


def first_misfit(values: Any, dtype: np.dtype[Any], plain: bool) -> Any:
    """The first number of the array ``values`` that is none of the integers or booleans of ``dtype``.

    None if there is no such number. Those of arrays (``plain`` is False) may be cast on purpose: floats
    to integers, and any number to a boolean.
    """
    if is_floating(dtype) or values.dtype.kind == "b" or not values.size:
        return None
    whole = values.dtype.kind in "iu"
    if not plain and (not whole or dtype == bool_):
        return None
    low, high = (0, 1) if dtype == bool_ else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if whole:
        fitting = (values >= low) & (values <= high)
    else:
        values = values.astype(float64)  # which has high + 1, but not every high
        fitting = (values >= low) & (values < high + 1) & (values == np.trunc(values))
    return None if fitting.all() else values[~fitting].ravel()[0].item()
