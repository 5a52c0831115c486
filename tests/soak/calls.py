"""Drawn calls of everything that can be called: the process lives, and says in its own words what is wrong.

    PYTHONPATH=tests python -m soak.calls 1000000 --seed 7

Workers make the calls; this process watches them. A finding is a worker that dies, a call of more than
60 seconds, an input that changed, a warning, or an error whose text is not ours. Call ``n`` of a seed is
always the same call, so a finding is run again by ``--first n`` and a number of calls of 1.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

SECONDS = 60  # a busy machine may take ten for a call
STATUS = struct.Struct("q120s")  # the number of the call that runs, and its name


def environment() -> dict[str, str]:
    """Where a process of ours finds the tests' modules, whatever its folder."""
    paths = [str(Path(__file__).parents[1]), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


class Worker:
    """A process that makes every ``step``-th call, and what is known of it."""

    def __init__(self, folder: Path, seed: int, first: int, step: int, end: int) -> None:
        self.folder, self.seed, self.step, self.end = folder, seed, step, end
        self.start(first)

    def start(self, first: int) -> None:
        """Begin, or begin again after a call that ended the one before."""
        handle, name = tempfile.mkstemp(dir=self.folder)
        os.write(handle, STATUS.pack(first, b"start"))
        self.status = mmap.mmap(handle, STATUS.size)
        os.close(handle)
        self.log = Path(f"{name}.log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", "soak.worker", str(self.seed),
                 str(first), str(self.step), str(self.end), name],
                stdout=log, stderr=subprocess.STDOUT, cwd=self.folder, env=environment(),
            )  # fmt: skip
        self.seen, self.since = -1, time.monotonic()

    def look(self) -> dict[str, Any] | None:
        """A finding, if the call that runs has ended the process or does not end."""
        number, name = STATUS.unpack(self.status[:])
        now = time.monotonic()
        if number != self.seen:
            self.seen, self.since = number, now
        code = self.process.poll()
        if code == 0:
            return None
        if code is None:
            # The first status is that of the imports.
            if now - self.since < SECONDS * (3 if name.startswith(b"start") else 1):
                return None
            self.process.send_signal(signal.SIGABRT)  # faulthandler shows where it is
            self.process.wait()
        said = self.log.read_text(errors="replace").strip().splitlines()
        if name.startswith(b"start"):
            raise RuntimeError(f"worker does not start: {said[-1:]}")
        found = {
            "number": number,
            "name": name.rstrip(b"\0").decode(),
            "kind": "hang" if code is None else f"crash ({code})",
            "place": next((x.strip() for x in said if "File" in x), ""),
            "text": " | ".join(said[:12]),
        }
        self.start(number + self.step)
        return found


def run(seed: int, calls: int, first: int, workers: int) -> tuple[int, list[dict[str, Any]]]:
    """The number of calls made, and what was found."""
    findings = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        end = first + calls
        crew = [Worker(folder, seed, first + i, workers, end) for i in range(min(workers, calls))]
        while any(worker.process.poll() is None for worker in crew):
            time.sleep(0.05)
            findings += [found for worker in crew if (found := worker.look()) is not None]
        for report in folder.glob("*.found"):
            findings += [json.loads(line) for line in report.read_text().splitlines()]
    return calls, findings


def report(findings: list[dict[str, Any]]) -> None:
    """One of each kind, with how often it was found."""
    kinds = Counter((x["kind"], x["name"], x["place"]) for x in findings)
    shown = set()
    for found in sorted(findings, key=lambda x: (x["kind"], x["name"])):
        key = (found["kind"], found["name"], found["place"])
        if key not in shown:
            shown.add(key)
            print(
                f"{found['kind']}: {found['name']} at {found['place']}, {kinds[key]} times;",
                end=" ",
            )
            print(f"call {found['number']}: {found['text']}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="soak.calls", description=__doc__.split("\n")[0])
    parser.add_argument("calls", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    print(f"soak.calls: {given.calls} calls, seed {given.seed}", flush=True)
    calls, findings = run(given.seed, given.calls, given.first, given.workers)
    report(findings)
    print(f"soak.calls: {calls} calls, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
