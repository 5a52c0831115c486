"""From the arguments of a call to the parameters of a signature, and the plain functions users call."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from numbers import Real
from types import MethodType
from typing import Any

import numpy as np

from extensor import _native
from extensor.arrays.dtypes import is_numeric_scalar
from extensor.core import tracing
from extensor.core.kinds import kind_of
from extensor.errors import is_ours, marked, type_error
from extensor.errors.explanation import FAILURES, explained
from extensor.errors.keywords import FUNCTIONS, without_defaults
from extensor.errors.torch_names import unknown_keyword

_MISSING = ...  # what the dispatcher takes for a required parameter
# Attributes that a scalar of NumPy's reaches as it is, and inputs in another order.
_OTHERS = ("Any", "Index", "DType")
_SIMPLE = frozenset({int, float, bool, str, type(None), type(...)})


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
        self.open = bool(code.co_flags & inspect.CO_VARARGS)
        self.defaults = (*[_MISSING] * self.required, *given)
        self.annotations = [written.__annotations__.get(parameter) for parameter in self.names]
        self.position = {parameter: i for i, parameter in enumerate(self.names)}
        self.numbers = [
            (i, parameter)
            for i, parameter in enumerate(self.names)
            if self.annotations[i] in ("float", float)
        ]
        self.attributes = [
            i for i, annotation in enumerate(self.annotations) if _is_attribute(annotation)
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
        # None without a reason: messages are made by inspect, on the way that fails anyhow.
        values = _native.bind(self.names, self.defaults, args, kwargs)
        if values is None:
            whole = self.open and not kwargs and len(args) >= self.count
            values = list(args) if whole else self._bound_or_refused(args, kwargs)
        for position in self.attributes:
            if type(values[position]) not in _SIMPLE:
                values[position] = _plain(values[position])
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

    def _bound_or_refused(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Say what is wrong with the arguments: nothing, if one of them is an Ellipsis (``x[...]``)."""
        for name in kwargs:
            text = None if name in self.position else unknown_keyword(self.name, name, self.names)
            if text is not None:
                raise marked(TypeError(text))
        try:
            bound = self.signature().bind(*args, **kwargs)
        except TypeError as error:
            raise marked(TypeError(f"{self.name}: {error}")) from None
        bound.apply_defaults()
        return list(bound.args)


def _is_attribute(annotation: Any) -> bool:
    if annotation is None or annotation in _OTHERS or "Tensor" in str(annotation):
        return False
    return kind_of(str(annotation)) is None


def _plain(value: Any) -> Any:
    """A scalar of NumPy's, or the user's own kind of int, as the Python number that it stands for.

    In a formula, a scalar would bring its own dtype: ``scale=1 / np.sqrt(64)`` would make float64 of
    float32. An object with ``__index__`` runs the user's code: once, before an op looks at its inputs.
    """
    if isinstance(value, np.generic):
        return value.item() if is_numeric_scalar(value) else value
    if type(value) in (tuple, list):
        if all(type(item) in _SIMPLE for item in value):
            return value
        return type(value)(item if type(item) in _SIMPLE else _own_int(item) for item in value)
    return _own_int(value)


def _own_int(value: Any) -> Any:
    if isinstance(value, int | np.generic | np.ndarray | _native.TensorBase | tracing.Number):
        return value
    return operator.index(value) if hasattr(type(value), "__index__") else value


def reordered(public: Parameters) -> Callable[..., Any]:
    """A ``bound`` for a public function whose arguments come in another order than the formula's."""

    def bound(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        result: Sequence[Any] = public.written(*public.bound(args, kwargs))
        return result

    return bound


class PublicFunction:
    """A function that binds its arguments and calls; every error begins with its name and is in our words.

    ``parameters`` are those of the signature that users see. The documentation is made when somebody
    asks for it.
    """

    __name__: str
    __qualname__: str
    op: Any

    def __init__(
        self,
        parameters: Parameters,
        bound: Callable[..., Sequence[Any]],
        call: Callable[[Sequence[Any]], Any],
        documentation: Callable[[], str] = str,
    ) -> None:
        self._parameters, self._bound, self._call = parameters, bound, call
        self._documentation = documentation

    __doc__ = property(lambda self: self._documentation())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._call(self._bound(args, kwargs))
        except FAILURES as error:
            name = self._parameters.name
            if not is_ours(error):
                raise _explain(self._parameters, args, kwargs, error) from error
            if str(error).startswith(f"{name}:"):
                raise
            # An op that this one is made of: its requirement, and where it came from.
            raise marked(type(error)(f"{name}: {error}")) from error

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As functions do: by this help() knows that it is one, and shows its signature."""
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> str:
        return self.__qualname__

    def __repr__(self) -> str:
        return f"<function {self.__qualname__}>"


def _explain(
    parameters: Parameters, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Exception:
    given = {**dict(zip(parameters.names, args, strict=False)), **kwargs}
    annotations = dict(zip(parameters.names, parameters.annotations, strict=True))
    kinds = [annotations.get(name) for name in given]
    return explained(parameters.name, given, kinds, error)


def dressed(function: Any, written: Callable[..., Any]) -> Any:
    """``function`` with the name of what was written."""
    function.__name__ = function.__qualname__ = written.__name__
    function.__module__ = written.__module__
    return function
