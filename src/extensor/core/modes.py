"""The modes of the tape in this thread: recording, looking for NaN, and the epsilon for rules."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from typing import Any

from extensor import _native
from extensor.errors import value_error
from extensor.errors.explanation import checked

mode = _native.mode  # ``recording``, ``anomaly``, ``casting``, and the ``epsilon`` for rules


@contextmanager
def switched(holder: Any, /, **values: Any) -> Iterator[None]:
    """Let attributes of ``holder`` have these values inside the block."""
    before = {name: getattr(holder, name) for name in values}
    for name, value in values.items():
        setattr(holder, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(holder, name, value)


class Setting(ContextDecorator):
    """Sets one entry of the mode inside a block, or inside the function that it decorates."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value
        self.previous: list[Any] = []  # a stack: one object may be entered within itself

    # As a decorator, each call gets its own: a recursive function would share the list otherwise.
    def _recreate_cm(self) -> Setting:
        return Setting(self.name, self.value)

    def __enter__(self) -> None:
        self.previous.append(getattr(mode, self.name))
        setattr(mode, self.name, self.value)

    def __exit__(self, *exception: object) -> None:
        setattr(mode, self.name, self.previous.pop())


def recording(enabled: bool) -> Setting:
    """Record calls on the tape, or not, inside the block."""
    return Setting("recording", enabled)


def no_grad() -> Setting:
    """Record nothing inside the block, or inside the decorated function.

    Returns
    -------
    Setting
        A context manager and decorator.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.ones(2, requires_grad=True)
    >>> with ex.no_grad():
    ...     y = 2 * x
    >>> y.requires_grad
    False
    """
    return Setting("recording", False)


def enable_grad() -> Setting:
    """Record inside the block, even within :func:`no_grad`.

    Returns
    -------
    Setting
        A context manager and decorator.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.ones(2, requires_grad=True)
    >>> with ex.no_grad(), ex.enable_grad():
    ...     y = 2 * x
    >>> y.requires_grad
    True
    """
    return Setting("recording", True)


def is_grad_enabled() -> bool:
    """True if calls are being recorded in this thread.

    Returns
    -------
    bool
        True unless inside :func:`no_grad`.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.is_grad_enabled()
    True
    """
    return mode.recording


@checked
def gradient_eps(eps: float) -> Setting:
    """Let the tape pass ``eps`` to every rule that takes one.

    Parameters
    ----------
    eps : float
        Denominators whose magnitude is below it are raised to it. 0 gives plain IEEE results.

    Returns
    -------
    Setting
        A context manager and decorator.

    Raises
    ------
    ValueError
        If ``eps`` is negative.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.zeros((), requires_grad=True)
    >>> with ex.gradient_eps(0):
    ...     ex.sqrt(x).backward()
    >>> x.grad
    tensor(inf)
    """
    if not eps >= 0:
        raise value_error("gradient_eps", "eps must be 0 or greater", eps=eps)
    return Setting("epsilon", eps)


def detect_anomaly() -> Setting:
    """Remember the source line of each recorded call, and stop at the rule that makes a NaN.

    Returns
    -------
    Setting
        A context manager and decorator. It slows down what it surrounds.

    Examples
    --------
    >>> import extensor as ex
    >>> x = ex.zeros(1, requires_grad=True)
    >>> with ex.detect_anomaly():
    ...     (x * 2).sum().backward()
    >>> x.grad
    tensor([2.])
    """
    return Setting("anomaly", True)
