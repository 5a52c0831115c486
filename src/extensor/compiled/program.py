"""One trace of a function as a program for a device, and how it is run."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor import _native
from extensor.compiled.backend import as_function, jax
from extensor.compiled.bound_state import BoundState, device_copy
from extensor.compiled.call_arguments import copy_with, fields_of
from extensor.compiled.device_arrays import Cell, array_of, cell_of, has_gradient, new_tensor
from extensor.compiled.program_trace import GENERATORS, ProgramTrace
from extensor.compiled.value_contents import plain_key
from extensor.core import tape
from extensor.core.changes import owner
from extensor.core.creation import asarray
from extensor.core.structures import leaves_in, map_leaves
from extensor.core.tensor import Tensor, wrap
from extensor.core.tracing import Number
from extensor.errors import marked, value_error


class OutputSlot(NamedTuple):
    """A tensor among the results: the place of its array, or a tensor from before the call."""

    place: int = -1
    bound: Any = None
    recorded: bool = False  # a gradient could flow back from it


class Recording(NamedTuple):
    """The program that tracing gave, and the meaning of its inputs and outputs."""

    program: Any  # takes all of the state, inputs, numbers, counters
    changed: list[int]  # places in the state whose new values are the first outputs
    kept: list[int]  # those that are only read
    outputs: Any  # the results, with an OutputSlot for each tensor
    gradients: list[tuple[Any, int]]  # tensors, or places of those given, and where they are
    dropped: list[Tensor]  # tensors that have no gradient afterwards
    flags_at: int


class Program:
    """A traced function: its program, and all that surrounds a run."""

    def __init__(self, trace: ProgramTrace, recording: Recording, device: Any) -> None:
        self.trace = trace
        self.recording = recording
        self.device = device
        self.guards = list(trace.guards.values())
        self.reads = trace.reads
        self.version = -1  # of the state whose cells these are
        self.runs = 0
        self.changed: list[Cell] = []
        self.kept: list[Cell] = []
        self._pack = struct.Struct(f"{len(trace.reads)}d").pack
        self._values = b""
        self._numbers: Any = None
        program = as_function(recording.program)
        places = {place: i for i, place in enumerate((*recording.changed, *recording.kept))}
        length = len(recording.program.in_avals)
        shapes = recording.program.in_avals

        def run(changed: Any, kept: Any, inputs: Any, numbers: Any, counters: Any) -> Any:
            cells, zeros = [*changed, *kept], jax().numpy.zeros
            first = length - len(inputs) - 2
            state = [
                cells[places[i]] if i in places else zeros(shapes[i].shape, shapes[i].dtype)
                for i in range(first)
            ]
            numbers = zeros(trace.room) if numbers is None else numbers
            counters = zeros(2 * GENERATORS, np.uint64) if counters is None else counters
            results = program(*state, *inputs, numbers, counters)
            return results[: len(changed)], results[len(changed) :]

        self.function = run
        self.run = jax().jit(run, donate_argnums=0)

    def holds(self, floats: list[float]) -> bool:
        """Whether the numbers on which the trace depends are unchanged."""
        self.trace.floats[:] = floats
        return not self.guards or all(is_equal(read(), expected) for read, expected in self.guards)

    def bind(self, state: BoundState) -> None:
        """Take the cells of ``state``, which has noted them."""
        self.changed = [state.cells[place] for place in self.recording.changed]
        self.kept = [state.cells[place] for place in self.recording.kept]
        check_unshared(_homes(self.changed), _homes(state.cells))
        self.version = state.version

    def arguments(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """The arguments of the program. Unused ones are left out, as each costs a transfer."""
        numbers = counters = None
        if self.reads:
            values = self._pack(*[read() for read in self.reads])  # by their bits: 0.0 equals -0.0
            if values != self._values:
                vector = np.zeros(self.trace.room)
                vector[: len(self.reads)] = np.frombuffer(values)
                self._values, self._numbers = values, jax().device_put(vector, self.device)
            numbers = self._numbers
        if self.trace.generators:
            counters = np.zeros(2 * GENERATORS, np.uint64)
            for place, (generator, _) in enumerate(self.trace.generators):
                counters[2 * place : 2 * place + 2] = generator.get_state()
        if not (self.changed or self.kept or self.reads):
            inputs = jax().device_put(inputs, self.device)  # nothing else says where to run
        changed = [cell.value for cell in self.changed]
        return changed, [cell.value for cell in self.kept], inputs, numbers, counters

    def __call__(self, given: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Run the program on ``inputs``, which begin with the arrays of the tensors ``given``."""
        self.runs += 1
        changed, results = self.run(*self.arguments(inputs))
        for cell, value in zip(self.changed, changed, strict=True):
            cell.value, cell.is_changed = value, True
        _native.advance_clock()
        for generator, blocks in self.trace.generators:
            generator._take(blocks)
        recording = self.recording
        for tensor, place in recording.gradients:
            _give_gradient(given[tensor] if isinstance(tensor, int) else tensor, results[place])
        for tensor in recording.dropped:
            if tensor.grad is not None:
                tensor.grad = None
        if self.trace.callbacks:
            flags = [bool(x) for x in results[recording.flags_at :]]
            for callback, places in self.trace.callbacks:
                callback([flags[place] for place in places])
        return fill_outputs(recording.outputs, results, given, new_tensor)


