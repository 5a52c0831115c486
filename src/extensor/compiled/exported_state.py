"""The state of an exported program: the names of its entries, and the numbers computed from them.

A compiled function computes such numbers in Python before each run (rates, corrections that depend
on the count of steps). A program in a file has no Python beside it, so it repeats the arithmetic
itself and moves its own counts on.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor.compiled.bound_state import BoundState, StepCount
from extensor.compiled.device_arrays import cells_in, has_gradient
from extensor.compiled.program import Program
from extensor.core.tracing import evaluate, leaf_keys
from extensor.errors import value_error
from extensor.nn.module import Module
from extensor.optim import EMA, OneCycleLR
from extensor.optim.schedules import Schedule
from extensor.optim.states import GroupHistory

# How many calls ahead a condition is tried: all of the next thousand, then ever larger steps.
_CALLS = (*range(1, 1001), *(2**k for k in range(10, 41)))
# The options that schedules set; one that sets others than these may set any.
_SCHEDULED: dict[Any, tuple[str, ...]] = {
    Schedule.also_set: ("lr",),
    OneCycleLR.also_set: ("lr", "momentum", "betas"),
}


class Source(NamedTuple):
    """A number that each call of a compiled function reads, as an entry of the exported state."""

    name: str
    value: Any
    kind: str
    offset: int = 0  # the number read is the entry plus this
    added: int = 0  # to the entry by each call
    schedule: str | None = None  # the class that sets it in ExTensor, between calls

    def stored(self) -> Any:
        """The entry as an array without axes."""
        is_count = self.kind == "count"
        return np.asarray(self.value, np.int64 if is_count else np.float64)


class ExportedNumbers:
    """The numbers that a plan reads: their sources, and how the program computes them.

    ``fixed`` has those on which the function has decided something: another value would need
    another program.
    """

    def __init__(self, op: str, plan: Program, state: BoundState, arguments: Sequence[str]) -> None:
        self._op = op
        self._arguments = arguments
        self._moved = _movements(op, plan)
        self._owners = _owners(state)
        self._keys = list(plan.trace._slots)
        self._room = plan.trace.room
        self._sources: dict[Any, Source] = {}
        self.fixed: dict[str, Any] = {}
        for key in [leaf for number in self._keys for leaf in leaf_keys(number)]:
            if key[0] != "argument":
                self._sources[key] = self._source(key)
        for (kind, key), (_, expected) in plan.trace.guards.items():
            if isinstance(kind, type):  # a guard of a number
                self._check_condition(kind, key, expected)

    def entries(self) -> dict[str, Source]:
        """The entries of the state from which numbers are computed, by name."""
        sources = {source.name: source for source in self._sources.values()}
        return {name: x for name, x in sources.items() if name not in self.fixed}

    def vector(self, numpy: Any, state: Mapping[str, Any], floats: Sequence[Any]) -> Any:
        """All numbers in the order in which the program reads them; None if it reads none."""
        if not self._keys:
            return None
        leaves = {("argument", place): x for place, x in enumerate(floats)}
        for key, source in self._sources.items():
            value = source.value if source.name in self.fixed else state[source.name]
            leaves[key] = value + source.offset
        values = [numpy.asarray(evaluate(key, leaves), np.float64) for key in self._keys]
        return numpy.zeros(self._room).at[: len(values)].set(numpy.stack(values))

    def _source(self, key: Any) -> Source:
        owner, *rest = key
        found = self._owners.get(owner)
        if found is None or (found[0] == "average" and not hasattr(found[2], rest[0])):
            requirement = (
                "numbers that a call reads anew must be those of optimizers and averages, or given; "
                "of a GradScaler they are not exported (autocast('bfloat16') needs none)"
            )
            raise value_error(self._op, requirement)
        kind, name, thing = found
        if kind == "history":
            first, (index, offset) = int(name), rest
            more = self._moved.get(owner, [0] * len(thing.steps()))[index]
            entry = f"optimizer.state.{first + index}.step"
            return Source(entry, thing.steps()[index], "count", offset, more)
        if kind == "average":
            is_count = rest[0] == "count"
            added = self._moved.get(owner, 0) if is_count else 0
            value = getattr(thing, rest[0])
            return Source(f"{name}.{rest[0]}", value, "count" if is_count else "number", 0, added)
        value = thing[rest[0]] if len(rest) == 1 else thing[rest[0]][rest[1]]
        entry = ".".join([name, *map(str, rest)])
        return Source(entry, value, "number", schedule=self._moved.get(owner, {}).get(rest[0]))

    def _check_condition(self, kind: Any, key: Any, expected: Any) -> None:
        """Refuse a decision that a later call would take otherwise; fix the numbers it is about."""
        sources = {}
        for leaf in leaf_keys(key):
            if leaf[0] == "argument":
                requirement = (
                    "a float on which the function decides cannot be an input of the program; "
                    "bind it (functools.partial), or choose with ex.where"
                )
                raise value_error(self._op, requirement, argument=self._arguments[leaf[1]])
            sources[leaf] = self._source(leaf)
        for source in sources.values():
            if source.schedule is not None:
                requirement = (
                    f"{source.name} must not be part of a condition, as a schedule sets it"
                )
                raise value_error(self._op, requirement, schedule=source.schedule)
            if not source.added:
                self.fixed[source.name] = float(source.value)
        counts = [source.name for source in sources.values() if source.added]
        for call in _CALLS if counts else ():
            values = {k: x.value + x.offset + call * x.added for k, x in sources.items()}
            if kind(evaluate(key, values)) != expected:
                requirement = (
                    f"the function must do the same in each call, but a condition on {counts[0]} "
                    f"comes out otherwise {call} calls from now; export it after that call"
                )
                raise value_error(self._op, requirement)


def _owners(state: BoundState) -> dict[Any, tuple[str, str, Any]]:
    """By identity all that has numbers: its kind, the name of its entries, and the thing."""
    owners: dict[Any, tuple[str, str, Any]] = {}
    first = 0
    for number, history in enumerate(state.reached.histories.values()):
        owners[id(history)] = "history", str(first), history
        owners[id(history.group)] = "group", f"optimizer.groups.{number}", history.group
        first += len(history.group["params"])
    averages = list(state.reached.averages.values())
    for name, average in zip(number_names("ema", len(averages)), averages, strict=True):
        owners[id(average)] = "average", name, average
    return owners


def _movements(op: str, plan: Program) -> dict[int, Any]:
    """Changes after each run, by identity: steps of histories, counts, schedules of groups."""
    moved: dict[int, Any] = {}
    for callback, flags in plan.trace.callbacks:
        owner = getattr(callback, "__self__", None)
        if isinstance(callback, StepCount) and not flags:
            moved[id(callback.history)] = callback.more
        elif isinstance(owner, EMA):
            moved[id(owner)] = moved.get(id(owner), 0) + 1
        elif isinstance(owner, Schedule):
            for group in owner.optimizer.param_groups:
                options = _SCHEDULED.get(type(owner).also_set, group)
                moved.setdefault(id(group), {}).update(dict.fromkeys(options, type(owner).__name__))
        else:
            requirement = (
                "a function must not step by a GradScaler, which adapts its factor outside of "
                "the program; autocast('bfloat16') needs none"
            )
            raise value_error(op, requirement)
    return moved


def name_cells(function: Any, state: BoundState) -> list[tuple[str, str]]:
    """The name and the kind of each cell of ``state``, in its order.

    Modules and averages have the names of their ``state_dict``. Groups and parameters of optimizers
    are counted as there, over all optimizers. Other tensors have the names of variables of
    ``function``, or are counted.
    """
    variables = _variables(function)
    known = _name_tensors(state.reached.modules)
    named = {
        id(x): known.get(id(x)) or (f"tensor.{variables.get(id(x), place)}", "tensor")
        for place, x in enumerate(state.tensors)
    }
    graded = filter(has_gradient, state.tensors)
    cells = list(named.values())
    cells += [(f"gradient.{named[id(x)][0]}", "gradient") for x in graded]
    averages = iter(number_names("ema", len(state.reached.averages)))
    first = 0
    owners: list[tuple[Any, str]] = [*state.owners]
    for owner, attribute in owners:
        arrays = cells_in(owner, attribute)
        if isinstance(owner, GroupHistory):
            cells += [
                (f"optimizer.state.{first + i}.{name}", "optimizer state")
                for name, role in zip(owner.names, arrays, strict=True)
                for i, array in enumerate(role)
                if array is not None
            ]
            first += len(owner.group["params"])
        else:
            prefix = next(averages)
            cells += [(f"{prefix}.average.{i}", "average") for i in range(len(arrays))]
    return cells


def name_arrays(function: Any, state: BoundState) -> list[str]:
    """The names of the NumPy arrays that are bound, in their order."""
    variables = _variables(function)
    return [f"array.{variables.get(key, place)}" for place, key in enumerate(state.arrays)]


def number_names(word: str, count: int) -> list[str]:
    """``word`` for a single object, else ``word.0``, ``word.1`` and so on."""
    return [word] if count == 1 else [f"{word}.{i}" for i in range(count)]


def _variables(function: Any) -> dict[int, str]:
    """The names of the variables in the closure and the module of ``function``, by identity."""
    try:
        found = inspect.getclosurevars(function)
    except (TypeError, ValueError):  # a module or a partial; a variable that is not set yet
        return {}
    return {id(x): name for name, x in {**found.globals, **found.nonlocals}.items()}


def _name_tensors(modules: list[Module]) -> dict[int, tuple[str, str]]:
    """The paths of tensors in the modules that no other module holds, and their kinds."""
    below = {id(child) for module in modules for child in module.children()}
    roots = [module for module in modules if id(module) not in below]
    named: dict[int, tuple[str, str]] = {}
    for prefix, module in zip(number_names("model", len(roots)), roots, strict=True):
        for name, parameter in module.named_parameters():
            named[id(parameter)] = f"{prefix}.{name}", "parameter"
        for name, buffer in module.named_buffers():
            named[id(buffer)] = f"{prefix}.{name}", "buffer"
    return named
