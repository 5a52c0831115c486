"""The model of the first worker on all workers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from extensor.core import changes, door
from extensor.core.tensor import Tensor
from extensor.distributed.agreement import arithmetic_facts, check_alike, digest
from extensor.distributed.workers import Workers
from extensor.nn.module import Module


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
