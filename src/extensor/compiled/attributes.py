"""Attributes of objects, classes and modules, wherever they are held, and the functions of code."""

from __future__ import annotations

import functools
import gc
import importlib.util
import sys
import types
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from extensor.compiled import opaque
from extensor.compiled.opaque import PLAIN, plain_key

_MISSING = object()


def functions_of(code: types.CodeType) -> list[Any]:
    """The functions that run ``code``, where it has variables of a closure that are to be followed."""
    if not code.co_freevars:
        return []
    return [x for x in gc.get_referrers(code) if isinstance(x, types.FunctionType)]


def cached_values(wrapper: Any) -> list[Any]:
    """The function that a ``functools.cache`` wraps, and the results that it keeps."""
    waiting, found = gc.get_referents(wrapper), []
    seen = {id(wrapper), id(type(wrapper))}
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if (
            type(thing) is dict or type(thing).__name__ == "_lru_list_elem"
        ):  # the links of the cache
            waiting += gc.get_referents(thing)
        else:
            found.append(thing)
    return [x for x in found if not isinstance(x, type)]


def is_same(x: Any, y: Any) -> bool:
    """Whether two readings of a watched value are the same."""
    return x is y or (type(x) is type(y) and type(x) in PLAIN and plain_key(x) == plain_key(y))


def attribute_of(thing: Any, variables: Any, name: str) -> Any:
    """An attribute, one of ``variables`` (:func:`variables_of`) without running any code."""
    return variables[name] if name in variables else getattr(thing, name, _MISSING)


def variables_of(thing: Any) -> Any:
    """The attributes of ``thing`` by name; of a thread's local object those of this thread."""
    variables = getattr(thing, "__dict__", None)
    return {} if variables is None else variables


def slots_of(kind: type) -> list[str]:
    """The names of the slots that instances of a class have."""
    slots = [vars(base).get("__slots__", ()) for base in kind.__mro__]
    names = [x for each in slots for x in ([each] if isinstance(each, str) else each)]
    return [name for name in names if name not in ("__dict__", "__weakref__")]


@functools.cache
def described_attributes(kind: type) -> list[str]:
    """The attributes that slots or an extension's code hold, and no dict."""
    if issubclass(kind, types.ModuleType | type):
        return []
    held = (types.MemberDescriptorType, types.GetSetDescriptorType)
    names = [name for base in kind.__mro__ for name, x in vars(base).items() if isinstance(x, held)]
    return [name for name in names if not name.startswith("__")]


def comparable_attribute(thing: Any, name: str) -> Any:
    """An attribute as it is compared: itself, or its contents where each reading makes it anew."""
    value = attribute_of(thing, variables_of(thing), name)
    if type(value) in PLAIN or value is attribute_of(thing, variables_of(thing), name):
        return value
    return opaque.digest(value)


# Methods that Python calls without a name, save those that have no part in a computation.
_NOT_CALLED = frozenset(
    """
    __init__ __new__ __del__ __repr__ __str__ __init_subclass__ __set_name__ __getstate__
    __setstate__ __reduce__ __reduce_ex__ __copy__ __deepcopy__ __dict__ __weakref__ __doc__
    __module__ __annotations__ __qualname__ __slots__ __name__ __loader__ __spec__ __file__
    __cached__ __builtins__ __package__ __path__
    """.split()
)


def is_special(name: str) -> bool:
    """Whether Python, or a module, calls a method of that name by itself in a computation."""
    if name in _NOT_CALLED:
        return False
    return name == "forward" or (name.startswith("__") and name.endswith("__"))


contents_of: Callable[[Any], Any] = attrgetter("cell_contents")


def is_set(cell: Any) -> bool:
    """Whether a variable of a closure has a value."""
    try:
        contents_of(cell)
    except ValueError:
        return False
    return True


def loaded_module(name: str, level: int, variables: dict[str, Any]) -> Any:
    """The module that an import inside a function gives, if it was imported before."""
    if level:
        try:
            name = importlib.util.resolve_name("." * level + name, variables.get("__package__"))
        except ImportError:
            return None
    return sys.modules.get(name)
