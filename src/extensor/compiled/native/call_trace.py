"""The trace for the native backend: the function runs on copies of its tensors, and calls are noted.

Kernels are noted by the extension. What a formula computes in their place becomes a step in Python.
Memory tells where an input came from: every array of a trace stays alive until its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from extensor import _native
from extensor.compiled.bound_state import BoundState
from extensor.compiled.program_trace import ProgramTrace, UnboundError, check_leaf
from extensor.core import door, tracing
from extensor.core.changes import owner
from extensor.core.modes import switched
from extensor.core.structures import leaves_in, map_leaves
from extensor.core.tensor import Tensor
from extensor.core.tracing import Number
from extensor.errors import value_error
from extensor.optim.update import GRADIENT
from extensor.random.philox import LIMIT

# Formulas whose results depend on the shapes and dtypes of their inputs alone.
_LAYOUT_ONLY = frozenset(("ones_like", "zeros_like", "full_like", "empty_like"))
# Formulas that write to arrays, which are what they return.
_WRITING = frozenset(("setitem", "assign"))
array_of: Callable[[Any], Any] = _native.TensorBase._array.__get__


class ArraySlot(NamedTuple):
    """An array of a run: its buffer, the byte at which it begins, and an array of its layout."""

    buffer: int
    offset: int
    like: Any


class Draw(NamedTuple):
    """A word of a random draw: the seed of a generator, or the number of the first block."""

    generator: int
    taken: int  # blocks before it in the same run; -1 for the seed


class FormulaStep(NamedTuple):
    """A step that Python computes."""

    name: str
    function: Callable[..., Any]
    arguments: Any  # nested, with slots in the places of arrays
    outputs: list[ArraySlot | None]  # None for one that shows the memory of an input
    changed: frozenset[int]  # buffers that it writes to in place
    checks: bool = False  # whether it only raises an error for some values


class Position(NamedTuple):
    """A moment of a trace: how many calls and formulas came before."""

    calls: int
    formulas: int


class ConditionalSteps(NamedTuple):
    """Steps that a run leaves out where ``condition`` is false."""

    begin: Position
    end: Position
    condition: ArraySlot


SLOTS = (ArraySlot, Number, Draw)


class CallTrace(ProgramTrace):
    """The trace of one function, to which the library speaks while it is active."""

    hides_values = True

    def __init__(self, state: BoundState, floats: list[float]) -> None:
        super().__init__(state, 0, floats)
        self.recorder = _native.Recorder()
        self.formulas: list[tuple[int, FormulaStep]] = []  # and how many calls came before each
        self.updates: dict[int, frozenset[int]] = {}  # calls, and the buffers that they change
        self.numbers: list[tuple[int, int, Number]] = []  # call, slot
        self.words: list[tuple[int, int, Draw]] = []  # call, slot
        self.scalars: dict[Any, tuple[Any, Number]] = {}  # arrays that a run fills, by their keys
        self.conditional: list[ConditionalSteps] = []
        self._draw: tuple[Draw, Draw] | None = None  # that comes next
        self._drawn: dict[tuple[int, int], tuple[Draw, Draw]] = {}  # by their words in the trace

    @contextmanager
    def recording(self) -> Iterator[None]:
        """A block in which the calls and formulas of this thread are noted."""
        before = _native.set_recorder(self.recorder)
        formulas, door.recording.formula = door.recording.formula, self.formula
        tracing.hiding += 1
        try:
            yield
        finally:
            tracing.hiding -= 1
            door.recording.formula = formulas
            _native.set_recorder(before)

    def slot(self, array: Any) -> ArraySlot:
        """Where an array lies; one that nobody knows is a constant from now on."""
        buffer, offset = self.recorder.place(array)
        like = np.lib.stride_tricks.as_strided(
            np.empty((), array.dtype), array.shape, array.strides, writeable=False
        )
        return ArraySlot(buffer, offset, like)

    @property
    def calls(self) -> int:  # type: ignore[override]
        """How many calls of kernels there were so far."""
        return self.recorder.calls

    def knows(self, array: Any) -> bool:
        """Whether an array has a value that only a run brings."""
        return self.recorder.brings(array)

    def position(self) -> Position:
        """The present moment."""
        return Position(self.recorder.calls, len(self.formulas))

    def lifted(self, value: Any) -> Any:
        """An input of an op; NumPy arrays from outside in the form of the copies that stand for them."""
        if isinstance(value, np.ndarray):
            return self._lifted_array(value, value)
        if isinstance(value, list | tuple) and any(isinstance(x, Tensor) for x in value):
            return [self.lifted(x) for x in value]
        if isinstance(value, Tensor):
            return self._lifted_array(array_of(value), value)
        return super().lifted(value)

    def together(self, arrays: list[Any], attributes: Any) -> list[Any]:
        """The arrays of an op as they are."""
        for x in leaves_in(attributes):  # an index, on which the shape may depend
            if isinstance(x, np.ndarray):
                self.guard_contents(x)
        return arrays

    def scalar(self, number: Number, dtype: Any) -> Any:
        """A number as an array without axes, which each run sets anew."""
        key = number.key, np.dtype(dtype)
        if key not in self.scalars:
            array = np.asarray(number.value, dtype)
            self.recorder.bind(array)
            self.scalars[key] = array, number
        return self.scalars[key][0]

    def formula(
        self, name: str, function: Callable[..., Any], arguments: Any, changed: Sequence[Any] = ()
    ) -> Any:
        """Compute by a formula, and note it as a step.

        It changes the arrays ``changed`` in place.
        """
        if self._draw is not None:
            arguments = (self._draw[0], arguments[1], self._draw[1], *arguments[3:])
            self._draw = None
        slots = map_leaves(tuple(arguments), self._as_slot, (Number, Draw))
        values = map_leaves(tuple(arguments), self._present, (Number, Draw))
        before = _native.set_recorder(None)
        door.recording.formula = None
        try:
            result = function(*values)
        finally:
            door.recording.formula = self.formula
            _native.set_recorder(before)
        inputs = [x for x in leaves_in(slots, SLOTS) if isinstance(x, SLOTS)]
        if result is NotImplemented or not inputs or name in _LAYOUT_ONLY:
            return result  # the same for each run
        arrays = [x for x in leaves_in(result) if isinstance(x, np.ndarray)]
        if name in _WRITING:
            changed = arrays
        outputs: list[ArraySlot | None] = []
        for array in arrays:
            if self.recorder.holds(array):
                outputs.append(None)
            else:
                self.recorder.fresh(array)
                outputs.append(self.slot(array))
        if changed or any(x is not None for x in outputs):
            buffers = frozenset(self.slot(x).buffer for x in changed)
            step = FormulaStep(name, function, slots, outputs, buffers)
            self.formulas.append((self.recorder.calls, step))
        return result

    def check(self, name: str, check: Callable[..., None], arguments: Sequence[Any]) -> None:
        """Look at the values of the arguments of an op, now and in each run."""
        check(name, *arguments)
        slots = map_leaves((name, *arguments), self._as_slot, (Number, Draw))
        if any(isinstance(x, ArraySlot) for x in leaves_in(slots, SLOTS)):
            step = FormulaStep(name, check, slots, [], frozenset(), True)
            self.formulas.append((self.recorder.calls, step))

    def update(self, update: Any, lists: Any, attributes: Any) -> None:
        """Change arrays as an optimizer does, with numbers that each run reads anew."""
        values = [x.value if isinstance(x, Number) else float(x) for x in attributes]
        others = [x for role, arrays in enumerate(lists) if role != GRADIENT for x in arrays]
        changed = [x for x in others if isinstance(x, np.ndarray)]  # not all state is there
        first = self.recorder.calls
        if update.kernel is None or update.by_kernel(*lists, *values) is NotImplemented:
            numbers = [x if isinstance(x, Number) else float(x) for x in attributes]
            self.formula(update.name, update.formula, (*lists, *numbers), changed)
            return
        self.updates[first] = frozenset(self.slot(x).buffer for x in changed)
        for slot, number in enumerate(attributes):
            if isinstance(number, Number):
                self.numbers.append((first, slot, number))

    def drawn(self, generator: Any, blocks: int) -> tuple[Any, Any]:
        """The seed and the first of the blocks that a draw takes, as they are now."""
        place, taken = self.take_blocks(generator, blocks)
        words = generator._seed, (generator._counter + taken) % LIMIT
        self._draw = self._drawn[words] = Draw(place, -1), Draw(place, taken)
        return words

    def redrawn(self, words: tuple[Any, Any]) -> None:
        """The numbers of an earlier draw are drawn again."""
        self._draw = self._drawn.get(words)

    def filled(self, first_call: int) -> None:
        """A kernel has drawn the numbers, in the call after so many."""
        if self._draw is not None and self.recorder.calls > first_call:
            seed, block = self._draw
            self.words += [(first_call, 0, seed), (first_call, 2, block)]
        self._draw = None

    def moved_if(self, optimizer: Any, condition: Any, step: Callable[[], Any]) -> None:
        """``step`` an optimizer, in the runs in which ``condition`` is true."""
        begin = self.position()
        with switched(self, _condition=condition):
            step()
        self.conditional.append(ConditionalSteps(begin, self.position(), self.slot(condition)))
        self._conditions |= {id(history): condition for history in optimizer._histories}

    def note_views(self, op: str, inputs: list[Any], made: Any) -> None:
        """Nothing: views show the memory of their bases here too."""

    def check_unseen(self, op: str, tensor: Tensor) -> None:
        """Nothing: what shows the memory of a tensor sees its changes here too."""

    def check_constants(self) -> None:
        """Raise if a constant belongs to something that existed before, or has changed unnoticed."""
        written = self.written_buffers()
        tensors = sorted(filter(_is_plain, self._existing.values()), key=lambda x: x.is_leaf)
        existing = {id(owner(array_of(x))): x for x in tensors}  # a leaf where there is one
        for number in range(self.recorder.buffers):
            kind, array, _, contents = self.recorder.buffer(number)
            if kind != "constant":
                continue
            for known, _ in self.reached.arrays.values():
                if owner(known) is owner(array):
                    raise UnboundError(known)
            found = existing.get(id(owner(array)))
            if found is not None:
                check_leaf(found)
                raise UnboundError(found)
            offset = self.recorder.place(array)[1]
            before = np.ndarray(array.shape, array.dtype, contents, offset, array.strides)
            if number not in written and array.tobytes() != before.tobytes():
                requirement = (
                    "an array that is used inside a compiled function must not be changed there, "
                    "except through a tensor"
                )
                raise value_error("compile", requirement, shape=array.shape)

    def changed_by_call(self, call: int) -> frozenset[int]:
        """The buffers that a call of a kernel changes in place."""
        if call in self.updates:
            return self.updates[call]
        _, inputs, _, _, _, changed = self.recorder.call(call)
        return frozenset(buffer for buffer, _ in inputs[:changed])

    def written_buffers(self) -> set[int]:
        """The buffers that steps change in place."""
        written = {x for call in range(self.calls) for x in self.changed_by_call(call)}
        return written | {x for _, step in self.formulas for x in step.changed}

    def _as_slot(self, x: Any) -> Any:
        return self.slot(x) if isinstance(x, np.ndarray) else x

    def _present(self, x: Any) -> Any:
        """A number or a word as it is now."""
        if isinstance(x, Draw):
            generator = self.generators[x.generator][0]
            if x.taken < 0:
                return generator._seed
            return (generator._counter + x.taken) % LIMIT
        return x.value if isinstance(x, Number) else x


def _is_plain(tensor: Tensor) -> bool:
    return type(array_of(tensor)) is np.ndarray
