"""Circular and hyperbolic functions and their inverses; ``tanh`` is among the activations."""

from __future__ import annotations

from typing import Any

from extensor.arrays.shapes import broadcast, same
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.arithmetic import maximum, square
from extensor.ops.broadcasting import reduce_to_shape
from extensor.ops.chain import chain_divide, chain_rule
from extensor.ops.exponential import sqrt
from extensor.ops.selection import where


@op(kernel="sin", shape=same, floats=True)
def sin(xp: Any, x: Array) -> Any:
    """The sine. Derivative: ``cos(x)``.

    >>> import extensor as ex
    >>> ex.sin([0.0, 1.0])
    tensor([0.        , 0.84147096])
    >>> ex.sin_backward([1.0, 2.0], [0.0, 0.0])
    tensor([1., 2.])
    """
    return xp.sin(x)


@sin.backward(kernel="sin_backward", unfolds=True)
def sin_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * cos(x)``."""
    return chain_rule(grad_output, cos(x))


@op(kernel="cos", shape=same, floats=True)
def cos(xp: Any, x: Array) -> Any:
    """The cosine. Derivative: ``-sin(x)``.

    >>> import extensor as ex
    >>> ex.cos([0.0])
    tensor([1.])
    >>> ex.cos([0.0, 1.0])
    tensor([1.       , 0.5403023])
    >>> ex.cos_backward([1.0], [1.0])
    tensor([-0.84147096])
    """
    return xp.cos(x)


@cos.backward(kernel="cos_backward", unfolds=True)
def cos_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``-grad_output * sin(x)``."""
    return chain_rule(grad_output, -sin(x))


@op(kernel="tan", shape=same, floats=True)
def tan(xp: Any, x: Array) -> Any:
    """The tangent. Derivative: ``1 + output**2``.

    >>> import extensor as ex
    >>> ex.tan([0.0, 1.0])
    tensor([0.       , 1.5574077])
    >>> ex.tan_backward([1.0, 1.0], output=[0.0, 2.0])
    tensor([1., 5.])
    """
    return xp.tan(x)


@tan.backward(kernel="tan_backward")
def tan_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``grad_output * (1 + output**2)``."""
    return chain_rule(grad_output, 1 + output * output)


@op(kernel="asin", shape=same, floats=True)
def asin(xp: Any, x: Array) -> Any:
    """The angle in [-pi/2, pi/2] whose sine is ``x``; NaN outside [-1, 1].

    Derivative: ``1 / sqrt(1 - x**2)``, infinite at -1 and 1.

    >>> import extensor as ex
    >>> ex.asin([0.0, 1.0])
    tensor([0.       , 1.5707964])
    >>> ex.asin_backward([1.0, 1.0], [0.0, 0.6])
    tensor([1.  , 1.25])
    """
    return xp.asin(x)


@asin.backward(kernel="asin_backward")
def asin_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / sqrt(1 - x**2)``."""
    return chain_divide(grad_output, sqrt((1 - x) * (1 + x)))


@op(kernel="acos", shape=same, floats=True)
def acos(xp: Any, x: Array) -> Any:
    """The angle in [0, pi] whose cosine is ``x``; NaN outside [-1, 1].

    Derivative: ``-1 / sqrt(1 - x**2)``, infinite at -1 and 1.

    >>> import extensor as ex
    >>> ex.acos([0.0, 1.0])
    tensor([1.5707964, 0.       ])
    >>> ex.acos_backward([1.0, 1.0], [0.0, 0.6])
    tensor([-1.  , -1.25])
    """
    return xp.acos(x)


@acos.backward(kernel="acos_backward")
def acos_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``-grad_output / sqrt(1 - x**2)``."""
    return -chain_divide(grad_output, sqrt((1 - x) * (1 + x)))


@op(kernel="atan", shape=same, floats=True)
def atan(xp: Any, x: Array) -> Any:
    """The angle in [-pi/2, pi/2] whose tangent is ``x``. Derivative: ``1 / (1 + x**2)``.

    >>> import extensor as ex
    >>> ex.atan([0.0, 1.0])
    tensor([0.       , 0.7853982])
    >>> ex.atan_backward([1.0, 1.0], [0.0, 2.0])
    tensor([1. , 0.2])
    """
    return xp.atan(x)


@atan.backward(kernel="atan_backward")
def atan_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / (1 + x**2)``."""
    return chain_divide(grad_output, 1 + x * x)


@op(kernel="atan2", shape=broadcast, floats=True)
def atan2(xp: Any, a: Array, b: Array) -> Any:
    """The angle in [-pi, pi] of the point with height ``a`` and abscissa ``b``.

    Derivative: ``b / (a**2 + b**2)`` and ``-a / (a**2 + b**2)``, 0 for both at the origin.

    Parameters
    ----------
    a
        The heights.
    b
        The abscissas. They broadcast against ``a``.

    >>> import extensor as ex
    >>> ex.atan2([1.0, 0.0], [1.0, -1.0])
    tensor([0.7853982, 3.1415927])
    >>> ex.atan2_backward(1.0, 3.0, 4.0)
    atan2_gradients(grad_a=tensor(0.16), grad_b=tensor(-0.12))
    """
    return xp.atan2(a, b)


