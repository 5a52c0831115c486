"""Kernels of XLA's own operations, in the place of formulas that would be slow there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.compiled.xla import elementwise, movement, products, random, recurrence, windows

_MODULES: tuple[Any, ...] = (elementwise, movement, products, random, recurrence, windows)
# By the name of the forward or of the rule; each takes and gives what a native kernel does.
KERNELS: dict[str, Callable[..., Any]] = {
    name: kernel for module in _MODULES for name, kernel in module.KERNELS.items()
}
