from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .case import Case, Error, distinct, integers, real


def _embedding_bag(
    indices: Any,
    weight: Any,
    offsets: Any = None,
    per_sample_weights: Any = None,
    mode: str = "mean",
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    factors = np.ones(indices.shape) if per_sample_weights is None else per_sample_weights
    if offsets is None:
        bags = list(zip(indices, factors, strict=True))
    else:
        starts = list(offsets) if include_last_offset else [*offsets, len(indices)]
        bags = [(indices[a:b], factors[a:b]) for a, b in pairwise(starts)]
    result = np.zeros((len(bags), weight.shape[1]))
    for row, (bag, share) in enumerate(bags):
        kept = np.ones(len(bag), bool)
        if padding_idx is not None:
            kept = bag != padding_idx % len(weight)
        if kept.any():
            rows = weight[bag[kept]].astype(float) * share[kept][:, None]
            result[row] = getattr(rows, mode)(axis=0)
    return result


def _with_factors(indices: Any, weight: Any, per_sample_weights: Any, **how: Any) -> Any:
    return _embedding_bag(indices, weight, None, per_sample_weights, **how)


def _fixed(*numbers: int) -> Any:
    return lambda rng, _: np.array(numbers, np.int64)


TABLE = distinct(5, 3)
CASES = [
    *(
        Case("embedding_bag", (integers(4, 3, high=5), TABLE), _embedding_bag,
             {"mode": mode, **more}, integers=False)
        for mode in ("sum", "mean", "max")
        for more in ({}, {"padding_idx": 1}, {"padding_idx": -5})
    ),
    *(
        Case("embedding_bag", (integers(6, high=5), TABLE, _fixed(0, 2, 2, 5)), _embedding_bag,
             {"mode": mode, **more}, integers=False)
        for mode in ("sum", "mean", "max")
        for more in ({}, {"padding_idx": 2})
    ),
    Case("embedding_bag", (integers(6, high=5), TABLE, _fixed(0, 2, 6)), _embedding_bag,
         {"include_last_offset": True}, integers=False),
    Case("embedding_bag", (integers(6, high=5), TABLE, _fixed(0, 4), real(6)), _embedding_bag,
         {"mode": "sum"}, integers=False),
    Case("embedding_bag", (integers(2, 3, high=5), TABLE, real(2, 3)), _with_factors,
         {"mode": "sum", "padding_idx": 3}, integers=False,
         names=("indices", "weight", "per_sample_weights")),
    Case("embedding_bag", (integers(0, 3, high=5), TABLE), _embedding_bag, {}, integers=False),
]  # fmt: skip

WEIGHT = np.ones((3, 2), "f4")
ERRORS = [
    Error(
        "embedding_bag",
        ([0, 1], WEIGHT),
        "embedding_bag: indices must be 2-D, or 1-D with offsets, "
        "got indices_shape=(2,), offsets_shape=None",
    ),
    Error(
        "embedding_bag",
        ([[3]], WEIGHT),
        "embedding_bag: indices must be in [0, 2], got index=3",
    ),
    Error(
        "embedding_bag",
        ([0, 1], WEIGHT, [1]),
        "embedding_bag: offsets must rise from 0 to at most 2, got offsets=[1]",
    ),
    Error(
        "embedding_bag",
        ([0, 1], WEIGHT, [0, 1]),
        "embedding_bag: the last of offsets must be 2, got offsets=[0, 1]",
        {"include_last_offset": True},
    ),
    Error(
        "embedding_bag",
        ([[0, 1]], WEIGHT, None, [[1.0, 2.0]]),
        "embedding_bag: per_sample_weights need mode='sum', got mode='mean'",
    ),
    Error(
        "embedding_bag",
        ([[0, 1]], WEIGHT, None, [[1.0]]),
        "embedding_bag: per_sample_weights must have the shape of indices, "
        "got per_sample_weights_shape=(1, 1), indices_shape=(1, 2)",
        {"mode": "sum"},
    ),
    Error(
        "embedding_bag",
        ([[0, 1]], WEIGHT),
        "embedding_bag: mode must be one of sum, mean, max, got mode='min'",
        {"mode": "min"},
    ),
]
