from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .case import Case, Error, Generator, Singular, distinct, integers, real

INF = float("inf")
NAN = float("nan")
PROBABILITY = {"low": 0.1, "high": 0.9}
WEIGHT = np.array([0.5, 2.0, 1.25])


def signs(*shape: int) -> Generator:
    """-1 and 1, both of them where there is room."""

    def generate(rng: np.random.Generator, _: Any) -> Any:
        size = int(np.prod(shape))
        return rng.permutation(np.resize([1, -1], size)).reshape(shape)

    return generate


def distribution(*shape: int) -> Generator:
    """Probabilities that sum to about 1 along axis 1, or along the only axis."""

    def generate(rng: np.random.Generator, dtype: Any) -> Any:
        raw = rng.uniform(0.2, 1, shape)
        return (raw / raw.sum(axis=1 if len(shape) > 1 else 0, keepdims=True)).astype(dtype)

    return generate


def reduced(losses: Any, reduction: str) -> Any:
    losses = np.asarray(losses)
    if reduction == "none":
        return losses
    if reduction == "batchmean":
        return losses.sum() / (losses.shape[0] if losses.ndim else 1)
    if reduction == "sum":
        return losses.sum()
    return losses.mean() if losses.size else np.float64(NAN)


def mse_loss(prediction: Any, target: Any, reduction: str = "mean") -> Any:
    return reduced((prediction - target) ** 2, reduction)


def l1_loss(prediction: Any, target: Any, reduction: str = "mean") -> Any:
    return reduced(np.abs(prediction - target), reduction)


