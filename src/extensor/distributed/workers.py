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
    """A worker did not answer before the deadline, or is gone.

    The message names the worker with its host, its process and its step.

    Parameters
    ----------
    text : str
        The message.
    workers : sequence of int, default ()
        Numbers of the lost workers, as far as they are known.
    is_gone : bool, default False
        Whether MPI knows that they have ended, so the others may continue without them.

    Attributes
    ----------
    workers : tuple of int
        The numbers.
    is_gone : bool
        The parameter.

    Examples
    --------
    >>> import extensor as ex
    >>> error = ex.distributed.WorkerLostError("worker 1 of 3 did not answer", workers=[1])
    >>> error.workers, error.is_gone
    ((1,), False)
    """

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
    """This process as one of the workers of a run.

    `ex.distributed.workers` returns the object; users do not create it. Every method that sends or
    waits must be called by all workers, in the same order.

    Parameters
    ----------
    rank : int
        Number of this worker, from 0 to ``size - 1``.
    size : int
        Number of workers.
    deadline : float
        Seconds that one wait may take.

    Attributes
    ----------
    rank, size, deadline
        The parameters.
    names : list of str
        Name of each worker for messages, with its host and process.
    traffic : Traffic
        Bytes ``sent`` and ``received``, the number of ``messages``, and the seconds ``waited``.
    place : str
        What this worker is doing, such as a step. Errors mention it.
    can_survive : bool
        Whether the others can continue when a worker is killed (Open MPI with ULFM).

    See Also
    --------
    Gradients : Gradients of micro-batches that the workers share.

    Examples
    --------
    >>> import extensor as ex
    >>> workers = ex.distributed.workers()
    >>> workers.is_first, workers.gather(b"ready", "an example")
    (True, [b'ready'])
    """

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
        """What this worker is doing, such as a step. Errors mention it."""
        self._place = text
        self._tell_place()

    def _tell_place(self) -> None:
        """Let a parent know that waits for this worker, if it has one."""

    @property
    def is_first(self) -> bool:
        """True for the worker with rank 0, which writes files and shows progress for all."""
        return self.rank == 0

    @property
    def others(self) -> list[int]:
        """The ranks of all other workers, beginning with the next one."""
        return [(self.rank + distance) % self.size for distance in range(1, self.size)]

    def share(self, count: int) -> range:
        """Return the micro-batches that this worker computes.

        They are neighbours, and the numbers of two workers differ by one at most.

        Parameters
        ----------
        count : int
            Number of micro-batches of the step, 0 or more.

        Returns
        -------
        range
            The numbers of this worker's micro-batches.

        Examples
        --------
        >>> import extensor as ex
        >>> ex.distributed.workers().share(8)
        range(0, 8)
        """
        return share(arguments.integer("share", "count", count, 0), self.size, self.rank)

    def transfer(self) -> Transfer:
        """Return an empty group of messages, to which sends and receives are added.

        Returns
        -------
        Transfer
            The group. Call its ``wait(what)`` when all messages have been added.
        """
        raise NotImplementedError

    def gather(self, data: bytes, what: str) -> list[bytes]:
        """Send bytes to all workers, and return the bytes of each.

        Parameters
        ----------
        data : bytes
            The bytes of this worker. The lengths may differ.
        what : str
            Name of the wait, for errors.

        Returns
        -------
        list of bytes
            The bytes of all workers, by rank.

        Raises
        ------
        WorkerLostError
            If a worker does not answer before the deadline.
        """
        raise NotImplementedError

    def to_first(self, data: bytes, what: str) -> list[bytes]:
        """Send bytes to the first worker.

        Parameters
        ----------
        data : bytes
            The bytes of this worker. The lengths may differ.
        what : str
            Name of the wait, for errors.

        Returns
        -------
        list of bytes
            On the first worker the bytes of all, by rank; on the others an empty list.

        Raises
        ------
        WorkerLostError
            If a worker does not answer before the deadline.
        """
        raise NotImplementedError

    def broadcast(self, data: bytes | None, what: str) -> bytes:
        """Send bytes of the first worker to all.

        Parameters
        ----------
        data : bytes or None
            The bytes, on the first worker. Others pass None.
        what : str
            Name of the wait, for errors.

        Returns
        -------
        bytes
            The bytes of the first worker, on every worker.

        Raises
        ------
        WorkerLostError
            If a worker does not answer before the deadline.
        """
        raise NotImplementedError

    def exchange(self, tag: int, arrays: Sequence[Any]) -> Transfer:
        """Begin to send an array to all other workers and to receive theirs.

        Parameters
        ----------
        tag : int
            Number that tells these messages from others, the same on all workers.
        arrays : sequence of numpy.ndarray
            A contiguous array for each worker, by rank. This worker's is sent; the others are
            filled. Shapes and dtypes must be the same on all workers, and may differ by rank.

        Returns
        -------
        Transfer
            The messages. Call its ``wait(what)`` before the arrays are used.
        """
        transfer = self.transfer()
        for peer in self.others:
            if arrays[peer].size:
                transfer.receive(peer, tag, arrays[peer])
            if arrays[self.rank].size:
                transfer.send(peer, tag, arrays[self.rank])
        return transfer

    def barrier(self, what: str) -> None:
        """Wait until all workers have called this.

        Parameters
        ----------
        what : str
            Name of the wait, for errors.

        Raises
        ------
        WorkerLostError
            If a worker does not answer before the deadline.
        """
        self.gather(b"", what)

    def wait_until(
        self,
        is_over: Callable[[], bool],
        late: Callable[[], set[int]],
        what: str,
        patience: float = 1.0,
    ) -> None:
        """Wait until something is over, or raise when the deadline has passed.

        Parameters
        ----------
        is_over : callable
            Function without arguments that returns True when the wait is over.
        late : callable
            Function without arguments that returns the set of the ranks that are missing.
        what : str
            Name of the wait, for errors.
        patience : float, default 1.0
            Number of deadlines to wait.

        Raises
        ------
        WorkerLostError
            If `is_over` is still False then. It names the workers that `late` returns.
        """
        raise NotImplementedError

    def leave(self, patience: float = 1.0) -> None:
        """Wait for the other workers at the end of the program, and disconnect.

        Parameters
        ----------
        patience : float, default 1.0
            Number of deadlines to wait.

        Raises
        ------
        WorkerLostError
            If a worker does not answer in that time.
        """

    def abort(self, code: int) -> None:
        """End all workers at once.

        Parameters
        ----------
        code : int
            Exit code of the processes.
        """
        raise NotImplementedError

    def survivors(self) -> Workers:
        """Return the workers that are left after a `WorkerLostError`, with new numbers.

        Returns
        -------
        Workers
            This process among the workers that are left.

        Raises
        ------
        WorkerLostError
            If the MPI cannot continue without the lost workers.
        """
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
