"""``ex.compile``: a function of tensors, traced once and run as a program."""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from extensor import _native
from extensor.arrays.dtypes import get_default_dtype
from extensor.compiled import backend as backends
from extensor.compiled.bound_state import BoundState, fill_state
from extensor.compiled.call_arguments import CallArguments, drop_values
from extensor.compiled.code_analysis import ExecutedCode, Observer, functions_of
from extensor.compiled.device_arrays import LOCK
from extensor.compiled.native.call_program import DeclinedError
from extensor.compiled.native.native_engine import NativeEngine
from extensor.compiled.program_trace import (
    NUMBERS,
    MissingStateError,
    ProgramTrace,
    TooManyNumbersError,
    UnboundError,
)
from extensor.compiled.reachable_values import ReachableValues
from extensor.compiled.recording import explain_error
from extensor.compiled.verification import is_due
from extensor.compiled.xla_engine import XlaEngine
from extensor.core import precision, tracing
from extensor.core.modes import mode
from extensor.errors import marked, shown, type_error, value_error
from extensor.errors.arguments import flag

MANY_TRACES = 8
_MOST_OBJECTS = 32  # among the arguments, that are kept with the programs traced for them
_MOST_FINGERPRINTS = 64  # states of what the function can reach, likewise


class _RepeatableCall(NamedTuple):
    """A call with nothing but arrays, and all that must be the same for its program to run again."""

    program: Any
    modes: tuple[Any, ...]
    description: bytes  # of the arrays
    watched: list[Any]  # compared natively with what they held
    held: list[Any]

    @classmethod
    def of(
        cls,
        describe: Callable[[Any], bytes | None],
        program: Any,
        state: BoundState,
        arguments: CallArguments,
        args: Any,
        kwargs: Any,
    ) -> _RepeatableCall | None:
        """The call with these arguments; None if there was more than distinct arrays."""
        description = describe(args)
        if kwargs or description is None or len(arguments.tensors) < len(args):
            return None
        guards = state.reached.guards
        watched, held = state.watched()
        return cls(program, modes_now(), description, guards.contents + watched, guards.held + held)


def modes_now() -> tuple[Any, ...]:
    """The modes of this thread that are part of a trace."""
    casting = precision.current() if mode.casting else None
    return mode.recording, casting, get_default_dtype(), mode.epsilon, mode.anomaly


