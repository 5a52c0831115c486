"""A model and its loss that are run to see whether they fit, and must be as they were before.

A copy alone is not enough: functions are not copied, so a helper such as
``self.block = lambda x: relu(self.norm(x))`` runs the original. So the original is put back too, with
all that it can reach, and so is the loss. What stays changed is state that no module, container,
closure or named global variable holds: the attributes of other objects and of classes, files, and
what hooks do.
"""

from __future__ import annotations

import random as python_random
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from io import IOBase
from operator import is_
from types import CellType, CodeType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from extensor import random
from extensor.core import changes, door
from extensor.core.modes import no_grad
from extensor.core.tensor import Tensor
from extensor.random.generator import Generator
from extensor.random.global_generators import preserve_global_generators

if TYPE_CHECKING:
    from extensor.nn.module import Module

_VALUES = (bool, int, float, complex, str, bytes, type(None))
_PLAIN = (*_VALUES, type, ModuleType)
_PLAIN_TYPES = frozenset(_PLAIN)
_CONTAINERS = (list, dict, set, deque)
_LARGE = 1 << 26  # bytes of a global array that is taken for data, which a call only reads
_CHUNK = 1 << 22  # bytes that are compared at once
_MISSING = object()


class _Variable(NamedTuple):
    """A global variable that a function names."""

    namespace: dict[str, Any]
    name: str


@contextmanager
def preserve_state(*models: Module | Tensor | Callable[..., Any]) -> Iterator[None]:
    """Afterwards models, tensors and losses are as they were: the same bits in the same memory.

    So are their gradients, modes and plain attributes, containers and variables of closures that they
    reach, global variables that their functions name, and all generators: those of the models, the
    default one, Python's and NumPy's.
    """
    # All that is to be restored is read before the block: nothing can be found out afterwards.
    state = random.get_state()
    restores = [_restore(thing) for thing, is_restored in _reachable(models) if is_restored]
    try:
        with preserve_global_generators():
            yield
    finally:
        for restore in restores:
            restore()
        random.set_state(state)


@contextmanager
def preserve_tensors(*models: Module) -> Iterator[None]:
    """Afterwards the parameters and buffers of models are as they were; other state is not touched."""
    tensors = [x for model in models for x in (*model.parameters(), *model.buffers())]
    kept = [np.array(x._array) for x in tensors]
    try:
        yield
    finally:
        with no_grad():
            for tensor, array in zip(tensors, kept, strict=True):
                tensor[...] = array


