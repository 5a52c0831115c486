"""Functions that a configuration names as ``module:function``: consent, import and origin.

Your own configuration is your program. The configuration of a stored run may come from another person,
so its functions run only with consent. Functions of the standard library are always refused.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extensor.errors import value_error
from extensor.experiments.spec import function_names

if TYPE_CHECKING:
    from extensor.experiments.stored_runs import Wording

_LIBRARY = ("extensor", "extensor_cli")
# The library's modules whose functions only compute; others write files or start processes.
_COMPUTING = (
    "extensor.models",
    "extensor.nn",
    "extensor.ops",
    "extensor.optim",
    "extensor.data.standard",
    "extensor.data.transforms",
)
_INSTALLED = {"site-packages", "dist-packages"}  # folders that lie inside the standard library's


def check_trust(
    config: Mapping[str, Any],
    source: str | Path,
    trust: bool,
    wording: Wording,
    changes: Iterable[str] = (),
) -> None:
    """Refuse the functions that the stored file ``source`` names, unless the caller trusts it.

    ``changes`` are entries that the caller has set. Their functions need no further consent.
    """
    own = tuple(changes)
    for entry, name in function_names(config).items():
        if any(entry == key or entry.startswith(f"{key}.") for key in own):
            continue
        _split_name(entry, name)
        if not trust:
            requirement = (
                f"{entry} must not run a function without your consent: {source} names one, and a "
                f"stored run may come from anybody (if you trust this one: {wording.trust})"
            )
            raise value_error("config", requirement, name=name)


def import_function(entry: str, name: str) -> Callable[..., Any]:
    """Import ``module:function``; a module may also lie in the working folder.

    Installed modules and the user's own are allowed, the standard library is not.
    """
    module, attribute = _split_name(entry, name)
    with working_folder_last():
        _check_origin(entry, name, module)
        try:
            loaded = import_module(module)
        except (ImportError, ValueError) as error:
            requirement = f"{entry}: the module must be found ({error})"
            raise value_error("config", requirement, name=name) from None
        function = getattr(loaded, attribute, None)
    if not callable(function):
        raise value_error("config", f"{entry}: {module} must have the function", name=name)
    # A module may have a second name, and may export functions of other modules.
    owner = _defining_module(function)
    for each in (loaded.__name__, owner):
        _check_module(entry, name, each)
        _check_origin(entry, name, each)
    _check_library(entry, name, owner)
    try:
        inspect.signature(function)
    except (TypeError, ValueError):  # of a function in C, say
        requirement = (
            f"{entry} must have a signature that can be read; call it in a function of yours"
        )
        raise value_error("config", requirement, name=name) from None
    return function  # type: ignore[no-any-return]


@contextmanager
def working_folder_last() -> Iterator[None]:
    """Within the block modules are looked for in the working folder too, after all other places.

    Elsewhere it is no place for modules: a file ``matplotlib.py`` there must not be imported.
    """
    try:
        folder = os.getcwd()
    except OSError:  # it was deleted
        yield
        return
    sys.path.append(folder)
    try:
        yield
    finally:
        places = [place for place, path in enumerate(sys.path) if path is folder]
        for place in places[-1:]:  # none if the module has replaced the list
            del sys.path[place]


def _split_name(entry: str, name: str) -> tuple[str, str]:
    """The module and the function of a name that is allowed."""
    module, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), attribute)):
        raise value_error("config", f"{entry} must be module:function", name=name)
    _check_module(entry, name, module)
    return module, attribute


def _check_module(entry: str, name: str, module: str) -> None:
    """Refuse a module by its name."""
    root = module.partition(".")[0]
    if root in sys.stdlib_module_names or root in sys.builtin_module_names:
        raise _standard(entry, name)


def _check_origin(entry: str, name: str, module: str) -> None:
    """Refuse a module by where it lies: the test packages of Python have names of their own."""
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except ValueError:  # a program that was started by its path
        return
    places = [spec.origin] if spec is not None and spec.origin else []
    if any(place in ("built-in", "frozen") or _is_standard(Path(place)) for place in places):
        raise _standard(entry, name)


def _check_library(entry: str, name: str, owner: str) -> None:
    """Refuse functions of this library that do more than compute."""
    inside = any(owner == module or owner.startswith(f"{module}.") for module in _COMPUTING)
    if owner.partition(".")[0] in _LIBRARY and not inside:
        requirement = f"{entry} must be a model, layer, loss, optimizer or transform of the library"
        raise value_error("config", requirement, name=name)


def _standard(entry: str, name: str) -> ValueError:
    requirement = f"{entry} must be a function of yours or of an installed package, not of Python's"
    return value_error("config", f"{requirement} standard library", name=name)


def _is_standard(path: Path) -> bool:
    for key in ("stdlib", "platstdlib"):
        folder = os.path.realpath(sysconfig.get_path(key))
        place = Path(os.path.realpath(path))
        if place.is_relative_to(folder):
            return not _INSTALLED & set(place.relative_to(folder).parts)
    return False


def _defining_module(function: Any) -> str:
    """The module in which a callable, or the type of a callable object, is defined."""
    while isinstance(function, partial):
        function = function.func
    module = getattr(function, "__module__", None)
    return module if isinstance(module, str) else type(function).__module__
