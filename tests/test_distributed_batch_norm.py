"""Batch norm whose statistics are those of all micro-batches of a step."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.distributed import Gradients
from extensor.train import NotFiniteError, Trainer

X = np.random.default_rng(0).normal(2.0, 3.0, size=(24, 3, 4, 4)).astype(np.float32)
Y = np.random.default_rng(1).integers(0, 3, 24)


def network(dtype: str = "float64", momentum: float | None = 0.1) -> Any:
    nn = ex.nn
    ex.random.manual_seed(2)
    return nn.Sequential(
        nn.Conv2d(3, 5, 3, dtype=dtype),
        nn.BatchNorm2d(5, momentum=momentum, dtype=dtype),
        nn.ReLU(),
        nn.Flatten(),
        nn.BatchNorm1d(20, dtype=dtype),
        nn.Linear(20, 3, dtype=dtype),
    )


def result(model: Any, parts: list[slice], **options: Any) -> tuple[list[Any], list[Any]]:
    dtype = model[0].weight.dtype
    x = X.astype(dtype)
    weights = [(part.stop - part.start) / 24 for part in parts]
    gradients = Gradients(model, **options)

    def compute(number: int) -> Any:
        return ex.cross_entropy(model(ex.asarray(x[parts[number]])), ex.asarray(Y[parts[number]]))

    for step in range(2):
        gradients(step, weights, compute)
    found = [parameter.grad.numpy().copy() for parameter in model.parameters()]
    return found, [buffer.numpy().copy() for buffer in model.buffers()]


UNEVEN = [slice(0, 3), slice(3, 11), slice(11, 12), slice(12, 20), slice(20, 24)]


@pytest.mark.parametrize("momentum", [0.1, None])
def test_parts_have_the_gradients_and_statistics_of_the_whole(momentum: float | None) -> None:
    whole = result(network(momentum=momentum), [slice(0, 24)])
    parts = result(network(momentum=momentum), UNEVEN, sync_batch_norm=True)
    for wanted, got in zip((*whole[0], *whole[1]), (*parts[0], *parts[1]), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12)
    halves = [slice(0, 12), slice(12, 24)]
    apart = result(network(momentum=momentum), halves)
    assert not np.allclose(apart[0][0], whole[0][0], rtol=1e-3)


def test_parts_see_the_context_variables_of_the_caller() -> None:
    factor: ContextVar[float] = ContextVar("factor", default=1.0)
    factor.set(0.0)
    model = network()
    gradients = Gradients(model, sync_batch_norm=True)
    x, y = ex.asarray(X.astype("float64")), ex.asarray(Y)

    def compute(number: int) -> Any:
        part = slice(12 * number, 12 * number + 12)
        return factor.get() * ex.cross_entropy(model(x[part]), y[part])

    assert gradients(0, [0.5, 0.5], compute) == [0.0, 0.0]


def test_second_derivatives_pass_through_the_sums() -> None:
    """A penalty on the gradient of the inputs, as the whole batch has it."""

    def penalized(parts: list[slice], **options: Any) -> list[Any]:
        model = network()

        def compute(number: int) -> Any:
            x = ex.tensor(X[parts[number]].astype("f8"), requires_grad=True)
            value = (model(x) ** 2).sum()
            (slope,) = ex.grad(value, [x], create_graph=True)
            return (slope**2).sum() / 24

        Gradients(model, **options)(0, [1.0] * len(parts), compute)
        return [p.grad.numpy().copy() for p in model.parameters() if p.grad is not None]

    whole = penalized([slice(0, 24)])
    parts = penalized(UNEVEN, sync_batch_norm=True)
    for wanted, got in zip(whole, parts, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-8, atol=1e-10)


def test_dropout_and_buffers_belong_to_their_micro_batch() -> None:
    """Where nothing is normalized, side by side is as one after the other, to the bit."""
    nn = ex.nn

    class Counting(nn.Module):
        def __init__(self) -> None:
            self.register_buffer("seen", ex.zeros(4))

        def forward(self, x: Any) -> Any:
            self.seen = self.seen * 0.5 + x.detach().mean(axis=(0, 2, 3))[0]  # type: ignore[has-type]
            return x

    def model() -> Any:
        ex.random.manual_seed(1)
        return nn.Sequential(
            nn.Conv2d(3, 5, 3), Counting(), nn.Dropout(0.5), nn.Flatten(), nn.Linear(20, 3)
        )

    first = result(model(), UNEVEN)
    second = result(model(), UNEVEN, sync_batch_norm=True)
    for wanted, got in zip((*first[0], *first[1]), (*second[0], *second[1]), strict=True):
        assert got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("amp", [None, "bfloat16", "float16"])
def test_a_trainer_synchronises(amp: str | None) -> None:
    model = network("float32")
    optimizer = ex.optim.Adam(model.parameters(), lr=0.01)
    trainer = Trainer(
        model, ex.cross_entropy, optimizer, micro_batches=4, sync_batch_norm=True, amp=amp,
        train_metrics=["accuracy"], callbacks=[],
    )  # fmt: skip
    history = trainer.fit(X, Y, epochs=6, batch_size=12)
    assert history[-1]["loss"] < history[0]["loss"]
    assert history[-1]["accuracy"] > 0.6


def test_what_is_not_finite_is_found_and_no_thread_stays() -> None:
    model = network("float32")
    optimizer = ex.optim.Adam(model.parameters(), lr=0.01)
    trainer = Trainer(
        model, ex.cross_entropy, optimizer, micro_batches=4, sync_batch_norm=True, callbacks=[]
    )
    bad = X.copy()
    bad[5, 0, 0, 0] = np.inf
    with pytest.raises(NotFiniteError, match="loss is nan"):
        trainer.fit(bad, Y, epochs=1, batch_size=24, shuffle=False)
    assert not [x for x in threading.enumerate() if "micro-batch" in x.name]


def test_other_ways_through_the_model_are_refused() -> None:
    model = network("float32")
    x = ex.asarray(X)

    def compute(number: int) -> Any:
        return model(x).mean() if number != 1 else model[0](x).mean()

    before = [buffer.numpy().copy() for buffer in model.buffers()]
    text = "sync_batch_norm: all micro-batches must pass the same batch norms in the same order"
    with pytest.raises(ValueError, match=text):
        Gradients(model, sync_batch_norm=True)(0, [0.25] * 4, compute)
    assert not [thread for thread in threading.enumerate() if "micro-batch" in thread.name]
    for wanted, buffer in zip(before, model.buffers(), strict=True):
        assert buffer.numpy().tobytes() == wanted.tobytes()


def test_an_error_in_a_micro_batch_is_raised() -> None:
    model = network("float32")

    def compute(number: int) -> Any:
        if number == 2:
            raise RuntimeError("a mistake in one")
        return model(ex.asarray(X)).mean()

    with pytest.raises(RuntimeError, match="a mistake in one"):
        Gradients(model, sync_batch_norm=True)(0, [0.25] * 4, compute)
    assert not [thread for thread in threading.enumerate() if "micro-batch" in thread.name]


def test_it_needs_micro_batches() -> None:
    model = network("float32")
    optimizer = ex.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ValueError, match="sync_batch_norm=True needs micro_batches"):
        Trainer(model, ex.cross_entropy, optimizer, sync_batch_norm=True)
