"""Arithmetic. Every rule sums its gradients back over the axes that broadcasting added or stretched."""

from __future__ import annotations

from typing import Any

from extensor.arrays import supplement
from extensor.arrays.dtypes import bool_, is_floating
from extensor.arrays.shapes import Shape, broadcast, same
from extensor.core.creation import full_like, ones_like, zeros
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import summed_to
from extensor.ops.chain import chain_rule, lift, over, times
from extensor.ops.comparison import isfinite
from extensor.ops.exponential import log
from extensor.ops.rounding import floor
from extensor.ops.selection import where


@op(kernel="add", shape=broadcast)
def add(xp: Any, a: Array, b: Array) -> Any:
    """The sum ``a + b``. Derivative: ``grad_output`` for both, summed to their shapes.

    >>> import extensor as ex
    >>> ex.add([1.0, 2.0], 3.0)
    tensor([4., 5.])
    >>> ex.add_backward(ex.ones((2, 3)), (2, 3), (3,)).grad_b
    tensor([2., 2., 2.])
    """
    return xp.add(a, b)


@add.backward(kernel="add_backward", unfolds=True)
def add_backward(grad_output: Tensor, a_shape: Shape, b_shape: Shape) -> tuple[Any, Any]:
    """``grad_output`` for both, summed to their shapes."""
    return (
        lambda: summed_to(grad_output, a_shape),
        lambda: summed_to(grad_output, b_shape),
    )


def _check_numbers(name: str, *arrays: Any) -> None:
    if arrays[0].dtype == bool_:
        raise type_error(
            name, "needs numbers (logical_not and logical_xor are for bool)", dtype="bool"
        )


@op(kernel="subtract", shape=broadcast, check=_check_numbers)
def subtract(xp: Any, a: Array, b: Array) -> Any:
    """The difference ``a - b``. Derivative: ``grad_output`` and ``-grad_output``.

    >>> import extensor as ex
    >>> ex.subtract([1.0, 2.0], 3.0)
    tensor([-2., -1.])
    >>> ex.subtract_backward([1.0, 1.0], (2,), ())
    subtract_gradients(grad_a=tensor([1., 1.]), grad_b=tensor(-2.))
    """
    return xp.subtract(a, b)


@subtract.backward(kernel="subtract_backward", unfolds=True)
def subtract_backward(grad_output: Tensor, a_shape: Shape, b_shape: Shape) -> tuple[Any, Any]:
    """``grad_output`` and ``-grad_output``, summed to the inputs' shapes."""
    return (
        lambda: summed_to(grad_output, a_shape),
        lambda: negative(summed_to(grad_output, b_shape)),
    )


@op(kernel="multiply", shape=broadcast)
def multiply(xp: Any, a: Array, b: Array) -> Any:
    """The product ``a * b``, element by element.

    Derivative: ``grad_output * b`` and ``grad_output * a``.

    >>> import extensor as ex
    >>> ex.multiply([1.0, 2.0], [3.0, 4.0])
    tensor([3., 8.])
    >>> ex.multiply_backward([1.0, 1.0], [2.0, 3.0], [4.0, 5.0])
    multiply_gradients(grad_a=tensor([4., 5.]), grad_b=tensor([2., 3.]))
    """
    return xp.multiply(a, b)


@multiply.backward(kernel="multiply_backward", unfolds=True)
def multiply_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output * b`` and ``grad_output * a``, summed to the inputs' shapes."""
    return (
        lambda: summed_to(chain_rule(grad_output, b), a.shape),
        lambda: summed_to(chain_rule(grad_output, a), b.shape),
    )


@op(kernel="divide", shape=broadcast, floats=True)
def divide(xp: Any, a: Array, b: Array) -> Any:
    """The quotient ``a / b``. Infinite or NaN where ``b`` is 0.

    Derivative: ``grad_output / b`` and ``-grad_output * a / b**2``.

    The rule lifts a ``b`` whose magnitude is below ``eps`` to ``eps``, and leaves every other alone.

    >>> import extensor as ex
    >>> ex.divide([1.0, 2.0], [4.0, 0.0])
    tensor([0.25,  inf])
    >>> ex.divide_backward(1.0, 1.0, 4.0)
    divide_gradients(grad_a=tensor(0.25), grad_b=tensor(-0.0625))
    """
    return xp.divide(a, b)


