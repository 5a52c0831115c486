"""The one door: every array computation of the library is a :func:`computation`.

Kernels are chosen here, and whatever watches computations (a profiler, a NaN tracer, a recorder of
whole steps) stands here. The door knows arrays and attributes; it knows nothing of tensors.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from extensor import _native
from extensor.arrays.dtypes import float32, is_half, on_bfloat16
from extensor.core import modes

Compute = Callable[..., Any]
Watcher = Callable[[_native.Computed], None]


def _chosen_engine() -> str:
    name = os.environ.get("EXTENSOR_ENGINE", "native")
    if name not in ("native", "reference"):
        raise ValueError(
            f"EXTENSOR_ENGINE: must be 'native' or 'reference', got EXTENSOR_ENGINE={name!r}"
        )
    return name


# Read once: ops take their kernels when they are defined, and cannot change the engine afterwards.
ENGINE = _chosen_engine()
plan = _native.plan  # (kernel, *arguments): the call as a value, or NotImplemented
watchers = _native.watchers  # to be looked at: whether anybody watches
on_bfloat16.append(lambda dtype: _native.register_bfloat16(dtype.num))


def kernel(name: str | None) -> Compute | None:
    """The native kernel called ``name``; None without a name, and where the engine is the reference."""
    if name is None:
        return None
    # Also where the engine is the reference: a wrong name must not depend on the environment.
    if name not in _native.kernels:
        raise TypeError(f"{name}: there is no kernel of this name")
    return None if ENGINE == "reference" else _native.kernels[name]


def multiplies_bfloat16() -> bool:
    """Whether matrix products of bfloat16 use the processor's units for it (AVX512-BF16)."""
    return ENGINE == "native" and _native.instruction_set == "v4bf16"


def computation(
    name: str,
    kernel_name: str | None,
    formula: Compute | None = None,
    check: Callable[..., None] | None = None,
) -> _native.Computation:
    """A function of arrays and attributes that users know as ``name``.

    It computes by the native kernel; where there is none or it declines, by the kernel of this name
    that the arrays' library has; then by the formula. Without a formula it answers NotImplemented to
    what no kernel takes. ``check`` sees the arguments before a library's kernel, which checks nothing.
    """
    # The one ladder: the native half takes its first step, and tells watchers of either.
    lower = _library_or_formula(name, formula, check)
    return _native.Computation(name, kernel(kernel_name), lower, name.endswith("_backward"))


class _Recording(threading.local):
    """Who computes by the formulas of this thread, and notes that; None for nobody."""

    formula: Callable[[str, Compute, tuple[Any, ...]], Any] | None = None


recording = _Recording()


def _library_or_formula(
    name: str, formula: Compute | None, check: Callable[..., None] | None
) -> Compute:
    def compute(*arguments: Any) -> Any:
        library = library_kernel(name, arguments) if libraries else None
        if library is not None:
            if check is not None:
                check(*arguments)
            result = library(*arguments)
            if result is not NotImplemented:
                return result
        if formula is None:
            return NotImplemented
        if recording.formula is not None:
            return recording.formula(name, formula, arguments)
        return formula(*arguments)

    compute.__name__ = name
    return compute


def through_door(formula: Compute) -> Compute:
    """The computation that a formula without a kernel is."""
    return computation(formula.__name__, None, formula)


