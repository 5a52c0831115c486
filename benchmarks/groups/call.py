"""What one call costs, where the arithmetic is nothing: 16 elements."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Call, Measure, Notes

_VALUES = np.linspace(0.5, 2.0, 16, dtype=np.float32)


def measures(libraries: Libraries, _quick: bool, _notes: Notes) -> Iterator[Measure]:
    yield Measure(
        "call",
        "add",
        "16",
        {label: partial(_add, libraries, label) for label in (OURS, "numpy", "torch", "jax")},
    )
    yield Measure(
        "call",
        "multiply + sum + backward",
        "16",
        {label: partial(_backward, libraries, label) for label in (OURS, "torch", "jax")},
        recorded=True,
    )


def _add(libraries: Libraries, label: str) -> Call:
    a, b = (libraries.array(label, _VALUES) for _ in range(2))
    if label == "jax":
        add = libraries["jax"].jit(libraries["jax"].numpy.add)
        return lambda: add(a, b).block_until_ready()
    return partial(libraries.find(label, "add"), a, b)


def _backward(libraries: Libraries, label: str) -> Call:
    a, b = (libraries.array(label, _VALUES, requires_grad=True) for _ in range(2))
    if label == "jax":
        jax = libraries["jax"]
        gradients = jax.jit(jax.grad(lambda a, b: (a * b).sum(), argnums=(0, 1)))
        return lambda: jax.block_until_ready(gradients(a, b))
    multiply, total = libraries.find(label, "multiply"), libraries.find(label, "sum")

    def step() -> tuple[Any, Any]:
        a.grad = b.grad = None
        total(multiply(a, b)).backward()
        return a.grad, b.grad

    return step
