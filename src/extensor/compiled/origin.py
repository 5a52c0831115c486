"""Whose code is it: this library's and its engines', an installed package's, or the user's."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

_LIBRARIES = frozenset("extensor numpy jax jaxlib ml_dtypes array_api_compat opt_einsum".split())


@cache
def is_library(module: str) -> bool:
    """Whether a module computes by ops alone, so that its variables are no inputs of a step.

    Objects of ``extensor.train`` hold the user's, and are looked through like them.
    """
    if module == "extensor.train" or module.startswith("extensor.train."):
        return False
    return module.partition(".")[0] in _LIBRARIES


@cache
def is_package(module: str) -> bool:
    """Whether a module belongs to Python or to an installed package."""
    top = module.partition(".")[0]
    if top in ("__main__", "extensor"):
        return False
    if top in sys.stdlib_module_names or top in sys.builtin_module_names:
        return True
    loaded = sys.modules.get(module) or sys.modules.get(top)
    file = vars(loaded).get("__file__") if loaded is not None else None
    return isinstance(file, str) and "-packages" in file


def is_users(module: str) -> bool:
    """Whether a module is neither the library's nor an installed one."""
    return not is_library(module) and not is_package(module)


@cache
def is_users_file(file: str) -> bool:
    """Whether a source file belongs neither to the library nor to Python or a package."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    python = os.path.dirname(os.path.abspath(os.__file__))
    return not file.startswith((own, python, "<frozen")) and "-packages" not in file


def module_of(thing: Any) -> str:
    """The name of the module that defines a class or function; empty where it has none."""
    name = getattr(thing, "__module__", None)
    return name if isinstance(name, str) else ""  # a class may have a descriptor of that name
