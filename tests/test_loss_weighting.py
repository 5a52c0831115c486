"""Losses of batches that are computed in parts: the value and the step of the whole batch."""

from __future__ import annotations

import itertools
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import ArrayDataset, DataLoader
from extensor.train import Trainer
from extensor.train.loss_parts import LossWeighting
from extensor.train.tasks import loss_name

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 5)).astype(np.float32)
CLASSES = RNG.integers(0, 3, 20)
SOME = np.where(np.arange(20) % 3 == 0, -100, CLASSES)
# The third part of four, and the third of five batches, have no target that counts.
SPARSE = np.where((np.arange(20) >= 10) & (np.arange(20) < 15), 7, CLASSES)
SPARSE[8:12] = 7
NUMBERS = RNG.normal(size=(20, 3)).astype(np.float32)
TRUTH = (NUMBERS > 0).astype(np.float32)
PROBABILITIES = ex.softmax(ex.asarray(NUMBERS), 1).numpy()
WEIGHT = [0.5, 4.0, 1.0]


def log_kl(output: Any, target: Any, reduction: str) -> Any:
    return ex.kl_div(ex.log_softmax(output, 1), target, reduction)


nn = ex.nn
LOSSES: dict[str, tuple[Any, Any]] = {
    "mean": (nn.CrossEntropyLoss(), CLASSES),
    "sum": (nn.CrossEntropyLoss(reduction="sum"), CLASSES),
    "weights": (nn.CrossEntropyLoss(WEIGHT), CLASSES),
    "weights and sum": (nn.CrossEntropyLoss(WEIGHT, reduction="sum"), CLASSES),
    "ignored": (ex.cross_entropy, SOME),
    "a part without targets": (nn.CrossEntropyLoss(ignore_index=7), SPARSE),
    "all of it": (
        partial(ex.cross_entropy, weight=WEIGHT, ignore_index=7, label_smoothing=0.1),
        SPARSE,
    ),
    "probabilities": (nn.CrossEntropyLoss(WEIGHT), PROBABILITIES),
    "mse": (ex.mse_loss, NUMBERS),
    "mse sum": (partial(ex.mse_loss, reduction="sum"), NUMBERS),
    "huber sum": (nn.HuberLoss("sum"), NUMBERS),
    "bce": (nn.BCEWithLogitsLoss(pos_weight=WEIGHT), TRUTH),
    "bce sum": (nn.BCEWithLogitsLoss(WEIGHT, reduction="sum"), TRUTH),
}
OWN = {
    "own sum": (lambda o, t: ((o - t) ** 2).sum(), NUMBERS, "sum"),
    "own mean": (lambda o, t: ((o - t) ** 2).mean(), NUMBERS, None),
    "own ignored": (
        lambda o, t: ex.cross_entropy(o, t, ignore_index=7),
        SPARSE,
        lambda target: (np.asarray(target) != 7).sum(),
    ),
}


def trained(loss: Any, target: Any, batch: int = 20, **options: Any) -> tuple[Any, Any]:
    """The weights after three steps of SGD, and the losses."""
    ex.random.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 6), nn.Tanh(), nn.Linear(6, 3))
    optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
    trainer = Trainer(model, loss, optimizer, callbacks=[], **options)
    history = trainer.fit(DataLoader(ArrayDataset(X, target), batch), 3)
    assert trainer.step == 3
    weights = np.concatenate([x.numpy().reshape(-1) for x in model.parameters()])
    return weights, [record["loss"] for record in history]


WAYS = [{"micro_batches": 4}, {"micro_batches": 3}, {"accumulate": 5, "batch": 4}]
WAYS += [{"accumulate": 2, "batch": 13}, {"accumulate": 2, "batch": 10, "micro_batches": 2}]