def by_formulas() -> AbstractContextManager[None]:
    """Compute as the reference engine does inside the block: every kernel declines."""
    return modes.switched(modes.mode, formulas=True)


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Tell ``watcher`` of each computation inside the block, after it was made.

    It is told the ``op`` and the ``kernel`` (None for a formula); ``inputs``, arrays and attributes,
    and ``outputs``; whether it is part of a ``backward`` pass, and of which ``rule`` and ``node`` then
    (a forward that is recorded has a node too); the path of the ``module`` that is being called; its
    ``begin`` and ``end`` in nanoseconds.
    """
    # What a watcher computes itself is not told: it would be told of its own work without end.
    _native.add_watcher(watcher)
    try:
        yield
    finally:
        _native.remove_watcher(watcher)


# By the name of a library's namespace: functions that compute what a kernel computes, on its arrays.
libraries: dict[str, dict[str, Compute]] = {}


def library_kernels(library: str, kernels: dict[str, Compute]) -> None:
    """Let ``kernels`` compute on the arrays of ``library``: forwards and rules, by their names.

    They take what native kernels take, and answer NotImplemented for the formula.
    """
    libraries.setdefault(library, {}).update(kernels)


def library_kernel(name: str, arguments: Sequence[Any]) -> Compute | None:
    """The kernel called ``name`` of the library that the arrays among ``arguments`` are of, if any."""
    xp = _common_namespace(_arrays_in(arguments))
    return None if xp is np else libraries.get(xp.__name__, {}).get(name)


def namespace(array: Any) -> Any:
    """The Array API namespace of ``array``: NumPy itself, or what array-api-compat finds."""
    if isinstance(array, np.ndarray | np.generic):
        return np
    from array_api_compat import array_namespace

    return array_namespace(array)


def _common_namespace(arrays: Sequence[Any]) -> Any:
    """That of the first array which is not NumPy's: constants beside it may be NumPy's."""
    for array in arrays:
        if not isinstance(array, np.ndarray | np.generic):
            return namespace(array)
    return np


def formula(written: Compute, promoted: Sequence[int]) -> Compute:
    """Make a forward formula, written against ``xp``, computable through the door.

    The 16-bit floats are computed in float32 and rounded once, here and nowhere else: to the dtype
    that the inputs at the places ``promoted`` have in common.
    """

    def compute(*arguments: Any) -> Any:
        arrays = _arrays_in(arguments)
        xp = _common_namespace(arrays)
        half = None
        if any(is_half(x.dtype) for x in arrays):
            common = _arrays_in([arguments[i] for i in promoted])
            half = next((x.dtype for x in common if is_half(x.dtype)), None)
            arguments = tuple(widened(x) for x in arguments)
        # Kernels follow IEEE without warnings; a formula in their place must not give any either.
        with np.errstate(all="ignore"):
            return _as_arrays(xp, written(xp, *arguments), half)

    compute.__name__ = written.__name__
    return compute


def exact_formula(written: Compute) -> Compute:
    """The same for a formula that only moves elements: nothing to widen, and views stay views."""

    def compute(*arguments: Any) -> Any:
        xp = _common_namespace(_arrays_in(arguments))
        return _as_arrays(xp, written(xp, *arguments), None)

    compute.__name__ = written.__name__
    return compute


def _is_array(x: Any) -> bool:
    # A class such as numpy.float64, a dtype to us, has the method of its instances.
    return isinstance(x, np.ndarray) or (
        hasattr(x, "__array_namespace__") and not isinstance(x, type)
    )


def _arrays_in(arguments: Sequence[Any]) -> list[Any]:
    arrays = []
    for x in arguments:
        if _is_array(x):
            arrays.append(x)
        elif isinstance(x, list) and x and _is_array(x[0]):
            arrays.extend(filter(_is_array, x))  # an index may have tensors among them
    return arrays


def widened(x: Any) -> Any:
    """``x`` with its arrays or tensors of 16 bits, and those of a list, in float32."""
    if isinstance(x, list):
        return [widened(item) for item in x]
    if hasattr(x, "astype") and is_half(x.dtype):
        return x.astype(float32)
    return x


@through_door
def constant(number: Any, dtype: Any) -> Any:
    """A Python number as an array without axes."""
    return np.asarray(number, dtype)


def _assigned(array: Any, index: Any, value: Any) -> Any:
    array[index] = value
    return array


# (array, index, value): writes into an array, which is what it gives.
setitem = computation("setitem", "setitem", _assigned)


def _as_arrays(xp: Any, result: Any, half: Any) -> Any:
    if isinstance(result, list | tuple):
        return tuple(_as_arrays(xp, x, half) for x in result)
    # NumPy turns results without axes into scalars, and subclasses would survive: neither is storage.
    if xp is np and type(result) is not np.ndarray:
        result = np.asarray(result)
    if half is not None and result.dtype == float32:
        return result.astype(half)
    return result
