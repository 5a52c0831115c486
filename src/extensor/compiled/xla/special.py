"""The error function and GELU by XLA's own ops, as the formula's polynomials are long."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import pi, sqrt
from typing import Any

from extensor.arrays.dtypes import is_half
from extensor.compiled.xla.library import jax, jnp, kernels_by_name


def _rounded_once(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """16 bits are computed in float32."""

    @wraps(kernel)
    def rounded(*arguments: Any) -> Any:
        dtype = arguments[0].dtype
        if not is_half(dtype):
            return kernel(*arguments)
        wide = [x.astype(jnp.float32) if hasattr(x, "dtype") else x for x in arguments]
        result = kernel(*wide)
        return result if result is NotImplemented else result.astype(dtype)

    return rounded


@_rounded_once
def erf(x: Any) -> Any:
    return jax.lax.erf(x)


@_rounded_once
def normal_cdf(x: Any) -> Any:
    """With its digits in the lower tail."""
    return 0.5 * jax.lax.erfc(x * -sqrt(0.5))


def _density(x: Any) -> Any:
    return jnp.exp(-0.5 * (x * x)) * (1 / sqrt(2 * pi))


@_rounded_once
def gelu(x: Any, approximate: bool) -> Any:
    """0 at -inf, where the gate is shut."""
    if approximate:
        return NotImplemented
    gate = normal_cdf(x)
    return jnp.where(gate == 0, jnp.copysign(jnp.zeros((), x.dtype), x), gate * x)


@_rounded_once
def gelu_backward(grad_output: Any, x: Any, approximate: bool) -> Any:
    """A gradient of zero stays zero, and so does the gradient at infinity."""
    if approximate:
        return NotImplemented
    density = _density(x)
    slope = normal_cdf(x) + jnp.where(density == 0, 0, density * x)
    return jnp.where(grad_output == 0, grad_output, grad_output * slope)


@_rounded_once
def sqrt_backward(grad_output: Any, output: Any, eps: float) -> Any:
    """``grad_output / (2 * output)``. XLA leaves out a sum with 0, by which the formula has no -0."""
    below = jnp.where(output == 0, 0, 2 * output)
    if eps == 0:
        return grad_output / below
    lifted = jnp.where(jnp.abs(below) < eps, jnp.asarray(eps, below.dtype), below)
    return jnp.where(grad_output == 0, 0, grad_output / lifted)


KERNELS = kernels_by_name(erf, normal_cdf, gelu, gelu_backward, sqrt_backward)
