"""From the arguments of a call to the parameters of a signature, and the plain functions users call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

_MISSING = ...  # what the dispatcher takes for a required parameter


class Parameters:
    """A signature that binds faster than :mod:`inspect`, and with the op's name in its errors."""

    def __init__(self, name: str, signature: inspect.Signature) -> None:
        self.name = name
        self.signature = signature
        self.position = {parameter: i for i, parameter in enumerate(signature.parameters)}
        self.defaults = [
            _MISSING if parameter.default is parameter.empty else parameter.default
            for parameter in signature.parameters.values()
        ]
        self.required = self.defaults.count(_MISSING)
        self.count = len(self.defaults)

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        """The arguments in the order of the signature, defaults filled in."""
        given = len(args)
        values = [*args, *self.defaults[given:]]
        for name, value in kwargs.items():
            position = self.position.get(name, -1)
            if position < given:
                raise self._error(args, kwargs)
            values[position] = value
        if given > self.count or any(value is _MISSING for value in values[: self.required]):
            raise self._error(args, kwargs)
        return values

    def _error(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            return TypeError(f"{self.name}: {error}")
        raise AssertionError(f"{self.name}: inspect binds what we do not")


def reordered(name: str, arguments: Callable[..., Sequence[Any]]) -> Callable[..., Any]:
    """A ``bound`` for a public function whose arguments come in another order than the formula's."""
    parameters = inspect.signature(arguments, eval_str=True)

    def bound(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        try:
            parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        return arguments(*args, **kwargs)

    return bound


def dressed(function: Any, written: Callable[..., Any], signature: inspect.Signature) -> Any:
    """``function`` with the name, documentation and signature of what was written."""
    function.__name__ = function.__qualname__ = written.__name__
    function.__module__ = written.__module__
    function.__doc__ = written.__doc__
    function.__signature__ = signature
    return function
