"""``ex.compile``: a function of tensors, traced once and run by another engine."""

from __future__ import annotations

import functools
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype
from extensor.compiled import backend as backends
from extensor.compiled.arguments import Leaves
from extensor.compiled.discovery import Reached
from extensor.compiled.plan import Plan, inputs_of, traced
from extensor.compiled.residence import Cell, Epoch
from extensor.compiled.state import State, device_copy, fill_state
from extensor.compiled.trace import NUMBERS, MissingState, TooManyNumbers, Unbound
from extensor.core import precision, tracing
from extensor.core.modes import mode
from extensor.errors import marked, shown, type_error
from extensor.errors.arguments import flag

MANY_TRACES = 8
_NOT_THE_USERS = (
    "extensor",
    "jax",
    "jaxlib",
    "numpy",
    "array_api_compat",
    "contextlib",
    "functools",
)


class Compiled:
    """A function that is traced at its first call and run by an engine at each.

    ``traces`` is how often it was traced.
    """

    def __init__(
        self, function: Callable[..., Any], backend: str, device: Any, keep_gradients: bool
    ) -> None:
        functools.update_wrapper(self, function, updated=())
        self.function = function
        self.backend = backend
        self.device = device
        self.keep_gradients = keep_gradients
        self.traces = 0
        self.last: Plan | None = None
        self.example: list[Any] = []  # the inputs of the last call
        self._plans: dict[Any, list[Plan]] = {}
        self._state: State | None = None
        self._epoch = -1
        self._state_key = 0
        self._numbers: dict[Any, int] = {}
        self._print: Any = None
        self._print_key = 0
        self._said = False

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives, its tensors on the device until they are looked at."""
        if tracing.current() is not None:  # a part of a larger function that is being traced
            return self.function(*args, **kwargs)
        leaves = Leaves()
        described = leaves.described((args, kwargs))
        with backends.wide():
            plan = self._plan(described, leaves, args, kwargs)
            self.last, self.example = plan, self._inputs(leaves.tensors)
            return plan(leaves.tensors, self.example, leaves.floats)

    def planned(self, *args: Any, **kwargs: Any) -> Plan:
        """The program that a call with such arguments would run."""
        leaves = Leaves()
        described = leaves.described((args, kwargs))
        with backends.wide():
            self.last = self._plan(described, leaves, args, kwargs)
            self.example = self._inputs(leaves.tensors)
        return self.last

    @property
    def state(self) -> State:
        """What the function has bound, once it was traced."""
        assert self._state is not None
        return self._state

    def _inputs(self, given: list[Any]) -> list[Any]:
        return [
            x.value if type(x) is Cell else device_copy(x) for x in inputs_of(given, self.state)
        ]

    def _plan(self, described: Any, leaves: Leaves, args: Any, kwargs: Any) -> Plan:
        state = self._bound(leaves.others)
        while True:
            away = state.is_away()
            if Epoch.number != self._epoch or not away:
                self._state_key, self._epoch = self._numbered(state.key()), Epoch.number
            casting = precision.current() if mode.casting else None
            modes = (mode.recording, casting, get_default_dtype(), mode.epsilon)
            key = (described, self._attributes_key(state), modes, self._state_key)
            for plan in self._plans.get(key, ()):
                if plan.holds(leaves.floats):
                    break
            else:
                plan = self._new_plan(state, args, kwargs)
                self._state_key = self._numbered(state.key())
                key = (described, self._attributes_key(state), modes, self._state_key)
                self._plans.setdefault(key, []).append(plan)
            if plan.epoch != Epoch.number or not away:
                self._move_in(plan, state)
                if plan.epoch != Epoch.number:
                    continue  # another thread has looked at a value meanwhile
            return plan

    def _numbered(self, key: Any) -> int:
        """A number that stands for ``key``, which takes longer to hash."""
        return self._numbers.setdefault(key, len(self._numbers))

    def _attributes_key(self, state: State) -> int:
        print_now = state.reached.fingerprint()
        if print_now != self._print:
            self._print, self._print_key = print_now, self._numbered(print_now)
        return self._print_key

    def _bound(self, others: list[Any]) -> State:
        state = self._state
        if state is not None and state.reached.is_unchanged():
            if all(not state.reached.add(thing) for thing in others):
                return state
            self._epoch = -1
            return state
        reached = Reached()
        reached.add(self.function)
        for thing in others:
            reached.add(thing)
        self._state, self._epoch = State(reached), -1
        self._plans.clear()
        return self._state

    def _move_in(self, plan: Plan, state: State) -> None:
        """Bring what is not on the device there, and note where it is."""
        jax = backends.jax()
        cells = state.cells(lambda array: jax.device_put(device_copy(array), self.device))
        plan.changed = [cells[place] for place in plan.made.changed]
        plan.kept = [cells[place] for place in plan.made.unchanged]
        plan.epoch = self._epoch = Epoch.number

    def _new_plan(self, state: State, args: Any, kwargs: Any) -> Plan:
        self.traces += 1
        if self.traces > MANY_TRACES and not self._said:
            self._said = True
            warnings.warn(
                f"compile: {self.function.__name__} was traced {self.traces} times: shapes, dtypes, "
                "modes, ints and strings given, and attributes of modules are part of a trace; "
                "give what changes as a tensor or a float",
                stacklevel=4,
            )
        room = NUMBERS
        while True:
            try:
                trace, made = traced(self.function, state, args, kwargs, room, self.keep_gradients)
                return Plan(trace, made, room)
            except Unbound as missed:
                if isinstance(missed.thing, np.ndarray):
                    state.arrays[id(missed.thing)] = missed.thing
                else:
                    state.reached.add(missed.thing)
            except MissingState as missed:
                fill_state(missed.optimizer, missed.missing)
            except TooManyNumbers:
                room *= 4
            except Exception as error:
                raise _explained(error) from error

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"compile({name}, backend={self.backend!r}, device={str(self.device)!r})"


def _explained(error: Exception) -> Exception:
    """In our words where a value was asked for that only a run will have."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, tuple(tracing.VALUES_MISSING)):
        cause = cause.__cause__
    if cause is None:
        return error
    place = _users_line(error)
    return marked(
        TypeError(
            f"compile: a value was asked for that is only known when the function runs, at {place}; "
            "return the tensor and read it outside, or choose with ex.where instead of if"
        )
    )


