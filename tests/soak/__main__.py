"""Runs the families of the soak one after the other: ``make soak``, or ``python -m soak NAMES``.

A family is a module of this package with a ``main``. It takes a number of calls and ``--seed``, prints
what it finds, and ends with 1 if that is anything.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from soak.calls import environment

HERE = Path(__file__).parent
MAIN = re.compile(r"^def main\(", re.MULTILINE)


class Outcome(NamedTuple):
    """How one family ended."""

    name: str
    code: int | None  # None: it was still running when the time was up
    seconds: float


def families() -> list[str]:
    """The modules here that can be run by themselves."""
    return sorted(path.stem for path in HERE.glob("[!_]*.py") if MAIN.search(path.read_text()))


def run(name: str, arguments: list[str], seconds: float) -> Outcome:
    """One family in a process of its own, which is ended with all that it started."""
    begin = time.monotonic()
    command = [sys.executable, "-m", f"soak.{name}", *arguments]
    process = subprocess.Popen(command, start_new_session=True, env=environment())
    try:
        code: int | None = process.wait(max(0.0, seconds))
    except subprocess.TimeoutExpired:
        code = None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return Outcome(name, code, time.monotonic() - begin)


def main(arguments: list[str] | None = None) -> int:
    known = families()
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.split("\n")[0])
    parser.add_argument("families", nargs="*", help=f"of {', '.join(known)}; all unless told")
    parser.add_argument("--calls", type=int, help="of each family, instead of its own number")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--minutes", type=float, default=60.0, help="for all of them together")
    given = parser.parse_args(arguments)
    unknown = sorted({*given.families} - {*known})
    if unknown:
        parser.error(f"families must be of {', '.join(known)}, got {', '.join(unknown)}")
    end = time.monotonic() + 60 * given.minutes
    outcomes = []
    for name in given.families or known:
        options = [*([str(given.calls)] if given.calls else []), "--seed", str(given.seed)]
        outcomes.append(run(name, options, end - time.monotonic()))
    print()
    said = {0: "nothing found", 1: "found something", None: "did not end in time"}
    for name, code, seconds in outcomes:
        print(f"{name}: {said.get(code, f'ended with {code}')}, {seconds:.0f} s, seed {given.seed}")
    return int(any(outcome.code != 0 for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