@pytest.mark.parametrize("options", WAYS, ids=str)
@pytest.mark.parametrize("name", [*LOSSES, *OWN])
def test_parts_make_the_step_of_the_whole_batch(name: str, options: dict[str, Any]) -> None:
    loss, target, *reduction = LOSSES.get(name) or OWN[name]
    wanted = trained(loss, target)
    options = options | {"loss_reduction": reduction[0] if reduction else None}
    got = trained(loss, target, **options)
    np.testing.assert_allclose(got[0], wanted[0], rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(got[1], wanted[1], rtol=2e-5)


def test_the_weights_of_plain_means_are_the_shares_of_samples_to_the_bit() -> None:
    """So what runs began with before weights were known goes on."""
    for loss, target in (LOSSES["mean"], LOSSES["mse"], LOSSES["probabilities"]):
        weighting = LossWeighting(loss)
        sizes = [3, 7, 1, 6, 3]
        edges = np.cumsum([0, *sizes])
        parts = [target[a:b] for a, b in pairwise(edges)]
        assert weighting.weights(parts, sizes) == [size / 20 for size in sizes]


def test_batches_of_other_lengths_count_by_what_they_hold() -> None:
    weighting = LossWeighting(nn.CrossEntropyLoss(ignore_index=0))
    short, long = np.array([[1, 2, 0]]), np.array([[1, 1, 2, 1, 2, 2]])
    assert weighting.weights([short, long], [1, 1]) == [0.25, 0.75]
    assert LossWeighting(nn.KLDivLoss(reduction="batchmean")).mass(np.ones((4, 6))) == 4


def test_sync_batch_norm_weighs_parts_without_targets_too() -> None:
    found = []
    for options in ({}, {"micro_batches": 4, "sync_batch_norm": True}):
        ex.random.manual_seed(0)
        model = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.Linear(6, 3))
        optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
        loss = nn.CrossEntropyLoss(WEIGHT, ignore_index=7)
        trainer = Trainer(model, loss, optimizer, callbacks=[], **options)
        trainer.fit(DataLoader(ArrayDataset(X, SPARSE), 20), 2)
        tensors = [*model.parameters(), *model.buffers()]
        found.append(np.concatenate([x.numpy().reshape(-1) for x in tensors]))
    np.testing.assert_allclose(found[1], found[0], rtol=2e-4, atol=2e-6)


def test_running_statistics_do_not_depend_on_the_reduction() -> None:
    found = []
    for loss in (nn.CrossEntropyLoss(), nn.CrossEntropyLoss(reduction="sum")):
        ex.random.manual_seed(0)
        model = nn.Sequential(nn.BatchNorm1d(5), nn.Linear(5, 3))
        optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
        trainer = Trainer(model, loss, optimizer, micro_batches=4, callbacks=[])
        trainer.fit(DataLoader(ArrayDataset(X, CLASSES), 20), 1)
        found.append(model[0].running_mean.numpy().tobytes())
    assert found[0] == found[1]


def contrastive(output: Any, target: Any) -> Any:
    scores = output @ output.T
    return ex.cross_entropy(scores, ex.asarray(np.arange(len(output))))


def weighted(output: Any, target: Any) -> Any:
    return ex.cross_entropy(output, target, weight=WEIGHT)


REFUSED = {
    "contrastive": (contrastive, CLASSES, "depends on the samples together"),
    "own weights": (weighted, CLASSES, "depends on the samples together, on class weights"),
    "own sum": (OWN["own sum"][0], NUMBERS, "it is a sum over them: say loss_reduction='sum'"),
}


@pytest.mark.parametrize("amp", [None, "bfloat16"])
@pytest.mark.parametrize("name", REFUSED)
def test_losses_that_are_no_means_are_refused_before_the_first_step(
    name: str, amp: str | None
) -> None:
    loss, target, text = REFUSED[name]
    with pytest.raises(ValueError, match=f"fit: loss must be a mean over the samples.*{text}"):
        trained(loss, target, 10, micro_batches=4, amp=amp)


def test_mixed_precision_hides_no_small_difference() -> None:
    """Class weights that are nearly equal change the loss by less than bfloat16 rounds."""

    def loss(output: Any, target: Any) -> Any:
        return ex.cross_entropy(output, target, weight=[1.0, 1.05, 1.0])

    with pytest.raises(ValueError, match="fit: loss must be a mean over the samples"):
        trained(loss, CLASSES, micro_batches=4, amp="bfloat16")


def root_mean_square(output: Any, target: Any) -> Any:
    return ex.sqrt(((output - target) ** 2).mean())


