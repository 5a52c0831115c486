"""The trace of a function: the state of the library while the function runs on placeholders."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any

import numpy as np

from extensor import _native
from extensor.compiled.backend import jax
from extensor.compiled.bound_state import BoundState, StepCount
from extensor.compiled.device_arrays import Cell, array_of
from extensor.compiled.guards import name_of
from extensor.compiled.reachable_values import ReachableValues
from extensor.compiled.value_contents import check_size, is_read_only, nested_key
from extensor.core.modes import switched
from extensor.core.structures import leaves_in, map_leaves
from extensor.core.tensor import Tensor, wrap
from extensor.core.tracing import Number, Read
from extensor.errors import marked, value_error
from extensor.optim import EMA

NUMBERS = 64  # of a run, before a longer vector is needed
GENERATORS = 8
# The ops whose results may show the memory of an input.
VIEWS = frozenset(
    """
    broadcast_to detach diag dropout dropout2d einsum flatten flip getitem identity moveaxis permute
    ravel reduce_to_shape reshape split squeeze swapaxes transpose unsqueeze
    """.split()
)


class UnboundError(Exception):
    """Something that existed before the trace and was not bound: to be bound, and traced again."""


class MissingStateError(Exception):
    """An optimizer has no state yet for some parameters of these histories: to be made before."""


class TooManyNumbersError(Exception):
    """The vector of numbers must be longer."""


class ProgramTrace:
    """The trace of one function, to which the library speaks while it is active."""

    hides_values = False  # whether arrays have values that must not be read
    calls = 0  # of kernels so far, where these are counted

    def __init__(self, state: BoundState, room: int, floats: list[float]) -> None:
        self.reached = state.reached
        self.room = room
        self.reads: list[Read] = []
        self.guards: dict[Any, tuple[Read, Any]] = {}
        self.generators: list[tuple[Any, int]] = []  # and the blocks that a run takes of each
        self.flags: list[Any] = []
        self.callbacks: list[tuple[Callable[[list[bool]], None], list[int]]] = []
        self.consumed: dict[int, Tensor] = {}  # tensors whose gradients an optimizer has used
        self.forgotten: set[int] = set()  # tensors whose gradients were cleared
        self.floats = list(floats)  # among the arguments, set anew at each run
        self._steps: dict[int, tuple[Any, list[int]]] = {}  # histories, and their steps before
        self._conditions: dict[int, Any] = {}  # of histories that step only where they hold
        self._arrays: dict[int, Any] = {}  # placeholders of NumPy arrays by identity
        self._numbers: Any = None
        self._counters: Any = None
        self._slots: dict[Any, int] = {}  # places of numbers in the vector, by their keys
        self._families: dict[int, list[weakref.ref[Tensor]]] = {}  # tensors that share memory
        self._scratch: dict[int, tuple[Any, Any]] = {}
        self._held: list[Any] = []
        self._condition: Any = None
        self._existing: dict[int, Tensor] = {}

    def begin(self, numbers: Any, counters: Any, arrays: dict[int, Any]) -> None:
        """Take the placeholders of numbers, counters, and of NumPy arrays by identity."""
        self._numbers, self._counters, self._arrays = numbers, counters, arrays
        self._existing = {id(x): x for x in _native.tensors_among(gc.get_objects())}

    def end(self) -> None:
        """Let go of all that was needed to trace only."""
        self.guard_arrays(self.reached, self._arrays)
        self._numbers = self._counters = self._condition = None
        for each in (self._existing, self._arrays, self._families, self._scratch, self._conditions):
            each.clear()
        self._held.clear()
        self.flags.clear()

    def guard_arrays(self, reached: ReachableValues, inputs: Container[int]) -> None:
        """Let a run trace again after one of the ``reached`` arrays has changed.

        The function may compute with it by NumPy itself, which nobody sees: also with one that is
        among the ``inputs`` of ops.
        """
        self.reached = reached
        for key, (array, place) in reached.arrays.items():
            if is_read_only(array):
                self.guard(("read-only", key), partial(is_read_only, array), True)
            elif ("contents", key) not in self.guards:
                if key not in inputs:
                    check_size(name_of(place), array)
                self.guard_contents(array)

    def brings(self, x: Any) -> bool:
        """Whether ``x`` is a value that only a run brings."""
        return isinstance(x, Number) or self.knows(getattr(x, "_array", x))

    def knows(self, array: Any) -> bool:
        """Whether an array stands for one of a run."""
        return hasattr(array, "aval")

    def lifted(self, value: Any) -> Any:
        """An input of an op, with what existed before the trace made an input of the whole."""
        if isinstance(value, Tensor):
            held = array_of(value)
            if isinstance(held, np.ndarray | Cell) and id(value) in self._existing:
                check_leaf(value)
                raise UnboundError(value)
            # A tensor that was made around an array from outside.
            return value if value._requires_grad else self._lifted_array(held, value)
        if isinstance(value, np.ndarray):
            return self._lifted_array(value, value)
        if isinstance(value, list | tuple) and any(isinstance(x, Tensor) for x in value):
            return [self.lifted(x) for x in value]
        if isinstance(value, EMA) and id(value) not in self.reached.averages:
            raise UnboundError(value)
        return value

    def _lifted_array(self, array: Any, otherwise: Any) -> Any:
        """The input that an array of NumPy's from outside is, ``otherwise`` if it is none."""
        if id(array) in self._arrays:
            return wrap(self._arrays[id(array)])
        if id(array) in self.reached.arrays:
            raise UnboundError(array)
        return otherwise

    def together(self, arrays: list[Any], attributes: Any) -> list[Any]:
        """The arrays of an op, all of the engine's where one of them or of an index is."""
        values = leaves_in(attributes)
        for x in values:  # an index, on which the shape may depend
            if isinstance(x, np.ndarray):
                self.guard_contents(x)
        if not any(map(_is_placeholder, (*leaves_in(arrays), *values))):
            return arrays
        return [map_leaves(x, _convert) for x in arrays]

    def scalar(self, number: Number, dtype: Any) -> Any:
        """A number as an array without axes, which each run sets anew."""
        place = self._slots.setdefault(number.key, len(self.reads))
        if place == len(self.reads):
            if place == self.room:
                raise TooManyNumbersError
            self.reads.append(number.read)
        return self._numbers[place].astype(dtype)

    def float_argument(self, place: int) -> Number:
        """The float at this place among the arguments."""
        return Number(self, lambda: self.floats[place], key=("argument", place))

    def guard(self, key: Any, read: Read, expected: Any) -> None:
        """The trace holds only while ``read()`` gives what it gave: otherwise trace again."""
        self.guards[key] = read, expected

    def guard_contents(self, array: Any) -> None:
        """Let a run trace again after a NumPy array from outside has changed."""

        def read() -> Any:
            return array.shape, array.dtype, array.tobytes()

        if id(array) in self.reached.arrays:
            self.guard(("contents", id(array)), read, read())

    def note_views(self, op: str, inputs: list[Any], made: Any) -> None:
        """An op gave ``made``, which may show the memory of its inputs where arrays have any."""
        if op not in VIEWS:
            return
        results = made if isinstance(made, tuple) else (made,)
        bases = [x for given in inputs for x in (given if isinstance(given, list) else [given])]
        for base in bases:
            if isinstance(base, Tensor):
                family = self._families.setdefault(id(base._array), [weakref.ref(base)])
                for view in results:
                    self._families[id(view._array)] = family
                    family.append(weakref.ref(view))
                self._held += [base._array, *[view._array for view in results]]

    def check_unseen(self, op: str, tensor: Tensor) -> None:
        """Raise if another tensor would see a change of ``tensor`` in place, had it memory."""
        family = self._families.get(id(tensor._array), [])
        others = (other() for other in family)
        if any(self._is_of(family, other) for other in others if other is not tensor):
            raise marked(
                RuntimeError(
                    f"{op}: a compiled function cannot change a tensor in place that another one "
                    "shows the memory of; compute a new tensor, x.at[i].set(v), or change a clone()"
                )
            )

    def _is_of(self, family: list[Any], tensor: Tensor | None) -> bool:
        """Whether ``tensor`` still shows the memory that was shared."""
        return tensor is not None and self._families.get(id(tensor._array)) is family

    def note_forgotten(self, tensor: Tensor) -> None:
        """The gradient of a tensor from outside was cleared."""
        self.forgotten.add(id(tensor))

    def formula(
        self, name: str, function: Callable[..., Any], arguments: Any, changed: Sequence[Any] = ()
    ) -> Any:
        """Compute by a formula that changes some arrays in place."""
        return function(*arguments)

    def update(self, update: Any, lists: Any, attributes: Any) -> None:
        """Change arrays as an optimizer does, with numbers that each run reads anew."""
        update.by_arrays(lists, attributes)

    def drawn(self, generator: Any, blocks: int) -> tuple[Any, Any]:
        """The seed and the first of the blocks that a draw takes, as arrays."""
        place, taken = self.take_blocks(generator, blocks)
        return self._counters[2 * place], self._counters[2 * place + 1] + np.uint64(taken)

    def redrawn(self, words: tuple[Any, Any]) -> None:
        """The numbers of an earlier draw are drawn again."""

    def check(self, name: str, check: Callable[..., None], arguments: Sequence[Any]) -> None:
        """Look at the values of the arguments of an op, which may be missing."""
        check(name, *arguments)

    def filled(self, first_call: int) -> None:
        """The numbers of the last draw are there."""

    def take_blocks(self, generator: Any, blocks: int) -> tuple[int, int]:
        """Note a draw: the place of its generator, and the blocks that a run has taken before."""
        known = [id(other) for other, _ in self.generators]
        if id(generator) not in known:
            if len(known) == GENERATORS:
                requirement = f"a function must draw from at most {GENERATORS} generators"
                raise value_error("compile", requirement, generators=len(known) + 1)
            self.generators.append((generator, 0))
            known.append(id(generator))
        place = known.index(id(generator))
        taken = self.generators[place][1]
        self.generators[place] = generator, taken + blocks
        return place, taken

    def stepped(self, optimizer: Any, moves: list[Any]) -> None:
        """An optimizer is about to change parameters; the steps are counted after each run."""
        if self.scratch(optimizer, list):
            requirement = (
                "an optimizer must not step after its schedule was stepped in the same call"
            )
            raise value_error("compile", requirement, optimizer=type(optimizer).__name__)
        for history in optimizer._histories:
            if id(history) not in self.reached.histories:
                raise UnboundError(optimizer)
        missing = [(m.history, m.indices) for m in moves if _lacks_state(m)]
        if missing:
            raise MissingStateError(optimizer, missing)
        for move in moves:
            self._steps.setdefault(id(move.history), (move.history, list(move.history.steps())))
            for index in move.indices:
                parameter = move.history.group["params"][index]
                self.consumed[id(parameter)] = parameter

    def read_anew(self, move: Any) -> tuple[Any, Any]:
        """The options of a move's group and the number of its step, as each run finds them."""
        history, index = move.history, move.indices[0]
        more = move.step - self._steps[id(history)][1][index]
        options = self.lifted_options(history.group)
        key = id(history), index, more
        return options, Number(self, lambda: history.steps()[index] + more, move.step, key)

    def lifted_options(self, group: dict[str, Any]) -> dict[str, Any]:
        """The options of a group of parameters, its numbers as each run finds them."""
        return {key: self._option(group, key) for key in group}

    def read_by_user(self, owner: Any, name: str, value: Any) -> Any:
        """An attribute of an optimizer, a schedule or a scaler that the user's code has read."""
        if name == "state_dict":
            requirement = "a compiled function must not read state_dict(); call it outside"
            raise value_error("compile", requirement, owner=type(owner).__name__)
        if type(value) in (int, float):
            return Number(self, lambda: getattr(owner, name), value, (id(owner), name))
        if name == "param_groups" or callable(value) or isinstance(value, Tensor):
            return value
        is_nested = isinstance(value, bool | str | None | list | tuple | dict | np.generic)
        describe = nested_key if is_nested else id
        self.guard((id(owner), name), lambda: describe(getattr(owner, name)), describe(value))
        return value

    def _option(self, group: dict[str, Any], key: str) -> Any:
        value = group[key]
        is_number = isinstance(value, int | float | tuple) and not isinstance(value, bool)
        if key == "params" or not is_number:
            return value
        if isinstance(value, tuple):
            return tuple(
                self._part(group, key, i, x) if type(x) in (int, float) else x
                for i, x in enumerate(value)
            )
        return Number(self, lambda: group[key], value, (id(group), key))

    def _part(self, group: dict[str, Any], key: str, place: int, value: float) -> Number:
        return Number(self, lambda: group[key][place], value, (id(group), key, place))

    def moved_if(self, optimizer: Any, condition: Any, step: Callable[[], Any]) -> None:
        """``step`` an optimizer, but keep what was where the array ``condition`` is false."""
        where = jax().numpy.where
        histories = optimizer._histories
        before = [
            ([p._array for p in h.group["params"]], [list(role) for role in h.state])
            for h in histories
        ]
        with switched(self, _condition=condition):
            step()
        for history, (arrays, state) in zip(histories, before, strict=True):
            for parameter, array in zip(history.group["params"], arrays, strict=True):
                if parameter._array is not array:
                    parameter._array = where(condition, parameter._array, array)
            for now, then in zip(history.state, state, strict=True):
                for index, array in enumerate(then):
                    if array is not None and now[index] is not array:
                        now[index] = where(condition, now[index], array)
        self._conditions |= {id(history): condition for history in histories}

    def later(self, what: Callable[[list[bool]], None], *flags: Any) -> None:
        """Call ``what`` after each run, outside of the trace, with the values of ``flags``."""
        if self._condition is not None and not flags:
            callback, flags = what, (self._condition,)

            def what(values: list[bool]) -> None:
                if values[0]:
                    callback([])

        places = list(range(len(self.flags), len(self.flags) + len(flags)))
        self.flags += flags
        self.callbacks.append((what, places))

    def scratch(self, owner: Any, make: Callable[[], Any]) -> Any:
        """The values that ``owner`` would keep in attributes between calls, for this trace only."""
        if id(owner) not in self._scratch:
            self._scratch[id(owner)] = owner, make()
        return self._scratch[id(owner)][1]

    def count_steps(self) -> None:
        """Let the steps that histories have taken be counted after each run."""
        for history, before in self._steps.values():
            more = [now - then for now, then in zip(history.steps(), before, strict=True)]
            flags = [self._conditions[id(history)]] if id(history) in self._conditions else []
            self.later(StepCount(history, more), *flags)


def check_leaf(tensor: Tensor) -> None:
    """Raise if a tensor from outside was computed by a recorded op."""
    if not tensor.is_leaf:
        requirement = (
            "a tensor from outside must be a leaf, as no gradient leaves the function "
            "(detach() it, or compute it inside)"
        )
        raise value_error("compile", requirement, shape=tensor.shape)


def _lacks_state(move: Any) -> bool:
    return any(
        arrays[index] is None and new is not None
        for arrays, state in zip(move.used, move.lists[2:], strict=True)
        for index, new in zip(move.indices, state, strict=bool(arrays))
    )


def _is_placeholder(x: Any) -> bool:
    return isinstance(getattr(x, "_array", x), jax().core.Tracer)


def _convert(x: Any) -> Any:
    return jax().numpy.asarray(x) if isinstance(x, np.ndarray) else x
