"""What workers compare as a step begins, so that none adds what the others do not mean.

Each worker tells the others a few numbers. They travel while the first micro-batch is computed, and are
compared before any gradient is sent: a message of another size would be an error of MPI, or no answer at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extensor.distributed.tree import share
from extensor.distributed.workers import Workers
from extensor.errors import value_error

_FACTS, _MASSES = 5, 6  # tags


class Rollcall:
    """The ``facts`` of a step by name, each a number from 0 to 2**64 - 1, the same on all workers.

    ``is_outdated`` says that this worker has to lay out its gradients anew. ``own_masses`` are told to
    all, if there are any: one for each of the ``count`` micro-batches that this worker takes.
    """

    def __init__(
        self,
        workers: Workers,
        facts: Mapping[str, int],
        is_outdated: bool,
        count: int,
        own_masses: Any = None,
    ) -> None:
        self._workers = workers
        self._names = list(facts)
        self._rows = np.zeros((workers.size, len(facts) + 1), np.uint64)
        self._rows[workers.rank] = np.array([*facts.values(), is_outdated], np.uint64)
        self._transfer = workers.transfer()
        for peer in workers.others:
            self._transfer.receive(peer, _FACTS, self._rows[peer])
            self._transfer.send(peer, _FACTS, self._rows[workers.rank])
        self._masses: Any = None
        if own_masses is not None:
            self._exchange_masses(count, own_masses)

    def _exchange_masses(self, count: int, own_masses: Any) -> None:
        workers = self._workers
        shares = [share(count, workers.size, rank) for rank in range(workers.size)]
        own = shares[workers.rank]
        self._masses = np.zeros(count)
        self._masses[own.start : own.stop] = own_masses
        self._incoming = workers.transfer()
        for peer in workers.others:
            theirs = shares[peer]
            if theirs:
                part = self._masses[theirs.start : theirs.stop]
                self._incoming.receive(peer, _MASSES, part)
            if own:
                self._incoming.send(peer, _MASSES, self._masses[own.start : own.stop])

    def finish(self) -> tuple[bool, list[float] | None]:
        """Wait for all workers, and raise on each of them if one differs from the first.

        Returns whether any worker is outdated, and the masses of all micro-batches.
        """
        self._transfer.wait("start of a step")
        self._compare()
        if self._masses is not None:
            self._incoming.wait("weights of the parts")
        masses = None if self._masses is None else self._masses.tolist()
        return bool(self._rows[:, -1].any()), masses

    def _compare(self) -> None:
        for index, name in enumerate(self._names):
            column = self._rows[:, index]
            (others,) = np.nonzero(column != column[0])
            if others.size:
                number = int(others[0])
                worker = self._workers.names[number]
                requirement = f"all workers must have the same {name}, but {worker} differs"
                values = {f"worker_{rank}": int(column[rank]) for rank in (0, number)}
                raise value_error("distributed", requirement, **values)
