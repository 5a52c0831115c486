"""Finding the other workers, if there are any, and leaving them in order."""

from __future__ import annotations

import atexit
import os
import socket
import sys
from typing import Any

from extensor.distributed import supervision
from extensor.distributed.launchers import (
    INTERRUPTED,
    TEMPORARY_FAILURE,
    own_name,
    own_rank,
    started,
)
from extensor.distributed.unlocked import initialize
from extensor.distributed.workers import DEADLINE, Alone, WorkerLostError, Workers, ended_after
from extensor.errors import value_error
from extensor.settings import get_num_threads, set_num_threads

_PAUSE = 1.0  # seconds
GRACE = 2.0  # seconds in which all workers meet an error if it is one that all have
_found: Workers | None = None


def workers() -> Workers:
    """The workers of this run, found when this is first called: by MPI if it has started any.

    >>> import extensor as ex
    >>> ex.distributed.workers()
    Alone(rank=0, size=1)
    """
    global _found
    if _found is None:
        _found = _joined(started(os.environ))
    return _found


def go_on_with(survivors: Workers) -> None:
    """Let :func:`workers` be those that are left."""
    global _found
    _found = survivors


def part() -> None:
    """Take leave of the other workers, when all are here; from now on this process is alone."""
    found = workers()
    found.place = "end"
    found.leave()
    go_on_with(Alone())


def _deadline() -> float:
    text = os.environ.get("EXTENSOR_DEADLINE", "")
    if not text:
        return DEADLINE
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < float("inf"):
        requirement = "must be seconds, more than 0"
        raise value_error("EXTENSOR_DEADLINE", requirement, EXTENSOR_DEADLINE=text)
    return seconds


def _joined(size: int) -> Workers:
    if size == 1:
        return Alone()
    deadline = _deadline()
    try:
        import mpi4py  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        requirement = (
            "mpi4py must be installed to train on several workers (pip install 'extensor[mpi]'; with "
            "EXTENSOR_ALONE=1 each trains by itself)"
        )
        raise value_error("distributed", requirement, workers=size or "some") from None
    mpi4py.rc.initialize = False
    mpi4py.rc.finalize = False
    # Nobody knows yet who is missing; but whoever is there says so before all end.
    text = f"{own_name(size)} is there, but not all others came within {deadline:g} s (start)"
    with ended_after(deadline, f"distributed: {text}", pause=_PAUSE):
        try:
            from mpi4py import MPI  # type: ignore[import-not-found, unused-ignore]

            if not MPI.Is_initialized():
                initialize(MPI)
        except (ImportError, RuntimeError) as error:
            text = " ".join(str(error).split())
            requirement = f"mpi4py must find an MPI library ({text})"
            raise value_error("distributed", requirement, workers=size or "some") from None
    from extensor.distributed.mpi import MPIWorkers

    found = MPIWorkers(MPI.COMM_WORLD.Dup(), deadline)
    least = size or int(own_rank() or 0) + 1
    if found.size < least or (size and found.size != size):
        requirement = (
            f"MPI must have {'' if size else 'at least '}{least} workers, as its launcher says (is "
            f"the launcher that of {MPI.get_vendor()[0]}, which mpi4py found? srun needs --mpi=pmix "
            "for Open MPI, --mpi=pmi2 for MPICH; with EXTENSOR_ALONE=1 each trains by itself)"
        )
        raise value_error("distributed", requirement, workers=found.size)
    _be_one_of(found)
    return found


def _be_one_of(found: Workers) -> None:
    host, process = socket.gethostname(), os.getpid()
    processors = sorted(getattr(os, "sched_getaffinity", lambda _: ())(0))
    told = found.gather(f"{host} {process} {processors}".encode(), "start")
    lines = [line.decode().split(" ", 2) for line in told]
    found.names = [
        f"worker {number} of {found.size} ({host}, process {process})"
        for number, (host, process, _) in enumerate(lines)
    ]
    supervision.is_called(found.names[found.rank])
    beside = sum(line[0] == host and line[2] == str(processors) for line in lines)
    if beside > 1 and "EXTENSOR_NUM_THREADS" not in os.environ:
        set_num_threads(max(1, get_num_threads() // beside))
    sys.excepthook = _ended_by
    atexit.register(_leave)


def _ended_by(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """An error that ends one worker ends all: the others would wait for it until their deadline."""
    found = workers()
    if isinstance(error, KeyboardInterrupt) and _has_left(found):
        if found.is_first:
            sys.__excepthook__(kind, error, trace)
        return
    sys.__excepthook__(kind, error, trace)
    if not isinstance(error, WorkerLostError):
        sys.stderr.write(f"extensor: that ended {found.names[found.rank]} ({found.place})\n")
    sys.stderr.flush()
    sys.stdout.flush()
    codes = {WorkerLostError: TEMPORARY_FAILURE, KeyboardInterrupt: INTERRUPTED}
    found.abort(next((code for kind, code in codes.items() if isinstance(error, kind)), 1))


def _has_left(found: Workers) -> bool:
    """Take leave of the others, if they end at the same time, as by a Ctrl-C that all have got."""
    found.place = "end"
    try:
        found.leave(patience=GRACE / found.deadline)
    except WorkerLostError:
        return False
    return True


def _leave() -> None:
    from mpi4py import MPI  # type: ignore[import-not-found, unused-ignore]

    found = workers()
    if MPI.Is_finalized():
        return
    found.place = "end"
    try:
        # Those who wait for this one elsewhere are to say so first.
        found.leave(patience=1.5)
    except WorkerLostError as error:
        sys.stderr.write(f"extensor: {error}\n")
        sys.stderr.flush()
        found.abort(TEMPORARY_FAILURE)
