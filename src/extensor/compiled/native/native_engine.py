"""The native engine: programs of recorded calls, on the memory of the tensors themselves."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from extensor import _native
from extensor.compiled.bound_state import BoundState
from extensor.compiled.call_arguments import CallArguments
from extensor.compiled.code_analysis import Observer
from extensor.compiled.native.call_program import CallProgram, first_difference, summary_of
from extensor.compiled.native.call_recording import record_calls
from extensor.compiled.program import arrays_of
from extensor.compiled.reachable_values import ReachableValues
from extensor.core.structures import leaves_in
from extensor.core.tensor import Tensor
from extensor.errors import marked


class HostState(BoundState):
    """The arrays that a function has bound, where they are."""

    def note(self, upload: Callable[[Any], Any]) -> None:
        """Note where all arrays are."""
        self._graded = self.graded()
        tensors = [*self.tensors, *self._graded]
        self.cells = [tensor._array for tensor in tensors]  # also brings home what is on a device
        self._watched = list(tensors)
        for owner, attribute in self.owners:
            held = getattr(owner, attribute)
            self.cells += leaves_in(held)
            self._watched += [(owner.__dict__, attribute), *_lists_in(held)]
        self._noted = _native.contents(self._watched)
        self._noted_grouping = self._grouping()
        self._has_hooks = any(tensor._hooks for tensor in self.tensors)
        self.version += 1

    def key(self) -> tuple[Any, ...]:
        """The same as of arrays elsewhere, and the strides, which may decide how sums are added."""
        return super().key(), tuple([array.strides for array in self.like()])

    def like(self) -> list[Any]:
        """The arrays of the state, in the order of the cells."""
        found = [tensor._array for tensor in (*self.tensors, *self.graded())]
        for owner, attribute in self.owners:
            found += leaves_in(getattr(owner, attribute))
        return found


class NativeEngine:
    """Runs recorded calls without Python between them."""

    name = "native"
    device = "cpu"
    with_strides = True
    describe = staticmethod(_native.layouts)  # arguments that are nothing but arrays

    def block(self) -> AbstractContextManager[None]:
        """A block in which functions are traced and run."""
        return nullcontext()

    def upload(self, array: Any) -> Any:
        """An array where programs find it, which is where it is."""
        return array

    def bind(self, reached: ReachableValues) -> HostState:
        """What a function has bound of all that it reaches."""
        return HostState(reached)

    def record(
        self,
        function: Callable[..., Any],
        state: BoundState,
        arguments: CallArguments,
        call: tuple[Any, Any],
        room: int,
        keep_gradients: bool,
        observer: Observer,
    ) -> tuple[Any, Any]:
        """The trace of ``function``, and the meaning of what it took and gave."""
        return record_calls(function, state, arguments, call, keep_gradients, observer)

    def program(self, trace: Any, recording: Any) -> CallProgram:
        """The program of a trace."""
        return CallProgram(trace, recording)

    def inputs(self, arguments: list[Any], state: BoundState) -> list[Any]:
        """The arrays that a program takes besides the state."""
        return [x._array if isinstance(x, Tensor) else x for x in arrays_of(arguments, state)]

    def repeated_inputs(self, arguments: tuple[Any, ...]) -> list[Any]:
        """The same for arguments that are arrays."""
        return [x._array if isinstance(x, Tensor) else x for x in arguments]

    def check_same(self, name: str, run: int, program: CallProgram, trace: Any, new: Any) -> None:
        """Raise if a new trace of the function would do something else than its program."""
        now = summary_of(trace, new)
        if now == program.summary:
            return
        difference = first_difference(program.summary, now)
        raise marked(
            RuntimeError(
                f"compile: call {run} of {name} would compute something else than its program: "
                f"{difference}. It reads a value that cannot be watched: pass that value as an "
                "argument. Results since the call before may have been computed with an old value"
            )
        )


def _lists_in(value: Any) -> list[Any]:
    """The lists and tuples within each other, whose items are compared."""
    if not isinstance(value, list | tuple):
        return []
    return [value, *[inner for item in value for inner in _lists_in(item)]]
