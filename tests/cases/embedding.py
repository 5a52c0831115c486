from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, integers, real


def embedding(indices: Any, weight: Any, padding_idx: Any = None) -> Any:
    return weight[indices]


CASES = [
    Case("embedding", (integers(4, high=5), real(5, 3)), embedding),
    Case("embedding", (integers(2, 3, high=2, dtype=np.int32), real(2, 1)), embedding),
    Case("embedding", (integers(high=5), real(5, 3)), embedding),
    Case("embedding", (integers(0, high=5), real(5, 3)), embedding),
    Case("embedding", (integers(9, high=5, dtype=np.uint8), real(5, 0)), embedding),
    # The gradient of the padding is 0 by decree, where differences see one.
    Case("embedding", (integers(9, high=3), real(3, 2)), embedding, {"padding_idx": 1}, False),
    Case("embedding", (integers(9, high=3), real(3, 2)), embedding, {"padding_idx": -1}, False),
]

TABLE = np.ones((3, 2), "f4")


def _error(arguments: tuple[Any, ...], text: str, kind: Any = ValueError) -> Error:
    return Error("embedding", arguments, f"embedding: {text}", kind=kind)


ERRORS = [
    _error(([0], TABLE[0]), "weight must be 2-D (rows, features), got weight_shape=(2,)"),
    _error(([0, 3], TABLE), "indices must be in [0, 2], got index=3"),
    _error(([-1], TABLE), "indices must be in [0, 2], got index=-1"),
    _error(([0.0], TABLE), "indices must be integers, got indices_dtype='float32'", TypeError),
    _error(([0], TABLE, 3), "padding_idx must be a row of 3, got padding_idx=3"),
    _error(([0], TABLE, 0.5), "padding_idx must be an int, got padding_idx=0.5", TypeError),
    Error(
        "embedding_backward",
        (TABLE, [0], (3, 2)),
        "embedding_backward: grad_output must have shape (1, 2), got grad_output_shape=(3, 2)",
    ),
]