def smooth_l1_loss(prediction: Any, target: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    if beta == 0:
        return l1_loss(prediction, target, reduction)
    return reduced(special.huber(beta, prediction - target) / beta, reduction)


def huber_loss(prediction: Any, target: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    return reduced(special.huber(delta, prediction - target), reduction)


def binary_cross_entropy(
    prediction: Any, target: Any, reduction: str = "mean", weight: Any = 1.0
) -> Any:
    losses = -special.xlogy(target, prediction) - special.xlog1py(1 - target, -prediction)
    return reduced(weight * losses, reduction)


def binary_cross_entropy_with_logits(
    logits: Any, target: Any, reduction: str = "mean", weight: Any = 1.0, pos_weight: Any = 1.0
) -> Any:
    yes, no = special.log_expit(logits), special.log_expit(-logits)
    return reduced(-weight * (pos_weight * target * yes + (1 - target) * no), reduction)


def focal_loss(
    logits: Any, target: Any, alpha: float = 0.25, gamma: float = 2.0, reduction: str = "mean"
) -> Any:
    probability = special.expit(logits)
    right = probability * target + (1 - probability) * (1 - target)
    losses = binary_cross_entropy(probability, target, "none") * (1 - right) ** gamma
    if alpha >= 0:
        losses = losses * (alpha * target + (1 - alpha) * (1 - target))
    return reduced(losses, reduction)


def hinge_loss(prediction: Any, target: Any, reduction: str = "mean") -> Any:
    return reduced(np.clip(1 - prediction * target, 0, None), reduction)


def nll_loss(
    x: Any, target: Any, reduction: str = "mean", weight: Any = None, ignore_index: int = -100
) -> Any:
    if x.ndim == 1:
        x = x[None]
    rows = np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
    weight = np.ones(x.shape[1]) if weight is None else np.asarray(weight)
    losses = np.zeros(target.size)
    total = 0.0
    for i, label in enumerate(target.ravel()):
        if label != ignore_index:
            losses[i] = -weight[label] * rows[i, label]
            total += weight[label]
    if reduction == "mean":
        return losses.sum() / total
    return reduced(losses.reshape(target.shape), reduction)


def cross_entropy(
    logits: Any,
    target: Any,
    reduction: str = "mean",
    weight: Any = None,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
) -> Any:
    axis = 1 if logits.ndim > 1 else 0
    classes = logits.shape[axis]
    hot, total = target, None
    if target.shape != logits.shape:
        kept = target != ignore_index
        hot = np.moveaxis(np.eye(classes)[np.where(kept, target, 0)], -1, axis)
        own = np.ones(classes) if weight is None else np.asarray(weight)
        total = (own[np.where(kept, target, 0)] * kept).sum()
    hot = hot * (1 - label_smoothing) + label_smoothing / classes
    if weight is not None:
        hot = np.moveaxis(np.moveaxis(hot, axis, -1) * weight, -1, axis)
    losses = -(hot * special.log_softmax(logits, axis=axis)).sum(axis)
    if total is None:
        return reduced(losses, reduction)
    losses = losses * kept
    return losses.sum() / total if reduction == "mean" else reduced(losses, reduction)


def kl_div(x: Any, target: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    if log_target:
        return reduced(np.exp(target) * (target - x), reduction)
    return reduced(special.xlogy(target, target) - target * x, reduction)


def triplet_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    def distance(a: Any, b: Any) -> Any:
        return np.linalg.norm(a - b, ord=p, axis=-1)

    far = distance(anchor, negative)
    if swap:
        far = np.minimum(far, distance(positive, negative))
    return reduced(np.maximum(distance(anchor, positive) - far + margin, 0), reduction)


def cosine_embedding_loss(
    x1: Any, x2: Any, target: Any, margin: float = 0.0, reduction: str = "mean"
) -> Any:
    lengths = np.linalg.norm(x1, axis=-1) * np.linalg.norm(x2, axis=-1)
    cosine = (x1 * x2).sum(-1) / lengths
    return reduced(np.where(target == 1, 1 - cosine, np.maximum(cosine - margin, 0)), reduction)


REDUCTIONS = ("mean", "sum", "none")
# No difference lies near 0, 0.35 or 1, where the slope bends.
NEAR = (distinct(3, 4, spacing=0.4), real(3, 4, low=0.07, high=0.12))


def _with_reductions(
    op: str, inputs: tuple[Any, ...], reference: Any, *, whole: bool = True, **attributes: Any
) -> list[Case]:
    return [
        Case(op, inputs, reference, {**attributes, "reduction": r}, integers=whole)
        for r in REDUCTIONS
    ]


def _same(op: str, inputs: tuple[Any, ...], reference: Any, **attributes: Any) -> Case:
    return Case(op, inputs, reference, attributes, integers=False)


_LOGITS = real(4, 3, low=-3, high=3)
_CLASSES = integers(4, high=3)
_MAPS = (real(2, 3, 2, 2, low=-3, high=3), integers(2, 2, 2, high=3))
_VECTORS = (real(3, 4), real(3, 4), real(3, 4))
# With swap, the distance that counts is the one between the last two, or that of the outer ones.
_SWAPPED = (real(3, 4, low=0, high=1), real(3, 4, low=3, high=4), real(3, 4, low=5, high=6))
_KEPT = (real(3, 4, low=3, high=4), real(3, 4, low=0, high=1), real(3, 4, low=5, high=6))

CASES = [
    *_with_reductions("mse_loss", (real(2, 3), real(2, 3)), mse_loss),
    Case("mse_loss", (real(), real()), mse_loss),
    _same("mse_loss", (real(0, 3), real(0, 3)), mse_loss),
    _same("mse_loss", (real(0), real(0)), mse_loss, reduction="none"),
    *_with_reductions("l1_loss", NEAR, l1_loss),
    *_with_reductions("smooth_l1_loss", NEAR, smooth_l1_loss),
    Case("smooth_l1_loss", NEAR, smooth_l1_loss, {"beta": 0.35}, integers=False),
    Case("smooth_l1_loss", NEAR, smooth_l1_loss, {"beta": 0.0}, integers=False),
    *_with_reductions("huber_loss", NEAR, huber_loss),
    Case("huber_loss", NEAR, huber_loss, {"delta": 0.35}, integers=False),
    *_with_reductions(
        "binary_cross_entropy",
        (real(2, 3, **PROBABILITY), real(2, 3, low=0.0, high=1.0)),
        binary_cross_entropy,
        whole=False,
    ),
    _same(
        "binary_cross_entropy",
        (real(2, 3, **PROBABILITY), real(2, 3, low=0.0, high=1.0)),
        binary_cross_entropy,
        weight=WEIGHT,
    ),
    _same("binary_cross_entropy", (real(0), real(0)), binary_cross_entropy, reduction="sum"),
    *_with_reductions(
        "binary_cross_entropy_with_logits",
        (real(2, 3), real(2, 3, low=0.0, high=1.0)),
        binary_cross_entropy_with_logits,
    ),
    _same(
        "binary_cross_entropy_with_logits",
        (real(2, 3, low=-30, high=30), real(2, 3, low=0.0, high=1.0)),
        binary_cross_entropy_with_logits,
        pos_weight=WEIGHT,
        weight=np.array([[0.5], [3.0]]),
    ),
    *_with_reductions(
        "focal_loss", (real(2, 3), real(2, 3, **PROBABILITY)), focal_loss, whole=False
    ),
    _same("focal_loss", (real(2, 3), real(2, 3, **PROBABILITY)), focal_loss, alpha=-1),
    _same("focal_loss", (real(2, 3), real(2, 3, **PROBABILITY)), focal_loss, gamma=0.0),
    _same("focal_loss", (real(2, 3), real(2, 3, **PROBABILITY)), focal_loss, gamma=0.5, alpha=0.7),
    *_with_reductions(
        "hinge_loss", (real(2, 3, avoid=(-1.0, 1.0)), signs(2, 3)), hinge_loss, whole=False
    ),
    _same("hinge_loss", (real(2, 3, low=-2, high=0.9), real(2, 3, low=0.5, high=1)), hinge_loss),
    *_with_reductions("nll_loss", (_LOGITS, _CLASSES), nll_loss, whole=False),
    _same("nll_loss", (_LOGITS, _CLASSES), nll_loss, weight=WEIGHT),
    _same("nll_loss", (_LOGITS, _CLASSES), nll_loss, weight=WEIGHT, reduction="none"),
    _same("nll_loss", (_LOGITS, integers(4, low=-1, high=3)), nll_loss, ignore_index=-1),
    _same("nll_loss", _MAPS, nll_loss, weight=WEIGHT),
    _same("nll_loss", (real(3), integers(high=3)), nll_loss),
    *_with_reductions("cross_entropy", (_LOGITS, _CLASSES), cross_entropy, whole=False),
    *_with_reductions(
        "cross_entropy",
        (_LOGITS, _CLASSES),
        cross_entropy,
        whole=False,
        weight=WEIGHT,
        label_smoothing=0.2,
    ),
    _same("cross_entropy", (_LOGITS, _CLASSES), cross_entropy, label_smoothing=0.1),
    _same("cross_entropy", (_LOGITS, integers(4, high=3, dtype=np.uint8)), cross_entropy),
    _same("cross_entropy", (_LOGITS, integers(4, low=-1, high=3)), cross_entropy, ignore_index=-1),
    _same(
        "cross_entropy",
        (_LOGITS, integers(4, high=3)),
        cross_entropy,
        ignore_index=1,
        weight=WEIGHT,
        label_smoothing=0.3,
        reduction="sum",
    ),
    _same("cross_entropy", _MAPS, cross_entropy),
    _same("cross_entropy", _MAPS, cross_entropy, weight=WEIGHT, label_smoothing=0.1),
    _same("cross_entropy", _MAPS, cross_entropy, reduction="none"),
    _same("cross_entropy", (real(3), integers(high=3)), cross_entropy, label_smoothing=0.1),
    _same("cross_entropy", (real(2, 1), integers(2, high=1)), cross_entropy),
    _same("cross_entropy", (real(0, 3), integers(0, high=3)), cross_entropy, reduction="sum"),
    *_with_reductions("cross_entropy", (_LOGITS, distribution(4, 3)), cross_entropy, whole=False),
    _same("cross_entropy", (real(3), distribution(3)), cross_entropy),
    _same(
        "cross_entropy",
        (real(2, 3, 2), distribution(2, 3, 2)),
        cross_entropy,
        weight=WEIGHT,
        label_smoothing=0.2,
        reduction="none",
    ),
    _same("cross_entropy", (real(0, 3), real(0, 3)), cross_entropy, reduction="none"),
    *_with_reductions("kl_div", (real(2, 3), distribution(2, 3)), kl_div, whole=False),
    _same("kl_div", (real(2, 3), distribution(2, 3)), kl_div, reduction="batchmean"),
    _same("kl_div", (real(2, 3), real(2, 3)), kl_div, reduction="batchmean", log_target=True),
    _same("kl_div", (real(), real(low=0.2)), kl_div, reduction="batchmean"),
    _same("kl_div", (real(2, 3), real(2, 3)), kl_div, log_target=True),
    *_with_reductions("triplet_loss", _VECTORS, triplet_loss, whole=False, margin=5.0),
    _same("triplet_loss", _SWAPPED, triplet_loss, margin=5.0, swap=True),
    _same("triplet_loss", _KEPT, triplet_loss, margin=5.0, swap=True),
    _same("triplet_loss", _VECTORS, triplet_loss, margin=5.0, p=1.0),
    _same("triplet_loss", _SWAPPED, triplet_loss, margin=5.0, p=3.0, swap=True),
    _same("triplet_loss", _KEPT, triplet_loss, margin=5.0, p=1.5, reduction="none"),
    _same("triplet_loss", (real(4), real(4), real(4)), triplet_loss, margin=6.0),
    _same("triplet_loss", (real(0, 4), real(0, 4), real(0, 4)), triplet_loss, reduction="sum"),
    *_with_reductions(
        "cosine_embedding_loss",
        (real(4, 3, low=0.2), real(4, 3, low=0.2), signs(4)),
        cosine_embedding_loss,
        whole=False,
    ),
    _same(
        "cosine_embedding_loss",
        (real(2, 2, 3, low=0.2), real(2, 2, 3, low=0.2), signs(2, 2)),
        cosine_embedding_loss,
        margin=0.1,
    ),
    _same("cosine_embedding_loss", (real(3), real(3), signs()), cosine_embedding_loss, margin=-1.5),
]

SINGULAR = [
    Singular("mse_loss", (INF, 1.0)),
    Singular("mse_loss", ([NAN, INF], [1.0, INF])),
    Singular("l1_loss", ([NAN, INF], [1.0, INF])),
    Singular("smooth_l1_loss", ([NAN, INF], [1.0, INF])),
    Singular("huber_loss", ([NAN, INF], [1.0, INF])),
    Singular("binary_cross_entropy", ([0.0, 1.0, NAN], [1.0, 0.0, 1.0])),
    Singular("binary_cross_entropy", ([0.0, 1.0, NAN], [1.0, 0.0, 1.0]), {"reduction": "sum"}),
    Singular("binary_cross_entropy_with_logits", ([INF, -INF, NAN], [0.0, 1.0, 1.0])),
    Singular("focal_loss", ([INF, -INF, NAN], [0.0, 1.0, 1.0])),
    Singular("focal_loss", ([INF, -INF, 1e4], [1.0, 0.0, 1.0]), {"gamma": 0.5}),
    Singular("hinge_loss", ([-INF, NAN], [1.0, 1.0])),
    Singular("cross_entropy", ([[-INF, 1.0], [NAN, INF]], [[1.0, 0.0], [1.0, 0.0]])),
    Singular("kl_div", ([-INF, NAN], [0.0, 1.0])),
    Singular("kl_div", ([-INF, NAN], [-INF, 0.0]), {"log_target": True}),
    Singular("triplet_loss", ([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])),
    Singular("triplet_loss", ([[0.0, NAN]], [[INF, 0.0]], [[0.0, 0.0]]), {"p": 0.5, "swap": True}),
]

FIRST = {
    "mse_loss": "prediction",
    "l1_loss": "prediction",
    "smooth_l1_loss": "prediction",
    "huber_loss": "prediction",
    "binary_cross_entropy": "prediction",
    "hinge_loss": "prediction",
    "binary_cross_entropy_with_logits": "logits",
    "focal_loss": "logits",
    "kl_div": "x",
}
TWO, THREE = [0.5, 0.5], [0.5, 0.5, 0.5]
ROWS = [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]
CHOICE = "reduction must be 'mean', 'sum' or 'none', got reduction='average'"

ERRORS = [
    *(
        Error(
            name,
            (TWO, THREE),
            f"{name}: target must have the shape of {first}, got {first}_shape=(2,), "
            "target_shape=(3,)",
        )
        for name, first in FIRST.items()
    ),
    *(
        Error(
            f"{name}_backward",
            (1.0, [TWO], TWO),
            f"{name}_backward: target must have the shape of {first}, got {first}_shape=(1, 2), "
            "target_shape=(2,)",
        )
        for name, first in FIRST.items()
    ),
    *(
        Error(name, (TWO, TWO), f"{name}: {CHOICE}", {"reduction": "average"})
        for name in FIRST
        if name != "kl_div"
    ),
    *(
        Error(
            f"{name}_backward",
            (1.0, TWO, TWO),
            f"{name}_backward: grad_output must have shape (2,), got grad_output_shape=()",
            {"reduction": "none"},
        )
        for name in FIRST
    ),
    *(
        Error(
            f"{name}_backward",
            (TWO, TWO, TWO),
            f"{name}_backward: grad_output must have shape (), got grad_output_shape=(2,)",
        )
        for name in FIRST
    ),
    *(
        Error(name, (ROWS, [0, 1]), f"{name}: {CHOICE}", {"reduction": "average"})
        for name in ("nll_loss", "cross_entropy")
    ),
    Error(
        "mse_loss",
        (TWO, TWO),
        "mse_loss: reduction must be 'mean', 'sum' or 'none', got reduction=None",
        {"reduction": None},
    ),
    Error(
        "kl_div",
        (TWO, TWO),
        "kl_div: reduction must be 'mean', 'sum', 'batchmean' or 'none', got reduction='average'",
        {"reduction": "average"},
    ),
    Error(
        "smooth_l1_loss",
        (TWO, TWO),
        "smooth_l1_loss: beta must be 0 or greater, got beta=-1.0",
        {"beta": -1.0},
    ),
    Error(
        "smooth_l1_loss_backward",
        (1.0, TWO, TWO),
        "smooth_l1_loss_backward: beta must be 0 or greater, got beta=-1.0",
        {"beta": -1.0},
    ),
    Error(
        "huber_loss",
        (TWO, TWO),
        "huber_loss: delta must be above 0, got delta=0.0",
        {"delta": 0.0},
    ),
    Error(
        "huber_loss_backward",
        (1.0, TWO, TWO),
        "huber_loss_backward: delta must be above 0, got delta=0.0",
        {"delta": 0.0},
    ),
    Error(
        "binary_cross_entropy",
        ([0.5, 1.5], TWO),
        "binary_cross_entropy: prediction must be in [0, 1], got prediction=1.5",
    ),
    Error(
        "binary_cross_entropy",
        (TWO, TWO),
        "binary_cross_entropy: weight must broadcast to shape (2,), got weight_shape=(3,)",
        {"weight": THREE},
    ),
    Error(
        "binary_cross_entropy_with_logits",
        (TWO, TWO),
        "binary_cross_entropy_with_logits: pos_weight must broadcast to shape (2,), "
        "got pos_weight_shape=(1, 2)",
        {"pos_weight": [TWO]},
    ),
    Error(
        "focal_loss",
        (TWO, TWO),
        "focal_loss: alpha must be in [0, 1], or -1 for no balance, got alpha=2.0",
        {"alpha": 2.0},
    ),
    Error(
        "focal_loss_backward",
        (1.0, TWO, TWO),
        "focal_loss_backward: gamma must be 0 or greater, got gamma=-1.0",
        {"gamma": -1.0},
    ),
    *(
        Error(name, (1.0, 0), f"{name}: {first} must have at least one class, got {first}_shape=()")
        for name, first in (("nll_loss", "x"), ("cross_entropy", "logits"))
    ),
    Error(
        "nll_loss",
        (ROWS, [0, 1, 2]),
        "nll_loss: target must have shape (2,), got x_shape=(2, 3), target_shape=(3,)",
    ),
    Error(
        "nll_loss_backward",
        (1.0, (2, 3), [-1, 0]),
        "nll_loss_backward: target must be in [0, 2] or ignore_index=-100, got target=-1",
    ),
    Error(
        "cross_entropy_backward",
        (1.0, [[1.0, 2.0]], [-1]),
        "cross_entropy_backward: target must be in [0, 1] or ignore_index=-100, got target=-1",
    ),
    Error(
        "nll_loss_backward",
        (1.0, (2, 3), [0, 1, 2]),
        "nll_loss_backward: target must have shape (2,), got x_shape=(2, 3), target_shape=(3,)",
    ),
    Error(
        "nll_loss_backward",
        ([1.0, 1.0], (2, 3), [0, 1]),
        "nll_loss_backward: grad_output must have shape (), got grad_output_shape=(2,)",
    ),
    Error(
        "cross_entropy",
        (ROWS, [0, 1, 2]),
        "cross_entropy: target must have shape (2,) for class indices or (2, 3) for probabilities, "
        "got logits_shape=(2, 3), target_shape=(3,)",
    ),
    Error(
        "cross_entropy_backward",
        ([1.0], ROWS, [0, 1]),
        "cross_entropy_backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
        {"reduction": "none"},
    ),
    *(
        Error(
            name,
            (ROWS, [0, 3]),
            f"{name}: target must be in [0, 2] or ignore_index=-100, got target=3",
        )
        for name in ("nll_loss", "cross_entropy")
    ),
    *(
        Error(
            name,
            (ROWS, [0, 1]),
            f"{name}: weight must have shape (3,), got weight_shape=(2,)",
            {"weight": TWO},
        )
        for name in ("nll_loss", "cross_entropy")
    ),
    *(
        Error(
            name,
            (ROWS, [0.0, 1.0]),
            f"{name}: class indices must be integers, got target_dtype='float32'",
            kind=TypeError,
        )
        for name in ("nll_loss", "cross_entropy")
    ),
    *(
        Error(
            name,
            (ROWS, [0, 1]),
            f"{name}: ignore_index must be an int, got ignore_index=1.5",
            {"ignore_index": 1.5},
            kind=TypeError,
        )
        for name in ("nll_loss", "cross_entropy")
    ),
    Error(
        "cross_entropy",
        (ROWS, [[0, 0, 1], [0, 1, 0]]),
        "cross_entropy: probabilities must be floating, got target_dtype='int64'",
        kind=TypeError,
    ),
    Error(
        "cross_entropy",
        (ROWS, ROWS),
        "cross_entropy: ignore_index is for class indices, got ignore_index=2",
        {"ignore_index": 2},
    ),
    *(
        Error(
            name,
            arguments,
            f"{name}: label_smoothing must be in [0, 1], got label_smoothing=1.5",
            {"label_smoothing": 1.5},
        )
        for name, arguments in (
            ("cross_entropy", (ROWS, [0, 1])),
            ("cross_entropy_backward", (1.0, ROWS, [0, 1])),
        )
    ),
    Error(
        "triplet_loss",
        (TWO, TWO, THREE),
        "triplet_loss: anchor, positive, negative must have the same shape, "
        "got anchor_shape=(2,), positive_shape=(2,), negative_shape=(3,)",
    ),
    Error(
        "triplet_loss",
        (1.0, 1.0, 1.0),
        "triplet_loss: vectors need an axis, "
        "got anchor_shape=(), positive_shape=(), negative_shape=()",
    ),
    Error(
        "triplet_loss",
        (TWO, TWO, TWO),
        "triplet_loss: p must be above 0 and finite, got p=0.0",
        {"p": 0.0},
    ),
    Error(
        "triplet_loss_backward",
        (1.0, TWO, TWO, TWO),
        "triplet_loss_backward: margin must be above 0, got margin=-1.0",
        {"margin": -1.0},
    ),
    Error("triplet_loss", (TWO, TWO, TWO), f"triplet_loss: {CHOICE}", {"reduction": "average"}),
    Error(
        "triplet_loss_backward",
        (TWO, TWO, TWO, TWO),
        "triplet_loss_backward: grad_output must have shape (), got grad_output_shape=(2,)",
    ),
    Error(
        "cosine_embedding_loss",
        (ROWS, [ROWS[0]], [1, 1]),
        "cosine_embedding_loss: x1, x2 must have the same shape, "
        "got x1_shape=(2, 3), x2_shape=(1, 3)",
    ),
    Error(
        "cosine_embedding_loss",
        (ROWS, ROWS, 1),
        "cosine_embedding_loss: target must have shape (2,), got target_shape=()",
    ),
    Error(
        "cosine_embedding_loss",
        (ROWS, ROWS, [1, 0]),
        "cosine_embedding_loss: target must be 1 or -1, got target=0.0",
    ),
    Error(
        "cosine_embedding_loss",
        (ROWS, ROWS, [1, 1]),
        f"cosine_embedding_loss: {CHOICE}",
        {"reduction": "average"},
    ),
    Error(
        "cosine_embedding_loss_backward",
        (TWO, ROWS, ROWS, [1, 1]),
        "cosine_embedding_loss_backward: grad_output must have shape (), "
        "got grad_output_shape=(2,)",
    ),
]
