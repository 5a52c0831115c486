"""Sign, magnitude and rounding. Where the function is piecewise constant the rule returns zeros."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_, get_default_dtype, is_floating
from extensor.arrays.shapes import same
from extensor.arrays.supplement import clamped
from extensor.core.conversion import as_tensor
from extensor.core.creation import zeros_like
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import shown, type_error, value_error
from extensor.ops.chain import chain_rule
from extensor.ops.selection import where


def to_zero(x: Any, *_: Any) -> Any:
    return np.abs(x)


def _to_whole(x: Any) -> Any:
    return np.abs(x - np.round(x))


def _to_half(x: Any) -> Any:
    return np.abs(x - np.floor(x) - 0.5)


@op(kernel="ceil", shape=same, kinks=_to_whole)
def ceil(xp: Any, x: Array) -> Any:
    """The smallest whole number not below ``x``. Derivative: 0.

    >>> import extensor as ex
    >>> ex.ceil([1.5, -1.5])
    tensor([ 2., -1.])
    >>> ex.ceil_backward([1.0])
    tensor([0.])
    """
    return xp.ceil(x)


@ceil.backward()
def ceil_backward(grad_output: Tensor) -> Tensor:
    """Zeros: the function is piecewise constant."""
    return zeros_like(grad_output)


@op(kernel="floor", shape=same, kinks=_to_whole)
def floor(xp: Any, x: Array) -> Any:
    """The largest whole number not above ``x``. Derivative: 0.

    >>> import extensor as ex
    >>> ex.floor([1.5, -1.5])
    tensor([ 1., -2.])
    >>> ex.floor_backward([1.0])
    tensor([0.])
    """
    return xp.floor(x)


@floor.backward()
def floor_backward(grad_output: Tensor) -> Tensor:
    """Zeros: the function is piecewise constant."""
    return zeros_like(grad_output)


@op(kernel="round", shape=same, kinks=_to_half)
def round(xp: Any, x: Array) -> Any:
    """The nearest whole number, halves to the even one. Derivative: 0.

    >>> import extensor as ex
    >>> ex.round([0.5, 1.5, -1.2])
    tensor([ 0.,  2., -1.])
    >>> ex.round_backward([1.0])
    tensor([0.])
    """
    return x if x.dtype == bool_ else xp.round(x)


@round.backward()
def round_backward(grad_output: Tensor) -> Tensor:
    """Zeros: the function is piecewise constant."""
    return zeros_like(grad_output)


@op(kernel="trunc", shape=same, kinks=_to_whole)
def trunc(xp: Any, x: Array) -> Any:
    """``x`` without its fraction. Derivative: 0.

    >>> import extensor as ex
    >>> ex.trunc([1.5, -1.5])
    tensor([ 1., -1.])
    >>> ex.trunc_backward([1.0])
    tensor([0.])
    """
    return xp.trunc(x)


@trunc.backward()
def trunc_backward(grad_output: Tensor) -> Tensor:
    """Zeros: the function is piecewise constant."""
    return zeros_like(grad_output)


@op(kernel="sign", shape=same, kinks=to_zero)
def sign(xp: Any, x: Array) -> Any:
    """-1, 0 or 1: the sign of ``x``, NaN for NaN. Derivative: 0.

    >>> import extensor as ex
    >>> ex.sign([3.0, 0.0, -2.0])
    tensor([ 1.,  0., -1.])
    >>> ex.sign_backward([1.0])
    tensor([0.])
    """
    return x if x.dtype == bool_ else xp.sign(x)


@sign.backward()
def sign_backward(grad_output: Tensor) -> Tensor:
    """Zeros: the function is piecewise constant."""
    return zeros_like(grad_output)


@op(kernel="abs", shape=same, kinks=to_zero)
def abs(xp: Any, x: Array) -> Any:
    """The magnitude of ``x``. Derivative: ``sign(x)``, 0 at 0.

    >>> import extensor as ex
    >>> ex.abs([-2.0, 0.0, 3.0])
    tensor([2., 0., 3.])
    >>> ex.abs_backward([1.0, 1.0, 1.0], [3.0, 0.0, -2.0])
    tensor([ 1.,  0., -1.])
    """
    return xp.abs(x)


@abs.backward(kernel="abs_backward")
def abs_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * sign(x)``."""
    return chain_rule(grad_output, sign(x))