@atan2.backward(kernel="atan2_backward")
def atan2_backward(grad_output: Tensor, a: Tensor, b: Tensor) -> tuple[Any, Any]:
    """``grad_output * b / (a**2 + b**2)`` and ``-grad_output * a / (a**2 + b**2)``."""
    # Scaled by the larger side, so that no square overflows or vanishes. The result does not depend
    # on the scale, so the scale has no derivative.
    larger = maximum(abs(a), abs(b)).detach()
    scale = where(larger == 0, 1.0, larger)
    height, width = chain_divide(a, scale), chain_divide(b, scale)
    squares = where(larger == 0, 1.0, square(height) + square(width))
    slope = chain_divide(chain_divide(grad_output, squares), scale)
    return (
        lambda: reduce_to_shape(chain_rule(slope, width), a.shape),
        lambda: reduce_to_shape(-chain_rule(slope, height), b.shape),
    )


@op(kernel="sinh", shape=same, floats=True)
def sinh(xp: Any, x: Array) -> Any:
    """The hyperbolic sine. Derivative: ``cosh(x)``.

    >>> import extensor as ex
    >>> ex.sinh([0.0, 1.0])
    tensor([0.       , 1.1752012])
    >>> ex.sinh_backward([1.0, 2.0], [0.0, 0.0])
    tensor([1., 2.])
    """
    return xp.sinh(x)


@sinh.backward(kernel="sinh_backward", unfolds=True)
def sinh_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * cosh(x)``."""
    return chain_rule(grad_output, cosh(x))


@op(kernel="cosh", shape=same, floats=True)
def cosh(xp: Any, x: Array) -> Any:
    """The hyperbolic cosine. Derivative: ``sinh(x)``.

    >>> import extensor as ex
    >>> ex.cosh([0.0])
    tensor([1.])
    >>> ex.cosh([0.0, 1.0])
    tensor([1.       , 1.5430806])
    >>> ex.cosh_backward([1.0], [1.0])
    tensor([1.1752012])
    """
    return xp.cosh(x)


@cosh.backward(kernel="cosh_backward", unfolds=True)
def cosh_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * sinh(x)``."""
    return chain_rule(grad_output, sinh(x))


@op(kernel="asinh", shape=same, floats=True)
def asinh(xp: Any, x: Array) -> Any:
    """The number whose hyperbolic sine is ``x``. Derivative: ``1 / sqrt(1 + x**2)``.

    >>> import extensor as ex
    >>> ex.asinh([0.0, 1.0])
    tensor([0.       , 0.8813736])
    >>> ex.asinh_backward([1.0, 1.0], [0.0, 0.75])
    tensor([1. , 0.8])
    """
    return xp.asinh(x)


@asinh.backward(kernel="asinh_backward")
def asinh_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / sqrt(1 + x**2)``."""
    # It is also |1/x| / sqrt(1 + (1/x)**2), whose square does not overflow where x is large.
    large = abs(x) > 1
    side = where(large, 1 / where(large, x, 1.0), x)
    return chain_rule(grad_output, where(large, abs(side), 1.0) / sqrt(1 + side * side))


@op(kernel="acosh", shape=same, floats=True)
def acosh(xp: Any, x: Array) -> Any:
    """The number from 0 upwards whose hyperbolic cosine is ``x``; NaN below 1.

    Derivative: ``1 / sqrt(x**2 - 1)``, infinite at 1.

    >>> import extensor as ex
    >>> ex.acosh([1.0, 2.0])
    tensor([0.      , 1.316958])
    >>> ex.acosh_backward(1.0, 1.25)
    tensor(1.3333334)
    """
    return xp.acosh(x)


@acosh.backward(kernel="acosh_backward")
def acosh_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / sqrt(x**2 - 1)``."""
    return chain_divide(grad_output, sqrt(x - 1) * sqrt(x + 1))


@op(kernel="atanh", shape=same, floats=True)
def atanh(xp: Any, x: Array) -> Any:
    """The number whose hyperbolic tangent is ``x``; NaN outside [-1, 1].

    Derivative: ``1 / (1 - x**2)``, infinite at -1 and 1.

    >>> import extensor as ex
    >>> ex.atanh([0.0, 0.5])
    tensor([0.        , 0.54930615])
    >>> ex.atanh_backward([1.0, 1.0], [0.0, 0.5])
    tensor([1.       , 1.3333334])
    """
    return xp.atanh(x)


@atanh.backward(kernel="atanh_backward")
def atanh_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / (1 - x**2)``."""
    return chain_divide(grad_output, (1 - x) * (1 + x))
