"""Groups of workers that run programs one after another, watched from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from mpi.running import environment, launcher

from programs.outcomes import Outcome
from programs.worker import outcome_path

WORKER = str(Path(__file__).resolve().parent / "worker.py")
DEADLINE = "20"  # seconds that a worker waits for another
LIMIT = 90.0  # seconds that a program may take, compiling included


def run_jobs(folder: Path, jobs: Sequence[str], size: int) -> dict[str, list[Outcome]]:
    """What became of each job on each of ``size`` workers; one runs without MPI."""
    (folder / "jobs.json").write_text(json.dumps(list(jobs)))
    found: dict[str, list[Outcome]] = {}
    first = 0
    while first < len(jobs):
        paths = [outcome_path(folder, size, rank, first) for rank in range(size)]
        for path in paths:
            path.unlink(missing_ok=True)  # of jobs before these
        ending = _run_group(folder, size, first)
        known = [_read(path) for path in paths]
        for job in jobs[first:]:
            first += 1
            found[job] = [outcomes[job] for outcomes in known if job in outcomes]
            all_finished = all(outcome.kind == "finished" for outcome in found[job])
            if len(found[job]) == size and (all_finished or size == 1):
                continue
            if all_finished:
                found[job].append(Outcome("failed", text=ending or "a worker ended silently"))
            break
    return found


def _read(path: Path) -> dict[str, Outcome]:
    found = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        entries = json.loads(line)
        job = entries.pop("job")
        found[job] = Outcome(**entries)
    return found


def _run_group(folder: Path, size: int, first: int) -> str:
    """Start workers at job number ``first``; returns how they ended, if that was not by themselves."""
    start = launcher(size) if size > 1 else []
    log = folder / f"log-{size}.txt"
    environ = environment() | {"EXTENSOR_DEADLINE": DEADLINE}
    environ |= {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_backend_optimization_level=0"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*start, sys.executable, WORKER, str(folder), str(first)],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            is_late = _wait(process, outcome_path(folder, size, 0, first))
        finally:
            if process.poll() is None:  # as after Ctrl-C
                os.killpg(process.pid, signal.SIGKILL)
    if is_late:
        return f"did not end within {LIMIT:g} s"
    if process.returncode == 0:
        return ""
    last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return f"exit code {process.returncode}: {' | '.join(last[-6:])}"


def _wait(process: subprocess.Popen[bytes], progress: Path) -> bool:
    """Wait for the end; end the group and return True if no job is done for too long."""
    size, since = -1, time.monotonic()
    while process.poll() is None:
        now = progress.stat().st_size if progress.exists() else 0
        if now != size:
            size, since = now, time.monotonic()
        if time.monotonic() - since > LIMIT:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.05)
    return False
