"""A parent for each worker, which waits for it and says how it ended.

When one worker is killed, a launcher may end all others within milliseconds and name none of them, or
another one: MPICH's does. With this parent the launcher has nothing to see until it was said who is gone.
The worker is its child and writes down where it is in a page that both have.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
import time
from contextlib import suppress

from extensor.distributed.launchers import TEMPORARY_FAILURE, can_survive, own_name, started

_SIZE = 2048  # bytes
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG, of Linux
_PAUSE = 0.1  # seconds in which what was said reaches the launcher, before it sees an end
# By name, as Windows does not know all of them.
_ENDING = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")
_PASSED_ON = (*_ENDING, "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGCONT")


class _Page:
    """Who a worker is, where it is, and what to do if it is lost; empty when nothing is left to be said."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)  # a child shares it
        self._lines = ["", "start", ""]

    def write(self, line: int, text: str) -> None:
        self._lines[line] = text.replace("\n", " ")
        self._put("\n".join(self._lines))

    def clear(self) -> None:
        self._put("")

    def read(self) -> list[str]:
        """The three lines, or nothing."""
        text = self._memory[:].rstrip(b"\0").decode(errors="replace")
        return f"{text}\n\n".split("\n", 2) if text else []

    def _put(self, text: str) -> None:
        self._memory[:] = text.encode()[:_SIZE].ljust(_SIZE, b"\0")


_page: _Page | None = None  # of this worker, if it has such a parent


def is_called(name: str) -> None:
    """Note what errors call this worker."""
    if _page is not None:
        _page.write(0, name)


def is_at(place: str) -> None:
    """Note what this worker is at, such as a step."""
    if _page is not None:
        _page.write(1, place)


def can_go_on(advice: str) -> None:
    """Note what a user can do if this worker is lost."""
    if _page is not None:
        _page.write(2, advice)


def has_ended() -> None:
    """Note that this worker ends in order, or has itself said why it ends."""
    if _page is not None:
        _page.clear()


def supervise() -> None:
    """Go on in a child of this process, if a launcher has started several.

    This process waits for the child and ends as it did. Only Linux ends the child too when this one is
    killed; elsewhere, and for a process that is alone, nothing is done. There must be no threads yet.
    """
    global _page
    size = started(os.environ)
    if size == 1 or _page is not None or not sys.platform.startswith("linux"):
        return
    _page = _Page()
    sys.stdout.flush()
    sys.stderr.flush()
    this = os.getpid()
    child = os.fork()
    if child:
        _wait_for(child, _page)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != this:  # it was killed before
        os._exit(TEMPORARY_FAILURE)
    # A signal to a whole group would come twice, from its sender and from the parent.
    os.setpgid(0, 0)
    is_called(own_name(size))


def _wait_for(child: int, page: _Page) -> None:
    """End as the child does, and say so before if it has not."""
    came = _passing_on(child)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    said = page.read()
    was_asked = -code in came or any(getattr(signal, name) in came for name in _ENDING)
    if said and not was_asked and (code or said[1] != "start"):
        os.write(2, f"extensor: {_last_words(code, *said)}\n".encode())
        time.sleep(_PAUSE)
        if code == 0 or (code < 0 and not can_survive()):
            code = TEMPORARY_FAILURE
    if code < 0:
        with suppress(OSError):  # of SIGKILL, whose handler cannot be set
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def _last_words(code: int, name: str, place: str, advice: str) -> str:
    how = f"it ended with exit code {code}"
    if code < 0:
        how = f"ended by signal {-code}, {signal.strsignal(-code)}"
    go_on = f"; {advice.strip()}" if advice.strip() else ""
    return f"{name} is gone: {how} ({place}){go_on}"


def _passing_on(child: int) -> set[int]:
    """Pass signals on to the child; returns the set that they are noted in."""
    came: set[int] = set()

    def hear(number: int, _: object) -> None:
        came.add(number)
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for name in _PASSED_ON:
        signal.signal(getattr(signal, name), hear)
    return came
