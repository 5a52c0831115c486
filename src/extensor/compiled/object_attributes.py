"""Attributes of objects, classes and modules: which of them the code reads, and their guards.

Names are collected over all code that was reached or seen running, whatever object it reads them of:
an attribute is followed where any code spells its name.
"""

from __future__ import annotations

import abc
import functools
import gc
import threading
import types
from collections import Counter
from collections.abc import Container
from typing import Any

from extensor.compiled.code_analysis import CodeNames, is_library, is_package, is_users, module_of
from extensor.compiled.guards import MISSING, Guards, Place, Reader
from extensor.compiled.value_contents import PLAIN, digest, is_same, plain_key, variables_of

_MOST_KEYS = 256  # attributes of an object that may hide those of its class
_IMMUTABLE_TYPE = 1 << 8  # a flag of classes that nobody can change
# Modules of Python whose functions read the attributes of what they are given.
_READERS_OF_ATTRIBUTES = frozenset(
    "argparse dataclasses copy inspect pprint string operator".split()
)
# Packages whose compiled code reads attributes of their own objects, which no Python code names.
_READ_BY_EXTENSIONS = frozenset("pandas polars pyarrow scipy sklearn".split())
# Attributes of functions and classes that are in no ``__dict__``.
_OF_DEFINITIONS = frozenset("__name__ __qualname__ __doc__ __annotations__".split())
COMPILED_FUNCTION = "extensor.compiled.compiled_function"
# Attributes of a compiled function itself: all others were set by the user.
_OWN_ATTRIBUTES = frozenset(
    "function backend device keep_gradients traces last state planned".split()
)


class NamedAttributes:
    """The things whose attributes are followed, and the names that decide which of these."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.reads_any_name = False
        self._methods: set[str] = set()  # attributes that code calls at once
        self._reads_namespaces = False
        self._open: list[tuple[Place, Any, set[str]]] = []  # with the names that were followed

    def take_names(self, names: CodeNames, module: str) -> None:
        """Know the names in code of ``module``."""
        self.names |= names.attributes | names.variables
        self._methods |= names.methods
        # Much of Python's own code computes names, but few of its modules do so for the user.
        if not is_package(module) or module in _READERS_OF_ATTRIBUTES:
            self.reads_any_name |= names.reads_any_name
            self._reads_namespaces |= names.reads_namespaces

    def follow(self, place: Place, thing: Any) -> None:
        """Let the attributes of ``thing`` be followed that the code names, now or later."""
        self._open.append((place, thing, set()))

    def newly_named(self, seen: Container[int]) -> list[tuple[Any, Place]]:
        """The attributes that the code names, with their places, if their identity was not seen."""
        items: list[tuple[Any, Place]] = []
        for place, thing, done in self._open:
            names = self._named_of(thing) - done
            done |= names
            variables = variables_of(thing)
            items += [
                (attribute_of(thing, variables, name), (place, f".{name}"))
                for name in sorted(names)
            ]
            if self._reads_subclasses() and isinstance(thing, type):
                subclasses: list[type] = type.__subclasses__(thing)
                items += [(x, (None, x.__name__)) for x in subclasses]
        return [x for x in items if id(x[0]) not in seen]

    def _reads_subclasses(self) -> bool:
        return "__subclasses__" in self._methods or "__subclasses__" in self.names

    def _named_of(self, thing: Any) -> set[str]:
        is_definition = isinstance(thing, types.ModuleType | type)
        module = _defining_module(thing)
        of_package = is_package(module)
        variables = variables_of(thing)
        kind: Any = type(thing)
        names = {x for x in variables if x in self.names or self._is_called(x, variables[x])}
        names |= (self.names | self._methods).intersection(described_attributes(kind))
        if isinstance(thing, types.FunctionType | type):
            names |= self.names & _OF_DEFINITIONS
        if module == COMPILED_FUNCTION:
            return names - _OWN_ATTRIBUTES
        # A step of a trainer is not called by one of its parts.
        if not of_package and not module.startswith("extensor.train"):
            names |= set(filter(is_special, variables))
        if isinstance(thing, types.SimpleNamespace) and self._reads_namespaces:
            names |= set(variables)
        is_read_whole = module.partition(".")[0] in _READ_BY_EXTENSIONS and not is_definition
        if is_read_whole or (self.reads_any_name and not (of_package and is_definition)):
            names |= {x for x in variables if not x.startswith("__")}
            names |= set() if is_definition else set(slots_of(kind))
        return names

    def _is_called(self, name: str, value: Any) -> bool:
        """Whether code calls an attribute of that name; a number beside it, ``self.step``, is not."""
        return name in self._methods and type(value) not in PLAIN

    def add_guards(self, guards: Guards) -> list[tuple[Place, Any]]:
        """Guard all attributes that were followed; returns holders, ``(dict, *names)``.

        To be called after the walk: only then all names are known.
        """
        holders: list[tuple[Place, Any]] = []
        for place, thing, names in self._open:
            guards.add_object(thing)
            guards.sized.append(variables_of(thing))
            holders += self._guard_attributes(guards, place, thing, sorted(names))
            if isinstance(thing, type) and self._reads_subclasses():
                guards.readers.append(Reader(place, functools.partial(type.__subclasses__, thing)))
            if isinstance(thing, abc.ABCMeta) and is_users(module_of(thing)):
                guards.readers.append(Reader(place, lambda: [abc.get_cache_token()]))
        return holders

    def _guard_attributes(
        self, guards: Guards, place: Place, thing: Any, names: list[str]
    ) -> list[tuple[Place, Any]]:
        is_class = isinstance(thing, type)
        variables = _own_dict(thing)
        own = tuple(x for x in names if x in (variables or ()))
        is_compared_natively = is_class and variables is not None
        if variables is not None and self._may_hide_others(thing, variables):
            guards.contents.append(variables.keys())
        # The attributes of a class are also read by name: to restore them the class is needed.
        rest = names if is_class else [name for name in names if name not in own]
        if is_compared_natively:
            guards.contents.append((variables, *own))
        if rest:
            read = lambda: [comparable_attribute(thing, name) for name in rest]  # noqa: E731
            restore = functools.partial(set_attributes, thing, rest)
            is_polled = not is_compared_natively or not _OF_DEFINITIONS.isdisjoint(rest)
            guards.readers.append(Reader(place, read, restore, is_polled))
        return [] if is_class or variables is None else [(place, (variables, *own))]

    def _may_hide_others(self, thing: Any, variables: dict[str, Any]) -> bool:
        """Whether a new attribute of ``thing`` may hide one of its class that the code names.

        The number of attributes alone does not tell, as another may be deleted.
        """
        if isinstance(thing, types.ModuleType | types.FunctionType) or len(variables) > _MOST_KEYS:
            return False
        bases = thing.__mro__[1:] if isinstance(thing, type) else type(thing).__mro__
        named = self.names | self._methods
        return any(not named.isdisjoint(vars(x)) for x in bases if x is not object)


def _defining_module(thing: Any) -> str:
    """The name of a module itself, or of the module that defines a class or an object's class."""
    if isinstance(thing, types.ModuleType):
        return thing.__name__
    return module_of(thing if isinstance(thing, type) else type(thing))


