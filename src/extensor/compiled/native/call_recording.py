"""A function run once on copies of its arguments and of all that it has bound, as calls to be repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from extensor.arrays import storage
from extensor.compiled.bound_state import BoundState
from extensor.compiled.call_arguments import CallArguments
from extensor.compiled.code_analysis import Observer
from extensor.compiled.native.call_trace import ArraySlot, CallTrace
from extensor.compiled.placeholders import PlaceholderSwap
from extensor.compiled.program import arrays_of
from extensor.compiled.recording import (
    changed_places,
    check_arguments_kept,
    describe_results,
    place_gradients,
    placeholders,
)
from extensor.core import tracing
from extensor.core.modes import mode
from extensor.core.structures import map_leaves
from extensor.core.tensor import Tensor
from extensor.errors import value_error
from extensor.random.global_generators import preserve_global_generators


class CallRecording(NamedTuple):
    """The meaning of what a recorded function took and gave."""

    cells: int  # bound arrays, which are the first buffers; the inputs come after them
    inputs: int
    outputs: Any  # the results, with an OutputSlot for each tensor
    results: list[ArraySlot]  # of the tensors and the gradients
    replaced: list[tuple[int, ArraySlot]]  # cells whose arrays were replaced, and their new values
    gradients: list[tuple[Any, int]]  # tensors, or places of those given, and the places of results
    dropped: list[Tensor]  # tensors that have no gradient afterwards
    flags: list[ArraySlot]


def record_calls(
    function: Callable[..., Any],
    state: BoundState,
    given: CallArguments,
    call: tuple[Any, Any],
    keep_gradients: bool,
    observer: Observer,
) -> tuple[CallTrace, CallRecording]:
    """The calls of ``function``, called with ``(args, kwargs)``; everything is then as before."""
    if mode.anomaly:
        requirement = "detect_anomaly reads every gradient, so call the function without compiling"
        raise value_error("compile", requirement)
    trace = CallTrace(state, given.floats)
    cells = [with_layout_of(x) for x in state.like()]
    inputs = [with_layout_of(x) for x in arrays_of(given.tensors, state)]
    # Arrays of NumPy's that are bound stand for themselves, as a tensor may show their memory.
    inputs[len(inputs) - len(state.arrays) :] = state.arrays.values()
    for array in (*cells, *inputs):
        trace.recorder.bind(array)
    trace.begin(None, None, dict(state.arrays))
    tensors = placeholders(given.tensors, inputs)
    with (
        preserve_global_generators(),
        PlaceholderSwap(state, cells, trace) as swapped,
        tracing.active(trace),
        trace.recording(),
    ):
        args, kwargs = _traced_arguments(call, given, tensors, trace)
        with observer.watching():
            returned = function(*args, **kwargs)
        swapped.take_over_replaced()
        trace.count_steps()
        swapped.check_unchanged()
        check_arguments_kept(tensors, inputs)
        _check_unwritten(trace, range(len(cells), len(cells) + len(given.tensors)))
        arrays: list[Any] = []
        outputs = describe_results(returned, state, tensors, arrays, trace.brings)
        gradients, dropped = place_gradients(swapped, trace, tensors, arrays, keep_gradients)
        now = swapped.now()
        changed = changed_places(swapped, cells, now, dropped)
    recording = CallRecording(
        cells=len(cells),
        inputs=len(inputs),
        outputs=outputs,
        results=[trace.slot(x) for x in arrays],
        replaced=[(place, trace.slot(now[place])) for place in changed],
        gradients=gradients,
        dropped=dropped,
        flags=[trace.slot(np.asarray(x)) for x in trace.flags],
    )
    trace.check_constants()
    trace.end()
    return trace, recording


def _traced_arguments(
    call: tuple[Any, Any], given: CallArguments, tensors: list[Tensor], trace: CallTrace
) -> Any:
    """The arguments of a call with tensors of the trace, and numbers that each run reads anew."""
    reals = count()

    def argument(x: Any) -> Any:
        if type(x) is float:
            return trace.float_argument(next(reals))
        return tensors[given.places[id(x)]] if id(x) in given.places else x

    return map_leaves(call, argument)


def _check_unwritten(trace: CallTrace, buffers: Iterable[int]) -> None:
    for buffer in trace.written_buffers().intersection(buffers):
        requirement = "a tensor given must not be changed in place inside the function"
        raise value_error("compile", requirement, shape=trace.recorder.buffer(buffer)[1].shape)


def with_layout_of(array: Any) -> Any:
    """A copy of a NumPy array that has its strides, which may decide in which order sums are added."""
    if array.flags.c_contiguous:
        return storage.copied(array)
    low, high = np.lib.array_utils.byte_bounds(array)
    memory = storage.empty((max(high - low, 0),), np.dtype(np.uint8))
    offset = array.__array_interface__["data"][0] - low
    copy = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
    copy[...] = array
    return copy
