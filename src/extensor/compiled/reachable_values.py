"""The walk through all values that a function can reach.

The walk begins at the function and follows its closure, globals, defaults and what these hold. Of
objects, classes and modules only the attributes that the code names are followed, so a counter that
somebody keeps beside a network is no part of a trace; where code computes the names of attributes,
all of them are. Code of installed packages is not read in advance: what a trace has seen running
(:class:`extensor.compiled.code_analysis.Observer`) is added as further roots, and the walk is taken again.

Tensors and states are bound by identity. Everything else becomes a guard.
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
from collections import defaultdict, deque
from collections.abc import Iterable
from operator import attrgetter, methodcaller
from typing import Any

import numpy as np

from extensor import _native
from extensor.compiled import value_contents
from extensor.compiled.code_analysis import (
    ExecutedCode,
    codes_in,
    is_library,
    is_package,
    is_users,
    module_of,
    names_in,
)
from extensor.compiled.guards import (
    GLOBALS,
    MISSING,
    Fingerprint,
    Guards,
    Place,
    Reader,
    cell_values,
    module_name,
    name_of,
)
from extensor.compiled.object_attributes import (
    COMPILED_FUNCTION,
    NamedAttributes,
    cached_values,
    is_immutable,
    kept_in_cache,
    slots_of,
    users_bases,
)
from extensor.compiled.value_contents import PLAIN, has_variables, variables_of
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer
from extensor.optim.states import GroupHistory

_LIMIT = 1_000_000  # things; a function that reaches more is refused
_READING_FUNCTIONS = (getattr, vars, eval, exec, globals, locals, dir)
_CACHED: Any = type(functools.cache(len))
_VIEWS: Any = (type({}.keys()), type({}.values()), type({}.items()))

Items = list[tuple[Any, Place]]  # things to follow, and where they are held


class ReachableValues:
    """The values that a function can reach, each once, and the guards on them."""

    def __init__(self, roots: Iterable[Any], executed: Iterable[ExecutedCode] = ()) -> None:
        self.tensors: dict[int, Tensor] = {}
        self.arrays: dict[int, tuple[Any, Place]] = {}
        self.histories: dict[int, GroupHistory] = {}
        self.averages: dict[int, EMA] = {}
        self.modules: list[Module] = []
        self.tracked: list[Any] = []  # objects of the library whose numbers change with each step
        self.dicts: list[tuple[Place, dict[Any, Any]]] = []  # attributes of objects, and dicts
        self.owners: dict[int, type] = {}  # classes of the objects whose attributes these are
        self.holders: list[tuple[Place, Any]] = []  # lists, sets, deques, cells, (dict, *names)
        self.movable: list[tuple[Place, Any]] = []  # iterators, files, random generators
        self.caches: list[tuple[Place, Any]] = []  # of ``functools``
        self.codes: set[types.CodeType] = set()
        self.guards = Guards()
        self._attributes = NamedAttributes()
        self._read_whole: list[Any] = []  # dicts of which every entry counts
        self._fingerprint = Fingerprint()
        self._seen: dict[int, Any] = {}  # keeps all identities valid
        first: Items = [(root, _root_place(root)) for root in roots]
        for code, variables in executed:
            first += self._below_code(code, variables, (None, code.co_name))
        self._walk(first[::-1])
        self._add_guards()

    def fingerprint(self) -> tuple[Any, ...]:
        """Keys of all values: plain values and containers by value, other objects by identity."""
        keys = self._fingerprint.keys
        holders = [holder for _, holder in self.holders]
        known: list[Any] = [keys(_native.contents([*self._read_whole, *holders]))]
        known += [keys(self.guards.read(self.guards.readers)), self.guards.class_keys()]
        known.append(self._fingerprint.lengths())
        for module in self.modules:
            # A module has its mode in its class until it is set for the first time.
            attributes = [x for name, x in vars(module).items() if name != "training"]
            known.append(keys([*attributes, module.training]))
        return tuple(known)

    def bound(self) -> list[int]:
        """The identities of all whose arrays are bound."""
        return [*self.tensors, *self.histories, *self.averages]

    def changeable(self) -> set[int]:
        """The identities of arrays, containers, attributes and iterators, which a trace may change."""
        things = [*self.dicts, *self.holders, *self.movable]
        return {*self.arrays, *[id(x) for _, x in things if not isinstance(x, tuple)]}

    def existed(self, thing: Any) -> bool:
        """Whether ``thing`` was there before the function was traced."""
        return id(thing) in self._seen

    def _walk(self, waiting: Items) -> None:
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
                # Code that was met later may have named attributes of things met before.
                waiting = self._attributes.newly_named(self._seen)

    def _add_guards(self) -> None:
        guards = self.guards
        self.holders += self._attributes.add_guards(guards)
        for module in self.modules:
            guards.add_object(module)
        guards.contents += map(vars, self.modules)
        if "flags" in self._attributes.names:
            for array, place in self.arrays.values():
                guards.readers.append(Reader(place, functools.partial(_writeable, array)))
        guards.contents += self._read_whole
        guards.contents += [holder for _, holder in self.holders]
        guards.note()

    def _below(self, thing: Any, place: Place) -> Items:
        """The values that ``thing`` holds; its guards are noted."""
        if isinstance(thing, Tensor):
            if thing.is_leaf:
                self.tensors[id(thing)] = thing
            items: Items = [(hook, (place, "._hooks")) for hook in thing._hooks or ()]
        elif isinstance(thing, np.ndarray):
            self.arrays[id(thing)] = thing, place
            inside = thing.ravel().tolist() if thing.dtype.hasobject else []
            items = [(x, (place, "[...]")) for x in inside]
        elif isinstance(thing, types.FunctionType):
            return self._below_function(thing, place)
        elif isinstance(thing, types.ModuleType | type):
            return self._below_definition(thing, place)
        else:
            inner = self._below_container(thing, place)
            inner = self._below_wrapper(thing, place) if inner is None else inner
            if inner is None:
                return self._below_object(thing, place)
            # A subclass of a container without a ``__dict__`` may have slots, and a ``defaultdict`` has
            # its factory.
            has_slots = is_users(module_of(type(thing))) or isinstance(thing, defaultdict)
            if has_slots and not has_variables(thing):
                return [*inner, *self._below_attributes(thing, place)]
            items = inner
        return [*items, *self._below_attributes(thing, place)] if has_variables(thing) else items

    def _below_container(self, thing: Any, place: Place) -> Items | None:
        if type(thing) in (dict, list, set, deque):
            self._fingerprint.number(thing)
        if isinstance(thing, dict):
            # Of a dict itself both are looked at; another kind may have an order of its own.
            self._read_whole += [thing] if type(thing) is dict else [thing, thing.values()]
            self.dicts.append((place, thing))
            keys = [(key, place) for key in thing if type(key) not in PLAIN]
            return [*keys, *[(x, (place, f"[{key!r:.40}]")) for key, x in thing.items()]]
        if isinstance(thing, list | set | deque):
            self.holders.append((place, thing))
        elif not isinstance(thing, tuple | frozenset):
            return self._below_special_container(thing, place)
        return [(x, (place, f"[{i}]")) for i, x in enumerate(thing)]

    def _below_special_container(self, thing: Any, place: Place) -> Items | None:
        if isinstance(thing, types.MappingProxyType):
            return [(x, place) for x in gc.get_referents(thing)]
        if isinstance(thing, _VIEWS):
            return [(thing.mapping, place)]
        if isinstance(thing, weakref.ref):
            # A call of a WeakMethod makes a new method each time: its object and function are compared.
            parts = [x for x in (thing, getattr(thing, "_func_ref", None)) if x is not None]
            self.guards.readers.append(Reader(place, lambda: [*map(_referent, parts)]))
            return [(_referent(x), (place, "()")) for x in parts]
        if isinstance(thing, contextvars.ContextVar):
            self.guards.readers.append(Reader(place, lambda: [_context_value(thing)]))
            return [(_context_value(thing), (place, ".get()"))]
        if isinstance(thing, value_contents.POINTERS) or value_contents.is_buffer(thing):
            self._guard_contents(thing, place)
            return []
        return None

    def _below_wrapper(self, thing: Any, place: Place) -> Items | None:
        """Of methods and of all kinds of wrapped functions."""
        if isinstance(thing, types.MethodType):
            return [(thing.__self__, (place, ".__self__")), (thing.__func__, place)]
        if isinstance(thing, types.BuiltinFunctionType | types.MethodWrapperType):
            is_reading = thing in _READING_FUNCTIONS or thing.__name__ == "__getattribute__"
            self._attributes.reads_any_name |= is_reading  # by another name
            return [(getattr(thing, "__self__", None), (place, ".__self__"))]
        if isinstance(thing, functools.partial):
            return [(x, place) for x in (thing.func, thing.args, thing.keywords)]
        if isinstance(thing, property | staticmethod | classmethod | functools.cached_property):
            inner = [getattr(thing, name, None) for name in ("fget", "__func__", "func")]
            return [(x, place) for x in inner]
        if isinstance(thing, _CACHED):
            self.caches.append((place, thing))
            values = cached_values(thing)
            read = lambda: kept_in_cache(thing, values)  # noqa: E731
            self.guards.readers.append(Reader(place, read, is_effect=False))
            return [(x, place) for x in values]
        return None

    def _below_function(self, function: types.FunctionType, place: Place) -> Items:
        module = module_of(function)
        wrapped = getattr(function, "__wrapped__", None), place
        cells = self._below_cells(function)
        if is_library(module) or is_package(module):
            return [
                wrapped,
                *cells,
            ]  # functions of packages are followed when they are seen running
        items = [*self._below_code(function.__code__, function.__globals__, place), *cells]
        parts = attrgetter("__defaults__", "__kwdefaults__", "__code__")
        read = lambda: list(parts(function))  # noqa: E731
        self.guards.readers.append(Reader(place, read, is_polled=False))
        self._attributes.follow(place, function)
        return [*items, *[(x, (place, ".defaults")) for x in parts(function)[:2]], wrapped]

    def _below_cells(self, function: types.FunctionType) -> Items:
        items: Items = []
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            values = cell_values(cell)
            if values:
                self.holders.append(((None, name), cell))
            items += [(x, (None, name)) for x in values]
        return items

    def _below_code(self, code: types.CodeType, variables: dict[str, Any], place: Place) -> Items:
        """The global variables that ``code`` names, and the modules that it imports."""
        module = str(variables.get("__name__"))
        self.codes |= codes_in(code)
        names = names_in(code)
        self._attributes.take_names(names, module)
        imported = [module_name(name, level, variables) for level, name in names.imports]
        # A first import inside the function is no side effect, so this is no holder.
        self._read_whole += [(sys.modules, name) for name in imported]
        items: Items = [(sys.modules.get(name), (None, name)) for name in imported]
        chosen = sorted(names.variables)
        if is_users(module) and names.reads_any_variable:
            chosen = sorted({*chosen, *[x for x in variables if not x.startswith("__")]})
            # A program may put other objects there, which need no name.
            loaded = [x for x in sys.modules.values() if isinstance(x, types.ModuleType)]
            named = [(x, str(vars(x).get("__name__"))) for x in loaded]
            items += [(x, (None, name)) for x, name in named if is_users(name)]
        if chosen and not is_library(module):
            builtin = [name for name in chosen if name not in variables]
            self.holders.append(((place, GLOBALS), (variables, *chosen)))
            self.holders.append(((place, GLOBALS), (vars(builtins), *builtin)))
            items += [(variables.get(name), (None, name)) for name in chosen]
        return items

    def _below_definition(self, thing: Any, place: Place) -> Items:
        """Of modules and classes."""
        is_module = isinstance(thing, types.ModuleType)
        if is_library(thing.__name__ if is_module else module_of(thing)):
            return []
        if not is_module and is_immutable(thing):
            return users_bases(type(thing))
        self._attributes.follow(place, thing)
        return [] if is_module else [*users_bases(type(thing)), *users_bases(thing)]

    def _below_object(self, thing: Any, place: Place) -> Items:
        if isinstance(thing, Module):
            return self._below_network(thing, place)
        items: Items = []
        if isinstance(thing, Optimizer):
            items = self._below_optimizer(thing, place)
        elif isinstance(thing, EMA):
            items = self._below_average(thing, place)
        if is_library(module_of(type(thing))):
            return items or self._below_library_object(thing, place)
        if isinstance(thing, attrgetter | methodcaller):
            texts = map(str, thing.__reduce__()[1])
            self._attributes.names |= {part for text in texts for part in text.split(".")}
        if value_contents.is_fixed(thing) or self._is_guarded_whole(thing, place):
            return []
        return [*items, *self._below_attributes(thing, place)]

    def _is_guarded_whole(self, thing: Any, place: Place) -> bool:
        """Guard the position or the contents of ``thing``; whether it has no attributes beside them."""
        if value_contents.position(thing) is not None:
            self.movable.append((place, thing))
            is_file_in_memory = hasattr(thing, "getvalue")
            if is_file_in_memory:
                self._guard_contents(thing, place)
            return is_file_in_memory or not has_variables(thing)
        kind = type(thing)
        if has_variables(thing) or slots_of(kind) or is_users(module_of(kind)):
            return False
        self._guard_contents(thing, place)
        return True

    def _below_attributes(self, thing: Any, place: Place) -> Items:
        self._attributes.follow(place, thing)
        variables = variables_of(thing)
        if type(variables) is dict and not isinstance(thing, threading.local):
            self._add_variables(thing, place)
        return users_bases(type(thing))

    def _add_variables(self, thing: Any, place: Place) -> None:
        self.dicts.append((place, vars(thing)))
        self.owners[id(vars(thing))] = type(thing)

    def _below_average(self, average: EMA, place: Place) -> Items:
        self.averages[id(average)] = average
        self.tracked.append(average)
        self.holders += [(place, average.parameters), (place, (vars(average), "warmup"))]
        return [(x, place) for x in average.parameters]

    def _below_network(self, module: Module, place: Place) -> Items:
        self.modules.append(module)
        self._add_variables(module, (None, type(module).__name__))
        hooks = module._hooks
        waiting = [] if hooks is None else [hooks.before, hooks.after, hooks.backward]
        items = [(x, (place, f".{name}")) for name, x in vars(module).items()]
        items += [(x, (place, "._hooks")) for x in waiting]
        return [*items, *users_bases(type(module))]

    def _below_library_object(self, thing: Any, place: Place) -> Items:
        module = module_of(type(thing))
        variables = variables_of(thing)
        if value_contents.position(thing) is not None:  # NumPy's random generators
            self.movable.append((place, thing))
        elif module.startswith(("extensor.amp", "extensor.optim")):
            flags = [name for name, x in variables.items() if type(x) is bool]
            self.holders.append((place, (variables, *flags)))
            self.tracked.append(thing)
            return [*_optimizers_in(variables, place), *_set_by_user(variables, place)]
        elif module == COMPILED_FUNCTION:  # which is a part of the one that calls it
            self._attributes.follow(place, thing)
            return [(thing.function, place)]
        elif module.startswith("numpy") and not value_contents.is_fixed(thing):
            self._guard_contents(thing, place)
        elif module.startswith(("extensor.data", "extensor.nn", "extensor.estimators")):
            self.dicts += [(place, variables)] if variables else []
            self._read_whole += [variables] if variables else []  # the library's code reads it all
            return [(x, (place, f".{name}")) for name, x in variables.items()]
        return []

    def _below_optimizer(self, optimizer: Optimizer, place: Place) -> Items:
        self.holders.append((place, optimizer._histories))
        self.tracked.append(optimizer)
        items: Items = []
        for history in optimizer._histories:
            self.histories[id(history)] = history
            group = history.group
            # All but the numbers, which are read at each run.
            names = [
                name
                for name, x in group.items()
                if name != "params"
                and (isinstance(x, bool) or not isinstance(x, int | float | tuple))
            ]
            self.holders += [(place, group["params"]), (place, (group, *names))]
            self.guards.sized.append(group)
            items += [(x, place) for x in group["params"]]
            items += [(group[name], place) for name in names]
        items += [(schedule, place) for schedule in optimizer.schedules]
        return [*items, *_set_by_user(vars(optimizer), place)]

    def _guard_contents(self, thing: Any, place: Place) -> None:
        value_contents.check_size(name_of(place), thing)
        self.guards.readers.append(Reader(place, lambda: [value_contents.digest(thing)]))


def _referent(reference: Any) -> Any:
    """The object of a weak reference, also of a kind that makes another one when it is called."""
    return weakref.ref.__call__(reference)


def _context_value(variable: contextvars.ContextVar[Any]) -> Any:
    """The value of ``variable`` or its own default, which ``get`` with an argument would hide."""
    try:
        return variable.get()
    except LookupError:
        return MISSING


def _root_place(root: Any) -> Place:
    return None, str(getattr(root, "__name__", type(root).__name__))


def _optimizers_in(variables: dict[str, Any], place: Place) -> Items:
    """The optimizers that a schedule works on, and the schedules that it is made of."""
    values = list(variables.values())
    nested = [item for x in values if isinstance(x, list | tuple) for item in x]
    return [(x, place) for x in (*values, *nested) if _is_of_optim(x)]


def _is_of_optim(thing: Any) -> bool:
    return module_of(type(thing)).startswith("extensor.optim")


def _set_by_user(variables: dict[str, Any], place: Place) -> Items:
    """Objects that the user has set as attributes of an optimizer or a schedule."""
    items = [(x, (place, f".{name}")) for name, x in variables.items()]
    return [x for x in items if module_of(type(x[0])) != "builtins" and not _is_of_optim(x[0])]


def _writeable(array: Any) -> list[Any]:
    return [array.flags.writeable]
