"""One of the processes that run programs one after another.

    mpiexec -n 2 python tests/programs/worker.py FOLDER FIRST

FOLDER has ``jobs.json``, a list of names of programs. Each worker adds a line for each job to a file of
its own. A program that raises ends a group of several workers, as it would end a program that was started
by itself: messages that it left under way must not reach the next one. Whoever started the group starts
another one after that job.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import extensor as ex
from programs.backend import BACKEND
from programs.outcomes import Outcome, run_program, seed_all

GRACE = 2.0  # seconds in which the other workers raise too, if all do


class RefusedError(Exception):
    """Ends all workers of a group."""


def outcome_path(folder: Path, size: int, rank: int, first: int) -> Path:
    """Where worker ``rank`` of a group writes what became of the jobs from number ``first`` on."""
    return folder / f"outcomes-{size}-{first}-{rank}.jsonl"


def main() -> None:
    folder, first = Path(sys.argv[1]), int(sys.argv[2])
    workers = ex.distributed.workers()
    jobs = json.loads((folder / "jobs.json").read_text())
    if BACKEND == "xla" and any("-compiled" in name for name in jobs):
        import_module("jax")  # which draws from NumPy's generator: before any program seeds it
    for number in range(first, len(jobs)):
        name = jobs[number]
        outcome = _run(folder, name, workers.size, workers.rank)
        if outcome.kind != "finished" and workers.size > 1:
            outcome.alone = not _others_raised(folder, name, workers)
        line = json.dumps({"job": name, **outcome.as_dict()})
        with outcome_path(folder, workers.size, workers.rank, first).open("a") as file:
            file.write(line + "\n")
        if outcome.kind != "finished" and workers.size > 1:
            raise RefusedError(outcome.text)


def _run(folder: Path, name: str, size: int, rank: int) -> Outcome:
    seed_all()
    os.environ["PROGRAM_FOLDER"] = str(folder / f"run-{size}" / name.removesuffix("-again"))
    outcome, tensors = run_program(folder / f"{name}.py")
    if tensors and rank == 0:
        np.savez(folder / f"{name}-{size}.npz", **tensors)
    return outcome


def _others_raised(folder: Path, name: str, workers: ex.distributed.Workers) -> bool:
    """Say that this worker raised; True if all others do so within a moment."""
    marks = [folder / f"raised-{name}-{workers.size}-{rank}" for rank in range(workers.size)]
    marks[workers.rank].touch()
    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        if all(mark.exists() for mark in marks):
            return True
        time.sleep(0.01)
    return False


if __name__ == "__main__":
    main()
