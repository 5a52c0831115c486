"""Whether data are still those that a run began with."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from extensor.errors import value_error

_MOST = 2**26  # bytes of an array that are looked at


def digest_of(*datasets: Any) -> str:
    """A short text that is another for other samples, or nothing where they are read one by one."""
    prints = [x.fingerprint for x in datasets if hasattr(x, "fingerprint")]
    arrays = [array for dataset in datasets for array in _arrays(dataset)]
    if not arrays and not prints:
        return ""
    digest = hashlib.sha256("".join(prints).encode())
    for array in arrays:
        digest.update(f"{array.shape} {array.dtype.str}".encode())
        row = max(1, array.nbytes // max(1, len(array)))
        step = max(1, -(-len(array) * row // _MOST))
        digest.update(np.ascontiguousarray(array[::step]).tobytes())
    return digest.hexdigest()[:32]


def _arrays(dataset: Any) -> list[Any]:
    arrays = getattr(dataset, "arrays", None)
    if arrays is None:
        arrays = (getattr(dataset, name, None) for name in ("tokens", "inputs", "targets"))
    return [x for x in arrays if isinstance(x, np.ndarray)]


def check_same(before: Any, *datasets: Any, op: str = "data") -> None:
    """Refuse to go on with other data than those the run began with."""
    if before and digest_of(*datasets) != before:
        requirement = (
            "the data must be those that the run began with (they have changed since; begin a new "
            "run with them)"
        )
        raise value_error(op, requirement)
