"""Matrix products of 16 bits: summed in float32 and rounded once, as here, in the units for them."""

from __future__ import annotations

from typing import Any

from extensor.arrays.dtypes import is_half
from extensor.arrays.shapes import count
from extensor.compiled.xla.library import Needs, jnp, kernels_by_name


def _product(a: Any, b: Any) -> Any:
    return jnp.matmul(a, b, preferred_element_type=jnp.float32)


def matmul(a: Any, b: Any) -> Any:
    """For 16 bits only; other dtypes use the formula."""
    return _product(a, b).astype(a.dtype) if is_half(a.dtype) else NotImplemented


def linear(x: Any, weight: Any, bias: Any) -> Any:
    """For 16 bits only; other dtypes use the formula."""
    if not is_half(x.dtype):
        return NotImplemented
    product = _product(x, weight.T)
    return (product if bias is None else product + bias.astype(jnp.float32)).astype(x.dtype)


def linear_backward(grad_output: Any, x: Any, weight: Any, needs: Needs) -> Any:
    """For 16 bits only; other dtypes use the formula."""
    if not is_half(x.dtype):
        return NotImplemented
    rows = grad_output.reshape((count(x.shape[:-1]), weight.shape[0]))
    inputs = x.reshape((count(x.shape[:-1]), weight.shape[1]))
    return (
        _product(grad_output, weight).astype(x.dtype),
        _product(rows.T, inputs).astype(weight.dtype),
        rows.astype(jnp.float32).sum(axis=0).astype(x.dtype),
    )


KERNELS = kernels_by_name(matmul, linear, linear_backward)
