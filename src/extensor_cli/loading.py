"""The modules of a command, imported so that Ctrl-C meanwhile is a quiet end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType, ModuleType


class InterruptedImportError(Exception):
    """Ctrl-C came while modules were imported, whatever error that has caused."""


def load(name: str) -> ModuleType:
    """The module of this name. Raises :class:`InterruptedImportError` after Ctrl-C."""
    with _interruptible():
        return import_module(name)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Notice Ctrl-C by its signal.

    Imports that code in C asks for (NumPy's, of ``datetime``) put an ImportError in the place of the
    KeyboardInterrupt, so the exception alone does not tell.
    """
    interrupts: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGINT, interrupt)
    except ValueError:  # not the main thread, which is the one that is interrupted
        yield
        return
    try:
        yield
    except BaseException as error:
        if interrupts:
            raise InterruptedImportError from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
