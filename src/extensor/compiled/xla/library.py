"""JAX as the kernels here use it. They are imported when the first function is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax as typed  # type: ignore[import-not-found, unused-ignore]

from extensor.arrays.dtypes import is_half

jax: Any = typed  # whose functions lack some types
jnp: Any = jax.numpy
Needs = tuple[bool, ...] | None


def sum_dtype(dtype: Any) -> Any:
    """The dtype in which numbers of ``dtype`` are added up: float32 for 16 bits."""
    return jnp.float32 if is_half(dtype) else dtype


def wide(x: Any) -> Any:
    """``x`` in the dtype in which it is added up; None stays None."""
    return None if x is None else x.astype(sum_dtype(x.dtype))


def kernels_by_name(*kernels: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Kernels that have the names of the native ones."""
    return {kernel.__name__: kernel for kernel in kernels}
