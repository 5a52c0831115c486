"""The walk through all that a function can reach, and how it is watched for changes.

The walk begins at the function and follows its closure, globals, defaults and what these hold. Of
objects, classes and modules only the attributes that the code names are followed, so a counter that
somebody keeps beside a network is no part of a trace; where code computes the names of attributes,
all of them are. Code of installed packages is not read in advance: what a trace has seen running
(:mod:`extensor.compiled.observation`) is added as further roots.

Tensors and states are bound by identity. Everything else that was walked through is watched: before
each run it is compared with what was there.
"""

from __future__ import annotations

import builtins
import contextvars
import functools
import gc
import sys
import threading
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from operator import attrgetter, methodcaller
from typing import Any, NamedTuple

import numpy as np

from extensor import _native
from extensor.compiled import opaque
from extensor.compiled.attributes import (
    attribute_of,
    cached_values,
    comparable_attribute,
    contents_of,
    described_attributes,
    is_same,
    is_set,
    is_special,
    loaded_module,
    slots_of,
    variables_of,
)
from extensor.compiled.code_names import CodeNames, codes_in, names_in
from extensor.compiled.opaque import PLAIN, plain_key
from extensor.compiled.origin import is_library, is_package, is_users, module_of
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer
from extensor.optim.states import History

_LIMIT = 1_000_000  # things; a function that reaches more is refused
GLOBALS = " (globals)"  # how the variables of a module are held by the code that names them
# Modules of Python whose functions read the attributes of what they are given.
_READERS_OF_ATTRIBUTES = frozenset("dataclasses copy inspect pprint string operator".split())
_READING_FUNCTIONS = (getattr, vars, eval, exec, globals, locals, dir)
# Of a compiled function itself: whatever else it has, the user has set.
OWN_ATTRIBUTES = frozenset(
    "function backend device keep_gradients traces last state planned".split()
)
_CACHED: Any = type(functools.cache(len))

Place = tuple[Any, str]  # the place of what holds a thing, and how it is held


def name_of(place: Place | None) -> str:
    """A place as the code would write it: ``step.args.beta``."""
    parts: list[str] = []
    while place is not None:
        place, part = place
        parts.append(part)
    return "".join(reversed(parts)).lstrip(".")


class Executed(NamedTuple):
    """Code that ran while the function was traced, and the variables of its module."""

    code: types.CodeType
    variables: dict[str, Any]


class Reader(NamedTuple):
    """What only Python can look at: values that must stay the same."""

    place: Place
    read: Callable[[], list[Any]]
    restore: Callable[[list[Any]], None] | None = None


