"""The workers of a run: how many a launcher started, who they are, and how bytes get from one to another.

Nothing here knows of MPI: a process that runs alone is :class:`Alone`, and needs no library for it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from extensor.distributed.micro_batches import share
from extensor.errors import arguments

DEADLINE = 300.0  # seconds


class WorkerLostError(RuntimeError):
    """A worker did not answer in time, or is known to be gone; ``workers`` has the numbers of them."""

    def __init__(self, text: str, workers: Sequence[int] = (), is_gone: bool = False) -> None:
        super().__init__(text)
        self.workers = tuple(workers)
        self.is_gone = is_gone


@dataclass
class Traffic:
    """What a worker has sent and received, in bytes, and the seconds it has only waited."""

    sent: int = 0
    received: int = 0
    messages: int = 0
    waited: float = 0.0


class Transfer(Protocol):
    """Some messages under way; the arrays must be left alone until it is over."""

    def send(self, peer: int, tag: int, array: Any) -> None:
        """Let a contiguous array go to ``peer``."""
        ...

    def receive(self, peer: int, tag: int, array: Any) -> None:
        """Fill a contiguous array with what ``peer`` sends under the same tag."""
        ...

    def is_over(self) -> bool:
        """Move things on without waiting; True if all messages have arrived."""
        ...

    def wait(self, what: str) -> None:
        """Wait for all, or raise WorkerLostError with the names of those that did not answer."""
        ...

    def late(self) -> set[int]:
        """Those with whom something is still under way."""
        ...


class Workers:
    """This process as worker ``rank`` of ``size``; ``names`` has host and process of each."""

    can_survive: ClassVar[bool] = False

    def __init__(self, rank: int, size: int, deadline: float) -> None:
        self.rank = rank
        self.size = size
        self.deadline = deadline
        self.traffic = Traffic()
        self.names = [f"worker {number}" for number in range(size)]
        self._place = "start"
        self.last_tag = 2**15 - 1

    @property
    def place(self) -> str:
        """What this worker is at, such as a step: errors say it."""
        return self._place

    @place.setter
    def place(self, text: str) -> None:
        self._place = text
        self._tell_place()

    def _tell_place(self) -> None:
        """Let a parent know that waits for this worker, if it has one."""

    @property
    def is_first(self) -> bool:
        """True for the worker that writes and shows what is the same for all."""
        return self.rank == 0

    @property
    def others(self) -> list[int]:
        """All but this one, each worker beginning with the one after it."""
        return [(self.rank + distance) % self.size for distance in range(1, self.size)]

    def share(self, count: int) -> range:
        """Those of ``count`` micro-batches that this worker takes.

        >>> import extensor as ex
        >>> ex.distributed.workers().share(8)
        range(0, 8)
        """
        return share(arguments.integer("share", "count", count, 0), self.size, self.rank)

    def transfer(self) -> Transfer:
        """New messages."""
        raise NotImplementedError

    def gather(self, data: bytes, what: str) -> list[bytes]:
        """What all workers gave, by their number."""
        raise NotImplementedError

    def to_first(self, data: bytes, what: str) -> list[bytes]:
        """What all workers gave, on the first one; nothing on the others."""
        raise NotImplementedError

    def broadcast(self, data: bytes | None, what: str) -> bytes:
        """What the first worker gave."""
        raise NotImplementedError

    def exchange(self, tag: int, arrays: Sequence[Any]) -> Transfer:
        """Begin to send this worker's one of ``arrays`` to all others, and to receive theirs."""
        transfer = self.transfer()
        for peer in self.others:
            if arrays[peer].size:
                transfer.receive(peer, tag, arrays[peer])
            if arrays[self.rank].size:
                transfer.send(peer, tag, arrays[self.rank])
        return transfer

    def barrier(self, what: str) -> None:
        """Wait until all workers are here."""
        self.gather(b"", what)

    def wait_until(
        self,
        is_over: Callable[[], bool],
        late: Callable[[], set[int]],
        what: str,
        patience: float = 1.0,
    ) -> None:
        """Ask ``is_over`` until it says so; when the deadline is past, ``late`` says who is missing."""
        raise NotImplementedError

    def leave(self, patience: float = 1.0) -> None:
        """Wait for the others at the end, that many deadlines, and take leave of them."""

    def abort(self, code: int) -> None:
        """End all workers at once."""
        raise NotImplementedError

    def survivors(self) -> Workers:
        """Those that are left, numbered anew, after a WorkerLostError."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rank={self.rank}, size={self.size})"


class Alone(Workers):
    """One process, which has nobody to wait for."""

    def __init__(self) -> None:
        super().__init__(0, 1, DEADLINE)

    def gather(self, data: bytes, what: str) -> list[bytes]:
        return [data]

    to_first = gather

    def broadcast(self, data: bytes | None, what: str) -> bytes:
        return b"" if data is None else data

    def transfer(self) -> Transfer:
        return _Nothing()

    def abort(self, code: int) -> None:
        raise SystemExit(code)


class _Nothing:
    """No messages, as there is nobody."""

    def send(self, peer: int, tag: int, array: Any) -> None:
        raise IndexError(peer)

    receive = send

    def is_over(self) -> bool:
        return True

    def wait(self, what: str) -> None:
        """Over already."""

    def late(self) -> set[int]:
        return set()


TEMPORARY_FAILURE = 75  # what sysexits.h calls a failure after which to try again


INTERRUPTED = 130  # what shells say after Ctrl-C


# Where launchers say how many they have started: Open MPI, MPICH and its kin, Slurm.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")


_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "PMI_ID", "SLURM_PROCID")


# What those leave that do not say it: PRRTE's prterun, MPICH's mpiexec -pmi-port.
_SIGNS = ("PMIX_RANK", "PMI_PORT")


_SURVIVABLE = "OMPI_MCA_mpi_ft_enable"  # as Open MPI spells it


def started(environment: Mapping[str, str]) -> int:
    """How many workers a launcher says it has started; 1 if there was none, 0 if it does not say.

    With ``EXTENSOR_ALONE=1`` each process trains by itself, whoever started it.
    """
    if environment.get("EXTENSOR_ALONE", "0") not in ("", "0"):
        return 1
    texts = [environment.get(name, "") for name in _SIZES]
    sizes = [int(text) for text in texts if text.isdigit()]
    if not sizes and any(name in environment for name in _SIGNS):
        return 0
    return next((size for size in sizes if size > 1), 1)


def own_rank() -> str:
    """The number of this worker as its launcher says it; empty if it does not."""
    texts = (os.environ.get(name, "") for name in _RANKS)
    return next((text for text in texts if text.isdigit()), "")


def own_name(size: int) -> str:
    """This worker as errors name it, before MPI says its number."""
    of = f" of {size}" if size else ""
    return f"worker {own_rank() or '?'}{of} ({socket.gethostname()}, process {os.getpid()})"


def can_survive() -> bool:
    """True if workers that are left when one was killed go on: Open MPI with ULFM."""
    return os.environ.get(_SURVIVABLE) == "1"
