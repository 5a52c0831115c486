"""What all workers' batches gave, brought together for metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from extensor.arrays.dtypes import as_dtype
from extensor.core.tensor import Tensor, wrap
from extensor.distributed.joining import workers as found_workers
from extensor.distributed.workers import Workers
from extensor.errors import type_error


class Outputs:
    """Outputs and targets of a step: told to the first worker, which uses them in their order."""

    def __init__(self, workers: Workers, use: Callable[[Any, Any], None]) -> None:
        self._workers = workers
        self._use = use
        self._own: list[Any] = []

    def put(self, output: Any, target: Any) -> None:
        """Take those of the next micro-batch of this worker."""
        if self._workers.is_first:  # whose micro-batches are the first
            self._use(output, target)
        else:
            self._own += [as_array(output), as_array(target)]

    def tell(self) -> None:
        """The step is over: let the first worker use what the others have."""
        for told in self._workers.to_first(packed(self._own), "outputs")[1:]:
            arrays = unpacked(told)
            for output, target in zip(arrays[::2], arrays[1::2], strict=True):
                self._use(output, target)


def as_array(value: Any) -> Any:
    if not isinstance(value, Tensor | np.ndarray):
        requirement = "metrics need one tensor as output and target to be brought together"
        raise type_error("Trainer", requirement, output=type(value).__name__)
    return np.ascontiguousarray(np.asarray(value))


def packed(arrays: Sequence[Any]) -> bytes:
    head = json.dumps([[array.dtype.name, array.shape] for array in arrays]).encode()
    return b"".join([len(head).to_bytes(8, "little"), head, *(x.tobytes() for x in arrays)])


def unpacked(data: bytes) -> list[Tensor]:
    at = 8 + int.from_bytes(data[:8], "little")
    arrays = []
    for name, shape in json.loads(data[8:at]):
        dtype = as_dtype(name, "Trainer")
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, dtype, count, at).reshape(shape).copy()  # may be written to
        at += array.nbytes
        arrays.append(wrap(array))
    return arrays


def plain(value: Any) -> Any:
    """The value of a metric as logs and checkpoints hold it: an array as lists."""
    return value if isinstance(value, str | int | float) else np.asarray(value).tolist()


def told_to_all(values: Mapping[str, Any]) -> dict[str, Any]:
    """The ``values`` that the first worker has, plain, on every worker."""
    workers = found_workers()
    known = {name: plain(value) for name, value in values.items()}
    if workers.size == 1:
        return known
    told = workers.broadcast(json.dumps(known).encode(), "metrics")
    found: dict[str, Any] = json.loads(told)
    return found
