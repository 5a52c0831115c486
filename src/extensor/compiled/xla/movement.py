"""Ops that formulas leave to NumPy: repetitions, writes at computed places, and the norm of gradients."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from extensor.arrays.shapes import count
from extensor.compiled.xla.library import jnp, kernels_by_name
from extensor.ops.indices import has_integer_array, plain, selected


def repeat(x: Any, repeats: Any, axis: int | None) -> Any:
    """The numbers of copies are known beforehand."""
    if isinstance(repeats, int):
        return jnp.repeat(x, repeats, axis=axis)
    return jnp.repeat(x, np.asarray(repeats), axis=axis)


def index_set(x: Any, updates: Any, index: Any) -> Any:
    """A repeated index writes its last value, whatever the order of the writes."""
    items = plain("index_set", index)
    if not has_integer_array(items):
        return x.at[items].set(updates)
    chosen = selected("index_set", x.shape, index)
    order = jnp.arange(count(chosen)).reshape(chosen)
    winner = jnp.full(x.shape, -1, order.dtype).at[items].max(order)
    return x.at[items].set(jnp.broadcast_to(updates, chosen).ravel()[winner[items]])


def gradient_norm(gradients: list[Any], order: float) -> Any:
    """In float64, as there."""
    total = jnp.zeros((), jnp.float64)
    for gradient in gradients:
        size = jnp.abs(gradient.astype(jnp.float64))
        if order == inf:
            total = jnp.maximum(total, size.max(initial=0.0))
        elif order == 0:
            total = total + jnp.count_nonzero(size)
        else:
            total = total + (size * size if order == 2 else size**order).sum()
    return total if order in (0, inf) else total ** (1 / order)


KERNELS = kernels_by_name(repeat, index_set, gradient_norm)
