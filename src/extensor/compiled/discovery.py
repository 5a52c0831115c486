"""What a function can reach: modules, optimizers and tensors in its closure, globals and arguments.

They are bound by identity. Of objects of the user's own only those attributes are looked at that the
code names, so a count that somebody keeps beside a network is no part of a trace. Whether the same
things are still there is asked before each run.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

import numpy as np

from extensor import _native
from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer
from extensor.optim.states import History

PLAIN = frozenset((bool, int, float, complex, str, bytes, type(None)))
_LIMIT = 100_000  # things; a function that reaches more is not looked through to the end
_LIBRARIES = {"extensor", "numpy", "jax", "jaxlib", *sys.stdlib_module_names}
# Their numbers change from step to step and are read at each run.
_READ_ANEW = ("extensor.amp", "extensor.optim", "extensor.random", "extensor.compiled")
_MISSING = object()


class Reached:
    """The things a function works on, each once, and what is to be looked at before each run."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self.tensors: dict[int, Tensor] = {}
        self.arrays: dict[int, Any] = {}
        self.histories: dict[int, History] = {}
        self.averages: dict[int, EMA] = {}
        self.modules: list[Module] = []
        self.attributes: list[tuple[str, dict[str, Any]]] = []  # whose they are, and where they are
        self.lists: list[list[Any]] = []
        self._names: set[str] = set()  # of variables and attributes in the code that was reached
        self._open: list[tuple[Any, Any, set[str]]] = []  # things, attributes, names looked up
        self._variables: list[dict[str, Any]] = []  # of modules
        self._holders: list[Any] = []  # containers, cells of closures, names in dicts
        self._others: list[Callable[[], Iterable[Any]]] = []  # what only Python can look at
        self._seen: dict[int, Any] = {}
        self._walk(list(roots))
        for thing, variables, names in self._open:
            self._others.append(functools.partial(_looked_up, thing, variables, sorted(names)))
        self._watched = [*self._variables, *self._holders]
        self._found = _native.contents(self._watched)
        self._found_otherwise = self._read_others()

    def _walk(self, waiting: list[Any]) -> None:
        while waiting and len(self._seen) < _LIMIT:
            thing = waiting.pop()
            if type(thing) not in PLAIN and id(thing) not in self._seen:
                self._seen[id(thing)] = thing
                waiting += reversed(self._below(thing))
            if not waiting:
                waiting = [x for each in self._open for x in self._newly_named(*each)]

    def is_unchanged(self) -> bool:
        """Whether all names, attributes and containers still stand for the same things."""
        return _native.holds(self._watched, self._found) and self.is_unchanged_otherwise()

    def watched(self) -> tuple[list[Any], list[Any]]:
        """What is looked at natively, and what it held."""
        return self._watched, self._found

    def is_unchanged_otherwise(self) -> bool:
        """The same of what only Python can look at."""
        if not self._others:
            return True
        now, before = self._read_others(), self._found_otherwise
        return len(now) == len(before) and all(map(_is_same, now, before))

    def _read_others(self) -> list[Any]:
        return [x for read in self._others for x in read()]

    def fingerprint(self) -> tuple[Any, ...]:
        """What they stand for: plain values, and all else by identity."""
        known = [_key(_native.contents(self._holders)), _key(self._found_otherwise)]
        for module in self.modules:
            # A module has its mode in its class until it is set for the first time.
            attributes = [x for name, x in vars(module).items() if name != "training"]
            known.append(_key([*attributes, module.training]))
        return tuple(known)

    def bound(self) -> list[int]:
        """The identities of all whose arrays are bound."""
        return [*self.tensors, *self.histories, *self.averages]

    def _below(self, thing: Any) -> list[Any]:
        if isinstance(thing, Tensor):
            if thing.is_leaf:
                self.tensors[id(thing)] = thing
            return list(thing._hooks or ())
        if isinstance(thing, np.ndarray):
            self.arrays[id(thing)] = thing
            return []
        if isinstance(thing, list | tuple | set | frozenset):
            return self._of_container(thing)
        if isinstance(thing, dict):
            # Of a dict itself both are looked at; another kind may have an order of its own.
            self._holders += [thing] if type(thing) is dict else [thing, thing.values()]
            self.attributes.append(("a dict", thing))
            return list(thing.values())
        if isinstance(thing, types.FunctionType):
            return self._of_function(thing)
        if isinstance(thing, types.MethodType):
            return [thing.__self__, thing.__func__]
        if isinstance(thing, functools.partial):
            return [thing.func, thing.args, thing.keywords]
        if isinstance(thing, property | staticmethod | classmethod):
            return [getattr(thing, "fget", None), getattr(thing, "__func__", None)]
        return self._of_object(thing)

    def _of_container(self, thing: Any) -> list[Any]:
        if isinstance(thing, list | set):
            self._holders.append(thing)
        if isinstance(thing, list):
            self.lists.append(thing)
        return list(thing)

    def _of_function(self, function: types.FunctionType) -> list[Any]:
        self._names |= _names(function.__code__)
        cells = [cell for cell in function.__closure__ or () if _is_set(cell)]
        self._holders += cells
        found: list[Any] = list(map(_contents, cells))
        if not _is_library(function.__module__):
            module = {k: function.__globals__.get(k, _MISSING) for k in _names(function.__code__)}
            names = [name for name, value in module.items() if value is not _MISSING]
            self._holders.append((function.__globals__, *names))
            found += [module[name] for name in names]
        found += [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return [*found, getattr(function, "__wrapped__", None)]

    def _of_object(self, thing: Any) -> list[Any]:
        kind = type(thing)
        if isinstance(thing, Optimizer):
            return self._of_optimizer(thing)
        if isinstance(thing, EMA):
            self.averages[id(thing)] = thing
            self._holders.append(thing.parameters)
            self._holders.append((vars(thing), "warmup"))
            return list(thing.parameters)
        if isinstance(thing, Module):
            self.modules.append(thing)
            self.attributes.append((kind.__name__, vars(thing)))
            self._variables.append(vars(thing))
            hooks = thing._hooks
            waiting = [] if hooks is None else [hooks.before, hooks.after, hooks.backward]
            return [*vars(thing).values(), *waiting, *_followed(thing)]
        if kind.__module__.startswith(_READ_ANEW):
            variables = getattr(thing, "__dict__", {})
            flags = [name for name, x in variables.items() if type(x) is bool]
            self._holders.append((variables, *flags))
            return []
        if not _is_looked_through(thing):
            return []
        variables = getattr(thing, "__dict__", {})
        self._open.append((thing, variables, set()))
        if isinstance(thing, type | types.ModuleType):
            return []
        self.attributes.append((kind.__name__, variables))
        return _followed(thing)

    def _of_optimizer(self, optimizer: Optimizer) -> list[Any]:
        self._holders.append(optimizer._histories)
        found = []
        for history in optimizer._histories:
            self.histories[id(history)] = history
            group = history.group
            self._holders.append(group["params"])
            # All but the numbers, which are read at each run.
            names = [k for k, v in group.items() if isinstance(v, bool | str | None | list)]
            names.remove("params")
            self._holders.append((group, *names))
            found += group["params"]
        return found

    def _newly_named(self, thing: Any, variables: Any, done: set[str]) -> list[Any]:
        """What the code names of ``thing`` and was not looked up yet."""
        # A step of a trainer is not called by one of its parts.
        special = not str(getattr(thing, "__module__", None)).startswith("extensor.train")
        names = {x for x in variables if x in self._names or (special and _is_special(x))}
        names |= {name for name in _slots(thing) if name in self._names}
        found = [_attribute(thing, variables, name) for name in sorted(names - done)]
        done |= names
        return found


def _is_same(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) is int and x == y)  # counts are made anew


