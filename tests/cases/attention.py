from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .case import Case, Error, Generator, booleans, real

NAME = "scaled_dot_product_attention"


def attention(
    q: Any,
    k: Any,
    v: Any,
    mask: Any = None,
    causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    if enable_gqa:
        k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) for x in (k, v))
    scores = np.einsum("...qd,...kd->...qk", q, k) * (scale or q.shape[-1] ** -0.5)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)  # type: ignore[type-var]
    if scores.shape[-1] == 0:
        return np.zeros((*scores.shape[:-1], v.shape[-1]))
    seen = (scores > -np.inf).any(-1, keepdims=True)
    weights = np.where(seen, special.softmax(np.where(seen, scores, 0.0), -1), 0.0)
    return np.einsum("...qk,...kd->...qd", weights, v)


def _rows(q: Any, k: Any, v: Any, mask: Generator | None = None, **attributes: Any) -> Case:
    masks = () if mask is None else (mask,)
    inputs = (*(real(*shape) for shape in (q, k, v)), *masks)
    return Case(NAME, inputs, attention, attributes, integers=False)


def _dark(rng: np.random.Generator, _: Any) -> Any:
    """The second of four queries sees nothing."""
    mask = rng.integers(0, 2, (4, 5)).astype(bool)
    mask[:, 2] = True
    mask[1] = False
    return mask


CASES = [
    _rows((4, 3), (5, 3), (5, 2)),
    _rows((2, 4, 3), (2, 5, 3), (2, 5, 3)),
    _rows((2, 3, 4, 2), (2, 3, 5, 2), (2, 3, 5, 3)),
    _rows((2, 1, 4, 2), (3, 5, 2), (1, 5, 3)),
    _rows((4, 3), (4, 3), (4, 2), causal=True),
    _rows((2, 5, 3), (2, 3, 3), (2, 3, 2), causal=True),
    _rows((3, 3), (5, 3), (5, 2), causal=True, scale=0.3),
    _rows((1, 3), (1, 3), (1, 2)),
    _rows((4, 3), (5, 3), (5, 2), _dark),
    _rows((2, 4, 3), (2, 5, 3), (2, 5, 2), _dark, causal=True),
    _rows((2, 4, 3), (2, 5, 3), (2, 5, 2), booleans(2, 1, 5)),
    _rows((2, 4, 3), (2, 5, 3), (2, 5, 2), real(4, 5)),
    _rows((2, 4, 3), (2, 5, 3), (2, 5, 2), real(5)),
    _rows((2, 3, 4, 3), (3, 5, 3), (5, 2), real(2, 1, 1, 5), causal=True),
    _rows((4, 3, 2), (2, 5, 2), (2, 5, 3), enable_gqa=True),
    _rows((2, 6, 3, 2), (2, 2, 4, 2), (2, 2, 4, 3), real(6, 3, 4), enable_gqa=True, scale=0.7),
    _rows((2, 4, 3, 2), (2, 1, 3, 2), (1, 3, 3), booleans(3, 3), enable_gqa=True, causal=True),
    _rows((0, 3), (5, 3), (5, 2)),
    _rows((4, 3), (0, 3), (0, 2)),
    _rows((2, 150, 2), (2, 6, 2), (2, 6, 2), real(150, 1)),
]

ERRORS = [
    Error(
        NAME,
        tuple(np.ones(shape, "f4") for shape in shapes),  # type: ignore[attr-defined]
        f"{NAME}: {text}",
    )
    for shapes, text in [
        (
            [(3,), (5, 3), (5, 2)],
            "q, k and v must have at least 2 axes, "
            "got q_shape=(3,), k_shape=(5, 3), v_shape=(5, 2)",
        ),
        (
            [(4, 2), (5, 3), (5, 2)],
            "q and k must have one number of features, "
            "got q_shape=(4, 2), k_shape=(5, 3), v_shape=(5, 2)",
        ),
        (
            [(4, 3), (5, 3), (4, 2)],
            "there must be a value for each key, got q_shape=(4, 3), k_shape=(5, 3), v_shape=(4, 2)",
        ),
        (
            [(2, 4, 3), (3, 5, 3), (5, 2)],
            "batch axes must broadcast, got q_shape=(2, 4, 3), k_shape=(3, 5, 3), v_shape=(5, 2)",
        ),
        (
            [(4, 3), (5, 3), (5, 2), (5, 4)],
            "mask must broadcast to shape (4, 5), got mask_shape=(5, 4)",
        ),
        (
            [(4, 3), (5, 3), (5, 2), (1, 4, 5)],
            "mask must broadcast to shape (4, 5), got mask_shape=(1, 4, 5)",
        ),
    ]
] + [
    Error(
        NAME,
        (np.ones((3, 4, 3)), np.ones((2, 5, 3)), np.ones((2, 5, 2))),
        f"{NAME}: with enable_gqa the heads of k and v must be equal and divide those of q, "
        "got q_shape=(3, 4, 3), k_shape=(2, 5, 3), v_shape=(2, 5, 2)",
        {"enable_gqa": True},
    ),
    Error(
        NAME,
        (np.ones((4, 3)), np.ones((5, 3)), np.ones((5, 2)), np.ones((4, 5), int)),
        f"{NAME}: mask must be bool or floating, got mask_dtype='int64'",
        kind=TypeError,
    ),
    Error(
        NAME,
        (np.ones((4, 3)), np.ones((5, 3)), np.ones((5, 2)), None, 0.1),
        f"{NAME}: causal must be True or False, got causal=0.1",
        kind=TypeError,
    ),
    Error(
        f"{NAME}_backward",
        (np.ones((4, 3)), *(np.ones((4, 2)),) * 3, None, np.ones((4, 2))),
        f"{NAME}_backward: grad_output must have shape (4, 2), got grad_output_shape=(4, 3)",
    ),
]
