"""The command as one of several workers: one of them speaks, and an error of one ends all."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NoReturn

from extensor.cli.wording import COMMAND
from extensor.distributed.joining import GRACE
from extensor.distributed.joining import workers as found_workers
from extensor.distributed.launchers import TEMPORARY_FAILURE, started
from extensor.distributed.supervision import can_go_on, has_ended, supervise
from extensor.distributed.workers import WorkerLostError
from extensor.errors import arguments, value_error
from extensor.train.experiments.runs import found_run
from extensor.train.signals import ENDING, Ended
from extensor_cli import ERRORS, error_text

# Done, mistakes in what was asked for, and the signals that users send.
_FINAL = (0, 1, 2, 129, 130, 141, 143)
_OF_DATA = ("target", "task", "window", "horizon")  # what a run that goes on knows by itself


def is_first() -> bool:
    """True for the worker that writes and shows what is the same for all."""
    return found_workers().is_first


def workers_said() -> str:
    """How many workers there are, if there are several."""
    size = found_workers().size
    return f"{size} workers, each " if size > 1 else ""


@contextmanager
def one_of_several(traceback: bool) -> Iterator[None]:
    """Let an error of one worker end all, and what all have be said once."""
    supervise()
    try:
        workers = found_workers()
    except Exception:
        has_ended()  # by an error that the command says
        raise
    if workers.size == 1:
        yield
        return
    try:
        yield
    except (KeyboardInterrupt, Ended) as end:
        if workers.is_first:
            raise
        raise SystemExit(end.code if isinstance(end, Ended) else 130) from None
    except ERRORS as error:
        if traceback:
            raise
        _end_by(error)
    except WorkerLostError as error:
        _say(str(error))
        found_workers().abort(TEMPORARY_FAILURE)


def _end_by(error: Exception) -> NoReturn:
    """End by an error: in order if all workers have one, which the first of them says."""
    workers = found_workers()
    workers.place = "end"
    text = error_text(error)
    if workers.is_first:
        _say(text)
    try:
        workers.leave(patience=GRACE / workers.deadline)
    except WorkerLostError:
        if not workers.is_first:
            _say(f"{text} ({workers.names[workers.rank]})")
        workers.abort(2)
    raise SystemExit(2)


def check_alone(command: str) -> None:
    """Refuse a command that several processes would all do, one beside the other."""
    count = started(os.environ) or found_workers().size
    if count > 1:
        requirement = (
            "must be run by one process (of the commands only train takes several workers)"
        )
        raise value_error(command, requirement, workers=count)


def _say(text: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"extensor train: {text}\n")
    sys.stderr.flush()


@contextmanager
def saying_how_to_go_on(run: str) -> Iterator[None]:
    """Add to the news of a lost worker what to do about it; ``run`` is written for a shell."""
    advice = f"go on with --resume {run}"
    can_go_on(advice)
    try:
        yield
    except WorkerLostError as error:
        raise WorkerLostError(f"{error}; {advice}", error.workers, error.is_gone) from None


@contextmanager
def told_by_first(
    make: Callable[[str | None], AbstractContextManager[Path]], name: str | None
) -> Iterator[Path]:
    """The folder that the first worker makes; the others do not write there."""
    workers = found_workers()
    if workers.is_first:
        with make(name) as path:
            workers.broadcast(str(path).encode(), "folder")
            yield path
    else:
        yield Path(workers.broadcast(None, "folder").decode())


def restarted(options: argparse.Namespace) -> int:
    """Let a launcher start the workers, and again while workers are lost. Returns the exit code."""
    if not options.launcher:
        requirement = "needs --launcher, which says how workers are started ('mpiexec -n 4')"
        raise value_error("--restarts", requirement, restarts=options.restarts)
    restarts = arguments.integer("--restarts", "restarts", options.restarts or 0, 0)
    # Without -P a file numpy.py in the working folder would be imported instead of NumPy.
    start = [sys.executable, "-P", "-m", "extensor_cli", *_given(options, "traceback"), "train"]
    start += _given(options, "live", "print_config", "trust")
    if options.resume is None:
        name = options.name or time.strftime("%Y-%m-%d_%H-%M-%S")
        run = f"runs/{name}"
        file = ["--", options.config] if options.config else []
        begin = [f"--name={name}", *_given(options, "set", "device", *_OF_DATA), *file]
        # The run is the one that this command began: what it names was named here.
        go_on = [f"--resume={run}", *([] if options.trust else [COMMAND.trust])]
    else:
        run = options.resume
        begin = [f"--resume={run}", *_given(options, "set", "device", "checkpoint")]
        go_on = [f"--resume={run}", *_given(options, "set", "device")]
    command = [*start, *begin]
    for attempt in range(restarts + 1):
        launcher = options.launcher[min(attempt, len(options.launcher) - 1)]
        code, came = _launched([*shlex.split(launcher), *command])
        if came and code:  # an end that was asked for, whatever the launcher makes of it
            return 128 + came
        if code in _FINAL or attempt == restarts:
            break
        _say(f"attempt {attempt + 1} of {restarts + 1} ended with exit code {code}")
        if _has_begun(run):
            command = [*start, *go_on]
    return code if 0 <= code < 256 else TEMPORARY_FAILURE


def _launched(command: list[str]) -> tuple[int, int]:
    """The exit code of a command that may save and end in order when a signal comes, and the signal.

    Signals are passed on, but for the Ctrl-C of a terminal, which sends it to the command too.
    """
    process: subprocess.Popen[bytes] | None = None
    came = 0

    def hear(number: int, _: object) -> None:
        nonlocal came
        came = number
        if process is not None and not (number == signal.SIGINT and _is_in_front()):
            process.send_signal(number)

    # Before the command is started: it could be told to end at once.
    before = {number: signal.signal(number, hear) for number in (*ENDING, signal.SIGINT)}
    try:
        process = subprocess.Popen(command)
        if came:
            process.send_signal(came)
        return process.wait(), came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_in_front() -> bool:
    """True if there is a terminal whose Ctrl-C this process gets."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _given(options: argparse.Namespace, *names: str) -> list[str]:
    """Options as they were given on the command line."""
    found = []
    for name in names:
        value, word = getattr(options, name), f"--{name.replace('_', '-')}"
        if isinstance(value, list):
            found += [f"{word}={each}" for each in value]
        elif value is True or value == "":
            found.append(word)
        elif value is not None and value is not False:
            found.append(f"{word}={value}")
    return found


def _has_begun(run: str) -> bool:
    """True if there is something to go on with; else what was asked for is asked again."""
    try:
        return found_run(run).is_run()
    except (ValueError, OSError):
        return False