class Reached:
    """The things a function works on, each once, and what is to be looked at before each run."""

    def __init__(self, roots: Iterable[Any], executed: Iterable[Executed] = ()) -> None:
        self.tensors: dict[int, Tensor] = {}
        self.arrays: dict[int, tuple[Any, Place]] = {}
        self.histories: dict[int, History] = {}
        self.averages: dict[int, EMA] = {}
        self.modules: list[Module] = []
        self.tracked: list[
            Any
        ] = []  # objects of the library whose numbers change from step to step
        self.dicts: list[tuple[Place, dict[Any, Any]]] = []  # attributes of objects, and dicts
        self.owners: dict[int, type] = {}  # classes of the objects whose attributes these are
        self.lists: list[tuple[Place, list[Any]]] = []
        self.holders: list[tuple[Place, Any]] = []  # cells, variables of modules, sets, deques
        self.readers: list[Reader] = []
        self.movable: list[tuple[Place, Any]] = []  # iterators, files, random generators
        self.codes: set[types.CodeType] = set()
        self._names: set[str] = set()  # of attributes, in all code that was reached or seen running
        self._reads_any_name = False
        self._open: list[tuple[Place, Any, set[str]]] = []  # things whose attributes are followed
        self._variables: list[dict[str, Any]] = []  # of networks
        self._plain_dicts: list[Any] = []
        self._seen: dict[int, Any] = {}
        first: list[tuple[Any, Place]] = [(root, _root_place(root)) for root in roots]
        for code, variables in executed:
            first += self._below_code(code, variables, (None, code.co_name))
        self._walk(first[::-1])
        self._watch()

    def _walk(self, waiting: list[tuple[Any, Place]]) -> None:
        while waiting:
            thing, place = waiting.pop()
            if type(thing) not in PLAIN and id(thing) not in self._seen:
                self._seen[id(thing)] = thing
                if len(self._seen) > _LIMIT:
                    raise value_error(
                        "compile",
                        f"a function must reach at most {_LIMIT} objects; pass what it needs of "
                        f"{name_of(place)} as an argument",
                    )
                waiting += reversed(self._below(thing, place))
            if not waiting:
                waiting = [x for each in self._open for x in self._newly_named(*each)]

    def _watch(self) -> None:
        for place, thing, names in self._open:
            self._watch_attributes(place, thing, sorted(names))
        self._identified = [*[thing for _, thing, _ in self._open], *self.modules]
        self._watched = [
            *self._variables,
            *self._plain_dicts,
            *[items for _, items in self.lists],
            *[holder for _, holder in self.holders],
        ]
        self._found = _native.contents(self._watched)
        self._found_otherwise = self._read_others()

    def is_unchanged(self) -> bool:
        """Whether all names, attributes and containers still stand for the same things."""
        return _native.holds(self._watched, self._found) and self.is_unchanged_otherwise()

    def watched(self) -> tuple[list[Any], list[Any]]:
        """What is looked at natively, and what it held."""
        return self._watched, self._found

    def is_unchanged_otherwise(self) -> bool:
        """The same of what only Python can look at."""
        if not self.readers and not self._identified:
            return True
        now, before = self._read_others(), self._found_otherwise
        return len(now) == len(before) and all(map(is_same, now, before))

    def _read_others(self) -> list[Any]:
        # An object may get other attributes as a whole, or another class.
        identities: list[Any] = []
        for thing in self._identified:
            variables = variables_of(thing)
            held = None if isinstance(thing, type) else variables  # a class gives it anew each time
            identities += (thing.__class__, held, len(variables))
        return [*identities, *self._readings()]

    def _readings(self) -> list[Any]:
        return [x for reader in self.readers for x in reader.read()]

    def fingerprint(self) -> tuple[Any, ...]:
        """What they stand for: plain values, and all else by identity."""
        watched = [*self._plain_dicts, *[x for _, x in self.lists], *[x for _, x in self.holders]]
        known: list[Any] = [_keys(_native.contents(watched)), _keys(self._readings())]
        for module in self.modules:
            # A module has its mode in its class until it is set for the first time.
            attributes = [x for name, x in vars(module).items() if name != "training"]
            known.append(_keys([*attributes, module.training]))
        return tuple(known)

    def bound(self) -> list[int]:
        """The identities of all whose arrays are bound."""
        return [*self.tensors, *self.histories, *self.averages]

    def existed(self, thing: Any) -> bool:
        """Whether ``thing`` was there before the function was traced."""
        return id(thing) in self._seen

    def _below(self, thing: Any, place: Place) -> list[tuple[Any, Place]]:
        """What ``thing`` holds; what is to be watched of it is noted."""
        if isinstance(thing, Tensor):
            if thing.is_leaf:
                self.tensors[id(thing)] = thing
            return [(hook, (place, "._hooks")) for hook in thing._hooks or ()]
        if isinstance(thing, np.ndarray):
            self.arrays[id(thing)] = thing, place
            items = thing.ravel().tolist() if thing.dtype.hasobject else []
            inside: list[tuple[Any, Place]] = [(x, (place, "[...]")) for x in items]
            is_more = hasattr(thing, "__dict__")
            return [*inside, *self._below_attributes(thing, place)] if is_more else inside
        if isinstance(thing, types.FunctionType):
            return self._below_function(thing, place)
        if isinstance(thing, types.ModuleType | type):
            return self._below_definition(thing, place)
        found = self._below_container(thing, place)
        if found is None:
            found = self._below_wrapper(thing, place)
        if found is None:
            return self._below_object(thing, place)
        # A subclass of a container, or a wrapper, may have attributes too.
        is_more = hasattr(thing, "__dict__") or is_users(module_of(type(thing)))
        return [*found, *self._below_attributes(thing, place)] if is_more else found

    def _below_container(self, thing: Any, place: Place) -> list[tuple[Any, Place]] | None:
        if isinstance(thing, dict):
            # Of a dict itself both are looked at; another kind may have an order of its own.
            self._plain_dicts += [thing] if type(thing) is dict else [thing, thing.values()]
            self.dicts.append((place, thing))
            return [(x, (place, f"[{key!r:.40}]")) for key, x in thing.items()]
        if isinstance(thing, list):
            self.lists.append((place, thing))
        elif isinstance(thing, set | deque):
            self.holders.append((place, thing))
        elif not isinstance(thing, tuple | frozenset):
            return self._below_special_container(thing, place)
        return [(x, (place, f"[{i}]")) for i, x in enumerate(thing)]

    def _below_special_container(self, thing: Any, place: Place) -> list[tuple[Any, Place]] | None:
        if isinstance(thing, types.MappingProxyType):
            return [(x, place) for x in gc.get_referents(thing)]
        if isinstance(thing, contextvars.ContextVar | weakref.ref):
            read = functools.partial(thing.get, None) if hasattr(thing, "get") else thing
            self.readers.append(Reader(place, lambda: [read()]))
            return [(read(), (place, ".get()" if hasattr(thing, "get") else "()"))]
        if isinstance(thing, opaque.POINTERS) or opaque.is_buffer(thing):
            self._watch_contents(thing, place)
            return []
        return None

    def _below_wrapper(self, thing: Any, place: Place) -> list[tuple[Any, Place]] | None:
        """Of methods and of all kinds of wrapped functions."""
        if isinstance(thing, types.MethodType):
            return [(thing.__self__, (place, ".__self__")), (thing.__func__, place)]
        if isinstance(thing, types.BuiltinFunctionType | types.MethodWrapperType):
            self._reads_any_name |= thing in _READING_FUNCTIONS  # by another name
            return [(getattr(thing, "__self__", None), (place, ".__self__"))]
        if isinstance(thing, functools.partial):
            return [(x, place) for x in (thing.func, thing.args, thing.keywords)]
        if isinstance(thing, property | staticmethod | classmethod | functools.cached_property):
            inner = [getattr(thing, name, None) for name in ("fget", "__func__", "func")]
            return [(x, place) for x in inner]
        if isinstance(thing, _CACHED):  # with what it keeps
            return [(x, place) for x in cached_values(thing)]
        return None

    def _below_function(
        self, function: types.FunctionType, place: Place
    ) -> list[tuple[Any, Place]]:
        module, code = module_of(function), function.__code__
        if is_library(module) or is_package(module):
            # Of functions of packages those are followed that are seen running.
            return [(getattr(function, "__wrapped__", None), place), *self._below_cells(function)]
        found = self._below_code(code, function.__globals__, place)
        found += self._below_cells(function)
        defaults = (function.__defaults__, function.__kwdefaults__)
        self.readers.append(
            Reader(
                place, lambda: [function.__defaults__, function.__kwdefaults__, function.__code__]
            )
        )
        self._open.append((place, function, set()))
        found += [(x, (place, ".defaults")) for x in defaults]
        return [*found, (getattr(function, "__wrapped__", None), place)]

    def _below_cells(self, function: types.FunctionType) -> list[tuple[Any, Place]]:
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        found: list[tuple[Any, Place]] = []
        for name, cell in cells:
            if is_set(cell):
                self.holders.append(((None, name), cell))
                found.append((contents_of(cell), (None, name)))
        return found

    def _below_code(
        self, code: types.CodeType, variables: dict[str, Any], place: Place
    ) -> list[tuple[Any, Place]]:
        """The global variables that ``code`` names, and the modules that it imports."""
        module = str(variables.get("__name__"))
        self.codes |= codes_in(code)
        names = names_in(code)
        self._take_names(names, module)
        found: list[tuple[Any, Place]] = []
        for level, imported in names.imports:
            find = functools.partial(loaded_module, imported, level, variables)
            self.readers.append(Reader((None, imported), functools.partial(_listed, find)))
            found.append((find(), (None, imported)))
        chosen = sorted(names.variables)
        if is_users(module) and names.reads_any_variable:
            chosen = sorted({*chosen, *[x for x in variables if not x.startswith("__")]})
            others = [
                x for x in list(sys.modules.values()) if is_users(str(vars(x).get("__name__")))
            ]
            found += [(x, (None, x.__name__)) for x in others]
        if chosen and not is_library(module):
            self.holders.append(((place, GLOBALS), (variables, *chosen)))
            builtin = [name for name in chosen if name not in variables]
            self.holders.append(((place, GLOBALS), (vars(builtins), *builtin)))
            found += [(variables.get(name), (None, name)) for name in chosen]
        return found

    def _take_names(self, names: CodeNames, module: str) -> None:
        self._names |= names.attributes | names.variables
        # Much of Python's own code computes names, but few of its modules do so for the user.
        if not is_package(module) or module in _READERS_OF_ATTRIBUTES:
            self._reads_any_name |= names.reads_any_name

    def _below_definition(self, thing: Any, place: Place) -> list[tuple[Any, Place]]:
        """Of modules and classes."""
        if is_library(thing.__name__ if isinstance(thing, types.ModuleType) else module_of(thing)):
            return []
        self._open.append((place, thing, set()))
        if isinstance(thing, types.ModuleType):
            return []
        return [*_followed(type(thing)), *_followed(thing)]

    def _below_object(self, thing: Any, place: Place) -> list[tuple[Any, Place]]:
        kind = type(thing)
        module = module_of(kind)
        if isinstance(thing, Module):
            return self._below_network(thing, place)
        found: list[tuple[Any, Place]] = []
        if isinstance(thing, Optimizer):
            found = self._below_optimizer(thing, place)
        elif isinstance(thing, EMA):
            found = self._below_average(thing, place)
        if is_library(module):
            return found or self._below_library_object(thing, place)
        if isinstance(thing, attrgetter | methodcaller):
            self._names |= {part for name in thing.__reduce__()[1] for part in str(name).split(".")}
        if opaque.is_fixed(thing):
            return []
        if opaque.position(thing) is not None:
            self.movable.append((place, thing))
            if hasattr(thing, "getvalue"):  # a file in memory
                self._watch_contents(thing, place)
            if not hasattr(thing, "__dict__") or hasattr(thing, "getvalue"):
                return []
        elif not hasattr(thing, "__dict__") and not slots_of(kind) and not is_users(module):
            self._watch_contents(thing, place)
            return []
        return [*found, *self._below_attributes(thing, place)]

    def _below_attributes(self, thing: Any, place: Place) -> list[tuple[Any, Place]]:
        self._open.append((place, thing, set()))
        if type(getattr(thing, "__dict__", None)) is dict and not isinstance(
            thing, threading.local
        ):
            self.dicts.append((place, vars(thing)))
            self.owners[id(vars(thing))] = type(thing)
        return _followed(type(thing))

    def _below_average(self, average: EMA, place: Place) -> list[tuple[Any, Place]]:
        self.averages[id(average)] = average
        self.tracked.append(average)
        self.lists.append((place, average.parameters))
        self.holders.append((place, (vars(average), "warmup")))
        return [(x, place) for x in average.parameters]

    def _below_network(self, module: Module, place: Place) -> list[tuple[Any, Place]]:
        self.modules.append(module)
        self.dicts.append(((None, type(module).__name__), vars(module)))
        self.owners[id(vars(module))] = type(module)
        self._variables.append(vars(module))
        hooks = module._hooks
        waiting = [] if hooks is None else [hooks.before, hooks.after, hooks.backward]
        found = [(x, (place, f".{name}")) for name, x in vars(module).items()]
        found += [(x, (place, "._hooks")) for x in waiting]
        return [*found, *_followed(type(module))]

    def _below_library_object(self, thing: Any, place: Place) -> list[tuple[Any, Place]]:
        module = module_of(type(thing))
        variables = getattr(thing, "__dict__", {})
        if opaque.position(thing) is not None:  # NumPy's random generators
            self.movable.append((place, thing))
        elif module.startswith(("extensor.amp", "extensor.optim")):
            flags = [name for name, x in variables.items() if type(x) is bool]
            self.holders.append((place, (variables, *flags)))
            self.tracked.append(thing)
            return [*_optimizers_in(variables, place), *_set_by_user(variables, place)]
        elif module == "extensor.compiled.function":  # which is a part of the one that calls it
            self._open.append((place, thing, set()))
            return [(thing.function, place)]
        elif module.startswith("numpy") and not opaque.is_fixed(thing):
            self._watch_contents(thing, place)
        elif module.startswith(("extensor.data", "extensor.nn", "extensor.estimators")):
            self.dicts += [(place, variables)] if variables else []
            self._plain_dicts += [variables] if variables else []  # the library's code reads it all
            return [(x, (place, f".{name}")) for name, x in variables.items()]
        return []

    def _below_optimizer(self, optimizer: Optimizer, place: Place) -> list[tuple[Any, Place]]:
        self.lists.append((place, optimizer._histories))
        self.tracked.append(optimizer)
        found: list[tuple[Any, Place]] = []
        for history in optimizer._histories:
            self.histories[id(history)] = history
            group = history.group
            self.lists.append((place, group["params"]))
            # All but the numbers, which are read at each run.
            names = [k for k, v in group.items() if not isinstance(v, int | float | tuple)]
            names += [k for k, v in group.items() if isinstance(v, bool)]
            names.remove("params")
            self.holders.append((place, (group, *names)))
            self.readers.append(Reader(place, functools.partial(_count_entries, group)))
            found += [(x, place) for x in group["params"]]
            found += [(group[name], place) for name in names]
        found += [(schedule, place) for schedule in optimizer.schedules]
        return [*found, *_set_by_user(vars(optimizer), place)]

    def _watch_contents(self, thing: Any, place: Place) -> None:
        opaque.check_size(name_of(place), thing)
        self.readers.append(Reader(place, lambda: [opaque.digest(thing)]))

    def _newly_named(self, place: Place, thing: Any, done: set[str]) -> list[tuple[Any, Place]]:
        """What the code names of ``thing`` and was not looked up yet."""
        names = self._named_of(thing) - done
        done |= names
        variables = variables_of(thing)
        return [
            (attribute_of(thing, variables, name), (place, f".{name}")) for name in sorted(names)
        ]

    def _named_of(self, thing: Any) -> set[str]:
        is_definition = isinstance(thing, types.ModuleType | type)
        owner = thing if is_definition else type(thing)
        module = thing.__name__ if isinstance(thing, types.ModuleType) else module_of(owner)
        of_package = is_package(module)
        variables = variables_of(thing)
        names = {x for x in variables if x in self._names}
        kind: Any = type(thing)
        names |= {x for x in described_attributes(kind) if x in self._names}
        if module == "extensor.compiled.function":
            return {x for x in names if x not in OWN_ATTRIBUTES}
        # A step of a trainer is not called by one of its parts.
        if not of_package and not module.startswith("extensor.train"):
            names |= {x for x in variables if is_special(x)}
        if self._reads_any_name and not (of_package and is_definition):
            names |= {x for x in variables if not x.startswith("__")}
            names |= set() if is_definition else set(slots_of(type(thing)))
        return names

    def _watch_attributes(self, place: Place, thing: Any, names: list[str]) -> None:
        variables = getattr(thing, "__dict__", None)
        if type(variables) is dict and not isinstance(thing, threading.local):
            own = [name for name in names if name in variables]
            self.holders.append((place, (variables, *own)))
            names = [name for name in names if name not in variables]
        if names:
            read = lambda: [comparable_attribute(thing, name) for name in names]  # noqa: E731
            self.readers.append(
                Reader(place, read, functools.partial(_set_attributes, thing, names))
            )


