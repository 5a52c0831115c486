"""The one table of tolerances: a few roundings of each dtype, as (rtol, atol)."""

from __future__ import annotations

from typing import Any

import numpy as np

_TABLE = {
    "float64": (1e-12, 1e-13),
    "float32": (2e-6, 2e-6),
    "float16": (2e-3, 2e-3),
    "bfloat16": (1.6e-2, 1.6e-2),
}


def of(dtype: Any) -> dict[str, float]:
    """What two ways of computing a result of ``dtype`` may differ by; integers and bools: nothing."""
    rtol, atol = _TABLE.get(str(dtype), (0.0, 0.0))
    return {"rtol": rtol, "atol": atol}


# Four-point central differences in float64 against an exact derivative.
DIFFERENCES = {"rtol": 1e-6, "atol": 1e-8}


def assert_close(actual: Any, expected: Any, dtype: Any) -> None:
    """Compare in float64, with the tolerance of ``dtype``."""
    np.testing.assert_allclose(
        np.asarray(actual, np.float64), np.asarray(expected, np.float64), **of(dtype)
    )
