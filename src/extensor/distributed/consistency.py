"""Comparing workers: before they begin, and as each step begins.

Before they begin, workers compare what decides on the bits of a run. With every step each tells the
others a few numbers. They travel while the first micro-batch is computed, and are compared before any
gradient is sent: a message of an unexpected size would be an error of MPI, or no answer at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from extensor import _native
from extensor.core import changes, door
from extensor.core.tensor import Tensor
from extensor.distributed.micro_batches import share
from extensor.distributed.workers import Workers
from extensor.errors import type_error, value_error
from extensor.nn.module import Module

_FACTS, _MASSES = 5, 6  # tags
_COLUMNS = (503, 509)  # primes, so that rows which change places do not fall on each other


def check_alike(workers: Workers, facts: Mapping[str, str]) -> None:
    """Refuse to begin if a worker has other ``facts`` than the first; all raise the same error."""
    if workers.size == 1:
        return
    told = workers.gather(json.dumps(dict(facts)).encode(), "start")
    first, *others = [json.loads(text) for text in told]
    for number, found in enumerate(others, 1):
        for key in {**first, **found}:
            if first.get(key) != found.get(key):
                requirement = f"all workers must have the same {key}"
                values = {"worker_0": first.get(key), f"worker_{number}": found.get(key)}
                raise value_error("distributed", requirement, **values)


def machine_facts(version: str) -> dict[str, str]:
    """What decides on the bits of a computation, whatever is computed."""
    return {"version of extensor": version} | arithmetic_facts()


def arithmetic_facts() -> dict[str, str]:
    """What computes, and with which instructions."""
    return {
        "version of numpy": np.__version__,
        "instruction set": str(_native.instruction_set),
        "instruction set of numpy": digest(sorted(_numpy_features())),
        "engine": door.ENGINE,
    }


def _numpy_features() -> list[str]:
    """What numpy, which computes where there is no kernel, uses of this processor."""
    core = getattr(np, "_core", None)
    features = getattr(getattr(core, "_multiarray_umath", None), "__cpu_features__", {})
    return [name for name, is_used in features.items() if is_used]


def digest(*values: Any) -> str:
    """A short text for arrays and plain values, other for other values.

    Of an array of objects it tells only the shape: loaders refuse such arrays by name.
    """
    found = sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            found.update(f"{value.dtype} {value.shape} ".encode())
            if not value.dtype.hasobject:
                found.update(np.ascontiguousarray(value).view(np.uint8).reshape(-1).data)
        else:
            found.update(repr(value).encode())
    return found.hexdigest()[:16]


def checksum(array: Any) -> str:
    """A short text for an array: a changed bit changes it always, other changes nearly always.

    The words are added up in columns, in a fifth of the time of a cryptographic digest.

    >>> import numpy as np
    >>> from extensor.distributed.consistency import checksum
    >>> checksum(np.zeros(9)) == checksum(np.zeros(9)) != checksum(-np.zeros(9))
    True
    """
    found = sha256(f"{array.dtype} {array.shape} ".encode())
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for columns in _COLUMNS:
        whole = flat.size // (8 * columns) * (8 * columns)
        words = flat[:whole].view(np.uint64).reshape(-1, columns)
        found.update(np.add.reduce(words, axis=0).tobytes())
        found.update(flat[whole:].tobytes())
    return found.hexdigest()[:16]


class StepHandshake:
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
        self._transfer = workers.exchange(_FACTS, list(self._rows))
        self._masses: Any = None
        if own_masses is not None:
            self._exchange_masses(count, own_masses)

    def _exchange_masses(self, count: int, own_masses: Any) -> None:
        workers = self._workers
        shares = [share(count, workers.size, rank) for rank in range(workers.size)]
        own = shares[workers.rank]
        self._masses = np.zeros(count)
        self._masses[own.start : own.stop] = own_masses
        by_worker = [self._masses[mine.start : mine.stop] for mine in shares]
        self._incoming = workers.exchange(_MASSES, by_worker)

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


class TrainedParameters:
    """Those of ``chosen`` that require gradients, or of all that ``model`` has; the last come first.

    :attr:`tensors` are those of the last :meth:`update`.
    """

    def __init__(self, model: Module, chosen: Sequence[Tensor] | None) -> None:
        self._model = model
        self.chosen = chosen
        self.tensors: list[Tensor] = []
        self._arrays: list[Any] = []
        self._digest = 0

    def _now(self) -> list[tuple[int, Tensor]]:
        """The parameters to train now, with their places among all that were chosen."""
        chosen = self._model.parameters() if self.chosen is None else self.chosen
        pairs = [(place, x) for place, x in enumerate(chosen) if x.requires_grad]
        return pairs[::-1]  # the last layer's gradients are known first

    def is_outdated(self) -> bool:
        """True if others are to be trained than before, or an array was replaced, as by a cast."""
        now = [x for _, x in self._now()]
        if len(now) != len(self.tensors):
            return True
        pairs = zip(now, self.tensors, self._arrays, strict=True)
        return any(new is not old or new._array is not array for new, old, array in pairs)

    def digest(self) -> int:
        """A number for which parameters are to be trained now, the same on workers that agree."""
        if not self.is_outdated():
            return self._digest
        kinds = [(place, x.shape, str(x.dtype)) for place, x in self._now()]
        return int(digest(kinds), 16)

    def update(self) -> None:
        """Take the parameters that are to be trained now."""
        digest_now = self.digest()
        self.tensors = [x for _, x in self._now()]
        self._arrays = [x._array for x in self.tensors]
        self._digest = digest_now
        for array in self._arrays:
            if not isinstance(array, np.ndarray):
                requirement = "parameters must be stored in NumPy's arrays"
                raise type_error("Gradients", requirement, parameter=type(array).__name__)


def replicate(workers: Workers, models: Sequence[Module], parameters: Sequence[Tensor]) -> None:
    """Give all workers the parameters and buffers of ``models``, and ``parameters``, of the first one.

    A worker whose model has other tensors is refused, and so is one whose arithmetic may differ.
    """
    if workers.size == 1:
        return
    named: dict[str, Tensor] = {}
    for index, model in enumerate(models):
        place = f"modules[{index - 1}]." if index else ""
        tensors = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        named |= {f"{place}{name}": x for name, x in tensors.items()}
    known = {id(tensor) for tensor in named.values()}
    named |= {f"parameters[{i}]": x for i, x in enumerate(parameters) if id(x) not in known}
    kinds = [(name, tensor.shape, str(tensor.dtype)) for name, tensor in named.items()]
    check_alike(workers, arithmetic_facts() | {"tensors in the model": digest(kinds)})
    for name, tensor in named.items():
        array = np.asarray(tensor._array)
        own = np.ascontiguousarray(array).tobytes() if workers.is_first else None
        received = workers.broadcast(own, f"{name} of the model")
        if not workers.is_first:
            first = np.frombuffer(received, array.dtype).reshape(array.shape)
            door.setitem(tensor._array, ..., first)
            changes.mark_all([tensor._array])
