"""A plan as a function of dicts and arrays alone, which runs without ExTensor.

``program(state, *inputs)`` gives ``(changes, outputs)``. The state has a named entry for each value
that the compiled function has bound or reads anew. Only the entries that a call changes come back:
a program that changes nothing need not copy its weights.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays.dtypes import is_bfloat16
from extensor.compiled.backend import jax
from extensor.compiled.bound_state import BoundState
from extensor.compiled.call_arguments import CallArguments, is_array, named_leaves
from extensor.compiled.device_arrays import has_gradient
from extensor.compiled.exported_state import ExportedNumbers, name_arrays, name_cells, number_names
from extensor.compiled.program import OutputSlot, Program
from extensor.compiled.program_trace import GENERATORS
from extensor.core.tensor import Tensor
from extensor.core.tracing import Number
from extensor.errors import value_error


class PlannedCall(NamedTuple):
    """A call of a compiled function: its program, the bound state, its arguments and their arrays."""

    plan: Program
    state: BoundState
    given: CallArguments
    arrays: list[Any]
    arguments: tuple[Any, Any]


class StateEntry(NamedTuple):
    """An entry of the state: its first value, its dtype in the program, and its kind."""

    value: Any
    dtype: Any
    kind: str
    schedule: str | None = None


class ExportedInput(NamedTuple):
    """An input, and its place among the arrays or among the floats."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    place: int
    is_float: bool = False


class ExportedOutput(NamedTuple):
    """An output, and its source: the results, inputs, constants or entries of the state."""

    name: str
    group: str
    key: Any