def _key(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple([(type(x), x) if type(x) in PLAIN else id(x) for x in values])


def _attribute(thing: Any, variables: Any, name: str) -> Any:
    return variables[name] if name in variables else getattr(thing, name, _MISSING)


def _looked_up(thing: Any, variables: Any, names: list[str]) -> list[Any]:
    # One more attribute may be one that the code asks for.
    return [len(variables), *[_attribute(thing, variables, name) for name in names]]


def _slots(thing: Any) -> list[str]:
    slots = [getattr(kind, "__slots__", ()) for kind in type(thing).__mro__]
    return [name for each in slots for name in ([each] if isinstance(each, str) else each)]


# Methods that Python calls without a name, save those that have no part in a computation.
_NOT_CALLED = frozenset(
    """
    __init__ __new__ __del__ __repr__ __str__ __init_subclass__ __set_name__ __getstate__
    __setstate__ __reduce__ __reduce_ex__ __copy__ __deepcopy__ __dict__ __weakref__ __doc__
    __module__ __annotations__ __qualname__ __slots__
    """.split()
)


def _is_special(name: str) -> bool:
    if name in _NOT_CALLED:
        return False
    return name == "forward" or (name.startswith("__") and name.endswith("__"))


def _followed(thing: Any) -> list[Any]:
    """The classes of an object whose code is the user's, or a trainer's."""
    return [kind for kind in type(thing).__mro__ if not _is_library(kind.__module__)]


_contents: Callable[[Any], Any] = attrgetter("cell_contents")


def _is_set(cell: Any) -> bool:
    try:
        _contents(cell)
    except ValueError:
        return False
    return True


@functools.cache
def _names(code: types.CodeType) -> frozenset[str]:
    """The variables and attributes that a function names, and those of functions written inside it."""
    inner = [item for item in code.co_consts if isinstance(item, types.CodeType)]
    texts = [item for item in code.co_consts if isinstance(item, str) and item.isidentifier()]
    return frozenset((*code.co_names, *texts)).union(*map(_names, inner))


def _is_library(module: str | None) -> bool:
    if module is None or module.startswith("extensor.train"):  # whose objects hold the user's
        return False
    return module.partition(".")[0] in _LIBRARIES


def _is_looked_through(thing: Any) -> bool:
    """Objects and classes of the user's own, and modules that are not installed."""
    if isinstance(thing, types.ModuleType):
        file = getattr(thing, "__file__", None) or "site-packages"
        return not _is_library(thing.__name__) and "-packages" not in file
    if isinstance(thing, types.BuiltinFunctionType):
        return False
    return not _is_library((thing if isinstance(thing, type) else type(thing)).__module__)
