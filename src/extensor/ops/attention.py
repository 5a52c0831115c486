"""Attention: a mean of values, weighted by how well each key fits the query.

The weights of all queries for all keys are the one thing here that grows with the square of the
length. They are never there as a whole: forward and rule go through the queries block by block, and
the rule computes the weights again from the logarithm of each query's sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import inf, sqrt
from typing import Any

import numpy as np

from extensor.arrays.dtypes import bool_, is_floating
from extensor.arrays.shapes import Shape, Shapes, broadcast, is_broadcastable_to
from extensor.arrays.supplement import as_factor
from extensor.core.creation import zeros
from extensor.core.op import Array, Target, op
from extensor.core.tensor import Tensor, wrap
from extensor.errors import type_error, value_error
from extensor.ops.broadcasting import are_shapes_broadcastable, reduce_to_shape
from extensor.ops.chain import chain_rule
from extensor.ops.exponential import exp
from extensor.ops.joining import concatenate, repeat
from extensor.ops.matrix import matmul
from extensor.ops.movement import swapaxes
from extensor.ops.selection import where
from extensor.ops.statistics import logsumexp

BLOCK = 128


def _attention_shape(
    name: str, shapes: Shapes, causal: bool, scale: float | None, enable_gqa: bool = False
) -> Shape:
    # The dropout_p that PyTorch has in this place would make any attention causal.
    if not isinstance(causal, bool):
        raise type_error(name, "causal must be True or False", causal=causal)
    q, k, v = (tuple(shapes[key]) for key in "qkv")
    got = {"q_shape": q, "k_shape": k, "v_shape": v}
    if min(len(q), len(k), len(v)) < 2:
        raise value_error(name, "q, k and v must have at least 2 axes", **got)
    if q[-1] != k[-1]:
        raise value_error(name, "q and k must have one number of features", **got)
    if k[-2] != v[-2]:
        raise value_error(name, "there must be a value for each key", **got)
    if enable_gqa:
        if min(len(q), len(k), len(v)) < 3 or not k[-3] or q[-3] % k[-3] or k[-3] != v[-3]:
            wanted = "with enable_gqa the heads of k and v must be equal and divide those of q"
            raise value_error(name, wanted, **got)
        k, v = ((*x[:-3], q[-3], *x[-2:]) for x in (k, v))
    batches = {"q": q[:-2], "k": k[:-2], "v": v[:-2]}
    if not all(are_shapes_broadcastable(a, b) for a in batches.values() for b in batches.values()):
        raise value_error(name, "batch axes must broadcast", **got)
    batch = broadcast(name, batches)
    weights = (*batch, q[-2], k[-2])
    mask = shapes["mask"]
    if mask is not None and not is_broadcastable_to(mask, weights):
        raise value_error(name, f"mask must broadcast to shape {weights}", mask_shape=tuple(mask))
    return (*batch, q[-2], v[-1])


def _check_mask(name: str, q: Any, k: Any, v: Any, mask: Any, *_: Any) -> None:
    if mask is not None and mask.dtype != bool_ and not is_floating(mask.dtype):
        raise type_error(name, "mask must be bool or floating", mask_dtype=str(mask.dtype))


def _scale(scale: float | None, features: int) -> float:
    return 1 / sqrt(max(features, 1)) if scale is None else scale


def _part(x: Any, rows: slice) -> Any:
    """The ``rows`` of a tensor or array whose queries are on the last axis but one."""
    return x if x.ndim < 2 or x.shape[-2] == 1 else x[..., rows, :]


def _before(xp: Any, rows: slice, keys: int) -> Any:
    """Which keys each of the queries may see where none sees beyond its own place."""
    return xp.arange(rows.start, rows.stop)[:, None] >= xp.arange(keys)


def _blocks(queries: int) -> list[slice]:
    """At least one, also of no queries at all."""
    return [slice(start, min(start + BLOCK, queries)) for start in range(0, max(queries, 1), BLOCK)]


def _masked(scores: Tensor, mask: Tensor | None, causal: bool, rows: slice) -> Tensor:
    """The scores of some queries, minus infinity for the keys that they do not see."""
    if mask is not None:
        part = _part(mask, rows)
        scores = where(part, scores, -inf) if mask.dtype == bool_ else scores + part
    return where(wrap(_before(np, rows, scores.shape[-1])), scores, -inf) if causal else scores


@op(
    kernel="scaled_dot_product_attention",
    shape=_attention_shape,
    check=_check_mask,
    floats=True,
    kept=("logarithms",),
)
def scaled_dot_product_attention(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    mask: Target | None = None,
    causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Attention, ``softmax(q @ k.T * scale + mask) @ v``.

    A query that sees no key gives 0, with a derivative of 0 (as in PyTorch). Derivative: with
    weights ``P = softmax(...)`` and ``dS = P * (dP - sum(dP * P))``, where
    ``dP = grad_output @ v.T``: in ``q``: ``dS @ k * scale``; in ``k``: ``dS.T @ q * scale``; in
    ``v``: ``P.T @ grad_output``; in a mask of floats: ``dS``.

    Parameters
    ----------
    q : (..., queries, features)
        The queries.
    k : (..., keys, features)
        The keys.
    v : (..., keys, values)
        The values.
    mask : (..., queries, keys)
        Booleans, true where a query may see a key, or floats to add to the products.
    causal
        Whether query i sees only the keys up to i.
    scale
        The factor of the products, by default ``1 / sqrt(features)``.
    enable_gqa
        Whether k and v may have fewer heads, on axis -3, than q. Neighbouring heads of q then share
        a head of these (grouped-query attention).

    Returns
    -------
    Tensor
        The results of the queries, of shape (..., queries, values).

    Raises
    ------
    ValueError
        If the shapes do not fit.

    >>> import extensor as ex
    >>> q = k = ex.tensor([[0.0], [0.0]])
    >>> ex.scaled_dot_product_attention(q, k, [[2.0], [4.0]], causal=True)
    tensor([[2.],
            [3.]])
    >>> q = ex.tensor([[1.0, 0.0]])
    >>> k, v = ex.tensor([[1.0, 0.0], [0.0, 1.0]]), ex.tensor([[1.0], [3.0]])
    >>> output = ex.scaled_dot_product_attention(q, k, v, scale=1.0)
    >>> output
    tensor([[1.5378829]])
    >>> ex.scaled_dot_product_attention_backward([[1.0]], q, k, v, None, output, scale=1.0).grad_v
    tensor([[0.7310586 ],
            [0.26894143]])
    """
    if enable_gqa:
        k, v = (repeat.op.compute(x, q.shape[-3] // x.shape[-3], x.ndim - 3) for x in (k, v))
        return scaled_dot_product_attention.op.compute(q, k, v, mask, causal, scale, False)
    factor, keys = _scale(scale, q.shape[-1]), as_factor(xp.matrix_transpose(k))
    parts = []
    for rows in _blocks(q.shape[-2]):
        scores = xp.matmul(as_factor(q[..., rows, :]), keys) * factor
        if mask is not None:
            part = _part(mask, rows)
            scores = xp.where(part, scores, -inf) if mask.dtype == bool_ else scores + part
        if causal:
            scores = xp.where(_before(xp, rows, k.shape[-2]), scores, -inf)
        top = xp.max(scores, axis=-1, keepdims=True) if k.shape[-2] else scores.sum(-1)[..., None]
        shift = xp.where(xp.isfinite(top), top, xp.zeros_like(top))
        powers = xp.exp(scores - shift)
        total = xp.sum(powers, axis=-1, keepdims=True)
        mean = xp.matmul(powers, as_factor(v)) / xp.where(total == 0, xp.ones_like(total), total)
        parts.append((mean, xp.log(total) + shift))
    output, logarithms = (xp.concat(part, axis=-2) for part in zip(*parts, strict=True))
    # In float64, as the results of 16-bit inputs are rounded to their dtype.
    return output, xp.astype(logarithms, xp.float64)


@scaled_dot_product_attention.backward(kernel="scaled_dot_product_attention_backward")
def scaled_dot_product_attention_backward(
    grad_output: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    output: Tensor,
    logarithms: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Any, Any, Any, Any]:
    """``dS @ k * scale``, ``dS.T @ q * scale``, ``P.T @ grad_output``, and ``dS`` of a mask of floats.

    ``logarithms`` are those of the sums that divide the weights, if they are known.
    """
    if enable_gqa:
        return _shared_backward(grad_output, q, k, v, mask, output, logarithms, causal, scale)
    factor = _scale(scale, q.shape[-1])

    def blocks() -> Iterator[tuple[slice, Tensor, Tensor]]:
        """The rows of each block of queries, their ``P`` and their ``dS``."""
        for rows in _blocks(q.shape[-2]):
            scores = matmul(q[..., rows, :], swapaxes(k, -1, -2)) * factor
            scores = _masked(scores, mask, causal, rows)
            if logarithms is None:
                total = logsumexp(scores, axis=-1, keepdims=True)
            else:
                total = logarithms[..., rows, :].astype(scores.dtype)
            weights = exp(scores - where(total == -inf, 0.0, total))
            gradient = grad_output[..., rows, :]
            along = chain_rule(gradient, output[..., rows, :]).sum(axis=-1, keepdims=True)
            # What is not seen may be anything, an infinite value too.
            inner = matmul(gradient, swapaxes(v, -1, -2)) - along
            inner = chain_rule(where(weights == 0, 0.0, inner), weights)
            yield rows, weights, inner

    @cache
    def gradients() -> tuple[Tensor, Tensor, Tensor]:
        """Those of ``q``, ``k`` and ``v`` in one pass: what is costly is common to them."""
        to_q, to_k, to_v = [], zeros(k.shape, q.dtype), zeros(v.shape, q.dtype)
        for rows, weights, inner in blocks():
            to_q.append(matmul(inner, k) * factor)
            keys = matmul(swapaxes(inner, -1, -2), q[..., rows, :]) * factor
            to_k = to_k + reduce_to_shape(keys, k.shape)
            values = matmul(swapaxes(weights, -1, -2), grad_output[..., rows, :])
            to_v = to_v + reduce_to_shape(values, v.shape)
        return reduce_to_shape(concatenate(to_q, -2), q.shape), to_k, to_v

    def to_mask() -> Tensor | None:
        if mask is None or mask.dtype == bool_:
            return None
        inner = [part for _, _, part in blocks()]
        return reduce_to_shape(concatenate(inner, -2), mask.shape)

    return (
        lambda: gradients()[0],
        lambda: gradients()[1],
        lambda: gradients()[2],
        to_mask,
    )


def _shared_backward(
    grad_output: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    output: Tensor,
    logarithms: Tensor | None,
    causal: bool,
    scale: float | None,
) -> tuple[Any, Any, Any, Any]:
    """The rule of attention in which heads of q share heads of k and v."""
    times = q.shape[-3] // k.shape[-3]

    @cache
    def gradients() -> Any:
        keys, values = (repeat(x, times, -3) for x in (k, v))
        return scaled_dot_product_attention_backward(
            grad_output, q, keys, values, mask, output, logarithms, causal, scale
        )

    def shared(gradient: Tensor, shape: Shape) -> Tensor:
        by_head = gradient.reshape((*gradient.shape[:-3], shape[-3], times, *shape[-2:]))
        return reduce_to_shape(by_head.sum(axis=-3), shape)

    return (
        lambda: gradients()[0],
        lambda: shared(gradients()[1], k.shape),
        lambda: shared(gradients()[2], v.shape),
        lambda: None if mask is None or mask.dtype == bool_ else gradients()[3],
    )
