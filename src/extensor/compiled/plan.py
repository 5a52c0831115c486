"""One trace of a function as a program for a device, and how it is run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from extensor import _native
from extensor.compiled.arguments import rebuilt
from extensor.compiled.backend import as_function, jax
from extensor.compiled.residence import Cell, cell_of, held_by, new_tensor
from extensor.compiled.state import State, Traced
from extensor.compiled.trace import GENERATORS, Active, Trace
from extensor.core import door
from extensor.core.creation import asarray
from extensor.core.tensor import Tensor, wrap
from extensor.core.tracing import Number
from extensor.errors import value_error


class Output(NamedTuple):
    """A tensor among the results: the place of its array, or what was there before."""

    place: int = -1
    bound: Any = None


class Made(NamedTuple):
    """What tracing gave: the program, and what its inputs and outputs are."""

    program: Any  # takes all of the state, inputs, numbers, counters
    changed: list[int]  # places in the state whose new values are the first outputs
    unchanged: list[int]
    outputs: Any  # the results, with an Output for each tensor
    single: int | None  # the place of the only result, if it is one tensor
    gradients: list[tuple[Any, int]]  # tensors, or places of those given, and where they are
    dropped: list[Tensor]  # tensors that have no gradient afterwards
    flags_at: int


class Plan:
    """A traced function: its program, and all that surrounds a run."""

    def __init__(self, trace: Trace, made: Made, room: int) -> None:
        self.trace = trace
        self.made = made
        self.guards = list(trace.guards.values())
        self.reads = trace.reads
        self.numbers = np.zeros(room)
        self.counters = np.zeros(2 * GENERATORS, np.uint64)
        self.epoch = -1
        self.changed: list[Cell] = []
        self.kept: list[Cell] = []
        program = as_function(made.program)
        order = {place: i for i, place in enumerate((*made.changed, *made.unchanged))}
        places = [order[i] for i in range(len(order))]

        def run(changed: Any, kept: Any, inputs: Any, numbers: Any, counters: Any) -> Any:
            cells = [*changed, *kept]
            numbers = jax().numpy.zeros(room) if numbers is None else numbers
            counters = self.counters if counters is None else counters
            results = program(*[cells[i] for i in places], *inputs, numbers, counters)
            return results[: len(changed)], results[len(changed) :]

        self.function = run
        self.run = jax().jit(run, donate_argnums=0)

    def holds(self, floats: list[float]) -> bool:
        """Whether the numbers it took for granted are still what they were."""
        self.trace.floats[:] = floats
        return all(read() == expected for read, expected in self.guards)

    def arguments(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """What the program takes now; what it does not need costs a transfer and is left out."""
        numbers = counters = None
        if self.reads:
            numbers = self.numbers.copy()
            numbers[: len(self.reads)] = [read() for read in self.reads]
        if self.trace.generators:
            counters = self.counters.copy()
            for place, (generator, _) in enumerate(self.trace.generators):
                counters[2 * place : 2 * place + 2] = generator.get_state()
        changed = [cell.value for cell in self.changed]
        return changed, [cell.value for cell in self.kept], inputs, numbers, counters

    def __call__(self, given: Sequence[Any], inputs: Sequence[Any], floats: list[float]) -> Any:
        """Run the program on ``inputs``, which begin with the arrays of the tensors ``given``."""
        self.trace.floats[:] = floats
        changed, results = self.run(*self.arguments(inputs))
        for cell, value in zip(self.changed, changed, strict=True):
            cell.value = value
        _native.advance_clock()
        for generator, blocks in self.trace.generators:
            generator._take(blocks)
        made = self.made
        for tensor, place in made.gradients:
            _give_gradient(given[tensor] if isinstance(tensor, int) else tensor, results[place])
        for tensor in made.dropped:
            if tensor.grad is not None:
                tensor.grad = None
        if self.trace.callbacks:
            flags = [bool(x) for x in results[made.flags_at :]]
            for callback, places in self.trace.callbacks:
                callback([flags[place] for place in places])
        if made.single is not None:
            return new_tensor(results[made.single])
        return _filled(made.outputs, results, given)


def _give_gradient(tensor: Tensor, value: Any) -> None:
    present = tensor.grad
    cell = None if present is None else cell_of(present)
    if cell is None:
        tensor.grad = new_tensor(value)
    else:
        cell.value = value


def _filled(outputs: Any, results: Sequence[Any], given: Sequence[Any]) -> Any:
    if isinstance(outputs, Output):
        if outputs.bound is None:
            return new_tensor(results[outputs.place])
        return asarray(given[outputs.bound]) if type(outputs.bound) is int else outputs.bound
    if isinstance(outputs, Number):
        return outputs.read()
    if isinstance(outputs, list | tuple):
        items = [_filled(x, results, given) for x in outputs]
        return type(outputs)(*items) if hasattr(outputs, "_fields") else type(outputs)(items)
    if isinstance(outputs, dict):
        return type(outputs)((k, _filled(x, results, given)) for k, x in outputs.items())
    return outputs


def traced(
    function: Callable[..., Any],
    state: State,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    room: int,
    keep_gradients: bool,
) -> tuple[Trace, Made]:
    """Run ``function`` once on placeholders of its arguments and of all that it has bound."""
    trace = Trace(state.reached, room)
    given = _tensors_in((args, kwargs))
    trace.floats = _floats_in((args, kwargs))
    found: dict[str, Any] = {}

    def pure(cells: list[Any], inputs: list[Any], numbers: Any, counters: Any) -> list[Any]:
        trace.numbers, trace.counters = numbers, counters
        trace.arrays = dict(
            zip(state.arrays, inputs[len(inputs) - len(state.arrays) :], strict=True)
        )
        tensors = _placeholders(given, inputs)
        left, reals = iter(tensors), iter(range(len(trace.floats)))
        make_args, make_kwargs = rebuilt(
            (args, kwargs), lambda _: next(left), lambda _: trace.float_argument(next(reals))
        )
        with Traced(state, cells) as swapped, Active(trace), door.by_formulas():
            results = function(*make_args, **make_kwargs)
            swapped.take_over_replaced()
            trace.count_steps()
            for tensor, placeholder in zip(tensors, inputs, strict=False):
                if tensor._array is not placeholder:
                    requirement = "a tensor given must not be changed in place inside the function"
                    raise value_error("compile", requirement, shape=tensor.shape)
            now = swapped.now()
            changed = [i for i, (a, b) in enumerate(zip(cells, now, strict=True)) if a is not b]
            arrays: list[Any] = []
            outputs = _described(results, state, tensors, arrays)
            gradients, dropped = _gradients(swapped, trace, tensors, arrays, keep_gradients)
            found.update(
                changed=changed,
                unchanged=[i for i in range(len(cells)) if i not in set(changed)],
                outputs=outputs,
                single=outputs.place
                if isinstance(outputs, Output) and outputs.bound is None
                else None,
                gradients=gradients,
                dropped=dropped,
                flags_at=len(arrays),
            )
        return [jax().numpy.asarray(x) for x in (*[now[i] for i in changed], *arrays, *trace.flags)]

    program = jax().make_jaxpr(pure)(
        [_like(x) for x in state.like()],
        [_like(x) for x in inputs_of(given, state)],
        np.zeros(room),
        np.zeros(2 * GENERATORS, np.uint64),
    )
    return trace, Made(program=program, **found)


def inputs_of(given: Sequence[Any], state: State) -> list[Any]:
    """The arrays, or cells, of the tensors given, of the gradients they have, and of bound arrays."""
    arrays = [held_by(x) if isinstance(x, Tensor) else x for x in given]
    arrays += [held_by(x.grad) for x in given if _has_gradient(x)]
    return [*arrays, *state.arrays.values()] if state.arrays else arrays


def _has_gradient(x: Any) -> bool:
    return isinstance(x, Tensor) and x._requires_grad and x.grad is not None


def _placeholders(given: Sequence[Any], inputs: list[Any]) -> list[Tensor]:
    tensors = []
    gradients = iter(inputs[len(given) :])
    for x, placeholder in zip(given, inputs, strict=False):
        tensor: Tensor = wrap(placeholder)
        if isinstance(x, Tensor):
            tensor._requires_grad = x._requires_grad
            if _has_gradient(x):
                tensor.grad = wrap(next(gradients))
        tensors.append(tensor)
    return tensors


def _like(x: Any) -> Any:
    return jax().ShapeDtypeStruct(tuple(x.shape), x.dtype)


def _tensors_in(value: Any) -> list[Any]:
    found: list[Any] = []
    rebuilt(value, found.append)
    return found


def _floats_in(value: Any) -> list[float]:
    found: list[float] = []
    rebuilt(value, lambda _: None, found.append)
    return found


def _described(results: Any, state: State, given: list[Tensor], arrays: list[Any]) -> Any:
    """The results with an Output for each tensor, whose array is appended to ``arrays``."""
    places = {id(tensor): place for place, tensor in enumerate(given)}

    def output(x: Any) -> Output:
        if id(x) in state.reached.tensors:
            return Output(bound=x)
        if id(x) in places:
            return Output(bound=places[id(x)])
        arrays.append(getattr(x, "_array", x))
        return Output(place=len(arrays) - 1)

    return rebuilt(results, output)


def _gradients(
    swapped: Traced, trace: Trace, given: list[Tensor], arrays: list[Any], keep: bool
) -> tuple[list[tuple[Any, int]], list[Tensor]]:
    """Where new gradients stand among ``arrays``, and which tensors have none afterwards."""
    gradients: list[tuple[Any, int]] = []
    dropped = []
    for tensor, _, _, before, _ in swapped.tensors:
        now = tensor.grad
        if now is None or (id(tensor) in trace.consumed and not keep):
            dropped += [tensor] if before is not None else []
        elif id(tensor) not in swapped.graded or now._array is not _first(swapped, tensor):
            arrays.append(now._array)
            gradients.append((tensor, len(arrays) - 1))
    for place, tensor in enumerate(given):
        if tensor.grad is not None:
            arrays.append(tensor.grad._array)
            gradients.append((place, len(arrays) - 1))
    return gradients, dropped


def _first(swapped: Traced, tensor: Tensor) -> Any:
    """The placeholder that the gradient of ``tensor`` began with."""
    place = list(swapped.graded).index(id(tensor)) + len(swapped.tensors)
    return swapped.placeholders[place]