@pytest.mark.parametrize(
    ("loss", "target"),
    [(contrastive, CLASSES), (weighted, CLASSES), (root_mean_square, NUMBERS)],
)
def test_accumulated_batches_are_averaged_whatever_their_loss_is(loss: Any, target: Any) -> None:
    got = trained(loss, target, 10, accumulate=2)
    wanted = trained(loss, target, 10, accumulate=2, loss_reduction="mean")
    assert got[0].tobytes() == wanted[0].tobytes()


@pytest.mark.parametrize("options", [{}, {"micro_batches": 1}], ids=str)
def test_a_sum_is_refused_for_accumulated_batches(options: dict[str, Any]) -> None:
    text = "where accumulate is greater than 1.*it is a sum: say loss_reduction='sum'"
    with pytest.raises(ValueError, match=text):
        trained(*OWN["own sum"][:2], 10, accumulate=2, **options)


class ByCall(nn.CrossEntropyLoss):
    def __call__(self, output: Any, target: Any) -> Any:
        return super().__call__(output, target) * len(target)


def with_forward() -> Any:
    loss = nn.CrossEntropyLoss()
    loss.forward = lambda output, target: ex.cross_entropy(output, target, reduction="sum")  # type: ignore[assignment, method-assign]
    return loss


def with_hook() -> Any:
    loss = nn.CrossEntropyLoss()
    loss.register_forward_hook(lambda module, inputs, output: output * len(inputs[0]))
    return loss


@pytest.mark.parametrize("make", [ByCall, with_forward, with_hook])
def test_a_changed_loss_of_the_library_is_one_of_the_users_own(make: Any) -> None:
    assert loss_name(nn.CrossEntropyLoss()) == "cross_entropy"
    assert loss_name(make()) is None
    with pytest.raises(ValueError, match="it is a sum over them"):
        trained(make(), CLASSES, micro_batches=4)


def test_they_are_taken_where_that_is_said() -> None:
    first = trained(contrastive, CLASSES, micro_batches=4, loss_reduction="mean")
    assert np.isfinite(first[0]).all()
    assert not np.allclose(first[0], trained(contrastive, CLASSES)[0], rtol=1e-4)


class Outputs(nn.Module):
    """What gives a dict, and batch norm that takes the batch's statistics in evaluation too."""

    def __init__(self) -> None:
        self.layer = nn.Linear(5, 3)
        self.norm = nn.BatchNorm1d(3, track_running_stats=False)

    def forward(self, x: Any) -> Any:
        return {"scores": self.norm(self.layer(x)), "more": (x, [x * 2])}


class InModel(nn.Module):
    """What computes its loss itself."""

    def __init__(self) -> None:
        self.layer = nn.Linear(5, 3)

    def forward(self, x: Any) -> Any:
        return (self.layer(x) ** 2).mean()


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        (Outputs, lambda o, t: ex.cross_entropy(o["scores"], t) + (o["more"][1][0] ** 2).mean()),
        (InModel, lambda o, t: o),
    ],
)
@pytest.mark.parametrize("amp", [None, "bfloat16"])
def test_means_of_other_outputs_are_taken(kind: Any, loss: Any, amp: str | None) -> None:
    model = kind()
    optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
    trainer = Trainer(model, loss, optimizer, micro_batches=4, amp=amp, callbacks=[])
    trainer.fit(X, CLASSES, epochs=1, batch_size=10)
    assert trainer.step == 2


def test_the_rehearsal_leaves_no_trace() -> None:
    """A loss that draws, from whatever generator, and a layer that it changes."""
    norm = nn.BatchNorm1d(3)

    def loss(output: Any, target: Any) -> Any:
        noise = np.random.rand(*output.shape).astype(np.float32)  # noqa: NPY002
        return ex.cross_entropy(norm(output) + 0.1 * noise, target)

    found = []
    for reduction in (None, "mean"):  # with the second nothing is rehearsed
        np.random.seed(0)  # noqa: NPY002
        ex.random.manual_seed(0)
        norm.load_state_dict(nn.BatchNorm1d(3).state_dict())
        model = nn.ModuleList([nn.Linear(5, 3), norm])
        model.forward = lambda x, layers=model: layers[0](x)  # type: ignore[method-assign]
        optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
        trainer = Trainer(
            model, loss, optimizer, micro_batches=4, loss_reduction=reduction, callbacks=[]
        )
        trainer.fit(X, CLASSES, epochs=1, batch_size=10)
        tensors = [*model.parameters(), *model.buffers()]
        found.append(b"".join(x.numpy().tobytes() for x in tensors))
    assert found[0] == found[1]


