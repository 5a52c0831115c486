"""The libraries that take part: importing them, their arrays, and turning recording off."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.measure import OURS, PEERS, MissingError, library_of

# jax.nn and jax.scipy.special are not reachable by `import jax` alone.
_SUBMODULES = {"jax": ("jax.numpy", "jax.nn", "jax.scipy.special")}
_PLACES = {
    OURS: ("",),
    "numpy": ("",),
    "torch": ("", "nn.functional.", "special."),
    "jax": ("numpy.", "nn.", "lax.", "scipy.special."),
}


class Libraries:
    """The modules that could be imported, and for the others why not."""

    def __init__(self, threads: int, only: str | None = None) -> None:
        self.threads = threads
        self.modules: dict[str, ModuleType] = {}
        self.absent: dict[str, str] = {}
        self.include((OURS, *PEERS) if only is None else (only,))
        for name in (OURS, "torch"):
            set_threads = getattr(self.modules.get(name), "set_num_threads", None)
            if set_threads is not None:
                set_threads(threads)

    def include(self, names: Iterable[str]) -> None:
        """Import libraries, those that are there."""
        for name in names:
            try:
                self.modules[name] = importlib.import_module(name)
                for submodule in _SUBMODULES.get(name, ()):
                    importlib.import_module(submodule)
            except ImportError as error:
                if name == OURS:
                    raise
                self.modules.pop(name, None)
                self.absent[name] = str(error)

    def __contains__(self, label: str) -> bool:
        return library_of(label) in self.modules

    def __getitem__(self, label: str) -> Any:
        return self.modules[library_of(label)]

    def versions(self) -> dict[str, str]:
        return {
            name: str(getattr(module, "__version__", "development"))
            for name, module in self.modules.items()
        }

    def mode(self, label: str, recorded: bool) -> AbstractContextManager[Any]:
        """What to time a contestant in: nothing is recorded unless the measure is about that."""
        no_grad = getattr(self[label], "no_grad", None)
        return nullcontext() if recorded or no_grad is None else no_grad()

    def array(self, label: str, values: np.ndarray, requires_grad: bool = False) -> Any:
        """``values`` as an array of the library, in memory of its own."""
        library = library_of(label)
        if library == "torch":
            return self[label].tensor(values, requires_grad=requires_grad)
        if library == "jax":
            return self[label].numpy.asarray(values)
        if library == OURS:
            return self[label].tensor(values.copy(), requires_grad=requires_grad)
        return values.copy()

    def find(self, label: str, path: str) -> Callable[..., Any]:
        """The function called ``path``, at the places where the library keeps such functions."""
        library = library_of(label)
        for place in _PLACES[library]:
            try:
                found: Callable[..., Any] = attrgetter(place + path)(self[label])
            except AttributeError:
                continue
            return found
        raise MissingError(f"{library} has no {path}")


def as_numpy(value: Any) -> list[np.ndarray]:
    """The results of a call as NumPy arrays, whichever library made them."""
    if isinstance(value, list | tuple):
        return [array for item in value for array in as_numpy(item)]
    if value is None:
        return []
    if hasattr(value, "detach"):
        value = value.detach()
    if str(value.dtype) == "torch.bfloat16":  # NumPy does not know it
        value = value.float()
    return [value.numpy() if hasattr(value, "numpy") else np.asarray(value)]
