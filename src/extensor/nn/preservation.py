"""A model that is run to see whether it fits, and must be as it was before.

A copy alone is not enough: functions are not copied, so a helper such as
``self.block = lambda x: relu(self.norm(x))`` runs the original. So the original is put back too, with
all that it can reach. What stays changed is state that no module, container or closure holds: the
attributes of other objects, global variables, files, and what hooks do.
"""

from __future__ import annotations

import random as python_random
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from extensor import random
from extensor.core import changes, door
from extensor.core.tensor import Tensor
from extensor.random.generator import Generator
from extensor.random.global_generators import preserve_global_generators

if TYPE_CHECKING:
    from extensor.nn.module import Module

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type, ModuleType)


@contextmanager
def preserve_state(*models: Module | Tensor) -> Iterator[None]:
    """Afterwards models and tensors are as they were: the same bits in the same memory.

    So are their gradients, modes and plain attributes, containers and variables of closures that they
    reach, and all generators: those of the models, the default one, Python's and NumPy's.
    """
    state = random.get_state()
    restores = [_restore(thing) for thing in _reachable(models)]
    try:
        with preserve_global_generators():
            yield
    finally:
        for restore in restores:
            restore()
        random.set_state(state)


def _reachable(roots: tuple[Any, ...]) -> list[Any]:
    """What the roots reach and a forward pass may change, each once."""
    seen: dict[int, Any] = {}  # the things are kept, so that no other gets the same id
    found = []
    waiting = [(root, True) for root in roots]
    while waiting:
        thing, is_own = waiting.pop()
        if isinstance(thing, _PLAIN) or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        if _is_restored(thing, is_own):
            found.append(thing)
        inside, are_own = _inside(thing)
        waiting += [(each, is_own and are_own) for each in inside]
    return found


def _is_restored(thing: Any, is_own: bool) -> bool:
    """Of objects that are not modules only tensors, modules and generators are put back.

    Their own attributes may belong to other threads, such as the queue of a writer.
    """
    if _is_module(thing) or isinstance(thing, (Tensor, *_generators())):
        return True
    if isinstance(thing, np.ndarray):
        return is_own and type(thing) is np.ndarray and thing.flags.writeable
    return is_own and type(thing) in (list, dict, set, deque, CellType)


def _inside(thing: Any) -> tuple[list[Any], bool]:
    """What a thing holds, and whether that belongs to the model."""
    if isinstance(thing, Tensor):
        return [], True  # with its gradient
    if isinstance(thing, list | tuple | set | frozenset | deque):
        return list(thing), True
    if isinstance(thing, dict):
        return list(thing.values()), True
    if isinstance(thing, CellType):
        return [_contents(thing)], True
    if isinstance(thing, FunctionType):
        return _held_by_function(thing), True
    if isinstance(thing, MethodType):
        return [thing.__self__, thing.__func__], True
    if isinstance(thing, partial):
        return [thing.func, *thing.args, *thing.keywords.values()], True
    methods = [vars(type(thing)).get("forward")] if _is_module(thing) else []
    return [*getattr(thing, "__dict__", {}).values(), *methods], _is_module(thing)


def _is_module(thing: Any) -> bool:
    """Asked in this way since modules themselves are preserved, by their summary."""
    return hasattr(type(thing), "named_parameters")


def _held_by_function(function: Any) -> list[Any]:
    """Its closure and defaults, and modules, tensors and functions among the globals it names."""
    named = (function.__globals__.get(name) for name in function.__code__.co_names)
    kinds = (Tensor, FunctionType, *_generators())
    known = [x for x in named if isinstance(x, kinds) or _is_module(x)]
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return [*(function.__closure__ or ()), *defaults, *known]


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


@cache
def _generators() -> tuple[Any, ...]:
    """The kinds of generators; NumPy imports its own only when they are asked for."""
    return (Generator, python_random.Random, np.random.Generator, np.random.RandomState)


def _restore(thing: Any) -> Callable[[], None]:
    """What puts a thing back to where it is now."""
    if isinstance(thing, Tensor):
        return _restore_tensor(thing)
    if isinstance(thing, np.ndarray):
        return partial(_write, thing, thing.copy())
    if isinstance(thing, CellType):
        return partial(_set_contents, thing, _contents(thing))
    if isinstance(thing, Generator):
        return partial(thing.set_state, thing.get_state())
    if isinstance(thing, python_random.Random):
        return partial(thing.setstate, thing.getstate())
    if isinstance(thing, np.random.Generator):
        return partial(setattr, thing.bit_generator, "state", thing.bit_generator.state)
    if isinstance(thing, np.random.RandomState):
        return partial(thing.set_state, thing.get_state(legacy=False))
    holder = thing if type(thing) in (list, dict, set, deque) else vars(thing)
    return partial(_refill, holder, list(holder.items() if isinstance(holder, dict) else holder))


def _refill(holder: Any, content: list[Any]) -> None:
    now = list(holder.items() if isinstance(holder, dict) else holder)
    if len(now) == len(content) and all(map(_is_same, now, content)):
        return
    holder.clear()
    holder.update(content) if isinstance(holder, dict | set) else holder.extend(content)


def _is_same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other) == 2:
        return one[0] is other[0] and one[1] is other[1]
    return one is other


def _restore_tensor(tensor: Tensor) -> Callable[[], None]:
    array, gradient, requires_grad = tensor._array, tensor.grad, tensor._requires_grad
    kept = array.copy() if isinstance(array, np.ndarray) else None
    kept_gradient = None if gradient is None else np.array(gradient._array)

    def restore() -> None:
        if tensor._array is not array:
            tensor._array = array
            changes.mark(array)
        if kept is not None:
            _write(array, kept)
        if tensor._requires_grad != requires_grad:
            tensor.requires_grad = requires_grad
        if tensor.grad is not gradient:
            tensor.grad = gradient
        if gradient is not None and isinstance(gradient._array, np.ndarray):
            _write(gradient._array, kept_gradient)

    return restore


def _write(array: Any, kept: Any) -> None:
    """Only if it differs: the tape refuses what was changed since it was recorded."""
    if array.tobytes() != kept.tobytes():
        door.setitem(array, ..., kept)
        changes.mark(array)


def _set_contents(cell: CellType, value: Any) -> None:
    if _contents(cell) is not value:
        cell.cell_contents = value
