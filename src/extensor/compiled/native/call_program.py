"""Recorded calls as a program: which steps are needed, where their memory lies, and how they are run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from extensor import _native
from extensor.arrays import storage
from extensor.compiled.bound_state import BoundState
from extensor.compiled.native.arena import Lifetime, plan_arena
from extensor.compiled.native.call_recording import CallRecording, with_layout_of
from extensor.compiled.native.call_trace import (
    SLOTS,
    ArraySlot,
    CallTrace,
    Draw,
    FormulaStep,
    Position,
)
from extensor.compiled.program import check_unshared, fill_outputs, is_equal
from extensor.compiled.value_contents import nested_key
from extensor.core import changes
from extensor.core.structures import leaves_in, map_leaves
from extensor.core.tensor import wrap
from extensor.core.tracing import Number
from extensor.errors import value_error
from extensor.random.philox import LIMIT


class DeclinedError(Exception):
    """A kernel does not take the values of this run; nothing has changed."""


class Step(NamedTuple):
    """A call of a kernel by its number, or a formula; and the buffers that it reads and writes."""

    call: int  # -1 for a formula
    formula: FormulaStep | None
    reads: frozenset[int]
    fills: frozenset[int]
    changes: frozenset[int]
    depends_on_values: bool


class ProgramSegment(NamedTuple):
    """Calls from ``begin`` to ``end`` of the program, or a formula, or a jump where a flag is false."""

    begin: int
    end: int
    formula: FormulaStep | None = None
    condition: ArraySlot | None = None
    skipped: int = 0  # segments


class CallProgram:
    """A recorded function: its program, and all that surrounds a run."""

    def __init__(self, trace: CallTrace, recording: CallRecording) -> None:
        self.trace = trace
        self.recording = recording
        self.guards = list(trace.guards.values())
        self.version = -1  # of the state whose arrays are bound
        self.runs = 0
        self.summary = summary_of(trace, recording)
        self._cells: list[Any] = []
        self._changed: list[Any] = []
        self._first_input = recording.cells
        self._numbers = [number.read for *_, number in trace.numbers]
        steps = _needed_steps(_steps_of(trace), _kept_buffers(trace, recording))
        places = {step.call: i for i, step in enumerate(x for x in steps if x.call >= 0)}
        numbers = [(places[call], slot) for call, slot, _ in trace.numbers]
        drawn = [(places[call], slot, word) for call, slot, word in trace.words if call in places]
        self._words = [word for *_, word in drawn]
        self._native = _native.Program(
            trace.recorder, list(places), numbers, [(step, slot) for step, slot, _ in drawn]
        )
        self._segments = _segments_of(trace, steps, places)
        self._scalars = list(trace.scalars.values())
        for array, _ in self._scalars:
            self._native.bind(trace.slot(array).buffer, array, 0)
        self._results = _result_buffers(trace, recording)
        self._place_constants(trace, steps)
        self._place_fresh(trace, steps)
        self._changed_cells = sorted(
            {x for step in steps for x in step.changes if x < recording.cells}
            | {place for place, _ in recording.replaced}
        )
        self._undone = _undone_cells(steps, recording.cells)
        trace.recorder.release()

    def _place_constants(self, trace: CallTrace, steps: list[Step]) -> None:
        written = {x for step in steps for x in step.changes}
        self._held = []
        self._initial: list[tuple[Any, Any]] = []
        for number in range(trace.recorder.buffers):
            kind, _, _, contents = trace.recorder.buffer(number)
            if kind == "constant":
                self._native.bind(number, contents, 0)
                self._held.append(contents)
                if number in written:
                    self._initial.append((contents, contents.copy()))

    def _place_fresh(self, trace: CallTrace, steps: list[Step]) -> None:
        lifetimes = _lifetimes(trace, steps, self.recording, set(self._results))
        offsets, size = plan_arena(lifetimes)
        self.arena_bytes = size
        self._arena = storage.empty((size,), np.dtype(np.uint8))
        for buffer, offset in offsets.items():
            self._native.bind(buffer, self._arena, offset)

    def holds(self, floats: list[float]) -> bool:
        """Whether the numbers on which the trace depends are unchanged."""
        self.trace.floats[:] = floats
        return not self.guards or all(is_equal(read(), expected) for read, expected in self.guards)

    def bind(self, state: BoundState) -> None:
        """Take the arrays of ``state``, which has noted them."""
        self._cells = list(state.cells)
        self._changed = [self._cells[place] for place in self._changed_cells]
        check_unshared(self._changed, self._cells)
        for array in self._changed:
            if not array.flags.writeable:
                requirement = "a tensor that the function changes must not be read-only"
                raise value_error("compile", requirement, shape=array.shape)
        self._owners = {id(changes.owner(array)) for array in self._changed}
        for place, array in enumerate(self._cells):
            self._native.bind(place, array, 0)
        self.version = state.version

    def __call__(self, given: Sequence[Any], inputs: Sequence[Any]) -> Any:
        """Run the program on ``inputs``, which begin with the arrays of the tensors ``given``."""
        native, recording = self._native, self.recording
        held = []
        for place, array in enumerate(inputs, self._first_input):
            if id(changes.owner(array)) in self._owners:  # the run changes it
                array = with_layout_of(array)
            held.append(array)
            native.bind(place, array, 0)
        bases = {}
        for buffer, (shape, dtype) in self._results.items():
            bases[buffer] = storage.empty(shape, dtype)
            native.bind(buffer, bases[buffer], 0)
        draws = self._begin(native)
        undone = [(self._cells[i], self._cells[i].copy()) for i in self._undone]
        try:
            self._run(native, draws)
        except DeclinedError:
            for array, before in undone:
                array[...] = before
            for (seed, first), (generator, blocks) in zip(
                draws, self.trace.generators, strict=True
            ):
                generator._give_back(seed, first, blocks)
            raise
        self.runs += 1
        for place, slot in recording.replaced:
            self._cells[place][...] = self._array(slot)
        if self._changed:
            changes.mark_all(self._changed)
        results = [self._result(slot, bases) for slot in recording.results]
        for tensor, place in recording.gradients:
            target = given[tensor] if isinstance(tensor, int) else tensor
            target.grad = wrap(results[place])
        for tensor in recording.dropped:
            if tensor.grad is not None:
                tensor.grad = None
        if self.trace.callbacks:
            flags = [bool(self._array(slot)) for slot in recording.flags]
            for callback, places in self.trace.callbacks:
                callback([flags[place] for place in places])
        return fill_outputs(recording.outputs, results, given, wrap)

    def _begin(self, native: Any) -> list[tuple[int, int]]:
        """Set the numbers of a run, and take its random blocks."""
        if self._numbers:
            native.set_numbers([float(read()) for read in self._numbers])
        for array, number in self._scalars:
            array[...] = number.read()
        for contents, initial in self._initial:
            contents[...] = initial
        draws = [generator._take(blocks) for generator, blocks in self.trace.generators]
        if self._words:
            native.set_words([_word(word, draws) for word in self._words])
        return draws

    def _run(self, native: Any, draws: list[tuple[int, int]]) -> None:
        segments, place = self._segments, 0
        while place < len(segments):
            begin, end, formula, condition, skipped = segments[place]
            place += 1
            if formula is not None:
                self._compute(formula, draws)
            elif condition is not None:
                place += 0 if self._array(condition) else skipped
            elif native.run(begin, end) >= 0:
                raise DeclinedError

    def _compute(self, step: FormulaStep, draws: list[tuple[int, int]]) -> None:
        def value(x: Any) -> Any:
            if isinstance(x, ArraySlot):
                return self._array(x)
            if isinstance(x, Number):
                return x.read()
            return _word(x, draws) if isinstance(x, Draw) else x

        result = step.function(*map_leaves(step.arguments, value, SLOTS))
        arrays = [x for x in leaves_in(result) if isinstance(x, np.ndarray)]
        for slot, array in zip(step.outputs, arrays, strict=True):
            if slot is not None:
                self._array(slot)[...] = array

    def _array(self, slot: ArraySlot) -> Any:
        return self._native.array(slot.buffer, slot.offset, slot.like)

    def _result(self, slot: ArraySlot, bases: dict[int, Any]) -> Any:
        base = bases.get(slot.buffer)
        if base is None:  # of memory that a later run, or somebody else, may change
            return storage.copied(self._array(slot))
        like = slot.like
        if base.shape == like.shape and base.dtype == like.dtype and base.strides == like.strides:
            return base
        memory = base.reshape(-1).view(np.uint8)
        return np.ndarray(like.shape, like.dtype, memory, slot.offset, like.strides)


def summary_of(trace: CallTrace, recording: CallRecording) -> Any:
    """All that two recordings of a function must have in common."""
    recorder = trace.recorder
    read_anew = {call for call, *_ in (*trace.numbers, *trace.words)}
    calls = []
    for i in range(recorder.calls):
        name, inputs, outputs, attributes, *_ = recorder.call(i)
        calls.append((name, inputs, outputs, None if i in read_anew else nested_key(attributes)))
    formulas = [(place, x.name, nested_key(_attributes_of(x))) for place, x in trace.formulas]
    buffers = []
    for i in range(recorder.buffers):
        kind, array, _, contents = recorder.buffer(i)
        constant = None if contents is None else contents.tobytes()
        buffers.append((kind, array.shape, array.dtype, constant))
    anew = [(call, slot) for call, slot, _ in (*trace.numbers, *trace.words)]
    results = [
        (slot.buffer, slot.offset, slot.like.shape, slot.like.strides, slot.like.dtype)
        for slot in recording.results
    ]
    return calls, formulas, buffers, anew, results, nested_key(recording.outputs)


def first_difference(before: Any, now: Any) -> str:
    """The first call in which two summaries differ, in words."""
    for then, new in zip_longest(before[0], now[0]):
        if then != new:
            return f"{_text_of(new)} instead of {_text_of(then)}"
    return "other constants, formulas or results"


def _text_of(call: Any) -> str:
    if call is None:
        return "nothing"
    name, _, _, attributes = call
    parts = [float.fromhex(x[1]) if x and x[0] is float else x and x[1:] for x in attributes[1:]]
    return f"{name}({', '.join(map(str, parts))})"


def _attributes_of(step: FormulaStep) -> list[Any]:
    return [x for x in leaves_in(step.arguments, SLOTS) if not isinstance(x, SLOTS)]


def _word(word: Draw, draws: list[tuple[int, int]]) -> int:
    seed, first = draws[word.generator]
    return seed if word.taken < 0 else (first + word.taken) % LIMIT


def _steps_of(trace: CallTrace) -> list[Step]:
    """All steps in their order."""
    steps = []
    formulas = iter([*trace.formulas, (trace.recorder.calls + 1, None)])
    position, formula = next(formulas)
    for i in range(trace.recorder.calls + 1):
        while position == i and formula is not None:
            steps.append(_formula_step(formula))
            position, formula = next(formulas)
        if i < trace.recorder.calls:
            steps.append(_call_step(trace, i))
    return steps


def _call_step(trace: CallTrace, i: int) -> Step:
    _, inputs, outputs, _, depends, _ = trace.recorder.call(i)
    reads = frozenset(buffer for buffer, _ in inputs)
    fills = frozenset(buffer for buffer, _ in outputs if buffer >= 0)
    return Step(i, None, reads, fills, trace.changed_by_call(i), depends)


def _formula_step(formula: FormulaStep) -> Step:
    slots = [x for x in leaves_in(formula.arguments, SLOTS) if isinstance(x, ArraySlot)]
    reads = frozenset(slot.buffer for slot in slots)
    fills = frozenset(slot.buffer for slot in formula.outputs if slot is not None)
    return Step(-1, formula, reads, fills, formula.changed, formula.checks)


def _kept_buffers(trace: CallTrace, recording: CallRecording) -> set[int]:
    """The buffers that are needed after the last step."""
    slots = [*recording.results, *recording.flags, *[slot for _, slot in recording.replaced]]
    return {slot.buffer for slot in slots} | {x.condition.buffer for x in trace.conditional}


def _needed_steps(steps: list[Step], kept: set[int]) -> list[Step]:
    """Without the steps whose results nobody uses."""
    needed = set(kept)
    chosen = []
    for step in reversed(steps):
        # A step that looks at values may raise an error, whether or not its result is used.
        if step.changes or step.depends_on_values or not needed.isdisjoint(step.fills):
            needed |= step.reads
            chosen.append(step)
    return chosen[::-1]


def _segments_of(
    trace: CallTrace, steps: list[Step], places: dict[int, int]
) -> list[ProgramSegment]:
    """Calls that follow each other in one segment, and jumps over those with a condition."""
    formulas = {id(formula): i for i, (_, formula) in enumerate(trace.formulas)}
    segments: list[ProgramSegment] = []
    conditional = list(trace.conditional)
    jumps: list[tuple[int, Position]] = []  # places of jumps, and where they end
    for step in steps:
        if step.formula is None:
            here = step.call, 0
        else:
            number = formulas[id(step.formula)]
            here = trace.formulas[number][0], number
        while jumps and _is_before(jumps[-1][1], step, here):
            _close(segments, *jumps.pop()[:1])
        while conditional and _is_before(conditional[0].begin, step, here):
            first = conditional.pop(0)
            jumps.append((len(segments), first.end))
            segments.append(ProgramSegment(0, 0, None, first.condition))
        if step.formula is not None:
            segments.append(ProgramSegment(0, 0, step.formula))
            continue
        place = places[step.call]
        last = segments[-1] if segments else None
        is_joined = last is not None and last.formula is None and last.condition is None
        is_joined = is_joined and not (jumps and jumps[-1][0] == len(segments) - 1)
        if is_joined and last is not None and last.end == place and not _ends_jump(segments):
            segments[-1] = last._replace(end=place + 1)
        else:
            segments.append(ProgramSegment(place, place + 1))
    while jumps:
        _close(segments, *jumps.pop()[:1])
    return segments


def _is_before(position: Position, step: Step, here: tuple[int, int]) -> bool:
    """Whether a moment of the trace came before a step, of which ``here`` tells the place."""
    if step.formula is None:
        return position.calls <= step.call
    return position.formulas <= here[1] and position.calls <= here[0]


def _close(segments: list[ProgramSegment], jump: int) -> None:
    segments[jump] = segments[jump]._replace(skipped=len(segments) - jump - 1)


def _ends_jump(segments: list[ProgramSegment]) -> bool:
    """Whether a jump ends behind the last segment, so that the next one must be another."""
    return any(
        x.condition is not None and x.skipped and i + x.skipped == len(segments) - 1
        for i, x in enumerate(segments)
    )


def _result_buffers(trace: CallTrace, recording: CallRecording) -> dict[int, Any]:
    """The buffers that each run makes anew, as their arrays are given away: shape and dtype."""
    found: dict[int, Any] = {}
    for slot in recording.results:
        kind, array, size, _ = trace.recorder.buffer(slot.buffer)
        if kind != "fresh":
            continue
        is_whole = array.flags.c_contiguous
        found[slot.buffer] = (
            (array.shape, array.dtype) if is_whole else ((size,), np.dtype(np.uint8))
        )
    return found


def _lifetimes(
    trace: CallTrace, steps: list[Step], recording: CallRecording, placed: set[int]
) -> list[Lifetime]:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for place, step in enumerate(steps):
        for buffer in step.fills:
            first.setdefault(buffer, place)
        for buffer in step.reads | step.fills | step.changes:
            last[buffer] = place
    for buffer in _kept_buffers(trace, recording):
        last[buffer] = len(steps)
    return [
        Lifetime(buffer, place, last[buffer], trace.recorder.buffer(buffer)[2])
        for buffer, place in first.items()
        if buffer not in placed
    ]


def _undone_cells(steps: list[Step], cells: int) -> list[int]:
    """The bound arrays that are changed before the last step that may decline."""
    depending = [i for i, step in enumerate(steps) if step.depends_on_values and not step.formula]
    before = steps[: depending[-1]] if depending else []
    return sorted({x for step in before for x in step.changes if x < cells})
