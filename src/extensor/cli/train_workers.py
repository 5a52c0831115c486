"""``extensor train`` by several workers: one of them prints, an error of one ends all, restarts."""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from extensor.cli.shared_options import COMMAND, DATA_OPTIONS, new_run
from extensor.distributed.rendezvous import GRACE
from extensor.distributed.rendezvous import workers as join_workers
from extensor.distributed.supervision import can_go_on, has_ended, supervise
from extensor.distributed.workers import TEMPORARY_FAILURE, WorkerLostError, Workers, started
from extensor.errors import arguments, value_error
from extensor.experiments.stored_runs import find_run
from extensor.train.fit_loop import ENDING, Ended
from extensor_cli import ERRORS, error_text

# Done, mistakes in what was asked for, and the signals that users send.
_FINAL = (0, 1, 2, 129, 130, 141, 143)
# Options that launch_workers treats itself; workers are given all others.
_NOT_PASSED_ON = {"command", "traceback", "launcher", "restarts", "config"}


@contextmanager
def joined_workers(traceback: bool) -> Iterator[Workers]:
    """The workers of the command. An error of one ends all; an error that all have is printed once."""
    if started(os.environ) == 1:
        yield join_workers()
        return
    supervise()
    try:
        workers = join_workers()
    except Exception:
        has_ended()  # by an error that the command prints
        raise
    if workers.size == 1:
        yield workers
        return
    try:
        yield workers
    except (KeyboardInterrupt, Ended) as end:
        if workers.is_first:
            raise
        raise SystemExit(end.code if isinstance(end, Ended) else 130) from None
    except ERRORS as error:
        if traceback:
            raise
        _end_by(error)
    except WorkerLostError as error:
        _print_error(str(error))
        join_workers().abort(TEMPORARY_FAILURE)  # those that are left, if some were lost before


def _end_by(error: Exception) -> NoReturn:
    """End by an error: in order if all workers have one, which the first of them prints."""
    workers = join_workers()
    workers.place = "end"
    text = error_text(error)
    if workers.is_first:
        _print_error(text)
    try:
        workers.leave(patience=GRACE / workers.deadline)
    except WorkerLostError:
        if not workers.is_first:
            _print_error(f"{text} ({workers.names[workers.rank]})")
        workers.abort(2)
    raise SystemExit(2)


def check_alone(command: str) -> None:
    """Refuse a command that each of several processes would repeat."""
    count = started(os.environ) or join_workers().size
    if count > 1:
        requirement = (
            "must be run by one process (of the commands only train takes several workers)"
        )
        raise value_error(command, requirement, workers=count)


def _print_error(text: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"extensor train: {text}\n")
    sys.stderr.flush()


@contextmanager
def advice_on_loss(workers: Workers, run: str) -> Iterator[None]:
    """Add to the error of a lost worker how to resume; ``run`` is quoted for a shell."""
    advice = f"continue with --resume {run}"
    if workers.size > 1:
        can_go_on(advice)
    try:
        yield
    except WorkerLostError as error:
        raise WorkerLostError(f"{error}; {advice}", error.workers, error.is_gone) from None


@contextmanager
def folder_of_first(workers: Workers, name: str | None) -> Iterator[Path]:
    """The folder of a new run that the first worker creates; the others only learn its name."""
    if workers.is_first:
        with new_run(name) as path:
            workers.broadcast(str(path).encode(), "folder")
            yield path
    else:
        yield Path(workers.broadcast(None, "folder").decode())


def launch_workers(options: argparse.Namespace) -> int:
    """Start the workers by a launcher, and again while workers are lost. Returns the exit code."""
    if not options.launcher:
        requirement = "needs --launcher, which says how workers are started ('mpiexec -n 4')"
        raise value_error("--restarts", requirement, restarts=options.restarts)
    restarts = arguments.integer("--restarts", "restarts", options.restarts or 0, 0)
    # Without -P a file numpy.py in the working folder would be imported instead of NumPy.
    start = [sys.executable, "-P", "-m", "extensor_cli"]
    start += [*(["--traceback"] if options.traceback else []), "train"]
    passed = vars(options).keys() - _NOT_PASSED_ON
    # A run that has begun has a name, data and a checkpoint of its own.
    resuming = _as_arguments(options, passed - {"name", "resume", "checkpoint", *DATA_OPTIONS})
    if options.resume is None:
        options.name = options.name or time.strftime("%Y-%m-%d_%H-%M-%S")
        # This command begins the run, so the functions that it names are named here.
        resuming += [] if options.trust else [COMMAND.trust]
    run = options.resume or f"runs/{options.name}"
    file = ["--", options.config] if options.config else []
    command = [*start, *_as_arguments(options, passed), *file]
    for attempt in range(restarts + 1):
        launcher = options.launcher[min(attempt, len(options.launcher) - 1)]
        code, came = _run_launcher([*shlex.split(launcher), *command])
        if came and code:  # a signal asked for the end, whatever code the launcher returns
            return 128 + came
        if code in _FINAL or attempt == restarts:
            break
        _print_error(f"attempt {attempt + 1} of {restarts + 1} ended with exit code {code}")
        if _has_begun(run):
            command = [*start, f"--resume={run}", *resuming]
    return code if 0 <= code < 256 else TEMPORARY_FAILURE


def _run_launcher(command: list[str]) -> tuple[int, int]:
    """Run a command to its end. Returns its exit code, and the signal that came, or 0.

    Signals are passed on, so that the command saves and ends in order; not the Ctrl-C of a terminal,
    which the command gets itself.
    """
    process: subprocess.Popen[bytes] | None = None
    came = 0

    def pass_on(number: int, _: object) -> None:
        nonlocal came
        came = number
        if process is not None and not (number == signal.SIGINT and _owns_terminal()):
            process.send_signal(number)

    # Before the command is started: a signal may come at once.
    before = {number: signal.signal(number, pass_on) for number in (*ENDING, signal.SIGINT)}
    try:
        process = subprocess.Popen(command)
        if came:
            process.send_signal(came)
        return process.wait(), came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _owns_terminal() -> bool:
    """True if there is a terminal whose Ctrl-C this process gets."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def _as_arguments(options: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Options as arguments of a command again."""
    words: list[str] = []
    for name in sorted(names):
        value, option = getattr(options, name), f"--{name.replace('_', '-')}"
        if isinstance(value, list):
            words += [f"{option}={each}" for each in value]
        elif value is True or value == "":
            words.append(option)
        elif value is not None and value is not False:
            words.append(f"{option}={value}")
    return words


def _has_begun(run: str) -> bool:
    """True if there is a run to resume; otherwise the first command is repeated."""
    try:
        return find_run(run).is_run()
    except (ValueError, OSError):
        return False