def _homes(cells: list[Cell]) -> list[Any]:
    """The NumPy memory of values on a device, where they have any."""
    return [cell.home for cell in cells if cell.home is not None]


def is_equal(now: Any, expected: Any) -> bool:
    """Whether a number that was taken for granted is still the same, told by its bits."""
    if type(now) is not float:
        return bool(now == expected)
    if now and type(expected) is float and now == expected:  # the usual case: only zeros have signs
        return True
    return bool(plain_key(now) == plain_key(expected))


def check_unshared(changed: list[Any], arrays: list[Any]) -> None:
    """Raise if one of the ``changed`` arrays shares memory with another one.

    A program knows the two as two values.
    """
    count = Counter(id(owner(array)) for array in arrays)
    for array in changed:
        if count[id(owner(array))] > 1:
            requirement = "a tensor that the function changes must not share its memory with others"
            raise value_error("compile", requirement, shape=array.shape)


def _give_gradient(tensor: Tensor, value: Any) -> None:
    present = tensor.grad
    cell = None if present is None else cell_of(present)
    if cell is None:
        tensor.grad = new_tensor(value)
    else:
        cell.value, cell.is_changed = value, True


def fill_outputs(
    outputs: Any, results: Sequence[Any], given: Sequence[Any], made: Callable[[Any], Tensor]
) -> Any:
    """The results of a run, with a tensor ``made`` of each array."""

    def fill(x: Any) -> Any:
        if isinstance(x, Number):
            return x.read()
        if not isinstance(x, OutputSlot):
            inner = fields_of(x)
            if not any(map(_holds_outputs, inner.values())):
                return x
            return copy_with(x, {k: map_leaves(y, fill, OutputSlot) for k, y in inner.items()})
        if x.place >= 0:
            tensor = made(results[x.place])
            if x.recorded:
                tensor._node, tensor._requires_grad = _NO_GRADIENT, True
            return tensor
        if type(x.bound) is int:
            return asarray(given[x.bound])
        return x.bound.copy() if isinstance(x.bound, np.ndarray) else x.bound

    return map_leaves(outputs, fill, OutputSlot)


def _holds_outputs(value: Any) -> bool:
    """Whether a result has an :class:`OutputSlot` in it."""
    return any(
        isinstance(x, OutputSlot | Number) or any(map(_holds_outputs, fields_of(x).values()))
        for x in leaves_in(value, OutputSlot)
    )


class _NoGradient:
    """The rule of results: no gradient goes back into a program that has run."""

    name = "compile_backward"
    keeps_tensors = False

    def gradients(self, *_: Any) -> Any:
        raise marked(
            RuntimeError(
                "backward: the result of a compiled function has no gradient; "
                "call backward() inside the function, or detach() the result"
            )
        )


_outside = wrap(np.zeros((), np.float32))
_outside._requires_grad = True
_NO_GRADIENT = tape.Node(_NoGradient(), (), (_outside,))  # of all results: nothing is kept in it


def inputs_of(given: Sequence[Any], state: BoundState) -> list[Any]:
    """The arrays of the tensors given, of the gradients they have, and of arrays that are bound.

    Those in NumPy's memory are copied: a program may read them after the call is back.
    """
    arrays = arrays_of(given, state)
    return [x.value if type(x) is Cell else device_copy(x) for x in arrays]


def arrays_of(given: Sequence[Any], state: BoundState) -> list[Any]:
    """The same as arrays or cells, in the order in which a program takes them."""
    arrays = [array_of(x) if isinstance(x, Tensor) else x for x in given]
    arrays += [array_of(x.grad) for x in given if has_gradient(x)]
    return [*arrays, *state.arrays.values()]