@contextmanager
def evaluating(module: Module) -> Iterator[None]:
    """``module.eval()`` inside the block; afterwards every module below is what it was."""
    # Of each module: parts may have been frozen with eval() and must stay so.
    before = [(below, below.training) for below in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for below, training in before:
            below.training = training


def reaches_iterator(*models: Module | Callable[..., Any]) -> bool:
    """True if models or losses hold or name an iterator, which cannot be put back once it has moved."""
    return any(_is_iterator(thing) for thing, _ in _reachable(models))


def iterator_positions(*roots: Module | Callable[..., Any]) -> list[Any]:
    """The positions of the iterators that models or functions reach: they differ once one has moved.

    Iterators that keep their position to themselves, such as ``numpy.nditer``, never differ, and those
    that describe one position in two ways are left out.
    """
    iterators = [thing for thing, _ in _reachable(roots) if _is_iterator(thing)]
    pairs = [(_position(thing), _position(thing)) for thing in iterators]
    return [first for first, second in pairs if first == second]


def _position(thing: Any, path: tuple[int, ...] = ()) -> Any:
    """A number as it is, an iterator as its state, a list as its length, anything else as its identity.

    ``path`` has the iterators around ``thing``, which may hold each other.
    """
    if isinstance(thing, _VALUES):
        return thing
    if isinstance(thing, list):  # an iterator over a dict gives the list of what is left
        return len(thing)
    if isinstance(thing, tuple):
        return tuple(_position(x, path) for x in thing)
    if not isinstance(thing, Iterator) or id(thing) in path:
        return id(thing)
    path += (id(thing),)
    if isinstance(thing, GeneratorType):
        frame = thing.gi_frame
        return frame and (frame.f_lasti, *(_position(x, path) for x in frame.f_locals.values()))
    try:
        with warnings.catch_warnings(action="ignore"):  # Python 3.12 warns that itertools' will go
            state = thing.__reduce_ex__(2)[1:]
    except TypeError:
        return id(thing)
    return tuple(_position(tuple(x.items()) if isinstance(x, dict) else x, path) for x in state)


def _reachable(roots: tuple[Any, ...]) -> Iterator[tuple[Any, bool]]:
    """Everything the roots reach, each once, and whether a call may change it and it can be restored."""
    seen: dict[int, Any] = {}  # the things are kept, so that no other gets the same id
    waiting = [(root, True) for root in roots]
    objects = {id(x) for x in map(_object_of, roots) if hasattr(x, "__dict__")}
    while waiting:
        thing, is_own = waiting.pop()
        if isinstance(thing, _PLAIN) or id(thing) in seen:
            continue
        seen[id(thing)] = thing
        inside: Iterable[Any]
        if type(thing) in (list, dict):  # there may be very many, as in a vocabulary
            yield thing, is_own
            inside, are_own = thing if type(thing) is list else thing.values(), is_own
        else:
            is_object = id(thing) in objects
            yield thing, is_object or _is_restored(thing, is_own)
            inside, of_model = _inside(thing)
            if is_object:
                inside += [*vars(thing).values(), *_methods(type(thing))]
            are_own = is_own and (of_model or is_object)
        waiting += [(x, are_own) for x in inside if type(x) not in _PLAIN_TYPES]


def _is_iterator(thing: Any) -> bool:
    """Files are iterators too, but models rarely read them; they write logs."""
    return isinstance(thing, Iterator) and not isinstance(thing, IOBase)


def _object_of(root: Any) -> Any:
    """The object whose method a root is, or the root itself."""
    while isinstance(root, partial | MethodType):
        root = root.func if isinstance(root, partial) else root.__self__
    return root


def _methods(kind: type) -> list[Any]:
    """The functions that a user's class and its bases define."""
    kinds = [x for x in kind.__mro__ if _is_of_user(x.__module__)]
    return [x for each in kinds for x in vars(each).values() if isinstance(x, FunctionType)]


def _is_of_user(module: Any) -> bool:
    package = str(module).partition(".")[0]
    is_library = package in ("extensor", "numpy", "builtins") or package in sys.stdlib_module_names
    return package == "__main__" or not is_library


def _is_restored(thing: Any, is_own: bool) -> bool:
    """Of objects that are not modules only tensors, modules and generators are put back.

    Their own attributes may belong to other threads, such as the queue of a writer.
    """
    if _is_module(thing) or isinstance(thing, (Tensor, *_generators())):
        return True
    if isinstance(thing, np.ndarray):
        return is_own and type(thing) is np.ndarray and thing.flags.writeable
    return is_own and type(thing) in (*_CONTAINERS, CellType, _Variable)


def _inside(thing: Any) -> tuple[list[Any], bool]:
    """The contents of a thing, and whether they belong to the model."""
    if isinstance(thing, Tensor):
        return [], True  # with its gradient
    if isinstance(thing, _Variable):
        return [thing.namespace.get(thing.name)], True
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
    """Its closure, defaults and attributes, and of the globals it names those that a call may change."""
    namespace = function.__globals__
    names = _names_in(function.__code__)
    kinds = (Tensor, FunctionType, *_generators())
    values = map(namespace.get, names)
    known = [x for x in values if isinstance(x, kinds) or _is_module(x) or _is_iterator(x)]
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if _is_of_user(namespace.get("__name__")):
        known += [_Variable(namespace, name) for name in names if _may_change(namespace, name)]
        known.append(function.__dict__)
    return [*(function.__closure__ or ()), *defaults, *known]


def _names_in(code: CodeType) -> set[str]:
    """The names of globals and attributes in a function and in those that it defines."""
    inner = (_names_in(x) for x in code.co_consts if isinstance(x, CodeType))
    return set(code.co_names).union(*inner)


def _may_change(namespace: dict[str, Any], name: str) -> bool:
    value = namespace.get(name, _MISSING)
    if isinstance(value, np.ndarray):
        return value.nbytes <= _LARGE
    return value is _MISSING or type(value) in (*_VALUES, *_CONTAINERS)


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
    """A function that puts a thing back to its present state."""
    if type(thing) in _CONTAINERS:
        return _restore_container(thing)
    if isinstance(thing, Tensor):
        return _restore_tensor(thing)
    if isinstance(thing, np.ndarray):
        return partial(_write, thing, thing.copy())
    if isinstance(thing, CellType):
        return partial(_set_contents, thing, _contents(thing))
    if isinstance(thing, _Variable):
        return partial(_rebind, *thing, thing.namespace.get(thing.name, _MISSING))
    if isinstance(thing, Generator):
        return partial(thing.set_state, thing.get_state())
    if isinstance(thing, python_random.Random):
        return partial(thing.setstate, thing.getstate())
    if isinstance(thing, np.random.Generator):
        return partial(setattr, thing.bit_generator, "state", thing.bit_generator.state)
    if isinstance(thing, np.random.RandomState):
        return partial(thing.set_state, thing.get_state(legacy=False))
    return _restore_container(vars(thing))


def _restore_container(holder: Any) -> Callable[[], None]:
    values = list(holder.values()) if isinstance(holder, dict) else None
    return partial(_refill, holder, list(holder), values)


def _refill(holder: Any, items: list[Any], values: list[Any] | None) -> None:
    """Give a container its items, a dict its keys and ``values``, if it has others now."""
    is_same = len(holder) == len(items) and all(map(is_, holder, items))
    if is_same and (values is None or all(map(is_, holder.values(), values))):
        return
    # Refilled, not replaced: others hold the container itself.
    holder.clear()
    if values is not None:
        holder.update(zip(items, values, strict=True))
    else:
        holder.update(items) if isinstance(holder, set) else holder.extend(items)


def _rebind(namespace: dict[str, Any], name: str, value: Any) -> None:
    if value is _MISSING:
        namespace.pop(name, None)
    elif namespace.get(name, _MISSING) is not value:
        namespace[name] = value


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
    if not _has_bytes(array, kept):
        door.setitem(array, ..., kept)
        changes.mark(array)


def _has_bytes(array: Any, kept: Any) -> bool:
    """Whether an array has the bytes of its copy; in chunks, as it may fill most of the memory."""
    if array.dtype.hasobject or not (array.flags.c_contiguous and kept.flags.c_contiguous):
        return bool(array.tobytes() == kept.tobytes())
    now, then = (x.reshape(-1).view(np.uint8) for x in (array, kept))
    places = range(0, now.size, _CHUNK)
    return all(np.array_equal(now[i : i + _CHUNK], then[i : i + _CHUNK]) for i in places)


def _set_contents(cell: CellType, value: Any) -> None:
    if _contents(cell) is not value:
        cell.cell_contents = value
