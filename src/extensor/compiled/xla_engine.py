"""The XLA engine: programs of JAX, on a device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from extensor import _native
from extensor.arrays.storage import copied
from extensor.compiled import backend
from extensor.compiled.bound_state import BoundState, device_copy
from extensor.compiled.call_arguments import CallArguments
from extensor.compiled.code_analysis import Observer
from extensor.compiled.program import Program, inputs_of
from extensor.compiled.reachable_values import ReachableValues
from extensor.compiled.recording import record_program
from extensor.compiled.verification import check_same


class XlaEngine:
    """Compiles functions with XLA, for the CPU, a GPU or a TPU."""

    name = "xla"
    with_strides = False
    describe = staticmethod(_native.description)  # arguments that are nothing but arrays

    def __init__(self, device: Any) -> None:
        self.device = device

    def block(self) -> AbstractContextManager[Any]:
        """A block in which functions are traced and run."""
        wide: AbstractContextManager[Any] = backend.wide()
        return wide

    def bind(self, reached: ReachableValues) -> BoundState:
        """What a function has bound of all that it reaches."""
        return BoundState(reached)

    def upload(self, array: Any) -> Any:
        """An array on the device."""
        return backend.jax().device_put(device_copy(array), self.device)

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
        """The trace of ``function``, and its program."""
        return record_program(function, state, arguments, call, room, keep_gradients, observer)

    def program(self, trace: Any, recording: Any) -> Program:
        """The program of a trace, to be run."""
        return Program(trace, recording, self.device)

    def inputs(self, arguments: list[Any], state: BoundState) -> list[Any]:
        """The arrays that a program takes besides the state."""
        return inputs_of(arguments, state)

    def repeated_inputs(self, arguments: tuple[Any, ...]) -> list[Any]:
        """The same for arguments that are arrays."""
        return list(map(copied, arguments))

    def check_same(self, name: str, run: int, program: Program, trace: Any, new: Any) -> None:
        """Raise if a new trace of the function would do something else than its program."""
        check_same(name, run, program.recording, new)
