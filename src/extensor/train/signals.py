"""Signals that end training: Ctrl-C and those of clusters, acted on between two steps."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Windows knows no SIGHUP.
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_GRACE = 1.0  # seconds


class Ended(SystemExit):
    """A signal other than Ctrl-C came; the exit code is the one that shells give for it."""

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(128 + number)
        self.signal = signal.Signals(number)
        self.text = text


def end(number: int, frame: object = None) -> None:
    """A handler: leave through everything that tidies up, undisturbed by more of its kind."""
    for other in ENDING:
        if signal.getsignal(other) is end:
            signal.signal(other, signal.SIG_IGN)
    raise Ended(number)


@contextmanager
def ending_in_order() -> Iterator[None]:
    """SIGTERM and SIGHUP raise :class:`Ended`, unless they are ignored or have a handler."""
    taken = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken if _may_set() else ():
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken if _may_set() else ():
            signal.signal(number, signal.SIG_DFL)


class Interruption:
    """Within the block, the first signal that would end training is only noted.

    The next one does at once what it did before; but SIGTERM and SIGHUP only after a while, as
    those who send them (a shell and its terminal, a cluster) often send several. A signal that is
    ignored, as nohup and background jobs have it, stays so, and so does a handler of the user's own
    for SIGTERM or SIGHUP.
    """

    def __init__(self) -> None:
        self.noted: int | None = None
        self._previous: dict[int, Any] = {}
        self._when = 0.0

    def __enter__(self) -> Interruption:
        self.noted = None
        for number in (signal.SIGINT, *ENDING) if _may_set() else ():
            handler = signal.getsignal(number)
            ours = handler in (signal.SIG_DFL, end)
            if ours or (number == signal.SIGINT and handler not in (signal.SIG_IGN, None)):
                self._previous[number] = handler
                signal.signal(number, self._note)
        return self

    def _note(self, number: int, frame: object) -> None:
        now = time.monotonic()
        if self.noted is None:
            self.noted, self._when = number, now
        elif number == signal.SIGINT or now - self._when >= _GRACE:
            self._restore()
            os.kill(os.getpid(), number)

    def _restore(self) -> None:
        while self._previous:
            signal.signal(*self._previous.popitem())

    def __exit__(self, *_: object) -> None:
        self._restore()

    def raise_if_noted(self) -> None:
        """Do now what the signal asked for."""
        if self.noted == signal.SIGINT:
            raise KeyboardInterrupt
        if self.noted is not None:
            raise Ended(self.noted)


def _may_set() -> bool:
    """Python lets only this thread set handlers."""
    return threading.current_thread() is threading.main_thread()
