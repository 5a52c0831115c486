"""Matrix products of 16 bits, and attention, which is two products and a softmax.

Products are summed in float32 and rounded once, as here, in the units for them. The rule of attention
computes the weights again by the same expressions, which XLA finds and computes once, or twice where
that is better: it decides what stays in memory.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from extensor.arrays.dtypes import bool_, is_half
from extensor.arrays.shapes import count
from extensor.compiled.xla.library import Needs, jnp, kernels_by_name, sum_dtype


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


def _weights(q: Any, k: Any, mask: Any, causal: bool, factor: float) -> tuple[Any, Any, Any]:
    """The weights of all keys for all queries, the sums they were divided by, and the shift."""
    dtype = sum_dtype(q.dtype)
    scores = jnp.matmul(q, jnp.matrix_transpose(k), preferred_element_type=dtype) * factor
    if mask is not None:
        scores = jnp.where(mask, scores, -inf) if mask.dtype == bool_ else scores + mask
    if causal:
        before = jnp.arange(q.shape[-2])[:, None] >= jnp.arange(k.shape[-2])
        scores = jnp.where(before, scores, -inf)
    top = scores.max(axis=-1, keepdims=True)
    shift = jnp.where(jnp.isfinite(top), top, jnp.zeros_like(top))
    powers = jnp.exp(scores - shift)
    total = powers.sum(axis=-1, keepdims=True)
    return powers / jnp.where(total == 0, jnp.ones_like(total), total), total, shift


def _factor(scale: float | None, q: Any) -> float:
    return 1 / sqrt(max(q.shape[-1], 1)) if scale is None else scale


def scaled_dot_product_attention(
    q: Any, k: Any, v: Any, mask: Any, causal: bool, scale: float | None, enable_gqa: bool
) -> Any:
    """The weighted mean of the values, and the logarithms that other engines keep for the rule."""
    if enable_gqa or 0 in q.shape or 0 in k.shape or 0 in v.shape:
        return NotImplemented
    weights, total, shift = _weights(q, k, mask, causal, _factor(scale, q))
    output = jnp.matmul(weights.astype(v.dtype), v, preferred_element_type=weights.dtype)
    return output.astype(q.dtype), (jnp.log(total) + shift).astype(jnp.float64)


def scaled_dot_product_attention_backward(
    grad_output: Any,
    q: Any,
    k: Any,
    v: Any,
    mask: Any,
    output: Any,
    logarithms: Any,
    causal: bool,
    scale: float | None,
    enable_gqa: bool,
    needs: Needs,
) -> Any:
    """``dS @ k * scale``, ``dS.T @ q * scale``, ``P.T @ grad_output``, ``dS``."""
    if enable_gqa or 0 in q.shape or 0 in k.shape or 0 in v.shape:
        return NotImplemented
    factor = _factor(scale, q)
    weights, _, _ = _weights(q, k, mask, causal, factor)
    wide = weights.dtype
    inner = jnp.matmul(grad_output, jnp.matrix_transpose(v), preferred_element_type=wide)
    along = (grad_output.astype(wide) * output.astype(wide)).sum(axis=-1, keepdims=True)
    inner = jnp.where(weights == 0, 0.0, inner - along) * weights
    short = inner.astype(q.dtype)
    keys = jnp.matmul(jnp.matrix_transpose(short), q, preferred_element_type=wide) * factor
    values = jnp.matrix_transpose(weights.astype(q.dtype))
    of_v = jnp.matmul(values, grad_output, preferred_element_type=wide)
    of_mask = None
    if mask is not None and mask.dtype != bool_ and (needs is None or needs[3]):
        of_mask = _summed(inner, mask)
    queries = jnp.matmul(short, k, preferred_element_type=wide) * factor
    return _summed(queries, q), _summed(keys, k), _summed(of_v, v), of_mask


def _summed(gradient: Any, like: Any) -> Any:
    """``gradient`` summed over the axes that were broadcast, in the dtype of ``like``."""
    more = gradient.ndim - like.ndim
    axes = [axis + more for axis, size in enumerate(like.shape) if size == 1]
    axes = [axis for axis in axes if gradient.shape[axis] != 1]
    total = gradient.sum(axis=(*range(more), *axes)) if more or axes else gradient
    return total.reshape(like.shape).astype(like.dtype)


KERNELS = kernels_by_name(
    matmul,
    linear,
    linear_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
