"""Functions of every element: arithmetic, comparisons, and the functions of one variable."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from extensor import ops
from extensor.arrays.dtypes import is_floating
from extensor.core.tensor import Tensor as CoreTensor
from extensor.torch.dtypes import category, matched
from extensor.torch.tensor_class import (
    Tensor,
    array_of,
    check_tensor,
    functions_of,
    named,
    wrapped,
)

# PyTorch's names of functions of one variable, by the name here.
UNARY = {
    **{name: (name,) for name in "erf erfc erfinv lgamma digamma sinc exp2".split()},
    **{name: (name,) for name in "exp expm1 log log2 log10 log1p sqrt rsqrt relu tanh".split()},
    **{name: (name, f"arc{name[1:]}") for name in "acos asin atan acosh asinh atanh".split()},
    **{name: (name,) for name in "cos cosh sin sinh tan floor ceil isnan isinf isfinite".split()},
    "abs": ("abs", "absolute"),
    "bitwise_not": ("bitwise_not",),
    "logical_not": ("logical_not",),
    "negative": ("neg", "negative"),
    "reciprocal": ("reciprocal",),
    "selu": ("selu",),
    "sigmoid": ("sigmoid", "special_expit"),
    "sign": ("sign", "sgn"),
    "trunc": ("trunc", "fix"),
}
_BINARY = {
    "multiply": ("mul", "multiply"),
    "floor_divide": ("floor_divide",),
    "modulo": ("remainder",),
    "power": ("pow",),
    "maximum": ("maximum",),
    "minimum": ("minimum",),
    "atan2": ("atan2", "arctan2"),
    "copysign": ("copysign",),
    "logaddexp": ("logaddexp",),
    "logaddexp2": ("logaddexp2",),
    "xlogy": ("xlogy",),
    "hypot": ("hypot",),
    "equal": ("eq",),
    "not_equal": ("ne", "not_equal"),
    "less": ("lt", "less"),
    "less_equal": ("le", "less_equal"),
    "greater": ("gt", "greater"),
    "greater_equal": ("ge", "greater_equal"),
    "logical_and": ("logical_and",),
    "logical_or": ("logical_or",),
    "logical_xor": ("logical_xor",),
    "bitwise_and": ("bitwise_and",),
    "bitwise_or": ("bitwise_or",),
    "bitwise_xor": ("bitwise_xor",),
}
_NUMBERS = frozenset((float, int, bool))


def of_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of one variable for tensors of this package."""

    @wraps(function)
    def call(input: Any) -> Tensor:
        result = function(input)
        result.__class__ = Tensor
        return result  # type: ignore[no-any-return]

    return call