def _users_line(error: BaseException) -> str:
    """``file:line`` of the innermost frame that is the user's."""
    place = "an unknown line"
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__"))
        if module.partition(".")[0] not in _NOT_THE_USERS:
            place = f"{frame.f_code.co_filename}:{line} ({_text(frame.f_code.co_filename, line)})"
    return place


def _text(file: str, line: int) -> str:
    import linecache

    return linecache.getline(file, line).strip() or "source not found"


def compile(
    function: Callable[..., Any] | None = None,
    *,
    backend: str = "xla",
    device: str | None = None,
    keep_gradients: bool = False,
) -> Any:
    """``function``, traced at its first call and run by XLA from then on: on the CPU, a GPU or a TPU.

    It may run modules, losses, ``backward``, optimizers, clipping and dropout. Tensors, arrays and
    floats given are inputs. Parameters, buffers, gradients and the states of optimizers are bound by
    identity: they live on the ``device`` and come back when somebody looks at them. Rates, counts of
    steps, the counters of generators and the scale of a loss are read at each call. Other shapes,
    dtypes, modes or plain values are traced again. A value cannot be read inside. Gradients that an
    optimizer has used inside are gone afterwards, unless ``keep_gradients``.
    """
    backends.check_backend("compile", backend)
    flag("compile", "keep_gradients", keep_gradients)
    if function is None:
        return functools.partial(
            compile, backend=backend, device=device, keep_gradients=keep_gradients
        )
    if not callable(function):
        raise type_error("compile", "function must be callable", function=shown(function))
    return Compiled(function, backend, backends.device("compile", device), keep_gradients)
