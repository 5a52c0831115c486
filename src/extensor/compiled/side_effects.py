"""Detect, undo and refuse the side effects of a traced function.

Python runs a compiled function only when it is traced, so such a change would happen once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cached_property, partial
from gc import get_referents
from inspect import getattr_static
from types import CellType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from extensor.compiled.code_analysis import is_library, module_of
from extensor.compiled.guards import GLOBALS, MISSING, Place, cell_values, name_of
from extensor.compiled.object_attributes import cached_values, slots_of
from extensor.compiled.reachable_values import ReachableValues
from extensor.compiled.value_contents import (
    LARGEST,
    PLAIN,
    are_same,
    has_variables,
    is_read_only,
    is_same,
    position,
)
from extensor.errors import value_error
from extensor.random.global_generators import GlobalSnapshot

_MOST_LOOKED_AT = 10_000  # objects, in search of a placeholder
_RETURN_IT = "return the value, or change it outside"


def refuse(changed: str, advice: str = _RETURN_IT) -> None:
    """Raise for a change that would happen only once."""
    requirement = (
        "compiled functions must not have side effects, which happen only once, when the function "
        f"is traced; {advice}"
    )
    raise value_error("compile", requirement, changed=changed)


class ReachableSnapshot:
    """The contents of everything that a function can reach, before it is traced."""

    def __init__(self, reached: ReachableValues, is_traced: Callable[[Any], bool]) -> None:
        self._is_traced = is_traced
        groups = {id(x.group) for x in reached.histories.values()}  # compared elsewhere
        self._dicts = [(place, x, dict(x)) for place, x in reached.dicts if id(x) not in groups]
        self._arrays = [
            (place, array, array.copy())
            for array, place in reached.arrays.values()
            if array.nbytes <= LARGEST and not is_read_only(array)
        ]
        self._holders = [(place, holder, _contents(holder)) for place, holder in reached.holders]
        readers = [reader for reader in reached.guards.readers if reader.is_effect]
        self._readings = [(reader, reader.read()) for reader in readers]
        self._positions = [(place, thing, position(thing)) for place, thing in reached.movable]
        self._caches = reached.caches
        self._existed = reached.existed
        self._generators = GlobalSnapshot()
        self._owners = reached.owners
        self._by_dict = {id(now): before for _, now, before in self._dicts}

    def variables_before(self, thing: Any) -> dict[str, Any]:
        """The attributes that an object of the walk had."""
        return self._by_dict[id(vars(thing))]

    def check(self) -> None:
        """Raise for the first change."""
        for place, now, before in self._dicts:
            for key in {**before, **now}:
                then, new = before.get(key, MISSING), now.get(key, MISSING)
                if not is_same(then, new) and not self._is_kept(now, key, before.get(key), new):
                    part = f".{key}" if str(key).isidentifier() else f"[{key!r}]"
                    refuse(f"{name_of(place)}{part}")
        for place, holder, contents in self._holders:
            if not are_same(_contents(holder), contents):
                refuse(_name_of_change(place, holder, contents))
        name = self._generators.moved()
        if name is not None:
            refuse(f"the state of {name}", "draw outside and pass the numbers, or use ex.random")
        self._check_others()

    def _check_others(self) -> None:
        for place, cache in self._caches:
            if self._keeps_traced(cache):
                advice = (
                    "a cache would keep tensors that exist only in the trace: compute them outside, "
                    "or in the function without a cache"
                )
                refuse(f"the cache of {name_of(place)}", advice)
        for place, array, contents in self._arrays:
            if _is_other_array(array, contents):
                refuse(name_of(place))
        for reader, values in self._readings:
            if not are_same(reader.read(), values):
                refuse(name_of(reader.place))
        for place, thing, before in self._positions:
            if position(thing) != before:
                refuse(name_of(place), "draw from it outside and pass the value as an argument")

    def _keeps_traced(self, cache: Any) -> bool:
        # Everything bound is traced as well for now, so the values of before do not count.
        return any(holds_traced(x, self._is_traced, self._existed) for x in cached_values(cache))

    def _is_kept(self, variables: Any, name: Any, then: Any, new: Any) -> bool:
        """Whether ``new`` was made of nothing that a run brings, where nothing was: a table, say."""
        if then is not None or new is MISSING or holds_traced(new, self._is_traced):
            return False
        owner = self._owners.get(id(variables))
        is_cached = owner is not None and isinstance(
            getattr_static(owner, str(name), None), cached_property
        )
        return type(new) not in PLAIN or is_cached

    def undo(self) -> None:
        """Restore all contents, but keep new attributes such as tables that objects computed once."""
        for _, now, before in self._dicts:
            kept = {k: x for k, x in now.items() if self._is_kept(now, k, before.get(k), x)}
            restore_dict(now, {**before, **kept})
        for _, holder, contents in self._holders:
            if not are_same(_contents(holder), contents):
                _restore(holder, contents)
        for _, cache in self._caches:
            if self._keeps_traced(cache):
                cache.cache_clear()
        for _, array, contents in self._arrays:
            if array.shape == contents.shape and _is_other_array(array, contents):
                array[...] = contents
        for reader, values in self._readings:
            if reader.restore is not None and not are_same(reader.read(), values):
                reader.restore(values)


def restore_dict(now: dict[Any, Any], before: dict[Any, Any]) -> None:
    """Let a dict have the entries that it had, in their order."""
    if now.keys() != before.keys() or any(now[key] is not before[key] for key in before):
        now.clear()
        now.update(before)


def _is_other_array(array: Any, contents: Any) -> bool:
    return bool(array.shape != contents.shape or array.tobytes() != contents.tobytes())


def _contents(holder: Any) -> list[Any]:
    """The contents of a cell, a list, a set, a deque or some variables in a dict."""
    if isinstance(holder, CellType):
        return cell_values(holder)
    if isinstance(holder, tuple):
        return [holder[0].get(name, MISSING) for name in holder[1:]]
    return list(holder)


def _restore(holder: Any, before: list[Any]) -> None:
    if isinstance(holder, CellType):
        holder.cell_contents = before[0]
    elif isinstance(holder, tuple):
        for name, value in zip(holder[1:], before, strict=True):
            if value is MISSING:
                holder[0].pop(name, None)
            else:
                holder[0][name] = value
    else:
        holder.clear()
        holder.update(before) if isinstance(holder, set) else holder.extend(before)


def _name_of_change(place: Place, holder: Any, before: list[Any]) -> str:
    if isinstance(holder, tuple):
        for name, a, b in zip(holder[1:], before, _contents(holder), strict=True):
            if not is_same(a, b):
                return str(name) if place[1] == GLOBALS else f"{name_of(place)}.{name}"
    return name_of(place)


def holds_traced(
    x: Any, is_traced: Callable[[Any], bool], is_left_out: Callable[[Any], bool] = lambda _: False
) -> bool:
    """Whether a value that only a run brings can be reached from ``x``: it must not outlive the trace."""
    waiting = [x]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_LOOKED_AT:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type | ModuleType) or type(thing) in PLAIN:
            continue
        seen.add(id(thing))
        if is_left_out(thing):
            continue
        if is_traced(thing):
            return True
        waiting += _inside(thing)
    return False


def _inside(thing: Any) -> list[Any]:
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    if isinstance(thing, FunctionType):
        cells = [x for cell in thing.__closure__ or () for x in cell_values(cell)]
        return [*cells, *(thing.__defaults__ or ())]
    if isinstance(thing, MethodType | partial):
        return [*get_referents(thing)]
    if isinstance(thing, GeneratorType):
        return [] if thing.gi_frame is None else list(thing.gi_frame.f_locals.values())
    if isinstance(thing, list | tuple | set | frozenset | deque):
        return list(thing)
    if is_library(module_of(type(thing))):
        return []
    if not has_variables(thing):
        return [*get_referents(thing), *[getattr(thing, x, None) for x in slots_of(type(thing))]]
    return list(vars(thing).values())
