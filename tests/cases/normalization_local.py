from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real


def _local_response_norm(
    x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Any:
    result = np.empty(x.shape, float)
    for channel in range(x.shape[1]):
        seen = x[:, max(0, channel - size // 2) : channel + (size - 1) // 2 + 1].astype(float)
        base = k + alpha * (seen**2).sum(axis=1) / size
        result[:, channel] = x[:, channel] / base**beta
    return result


CASES = [
    Case("local_response_norm", (real(2, 5, 3),), _local_response_norm, {"size": 3}),
    *(
        Case("local_response_norm", (real(*shape),), _local_response_norm, how)
        for shape, how in (
            ((2, 5, 3), {"size": 4, "alpha": 0.5}),
            ((1, 3, 2, 2), {"size": 2, "alpha": 1.0, "beta": 0.5}),
            ((1, 2, 3), {"size": 7, "alpha": 0.7, "beta": 1.5, "k": 2.0}),
            ((1, 2, 3), {"size": 1, "alpha": 0.7, "beta": -1.0}),
            ((0, 2, 3), {"size": 3}),
        )
    ),
]

ERRORS = [
    Error(
        "local_response_norm",
        (np.ones((2, 3)), 2),
        "local_response_norm: x must have at least 3 axes, got x_shape=(2, 3)",
    ),
    Error(
        "local_response_norm",
        (np.ones((2, 3, 1)), 0),
        "local_response_norm: size must be at least 1, got size=0",
    ),
]
