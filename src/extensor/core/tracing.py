"""Placeholders for values while a function is traced, to be run by another engine later.

While a trace is active in this thread, arrays are placeholders of the engine's, and numbers that are
read anew at each run (rates, counts of steps) are :class:`Number`. Nothing here knows the engine.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from extensor.core import modes

if TYPE_CHECKING:
    from extensor.compiled.program_trace import ProgramTrace

Read = Callable[[], Any]


class _ThreadTrace(threading.local):
    trace: ProgramTrace | None = None


_state = _ThreadTrace()


def current() -> ProgramTrace | None:
    """The trace that is active in this thread, or None."""
    return _state.trace


def active(trace: ProgramTrace) -> AbstractContextManager[None]:
    """A block in which ``trace`` is the active one."""
    return modes.switched(_state, trace=trace)


def number(owner: Any, name: str) -> Any:
    """An attribute of ``owner``; while a function is traced a number that each run reads anew."""
    trace = _state.trace
    if trace is None:
        return getattr(owner, name)
    return Number(trace, lambda: getattr(owner, name), key=(id(owner), name))


class ValueUnknownError(TypeError):
    """A value was read that is only known when the program of a function runs."""


# The errors of engines for values that are not there yet: checks of values are left out then.
VALUES_MISSING: list[type[Exception]] = [ValueUnknownError]

hiding = 0  # how many traces are active, in any thread, whose arrays have values to be hidden


def check_readable(array: Any) -> None:
    """Raise if ``array`` has values in this trace that each run computes anew."""
    trace = _state.trace
    if trace is not None and trace.hides_values and trace.knows(array):
        raise ValueUnknownError("a compiled function has no values while it is traced")


def _forward(apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Number, other: Any) -> Any:
        return self._combine(other, apply, apply.__name__)

    return method


def _backward(apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Number, other: Any) -> Any:
        return self._combine(other, lambda a, b: apply(b, a), f"r{apply.__name__}")

    return method


def _comparison(apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Number, other: Any) -> Any:
        result = self._combine(other, apply, apply.__name__)
        return bool(result) if isinstance(result, Number) else result

    return method


class Number:
    """A number outside of the trace: what is computed of it alone is computed there too, at each run.

    Where it meets an array it becomes an input of the trace. Where its value is asked for, in a
    condition say, the trace holds for that value only. Numbers computed alike have the same ``key``:
    it spells out the computation, which :func:`evaluate` repeats.
    """

    __array_ufunc__ = None  # lets ``ndarray * number`` reach the reflected operators
    __slots__ = ("key", "read", "trace", "value")

    def __init__(self, trace: ProgramTrace, read: Read, value: Any = None, key: Any = None) -> None:
        self.trace = trace
        self.read = read
        self.value = read() if value is None else value
        self.key = object() if key is None else key

    def _combine(self, other: Any, apply: Callable[[Any, Any], Any], name: str) -> Any:
        own = self.read
        if isinstance(other, Number):
            theirs, value = other.read, apply(self.value, other.value)
            key: Any = (name, self.key, other.key)
            return Number(self.trace, lambda: apply(own(), theirs()), value, key)
        if isinstance(other, bool | int | float):
            value, key = apply(self.value, other), (name, self.key, type(other), other)
            return Number(self.trace, lambda: apply(own(), other), value, key)
        if not hasattr(other, "dtype") or hasattr(other, "_array"):  # a tensor has operators
            return NotImplemented
        return apply(self.trace.scalar(self, other.dtype), other)

    __add__, __radd__ = _forward(operator.add), _backward(operator.add)
    __sub__, __rsub__ = _forward(operator.sub), _backward(operator.sub)
    __mul__, __rmul__ = _forward(operator.mul), _backward(operator.mul)
    __truediv__, __rtruediv__ = _forward(operator.truediv), _backward(operator.truediv)
    __pow__, __rpow__ = _forward(operator.pow), _backward(operator.pow)
    __mod__, __rmod__ = _forward(operator.mod), _backward(operator.mod)
    __floordiv__, __rfloordiv__ = _forward(operator.floordiv), _backward(operator.floordiv)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)
    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)

    def __neg__(self) -> Number:
        return Number(self.trace, lambda: -self.read(), -self.value, ("neg", self.key))

    def __abs__(self) -> Number:
        return Number(self.trace, lambda: abs(self.read()), abs(self.value), ("abs", self.key))

    def _fix_value(self, kind: Callable[[Any], Any]) -> Any:
        # Python goes on with a fixed value from here: the trace must not be used for any other.
        expected = kind(self.value)
        self.trace.guard((kind, self.key), lambda: kind(self.read()), expected)
        return expected

    def __bool__(self) -> bool:
        return bool(self._fix_value(bool))

    def __float__(self) -> float:
        return float(self._fix_value(float))

    def __int__(self) -> int:
        return int(self._fix_value(int))

    __index__ = __int__

    def _as_plain(self) -> Any:
        """Its value, of the type it has outside; the trace then holds for this value only."""
        return self._fix_value(type(self.value))

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._as_plain(), digits)

    def __trunc__(self) -> int:
        return int(self._as_plain())

    def __format__(self, spec: str) -> str:
        return format(self._as_plain(), spec)

    def __str__(self) -> str:
        return str(self._as_plain())

    def __hash__(self) -> int:
        return hash(self._fix_value(float))

    def __repr__(self) -> str:
        return repr(self._as_plain())


_UNARY: dict[str, Callable[[Any], Any]] = {"neg": operator.neg, "abs": abs}
_ARITHMETIC = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod,
    operator.floordiv,
)  # fmt: skip
_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    apply.__name__: apply for apply in (*_ARITHMETIC, *_COMPARISONS)
}
_REFLECTED = {f"r{apply.__name__}": apply for apply in _ARITHMETIC}


def _is_leaf(key: Any) -> bool:
    known = isinstance(key, tuple) and isinstance(key[0], str)
    return not known or not (key[0] in _UNARY or key[0] in _BINARY or key[0] in _REFLECTED)


def leaf_keys(key: Any) -> list[Any]:
    """The keys of the numbers from which the number with this ``key`` is computed, each once."""
    if _is_leaf(key):
        return [key]
    _, first, *rest = key
    # With a constant on the other side the rest is its type and its value.
    found = leaf_keys(first) + (leaf_keys(rest[0]) if len(rest) == 1 else [])
    return list(dict.fromkeys(found))


def evaluate(key: Any, leaves: Mapping[Any, Any]) -> Any:
    """The number with this ``key``, computed from the values of its ``leaves`` by their keys.

    The values may be of any kind that has the operators, such as arrays of an engine.
    """
    if _is_leaf(key):
        return leaves[key]
    name, first, *rest = key
    x = evaluate(first, leaves)
    if not rest:
        return _UNARY[name](x)
    y = evaluate(rest[0], leaves) if len(rest) == 1 else rest[1]
    return _BINARY[name](x, y) if name in _BINARY else _REFLECTED[name](y, x)


def plain(number: Any) -> Any:
    """``number`` as a float, unless it is one that each run reads anew."""
    return number if isinstance(number, Number) else float(number)
