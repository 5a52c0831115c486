"""``ex.distributed.Gradients`` as a loop of one process uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.distributed import Gradients
from extensor.distributed.consistency import StepHandshake
from extensor.distributed.workers import Workers

X = np.random.default_rng(0).normal(size=(12, 4)).astype(np.float32)


def losses_of(model: Any, parts: int = 3) -> Callable[[int], Any]:
    size = 12 // parts

    def compute(number: int) -> Any:
        return (model(ex.asarray(X[number * size : (number + 1) * size])) ** 2).mean()

    return compute


def network() -> Any:
    nn = ex.nn
    return nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Linear(6, 2))


def test_a_second_call_adds_to_what_is_there() -> None:
    ex.random.manual_seed(0)
    model = ex.nn.Linear(4, 2)
    gradients = Gradients(model)
    gradients(0, [1 / 3] * 3, losses_of(model))
    first = model.weight.grad
    before = first.numpy().copy()
    gradients(1, [1 / 3] * 3, losses_of(model))
    assert first.numpy().tobytes() == before.tobytes()  # the tensor itself is left alone
    np.testing.assert_array_equal(model.weight.grad.numpy(), before + before)
    model.zero_grad()
    (model(ex.asarray(X)) ** 2).mean().backward()
    plain = model.weight.grad.numpy().copy()
    gradients(2, [1 / 3] * 3, losses_of(model))
    np.testing.assert_array_equal(model.weight.grad.numpy(), plain + before)


@pytest.mark.parametrize("sync", [False, True])
def test_a_loss_that_is_not_finite_is_an_error_and_changes_nothing(sync: bool) -> None:
    ex.random.manual_seed(0)
    model = network()
    gradients = Gradients(model, sync_batch_norm=sync)
    gradients(0, [1 / 3] * 3, losses_of(model))
    tensors = [*model.parameters(), *model.buffers()]
    kept = [x.numpy().copy() for x in tensors]
    sums = [x.grad.numpy().copy() for x in model.parameters()]

    def compute(number: int) -> Any:
        return losses_of(model)(number) * (np.nan if number == 1 else 1.0)

    text = r"the loss of part 1 must be finite, got loss=nan \(step 4, worker 0\)"
    with pytest.raises(FloatingPointError, match=text):
        gradients(4, [1 / 3] * 3, compute)
    for x, before in zip(tensors, kept, strict=True):
        assert x.numpy().tobytes() == before.tobytes()
    for x, before in zip(model.parameters(), sums, strict=True):
        assert x.grad.numpy().tobytes() == before.tobytes()
    gradients(4, [0.5, 0.0, 0.5], compute)  # a part of weight 0 adds nothing


def noise(gradients: Gradients, model: Any, step: int = 0) -> list[float]:
    drawn: list[float] = []

    def compute(number: int) -> Any:
        drawn.extend(ex.random.rand(2).tolist())
        return losses_of(model)(number)

    gradients(step, [1 / 3] * 3, compute)
    return drawn


def test_objects_draw_noise_of_their_own() -> None:
    ex.random.manual_seed(7)
    generator, critic = ex.nn.Linear(4, 2), ex.nn.Linear(4, 2)
    first, second = Gradients(generator), Gradients(critic)
    drawn = noise(first, generator), noise(second, critic)
    assert not set(drawn[0]) & set(drawn[1])
    # The first one has the numbers that a trainer's steps draw, which runs are resumed with.
    by_number = Gradients(critic, stream=0), Gradients(generator, stream=1)
    assert (noise(by_number[0], critic), noise(by_number[1], generator)) == drawn
    # A program that seeds again repeats itself within one process.
    ex.random.manual_seed(7)
    again = Gradients(generator), Gradients(critic)
    assert (noise(again[0], generator), noise(again[1], critic)) == drawn


def test_objects_from_before_and_after_a_seed_are_refused_where_they_draw_the_same() -> None:
    ex.random.manual_seed(7)
    model = ex.nn.Linear(4, 2)
    first = Gradients(model)
    ex.random.manual_seed(8)
    second = Gradients(model)
    noise(first, model)
    with pytest.raises(ValueError, match="two objects must not draw the same random numbers"):
        noise(second, model)
    noise(second, model, 1)


def test_parameters_are_followed() -> None:
    ex.random.manual_seed(0)
    model = network()
    model[0].weight.requires_grad = False
    gradients = Gradients(model)
    gradients(0, [1 / 3] * 3, losses_of(model))
    assert model[0].weight.grad is None
    model[0].weight.requires_grad = True
    model[2].bias.requires_grad = False
    model.zero_grad()
    gradients(1, [1 / 3] * 3, losses_of(model))
    assert model[0].weight.grad is not None
    assert model[2].bias.grad is None
    layer = ex.nn.Linear(2, 2)
    model.append(layer)
    gradients(2, [1 / 3] * 3, losses_of(model))
    assert layer.weight.grad is not None


def test_running_statistics_are_a_mean_whatever_the_weights_add_up_to() -> None:
    found = []
    for weights in ([1 / 3] * 3, [1.0] * 3, [4.0] * 3):
        ex.random.manual_seed(0)
        model = network()
        Gradients(model)(0, weights, losses_of(model))
        found.append(model[1].running_mean.numpy().copy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-6)


class Heard(Workers):
    """Three workers, of whom the last tells other facts."""

    def __init__(self, others: dict[str, int]) -> None:
        super().__init__(0, 3, 1.0)
        self.facts = others

    def transfer(self) -> Any:
        workers = self

        class Transfer:
            def receive(self, peer: int, tag: int, row: Any) -> None:
                row[:-1] = [*workers.facts.values()] if peer == 2 else 5

            def send(self, peer: int, tag: int, row: Any) -> None:
                """Nobody listens."""

            def wait(self, what: str) -> None:
                """All is known."""

        return Transfer()


@pytest.mark.parametrize("name", ["step", "number of parts", "trainable parameters"])
def test_a_worker_that_differs_is_named(name: str) -> None:
    facts = {"step": 5, "number of parts": 5, "trainable parameters": 5}
    StepHandshake(Heard(facts), facts, False, 5).finish()
    text = (
        f"all workers must have the same {name}, but worker 2 differs, got worker_0=5, worker_2=6"
    )
    with pytest.raises(ValueError, match=text):
        StepHandshake(Heard(facts | {name: 6}), facts, False, 5).finish()


@pytest.mark.parametrize("sync", [False, True])
def test_batch_norm_that_the_object_does_not_know_is_refused(sync: bool) -> None:
    encoder, head = network(), ex.nn.Linear(2, 1)

    def compute(number: int) -> Any:
        return (head(encoder(parts[number])) ** 2).mean()

    parts = [ex.asarray(X[4 * i : 4 * i + 4]) for i in range(3)]
    text = r"pass the module that has them, as Gradients\(model, modules=.*got module='BatchNorm1d'"
    with pytest.raises(ValueError, match=text):
        Gradients(head, sync_batch_norm=sync)(0, [1 / 3] * 3, compute)
    before = encoder[1].running_mean.numpy().copy()
    known = Gradients(head, sync_batch_norm=sync, modules=[encoder, encoder[1]])
    known(0, [1 / 3] * 3, compute)
    assert not np.array_equal(encoder[1].running_mean.numpy(), before)
    assert int(encoder[1].num_batches_tracked) == 2  # the refused call counts as one
    encoder.eval()
    Gradients(head, sync_batch_norm=sync)(0, [1 / 3] * 3, compute)
    with pytest.raises(TypeError, match="modules must be a list of Modules"):
        Gradients(head, modules=[1])  # type: ignore[list-item]


def test_instance_norm_that_the_object_does_not_know_is_refused() -> None:
    norm, head = ex.nn.InstanceNorm2d(1, track_running_stats=True), ex.nn.Linear(4, 1)
    x = ex.asarray(X[:4].reshape(4, 1, 2, 2))
    with pytest.raises(ValueError, match="got module='InstanceNorm2d'"):
        Gradients(head)(0, [1.0], lambda _: head(norm(x).reshape((4, 4))).mean())


class Momentum(ex.nn.Module):
    """Its second layer follows the first whenever it is called in training mode."""

    def __init__(self, by_numpy: bool) -> None:
        self.by_numpy = by_numpy
        self.query, self.key = ex.nn.Linear(4, 2), ex.nn.Linear(4, 2)
        for parameter in self.key.parameters():
            parameter.requires_grad = False

    def forward(self, x: Any) -> Any:
        if self.training:
            with ex.no_grad():
                if self.by_numpy:
                    self.key.weight.numpy()[...] += 0.5
                else:
                    self.key.weight[...] = 0.9 * self.key.weight + 0.1 * self.query.weight
        return self.query(x) + self.key(x)


@pytest.mark.parametrize("by_numpy", [False, True])
def test_a_forward_pass_that_changes_parameters_is_refused(by_numpy: bool) -> None:
    text = r"must not change parameters.*as in a callback.*got parameter='key.weight'"
    model = Momentum(by_numpy)
    with pytest.raises(ValueError, match=text):
        Gradients(model)(0, [1 / 3] * 3, losses_of(model))
    optimizer = ex.optim.SGD(model.query.parameters(), lr=0.1)
    trainer = ex.train.Trainer(model, ex.mse_loss, optimizer, micro_batches=2, callbacks=[])
    with pytest.raises(ValueError, match=text):
        trainer.fit(X, X[:, :2], epochs=1, batch_size=6)
    assert trainer.step == 0
    plain = ex.train.Trainer(model, ex.mse_loss, optimizer, callbacks=[])
    plain.fit(X, X[:, :2], epochs=1, batch_size=6)


def test_a_later_part_that_changes_parameters_is_refused() -> None:
    model = Momentum(False)
    model.eval()
    gradients = Gradients(model)
    gradients(0, [1 / 3] * 3, losses_of(model))
    model.train()
    with pytest.raises(ValueError, match="must not change parameters"):
        gradients(1, [1 / 3] * 3, losses_of(model))


def test_a_buffer_in_the_memory_of_a_parameter_may_change() -> None:
    memory = np.zeros(16, np.float32)
    model = network()
    model[2].bias._array = memory[:2]
    model[1].running_mean._array = memory[8:14]
    gradients = Gradients(model)
    for step in range(2):
        gradients(step, [1 / 3] * 3, losses_of(model))
    assert model[1].running_mean.numpy().any()


def test_a_step_that_no_message_can_hold_is_refused() -> None:
    model = network()
    with pytest.raises(ValueError, match=r"Gradients: step must be \d+ or less, got step=1000"):
        Gradients(model)(10**30, [1.0], losses_of(model, 1))
