"""A parent for each worker, which waits for it and says how it ended.

When one worker is killed, a launcher may end all others within milliseconds and name none of them, or
another one: MPICH's does. With this parent the launcher has nothing to see until it was said who is gone.
The worker is its child and writes down where it is in a page that both have. The parent has a parent of
the same kind, which speaks if worker and parent are killed together.
"""

from __future__ import annotations

import atexit
import ctypes
import mmap
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, NoReturn

from extensor.distributed.workers import (
    INTERRUPTED,
    TEMPORARY_FAILURE,
    can_survive,
    own_name,
    started,
)

_SIZE = 2048  # bytes of a text
_IN_MPI, _IN_ORDER = _SIZE, _SIZE + 1  # places of flags behind the text
_PARENTS = 2  # above each worker
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG, of Linux
_PAUSE = 0.1  # seconds in which what was said reaches the launcher, before it sees an end
_OTHERS_FIRST = 1.0  # seconds, in which one is named that may have brought this worker down
# They cannot be waited for, or say that this very process is broken.
_NOT_WAITED_FOR = (
    "SIGKILL", "SIGSTOP", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS"
)  # fmt: skip


class _Page:
    """Who a worker is, where it is, and what to do if it is lost; empty when nothing is left to be said."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE + 2)  # a child shares it
        self._lines = ["", "start", ""]

    def write(self, line: int, text: str) -> None:
        self._lines[line] = text.replace("\n", " ")
        self._put("\n".join(self._lines))

    def clear(self) -> None:
        self._put("")

    def read(self) -> list[str]:
        """The three lines, or nothing."""
        text = self._memory[:_SIZE].rstrip(b"\0").decode(errors="replace")
        return f"{text}\n\n".split("\n", 2) if text else []

    def _put(self, text: str) -> None:
        self._memory[:_SIZE] = text.encode(errors="replace")[:_SIZE].ljust(_SIZE, b"\0")

    @property
    def is_in_mpi(self) -> bool:
        """Whether the worker is in a call of MPI, which may end it when others are gone."""
        return self._memory[_IN_MPI] != 0

    @is_in_mpi.setter
    def is_in_mpi(self, value: bool) -> None:
        self._memory[_IN_MPI] = value

    @property
    def is_in_order(self) -> bool:
        """Whether Python ended the worker, by its last line, an error or ``sys.exit``.

        ``os._exit`` and the ``exit`` of C skip that, and with it all that tells the others.
        """
        return self._memory[_IN_ORDER] != 0

    def note_exit(self, worker: int) -> None:
        """Note that Python ends process ``worker``; its forked children may end as they like."""
        if os.getpid() == worker:
            self._memory[_IN_ORDER] = True


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


class _Calling:
    """Within the block this worker is in a call of MPI."""

    def __enter__(self) -> None:
        if _page is not None:
            _page.is_in_mpi = True

    def __exit__(self, *_: object) -> None:
        if _page is not None:
            _page.is_in_mpi = False


calling_mpi = _Calling()


def has_ended() -> None:
    """Note that this worker ends in order, or has itself said why it ends."""
    global _page
    if _page is not None:
        _page.clear()
        _page = None


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
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # it may be closed
            stream.flush()
    waited_for = signal.valid_signals() - {getattr(signal, name) for name in _NOT_WAITED_FOR}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited_for)
    on_child = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, nobody could wait for it
    for _ in range(_PARENTS):
        _go_on_in_child(_page, waited_for)
    signal.signal(signal.SIGCHLD, on_child)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    # Registered first, it runs last: whoever takes leave of the others has done so by then.
    atexit.register(_page.note_exit, os.getpid())


def _go_on_in_child(page: _Page, waited_for: set[signal.Signals]) -> None:
    """Fork: this process waits for the child and ends as it does, the child returns."""
    this = os.getpid()
    child = os.fork()
    if child:
        _end_as(_waited(child, waited_for), page)
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != this:  # it was killed before
        os._exit(TEMPORARY_FAILURE)
    page.write(0, own_name(started(os.environ)))


class _End(NamedTuple):
    """The exit code of a worker, or less than 0 the signal that ended it, and signals that came."""

    code: int
    came: set[int]

    @property
    def was_asked_for(self) -> bool:
        """Whether it ended by a signal that this process has got too."""
        return -self.code in self.came or self.code - 128 in self.came


def _waited(child: int, waited_for: set[signal.Signals]) -> _End:
    """Wait for the child, and pass on what somebody sends to this process alone.

    Launchers and terminals send their signals to the whole group of processes, so the child has them.
    """
    came: set[int] = set()
    launcher = _launcher()
    while True:
        news = signal.sigwaitinfo(waited_for)
        if news.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                came |= signal.sigpending()
                return _End(os.waitstatus_to_exitcode(status), came)
            continue
        came.add(news.si_signo)
        if news.si_pid not in (0, launcher):
            os.kill(child, news.si_signo)


def _launcher() -> int:
    """The process that has made the group which this one is in, perhaps with a shell in between."""
    try:
        about = Path(f"/proc/{os.getpgrp()}/stat").read_text()
    except OSError:
        return os.getppid()
    return int(about.rpartition(")")[2].split()[1])


def _end_as(end: _End, page: _Page) -> NoReturn:
    """End as the child has, and say so before if it has not."""
    code, said = end.code, page.read()
    if said and not end.was_asked_for and (code or said[1] != "start"):
        if page.is_in_mpi and code != -signal.SIGKILL:
            time.sleep(_OTHERS_FIRST)
        with suppress(OSError):  # nobody may hear it
            os.write(2, f"extensor: {_last_words(code, *said)}\n".encode())
        page.clear()  # for the parent of this process
        time.sleep(_PAUSE)
        was_lost = code <= 0 or not page.is_in_order
        if was_lost and not (code < 0 and can_survive()):
            code = TEMPORARY_FAILURE
    if code == -signal.SIGINT:  # as Python ends after Ctrl-C, for launchers no fault then
        code = INTERRUPTED
    if code < 0:
        with suppress(OSError):  # of SIGKILL, whose handler cannot be set
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def _last_words(code: int, name: str, place: str, advice: str) -> str:
    how = f"it ended with exit code {code}"
    if code < 0:
        how = f"ended by signal {-code}, {signal.strsignal(-code)}"
    go_on = f"; {advice.strip()}" if advice.strip() else ""
    return f"{name} is gone: {how} ({place}){go_on}"


_waiting_calls: SimpleQueue[Callable[[], object]] = SimpleQueue()


def reserve_thread() -> None:
    """Start a thread for :func:`call_in_thread` when the interpreter ends.

    From Python 3.12 on, an interpreter that ends starts no thread, not even in ``atexit``. Threads that
    run already continue until the last exit function has returned.
    """

    def serve() -> None:
        while True:
            _waiting_calls.get()()

    threading.Thread(target=serve, daemon=True, name="extensor-exit").start()


def call_in_thread(function: Callable[[], object]) -> threading.Event:
    """Call ``function`` in a daemon thread, or in the reserved one if no other can be started.

    The event is set when the function has returned.
    """
    over = threading.Event()

    def call() -> None:
        try:
            function()
        finally:
            over.set()

    try:
        threading.Thread(target=call, daemon=True).start()
    except RuntimeError:
        _waiting_calls.put(call)
    return over


@contextmanager
def ended_after(seconds: float, text: str, pause: float = 0.0) -> Iterator[None]:
    """End this process if the block takes longer: for what cannot be asked whether it is over.

    ``text`` is said first; after it there is a ``pause``, so that others can say theirs.
    """

    is_over = threading.Event()

    def end() -> None:
        if is_over.wait(seconds):
            return
        os.write(2, f"extensor: {text}\n".encode())
        has_ended()
        time.sleep(pause)
        os._exit(TEMPORARY_FAILURE)

    call_in_thread(end)
    try:
        yield
    finally:
        is_over.set()
