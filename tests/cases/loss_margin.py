from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .case import Case, Error, Singular, distinct, integers, real
from .loss import reduced, signs

REDUCTIONS = ("none", "mean", "sum")
INF = float("inf")
NAN = float("nan")


def soft_margin_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    return reduced(-special.log_expit(target * x), reduction)


def margin_ranking_loss(
    x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    return reduced(np.maximum(0, margin - target * (x1 - x2)), reduction)


def hinge_embedding_loss(x: Any, target: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    return reduced(np.where(target == 1, x, np.maximum(0, margin - x)), reduction)


def multi_margin_loss(
    x: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
) -> Any:
    losses = np.zeros(x.shape[:-1])
    for place in np.ndindex(losses.shape):
        row, label = x[place], target[place]
        terms = [max(0, margin - row[label] + row[i]) ** p for i in range(len(row)) if i != label]
        losses[place] = sum(terms) / len(row) * (1 if weight is None else weight[label])
    return reduced(losses, reduction)


def multilabel_margin_loss(x: Any, target: Any, reduction: str = "mean") -> Any:
    losses = np.zeros(x.shape[:-1])
    for place in np.ndindex(losses.shape):
        row = x[place]
        labels = [int(k) for k in target[place]]
        labels = labels[: labels.index(-1)] if -1 in labels else labels
        others = [i for i in range(len(row)) if i not in labels]
        terms = [max(0, 1 - row[j] + row[i]) for j in labels for i in others]
        losses[place] = sum(terms) / len(row)
    return reduced(losses, reduction)


def multilabel_soft_margin_loss(
    x: Any, target: Any, weight: Any = 1.0, reduction: str = "mean"
) -> Any:
    losses = -target * special.log_expit(x) - (1 - target) * special.log_expit(-x)
    return reduced((weight * losses).mean(-1), reduction)


def labels(*shape: int):
    """Distinct classes in each row, with -1 behind some of them."""

    def generate(rng: np.random.Generator, _: Any) -> Any:
        rows = np.array([rng.permutation(shape[-1]) for _ in range(int(np.prod(shape[:-1])))])
        for number, row in enumerate(rows):
            row[1 + number % (shape[-1] - 1) :] = -1
        return rows.reshape(shape)

    return generate


WEIGHT = np.array([0.5, 2.0, 1.25, 1.0])
APART = {"spacing": 0.37, "centre": 0.05}
CASES = [
    *(
        row
        for reduction in REDUCTIONS
        for row in (
            Case("soft_margin_loss", (real(3, 4), real(3, 4)), soft_margin_loss,
                 {"reduction": reduction}),
            Case("margin_ranking_loss", (distinct(3, 4), distinct(3, 4, centre=0.1), signs(3, 4)),
                 margin_ranking_loss, {"margin": 0.43, "reduction": reduction}, integers=False),
            Case("hinge_embedding_loss", (real(3, 4, avoid=(1.0,)), signs(3, 4)),
                 hinge_embedding_loss, {"reduction": reduction}, integers=False),
            Case("multi_margin_loss", (distinct(3, 4, **APART), integers(3, high=4)),
                 multi_margin_loss, {"reduction": reduction}, integers=False),
            Case("multilabel_margin_loss", (distinct(3, 4, **APART), labels(3, 4)),
                 multilabel_margin_loss, {"reduction": reduction}, integers=False),
            Case("multilabel_soft_margin_loss", (real(3, 4), real(3, 4, low=0, high=1)),
                 multilabel_soft_margin_loss, {"reduction": reduction}),
        )
    ),
    Case("margin_ranking_loss", (distinct(3, 1), distinct(4, centre=0.1), signs(3, 4)),
         margin_ranking_loss, integers=False),
    Case("hinge_embedding_loss", (real(3, 4, avoid=(0.5,)), signs(3, 4)), hinge_embedding_loss,
         {"margin": 0.5}, integers=False),
    Case("multi_margin_loss", (distinct(4, **APART), integers(high=4)), multi_margin_loss,
         {"p": 2, "margin": 0.5}, integers=False),
    Case("multi_margin_loss", (distinct(3, 4, **APART), integers(3, high=4)), multi_margin_loss,
         {"p": 2, "weight": WEIGHT, "reduction": "none"}, integers=False),
    Case("multi_margin_loss", (distinct(3, 4, **APART), integers(3, high=4)), multi_margin_loss,
         {"weight": WEIGHT}, integers=False),
    Case("multilabel_margin_loss", (distinct(4, **APART), labels(4)), multilabel_margin_loss,
         integers=False),
    Case("multilabel_soft_margin_loss", (real(3, 4), real(3, 4, low=0, high=1)),
         multilabel_soft_margin_loss, {"weight": WEIGHT, "reduction": "none"}),
    Case("multilabel_soft_margin_loss", (real(4), real(4, low=0, high=1)),
         multilabel_soft_margin_loss),
]  # fmt: skip

SINGULAR = [
    *(Singular("soft_margin_loss", (x, 1.0)) for x in (INF, -INF, NAN)),
    *(Singular("multilabel_soft_margin_loss", ([x], [1.0])) for x in (INF, -INF, NAN)),
]

ERRORS = [
    Error(
        "soft_margin_loss",
        ([1.0], [1.0, 1.0]),
        "soft_margin_loss: target must have the shape of x, got x_shape=(1,), target_shape=(2,)",
    ),
    Error(
        "margin_ranking_loss",
        ([1.0], [1.0], [0]),
        "margin_ranking_loss: target must be 1 or -1, got target=0.0",
    ),
    Error(
        "hinge_embedding_loss",
        ([1.0], [2]),
        "hinge_embedding_loss: target must be 1 or -1, got target=2.0",
    ),
    Error(
        "multi_margin_loss",
        ([1.0, 2.0], 2),
        "multi_margin_loss: target must be in [0, 1], got target=2",
    ),
    Error(
        "multi_margin_loss",
        ([1.0, 2.0], 1, 3),
        "multi_margin_loss: p must be 1 or 2, got p=3",
    ),
    Error(
        "multilabel_margin_loss",
        ([1.0, 2.0], [0, -2]),
        "multilabel_margin_loss: target must be in [-1, 1], got target=-2",
    ),
    Error(
        "multilabel_soft_margin_loss",
        (1.0, 1.0),
        "multilabel_soft_margin_loss: x must have an axis of classes, got x_shape=()",
    ),
]
