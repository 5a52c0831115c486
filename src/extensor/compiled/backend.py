"""JAX, which brings XLA and its devices: imported when the first function is compiled for it."""

from __future__ import annotations

from functools import cache
from typing import Any

from extensor.core import door, tracing
from extensor.errors import shown, type_error, value_error
from extensor.random.global_generators import preserve_global_generators

BACKENDS = ("native", "xla")


def check_backend(op: str, backend: Any) -> None:
    """Raise if the backend is unknown."""
    if backend not in BACKENDS:
        raise value_error(op, f"backend must be one of {BACKENDS}", backend=shown(backend))


@cache
def jax() -> Any:
    """The module, with the kernels for its arrays defined."""
    try:
        with preserve_global_generators():  # JAX draws from NumPy's while it is imported
            import jax as found  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ImportError(
            "compile: backend 'xla' needs JAX, which is not installed; pip install extensor[xla] "
            "(for a GPU or TPU the variant of jaxlib that JAX's page names)"
        ) from error
    if not hasattr(found, "enable_x64"):
        raise ImportError(
            f"compile: backend 'xla' needs JAX 0.8.1 or newer, got {found.__version__}; "
            "pip install --upgrade extensor[xla]"
        )
    from extensor.compiled.xla import KERNELS

    tracing.VALUES_MISSING.append(found.errors.JAXTypeError)
    door.library_kernels("jax.numpy", KERNELS)
    return found


def as_function(program: Any) -> Any:
    """A traced program as a function that can be compiled."""
    jax()
    from jax.extend.core import (  # type: ignore[import-not-found, unused-ignore]
        jaxpr_as_fun,
    )

    return jaxpr_as_fun(program)


def wide() -> Any:
    """A block in which 64 bits are 64 bits, in this thread only: elsewhere JAX is left as it is."""
    return jax().enable_x64(True)


def device(op: str, name: Any) -> Any:
    """The device of this name; JAX's default device if ``name`` is None."""
    if name is not None and not isinstance(name, str):
        raise type_error(
            op, "device must be a string such as 'cpu', 'gpu' or 'tpu'", device=shown(name)
        )
    kind, _, number = (name or "").partition(":")
    try:
        found = jax().devices(kind or None)
    except RuntimeError:
        found = []
    if not found:
        there = sorted({each.platform for each in jax().devices()})
        raise value_error(op, f"device must be one that JAX finds here, {there}", device=name)
    if number and not (number.isdecimal() and int(number) < len(found)):
        raise value_error(op, f"device must have a number below {len(found)}", device=name)
    return found[int(number or 0)]