class Compiled:
    """A compiled function, made by :func:`extensor.compile`.

    It is called like the function, also as a method of a class. Inside another compiled function it is
    a part of that function.

    Attributes
    ----------
    function : callable
        The function that was compiled.
    backend : str
        The engine, ``"native"`` or ``"xla"``.
    device : object
        The device that runs the programs: "cpu", or one of JAX's.
    keep_gradients : bool
        Whether gradients that an optimizer has used are kept.
    traces : int
        How often the function was traced. More than eight traces cause a warning.

    Examples
    --------
    >>> import extensor as ex
    >>> double = ex.compile(lambda x: 2 * x)
    >>> double(ex.ones(3)), double(ex.zeros(3)), double.traces
    (tensor([2., 2., 2.]), tensor([0., 0., 0.]), 1)
    >>> double(ex.ones(1)), double.traces
    (tensor([2.]), 2)
    """

    def __init__(
        self, function: Callable[..., Any], engine: XlaEngine | NativeEngine, keep_gradients: bool
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.engine = engine
        self.backend = engine.name
        self.device = engine.device
        self.keep_gradients = keep_gradients
        self.traces = 0
        # The program of the last call, its arguments without their values, and its modes.
        self.last: tuple[Any, tuple[Any, Any], tuple[Any, ...]] | None = None
        self._programs: dict[Any, list[Any]] = {}
        self._state: BoundState | None = None
        self._objects: list[Any] = []  # among the arguments of the last calls
        self._met: list[Any] = []  # in a trace, where the walk had not found them
        self._executed: dict[types.CodeType, ExecutedCode] = {}  # seen running in a trace
        # Long keys have numbers. A number is never used again, not even when its key is forgotten.
        self._numbers: dict[Any, int] = {}
        self._next_number = count()
        self._alive: list[Any] = []  # holds the objects whose identities are in keys
        self._attributes = self._bound = -1
        self._key: Any = None
        self._candidates: list[Any] = []
        self._has_warned = False
        self._last: _RepeatableCall | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function: trace it if needed, and run its program.

        Parameters
        ----------
        *args, **kwargs : object
            The arguments of the function. Tensors must be leaves, and are not changed.

        Returns
        -------
        object
            The results of the function. Their tensors carry no gradient. With XLA, they stay on the
            device until they are read.

        Raises
        ------
        TypeError
            If the function asks for a value that only a run has, or reads a clock or a file.
        ValueError
            If the function has a side effect, or reads a value that cannot be watched.
        RuntimeError
            If a repeated trace gives another program: the function reads a value that was not watched.
        """
        if tracing.current() is not None:  # a part of a larger function that is being traced
            return self.function(*args, **kwargs)
        with LOCK, self.engine.block():
            try:
                return self._run(args, kwargs)
            except DeclinedError:
                # A kernel does not take these values, so the function itself says what is wrong with
                # them, or computes by formulas.
                return self.function(*args, **kwargs)

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        program = None if kwargs else self._repeatable_program(args)
        if program is not None:
            return program(args, self.engine.repeated_inputs(args))
        program, arguments, inputs = self.planned(args, kwargs)
        if is_due(program.runs + 1):
            self._verify(program, arguments, args, kwargs)
        self._last = _RepeatableCall.of(
            self.engine.describe, program, self.state, arguments, args, kwargs
        )
        return program(arguments.tensors, inputs)

    def _repeatable_program(self, args: tuple[Any, ...]) -> Any | None:
        """The program of the last call, if this one is like it in all that a program depends on.

        Python needs longer to describe the arguments of a small step than XLA to take it.
        """
        last, state = self._last, self._state
        if last is None or state is None or self.engine.describe(args) != last.description:
            return None
        if self.engine.with_strides and not state.reached.tensors.keys().isdisjoint(map(id, args)):
            return None  # a tensor that the function has bound
        program = last.program
        # A call at which the function is traced again must take the long way.
        if program.version != state.version or state.arrays or is_due(program.runs + 1):
            return None
        if modes_now() != last.modes or not _native.holds(last.watched, last.held):
            return None
        if not state.reached.guards.hold_otherwise() or not state.is_as_noted_otherwise():
            return None
        return program if not program.guards or program.holds([]) else None

    @property
    def state(self) -> BoundState:
        """The tensors, optimizer states and averages that the function has bound, up to date."""
        if self._state is None or not self._state.reached.guards.hold():
            self._bind()
        assert self._state is not None
        return self._state

    def planned(self, args: Any, kwargs: Any) -> tuple[Any, CallArguments, list[Any]]:
        """Choose the program for a call without running it. The caller holds ``LOCK``.

        Parameters
        ----------
        args : tuple
            The positional arguments of the call.
        kwargs : dict
            The keyword arguments of the call.

        Returns
        -------
        program : Any
            The program of the call. The function is traced if there is none yet.
        arguments : CallArguments
            The arguments, sorted into tensors, floats and other objects.
        inputs : list of array
            The arrays that the program takes besides the state.
        """
        state = self.state
        arguments = CallArguments(state.reached.tensors, self.engine.with_strides)
        description = arguments.describe((args, kwargs))
        if self._keep_objects(arguments.objects):
            # With these a tensor may be bound that was taken for an input.
            self._bind()
            return self.planned(args, kwargs)
        is_settled = state.is_as_noted()
        if not is_settled:
            self._bind()  # a hook, say, may reach something else now
            if self._state is not state:
                return self.planned(args, kwargs)
            self._bound = self._number(state.key())
        modes = modes_now()
        self._choose((description, self._attributes, modes, self._bound))
        for program in self._candidates:
            if program.holds(arguments.floats):
                break
        else:
            program = self._new_program(arguments, args, kwargs)
            state, is_settled = self.state, False  # more may have been bound
            self._bound = self._number(state.key())
            self._choose((description, self._attributes, modes, self._bound))
            self._candidates.append(program)
        if not is_settled:
            state.note(self.engine.upload)
        if program.version != state.version:
            program.bind(state)
        inputs = self.engine.inputs(arguments.tensors, state)
        if self.last is None or self.last[0] is not program:
            self.last = program, drop_values((args, kwargs), state.reached.tensors), modes
        return program, arguments, inputs

    def _choose(self, key: Any) -> None:
        """Take the programs for ``key`` as candidates."""
        if key != self._key:  # nearly always it is that of the last call, and need not be hashed
            self._key, self._candidates = key, self._programs.setdefault(key, [])

    def _keep_objects(self, objects: list[Any]) -> bool:
        """Keep the objects of a call and release the oldest; return whether some were new."""
        if all(any(x is known for known in self._objects) for x in objects):
            return False
        others = [x for x in self._objects if all(x is not new for new in objects)]
        room = max(_MOST_OBJECTS - len(objects), 0)
        if len(others) > room:
            # Keys have the identities of objects, which others may get when these are gone.
            self._forget_programs()
        self._objects = [*others[max(len(others) - room, 0) :], *objects]
        return True

    def _forget_programs(self) -> None:
        self._programs.clear()
        self._numbers.clear()
        self._alive.clear()
        self._key = self._last = None

    def _number(self, key: Any) -> int:
        """A number that stands for ``key``, which takes longer to hash."""
        if key not in self._numbers:
            self._numbers[key] = next(self._next_number)
        return self._numbers[key]

    def _bind(self) -> None:
        """Find the values that the function can reach, at the first call and after a change."""
        self._last = None
        roots = [self.function, *self._objects, *self._met]
        reached = ReachableValues(roots, self._executed.values())
        is_same = self._state is not None and reached.bound() == self._state.reached.bound()
        if not is_same or len(self._alive) > _MOST_FINGERPRINTS:
            self._forget_programs()
        if is_same and self._state is not None:
            self._state.reached = reached
        else:
            self._state = self.engine.bind(reached)
        fingerprint = reached.fingerprint()
        if fingerprint not in self._numbers:  # of equal ones the first is kept
            self._alive.append(reached)
        self._attributes = self._number(fingerprint)

    def _new_program(self, arguments: CallArguments, args: Any, kwargs: Any) -> Any:
        self.traces += 1
        if self.traces > MANY_TRACES and not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"compile: {self._name} was traced {self.traces} times: shapes, dtypes, "
                "modes, ints and strings given, and attributes of modules are part of a trace; "
                "give what changes as a tensor or a float",
                stacklevel=4,
            )
        room, filled, is_repeated = NUMBERS, [], False
        while True:
            state, observer = self.state, Observer()
            try:
                trace, recording = self.engine.record(
                    self.function,
                    state,
                    arguments,
                    (args, kwargs),
                    room,
                    self.keep_gradients,
                    observer,
                )
                if self._is_still_bound(state, trace, observer, is_repeated):
                    return self.engine.program(trace, recording)
                is_repeated = True
            except UnboundError as missed:
                (thing,) = missed.args
                if isinstance(thing, np.ndarray):
                    state.arrays[id(thing)] = thing
                else:
                    self._met.append(thing)
                    self._bind()
            except MissingStateError as missed:
                filled += fill_state(*missed.args)
            except TooManyNumbersError:
                room *= 4
            except BaseException as error:
                for arrays, place in filled:
                    arrays[place] = None
                if not isinstance(error, Exception):
                    raise
                raise explain_error(error) from error

    def _is_still_bound(
        self, state: BoundState, trace: ProgramTrace, observer: Observer, is_repeated: bool
    ) -> bool:
        """Watch the reads of code that ran in the trace; return whether ``state`` is still complete.

        A module may also have made a table for itself, which is bound from now on.
        """
        before = state.reached.changeable()
        # Observation comes after discovery: code that the walk has read in advance is left out, and
        # code that only ran is walked from now on. Until both agree the function is traced again.
        known = state.reached.codes
        new = {code: seen for code, seen in observer.executed.items() if code not in known}
        self._executed |= new
        self._met += functions_of(new) if new else []
        self._bind()  # also for what the trace itself has put into a cache
        if self.state is not state:
            return False
        if not state.reached.changeable() <= before and (new or not is_repeated):
            # Ops may use the arrays that only this trace has shown, and it may have changed the rest.
            return False
        trace.guard_arrays(state.reached, state.arrays)
        return True

    def _verify(self, program: Any, arguments: CallArguments, args: Any, kwargs: Any) -> None:
        """Trace the function again, and raise if it would do something else now."""
        call = program.runs + 1
        again = (args, kwargs), program.trace.room, self.keep_gradients, Observer()
        try:
            trace, recording = self.engine.record(self.function, self.state, arguments, *again)
        except (UnboundError, MissingStateError, TooManyNumbersError) as error:
            raise marked(
                RuntimeError(
                    f"compile: call {call} of {self._name} would work on other tensors "
                    "than its program; pass what changes as an argument"
                )
            ) from error
        self.engine.check_same(self._name, call, program, trace, recording)

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __repr__(self) -> str:
        return f"compile({self._name}, backend={self.backend!r}, device={str(self.device)!r})"


def compile(
    function: Callable[..., Any] | None = None,
    *,
    backend: str = "native",
    device: str | None = None,
    keep_gradients: bool = False,
) -> Any:
    """Compile a function of tensors: record its calls of kernels once, and repeat them without Python.

    The first call traces ``function``: it runs once on copies, and its calls are noted. Later calls
    run these again, on the tensors themselves. The function may run modules, losses, ``backward``,
    optimizers, gradient clipping, dropout, `EMA` and a `GradScaler`. Results, parameters and states
    have the bits that they have without compiling.

    Parameters
    ----------
    function : callable, optional
        The function to compile. If it is left out, a decorator with the other arguments is returned.
    backend : {"native", "xla"}, default "native"
        How the function is run. "native" repeats the calls of the library's kernels. "xla" computes
        the function with XLA, on the CPU, a GPU or a TPU, to slightly different bits. It needs JAX:
        ``pip install extensor[xla]``.
    device : str, optional
        For XLA: ``"cpu"``, ``"gpu"``, ``"tpu"``, or one of several such as ``"gpu:1"``. By default
        JAX's default device.
    keep_gradients : bool, default False
        Keep the gradients that an optimizer has used and that the function clears. By default these
        are ``None`` after a call.

    Returns
    -------
    Compiled
        An object that is called like ``function``.

    Raises
    ------
    ValueError
        If the backend is unknown, or JAX finds no such device.
    TypeError
        If ``function`` is not callable, ``device`` is not a string, or ``keep_gradients`` is not a bool.
    ImportError
        If the backend is "xla" and JAX is not installed or too old.

    Notes
    -----
    Tensors, arrays and floats among the arguments are inputs. Parameters, buffers, gradients and the
    states of optimizers are bound by identity. Learning rates, counts of steps, the counters of random
    generators and the scale of a ``GradScaler`` are read at each call. A call with other shapes,
    dtypes, modes or plain values traces the function again, and so does a call after a value that the
    function reads has changed. See ``docs/guides/compile.md`` for the rules, and
    ``docs/guides/accelerators.md`` for XLA.

    Examples
    --------
    >>> import numpy as np, extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.SGD([w], lr=0.5)
    >>> @ex.compile
    ... def step(x):
    ...     optimizer.zero_grad()
    ...     loss = (w * x).sum()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> [float(step(np.ones(2, np.float32))) for _ in range(2)]
    [3.0, 2.0]
    >>> w
    tensor([0., 1.], requires_grad=True)
    """
    backends.check_backend("compile", backend)
    flag("compile", "keep_gradients", keep_gradients)
    if function is None:
        return functools.partial(
            compile, backend=backend, device=device, keep_gradients=keep_gradients
        )
    if not callable(function):
        raise type_error("compile", "function must be callable", function=shown(function))
    engine: XlaEngine | NativeEngine
    if backend == "native":
        if device is not None:
            requirement = "device is for backend='xla'; the native backend runs on the CPU"
            raise value_error("compile", requirement, device=device)
        engine = NativeEngine()
    else:
        engine = XlaEngine(backends.device("compile", device))
    return Compiled(function, engine, keep_gradients)