class ExportedProgram:
    """The program of one call of ``function``; ``entries`` is the state that it starts from."""

    def __init__(self, op: str, function: Any, planned: PlannedCall) -> None:
        self._op = op
        self._plan, self._recording = planned.plan, planned.plan.recording
        state = planned.state
        self.inputs = _inputs(function, planned)
        floats = [x.name for x in self.inputs if x.is_float]
        self._numbers = ExportedNumbers(op, self._plan, state, floats)
        self.fixed = self._numbers.fixed
        cells = name_cells(function, state)
        self._names = [name for name, _ in cells]
        self._tensors = dict(zip(map(id, state.tensors), self._names, strict=False))
        self._arrays = name_arrays(function, state)
        self._generators = number_names("generator", len(self._plan.trace.generators))
        self._used = {self._names[i] for i in (*self._recording.changed, *self._recording.kept)}
        self._constants: list[Any] = []
        self.outputs = [*self._results(), *self._gradients()]
        self._check_complete()
        self._check_repeatable()
        self.entries = self._first_state(state, [kind for _, kind in cells])

    def __call__(self, state: Mapping[str, Any], *inputs: Any) -> tuple[dict[str, Any], list[Any]]:
        """The entries of the state that a call changes, and its outputs."""
        recording = self._recording
        values = {name: _decode(x, self.entries[name].dtype) for name, x in state.items()}
        pairs = list(zip(self.inputs, inputs, strict=True))
        arrays = {x.place: value for x, value in pairs if not x.is_float}
        floats = [value for x, value in pairs if x.is_float]
        changed, results = self._plan.function(
            [values[self._names[i]] for i in recording.changed],
            [values[self._names[i]] for i in recording.kept],
            [*[arrays[i] for i in sorted(arrays)], *[values[name] for name in self._arrays]],
            self._numbers.vector(jax().numpy, values, floats),
            self._counters(values),
        )
        changes = dict(zip([self._names[i] for i in recording.changed], changed, strict=True))
        changes |= {name: results[place] for name, place in self._new_gradients(True)}
        changes |= self._moved_on(values)
        sources: dict[str, Any] = {
            "results": results,
            "inputs": arrays,
            "constants": self._constants,
            "state": {**values, **changes},
        }
        outputs = [jax().numpy.asarray(sources[x.group][x.key]) for x in self.outputs]
        return {name: _encode(x) for name, x in changes.items()}, outputs

    def _counters(self, values: Mapping[str, Any]) -> Any:
        """The seeds and counters of generators as the plan takes them."""
        if not self._generators:
            return None
        numpy = jax().numpy
        words = [values[f"{name}.{x}"] for name in self._generators for x in ("seed", "counter")]
        return numpy.zeros(2 * GENERATORS, np.uint64).at[: len(words)].set(numpy.stack(words))

    def _moved_on(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The counts of steps and of random numbers after a call."""
        sources = self._numbers.entries().items()
        moved = {name: values[name] + x.added for name, x in sources if x.added}
        drawn = zip(self._generators, self._plan.trace.generators, strict=True)
        for name, (_, blocks) in drawn:
            moved[f"{name}.counter"] = values[f"{name}.counter"] + np.uint64(blocks)
        return moved

    def _results(self) -> Iterator[ExportedOutput]:
        """The tensors among the results; plain values in them are left out."""
        for name, x in named_leaves("result", self._recording.outputs, _is_result):
            if isinstance(x, Number):
                requirement = "results must be tensors or constants, not numbers read at each call"
                raise value_error(self._op, requirement, result=name)
            if x.place >= 0:
                yield ExportedOutput(name, "results", x.place)
            elif isinstance(x.bound, int):
                yield ExportedOutput(name, "inputs", x.bound)
            elif isinstance(x.bound, Tensor):
                yield ExportedOutput(name, "state", self._tensors[id(x.bound)])
            else:
                self._constants.append(x.bound.copy())
                yield ExportedOutput(name, "constants", len(self._constants) - 1)

    def _gradients(self) -> Iterator[ExportedOutput]:
        """The gradients that a call leaves and that are no part of the state."""
        given = {x.place: x.name for x in self.inputs if not x.is_float}
        for name, place in self._new_gradients(False):
            yield ExportedOutput(name, "results", place)
        for owner, place in self._recording.gradients:
            if isinstance(owner, int):
                yield ExportedOutput(f"gradient.{given[owner]}", "results", place)

    def _new_gradients(self, in_state: bool) -> Iterator[tuple[str, int]]:
        for owner, place in self._recording.gradients:
            name = f"gradient.{self._tensors.get(id(owner))}"
            if isinstance(owner, Tensor) and (name in self._used) is in_state:
                yield name, place

    def _check_complete(self) -> None:
        """Every array that the plan gives must be an output or an entry of the state."""
        places = {x.key for x in self.outputs if x.group == "results"}
        places |= {place for _, place in self._new_gradients(True)}
        if places != set(range(self._recording.flags_at)):
            requirement = "results must be tensors in lists, tuples and dicts"
            raise value_error(self._op, requirement)

    def _check_repeatable(self) -> None:
        """Refuse a program whose next call would have to begin with other gradients."""
        trace = self._plan.trace
        hint = "call zero_grad() at the beginning of the function"
        for tensor in self._recording.dropped:
            name = self._tensors.get(id(tensor))
            if f"gradient.{name}" in self._used:
                requirement = (
                    "a gradient that was there before the call must not be read and then cleared; "
                    f"call zero_grad() before you export, or {hint}"
                )
                raise value_error(self._op, requirement, tensor=name)
        for owner, _ in self._recording.gradients:
            key = id(owner)
            if key in trace.consumed and key not in trace.forgotten:
                name = self._tensors[key]
                if f"gradient.{name}" not in self._used:
                    requirement = "gradients that an optimizer uses must be cleared; " + hint
                    raise value_error(self._op, requirement, tensor=name)

    def _first_state(self, state: BoundState, kinds: list[str]) -> dict[str, StateEntry]:
        returned = {x.key for x in self.outputs if x.group == "state"}
        entries = {}
        for name, kind, cell in zip(self._names, kinds, state.cells, strict=True):
            if name in self._used or name in returned:
                entries[name] = _entry(np.array(cell.value), kind)
        for name, array in zip(self._arrays, state.arrays.values(), strict=True):
            entries[name] = _entry(array.copy(), "array")
        for name, source in self._numbers.entries().items():
            entries[name] = _entry(source.stored(), source.kind, source.schedule)
        drawn = zip(self._generators, self._plan.trace.generators, strict=True)
        for name, (generator, _) in drawn:
            for word, value in zip(("seed", "counter"), generator.get_state(), strict=True):
                entries[f"{name}.{word}"] = _entry(np.asarray(value, np.uint64), f"random {word}")
        return entries


def _entry(value: Any, kind: str, schedule: str | None = None) -> StateEntry:
    """Files of NumPy's know no bfloat16: its bits are stored, and taken by the program."""
    stored = value.view(np.uint16) if is_bfloat16(value.dtype) else value
    return StateEntry(stored, value.dtype, kind, schedule)


def _decode(x: Any, dtype: Any) -> Any:
    return jax().lax.bitcast_convert_type(x, dtype) if is_bfloat16(dtype) else x


def _encode(x: Any) -> Any:
    return jax().lax.bitcast_convert_type(x, np.uint16) if is_bfloat16(x.dtype) else x


def _is_result(x: Any) -> bool:
    return isinstance(x, OutputSlot | Number)


def _is_input(x: Any) -> bool:
    return is_array(x) or type(x) is float


def _inputs(function: Any, planned: PlannedCall) -> list[ExportedInput]:
    """The arrays and floats given, in the order of the arguments; then gradients they bring along."""
    given, floats = planned.given, 0
    args, kwargs = planned.arguments
    pairs = [*zip(_parameter_names(function, len(args)), args, strict=True), *kwargs.items()]
    inputs: dict[Any, ExportedInput] = {}
    leaves = [leaf for name, x in pairs for leaf in named_leaves(name, x, _is_input)]
    for name, x in leaves:
        if type(x) is float:
            key: Any = "float", floats
            inputs[key] = ExportedInput(name, (), np.dtype(np.float64), floats, True)
            floats += 1
        elif id(x) in given.places and id(x) not in inputs:  # else it is bound, or the same again
            inputs[id(x)] = _array_input(name, planned.arrays, given.places[id(x)])
    graded = [x for x in given.tensors if has_gradient(x)]
    for place, x in enumerate(graded, len(given.tensors)):
        name = f"gradient.{inputs[id(x)].name}"
        inputs["gradient", place] = _array_input(name, planned.arrays, place)
    return list(inputs.values())


def _array_input(name: str, arrays: list[Any], place: int) -> ExportedInput:
    array = arrays[place]
    return ExportedInput(name, tuple(array.shape), np.dtype(array.dtype), place)


def _parameter_names(function: Any, count: int) -> list[str]:
    """How the function calls its first ``count`` arguments."""
    try:
        parameters = inspect.signature(getattr(function, "forward", function)).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    names = [x.name for x in parameters if x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    rest = next((x.name for x in parameters if x.kind is x.VAR_POSITIONAL), "args")
    return [names[i] if i < len(names) else f"{rest}[{i - len(names)}]" for i in range(count)]