class Penalized(nn.Module):
    """Keeps a term of the loss, which the loss reads from the model itself."""

    def __init__(self) -> None:
        self.linear = nn.Linear(5, 3)

    def forward(self, x: Any) -> Any:
        output = self.linear(x)
        self.penalty = (output * output).mean()
        return output


def test_a_loss_that_reads_the_model_is_rehearsed_with_it() -> None:
    model = Penalized()

    def loss(output: Any, target: Any) -> Any:
        return contrastive(output, target) + model.penalty

    optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
    trainer = Trainer(model, loss, optimizer, micro_batches=4, callbacks=[])
    with pytest.raises(ValueError, match="depends on the samples together"):
        trainer.fit(X, CLASSES, epochs=1, batch_size=10)
    assert not hasattr(model, "penalty")


def test_iterators_are_not_moved_by_the_rehearsal() -> None:
    factors = itertools.count(1)

    def loss(output: Any, target: Any) -> Any:
        return next(factors) * ex.cross_entropy(output, target)

    trained(loss, CLASSES, micro_batches=4)
    assert next(factors) == 13  # three steps of four parts


def test_wrong_reductions_are_refused() -> None:
    for wrong in ("median", 3):
        with pytest.raises(ValueError, match="loss_reduction must be 'mean', 'sum', a function"):
            trained(ex.mse_loss, NUMBERS, loss_reduction=wrong)
    with pytest.raises(ValueError, match="loss_reduction must give 0 or more"):
        trained(ex.mse_loss, NUMBERS, loss_reduction=lambda target: -1, micro_batches=2)
    with pytest.raises(ValueError, match="class weights must be 0 or greater"):
        trained(nn.CrossEntropyLoss([1.0, -1.0, 1.0]), CLASSES, micro_batches=2)


def test_no_target_at_all_is_an_error_as_for_the_whole_batch() -> None:
    with pytest.raises(ex.train.NotFiniteError, match="loss is nan"):
        trained(ex.cross_entropy, np.full(20, -100), micro_batches=4)


def normed(samples: int, **options: Any) -> Trainer:
    ex.random.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 6), nn.BatchNorm1d(6), nn.Linear(6, 3))
    optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
    batch = options.pop("batch", 8)
    trainer = Trainer(model, ex.cross_entropy, optimizer, callbacks=[], **options)
    try:
        trainer.fit(DataLoader(ArrayDataset(X[:samples], CLASSES[:samples]), batch), 1)
    finally:
        assert trainer.step in (0, -(-samples // (batch * trainer.accumulate)))
    return trainer


@pytest.mark.parametrize(
    ("samples", "options"),
    [(18, {"micro_batches": 4}), (17, {"micro_batches": 1}), (17, {}), (17, {"accumulate": 2})],
    ids=str,
)
def test_a_last_part_of_one_sample_is_refused_before_the_first_step(
    samples: int, options: dict[str, Any]
) -> None:
    text = r"1 sample, which the model cannot be trained on alone.*drop_last=True"
    with pytest.raises(ValueError, match=text):
        normed(samples, **options)


def test_parts_that_batch_norm_takes_are_not_refused() -> None:
    normed(20, micro_batches=2)
    normed(18, micro_batches=4, sync_batch_norm=True)
    ex.random.manual_seed(0)
    pictures = RNG.normal(size=(9, 1, 4, 4)).astype(np.float32)
    layers = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 3)
    model = nn.Sequential(*layers)
    optimizer = ex.optim.SGD(model.parameters(), lr=0.05)
    trainer = Trainer(model, ex.cross_entropy, optimizer, micro_batches=8, callbacks=[])
    trainer.fit(pictures, CLASSES[:9], epochs=1, batch_size=8)
    assert trainer.step == 2
