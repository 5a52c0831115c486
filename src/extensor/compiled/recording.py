"""A function run once on placeholders, of its arguments and of all that it has bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from extensor.compiled.arguments import Given, copied_with, fields_of, rebuilt
from extensor.compiled.backend import jax
from extensor.compiled.observation import Observer
from extensor.compiled.plan import Made, Output, has_gradient
from extensor.compiled.residence import array_of
from extensor.compiled.side_effects import holds_traced
from extensor.compiled.state import State
from extensor.compiled.swapping import Swapped
from extensor.compiled.trace import GENERATORS, Trace
from extensor.core import door, tracing
from extensor.core.tensor import Tensor, wrap
from extensor.core.tracing import Number
from extensor.errors import type_error, value_error
from extensor.random.global_generators import preserve_global_generators


def recorded(
    function: Callable[..., Any],
    state: State,
    given: Given,
    call: tuple[Any, Any],
    room: int,
    keep_gradients: bool,
    observer: Observer,
) -> tuple[Trace, Made]:
    """The program of ``function``, called with ``(args, kwargs)``; everything is then as before."""
    trace = Trace(state, room, given.floats)
    found: dict[str, Any] = {}

    def pure(cells: list[Any], inputs: list[Any], numbers: Any, counters: Any) -> list[Any]:
        bound = inputs[len(inputs) - len(state.arrays) :]
        trace.begin(numbers, counters, dict(zip(state.arrays, bound, strict=True)))
        tensors = _placeholders(given.tensors, inputs)
        with (
            preserve_global_generators(),
            Swapped(state, cells, trace) as swapped,
            _active(trace),
            door.by_formulas(),
        ):
            with observer.watching():
                results = function_of(tensors)
            swapped.take_over_replaced()
            trace.count_steps()
            swapped.check_unchanged()
            _check_given(tensors, inputs)
            arrays: list[Any] = []
            found["outputs"] = _described(results, state, tensors, arrays)
            gradients, dropped = _gradients(swapped, trace, tensors, arrays, keep_gradients)
            now = swapped.now()
            found["changed"] = _changed(swapped, cells, now, dropped)
            found.update(gradients=gradients, dropped=dropped, flags_at=len(arrays))
        new = [now[place] for place in found["changed"]]
        return _separate([*new, *arrays, *trace.flags], [*cells, *inputs])

    def function_of(tensors: list[Tensor]) -> Any:
        reals = iter(range(len(given.floats)))
        args, kwargs = rebuilt(
            call,
            lambda x: tensors[given.places[id(x)]] if id(x) in given.places else x,
            lambda _: trace.float_argument(next(reals)),
        )
        return function(*args, **kwargs)

    program = jax().make_jaxpr(pure)(
        [_like(x) for x in state.like()],
        [_like(x) for x in _arrays_of(given.tensors, state)],
        np.zeros(room),
        np.zeros(2 * GENERATORS, np.uint64),
    )
    trace.end()
    used = _used(program)
    changed = set(found["changed"])
    kept = [i for i in range(len(state.like())) if i in used and i not in changed]
    return trace, Made(program=program, kept=kept, **found)


@contextmanager
def _active(trace: Trace) -> Iterator[None]:
    before = tracing.switch(trace)
    try:
        yield
    finally:
        tracing.switch(before)


def _like(x: Any) -> Any:
    return jax().ShapeDtypeStruct(tuple(x.shape), x.dtype)


def _arrays_of(given: list[Any], state: State) -> list[Any]:
    """In the order of :func:`extensor.compiled.plan.inputs_of`."""
    arrays = [array_of(x) if isinstance(x, Tensor) else x for x in given]
    arrays += [array_of(x.grad) for x in given if has_gradient(x)]
    return [*arrays, *state.arrays.values()]


def _placeholders(given: list[Any], inputs: list[Any]) -> list[Tensor]:
    tensors = []
    gradients = iter(inputs[len(given) :])
    for x, placeholder in zip(given, inputs, strict=False):
        tensor: Tensor = wrap(placeholder)
        if isinstance(x, Tensor):
            tensor._requires_grad = x._requires_grad
            if has_gradient(x):
                tensor.grad = wrap(next(gradients))
        tensors.append(tensor)
    return tensors


def _check_given(tensors: list[Tensor], inputs: list[Any]) -> None:
    for tensor, placeholder in zip(tensors, inputs, strict=False):
        if tensor._array is not placeholder:
            requirement = "a tensor given must not be changed in place inside the function"
            raise value_error("compile", requirement, shape=tensor.shape)


def _described(results: Any, state: State, given: list[Tensor], arrays: list[Any]) -> Any:
    """The results with an Output for each tensor, whose array is appended to ``arrays``."""
    places = {id(tensor): place for place, tensor in enumerate(given)}

    def output(x: Any) -> Output:
        if id(x) in state.reached.tensors or isinstance(x, np.ndarray):
            return Output(bound=x)
        if id(x) in places:
            return Output(bound=places[id(x)])
        arrays.append(getattr(x, "_array", x))
        is_recorded = isinstance(x, Tensor) and x._requires_grad and x._node is not None
        return Output(place=len(arrays) - 1, recorded=is_recorded)

    def other(x: Any) -> Any:
        if isinstance(x, Number) or state.reached.existed(x) or not holds_traced(x):
            return x
        inner = fields_of(x)
        if not inner:
            requirement = (
                "results must be tensors, numbers, or lists, tuples, dicts or dataclasses of them, "
                "as other objects would keep placeholders"
            )
            raise type_error("compile", requirement, result=type(x).__name__)
        described = {name: rebuilt(value, output, other=other) for name, value in inner.items()}
        return copied_with(x, described)

    return rebuilt(results, output, other=other)


def _gradients(
    swapped: Swapped, trace: Trace, given: list[Tensor], arrays: list[Any], keep: bool
) -> tuple[list[tuple[Any, int]], list[Tensor]]:
    """Where new gradients stand among ``arrays``, and which tensors have none afterwards.

    One that an optimizer has used, and that the function clears by itself, is for nobody.
    """
    gradients: list[tuple[Any, int]] = []
    dropped = []
    for tensor, *_ in swapped.tensors:
        now, key = tensor.grad, id(tensor)
        if now is None or (key in trace.consumed and key in trace.forgotten and not keep):
            dropped.append(tensor)
        elif now is not swapped.graded.get(key):
            arrays.append(now._array)
            gradients.append((tensor, len(arrays) - 1))
    for place, tensor in enumerate(given):
        if tensor.grad is not None:
            arrays.append(tensor.grad._array)
            gradients.append((place, len(arrays) - 1))
    return gradients, dropped


def _changed(
    swapped: Swapped, cells: list[Any], now: list[Any], dropped: list[Tensor]
) -> list[int]:
    """The places in the state that have another array now; gradients that are dropped do not count."""
    gone = {id(tensor) for tensor in dropped}
    first = len(swapped.tensors)
    unwanted = {first + i for i, key in enumerate(swapped.graded) if key in gone}
    pairs = enumerate(zip(cells, now, strict=True))
    return [i for i, (a, b) in pairs if a is not b and i not in unwanted]


def _separate(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    """Each in memory of its own: what one run destroys no other value may stand in."""
    numpy, seen = jax().numpy, {id(x) for x in inputs}
    result = []
    for x in outputs:
        result.append(numpy.array(x, copy=True) if id(x) in seen else numpy.asarray(x))
        seen.add(id(x))
    return result


def _used(program: Any) -> set[int]:
    """The places of the inputs that the program needs."""
    inner = program.jaxpr
    needed = {id(x) for equation in inner.eqns for x in equation.invars}
    needed |= {id(x) for x in inner.outvars}
    return {place for place, x in enumerate(inner.invars) if id(x) in needed}
