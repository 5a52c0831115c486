"""Workers that MPI has started. MPI moves bytes here; no sum is left to it, and nothing is pickled.

Every wait is a loop that asks MPI and looks at the clock: MPI alone would wait for ever for a worker
that was stopped, or behind a link that was cut.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from mpi4py import MPI  # type: ignore[import-not-found, unused-ignore]

from extensor.distributed import supervision
from extensor.distributed.supervision import call_in_thread, ended_after
from extensor.distributed.workers import Transfer, WorkerLostError, Workers, can_survive

_LENGTH, _CONTENT, _FINAL = 0, 1, 2  # tags of what is gathered; those of transfers are higher
FIRST_TAG = 3
_PATIENT = 20  # questions before the first pause
_SHORTEST, _LONGEST = 2e-5, 1e-3  # seconds
_LAST = 5.0  # seconds in which MPI usually ends


class MPIWorkers(Workers):
    """The processes of an MPI communicator."""

    can_survive: ClassVar[bool] = can_survive()

    def __init__(self, communicator: Any, deadline: float) -> None:
        super().__init__(communicator.Get_rank(), communicator.Get_size(), deadline)
        communicator.Set_errhandler(MPI.ERRORS_RETURN)
        self.communicator = communicator
        self.has_lost = False  # whether there were more of them before
        self.last_tag = int(MPI.COMM_WORLD.Get_attr(MPI.TAG_UB) or self.last_tag) - FIRST_TAG

    def _tell_place(self) -> None:
        supervision.is_at(self.place)

    def transfer(self) -> Transfer:
        return MPITransfer(self)

    def gather(self, data: bytes, what: str) -> list[bytes]:
        return self._told(data, what, self.others, self.others)

    def to_first(self, data: bytes, what: str) -> list[bytes]:
        if self.is_first:
            return self._told(data, what, [], self.others)
        self._told(data, what, [0], [])
        return []

    def _told(self, data: bytes, what: str, targets: list[int], sources: list[int]) -> list[bytes]:
        """Give ``data`` to ``targets``; returns what ``sources`` gave, by their number."""
        lengths = np.zeros(self.size, np.int64)
        lengths[self.rank] = len(data)
        own = np.frombuffer(data, np.uint8)
        first, second = MPITransfer(self), MPITransfer(self)
        for peer in sources:
            first.receive(peer, _LENGTH - FIRST_TAG, lengths[peer : peer + 1])
        for peer in targets:
            first.send(peer, _LENGTH - FIRST_TAG, lengths[self.rank : self.rank + 1])
        first.wait(what)
        found = [np.empty(length, np.uint8) for length in lengths.tolist()]
        for peer in sources:
            if found[peer].size:
                second.receive(peer, _CONTENT - FIRST_TAG, found[peer])
        for peer in targets if data else ():
            second.send(peer, _CONTENT - FIRST_TAG, own)
        second.wait(what)
        found[self.rank] = own
        return [array.tobytes() for array in found]

    def broadcast(self, data: bytes | None, what: str) -> bytes:
        if self.is_first:
            return self._told(data or b"", what, self.others, [])[0]
        return self._told(b"", what, [], [0])[0]

    def wait_until(
        self,
        is_over: Callable[[], bool],
        late: Callable[[], set[int]],
        what: str,
        patience: float = 1.0,
    ) -> None:
        if is_over():
            return
        limit = self.deadline * patience
        begin = time.monotonic()
        asked = 0
        pause = _SHORTEST
        try:
            while not is_over():
                if time.monotonic() - begin > limit:
                    raise self.lost(what, sorted(late()), f"did not answer within {limit:g} s")
                asked += 1
                if asked <= _PATIENT:
                    os.sched_yield()
                else:
                    time.sleep(pause)
                    pause = min(2 * pause, _LONGEST)
        finally:
            self.traffic.waited += time.monotonic() - begin

    def leave(self, patience: float = 1.0) -> None:
        final = MPITransfer(self, patience)
        tokens = np.zeros(self.size, np.uint8)
        for peer in self.others:
            final.receive(peer, _FINAL - FIRST_TAG, tokens[peer : peer + 1])
            final.send(peer, _FINAL - FIRST_TAG, tokens[self.rank : self.rank + 1])
        final.wait("end")
        supervision.has_ended()
        if self.has_lost:
            # Open MPI may wait for the dead here. All that is left to do is to end, with the code that
            # this process ends with, which nobody knows here: so it must not be ended from here.
            call_in_thread(finalize).wait(min(self.deadline, _LAST))
            return
        text = "distributed: all workers have ended, but not MPI itself"
        with ended_after(self.deadline, f"{text}, within {self.deadline:g} s (end)"):
            finalize()

    def abort(self, code: int) -> None:
        supervision.has_ended()
        self.communicator.Abort(code)

    def survivors(self) -> Workers:
        """Those that are left; the others must have noticed too, which revoking sees to."""
        text = f"distributed: the remaining workers did not agree within {self.deadline:g} s"
        with ended_after(self.deadline, f"{text} ({self.place})"):
            try:
                self.communicator.Revoke()
                left = MPIWorkers(self.communicator.Shrink(), self.deadline)
            except (MPI.Exception, NotImplementedError) as error:
                raise self.lost("survivors", [], f"cannot go on ({error})") from None
        left.traffic = self.traffic
        left.has_lost = True
        found = left.gather(f"{self.rank}".encode(), "survivors")
        left.names = [self.names[int(number)] for number in found]
        return left

    def lost(
        self, what: str, peers: list[int], reason: str, is_gone: bool = False
    ) -> WorkerLostError:
        """The error that names workers."""
        names = ", ".join(self.names[peer] for peer in peers) or "a worker"
        return WorkerLostError(
            f"distributed: {names} {reason} ({self.place}, {what})", peers, is_gone
        )

    def failed(self) -> list[int]:
        """The workers that MPI knows to be gone."""
        try:
            gone = self.communicator.Get_failed()
            numbers = gone.Translate_ranks(None, self.communicator.Get_group())
        except (MPI.Exception, NotImplementedError, AttributeError):
            return []
        return sorted(int(number) for number in numbers)


class MPITransfer:
    """Messages of one worker; ``patience`` is how many deadlines it waits for them."""

    def __init__(self, workers: MPIWorkers, patience: float = 1.0) -> None:
        self._workers = workers
        self._patience = patience
        self._requests: list[Any] = []
        self._peers: list[int] = []

    def send(self, peer: int, tag: int, array: Any) -> None:
        traffic = self._workers.traffic
        traffic.sent += array.nbytes
        traffic.messages += 1
        self._begin(self._workers.communicator.Isend, peer, tag, array)

    def receive(self, peer: int, tag: int, array: Any) -> None:
        self._workers.traffic.received += array.nbytes
        self._begin(self._workers.communicator.Irecv, peer, tag, array)

    def _begin(self, call: Any, peer: int, tag: int, array: Any) -> None:
        try:
            message = [array.reshape(-1).view(np.uint8), MPI.BYTE]
            with supervision.calling_mpi:
                self._requests.append(call(message, peer, tag + FIRST_TAG))
        except MPI.Exception as error:
            raise self._failed(error, [peer]) from None
        self._peers.append(peer)

    def is_over(self) -> bool:
        try:
            with supervision.calling_mpi:
                return not self._requests or MPI.Request.Testall(self._requests)
        except MPI.Exception as error:
            raise self._failed(error, self._broken()) from None

    def wait(self, what: str) -> None:
        self._workers.wait_until(self.is_over, self.late, what, self._patience)

    def late(self) -> set[int]:
        pairs = zip(self._requests, self._peers, strict=True)
        return {peer for request, peer in pairs if not request.Test()}

    def _broken(self) -> list[int]:
        """Those with whom a message has failed."""
        found = set()
        for request, peer in zip(self._requests, self._peers, strict=True):
            try:
                request.Test()
            except MPI.Exception:
                found.add(peer)
        return sorted(found)

    def _failed(self, error: Any, peers: list[int]) -> WorkerLostError:
        workers = self._workers
        if workers.can_survive:
            return workers.lost("messages", workers.failed() or peers, "is gone", is_gone=True)
        reason = f"cannot be reached ({' '.join(str(error).split())})"
        return workers.lost("messages", peers, reason)


def initialize() -> None:
    """``MPI_Init_thread``, for one thread at a time, without Python's lock.

    mpi4py keeps the lock here and in ``MPI_Finalize``, so that no timer could end what hangs. The
    library that it has loaded is called directly where it can be found.
    """
    begin = _library_function("MPI_Init_thread")
    if begin is None:
        MPI.Init_thread(MPI.THREAD_SERIALIZED)
        return
    begin(None, None, MPI.THREAD_SERIALIZED, ctypes.byref(ctypes.c_int()))


def finalize() -> None:
    """``MPI_Finalize``, without Python's lock."""
    end = _library_function("MPI_Finalize")
    if end is None:
        MPI.Finalize()
        return
    end()


def _library_function(name: str) -> Any:
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libmpi.so" in line}
        return getattr(ctypes.CDLL(paths.pop()), name) if len(paths) == 1 else None
    except (OSError, AttributeError):
        return None
