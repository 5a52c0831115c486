"""Finding the other workers, if there are any, and leaving them in order."""

from __future__ import annotations

import atexit
import os
import socket
import sys
from typing import Any

from extensor.distributed import supervision
from extensor.distributed.supervision import ended_after, reserve_thread
from extensor.distributed.workers import (
    DEADLINE,
    INTERRUPTED,
    TEMPORARY_FAILURE,
    Alone,
    WorkerLostError,
    Workers,
    own_name,
    own_rank,
    started,
)
from extensor.errors import value_error
from extensor.settings import get_num_threads, set_num_threads

_PAUSE = 1.0  # seconds
GRACE = 2.0  # seconds in which all workers meet an error if it is one that all have
_joined_workers: Workers | None = None


def workers() -> Workers:
    """Return the workers of this run.

    The first call finds them: if MPI has started several processes (``mpiexec -n 4 python
    train.py``), it connects to them, waits until all are there, and divides the threads of a
    machine among its workers. Later calls return the same object.

    Returns
    -------
    Workers
        This process among the workers; ``Alone``, of size 1, if no launcher started several.

    Raises
    ------
    ValueError
        If a launcher started several processes but mpi4py or its MPI library is missing or does not
        see all of them, or if ``EXTENSOR_DEADLINE`` is not a number of seconds greater than 0.

    Notes
    -----
    These environment variables are read at the first call:

    - ``EXTENSOR_DEADLINE``: seconds that any wait for another worker may take, 300 by default.
      After it the worker that did not answer is named and all end with exit code 75.
    - ``EXTENSOR_ALONE=1``: each process trains by itself.
    - ``EXTENSOR_NUM_THREADS``: threads of each worker. Default: its share of the processors.

    On several workers an error that ends one of them ends all, and names the worker. When the
    program ends, the workers wait for each other.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.distributed.workers()
    Alone(rank=0, size=1)
    """
    global _joined_workers
    if _joined_workers is None:
        _joined_workers = _join(started(os.environ))
    return _joined_workers


def replace_workers(survivors: Workers) -> None:
    """Let :func:`workers` be those that are left."""
    global _joined_workers
    _joined_workers = survivors


def leave_workers() -> None:
    """Take leave of the other workers, when all are here; from now on this process is alone."""
    joined = workers()
    joined.place = "end"
    joined.leave()
    replace_workers(Alone())


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


def _join(size: int) -> Workers:
    if size == 1:
        return Alone()
    deadline = _deadline()
    try:
        import mpi4py  # type: ignore[import-not-joined, unused-ignore]
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
            from mpi4py import MPI  # type: ignore[import-not-joined, unused-ignore]

            from extensor.distributed.mpi import MPIWorkers, initialize

            if not MPI.Is_initialized():
                initialize()
        except (ImportError, RuntimeError) as error:
            text = " ".join(str(error).split())
            requirement = f"mpi4py must find an MPI library ({text})"
            raise value_error("distributed", requirement, workers=size or "some") from None
    joined = MPIWorkers(MPI.COMM_WORLD.Dup(), deadline)
    least = size or int(own_rank() or 0) + 1
    if joined.size < least or (size and joined.size != size):
        requirement = (
            f"MPI must have {'' if size else 'at least '}{least} workers, as its launcher says (is "
            f"the launcher that of {MPI.get_vendor()[0]}, which mpi4py found? srun needs --mpi=pmix "
            "for Open MPI, --mpi=pmi2 for MPICH; with EXTENSOR_ALONE=1 each trains by itself)"
        )
        raise value_error("distributed", requirement, workers=joined.size)
    _introduce(joined)
    return joined


def _introduce(joined: Workers) -> None:
    host, process = socket.gethostname(), os.getpid()
    processors = sorted(getattr(os, "sched_getaffinity", lambda _: ())(0))
    told = joined.gather(f"{host} {process} {processors}".encode(), "start")
    lines = [line.decode().split(" ", 2) for line in told]
    joined.names = [
        f"worker {number} of {joined.size} ({host}, process {process})"
        for number, (host, process, _) in enumerate(lines)
    ]
    supervision.is_called(joined.names[joined.rank])
    beside = sum(line[0] == host and line[2] == str(processors) for line in lines)
    if beside > 1 and "EXTENSOR_NUM_THREADS" not in os.environ:
        set_num_threads(max(1, get_num_threads() // beside))
    sys.excepthook = _end_by_error
    reserve_thread()
    atexit.register(_leave)


def _end_by_error(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """An error that ends one worker ends all: the others would wait for it until their deadline."""
    joined = workers()
    if isinstance(error, KeyboardInterrupt) and _has_left(joined):
        if joined.is_first:
            sys.__excepthook__(kind, error, trace)
        return
    sys.__excepthook__(kind, error, trace)
    if not isinstance(error, WorkerLostError):
        sys.stderr.write(f"extensor: that ended {joined.names[joined.rank]} ({joined.place})\n")
    sys.stderr.flush()
    sys.stdout.flush()
    codes = {WorkerLostError: TEMPORARY_FAILURE, KeyboardInterrupt: INTERRUPTED}
    joined.abort(next((code for kind, code in codes.items() if isinstance(error, kind)), 1))


def _has_left(joined: Workers) -> bool:
    """Take leave of the others, if they end at the same time, as by a Ctrl-C that all have got."""
    joined.place = "end"
    try:
        joined.leave(patience=GRACE / joined.deadline)
    except WorkerLostError:
        return False
    return True


def _leave() -> None:
    from mpi4py import MPI  # type: ignore[import-not-joined, unused-ignore]

    joined = workers()
    if MPI.Is_finalized():
        return
    joined.place = "end"
    try:
        # Those who wait for this one elsewhere are to say so first.
        joined.leave(patience=1.5)
    except WorkerLostError as error:
        sys.stderr.write(f"extensor: {error}\n")
        sys.stderr.flush()
        joined.abort(TEMPORARY_FAILURE)
