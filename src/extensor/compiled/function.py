"""``ex.compile``: a function of tensors, traced once and run by another engine."""

from __future__ import annotations

import functools
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from extensor import _native
from extensor.arrays.dtypes import get_default_dtype
from extensor.arrays.storage import copied
from extensor.compiled import backend as backends
from extensor.compiled.arguments import Given, without_values
from extensor.compiled.attributes import functions_of
from extensor.compiled.discovery import Executed, Reached
from extensor.compiled.observation import Observer
from extensor.compiled.plan import Plan, inputs_of
from extensor.compiled.recording import recorded
from extensor.compiled.residence import LOCK
from extensor.compiled.state import State, device_copy, fill_state
from extensor.compiled.trace import NUMBERS, MissingState, TooManyNumbers, Unbound
from extensor.compiled.verification import check_same, is_due
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


class _Call(NamedTuple):
    """A call with nothing but arrays: its plan, and what must be the same for it to be taken again."""

    plan: Plan
    modes: tuple[Any, ...]
    description: bytes  # of the arrays
    watched: list[Any]
    held: list[Any]  # by what is watched

    @classmethod
    def of(cls, plan: Plan, state: State, given: Given, args: Any, kwargs: Any) -> _Call | None:
        """What to remember of a call, if it was of that kind."""
        description = _native.description(args)
        if kwargs or description is None or len(given.tensors) < len(args):
            return None
        pairs = (state.reached.watched(), state.watched())
        (watched, held), (more_watched, more_held) = pairs
        return cls(plan, modes_now(), description, watched + more_watched, held + more_held)


