"""From the arguments of a call to the parameters of a signature, and the plain functions users call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from extensor.errors import type_error
from extensor.keywords import FUNCTIONS, without_defaults

_MISSING = ...  # what the dispatcher takes for a required parameter


class Parameters:
    """The parameters of a function: they bind faster than :mod:`inspect`, the op's name in every error.

    They are read off the code object, since asking :mod:`inspect` for some 300 signatures would be a
    good part of the time that ``import extensor`` takes.
    """

    def __init__(self, name: str, written: Callable[..., Any], leading: int = 0) -> None:
        """Of ``written``, without its first ``leading`` parameters."""
        self.name = name
        self.written = written
        self.leading = leading
        code, given = written.__code__, written.__defaults__ or ()
        self.names: tuple[str, ...] = code.co_varnames[leading : code.co_argcount]
        self.count = len(self.names)
        self.required = self.count - len(given)
        self.defaults = [*[_MISSING] * self.required, *given]
        self.annotations = [written.__annotations__.get(parameter) for parameter in self.names]
        self.position = {parameter: i for i, parameter in enumerate(self.names)}
        self.numbers = [
            (i, parameter)
            for i, parameter in enumerate(self.names)
            if self.annotations[i] in ("float", float)
        ]

    def signature(self) -> inspect.Signature:
        """The same for :mod:`inspect` and ``help``."""
        signature = inspect.signature(self.written, eval_str=True)
        return signature.replace(
            parameters=list(signature.parameters.values())[self.leading :],
        )

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        """The arguments in the order of the signature, defaults filled in."""
        if kwargs:
            kwargs = self.known(kwargs)
        given = len(args)
        values = [*args, *self.defaults[given:]]
        for name, value in kwargs.items():
            position = self.position.get(name, -1)
            if position < given:
                self._refuse(args, kwargs)
            values[position] = value
        if given > self.count or any(value is _MISSING for value in values[: self.required]):
            self._refuse(args, kwargs)
        for position, name in self.numbers:
            if not isinstance(values[position], Real):
                raise type_error(
                    self.name, f"{name} must be a number", **{name: type(values[position]).__name__}
                )
        return values

    def known(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Without what only PyTorch's function of this name has, at its default."""
        accepted = FUNCTIONS.get(self.name)
        return kwargs if accepted is None else without_defaults(self.name, kwargs, accepted)

    def _refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Say what is wrong with the arguments: nothing, if one of them is an Ellipsis (``x[...]``)."""
        try:
            self.signature().bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.name}: {error}") from None


def reordered(public: Parameters) -> Callable[..., Any]:
    """A ``bound`` for a public function whose arguments come in another order than the formula's."""

    def bound(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        public.bound(args, kwargs)
        result: Sequence[Any] = public.written(*args, **public.known(kwargs))
        return result

    return bound


def guarded(
    name: str, bound: Callable[..., Sequence[Any]], call: Callable[[Sequence[Any]], Any]
) -> Callable[..., Any]:
    """A public function: it binds and calls, and puts its name before every error without it.

    Wrong kinds of arguments fail in many places (in NumPy, in an op that a rule is made of); checking
    all of them in advance would cost every good call.
    """

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(bound(args, kwargs))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            if str(error).startswith(f"{name}:"):
                raise
            raise _kind_of(error)(f"{name}: {error}") from error

    return function


def _kind_of(error: Exception) -> type[Exception]:
    if isinstance(error, ValueError | ArithmeticError):
        return ValueError
    return IndexError if isinstance(error, IndexError) else TypeError


def dressed(function: Any, written: Callable[..., Any]) -> Any:
    """``function`` with the name and documentation of what was written."""
    function.__name__ = function.__qualname__ = written.__name__
    function.__module__ = written.__module__
    function.__doc__ = written.__doc__
    return function
