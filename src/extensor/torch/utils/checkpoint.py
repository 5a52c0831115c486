"""``torch.utils.checkpoint``: recomputation in place of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extensor.differentiation import recomputation
from extensor.torch.tensor_class import handed_out

__all__ = ["checkpoint", "checkpoint_sequential"]


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: Any = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args)``, which is computed again in the backward pass instead of being kept."""
    return handed_out(recomputation.checkpoint(function, *args, **kwargs))


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: Any = None
) -> Any:
    """A sequence of modules in segments, each computed again in the backward pass."""
    layers = list(functions)
    size = -(-len(layers) // segments)
    for start in range(0, len(layers), size):
        part = layers[start : start + size]

        def run(x: Any, part: list[Any] = part) -> Any:
            for each in part:
                x = each(x)
            return x

        input = checkpoint(run, input)
    return input
