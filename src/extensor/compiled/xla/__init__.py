"""Kernels of XLA's own operations, in the place of formulas that would be slow there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.compiled.xla import (
    attention,
    averages,
    convolution,
    integers,
    movement,
    products,
    random,
    recurrence,
    special,
)

# By the name of the forward or of the rule; each takes and gives what a native kernel does.
KERNELS: dict[str, Callable[..., Any]] = {
    **attention.KERNELS,
    **averages.KERNELS,
    **convolution.KERNELS,
    **integers.KERNELS,
    **movement.KERNELS,
    **products.KERNELS,
    **random.KERNELS,
    **recurrence.KERNELS,
    **special.KERNELS,
}