def _set_attributes(thing: Any, names: list[str], values: list[Any]) -> None:
    for name, value in zip(names, values, strict=True):
        if not is_same(comparable_attribute(thing, name), value):
            setattr(thing, name, value)


def _listed(read: Callable[[], Any]) -> list[Any]:
    return [read()]


def _count_entries(group: dict[str, Any]) -> list[Any]:
    return [len(group)]


def _keys(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(plain_key, values))


def _root_place(root: Any) -> Place:
    return None, str(getattr(root, "__name__", type(root).__name__))


def _followed(kind: type) -> list[tuple[Any, Place]]:
    """The classes among the bases of ``kind`` that are not the library's; a trainer's are."""
    chosen = [x for x in kind.__mro__ if x is not object and not is_library(module_of(x))]
    return [(base, (None, base.__name__)) for base in chosen]


def _optimizers_in(variables: dict[str, Any], place: Place) -> list[tuple[Any, Place]]:
    """The optimizers that a schedule works on, and the schedules that it is made of."""
    values = list(variables.values())
    nested = [item for x in values if isinstance(x, list | tuple) for item in x]
    return [(x, place) for x in (*values, *nested) if _is_of_optim(x)]


def _is_of_optim(thing: Any) -> bool:
    return module_of(type(thing)).startswith("extensor.optim")


def _set_by_user(variables: dict[str, Any], place: Place) -> list[tuple[Any, Place]]:
    """Objects that somebody has set as attributes of an optimizer or a schedule."""
    found = [(x, (place, f".{name}")) for name, x in variables.items()]
    return [x for x in found if module_of(type(x[0])) != "builtins" and not _is_of_optim(x[0])]
