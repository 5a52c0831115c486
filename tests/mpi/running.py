"""Starting workers for tests: launchers, their environment, and what became of a run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

HERE = Path(__file__).resolve().parent
PROGRAM = str(HERE / "training.py")
DEADLINE = 8.0


def is_mpich(python: str = sys.executable) -> bool:
    """True if the mpiexec beside ``python`` is MPICH's, otherwise it is Open MPI's."""
    mpiexec = str(Path(python).with_name("mpiexec"))
    about = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=True)
    return "hydra" in about.stdout.lower()


def launcher(workers: int, python: str = sys.executable, ulfm: bool = False) -> list[str]:
    """The mpiexec beside ``python``, and what it needs to be told."""
    mpiexec = str(Path(python).with_name("mpiexec"))
    own = [] if is_mpich(python) else ["--oversubscribe"]
    return [mpiexec, *own, *(["--with-ft", "ulfm"] if ulfm else []), "-n", str(workers)]


def environment() -> dict[str, str]:
    found = os.environ | {"EXTENSOR_NUM_THREADS": "1"}
    found |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return {"EXTENSOR_DEADLINE": str(DEADLINE), **found, "PYTHONWARNINGS": "ignore"}


@dataclass
class Outcome:
    """The exit code, the lines with the time at which each came, and how long it took."""

    code: int
    lines: list[tuple[float, str]]
    seconds: float
    was_ended: bool = False  # by the test, as the launcher did not end

    @property
    def text(self) -> str:
        return "".join(line for _, line in self.lines)

    @property
    def digest(self) -> str:
        """Of the last checkpoint, if the run came to its end."""
        found = re.search(r"digest (\w+)", self.text)
        return found[1] if found else ""


def run(command: list[str], limit: float = 120.0, after: str = "", grace: float = 15.0) -> Outcome:
    """Run to the end; what does not end by itself is ended with all that it started.

    When a line has matched ``after``, only ``grace`` seconds are left for that.
    """
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    lines: list[tuple[float, str]] = []

    def read() -> None:
        lines.extend((time.time(), line.decode(errors="replace")) for line in process.stdout or ())

    reader = Thread(target=read, daemon=True)
    reader.start()
    until = begin + limit
    is_noticed = was_ended = False
    while process.poll() is None:
        if after and not is_noticed and any(re.search(after, line) for _, line in lines):
            is_noticed, until = True, min(until, time.monotonic() + grace)
        if time.monotonic() > until:
            was_ended = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(0.02)
    reader.join(5.0)
    if not reader.is_alive():  # otherwise somebody who was left behind has it open
        process.stdout.close()
    return Outcome(process.returncode, lines, time.monotonic() - begin, was_ended)


def trained(start: list[str], python: str, folder: str, *words: str, **options: float) -> Outcome:
    """The program of these tests under a launcher; an empty one is none."""
    program = [python, "-m", "extensor.distributed", PROGRAM]
    return run([*start, *program, folder, *words], **options)  # type: ignore[arg-type]
