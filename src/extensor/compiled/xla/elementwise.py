"""Ops of single elements: the error function and its kin by XLA's own ops, and whole numbers and bools.

XLA counts otherwise than NumPy where whole numbers are divided by zero, and where bools are added.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import pi, sqrt
from typing import Any

from extensor.arrays.dtypes import bool_, is_floating
from extensor.compiled.xla.library import jax, jnp, kernels_by_name, wide


def _rounded_once(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """16 bits are computed in float32."""

    @wraps(kernel)
    def rounded(*arguments: Any) -> Any:
        result = kernel(*[wide(x) if hasattr(x, "dtype") else x for x in arguments])
        return result if result is NotImplemented else result.astype(arguments[0].dtype)

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


def _widened(x: Any) -> Any:
    """Bools are counted in int8, as NumPy does."""
    return x.astype(jnp.int8) if x.dtype == bool_ else x


def _by_zero(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """0 where whole numbers are divided by 0."""

    def kernel(a: Any, b: Any) -> Any:
        if is_floating(a.dtype):
            return NotImplemented
        a, b = _widened(a), _widened(b)
        zero = jnp.zeros((), b.dtype)
        return jnp.where(b == zero, zero, compute(a, jnp.where(b == zero, zero + 1, b)))

    return kernel


def square(x: Any) -> Any:
    """For bools only; other dtypes use the formula."""
    return _widened(x) * _widened(x) if x.dtype == bool_ else NotImplemented


KERNELS: dict[str, Callable[..., Any]] = {
    **kernels_by_name(erf, normal_cdf, gelu, gelu_backward, sqrt_backward, square),
    "floor_divide": _by_zero(jnp.floor_divide),
    "modulo": _by_zero(jnp.remainder),
}