def of_two(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of two variables, which first meet by PyTorch's rules for dtypes."""

    @wraps(function)
    def call(input: Any, other: Any) -> Tensor:
        if type(other) not in _NUMBERS and type(input) not in _NUMBERS:
            input, other = _together(input, other)
        result = function(input, other)
        result.__class__ = Tensor
        return result  # type: ignore[no-any-return]

    return call


def _together(a: Any, b: Any) -> tuple[Any, Any]:
    try:
        if a._array.dtype is b._array.dtype:
            return a, b
    except AttributeError:
        return a, b
    return matched(a, b)


FUNCTIONS: dict[str, Any] = {}
for _name, _aliases in UNARY.items():
    if hasattr(ops, _name):
        _function = of_one(getattr(ops, _name))
        FUNCTIONS.update(dict.fromkeys(_aliases, _function))
for _name, _aliases in _BINARY.items():
    if hasattr(ops, _name):
        _function = of_two(getattr(ops, _name))
        FUNCTIONS.update(dict.fromkeys(_aliases, _function))

_fmod = of_two(ops.fmod)
_add, _subtract, _divide = of_two(ops.add), of_two(ops.subtract), of_two(ops.divide)
_multiply, _maximum, _minimum = FUNCTIONS["mul"], FUNCTIONS["maximum"], FUNCTIONS["minimum"]
_remainder, _abs, _sign = FUNCTIONS["remainder"], FUNCTIONS["abs"], FUNCTIONS["sign"]


def add(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """``input + alpha * other``."""
    if alpha != 1:
        other = _multiply(other, alpha) if isinstance(other, CoreTensor) else other * alpha
    return _add(input, other)  # type: ignore[no-any-return]


def sub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """``input - alpha * other``."""
    for x in (input, other):
        if isinstance(x, bool) or getattr(x, "dtype", None) == np.bool_:
            raise RuntimeError("sub: booleans cannot be subtracted; use logical_not or ^")
    if alpha != 1:
        other = _multiply(other, alpha) if isinstance(other, CoreTensor) else other * alpha
    return _subtract(input, other)  # type: ignore[no-any-return]


def rsub(input: Any, other: Any, *, alpha: float = 1) -> Tensor:
    """``other - alpha * input``."""
    return sub(other, input, alpha=alpha)


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """The quotient; ``rounding_mode`` may be "trunc" or "floor"."""
    if rounding_mode is None:
        return _divide(input, other)  # type: ignore[no-any-return]
    if rounding_mode == "floor":
        return FUNCTIONS["floor_divide"](input, other)  # type: ignore[no-any-return]
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div: rounding_mode must be None, 'trunc' or 'floor', got {rounding_mode!r}"
        )
    if all(_is_exact(x) for x in (input, other)):
        input, other = (
            x if isinstance(x, CoreTensor) else wrapped(np.asarray(x)) for x in (input, other)
        )
        below = FUNCTIONS["floor_divide"](_abs(input), _abs(other))
        return _multiply(_multiply(_sign(input), _sign(other)), below)  # type: ignore[no-any-return]
    return FUNCTIONS["trunc"](_divide(input, other))  # type: ignore[no-any-return]


def _is_exact(x: Any) -> bool:
    return category(x.dtype) < 2 if isinstance(x, CoreTensor) else isinstance(x, int)


@named
def square(input: Any) -> Any:
    """``input * input``."""
    return ops.square(input if input.dtype != np.bool_ else ops.cast(input, np.int64))


@named
def round(input: Any, *, decimals: int = 0) -> Any:
    """The nearest integer, halves to the even one; ``decimals`` counts digits after the point."""
    if decimals == 0:
        return ops.round(input)
    scale = 10.0**decimals
    return ops.divide(ops.round(ops.multiply(input, scale)), scale)


@named
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """``input`` limited to ``min`` and ``max``, numbers or tensors."""
    if min is None and max is None:
        raise RuntimeError("clamp: needs min or max")
    if isinstance(min, CoreTensor) or isinstance(max, CoreTensor):
        if min is not None:
            input = _maximum(input, min)
        return input if max is None else _minimum(input, max)
    if not is_floating(input.dtype) and (isinstance(min, float) or isinstance(max, float)):
        input = ops.multiply(input, 1.0)
    if min is not None and max is not None and min > max:
        min = max  # PyTorch's answer: all elements are max
    return ops.clip(input, min, max)


def clamp_min(input: Any, min: Any) -> Tensor:
    """The greater of ``input`` and ``min``."""
    return clamp(input, min)  # type: ignore[no-any-return]


def clamp_max(input: Any, max: Any) -> Tensor:
    """The smaller of ``input`` and ``max``."""
    return clamp(input, None, max)  # type: ignore[no-any-return]


@named
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """``input + value * tensor1 * tensor2``."""
    product = ops.multiply(tensor1, tensor2)
    return ops.add(input, product if value == 1 else ops.multiply(product, value))


@named
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """``input + value * tensor1 / tensor2``."""
    quotient = ops.divide(tensor1, tensor2)
    return ops.add(input, quotient if value == 1 else ops.multiply(quotient, value))


@named
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where ``condition`` holds, elsewhere ``other``; alone, the indices where it holds."""
    if input is None and other is None:
        return tuple(wrapped(index) for index in np.nonzero(array_of(condition, "where")))
    input, other = matched(input, other)
    return ops.where(condition, input, other)


@named
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """``input`` with ``value`` where ``mask`` holds."""
    if isinstance(value, CoreTensor):
        if value.ndim:
            raise RuntimeError("masked_fill: value must be a number or a 0-d tensor")
        return ops.where(mask, ops.cast(value, input.dtype), input)
    if getattr(mask, "dtype", None) != np.bool_:
        raise RuntimeError("masked_fill: mask must be of dtype bool")
    if tuple(mask.shape) != tuple(input.shape) or not is_floating(input.dtype):
        value = value if is_floating(input.dtype) else int(value)
        filled = wrapped(np.asarray(value, input.dtype))
        return ops.where(mask, filled, input)
    return ops.masked_fill(input, mask, value)


def fmod(input: Any, other: Any) -> Tensor:
    """The remainder with the sign of ``input``; that of integers is one."""
    if _is_exact(input) and _is_exact(other):
        positive = _abs(other) if isinstance(other, CoreTensor) else abs(other)
        return _multiply(_sign(input), _remainder(_abs(input), positive))  # type: ignore[no-any-return]
    return _fmod(input, other)  # type: ignore[no-any-return]


@named
def heaviside(input: Any, values: Any) -> Any:
    """0 below zero, 1 above it, and ``values`` at zero."""
    return ops.cast(ops.heaviside(input, values), input.dtype)


@named
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """``input + weight * (end - input)``."""
    return ops.lerp(input, end, weight)


@named
def nan_to_num(
    input: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """``input`` with numbers in place of NaN and infinities."""
    return ops.nan_to_num(input, nan, posinf, neginf)


def polygamma(n: int, input: Any) -> Tensor:
    """The ``n``-th derivative of `digamma`."""
    return named(ops.polygamma)(input, n)  # type: ignore[no-any-return]


@named
def logit(input: Any, eps: float | None = None) -> Any:
    """``log(x / (1 - x))``; ``eps`` keeps ``x`` within ``[eps, 1 - eps]``."""
    input = input if is_floating(input.dtype) else ops.multiply(input, 1.0)
    x = input if eps is None else ops.clip(input, eps, 1 - eps)
    return ops.subtract(ops.log(x), ops.log1p(ops.negative(x)))


@named
def softplus(input: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """``log(1 + exp(beta * x)) / beta``, and ``x`` itself where ``beta * x`` is above ``threshold``."""
    smooth = ops.softplus(input, beta)
    if threshold * 1.0 >= 20.0 and input.dtype.itemsize <= 4:
        return smooth  # the two differ by less than a rounding
    return ops.where(ops.greater(ops.multiply(input, beta), threshold), input, smooth)


def isclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Where two tensors are close: ``|a - b| <= atol + rtol * |b|``."""
    check_tensor("isclose", "other", other)
    a, b = array_of(input, "isclose"), array_of(other, "isclose")
    return wrapped(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))


def allclose(
    input: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements of two tensors are close."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all())


def equal(input: Any, other: Any) -> bool:
    """Whether two tensors have the same shape and elements."""
    check_tensor("equal", "other", other)
    return bool(np.array_equal(input._array, other._array))


FUNCTIONS |= functions_of(globals())
FUNCTIONS |= {
    "subtract": sub,
    "divide": div,
    "true_divide": div,
    "clip": clamp,
    "isposinf": of_one(lambda x: ops.equal(x, float("inf"))),
    "isneginf": of_one(lambda x: ops.equal(x, float("-inf"))),
    "signbit": of_one(lambda x: wrapped(np.signbit(x._array))),
    "positive": of_one(ops.clone),
    "deg2rad": of_one(lambda x: ops.multiply(x, np.pi / 180)),
    "rad2deg": of_one(lambda x: ops.multiply(x, 180 / np.pi)),
    "frac": of_one(lambda x: ops.subtract(x, ops.trunc(x))),
}
del FUNCTIONS["of_one"], FUNCTIONS["of_two"]
