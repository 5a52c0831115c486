from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case, Error, Singular, distinct, real

INF = float("inf")


def length(x: Any, p: float, axis: int = -1) -> Any:
    return np.linalg.norm(x, ord=p, axis=axis, keepdims=True)


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    lengths = np.maximum(length(x1, 2, axis), eps) * np.maximum(length(x2, 2, axis), eps)
    return (x1 * x2 / lengths).sum(axis)


def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdims: bool = False
) -> Any:
    return np.linalg.norm(x1 - x2 + eps, ord=p, axis=-1, keepdims=keepdims)


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    return np.linalg.norm(x1[..., :, None, :] - x2[..., None, :, :], ord=p, axis=-1)


def normalize(x: Any, p: float = 2.0, axis: int = 1, eps: float = 1e-12) -> Any:
    return x / np.maximum(length(x, p, axis), eps)


ORDERS = (1.0, 2.0, 3.0, 1.5, INF)
CASES = [
    Case("cosine_similarity", (real(3, 4), real(3, 4)), cosine_similarity, integers=False),
    Case("cosine_similarity", (real(2, 3, 4), real(3, 1)), cosine_similarity, {"axis": -2},
         integers=False),
    Case("cosine_similarity", (real(3, 4), real(3, 4)), cosine_similarity,
         {"axis": 0, "eps": 100.0}, integers=False),
    *(
        Case(name, (real(3, 4), real(3, 4)) if p == INF else
             (distinct(3, 4), distinct(3, 4, centre=0.1)), function, {"p": p}, integers=False)
        for name, function in (("pairwise_distance", pairwise_distance), ("cdist", cdist))
        for p in ORDERS
    ),
    Case("pairwise_distance", (distinct(2, 3, 4), distinct(4, centre=0.1)), pairwise_distance,
         {"eps": 0.0, "keepdims": True}, integers=False),
    Case("pairwise_distance", (distinct(3, 4), distinct(3, 4)), pairwise_distance,
         {"p": 0.0, "eps": 0.0}, smooth=False, integers=False),
    Case("cdist", (distinct(2, 3, 4), distinct(5, 4, centre=0.1)), cdist, integers=False),
    Case("cdist", (distinct(3, 4), distinct(5, 4)), cdist, {"p": 0.0}, smooth=False,
         integers=False),
    *(
        Case("normalize", (distinct(3, 4, centre=0.06),), normalize, {"p": p}, integers=False)
        for p in ORDERS
    ),
    Case("normalize", (real(3, 4),), normalize, {"axis": 0, "eps": 100.0}, integers=False),
    Case("normalize", (real(2, 3, 4),), normalize, {"axis": -1}, integers=False),
]  # fmt: skip

SINGULAR = [
    Singular("cosine_similarity", ([0.0, 0.0], [1.0, 2.0]), {"axis": 0}),
    Singular("pairwise_distance", ([1.0, 2.0], [1.0, 2.0]), {"eps": 0.0}),
    Singular("cdist", ([[1.0, 2.0]], [[1.0, 2.0]])),
    Singular("normalize", ([0.0, 0.0],), {"axis": 0}),
]

ERRORS = [
    Error(
        "cosine_similarity",
        ([1.0, 2.0], [1.0, 2.0]),
        "cosine_similarity: axis must be in [-1, 0] for 1 axes, got axis=1",
    ),
    Error(
        "pairwise_distance",
        ([1.0], [1.0], -1.0),
        "pairwise_distance: p must be 0 or greater, got p=-1.0",
    ),
    Error(
        "cdist",
        ([[1.0, 2.0]], [[1.0]]),
        "cdist: x1 and x2 must be rows of vectors of the same size, "
        "got x1_shape=(1, 2), x2_shape=(1, 1)",
    ),
    Error("normalize", ([1.0, 2.0], 0.0, 0), "normalize: p must be above 0, got p=0.0"),
]
