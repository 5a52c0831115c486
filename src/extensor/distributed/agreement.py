"""What all workers must have in common before they begin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from extensor import _native
from extensor.core import door
from extensor.distributed.workers import Workers
from extensor.errors import value_error

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
    """A short text for arrays and plain values, other for other values."""
    found = sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            found.update(f"{value.dtype} {value.shape} ".encode())
            found.update(np.ascontiguousarray(value).view(np.uint8).reshape(-1).data)
        else:
            found.update(repr(value).encode())
    return found.hexdigest()[:16]


def checksum(array: Any) -> str:
    """A short text for an array: a changed bit changes it always, other changes nearly always.

    The words are added up in columns, in a fifth of the time of a cryptographic digest.

    >>> import numpy as np
    >>> from extensor.distributed.agreement import checksum
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
