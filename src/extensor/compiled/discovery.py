"""What a function can reach: modules, optimizers and tensors in its closure, globals and arguments.

They are bound by identity. Whether the same things are still there is asked before each run, by
looking at the attributes of what was walked through.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor
from extensor.nn.module import Module
from extensor.optim import EMA, Optimizer
from extensor.optim.states import History

_PLAIN = (bool, int, float, str, bytes, type(None))
_PLAIN_SET = frozenset(_PLAIN)
_LIMIT = 100_000  # things; a function that reaches more is not looked through to the end
_OURS = ("extensor", "numpy", "jax", "builtins", "collections")


class Reached:
    """The things a function works on, each once, and where they were found."""

    def __init__(self) -> None:
        self.tensors: dict[int, Tensor] = {}
        self.arrays: dict[int, Any] = {}
        self.histories: dict[int, History] = {}
        self.averages: dict[int, EMA] = {}
        self.holders: dict[int, Any] = {}
        self.roots: list[tuple[Callable[[], Any], Any]] = []
        self._seen: dict[int, Any] = {}

    def add(self, thing: Any) -> bool:
        """Look through ``thing`` and all it holds; False if it was reached before."""
        if id(thing) in self._seen:
            return False
        waiting = [thing]
        while waiting and len(self._seen) < _LIMIT:
            thing = waiting.pop()
            if isinstance(thing, _PLAIN) or id(thing) in self._seen:
                continue
            self._seen[id(thing)] = thing
            waiting += reversed(self._below(thing))
        return True

    def _below(self, thing: Any) -> list[Any]:
        if isinstance(thing, Tensor):
            if thing.is_leaf:
                self.tensors[id(thing)] = thing
            return []
        if isinstance(thing, np.ndarray):
            self.arrays[id(thing)] = thing
            return []
        if isinstance(thing, Optimizer):
            for history in thing._histories:
                self.histories[id(history)] = history
            return [p for group in thing.param_groups for p in group["params"]]
        if isinstance(thing, EMA):
            self.averages[id(thing)] = thing
            return list(thing.parameters)
        if isinstance(thing, list | tuple | set | frozenset):
            return list(thing)
        if isinstance(thing, dict):
            return list(thing.values())
        if isinstance(thing, functools.partial):
            return [thing.func, thing.args, thing.keywords]
        if isinstance(thing, types.MethodType):
            return [thing.__self__, thing.__func__]
        if isinstance(thing, types.FunctionType):
            return self._of_function(thing)
        if isinstance(thing, Module) or _is_the_users(thing):
            self.holders[id(thing)] = thing
            return [*vars(thing).values(), *([] if isinstance(thing, Module) else [_call(thing)])]
        return []

    def _of_function(self, function: types.FunctionType) -> list[Any]:
        if function.__module__ is not None and function.__module__.split(".")[0] in _OURS:
            return [cell.cell_contents for cell in function.__closure__ or () if _is_set(cell)]
        found: list[Any] = [
            *(function.__defaults__ or ()),
            *(function.__kwdefaults__ or {}).values(),
        ]
        for cell in function.__closure__ or ():
            if _is_set(cell):
                self._root(functools.partial(getattr, cell, "cell_contents", None), found)
        for name in _names(function.__code__):
            if name in function.__globals__:
                self._root(functools.partial(function.__globals__.get, name), found)
        found.append(getattr(function, "__wrapped__", None))
        return found

    def _root(self, read: Callable[[], Any], found: list[Any]) -> None:
        value = read()
        if isinstance(value, types.ModuleType | type):
            return
        self.roots.append((read, value))
        found.append(value)

    def is_unchanged(self) -> bool:
        """Whether the names in closures and globals still stand for the same things."""
        for read, value in self.roots:
            now = read()
            if now is not value and not (type(now) in _PLAIN_SET and now == value):
                return False
        return True

    def fingerprint(self) -> tuple[Any, ...]:
        """The attributes of all that was walked through: plain values, and what else by identity."""
        # A module has its mode in its class until it is set for the first time.
        return tuple(
            [
                x if type(x) in _PLAIN_SET else id(x)
                for holder in self.holders.values()
                for name, x in holder.__dict__.items()
                if name != "training"
            ]
            + [getattr(holder, "training", None) for holder in self.holders.values()]
        )


def _is_set(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _names(code: types.CodeType) -> set[str]:
    """The globals that a function names, and those of the functions written inside it."""
    inner = (item for item in code.co_consts if isinstance(item, types.CodeType))
    return set(code.co_names).union(*(_names(item) for item in inner))


def _is_the_users(thing: Any) -> bool:
    kind = type(thing)
    return (
        hasattr(thing, "__dict__")
        and (kind.__module__ or "").split(".")[0] not in _OURS
        and (not isinstance(thing, type | types.ModuleType | types.BuiltinFunctionType))
    )


def _call(thing: Any) -> Any:
    written = getattr(type(thing), "__call__", None)  # noqa: B004
    return written if isinstance(written, types.FunctionType) else None
