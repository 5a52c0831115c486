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


def _signed(*names: str, inputs: int = 1) -> Draw:
    def draw(rng: Rng) -> Use:
        shape = sizes(rng, 1, 3)
        options = {name: pick(rng, 0.3, 1.5) for name in names}
        given = [rng.normal(0, 2, shape) for _ in range(inputs)]
        return Use(
            {"reduction": pick(rng, *REDUCTIONS), **options},
            [*given, rng.choice([-1.0, 1.0], shape).astype(int)],
        )

    return draw


def _multi_margin(rng: Rng) -> Use:
    shape = (whole(rng, 1, 4), whole(rng, 2, 5))
    options = {
        "p": pick(rng, 1, 2),
        "margin": pick(rng, 0.5, 1.0),
        "reduction": pick(rng, *REDUCTIONS),
        **_weight(rng, shape[1]),
    }
    return Use(options, [rng.normal(size=shape), rng.integers(0, shape[1], shape[0])])


def _multilabel_margin(rng: Rng) -> Use:
    shape = (whole(rng, 1, 4), whole(rng, 2, 5))
    target = np.array([rng.permutation(shape[1]) for _ in range(shape[0])])
    target[np.arange(shape[0]), rng.integers(0, shape[1], shape[0])] = -1
    return Use({"reduction": pick(rng, *REDUCTIONS)}, [rng.normal(size=shape), target])


def _multilabel_soft_margin(rng: Rng) -> Use:
    shape = (whole(rng, 1, 4), whole(rng, 2, 5))
    options = {"reduction": pick(rng, *REDUCTIONS), **_weight(rng, shape[1])}
    target = rng.integers(0, 2, shape)
    return Use(options, [rng.normal(size=shape), target])


def _gaussian(rng: Rng) -> Use:
    shape = sizes(rng, 1, 3)
    options = {"full": flag(rng), "eps": pick(rng, 1e-6, 0.5), "reduction": pick(rng, *REDUCTIONS)}
    variances = rng.uniform(0.1, 2, pick(rng, shape, (*shape[:-1], 1)))
    return Use(options, [*rng.normal(size=(2, *shape)), variances])


def _poisson(rng: Rng) -> Use:
    shape = sizes(rng, 1, 3)
    options = {
        "log_input": flag(rng),
        "full": flag(rng),
        "eps": pick(rng, 1e-8, 0.1),
        "reduction": pick(rng, *REDUCTIONS),
    }
    return Use(options, [rng.uniform(0.1, 2, shape), rng.uniform(0, 5, shape)])


def _triplet_with_distance(rng: Rng) -> Use:
    shape = sizes(rng, 2, 2)
    options = {
        "margin": pick(rng, 0.5, 4.0),
        "swap": flag(rng),
        "reduction": pick(rng, *REDUCTIONS),
    }
    return Use(options, [rng.normal(0, 1, shape) for _ in range(3)])


def _pair_of_vectors(**choices: tuple[Any, ...]) -> Draw:
    def draw(rng: Rng) -> Use:
        shape = sizes(rng, 2, 3)
        options = {name: pick(rng, *values) for name, values in choices.items()}
        return Use(options, [rng.normal(size=shape) for _ in range(2)])

    return draw


# CTCLoss is compared behind a log-softmax in test_losses.py.
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
    "SoftMarginLoss": _signed(),
    "MarginRankingLoss": _signed("margin", inputs=2),
    "HingeEmbeddingLoss": _signed("margin"),
    "MultiMarginLoss": _multi_margin,
    "MultiLabelMarginLoss": _multilabel_margin,
    "MultiLabelSoftMarginLoss": _multilabel_soft_margin,
    "GaussianNLLLoss": _gaussian,
    "PoissonNLLLoss": _poisson,
    "TripletMarginWithDistanceLoss": _triplet_with_distance,
    "CosineSimilarity": _pair_of_vectors(dim=(0, 1, -1), eps=(1e-8,)),
    "PairwiseDistance": _pair_of_vectors(p=(1.0, 2.0, 3.0), eps=(1e-6, 0.1), keepdim=(True, False)),
}
