"""Kernels of XLA's own operations, in the place of formulas that would be slow there."""

from __future__ import annotations

from typing import Any

from extensor.compiled.xla import movement, random

KERNELS: dict[str, Any] = {**movement.KERNELS, **random.KERNELS}