@divide.backward(kernel="divide_backward", unfolds=True)
def divide_backward(
    grad_output: Tensor, a: Tensor, b: Tensor, eps: float = 1e-10
) -> tuple[Any, Any]:
    """``grad_output / b`` and ``-grad_output * a / b**2``, with ``b`` lifted to ``eps``."""
    quotient = over(grad_output, b, eps)
    return (
        lambda: summed_to(quotient, a.shape),
        lambda: summed_to(-times(quotient, a / lift(b, eps), eps), b.shape),
    )


def _check_power(name: str, a: Any, b: Any) -> None:
    if not is_floating(b.dtype) and (b < 0).any():
        raise value_error(name, "an integer base needs exponents of 0 or more", b=int(b.min()))


@op(kernel="power", shape=broadcast, check=_check_power)
def power(xp: Any, a: Array, b: Array) -> Any:
    """``a`` to the power ``b``, for any real exponent.

    Derivative: ``b * a**(b - 1)`` and ``a**b * ln(a)``.

    The derivative in ``b`` is 0 where ``a`` is 0 and ``b`` is not negative, -inf where ``a`` is 0
    and ``b`` is negative, and NaN where ``a`` is negative. The rule lifts an ``a`` whose magnitude is
    below ``eps`` to ``eps`` where ``b < 1``, as only there it is a denominator.

    >>> import extensor as ex
    >>> ex.power([2.0, 4.0], [3.0, 0.5])
    tensor([8., 2.])
    >>> ex.power_backward(1.0, 2.0, 3.0).grad_a
    tensor(12.)
    """
    return supplement.power(xp, a, b)


@power.backward(kernel="power_backward")
def power_backward(
    grad_output: Tensor, a: Tensor, b: Tensor, eps: float = 1e-10
) -> tuple[Any, Any]:
    """``b * a**(b - 1)`` and ``a**b * ln(a)``, times ``grad_output``."""

    def derivative_a() -> Tensor:
        base = a if eps == 0 else where(b < 1, lift(a, eps), a)
        if eps != 0:
            # -0 lifted to -eps would have no root: a zero under a fractional exponent is positive.
            base = where((a == 0) & (b < 1) & (floor(b) != b), full_like(a, eps), base)
        # 0 times infinity or NaN; elsewhere 0 comes by itself, and its derivative 1 / a with it.
        undefined = (b == 0) & ~isfinite(1 / base.detach())
        base = where(undefined, ones_like(base), base)
        return where(undefined, 0.0, b * power(base, b - 1))

    def derivative_b() -> Tensor:
        base = where((a == 0) & (b >= 0), ones_like(a), a)
        return power(base, b) * log(base)

    return (
        lambda: summed_to(times(grad_output, derivative_a(), eps), a.shape),
        lambda: summed_to(times(grad_output, derivative_b(), eps), b.shape),
    )


def _distance_to_multiple(a: Any, b: Any) -> Any:
    quotient = a / b
    return abs(quotient - quotient.round())


@op(kernel="floor_divide", shape=broadcast, kinks=_distance_to_multiple)
def floor_divide(xp: Any, a: Array, b: Array) -> Any:
    """The quotient rounded down, ``floor(a / b)``. Derivative: 0 for both.

    >>> import extensor as ex
    >>> ex.floor_divide([7.0, -7.0], 2.0)
    tensor([ 3., -4.])
    >>> ex.floor_divide_backward([1.0], (1,), (1,))
    floor_divide_gradients(grad_a=tensor([0.]), grad_b=tensor([0.]))
    """
    return xp.floor_divide(a, b)


@floor_divide.backward(kernel="floor_divide_backward")
def floor_divide_backward(
    grad_output: Tensor, a_shape: Shape, b_shape: Shape
) -> tuple[Tensor, Tensor]:
    """Zeros: the function is piecewise constant."""
    return zeros(a_shape, grad_output.dtype), zeros(b_shape, grad_output.dtype)


@op(kernel="modulo", shape=broadcast, kinks=_distance_to_multiple)
def modulo(xp: Any, a: Array, b: Array) -> Any:
    """The remainder of ``a / b`` with the sign of ``b``. Derivative: 1 and ``-floor(a / b)``.

    >>> import extensor as ex
    >>> ex.modulo([7.0, -7.0], 3.0)
    tensor([1., 2.])
    >>> ex.modulo_backward([1.0], [7.0], [3.0])
    modulo_gradients(grad_a=tensor([1.]), grad_b=tensor([-2.]))
    """
    return xp.remainder(a, b)


