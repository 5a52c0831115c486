"""Losses against PyTorch: values and gradients of drawn configurations, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex

torch = pytest.importorskip("torch")
from rows_nn_losses import LOSSES  # noqa: E402
from torch.nn import functional as F  # noqa: E402, N812

REDUCTIONS = ("mean", "sum", "none")
DRAWS = range(12)


def _compared(
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    arrays: list[np.ndarray],
    rng: np.random.Generator,
    rtol: float = 1e-11,
) -> None:
    """Both functions take the arrays; values, and gradients of all floating ones, must agree."""
    close = {"rtol": rtol, "atol": 1e-13}
    mine = [ex.tensor(x, requires_grad=x.dtype == np.float64) for x in arrays]
    peers = [torch.tensor(x, requires_grad=x.dtype == np.float64) for x in arrays]
    result, expected = ours(*mine), theirs(*peers)
    assert result.shape == tuple(expected.shape)
    np.testing.assert_allclose(result.numpy(), expected.detach().numpy(), **close)
    seed = rng.uniform(-1, 1, result.shape)
    ex.backward(result, ex.tensor(seed))
    expected.backward(torch.tensor(seed))
    for x, peer in zip(mine, peers, strict=True):
        if x.requires_grad:
            np.testing.assert_allclose(x.grad.numpy(), peer.grad.numpy(), **close)


def _shape(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(1, 5, rng.integers(0, 4)))


def _reduction(rng: np.random.Generator) -> str:
    return str(rng.choice(REDUCTIONS))


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_regression(name: str, draw: int, rng: np.random.Generator) -> None:
    shape, attributes = _shape(rng), {"reduction": _reduction(rng)}
    if name == "smooth_l1_loss":
        attributes["beta"] = float(rng.choice([0.0, 0.3, 1.0, 2.5]))
    elif name == "huber_loss":
        attributes["delta"] = float(rng.choice([0.3, 1.0, 2.5]))
    arrays = [rng.normal(0, 2, shape), rng.normal(0, 2, shape)]
    _compared(
        lambda *x: getattr(ex, name)(*x, **attributes),
        lambda *x: getattr(F, name)(*x, **attributes),
        arrays,
        rng,
    )


def _weight(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return None if rng.random() < 0.4 else rng.uniform(0.2, 2, shape[rng.integers(0, 2) :])


def _as_torch(x: Any) -> Any:
    return None if x is None else torch.tensor(x)


@pytest.mark.parametrize("draw", DRAWS)
def test_binary_cross_entropy(draw: int, rng: np.random.Generator) -> None:
    shape, reduction = _shape(rng), _reduction(rng)
    weight = _weight(rng, shape)
    prediction = rng.uniform(0, 1, shape)
    target = rng.integers(0, 2, shape).astype(float) if draw % 2 else rng.uniform(0, 1, shape)
    _compared(
        lambda p, t: ex.binary_cross_entropy(p, t, reduction, weight=weight),
        lambda p, t: F.binary_cross_entropy(p, t, _as_torch(weight), reduction=reduction),
        [np.asarray(prediction), np.asarray(target)],
        rng,
    )


def test_sure_predictions_cost_what_they_cost_there(rng: np.random.Generator) -> None:
    """At 0 and 1 logarithms and denominators are held as there (whose 1e-12 is a float32)."""
    prediction, target = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
    mine, peer = ex.tensor(prediction, requires_grad=True), torch.tensor(prediction)
    peer.requires_grad = True
    result = ex.binary_cross_entropy(mine, target, "none")
    expected = F.binary_cross_entropy(peer, torch.tensor(target), reduction="none")
    np.testing.assert_array_equal(result.numpy(), expected.detach().numpy())
    result.sum().backward()
    expected.sum().backward()
    np.testing.assert_allclose(mine.grad.numpy(), peer.grad.numpy(), rtol=1e-8)


@pytest.mark.parametrize("draw", DRAWS)
def test_binary_cross_entropy_with_logits(draw: int, rng: np.random.Generator) -> None:
    shape, reduction = _shape(rng), _reduction(rng)
    weight, pos_weight = _weight(rng, shape), _weight(rng, shape)
    _compared(
        lambda x, t: ex.binary_cross_entropy_with_logits(x, t, reduction, weight, pos_weight),
        lambda x, t: F.binary_cross_entropy_with_logits(
            x, t, _as_torch(weight), reduction=reduction, pos_weight=_as_torch(pos_weight)
        ),
        [np.asarray(rng.normal(0, 5, shape)), np.asarray(rng.uniform(0, 1, shape))],
        rng,
    )


def _focal(logits: Any, target: Any, alpha: float, gamma: float, reduction: str) -> Any:
    """torchvision.ops.sigmoid_focal_loss, which is these lines."""
    p = torch.sigmoid(logits)
    ce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    p_t = p * target + (1 - p) * (1 - target)
    loss = ce * ((1 - p_t) ** gamma)
    if alpha >= 0:
        loss = (alpha * target + (1 - alpha) * (1 - target)) * loss
    return {"none": loss, "mean": loss.mean(), "sum": loss.sum()}[reduction]


@pytest.mark.parametrize("draw", DRAWS)
def test_focal_loss(draw: int, rng: np.random.Generator) -> None:
    shape, reduction = _shape(rng), _reduction(rng)
    alpha, gamma = float(rng.choice([-1, 0.25, 0.7])), float(rng.choice([0.0, 0.5, 1.0, 2.0, 3.5]))
    target = np.asarray(rng.uniform(0.05, 0.95, shape))
    _compared(
        lambda x, t: ex.focal_loss(x, t, alpha, gamma, reduction),
        lambda x, t: _focal(x, t, alpha, gamma, reduction),
        [np.asarray(rng.normal(0, 2, shape)), target],
        rng,
    )


def _scores(rng: np.random.Generator) -> tuple[np.ndarray, tuple[int, ...]]:
    """Scores of 1 to 4 axes, and the shape of their samples."""
    classes, rest = int(rng.integers(1, 6)), tuple(int(n) for n in rng.integers(1, 4, 2))
    ndim = int(rng.integers(1, 5))
    if ndim == 1:
        return rng.normal(0, 3, classes), ()
    batch = int(rng.integers(1, 6))
    samples = (batch, *rest[: ndim - 2])
    return rng.normal(0, 3, (batch, classes, *rest[: ndim - 2])), samples


def _classes(
    rng: np.random.Generator, samples: tuple[int, ...], classes: int, ignore_index: int
) -> np.ndarray:
    target = rng.integers(0, classes, samples)
    return np.asarray(np.where(rng.random(samples) < 0.2, ignore_index, target))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("draw", range(40))
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_class_indices(name: str, draw: int, rng: np.random.Generator) -> None:
    logits, samples = _scores(rng)
    classes = logits.shape[1 if logits.ndim > 1 else 0]
    ignore_index = int(rng.choice([-100, -1, 0]))
    target = _classes(rng, samples, classes, ignore_index)
    reduction = _reduction(rng)
    weight = None if rng.random() < 0.4 else rng.uniform(0.2, 2, classes)
    attributes: dict[str, Any] = {"reduction": reduction, "ignore_index": ignore_index}
    if name == "cross_entropy":
        attributes["label_smoothing"] = float(rng.choice([0.0, 0.1, 0.6]))
    _compared(
        lambda x, t: getattr(ex, name)(x, t, weight=weight, **attributes),
        lambda x, t: getattr(F, name)(x, t, weight=_as_torch(weight), **attributes),
        [logits, target],
        rng,
    )


@pytest.mark.parametrize("draw", range(20))
def test_class_probabilities(draw: int, rng: np.random.Generator) -> None:
    logits, _ = _scores(rng)
    axis = 1 if logits.ndim > 1 else 0
    target = rng.uniform(0, 1, logits.shape)
    weight = None if rng.random() < 0.4 else rng.uniform(0.2, 2, logits.shape[axis])
    attributes: dict[str, Any] = {
        "reduction": _reduction(rng),
        "label_smoothing": float(rng.choice([0.0, 0.1, 0.6])),
    }
    _compared(
        lambda x, t: ex.cross_entropy(x, t, weight=weight, **attributes),
        lambda x, t: F.cross_entropy(x, t, weight=_as_torch(weight), **attributes),
        [logits, target],
        rng,
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_huge_logits_and_all_ignored(smoothing: float, rng: np.random.Generator) -> None:
    logits = rng.choice([-1e4, 0.0, 1e4], (5, 4)) + rng.normal(0, 1, (5, 4))
    for target in (rng.integers(0, 4, 5), np.full(5, -100)):
        _compared(
            lambda x, t: ex.cross_entropy(x, t, label_smoothing=smoothing),
            lambda x, t: F.cross_entropy(x, t, label_smoothing=smoothing),
            [logits, target],
            rng,
        )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("draw", DRAWS)
def test_kl_div(draw: int, rng: np.random.Generator) -> None:
    shape = (int(rng.integers(1, 5)), *_shape(rng))
    reduction = str(rng.choice([*REDUCTIONS, "batchmean"]))
    log_target = bool(rng.integers(0, 2))
    target = rng.normal(0, 2, shape) if log_target else rng.uniform(0.01, 1, shape)
    _compared(
        lambda x, t: ex.kl_div(x, t, reduction, log_target),
        lambda x, t: F.kl_div(x, t, reduction=reduction, log_target=log_target),
        [rng.normal(0, 2, shape), target],
        rng,
    )


@pytest.mark.parametrize("draw", DRAWS)
def test_hinge_loss(draw: int, rng: np.random.Generator) -> None:
    """PyTorch has it only as the margin loss of two classes; the formula is one line."""
    shape, reduction = _shape(rng), _reduction(rng)
    reduce = {"mean": torch.mean, "sum": torch.sum, "none": lambda x: x}[reduction]
    _compared(
        lambda x, t: ex.hinge_loss(x, t, reduction),
        lambda x, t: reduce(torch.relu(1 - x * t)),
        [np.asarray(rng.normal(0, 2, shape)), np.asarray(rng.choice([-1.0, 1.0], shape))],
        rng,
    )


@pytest.mark.parametrize("draw", DRAWS)
def test_triplet_loss(draw: int, rng: np.random.Generator) -> None:
    """With the epsilon that PyTorch adds to each difference set to 0."""
    shape, reduction = (*_shape(rng)[:1], int(rng.integers(1, 5))), _reduction(rng)
    attributes: dict[str, Any] = {
        "margin": float(rng.choice([0.5, 1.0, 4.0])),
        "p": float(rng.choice([1.0, 2.0, 3.0])),
        "swap": bool(rng.integers(0, 2)),
        "reduction": reduction,
    }
    _compared(
        lambda *x: ex.triplet_loss(*x, **attributes),
        lambda *x: F.triplet_margin_loss(*x, eps=0.0, **attributes),
        [rng.normal(0, 2, shape) for _ in range(3)],
        rng,
    )


@pytest.mark.parametrize("draw", DRAWS)
def test_cosine_embedding_loss(draw: int, rng: np.random.Generator) -> None:
    """PyTorch adds 1e-12 to each squared length; long vectors make that vanish."""
    samples = (int(rng.integers(1, 5)),) if draw % 3 else ()
    shape, reduction = (*samples, int(rng.integers(2, 6))), _reduction(rng)
    target = np.asarray(rng.choice([-1, 1], samples))
    margin = float(rng.choice([0.0, 0.3, -0.5]))
    _compared(
        lambda a, b, t: ex.cosine_embedding_loss(a, b, t, margin, reduction),
        lambda a, b, t: F.cosine_embedding_loss(a, b, t, margin, reduction=reduction),
        [100 * rng.normal(0, 1, shape), 100 * rng.normal(0, 1, shape), target],
        rng,
    )


def test_cosine_of_a_vector_of_zeros(rng: np.random.Generator) -> None:
    """It counts as 1e-6 long, as there (where that is the root of a float32)."""
    x1, x2 = np.zeros((2, 3)), 100 * rng.normal(0, 1, (2, 3))
    x1[1] = 100 * rng.normal(0, 1, 3)
    ours, theirs = ex.cosine_embedding_loss, F.cosine_embedding_loss
    _compared(ours, theirs, [x1, x2, np.array([1, 1])], rng, rtol=1e-8)


@pytest.mark.parametrize("draw", DRAWS)
def test_ctc(draw: int, rng: np.random.Generator) -> None:
    """Behind a log-softmax, where PyTorch's gradient is the derivative."""
    steps, samples, classes, length = (int(rng.integers(low, 7)) for low in (1, 1, 2, 1))
    blank = int(rng.integers(classes))
    targets = rng.integers(0, classes - 1, (samples, length))
    targets += targets >= blank
    lengths = rng.integers(1, steps + 1, samples), rng.integers(0, length + 1, samples)
    reduction = _reduction(rng)
    _compared(
        lambda x: ex.ctc_loss(ex.log_softmax(x, 2), targets, *lengths, blank, reduction, True),
        lambda x: F.ctc_loss(
            F.log_softmax(x, 2),
            *(torch.tensor(each) for each in (targets, *lengths)),
            blank,
            reduction,
            True,
        ),
        [rng.normal(size=(steps, samples, classes))],
        rng,
        1e-9,
    )


MODULE_OF = {
    "soft_margin_loss": "SoftMarginLoss",
    "margin_ranking_loss": "MarginRankingLoss",
    "hinge_embedding_loss": "HingeEmbeddingLoss",
    "multi_margin_loss": "MultiMarginLoss",
    "multilabel_margin_loss": "MultiLabelMarginLoss",
    "multilabel_soft_margin_loss": "MultiLabelSoftMarginLoss",
    "gaussian_nll_loss": "GaussianNLLLoss",
    "poisson_nll_loss": "PoissonNLLLoss",
}


def test_the_losses_that_modules_compare() -> None:
    assert set(MODULE_OF.values()) <= set(LOSSES)
