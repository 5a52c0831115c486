"""Trials of a sweep in processes side by side, all of which end with the one that started them."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from extensor.cli.shared_options import COMMAND
from extensor.experiments.sweeps import Sweep
from extensor.io.regular_files import check_own_folder, file_text, open_own
from extensor.report import write_report
from extensor.train.fit_loop import Ended

_PAUSE = 0.03  # seconds between two looks at the processes
_ORDERLY = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # which end a command in order
_PREFIX = "extensor sweep: "


class Job(NamedTuple):
    """A command, the number it is known by, and the file that its output is added to."""

    number: int
    command: Sequence[str]
    output: Path


def run_side_by_side(
    jobs: Iterable[Job],
    most: int,
    environment: Mapping[str, str],
    done: Callable[[int, int], None],
) -> None:
    """Run ``most`` of the jobs at a time; ``done`` is called with the number and exit code of each.

    A signal to end, here or in one of them, ends all of them in order; a second Ctrl-C at once.
    """
    waiting = list(reversed(list(jobs)))
    running: dict[int, subprocess.Popen[bytes]] = {}

    try:
        while waiting or running:
            while waiting and len(running) < most:
                job = waiting.pop()
                running[job.number] = _start(job, environment)
            time.sleep(_PAUSE)
            for number, process in list(running.items()):
                code = process.poll()
                if code is not None:
                    del running[number]
                    _close(process)
                    _raise_if_ended(code)
                    done(number, code)
    except BaseException:
        _end(running.values())
        for number, process in running.items():
            if process.returncode == 0:
                done(number, 0)
        raise


def _start(job: Job, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    check_own_folder(job.output.parent)
    job.output.parent.mkdir(parents=True, exist_ok=True)
    with open(job.output, "ab", opener=open_own) as output:
        return subprocess.Popen(
            job.command,
            stdin=subprocess.PIPE,  # never written to: its end is the end of this process
            stdout=output,
            stderr=output,
            env=environment,
            start_new_session=True,  # Ctrl-C comes to this process, which then ends them
        )


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()


def _raise_if_ended(code: int) -> None:
    # A job that a signal ended has not failed: somebody ends all processes, this one will be next.
    for number in _ORDERLY:
        if code in (-number, 128 + number):
            raise Ended(number)


def _end(processes: Iterable[subprocess.Popen[bytes]]) -> None:
    left = list(processes)
    try:
        for process in left:
            process.terminate()
        for process in left:
            process.wait()
    except BaseException:
        for process in left:
            process.kill()
        for process in left:
            process.wait()
        raise
    finally:
        for process in left:
            _close(process)


def end_with_parent() -> None:
    """In a job: end in order, as after SIGTERM, when the process that started it is gone."""
    if select.select([0], [], [], 0)[0]:
        raise Ended(signal.SIGTERM)
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    with suppress(OSError):
        os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def failure_text(code: int, output: Path) -> str:
    """Why a job failed: the last line of its output, or the signal that ended it."""
    if code < 0:
        try:
            return f"ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"ended by signal {-code}"
    lines = file_text(output, errors="replace").strip().splitlines()
    return lines[-1].removeprefix(_PREFIX) if lines else f"ended with code {code}"


def run_trial(sweep: Sweep, number: int, epochs: int, trust: bool) -> None:
    """Train a trial until ``epochs`` epochs are over, from where it was left.

    Its configuration has all the epochs, so that the schedule is that of the whole run, and a trial
    that is resumed comes to the same bits as one that was never stopped. It does not touch the test
    data, which are for the best trial alone.
    """
    try:
        end_with_parent()
        sweep.opened(number, trust, COMMAND).train_until(epochs)
        write_report(sweep.trial(number))
    except Ended as end:
        raise Ended(end.signal, f"trial {number} ended by {end.signal.name}") from None
