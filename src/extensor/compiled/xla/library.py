"""JAX as the kernels here use it, imported by the first of them that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Needs = tuple[bool, ...] | None


class _Later:
    """A module that is imported when something in it is used for the first time."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)


def _jax() -> Any:
    import jax.numpy  # type: ignore[import-not-found, unused-ignore]

    return jax


def kernels_by_name(*kernels: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Kernels that have the names of the native ones."""
    return {kernel.__name__: kernel for kernel in kernels}


jax: Any = _Later(_jax)
jnp: Any = _Later(lambda: _jax().numpy)
