from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, real


def healthy(*shape: int):
    """Matrices far from singular."""

    def generate(rng: np.random.Generator, dtype: Any) -> Any:
        x = rng.uniform(-1, 1, shape) + 3 * np.eye(shape[-1])
        return x.astype(dtype)

    return generate


def definite(*shape: int):
    """Symmetric positive definite matrices with eigenvalues apart from each other."""

    def generate(rng: np.random.Generator, dtype: Any) -> Any:
        x = rng.uniform(-0.3, 0.3, shape)
        return (x + np.swapaxes(x, -1, -2) + np.diag(1.0 + np.arange(shape[-1]))).astype(dtype)

    return generate


def solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


CASES = [
    *(
        Case(name, (healthy(*shape),), function, integers=False)
        for name, function in (
            ("inv", np.linalg.inv),
            ("det", np.linalg.det),
            ("slogdet", lambda x: tuple(np.linalg.slogdet(x))),
        )
        for shape in ((3, 3), (2, 3, 3), (1, 1))
    ),
    Case("solve", (healthy(3, 3), real(3)), solve, integers=False),
    Case("solve", (healthy(3, 3), real(3, 2)), solve, integers=False),
    Case("solve", (healthy(2, 3, 3), real(3, 2)), solve, integers=False),
    Case("solve", (healthy(3, 3), real(2, 3, 2)), solve, integers=False),
    Case("cholesky", (definite(3, 3),), np.linalg.cholesky, integers=False),
    Case("cholesky", (definite(2, 4, 4),), np.linalg.cholesky, integers=False),
    # The sign of an eigenvector is LAPACK's choice.
    Case("eigh", (definite(3, 3),), lambda x: tuple(np.linalg.eigh(x)), integers=False),
    Case("eigh", (definite(2, 3, 3),), lambda x: tuple(np.linalg.eigh(x)), integers=False),
    *(
        Case("matrix_power", (healthy(3, 3),), np.linalg.matrix_power, {"n": n}, integers=False)
        for n in (0, 1, 3, -2)
    ),
    Case("matrix_power", (healthy(2, 2, 2),), np.linalg.matrix_power, {"n": 2}, integers=False),
]

ERRORS = [
    *(
        Error(
            name,
            ([[1.0, 2.0]],),
            f"{name}: x must be square matrices, got x_shape=(1, 2)",
        )
        for name in ("inv", "det", "slogdet", "cholesky", "eigh")
    ),
    Error("inv", ([[0.0]],), "inv: matrices must be invertible, got x_shape=(1, 1)"),
    Error(
        "cholesky",
        ([[-1.0]],),
        "cholesky: matrices must be positive definite, got x_shape=(1, 1)",
    ),
    Error(
        "solve",
        ([[1.0]], [1.0, 2.0]),
        "solve: b must have as many rows as a, got a_shape=(1, 1), b_shape=(2,)",
    ),
    Error(
        "matrix_power",
        ([[1.0]], 0.5),
        "matrix_power: n must be an int, got n=0.5",
        kind=TypeError,
    ),
    Error("matrix_power", ([[1.0]], 2000), "matrix_power: n must be in [-1000, 1000], got n=2000"),
]
