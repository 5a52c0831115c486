"""Whether calls are recorded: ``no_grad`` and its relatives, as contexts, decorators and functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from extensor.core.modes import mode


class set_grad_enabled:  # noqa: N801  as PyTorch has it
    """Record calls or not from now on; as a context, inside the block.

    Parameters
    ----------
    mode : bool
        Whether to record.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)
        self._previous = [_set(self.mode)]
        self._is_fresh = True

    def __enter__(self) -> None:
        if self._is_fresh:
            self._is_fresh = False
        else:
            self._previous.append(_set(self.mode))

    def __exit__(self, *error: object) -> None:
        _set(self._previous.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if self._is_fresh:
            self._is_fresh = False
            _set(self._previous.pop())
        return _decorated(function, lambda: type(self)(self.mode))


class _Setting:
    """A context and a decorator, with parentheses and without."""

    value = False

    def __new__(cls, function: Any = None, mode: bool = True) -> Any:  # noqa: ARG004  __init__ reads it
        made = super().__new__(cls)
        made._previous = []
        return made if function is None or isinstance(function, bool) else made(function)

    _previous: list[bool]

    def __init__(self, function: Any = None) -> None:
        """Nothing to keep: `__new__` has decorated the function, if there is one."""

    def __enter__(self) -> None:
        self._previous.append(_set(self.value))

    def __exit__(self, *error: object) -> None:
        _set(self._previous.pop())

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _decorated(function, type(self))


class no_grad(_Setting):  # noqa: N801
    """Record nothing inside a block or a decorated function.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> @torch.no_grad
    ... def double(x):
    ...     return 2 * x
    >>> double(torch.ones(2, requires_grad=True)).requires_grad
    False
    """


class enable_grad(_Setting):  # noqa: N801
    """Record inside a block or a decorated function, even within `no_grad`.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> with torch.no_grad(), torch.enable_grad():
    ...     torch.is_grad_enabled()
    True
    """

    value = True


class inference_mode(_Setting):  # noqa: N801
    """`no_grad`; ``inference_mode(False)`` changes nothing.

    Parameters
    ----------
    mode : bool, default True
        Whether to change anything.

    Examples
    --------
    >>> import extensor.torch as torch
    >>> with torch.inference_mode():
    ...     torch.is_grad_enabled()
    False
    """

    def __init__(self, mode: Any = True) -> None:
        self._is_on = mode is not False

    def __enter__(self) -> None:
        self._previous.append(_set(False) if self._is_on else mode.recording)


def is_grad_enabled() -> bool:
    """Whether calls are recorded."""
    return mode.recording


def is_inference_mode_enabled() -> bool:
    """Whether calls are not recorded."""
    return not mode.recording


def _set(recording: bool) -> bool:
    before = mode.recording
    mode.recording = recording
    return before


def _decorated(function: Callable[..., Any], context: Callable[[], Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with context():
            return function(*args, **kwargs)

    return call
