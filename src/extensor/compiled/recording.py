"""A function run once on placeholders, of its arguments and of all that it has bound."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from extensor.compiled.backend import jax
from extensor.compiled.bound_state import BoundState
from extensor.compiled.call_arguments import CallArguments, copy_with, fields_of, is_array
from extensor.compiled.code_analysis import Observer, is_users_file, source_line
from extensor.compiled.device_arrays import has_gradient
from extensor.compiled.placeholders import PlaceholderSwap
from extensor.compiled.program import OutputSlot, Recording, arrays_of
from extensor.compiled.program_trace import GENERATORS, ProgramTrace
from extensor.compiled.side_effects import holds_traced
from extensor.core import door, tracing
from extensor.core.structures import map_leaves
from extensor.core.tensor import Tensor, wrap
from extensor.core.tracing import Number
from extensor.errors import marked, type_error, value_error
from extensor.random.global_generators import preserve_global_generators


def record_program(
    function: Callable[..., Any],
    state: BoundState,
    given: CallArguments,
    call: tuple[Any, Any],
    room: int,
    keep_gradients: bool,
    observer: Observer,
) -> tuple[ProgramTrace, Recording]:
    """The program of ``function``, called with ``(args, kwargs)``; everything is then as before."""
    trace = ProgramTrace(state, room, given.floats)
    parts: dict[str, Any] = {}

    def pure(cells: list[Any], inputs: list[Any], numbers: Any, counters: Any) -> list[Any]:
        bound = inputs[len(inputs) - len(state.arrays) :]
        trace.begin(numbers, counters, dict(zip(state.arrays, bound, strict=True)))
        tensors = placeholders(given.tensors, inputs)
        with (
            preserve_global_generators(),
            PlaceholderSwap(state, cells, trace) as swapped,
            tracing.active(trace),
            door.by_formulas(),
        ):
            with observer.watching():
                results = function_of(tensors)
            swapped.take_over_replaced()
            trace.count_steps()
            swapped.check_unchanged()
            check_arguments_kept(tensors, inputs)
            arrays: list[Any] = []
            parts["outputs"] = describe_results(results, state, tensors, arrays, trace.brings)
            gradients, dropped = place_gradients(swapped, trace, tensors, arrays, keep_gradients)
            now = swapped.now()
            parts["changed"] = changed_places(swapped, cells, now, dropped)
            parts.update(gradients=gradients, dropped=dropped, flags_at=len(arrays))
        new = [now[place] for place in parts["changed"]]
        return _copy_shared([*new, *arrays, *trace.flags], [*cells, *inputs])

    def function_of(tensors: list[Tensor]) -> Any:
        reals = count()

        def argument(x: Any) -> Any:
            if type(x) is float:
                return trace.float_argument(next(reals))
            return tensors[given.places[id(x)]] if id(x) in given.places else x

        args, kwargs = map_leaves(call, argument)
        return function(*args, **kwargs)

    program = jax().make_jaxpr(pure)(
        [_like(x) for x in state.like()],
        [_like(x) for x in arrays_of(given.tensors, state)],
        np.zeros(room),
        np.zeros(2 * GENERATORS, np.uint64),
    )
    trace.end()
    used = _used_inputs(program)
    changed = set(parts["changed"])
    kept = [i for i in range(len(state.like())) if i in used and i not in changed]
    return trace, Recording(program=program, kept=kept, **parts)


def _like(x: Any) -> Any:
    return jax().ShapeDtypeStruct(tuple(x.shape), x.dtype)


def placeholders(given: list[Any], inputs: list[Any]) -> list[Tensor]:
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


def check_arguments_kept(tensors: list[Tensor], inputs: list[Any]) -> None:
    for tensor, placeholder in zip(tensors, inputs, strict=False):
        if tensor._array is not placeholder:
            requirement = "a tensor given must not be changed in place inside the function"
            raise value_error("compile", requirement, shape=tensor.shape)


def describe_results(
    results: Any,
    state: BoundState,
    given: list[Tensor],
    arrays: list[Any],
    is_traced: Callable[[Any], bool],
) -> Any:
    """The results with an OutputSlot for each tensor, whose array is appended to ``arrays``."""
    places = {id(tensor): place for place, tensor in enumerate(given)}

    def output(x: Any) -> OutputSlot:
        if id(x) in state.reached.tensors or isinstance(x, np.ndarray):
            return OutputSlot(bound=x)
        if id(x) in places:
            return OutputSlot(bound=places[id(x)])
        arrays.append(getattr(x, "_array", x))
        is_recorded = isinstance(x, Tensor) and x._requires_grad and x._node is not None
        return OutputSlot(place=len(arrays) - 1, recorded=is_recorded)

    def described(x: Any) -> Any:
        if is_array(x):
            return output(x)
        if isinstance(x, Number) or state.reached.existed(x) or not holds_traced(x, is_traced):
            return x
        inner = fields_of(x)
        if not inner:
            requirement = (
                "results must be tensors, numbers, or lists, tuples, dicts or dataclasses of them, "
                "as other objects would keep placeholders"
            )
            raise type_error("compile", requirement, result=type(x).__name__)
        return copy_with(x, {name: map_leaves(value, described) for name, value in inner.items()})

    return map_leaves(results, described)


def place_gradients(
    swapped: PlaceholderSwap,
    trace: ProgramTrace,
    given: list[Tensor],
    arrays: list[Any],
    keep: bool,
) -> tuple[list[tuple[Any, int]], list[Tensor]]:
    """Where new gradients stand among ``arrays``, and which tensors have none afterwards.

    One that an optimizer has used, and that the function clears by itself, is for nobody.
    """
    gradients: list[tuple[Any, int]] = []
    dropped = []
    for tensor, _, _, before, *_ in swapped.tensors:
        now, key = tensor.grad, id(tensor)
        if now is None or (key in trace.consumed and key in trace.forgotten and not keep):
            dropped.append(tensor)
        elif now is not swapped.graded.get(key) and now is not before:
            arrays.append(now._array)
            gradients.append((tensor, len(arrays) - 1))
    for place, tensor in enumerate(given):
        if tensor.grad is not None:
            arrays.append(tensor.grad._array)
            gradients.append((place, len(arrays) - 1))
    return gradients, dropped


def changed_places(
    swapped: PlaceholderSwap, cells: list[Any], now: list[Any], dropped: list[Tensor]
) -> list[int]:
    """The places in the state that have another array now; gradients that are dropped do not count."""
    gone = {id(tensor) for tensor in dropped}
    first = len(swapped.tensors)
    unwanted = {first + i for i, key in enumerate(swapped.graded) if key in gone}
    pairs = enumerate(zip(cells, now, strict=True))
    return [i for i, (a, b) in pairs if a is not b and i not in unwanted]


def _copy_shared(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    """A copy of each output that stands in the memory of another value, which a run may destroy."""
    numpy, seen = jax().numpy, {id(x) for x in inputs}
    result = []
    for x in outputs:
        result.append(numpy.array(x, copy=True) if id(x) in seen else numpy.asarray(x))
        seen.add(id(x))
    return result


def _used_inputs(program: Any) -> set[int]:
    """The places of the inputs that the program needs."""
    inner = program.jaxpr
    needed = {id(x) for equation in inner.eqns for x in equation.invars}
    needed |= {id(x) for x in inner.outvars}
    return {place for place, x in enumerate(inner.invars) if id(x) in needed}


def explain_error(error: Exception) -> Exception:
    """``error`` in our words where a value was asked for that only a run will have."""
    if isinstance(error, TypeError) and "operand 'Number' does not support ufuncs" in str(error):
        return marked(
            TypeError(
                "compile: a function of NumPy was called with a float that each run reads anew, at "
                f"{_users_line(error)}; use operators (a ** 0.5), give an array to ops, or take "
                "math.sqrt(a), for which the function is traced again with each value"
            )
        )
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, tuple(tracing.VALUES_MISSING)):
        cause = cause.__cause__
    if cause is None:
        return error
    return marked(
        TypeError(
            "compile: a value was asked for that is only known when the function runs, at "
            f"{_users_line(error)}; return the tensor and read it outside, or choose with ex.where "
            "instead of if"
        )
    )


def _users_line(error: BaseException) -> str:
    """``file:line (text)`` of the innermost frame that is the user's."""
    place = "an unknown line"
    for frame, line in traceback.walk_tb(error.__traceback__):
        if is_users_file(frame.f_code.co_filename):
            place = source_line(frame.f_code.co_filename, line)
    return place
