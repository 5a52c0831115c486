"""The losses that are compared with PyTorch's: constructor options and inputs, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from rows_nn import Draw, Rng, Use, flag, pick, sizes, whole

REDUCTIONS = ("mean", "sum", "none")


def _regression(**choices: tuple[Any, ...]) -> Draw:
    def draw(rng: Rng) -> Use:
        shape = sizes(rng, 0, 3)
        options = {name: pick(rng, *values) for name, values in choices.items()}
        inputs = [np.asarray(rng.normal(0, 2, shape)) for _ in range(2)]
        return Use({"reduction": pick(rng, *REDUCTIONS), **options}, inputs)

    return draw


def _binary(rng: Rng, logits: bool) -> Use:
    shape = sizes(rng, 1, 3)
    x = rng.normal(0, 3, shape) if logits else rng.uniform(0.01, 0.99, shape)
    options = {"reduction": pick(rng, *REDUCTIONS), **_weight(rng, shape[-1])}
    if logits and flag(rng):
        options["pos_weight"] = rng.uniform(0.2, 2, shape[-1])
    return Use(options, [x, rng.uniform(0, 1, shape)])


def _weight(rng: Rng, size: int) -> dict[str, Any]:
    return {"weight": rng.uniform(0.2, 2, size)} if flag(rng) else {}


def _classes(rng: Rng) -> Use:
    scores = rng.normal(0, 3, sizes(rng, 2, 4))
    target = rng.integers(0, scores.shape[1], (scores.shape[0], *scores.shape[2:]))
    target.flat[1:][rng.random(target.size - 1) < 0.2] = -1
    options = {"reduction": pick(rng, *REDUCTIONS), "ignore_index": -1}
    return Use({**options, **_weight(rng, scores.shape[1])}, [scores, target])


def _cross_entropy(rng: Rng) -> Use:
    use = _classes(rng)
    options = {**use.options, "label_smoothing": pick(rng, 0.0, 0.2)}
    if flag(rng):
        return Use(options, use.inputs)
    del options["ignore_index"]
    scores = use.inputs[0]
    return Use(options, [scores, rng.uniform(0, 1, scores.shape)])


def _divergence(rng: Rng) -> Use:
    shape, log_target = sizes(rng, 1, 3), flag(rng)
    target = rng.normal(0, 2, shape) if log_target else rng.uniform(0.01, 1, shape)
    options = {"reduction": pick(rng, *REDUCTIONS, "batchmean"), "log_target": log_target}
    return Use(options, [rng.normal(0, 2, shape), target])


def _triplet(rng: Rng) -> Use:
    shape = sizes(rng, 2, 2)
    options = {
        "margin": pick(rng, 0.5, 4.0),
        "p": pick(rng, 1.0, 2.0, 3.0),
        "swap": flag(rng),
        "reduction": pick(rng, *REDUCTIONS),
    }
    inputs = [rng.normal(0, 1, shape) for _ in range(3)]
    return Use(options, inputs, peer_options={"eps": 0.0})


def _cosine(rng: Rng) -> Use:
    """PyTorch adds 1e-12 to each squared length; long vectors make that vanish."""
    shape = (whole(rng, 1, 4), whole(rng, 2, 5))
    options = {"margin": pick(rng, 0.0, 0.3), "reduction": pick(rng, *REDUCTIONS)}
    vectors = [100 * rng.normal(0, 1, shape) for _ in range(2)]
    return Use(options, [*vectors, rng.choice([-1, 1], shape[0])])


# HingeLoss and FocalLoss are not in torch.nn; their functions are compared in test_losses.py.
LOSSES: dict[str, Draw] = {
    "MSELoss": _regression(),
    "L1Loss": _regression(),
    "SmoothL1Loss": _regression(beta=(0.3, 1.0)),
    "HuberLoss": _regression(delta=(0.3, 1.0)),
    "BCELoss": lambda rng: _binary(rng, False),
    "BCEWithLogitsLoss": lambda rng: _binary(rng, True),
    "NLLLoss": _classes,
    "CrossEntropyLoss": _cross_entropy,
    "KLDivLoss": _divergence,
    "TripletMarginLoss": _triplet,
    "CosineEmbeddingLoss": _cosine,
}