def modes_now() -> tuple[Any, ...]:
    """What of the modes of this thread is part of a trace."""
    casting = precision.current() if mode.casting else None
    return mode.recording, casting, get_default_dtype(), mode.epsilon, mode.anomaly


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
        # The plan of the last call, its arguments without their values, and its modes.
        self.last: tuple[Plan, tuple[Any, Any], tuple[Any, ...]] | None = None
        self._plans: dict[Any, list[Plan]] = {}
        self._state: State | None = None
        self._given: list[Any] = []  # objects among the arguments, and what was met in a trace
        self._numbers: dict[Any, int] = {}
        self._executed: dict[Any, Executed] = {}  # code that was seen running in a trace
        self._alive: list[Any] = []  # what identities in keys belong to
        self._attributes = self._bound = -1
        self._key: Any = None
        self._found: list[Plan] = []
        self._said = False
        self._last: _Call | None = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives, its tensors on the device until they are looked at."""
        if tracing.current() is not None:  # a part of a larger function that is being traced
            return self.function(*args, **kwargs)
        with LOCK, backends.wide():
            again = None if kwargs else self._again(args)
            if again is not None:
                return again(args, list(map(copied, args)))
            plan, given, inputs = self._planned(args, kwargs)
            if is_due(plan.runs + 1):
                self._verify(plan, given, args, kwargs)
            self._last = _Call.of(plan, self.state, given, args, kwargs)
            return plan(given.tensors, inputs)

    def _again(self, args: tuple[Any, ...]) -> Plan | None:
        """The plan of the last call, if this one is like it in all that a plan depends on.

        Python needs longer to describe the arguments of a small step than XLA to take it.
        """
        last, state = self._last, self._state
        if last is None or state is None or _native.description(args) != last.description:
            return None
        plan = last.plan
        if plan.version != state.version or state.arrays or modes_now() != last.modes:
            return None
        if is_due(plan.runs + 1):
            return None
        if not _native.holds(last.watched, last.held):
            return None
        if not state.reached.is_unchanged_otherwise() or not state.is_as_noted_otherwise():
            return None
        return plan if not plan.guards or plan.holds([]) else None

    def planned(self, args: Any, kwargs: Any) -> tuple[Plan, Given, list[Any]]:
        """The program that a call with such arguments would run, and its inputs."""
        with LOCK, backends.wide():
            return self._planned(args, kwargs)

    @property
    def state(self) -> State:
        """What the function has bound."""
        if self._state is None or not self._state.reached.is_unchanged():
            self._bind()
        assert self._state is not None
        return self._state

    def _planned(self, args: Any, kwargs: Any) -> tuple[Plan, Given, list[Any]]:
        state = self.state
        given = Given(state.reached.tensors)
        described = given.described((args, kwargs))
        new = [x for x in given.others if all(x is not known for known in self._given)]
        if new:  # with which a tensor may be bound that was taken for an input
            self._given += new
            self._bind()
            return self._planned(args, kwargs)
        settled = state.is_as_noted()
        if not settled:
            self._bind()  # a hook, say, may reach something else now
            if self._state is not state:
                return self._planned(args, kwargs)
            self._bound = self._numbered(state.key())
        modes = modes_now()
        key = described, self._attributes, modes, self._bound
        if key != self._key:  # nearly always it is that of the last call, and need not be hashed
            self._key, self._found = key, self._plans.get(key, [])
        for plan in self._found:
            if plan.holds(given.floats):
                break
        else:
            plan = self._new_plan(given, args, kwargs)
            state, settled = self.state, False  # more may have been bound
            self._bound = self._numbered(state.key())
            key = described, self._attributes, modes, self._bound
            self._key, self._found = key, self._plans.setdefault(key, [])
            self._found.append(plan)
        if not settled:
            state.note(self._upload)
        if plan.version != state.version:
            plan.bind(state)
        inputs = inputs_of(given.tensors, state)
        if self.last is None or self.last[0] is not plan:
            self.last = plan, without_values((args, kwargs), state.reached.tensors), modes
        return plan, given, inputs

    def _upload(self, array: Any) -> Any:
        return backends.jax().device_put(device_copy(array), self.device)

    def _numbered(self, key: Any) -> int:
        """A number that stands for ``key``, which takes longer to hash."""
        return self._numbers.setdefault(key, len(self._numbers))

    def _bind(self) -> None:
        """Look for what the function works on, at the beginning and when something has changed."""
        self._last = None
        reached = Reached([self.function, *self._given], self._executed.values())
        if self._state is None or reached.bound() != self._state.reached.bound():
            self._state = State(reached)
            self._plans.clear()
            self._alive.clear()
            self._key = None
        else:
            self._state.reached = reached
        known = len(self._numbers)
        self._attributes = self._numbered(reached.fingerprint())
        if self._attributes == known:  # of equal ones the first is kept
            self._alive.append(reached)

    def _new_plan(self, given: Given, args: Any, kwargs: Any) -> Plan:
        self.traces += 1
        if self.traces > MANY_TRACES and not self._said:
            self._said = True
            warnings.warn(
                f"compile: {self._name} was traced {self.traces} times: shapes, dtypes, "
                "modes, ints and strings given, and attributes of modules are part of a trace; "
                "give what changes as a tensor or a float",
                stacklevel=4,
            )
        room, filled = NUMBERS, []
        while True:
            state, observer = self.state, Observer()
            try:
                trace, made = recorded(
                    self.function, state, given, (args, kwargs), room, self.keep_gradients, observer
                )
                if self._is_still_bound(state, observer):
                    return Plan(trace, made, self.device)
            except Unbound as missed:
                if isinstance(missed.thing, np.ndarray):
                    state.arrays[id(missed.thing)] = missed.thing
                else:
                    self._given.append(missed.thing)
                    self._bind()
            except MissingState as missed:
                filled += fill_state(missed.optimizer, missed.missing)
            except TooManyNumbers:
                room *= 4
            except BaseException as error:
                for arrays, place in filled:
                    arrays[place] = None
                if not isinstance(error, Exception):
                    raise
                raise _explained(error) from error

    def _is_still_bound(self, state: State, observer: Observer) -> bool:
        """Watch what code reads that was seen running; whether ``state`` is all that is bound then.

        A module may also have made a table for itself, which is bound from now on.
        """
        known = state.reached.codes
        new = {code: seen for code, seen in observer.executed.items() if code not in known}
        self._executed |= new
        self._given += [function for code in new for function in functions_of(code)]
        self._bind()  # also for what the trace itself has put into a cache
        return self.state is state

    def _verify(self, plan: Plan, given: Given, args: Any, kwargs: Any) -> None:
        """Trace the function again, and raise if it would do something else now."""
        observer = Observer()
        again = (args, kwargs), plan.trace.room, self.keep_gradients, observer
        try:
            _, made = recorded(self.function, self.state, given, *again)
        except (Unbound, MissingState, TooManyNumbers) as error:
            raise marked(
                RuntimeError(
                    f"compile: call {plan.runs + 1} of {self._name} would work on other tensors "
                    "than its program; pass what changes as an argument"
                )
            ) from error
        check_same(self._name, plan.runs + 1, plan.made, made)

    @property
    def _name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def __repr__(self) -> str:
        return f"compile({self._name}, backend={self.backend!r}, device={str(self.device)!r})"


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
    optimizer has used inside, and that the function clears, are gone afterwards, unless
    ``keep_gradients``.

    >>> import numpy as np, extensor as ex
    >>> w = ex.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ex.optim.SGD([w], lr=0.5)
    >>> @ex.compile(backend="xla", device="cpu")
    ... def step(x):
    ...     optimizer.zero_grad()
    ...     loss = (w * x).sum()
    ...     loss.backward()
    ...     optimizer.step()
    ...     return loss
    >>> [float(step(np.ones(2, np.float32))) for _ in range(2)]
    [3.0, 2.0]
    >>> w, step.traces
    (tensor([0., 1.], requires_grad=True), 1)
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
