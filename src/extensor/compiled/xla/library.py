"""JAX as the kernels here use it, imported by the first of them that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class _Later:
    """A module that is imported when something in it is asked for."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load

    def __getattr__(self, name: str) -> Any:
        return getattr(self._load(), name)


def _jax() -> Any:
    import jax  # type: ignore[import-not-found, unused-ignore]

    return jax


def _numpy() -> Any:
    import jax.numpy  # type: ignore[import-not-found, unused-ignore]

    return jax.numpy


jax: Any = _Later(_jax)
jnp: Any = _Later(_numpy)