@modulo.backward(kernel="modulo_backward")
def modulo_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output`` and ``-grad_output * floor(a / b)``."""
    return (
        lambda: summed_to(grad_output, a.shape),
        lambda: summed_to(chain_rule(grad_output, -floor_divide(a, b)), b.shape),
    )


def _gap(a: Any, b: Any) -> Any:
    return abs(a - b)


def _share_of_first(wins: Tensor, ties: Tensor, dtype: Any) -> Tensor:
    return wins.astype(dtype) + ties.astype(dtype) * 0.5


@op(kernel="maximum", shape=broadcast, kinks=_gap)
def maximum(xp: Any, a: Array, b: Array) -> Any:
    """The larger of ``a`` and ``b``; NaN if either is. Derivative: to the larger, a tie is shared equally.

    >>> import extensor as ex
    >>> ex.maximum([1.0, 5.0], [3.0, 4.0])
    tensor([3., 5.])
    >>> ex.maximum_backward([1.0, 1.0], [1.0, 2.0], [3.0, 2.0]).grad_a
    tensor([0. , 0.5])
    """
    return xp.maximum(a, b)


@maximum.backward(kernel="maximum_backward")
def maximum_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output`` to the larger input, half each where they tie."""
    return (
        lambda: summed_to(grad_output * _share_of_first(a > b, a == b, a.dtype), a.shape),
        lambda: summed_to(grad_output * _share_of_first(b > a, a == b, b.dtype), b.shape),
    )


@op(kernel="minimum", shape=broadcast, kinks=_gap)
def minimum(xp: Any, a: Array, b: Array) -> Any:
    """The smaller of ``a`` and ``b``; NaN if either is. Derivative: to the smaller, a tie is shared.

    >>> import extensor as ex
    >>> ex.minimum([1.0, 4.0], [3.0, 2.0])
    tensor([1., 2.])
    >>> ex.minimum_backward([1.0, 1.0], [1.0, 5.0], [3.0, 5.0]).grad_a
    tensor([1. , 0.5])
    """
    return xp.minimum(a, b)


@minimum.backward(kernel="minimum_backward")
def minimum_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output`` to the smaller input, half each where they tie."""
    return (
        lambda: summed_to(grad_output * _share_of_first(a < b, a == b, a.dtype), a.shape),
        lambda: summed_to(grad_output * _share_of_first(b < a, a == b, b.dtype), b.shape),
    )


@op(kernel="negative", shape=same, check=_check_numbers)
def negative(xp: Any, x: Array) -> Any:
    """The negative, ``-x``. Derivative: -1.

    >>> import extensor as ex
    >>> ex.negative([1.0, -2.0])
    tensor([-1.,  2.])
    >>> ex.negative_backward([1.0, 2.0])
    tensor([-1., -2.])
    """
    return xp.negative(x)


@negative.backward(kernel="negative", unfolds=True)
def negative_backward(grad_output: Tensor) -> Tensor:
    """``-grad_output``."""
    return negative(grad_output)


@op(kernel="reciprocal", shape=same, floats=True)
def reciprocal(xp: Any, x: Array) -> Any:
    """The reciprocal, ``1 / x``. Infinite at 0. Derivative: ``-output**2``, and infinite at 0.

    >>> import extensor as ex
    >>> ex.reciprocal([2.0, 4.0])
    tensor([0.5 , 0.25])
    >>> ex.reciprocal_backward([1.0], output=[0.5])
    tensor([-0.25])
    """
    return 1 / x


@reciprocal.backward(kernel="reciprocal_backward", unfolds=True)
def reciprocal_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``-grad_output * output**2``."""
    return -chain_rule(grad_output, output * output)


@op(kernel="square", shape=same)
def square(xp: Any, x: Array) -> Any:
    """The square, ``x * x``. Derivative: ``2 * x``.

    >>> import extensor as ex
    >>> ex.square([1.0, -3.0])
    tensor([1., 9.])
    >>> ex.square_backward([1.0, 1.0], [3.0, -4.0])
    tensor([ 6., -8.])
    """
    return xp.square(x)


@square.backward(kernel="square_backward", unfolds=True)
def square_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``2 * grad_output * x``."""
    return chain_rule(grad_output, 2 * x)
