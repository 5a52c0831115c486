"""A user's script that is right: ``mypy --strict`` accepts all of it, and it runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_type

import numpy as np

import extensor as ex
from extensor import nn
from extensor.data.transforms import Normalize, RandomFlip
from extensor.differentiation.custom_function import Context
from extensor.typing import DTypeLike, Index, TensorLike


def inputs() -> None:
    array = np.ones((2, 3), np.float32)
    rows = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    tensor = ex.tensor(rows)
    everything: list[TensorLike] = [1, 1.5, True, array, array[0, 0], rows, (1, 2), [array], tensor]
    for x in everything:
        assert_type(ex.relu(x), ex.Tensor)
    assert_type(ex.add(rows, array), ex.Tensor)
    assert_type(ex.where([True, False, True], array, 0), ex.Tensor)
    assert_type(ex.einsum("ij,kj->ik", tensor, array), ex.Tensor)
    assert_type(ex.concatenate([tensor, array, rows], axis=0), ex.Tensor)
    assert_type(ex.stack((tensor, tensor)), ex.Tensor)
    assert_type(ex.clip(tensor, 0, None), ex.Tensor)
    assert_type(ex.max(tensor, axis=(0, 1), keepdims=True), ex.Tensor)
    assert_type(ex.cast(tensor, "float64"), ex.Tensor)


def several_results() -> None:
    x = ex.random.randn(5, 2, 3)
    state = ex.zeros((2, 4))
    hidden, cell = ex.lstm(x, state, state, ex.zeros((16, 3)), ex.zeros((16, 4)))
    assert_type(hidden, ex.Tensor)
    assert_type(cell.shape, tuple[int, ...])
    values, indices = ex.topk(x, 2)
    assert_type(values, ex.Tensor)
    assert_type(indices, ex.Tensor)
    assert_type(ex.split(x, [1, 2]), tuple[ex.Tensor, ...])
    assert_type(ex.gru(x, state, ex.zeros((12, 3)), ex.zeros((12, 4))), ex.Tensor)


def rules() -> None:
    gradients = ex.matmul_backward(np.ones((2, 2)), np.ones((2, 3)), np.ones((3, 2)))
    assert_type(gradients.grad_a, ex.Tensor)
    grad_a, grad_b = gradients
    assert_type(grad_a + grad_b.T, ex.Tensor)
    assert_type(ex.relu_backward([1.0], [2.0]), ex.Tensor)
    assert_type(ex.sum_backward(1.0, [2, 3]), ex.Tensor)
    assert_type(ex.stack_backward([[1.0], [2.0]]), tuple[ex.Tensor, ...])
    convolved = ex.conv2d_backward(
        ex.ones((1, 1, 3, 3)), ex.ones((1, 1, 3, 3)), ex.ones((1, 1, 3, 3)), padding="same"
    )
    assert_type(convolved.grad_bias, ex.Tensor)
    entropy = ex.cross_entropy_backward(1.0, [[0.0, 1.0]], [1])
    assert_type(entropy.grad_target, ex.Tensor | None)


def methods() -> None:
    x = ex.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert_type(x.sum(axis=0), ex.Tensor)
    assert_type(x.reshape(4), ex.Tensor)
    assert_type(x.reshape(2, -1), ex.Tensor)
    assert_type(x.reshape([4, 1]), ex.Tensor)
    assert_type(x.permute(1, 0), ex.Tensor)
    assert_type(x.transpose(), ex.Tensor)
    assert_type(x.max(), ex.Tensor)
    assert_type(x.astype(np.float64).dtype == ex.float64, bool)
    assert_type(x.split(2), tuple[ex.Tensor, ...])
    assert_type(x.T @ x, ex.Tensor)
    assert_type(1 - x**2 / 3 // 1 % 2, ex.Tensor)
    assert_type([1.0, 2.0] - x, ex.Tensor)
    assert_type(-abs(+x), ex.Tensor)
    assert_type(x == 1, ex.Tensor)
    assert_type(~((x > 0) & (x < 3)), ex.Tensor)
    assert_type(x.at[0, 1:].set(0.0), ex.Tensor)
    places: list[Index] = [
        0,
        slice(1, None),
        ...,
        None,
        [0, 1],
        x > 2,
        (0, ..., [1]),
        np.array([1]),
    ]
    for place in places:
        assert_type(x[place], ex.Tensor)
    for row in x:
        assert_type(row, ex.Tensor)
    (x * x).sum().backward()
    assert_type(x.grad, ex.Tensor | None)
    if x.grad is not None:
        x.grad[0] = 0.0
        assert_type(x.grad.norm(), ex.Tensor)
    handle = x.register_hook(lambda gradient: 2 * gradient)
    handle.remove()
    number: float = x.sum().item()
    assert number == float(x.sum())


def writing() -> None:
    x = ex.ones((2, 2))
    x += 1
    x -= [1.0, 0.5]
    x *= np.ones(2, np.float32)
    x /= x.sum()
    x //= 0.5
    x %= 3
    x **= 2
    x @= [[1.0, 0.0], [0.0, 1.0]]
    assert_type(x, ex.Tensor)
    chosen = x > 1
    chosen &= x < 3
    chosen |= True
    chosen ^= [True, False]
    x[chosen] = 0
    x[0] = [1.0, 2.0]
    x[:, 1:] = np.zeros((2, 1))
    x[..., 0] = x.sum(axis=1)
    weight = nn.Parameter([1.0, 2.0])
    with ex.no_grad():
        weight -= 0.1 * x[0]
        weight[0] = 0.0
    assert_type(weight, nn.Parameter)


def derivatives() -> None:
    x = ex.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    assert_type(ex.grad(y, x, create_graph=True), ex.Tensor)
    assert_type(ex.grad(y, [x], retain_graph=True), tuple[ex.Tensor, ...])
    assert_type(ex.grad(y, x, allow_unused=True), ex.Tensor | None)
    assert_type(ex.checkpoint(ex.tanh, x), ex.Tensor)
    output, pull = ex.vjp(ex.exp, x)
    assert_type(output, ex.Tensor)
    pull([1.0, 1.0])
    with ex.no_grad(), ex.gradient_eps(0.0):
        ex.check_gradient(ex.tanh, [x])


class Power(ex.Function):
    @staticmethod
    def forward(ctx: Context, x: ex.Tensor, exponent: int = 2) -> ex.Tensor:
        ctx.save_for_backward(x)
        ctx.exponent = exponent
        return x**exponent

    @staticmethod
    def backward(ctx: Context, grad_output: ex.Tensor) -> tuple[ex.Tensor, None]:
        (x,) = ctx.saved_tensors
        return ctx.exponent * x ** (ctx.exponent - 1) * grad_output, None


def functions() -> None:
    x = ex.tensor([1.0, 2.0], requires_grad=True)
    y = Power.apply(x, 3)
    assert_type(y, ex.Tensor)
    y.sum().backward()


class Block(nn.Module):
    steps: ex.Tensor

    def __init__(self, size: int, dtype: DTypeLike | None = None) -> None:
        self.linear = nn.Linear(size, size, dtype=dtype)
        self.norm = nn.LayerNorm(size)
        self.scale = nn.Parameter(ex.ones(size))
        self.register_buffer("steps", ex.zeros(()))

    def forward(self, x: ex.Tensor, shift: float = 0.0) -> ex.Tensor:
        self.steps = self.steps + 1
        return x + ex.gelu(self.linear(self.norm(x))) * self.scale + shift


class Net(nn.Module):
    def __init__(self) -> None:
        self.embedding = nn.Embedding(10, 8)
        self.lstm = nn.LSTM(8, 8, batch_first=True)
        self.blocks = nn.ModuleList([Block(8), Block(8)])
        self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))

    def forward(self, tokens: TensorLike) -> ex.Tensor:
        x, (hidden, cell) = self.lstm(self.embedding(tokens))
        assert_type(hidden, ex.Tensor)
        assert_type(cell, ex.Tensor)
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, -1])


def modules() -> None:
    x = ex.random.randn(2, 5, 8)
    block = Block(8)
    assert_type(block(x), ex.Tensor)
    assert_type(block(x, shift=1.0), ex.Tensor)
    named = nn.Sequential({"first": block, "second": nn.Identity()})
    assert_type(named.first.steps.item() + named[0].steps.item(), Any)
    parameters = nn.ParameterDict({"scale": ex.ones(2)})
    assert_type(parameters.scale, nn.Parameter)
    nn.ModuleDict(nn.ModuleDict({"block": block})).update({"other": block})
    assert_type(nn.GRU(8, 4)(x), tuple[ex.Tensor, ex.Tensor])
    assert_type(nn.LSTMCell(8, 4)(x[0]), tuple[ex.Tensor, ex.Tensor])
    assert_type(nn.GRUCell(8, 4)(x[0], ex.zeros((5, 4))), ex.Tensor)
    attended, weights = nn.MultiHeadAttention(8, 2)(x, x, x)
    assert_type(attended, ex.Tensor)
    assert_type(weights, ex.Tensor | None)
    assert_type(nn.CrossEntropyLoss(reduction="sum")(x[0], np.zeros(5, int)), ex.Tensor)
    assert_type(nn.KLDivLoss(reduction="batchmean")(x, x), ex.Tensor)
    assert_type(nn.Conv2d(1, 2, (3, 3), padding="same")(x.reshape(2, 1, 5, 8)), ex.Tensor)
    assert_type(nn.BatchNorm1d(5)(x), ex.Tensor)
    assert_type(nn.TransformerEncoderLayer(8, 2, 16)(x), ex.Tensor)


def batches() -> Iterator[tuple[ex.Tensor, ...]]:
    tokens = np.zeros((4, 5), np.int64)
    return iter(ex.data.DataLoader(ex.data.ArrayDataset(tokens, tokens[:, 0]), 2))


def images() -> None:
    pairs = ex.data.ArrayDataset(np.zeros((4, 1, 8, 8), np.float32), np.zeros(4, np.int64))
    transforms = [Normalize(0.5, 0.5), RandomFlip()]
    for batch in ex.data.DataLoader(pairs, 2, transform=transforms):
        assert len(batch) == 2


def training() -> None:
    ex.random.manual_seed(0)
    net = Net()
    optimizer = ex.optim.AdamW(
        [{"params": net.head.parameters(), "lr": 1e-2}, {"params": net.blocks.parameters()}]
    )
    schedule = ex.optim.CosineAnnealingLR(optimizer, 10)
    for tokens, labels in batches():
        loss = ex.cross_entropy(net(tokens), labels, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        assert_type(ex.clip_grad_norm(net.parameters(), 1.0), ex.Tensor)
        optimizer.step()
        schedule.step()
    optimizer.add_param_group({"params": [nn.Parameter([1.0])], "lr": 0.1})
    assert_type(ex.optim.SGD(net.parameters(), lr=0.1).step(lambda: 1.5), float)
    moved, _ = ex.sgd_step([1.0], [1.0], lr=0.1)
    assert_type(moved, ex.Tensor)
    assert_type(ex.random.uniform(0, 1, (2,), dtype=float), ex.Tensor)
    assert_type(ex.zeros([2, 3], dtype=ex.bfloat16), ex.Tensor)
    assert_type(ex.optim.EMA(net), ex.optim.EMA)
    assert_type(ex.models.LeNet5()(ex.zeros((1, 1, 28, 28))), ex.Tensor)


def experiments() -> None:
    config = {
        "epochs": 1,
        "data": {"name": "digits", "batch_size": 256},
        "model": {"name": "mlp", "sizes": [64, 10]},
    }
    experiment = ex.train.experiment(config, {"optimizer.lr": 0.01}, callbacks=[])
    assert_type(experiment, ex.train.Experiment)
    assert_type(experiment.model, nn.Module)
    assert_type(experiment.fit(), list[dict[str, Any]])
    assert_type(experiment.predict(np.zeros((2, 64))), ex.Tensor)


def trainers() -> None:
    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(8, 2)
    y = np.arange(8) % 2
    net = nn.Linear(2, 2)
    optimizer = ex.optim.SGD(net.parameters(), lr=0.1)
    trainer = ex.train.Trainer(
        net,
        ex.cross_entropy,
        optimizer,
        metrics=["accuracy"],
        train_metrics=["accuracy"],
        callbacks=[],
    )
    loader = ex.data.DataLoader(ex.data.ArrayDataset(x, y), 4)
    assert_type(trainer.fit(loader, 1, loader), ex.train.History)
    assert_type(trainer.fit(loader, epochs=2, validation=(x, y)), ex.train.History)
    history = trainer.fit(x, y, epochs=3, validation=0.25, batch_size=2, shuffle=False)
    assert_type(history, ex.train.History)
    assert_type(history[0], dict[str, Any])
    assert_type(history.best("loss"), dict[str, Any])
    assert_type(trainer.evaluate(x, y), dict[str, Any])
    assert_type(trainer.predict(x), ex.Tensor)
    ex.train.Trainer(
        net, nn.CrossEntropyLoss(), optimizer, metrics={"a": ex.train.Accuracy(), "b": "f1"}
    )


SECTIONS = [
    inputs,
    several_results,
    rules,
    methods,
    writing,
    derivatives,
    functions,
    modules,
    images,
    training,
    experiments,
    trainers,
]
