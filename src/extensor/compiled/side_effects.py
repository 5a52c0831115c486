"""Side effects of a function that is traced: they are found, undone and refused.

Python runs a compiled function only when it is traced, so such a change would happen once.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property, partial
from gc import get_referents
from inspect import getattr_static
from types import CellType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from extensor.compiled.attributes import is_same, slots_of
from extensor.compiled.discovery import GLOBALS, Place, Reached, name_of
from extensor.compiled.opaque import LARGEST, PLAIN, is_read_only, position
from extensor.compiled.origin import is_library, module_of
from extensor.core.tracing import Number
from extensor.errors import value_error
from extensor.random.global_generators import GlobalSnapshot

_MISSING = object()
_MOST_LOOKED_AT = 10_000  # objects, in search of a placeholder
_RETURN_IT = "return the value, or change it outside"


def refuse(changed: str, advice: str = _RETURN_IT) -> None:
    """Raise for a change that would happen only once."""
    requirement = (
        "compiled functions must not have side effects, which happen only once, when the function "
        f"is traced; {advice}"
    )
    raise value_error("compile", requirement, changed=changed)


class SideEffects:
    """What everything that a function can reach held at first."""

    def __init__(self, reached: Reached) -> None:
        groups = {
            id(history.group) for history in reached.histories.values()
        }  # looked at elsewhere
        dicts = [(place, found) for place, found in reached.dicts if id(found) not in groups]
        self._dicts = [(place, found, dict(found)) for place, found in dicts]
        self._arrays = [
            (place, array, array.copy())
            for array, place in reached.arrays.values()
            if array.nbytes <= LARGEST and not is_read_only(array)
        ]
        self._lists = [(place, items, list(items)) for place, items in reached.lists]
        self._holders = [(place, holder, _held(holder)) for place, holder in reached.holders]
        self._readings = [(reader, reader.read()) for reader in reached.readers]
        self._positions = [(place, thing, position(thing)) for place, thing in reached.movable]
        self._generators = GlobalSnapshot()
        self._owners = reached.owners
        self._by_dict = {id(now): before for _, now, before in self._dicts}

    def variables_before(self, thing: Any) -> dict[str, Any]:
        """The attributes that an object of the walk had."""
        return self._by_dict[id(vars(thing))]

    def check(self) -> None:
        """Raise for the first change that is found."""
        for place, now, before in self._dicts:
            for key in {**before, **now}:
                then, new = before.get(key, _MISSING), now.get(key, _MISSING)
                if not is_same(then, new) and not self._is_kept(now, key, before.get(key), new):
                    part = f".{key}" if str(key).isidentifier() else f"[{key!r}]"
                    refuse(f"{name_of(place)}{part}")
        for place, items, then in self._lists:
            if len(items) != len(then) or any(a is not b for a, b in zip(items, then, strict=True)):
                refuse(name_of(place))
        self._check_others()

    def _check_others(self) -> None:
        name = self._generators.moved()
        if name is not None:
            refuse(f"the state of {name}", "draw outside and pass the numbers, or use ex.random")
        for place, holder, before in self._holders:
            now = _held(holder)
            if len(now) != len(before) or not all(map(is_same, now, before)):
                refuse(_name_of_change(place, holder, before, now))
        for place, array, held in self._arrays:
            if array.shape != held.shape or array.tobytes() != held.tobytes():
                refuse(name_of(place))
        for reader, values in self._readings:
            if not all(map(is_same, reader.read(), values)):
                refuse(name_of(reader.place))
        for place, thing, before in self._positions:
            if position(thing) != before:
                refuse(name_of(place), "draw from it outside and pass the value as an argument")

    def _is_kept(self, variables: Any, name: Any, then: Any, new: Any) -> bool:
        """Whether ``new`` was made of nothing that a run brings, where nothing was: a table, say."""
        if then is not None or new is _MISSING or holds_traced(new):
            return False
        owner = self._owners.get(id(variables))
        is_cached = owner is not None and isinstance(
            getattr_static(owner, str(name), None), cached_property
        )
        return type(new) not in PLAIN or is_cached

    def undo(self) -> None:
        """Let everything hold what it held, save what objects made for themselves, such as tables."""
        for _, now, before in self._dicts:
            kept = {k: x for k, x in now.items() if self._is_kept(now, k, before.get(k), x)}
            restore_dict(now, {**before, **kept})
        for _, items, then in self._lists:
            items[:] = then
        for _, holder, contents in self._holders:
            _put_back(holder, contents)
        for _, array, held in self._arrays:
            if array.shape == held.shape and array.tobytes() != held.tobytes():
                array[...] = held
        for reader, values in self._readings:
            if reader.restore is not None and not all(map(is_same, reader.read(), values)):
                reader.restore(values)


def restore_dict(now: dict[Any, Any], before: dict[Any, Any]) -> None:
    """Let a dict have the entries that it had, in their order."""
    if now.keys() != before.keys() or any(now[key] is not before[key] for key in before):
        now.clear()
        now.update(before)


def _held(holder: Any) -> list[Any]:
    """What a cell, a set, a deque or some variables in a dict hold."""
    if isinstance(holder, CellType):
        try:
            return [holder.cell_contents]
        except ValueError:
            return []
    if isinstance(holder, tuple):
        return [holder[0].get(name, _MISSING) for name in holder[1:]]
    return list(holder)


def _put_back(holder: Any, before: list[Any]) -> None:
    now = _held(holder)
    if len(now) == len(before) and all(a is b for a, b in zip(now, before, strict=True)):
        return
    if isinstance(holder, CellType):
        holder.cell_contents = before[0]
    elif isinstance(holder, tuple):
        for name, value in zip(holder[1:], before, strict=True):
            if value is _MISSING:
                holder[0].pop(name, None)
            else:
                holder[0][name] = value
    elif isinstance(holder, set | deque):
        holder.clear()
        holder.update(before) if isinstance(holder, set) else holder.extend(before)


def _name_of_change(place: Place, holder: Any, before: list[Any], now: list[Any]) -> str:
    if isinstance(holder, tuple):
        for name, a, b in zip(holder[1:], before, now, strict=True):
            if not is_same(a, b):
                return str(name) if place[1] == GLOBALS else f"{name_of(place)}.{name}"
    return name_of(place)


def is_traced(x: Any) -> bool:
    """Whether ``x`` is a value that only a run brings."""
    return isinstance(x, Number) or hasattr(getattr(x, "_array", x), "aval")


def holds_traced(x: Any) -> bool:
    """Whether a value that only a run brings can be reached from ``x``: it must not outlive the trace."""
    waiting = [x]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_LOOKED_AT:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type | ModuleType) or type(thing) in PLAIN:
            continue
        seen.add(id(thing))
        if is_traced(thing):
            return True
        waiting += _inside(thing)
    return False


def _inside(thing: Any) -> list[Any]:
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    if isinstance(thing, FunctionType):
        return [*_held_by_cells(thing), *(thing.__defaults__ or ())]
    if isinstance(thing, MethodType | partial):
        return [*get_referents(thing)]
    if isinstance(thing, GeneratorType):
        return [] if thing.gi_frame is None else list(thing.gi_frame.f_locals.values())
    if isinstance(thing, list | tuple | set | frozenset | deque):
        return list(thing)
    if is_library(module_of(type(thing))):
        return []
    if not hasattr(thing, "__dict__"):
        return [*get_referents(thing), *[getattr(thing, x, None) for x in slots_of(type(thing))]]
    return list(vars(thing).values())


def _held_by_cells(function: FunctionType) -> list[Any]:
    return [x for cell in function.__closure__ or () for x in _held(cell)]
