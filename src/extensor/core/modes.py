"""What the tape does in this thread: whether it records, looks for NaN, and which epsilon rules get."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import Any

from extensor import _native
from extensor.errors import value_error
from extensor.errors.explanation import checked

mode = _native.mode  # ``recording``, ``anomaly``, ``casting``, and the ``epsilon`` for rules


class Setting(ContextDecorator):
    """Sets one entry of the mode inside a block, or inside the function that it decorates."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self.value = value
        self.previous: list[Any] = []

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
    """Record nothing inside the block (or the decorated function)."""
    return Setting("recording", False)


def enable_grad() -> Setting:
    """Record inside the block, even within :func:`no_grad`."""
    return Setting("recording", True)


def is_grad_enabled() -> bool:
    """True if calls are being recorded in this thread."""
    return mode.recording


@checked
def gradient_eps(eps: float) -> Setting:
    """Let the tape pass ``eps`` to every rule that takes one; 0 gives plain IEEE results."""
    if not eps >= 0:
        raise value_error("gradient_eps", "eps must be 0 or greater", eps=eps)
    return Setting("epsilon", eps)


def detect_anomaly() -> Setting:
    """Remember the source line of each recorded call, and stop at the rule that makes a NaN."""
    return Setting("anomaly", True)
