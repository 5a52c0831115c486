"""The error function, its inverse, and the normal distribution."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

from extensor.arrays import error_function
from extensor.arrays.shapes import same
from extensor.arrays.supplement import in_c_order
from extensor.core.op import Array, op
from extensor.core.tensor import Tensor
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp


@op(kernel="erf", shape=same, floats=True)
def erf(xp: Any, x: Array) -> Any:
    """The error function. Derivative: ``2 / sqrt(pi) * exp(-x**2)``.

    >>> import extensor as ex
    >>> ex.erf([-10.0, 0.0, 10.0])
    tensor([-1.,  0.,  1.])
    >>> ex.erf([0.0, 1.0])
    tensor([0.       , 0.8427008])
    >>> ex.erf_backward([1.0], [0.0])
    tensor([1.1283792])
    """
    return error_function.erf(xp, x)


@erf.backward(kernel="erf_backward")
def erf_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * 2 / sqrt(pi) * exp(-x**2)``."""
    return chain_rule(grad_output, 2 / sqrt(pi) * exp(-(x * x)))


@op(shape=same, floats=True)
def erfc(xp: Any, x: Array) -> Any:
    """The complementary error function ``1 - erf(x)``, with all its digits where it is tiny.

    Derivative: ``-2 / sqrt(pi) * exp(-x**2)``.

    >>> import extensor as ex
    >>> ex.erfc([0.0, 1.0, 9.0])
    tensor([1.0000000e+00, 1.5729921e-01, 4.1370318e-37])
    >>> ex.erfc_backward([1.0], [0.0])
    tensor([-1.1283792])
    """
    return error_function.erfc(xp, in_c_order(x))


@erfc.backward()
def erfc_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``-grad_output * 2 / sqrt(pi) * exp(-x**2)``."""
    return chain_rule(grad_output, -2 / sqrt(pi) * exp(-(x * x)))


@op(shape=same, floats=True)
def erfinv(xp: Any, x: Array) -> Any:
    """The inverse of the error function; infinite at -1 and 1, NaN outside.

    Derivative: ``sqrt(pi) / 2 * exp(output**2)``.

    >>> import extensor as ex
    >>> ex.erfinv([-1.0, 0.0, 0.5])
    tensor([      -inf, 0.        , 0.47693628])
    >>> ex.erfinv_backward([1.0], [0.0])
    tensor([0.8862269])
    """
    return error_function.erfinv(xp, in_c_order(x))


@erfinv.backward()
def erfinv_backward(grad_output: Tensor, output: Tensor) -> Tensor:
    """``grad_output * sqrt(pi) / 2 * exp(output**2)``."""
    return chain_rule(grad_output, sqrt(pi) / 2 * exp(output * output))


@op(kernel="normal_cdf", shape=same, floats=True)
def normal_cdf(xp: Any, x: Array) -> Any:
    """The standard normal distribution function ``(1 + erf(x / sqrt(2))) / 2``.

    It keeps its digits in the lower tail. Derivative: ``normal_pdf(x)``.

    >>> import extensor as ex
    >>> ex.normal_cdf([-100.0, 0.0, 10.0])
    tensor([0. , 0.5, 1. ])
    >>> ex.normal_cdf([0.0, 1.96])
    tensor([0.5      , 0.9750021])
    >>> ex.normal_cdf_backward([1.0], [0.0])
    tensor([0.3989423])
    """
    return error_function.normal_cdf(xp, x)


@normal_cdf.backward(kernel="normal_cdf_backward")
def normal_cdf_backward(grad_output: Tensor, x: Tensor) -> Tensor:
    """``grad_output * normal_pdf(x)``."""
    return chain_rule(grad_output, normal_pdf(x))


@op(kernel="normal_pdf", shape=same, floats=True)
def normal_pdf(xp: Any, x: Array) -> Any:
    """The standard normal density ``exp(-x**2 / 2) / sqrt(2 * pi)``. Derivative: ``-x * output``.

    >>> import extensor as ex
    >>> ex.normal_pdf([0.0, 100.0])
    tensor([0.3989423, 0.       ])
    >>> ex.normal_pdf([0.0, 1.0])
    tensor([0.3989423 , 0.24197072])
    >>> ex.normal_pdf_backward([1.0], [1.0], output=[0.24197073])
    tensor([-0.24197073])
    """
    return error_function.normal_pdf(xp, x)


@normal_pdf.backward(kernel="normal_pdf_backward")
def normal_pdf_backward(grad_output: Tensor, x: Tensor, output: Tensor) -> Tensor:
    """``-grad_output * x * output``, and 0 where ``output`` is, even at infinity."""
    return chain_rule(grad_output, -chain_rule(output, x))
