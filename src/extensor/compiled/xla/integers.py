"""Whole numbers and bools where XLA counts otherwise than NumPy: by zero, and the sums of bools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.arrays.dtypes import bool_, is_floating
from extensor.compiled.xla.library import jnp


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
    "floor_divide": _by_zero(lambda a, b: jnp.floor_divide(a, b)),
    "modulo": _by_zero(lambda a, b: jnp.remainder(a, b)),
    "square": square,
}