Bound = float | None


def _bound(name: str, argument: str, value: Any) -> Any:
    """A bound as a number, also one that came as a tensor or array without axes."""
    if not hasattr(value, "dtype"):
        return value
    bound = as_tensor(name, argument, value, Array)
    if bound.ndim or bound.requires_grad:
        kind = "a number" if bound.ndim else "a number without a gradient"
        requirement = f"{argument} must be {kind}, or use maximum and minimum"
        raise type_error(name, requirement, **{argument: shown(value)})
    return bound.item()


def _clip_arguments(x: Any, min_val: Bound, max_val: Bound) -> Sequence[Any]:
    return x, _bound("clip", "min_val", min_val), _bound("clip", "max_val", max_val)


def _bounds(min_val: Bound, max_val: Bound) -> tuple[float, float]:
    return -inf if min_val is None else min_val, inf if max_val is None else max_val


def _check_bounds(name: str, x: Any, min_val: Bound, max_val: Bound) -> None:
    low, high = _bounds(min_val, max_val)
    if low != low or high != high:
        raise value_error(name, "bounds must not be NaN", min_val=min_val, max_val=max_val)
    whole = not isinstance(min_val, float) and not isinstance(max_val, float)
    if whole and isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        if low > limits.max or high < limits.min:
            requirement = f"bounds must leave values of dtype {x.dtype}"
            raise value_error(name, requirement, min_val=min_val, max_val=max_val)


def _to_bounds(x: Any, min_val: Bound, max_val: Bound) -> Any:
    low, high = _bounds(min_val, max_val)
    return np.minimum(np.abs(x - low), np.abs(x - high))


@op(kernel="clip", shape=same, check=_check_bounds, kinks=_to_bounds, arguments=_clip_arguments)
def clip(xp: Any, x: Array, min_val: Bound, max_val: Bound) -> Any:
    """``x`` limited to ``[min_val, max_val]``.

    If ``min_val`` exceeds ``max_val``, every element becomes ``max_val``. Derivative: 1 inside,
    bounds included, else 0.

    Parameters
    ----------
    min_val, max_val
        The bounds; None for no bound.

    Returns
    -------
    Tensor
        The result, in the shape of ``x``.

    >>> import extensor as ex
    >>> ex.clip([-2.0, 0.5, 3.0], 0.0, 1.0)
    tensor([0. , 0.5, 1. ])
    >>> ex.clip_backward([1.0, 1.0, 1.0], [-2.0, 1.0, 0.5], -1.0, 1.0)
    tensor([0., 1., 1.])
    """
    if not is_floating(x.dtype) and (isinstance(min_val, float) or isinstance(max_val, float)):
        x = xp.astype(x, get_default_dtype())
    if is_floating(x.dtype):
        return clamped(xp, x, min_val, max_val)
    return _clipped_integers(xp, x, min_val, max_val)


def _clipped_integers(xp: Any, x: Any, min_val: Any, max_val: Any) -> Any:
    """Bounds that the dtype does not have are none; NumPy would try to convert them."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        min_val = None if min_val is None or min_val <= limits.min else min_val
        max_val = None if max_val is None or max_val >= limits.max else max_val
    if min_val is None and max_val is None:
        return xp.asarray(x, copy=True)
    return xp.clip(x, min_val, max_val)


@clip.backward(kernel="clip_backward")
def clip_backward(grad_output: Tensor, x: Tensor, min_val: Bound, max_val: Bound) -> Tensor:
    """``grad_output`` where ``x`` is within the bounds, else 0."""
    low, high = _bounds(
        _bound("clip_backward", "min_val", min_val), _bound("clip_backward", "max_val", max_val)
    )
    inside = (x >= low) & (x <= high)
    return where(inside, grad_output, zeros_like(grad_output))