def users_bases(kind: type) -> list[tuple[type, Place]]:
    """``kind`` and its bases that are not the library's; a trainer's are followed."""
    chosen = [x for x in kind.__mro__ if x is not object and not is_library(module_of(x))]
    return [(base, (None, base.__name__)) for base in chosen]


def is_immutable(kind: type) -> bool:
    """Whether the attributes of a class cannot be changed, as those of ``tuple``."""
    return bool(kind.__flags__ & _IMMUTABLE_TYPE)


def _own_dict(thing: Any) -> dict[str, Any] | None:
    """The dict that holds the attributes of ``thing``, if it is one and the same in all threads.

    That of a class is only to be read: whoever writes to it misses the caches of Python.
    """
    variables = variables_of(thing)
    if isinstance(thing, type):
        variables = next(iter(gc.get_referents(variables)), None)
    return variables if type(variables) is dict and not isinstance(thing, threading.local) else None


def cached_values(wrapper: Any) -> list[Any]:
    """The function that a ``functools.cache`` wraps, and the arguments and results that it keeps.

    A value that is kept twice, as an argument and as a result, is also twice in the list.
    """
    waiting, values = gc.get_referents(wrapper), []
    seen = {id(wrapper)}
    while waiting:
        thing = waiting.pop()
        # The links of the cache.
        if type(thing) is dict or type(thing).__name__ == "_lru_list_elem":
            waiting += gc.get_referents(thing) if id(thing) not in seen else []
            seen.add(id(thing))
        elif thing is not wrapper:
            values.append(thing)
    return [x for x in values if not isinstance(x, type)]


def kept_in_cache(wrapper: Any, values: list[Any]) -> list[Any]:
    """Those of ``values`` that the cache still keeps; others that it has got since do not count."""
    counts = Counter(map(plain_key, cached_values(wrapper)))
    counts.subtract(map(plain_key, values))
    return values if min(counts.values(), default=0) >= 0 else []


def attribute_of(thing: Any, variables: Any, name: str) -> Any:
    """An attribute, one of ``variables`` (:func:`variables_of`) without running any code."""
    try:
        return variables[name] if name in variables else getattr(thing, name, MISSING)
    except Exception:  # a ``__getattr__`` or a property of the user's
        return MISSING


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
    descriptors = (types.MemberDescriptorType, types.GetSetDescriptorType)
    members = [item for base in kind.__mro__ for item in vars(base).items()]
    names = [name for name, x in members if isinstance(x, descriptors)]
    return [name for name in names if not name.startswith("__")]


def comparable_attribute(thing: Any, name: str) -> Any:
    """An attribute as it is compared: itself, or its contents where each reading makes it anew."""
    value = attribute_of(thing, variables_of(thing), name)
    if type(value) in PLAIN or value is attribute_of(thing, variables_of(thing), name):
        return value
    return digest(value)


def set_attributes(thing: Any, names: list[str], values: list[Any]) -> None:
    """Restore the values of attributes, and delete attributes that were missing."""
    for name, value in zip(names, values, strict=True):
        if value is MISSING and name in variables_of(thing):
            delattr(thing, name)
        elif value is not MISSING and not is_same(comparable_attribute(thing, name), value):
            setattr(thing, name, value)


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
