"""Powers of e, logarithms and roots."""

from __future__ import annotations

from math import log as natural_log
from typing import Any

from extensor.arrays import supplement
from extensor.arrays.shapes import same
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.chain import chain_divide, chain_rule, over

LN2 = natural_log(2)
LN10 = natural_log(10)


@op(kernel="exp", shape=same, floats=True)
def exp(xp: Any, x: Array) -> Any:
    """The exponential, ``e ** x``. Derivative: ``output``.

    >>> import extensor as ex
    >>> ex.exp([0.0, -1000.0])
    tensor([1., 0.])
    >>> ex.exp([0.0, 1.0])
    tensor([1.       , 2.7182817])
    >>> ex.exp_backward([1.0, 1.0], output=[1.0, 3.0])
    tensor([1., 3.])
    """
    return xp.exp(x)


@exp.backward(kernel="exp_backward", unfolds=True)
def exp_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``grad_output * output``."""
    return chain_rule(grad_output, output)


@op(shape=same, floats=True)
def exp2(xp: Any, x: Array) -> Any:
    """``2 ** x``. Derivative: ``output * log(2)``.

    >>> import extensor as ex
    >>> ex.exp2([-1.0, 0.0, 3.0])
    tensor([0.5, 1. , 8. ])
    >>> ex.exp2_backward([1.0, 1.0], output=[1.0, 2.0])
    tensor([0.6931472, 1.3862944])
    """
    return supplement.power(xp, xp.asarray(2, dtype=x.dtype), x)


@exp2.backward()
def exp2_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``grad_output * output * log(2)``."""
    return chain_rule(grad_output, output * LN2)


@op(kernel="expm1", shape=same, floats=True)
def expm1(xp: Any, x: Array) -> Any:
    """``e ** x - 1``, accurate near 0 too. Derivative: ``exp(x)``.

    >>> import extensor as ex
    >>> ex.expm1([0.0, 1e-8])
    tensor([0.e+00, 1.e-08])
    >>> ex.expm1([0.0, 1e-6])
    tensor([0.0000000e+00, 1.0000005e-06])
    >>> ex.expm1_backward([1.0, 1.0], [0.0, 1.0])
    tensor([1.       , 2.7182817])
    """
    return xp.expm1(x)


@expm1.backward(kernel="expm1_backward")
def expm1_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * exp(x)``."""
    # Not output + 1, which has no digits left where x is far below 0.
    return chain_rule(grad_output, exp(x))


@op(kernel="log", shape=same, floats=True)
def log(xp: Any, x: Array) -> Any:
    """The natural logarithm. -inf at 0, NaN below.

    Derivative: ``1 / x``, with ``x`` lifted to ``eps``.

    >>> import extensor as ex
    >>> ex.log_backward([1.0, 1.0], [2.0, 4.0])
    tensor([0.5 , 0.25])
    >>> ex.log([1.0, 0.0])
    tensor([  0., -inf])
    """
    return xp.log(x)


@log.backward(kernel="log_backward", unfolds=True)
def log_backward(grad_output: Tensor, x: Tensor, eps: float = 1e-10) -> Tensor:
    """``grad_output / x``."""
    return over(grad_output, x, eps)


@op(kernel="log2", shape=same, floats=True)
def log2(xp: Any, x: Array) -> Any:
    """The logarithm to base 2. -inf at 0, NaN below.

    Derivative: ``1 / (x * ln(2))``, denominator lifted to ``eps``.

    >>> import extensor as ex
    >>> ex.log2([1.0, 8.0])
    tensor([0., 3.])
    >>> ex.log2_backward([1.0], [2.0])
    tensor([0.7213475])
    """
    return xp.log2(x)


@log2.backward(kernel="log2_backward")
def log2_backward(grad_output: Tensor, x: Tensor, eps: float = 1e-10) -> Tensor:
    """``grad_output / (x * ln(2))``."""
    return over(grad_output, x * LN2, eps)


@op(kernel="log10", shape=same, floats=True)
def log10(xp: Any, x: Array) -> Any:
    """The logarithm to base 10. -inf at 0, NaN below.

    Derivative: ``1 / (x * ln(10))``, denominator lifted to ``eps``.

    >>> import extensor as ex
    >>> ex.log10([1.0, 10.0])
    tensor([0., 1.])
    >>> ex.log10([1.0, 1000.0])
    tensor([0., 3.])
    >>> ex.log10_backward([1.0], [2.0])
    tensor([0.21714723])
    """
    return xp.log10(x)


@log10.backward(kernel="log10_backward")
def log10_backward(grad_output: Tensor, x: Tensor, eps: float = 1e-10) -> Tensor:
    """``grad_output / (x * ln(10))``."""
    return over(grad_output, x * LN10, eps)


@op(kernel="log1p", shape=same, floats=True)
def log1p(xp: Any, x: Array) -> Any:
    """``ln(1 + x)``, accurate near 0 too. -inf at -1, NaN below.

    Derivative: ``1 / (1 + x)``, infinite at -1.

    >>> import extensor as ex
    >>> ex.log1p_backward([1.0, 1.0], [0.0, 3.0])
    tensor([1.  , 0.25])
    >>> ex.log1p([0.0, 1e-6])
    tensor([0.000000e+00, 9.999995e-07])
    >>> ex.log1p_backward([1.0, 1.0], [0.0, 1.0])
    tensor([1. , 0.5])
    """
    return xp.log1p(x)


@log1p.backward(kernel="log1p_backward")
def log1p_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output / (1 + x)``."""
    return chain_divide(grad_output, 1 + x)


@op(kernel="sqrt", shape=same, floats=True)
def sqrt(xp: Any, x: Array) -> Any:
    """The square root. NaN below 0.

    Derivative: ``1 / (2 * output)``, denominator lifted to ``eps``.

    >>> import extensor as ex
    >>> ex.sqrt_backward([1.0, 1.0], output=[1.0, 2.0])
    tensor([0.5 , 0.25])
    >>> ex.sqrt([4.0, 9.0])
    tensor([2., 3.])
    >>> ex.sqrt_backward([1.0, 1.0], output=[2.0, 3.0])
    tensor([0.25      , 0.16666667])
    """
    return xp.sqrt(x)


@sqrt.backward(kernel="sqrt_backward", unfolds=True)
def sqrt_backward(grad_output: Tensor, output: Tensor, eps: float = 1e-10) -> Tensor:
    """``grad_output / (2 * output)``."""
    # Adding 0 turns -0, the root of -0, into 0: the slope there is upwards too.
    return over(grad_output, 2 * output + 0.0, eps)


@op(kernel="rsqrt", shape=same, floats=True)
def rsqrt(xp: Any, x: Array) -> Any:
    """The reciprocal of the square root, ``1 / sqrt(x)``. Infinite at 0, NaN below.

    Derivative: ``-output**3 / 2``, infinite at 0.

    >>> import extensor as ex
    >>> ex.rsqrt_backward([1.0, 1.0], output=[1.0, 2.0])
    tensor([-0.5, -4. ])
    >>> ex.rsqrt([4.0, 0.25])
    tensor([0.5, 2. ])
    >>> ex.rsqrt_backward([1.0], output=[0.5])
    tensor([-0.0625])
    """
    return 1 / xp.sqrt(x)


@rsqrt.backward(kernel="rsqrt_backward", unfolds=True)
def rsqrt_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``-grad_output * output**3 / 2``."""
    return chain_rule(grad_output, -0.5 * output * output * output)
