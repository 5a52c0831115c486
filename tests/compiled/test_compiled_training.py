"""Steps of training by XLA: the losses, weights, statistics and random numbers of the same steps here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn
from extensor.core.tensor import Tensor

STEPS = 20
Step = Callable[..., Tensor]


class Tagger(nn.Module):
    """An LSTM in two layers and both directions, with dropout between them."""

    def __init__(self) -> None:
        self.lstm = nn.LSTM(5, 8, num_layers=2, dropout=0.3, bidirectional=True)
        self.head = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0][-1])


class Recurrent(nn.Module):
    def __init__(self, kind: Any) -> None:
        self.layer = kind(5, 6)
        self.head = nn.Linear(6, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x)[0][-1])


def _images(rng: np.random.Generator, size: int, channels: int, classes: int) -> tuple[Any, Any]:
    x = rng.standard_normal((8, channels, size, size)).astype("float32")
    return x, rng.integers(0, classes, 8)


def _sequences(rng: np.random.Generator) -> tuple[Any, Any]:
    return rng.standard_normal((9, 6, 5)).astype("float32"), rng.integers(0, 4, 6)


def _gpt_loss(output: Tensor, target: Tensor) -> Tensor:
    return ex.cross_entropy(output.reshape((-1, output.shape[-1])), target.reshape((-1,)))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[..., Any], Any]] = {
    "mlp": (
        lambda: ex.models.mlp([12, 16, 16, 4], p=0.2),
        lambda rng: (rng.standard_normal((8, 12)).astype("float32"), rng.integers(0, 4, 8)),
        ex.cross_entropy,
    ),
    "lenet5": (lambda: ex.models.lenet5(), lambda r: _images(r, 28, 1, 10), ex.cross_entropy),
    "convnet": (
        lambda: ex.models.convnet(4, image_size=16, width=8),
        lambda r: _images(r, 16, 3, 4),
        ex.cross_entropy,
    ),
    "resnet18": (
        lambda: ex.models.resnet18(num_classes=4),
        lambda r: _images(r, 8, 3, 4),
        ex.cross_entropy,
    ),
    "gpt": (
        lambda: ex.models.gpt(vocabulary=13, context=8, width=16, layers=2, heads=2, p=0.1),
        lambda rng: (rng.integers(0, 13, (4, 8)), rng.integers(0, 13, (4, 8))),
        _gpt_loss,
    ),
    "lstm": (Tagger, _sequences, ex.cross_entropy),
    "gru": (lambda: Recurrent(nn.GRU), _sequences, ex.cross_entropy),
    "rnn": (lambda: Recurrent(nn.RNN), _sequences, ex.cross_entropy),
}


# Twenty layers of batch normalization over few samples multiply the last digit: after twenty steps in
# float32 the losses here are 5e-4 from those in float64, further than two engines may be apart.
IN_FLOAT64 = ("resnet18",)


def _step(net: nn.Module, optimizer: Any, loss: Any) -> Step:
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        ex.clip_grad_norm(net.parameters(), 1.0)
        optimizer.step()
        return value

    return step


@pytest.mark.parametrize("name", MODELS)
def test_twenty_steps_have_the_losses_they_have_here(name: str, rng: np.random.Generator) -> None:
    make, data, loss = MODELS[name]
    batches = [data(rng) for _ in range(4)]
    kind = "float64" if name in IN_FLOAT64 else None
    batches = [(ex.tensor(x, kind), ex.tensor(y)) for x, y in batches]
    losses, states, counters = [], [], []
    for compiled in (False, True):
        ex.random.manual_seed(7)
        net = make() if kind is None else make().to(kind)
        optimizer = ex.optim.AdamW(net.parameters(), lr=2e-3)
        step: Any = _step(net, optimizer, loss)
        if compiled:
            step = ex.compile(step)
        losses.append([float(step(*batches[i % 4])) for i in range(STEPS)])
        states.append(net.state_dict())
        counters.append(ex.random.get_state())
        if compiled:
            assert step.traces == 1
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4, atol=1e-4)
    assert losses[0][-1] != losses[0][0]
    assert counters[0] == counters[1]
    for key, expected in states[0].items():
        if not np.issubdtype(expected.dtype, np.floating):
            np.testing.assert_array_equal(states[1][key].numpy(), expected.numpy(), err_msg=key)
