"""Modules against PyTorch's of the same name, with its weights: values, gradients, training."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn

torch = pytest.importorskip("torch")
from rows_nn import LAYERS, LEARNING, Use  # noqa: E402
from rows_nn_losses import LOSSES  # noqa: E402

DRAWS = range(12)
# Those with many options that meet.
MANY = {"Conv1d": 40, "Conv2d": 40, "MultiheadAttention": 40}
STEPS = 10
# PyTorch tells which of its fast ways it does not take.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore:{text}:UserWarning")
    for text in ("enable_nested_tensor is True", "LSTM with projections")
]
# Single precision: sums of a few dozen products in another order, and a root here and there.
CLOSE = {"float64": {"rtol": 1e-10, "atol": 1e-10}, "float32": {"rtol": 1e-4, "atol": 2e-5}}
each_layer = pytest.mark.parametrize(
    ("name", "draw"), [(n, draw) for n in LAYERS for draw in range(MANY.get(n, len(DRAWS)))]
)
each_dtype = pytest.mark.parametrize("dtype", ["float64", "float32"])


def _pair(name: str, use: Use, rng: np.random.Generator, dtype: str) -> tuple[Any, Any]:
    """PyTorch's module with drawn parameters, and ours with the same."""
    options = {
        k: torch.tensor(x) if isinstance(x, np.ndarray) else x for k, x in use.options.items()
    }
    peer = getattr(torch.nn, name)(**options, **use.peer_options).to(getattr(torch, dtype))
    with torch.no_grad():
        for parameter in peer.parameters():
            parameter.copy_(torch.tensor(rng.normal(0, 0.5, tuple(parameter.shape))))
    mine = getattr(nn, name)(**use.options).to(dtype)
    mine.load_state_dict(peer.state_dict())
    return (mine.eval(), peer.eval()) if use.evaluated else (mine, peer)


def _tensors(use: Use, dtype: str) -> tuple[list[Any], list[Any]]:
    """The inputs as tensors of both; one that is there twice is one tensor that is there twice."""
    mine: dict[int, Any] = {}
    peers: dict[int, Any] = {}
    for x in use.inputs:
        floating = x.dtype == np.float64
        array = x.astype(dtype) if floating else x
        mine[id(x)] = ex.tensor(array, requires_grad=floating)
        peers[id(x)] = torch.tensor(array, requires_grad=floating)
    return [mine[id(x)] for x in use.inputs], [peers[id(x)] for x in use.inputs]


def _called(module: Any, inputs: list[Any], keywords: dict[str, Any]) -> list[Any]:
    """The tensors of the output in a list. The states of recurrent layers are one argument."""
    if type(module).__name__ in ("LSTM", "LSTMCell") and len(inputs) == 3:
        inputs = [inputs[0], tuple(inputs[1:])]
    return list(_flat(module(*inputs, **keywords)))


def _flat(output: Any) -> Iterator[Any]:
    if isinstance(output, tuple):
        for item in output:
            yield from _flat(item)
    elif output is not None:
        yield output


def _keywords(use: Use, dtype: str) -> tuple[dict[str, Any], dict[str, Any]]:
    ours = {
        name: x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype == np.float64 else x
        for name, x in use.keywords.items()
    }
    theirs = {k: torch.tensor(x) if isinstance(x, np.ndarray) else x for k, x in ours.items()}
    return ours, theirs


def _assert_same_state(mine: Any, peer: Any, dtype: str) -> None:
    expected = peer.state_dict()
    found = mine.state_dict()
    assert sorted(found) == sorted(expected)
    for name, tensor in expected.items():
        np.testing.assert_allclose(
            found[name].numpy(), tensor.numpy(), **CLOSE[dtype], err_msg=name
        )


def _compare(name: str, use: Use, dtype: str, rng: np.random.Generator) -> None:
    mine, peer = _pair(name, use, rng, dtype)
    inputs, peers = _tensors(use, dtype)
    keywords, peer_keywords = _keywords(use, dtype)
    outputs = _called(mine, inputs, keywords)
    expected = _called(peer, peers, peer_keywords)
    assert [y.shape for y in outputs] == [tuple(y.shape) for y in expected]
    for y, other in zip(outputs, expected, strict=True):
        assert y.dtype == (dtype if other.dtype.is_floating_point else "int64")
        np.testing.assert_allclose(y.numpy(), other.detach().numpy(), **CLOSE[dtype])
    if expected[0].requires_grad:
        pairs = [(y, z) for y, z in zip(outputs, expected, strict=True) if z.requires_grad]
        outputs, expected = (list(side) for side in zip(*pairs, strict=True))
        seeds = [np.asarray(rng.uniform(-1, 1, y.shape), dtype) for y in outputs]
        ex.backward(outputs, [ex.tensor(seed) for seed in seeds])
        torch.autograd.backward(expected, [torch.tensor(seed) for seed in seeds])
        for x, other in zip(inputs, peers, strict=True):
            if x.requires_grad and other.grad is not None:
                np.testing.assert_allclose(x.grad.numpy(), other.grad.numpy(), **CLOSE[dtype])
        theirs = dict(peer.named_parameters())
        for path, parameter in mine.named_parameters():
            gradient, other = parameter.grad, theirs[path].grad
            assert (gradient is None) == (other is None)
            if other is not None:
                np.testing.assert_allclose(
                    gradient.numpy(), other.numpy(), **CLOSE[dtype], err_msg=path
                )
    _assert_same_state(mine, peer, dtype)


@pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning")
@each_layer
@each_dtype
def test_layer(name: str, draw: int, dtype: str, rng: np.random.Generator) -> None:
    _compare(name, LAYERS[name](rng), dtype, rng)


@pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning")
@pytest.mark.parametrize("kernel_size", [2, 4])
@pytest.mark.parametrize("padding_mode", ["zeros", "reflect", "replicate", "circular"])
def test_same_padding_of_even_kernels(
    padding_mode: str, kernel_size: int, rng: np.random.Generator
) -> None:
    """One more of the padding goes behind."""
    options = {
        "in_channels": 2, "out_channels": 3, "kernel_size": kernel_size, "padding": "same",
        "padding_mode": padding_mode,
    }  # fmt: skip
    for name, size in (("Conv1d", (6,)), ("Conv2d", (6, 5))):
        _compare(name, Use(options, [rng.normal(size=(2, 2, *size))]), "float64", rng)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", LOSSES)
@each_dtype
def test_loss(name: str, draw: int, dtype: str, rng: np.random.Generator) -> None:
    _compare(name, LOSSES[name](rng), dtype, rng)


@pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning")
@each_layer
def test_state_goes_back(name: str, draw: int, rng: np.random.Generator) -> None:
    """A module of ours with a beginning of its own, loaded into PyTorch's, gives the same."""
    use = LAYERS[name](rng)
    mine, peer = getattr(nn, name)(**use.options).eval(), getattr(torch.nn, name)(**use.options)
    peer.load_state_dict({k: torch.tensor(x.numpy()) for k, x in mine.state_dict().items()})
    keywords, peer_keywords = _keywords(use, "float32")
    inputs, peers = _tensors(use, "float32")
    expected = _called(peer.eval(), peers, peer_keywords)
    for y, other in zip(_called(mine, inputs, keywords), expected, strict=True):
        np.testing.assert_allclose(y.numpy(), other.detach().numpy(), **CLOSE["float32"])


OPTIMIZERS: dict[str, dict[str, Any]] = {"SGD": {"lr": 0.02, "momentum": 0.9}, "Adam": {"lr": 0.02}}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", LEARNING)
def test_training(name: str, optimizer: str, rng: np.random.Generator) -> None:
    mine = nn.Module()
    while not mine.num_parameters():  # a norm may be drawn without
        use = LAYERS[name](rng)
        mine, peer = _pair(name, use, rng, "float64")
    options = OPTIMIZERS[optimizer]
    ours = getattr(ex.optim, optimizer)(mine.parameters(), **options)
    theirs = getattr(torch.optim, optimizer)(peer.parameters(), **options)
    keywords, peer_keywords = _keywords(use, "float64")
    for _ in range(STEPS):
        inputs, peers = _tensors(use, "float64")
        loss = sum((y * y).mean() for y in _called(mine, inputs, keywords))
        expected = sum((y * y).mean() for y in _called(peer, peers, peer_keywords))
        for stepper, value in ((ours, loss), (theirs, expected)):
            stepper.zero_grad()
            value.backward()
            stepper.step()
    # Adam makes whole steps of gradients that are nothing but rounding.
    for path, tensor in peer.state_dict().items():
        found = mine.state_dict()[path].numpy()
        np.testing.assert_allclose(found, tensor.numpy(), rtol=1e-9, atol=1e-9, err_msg=path)


# There the first two are None, which warns, and the last is the function itself.
OTHER_DEFAULTS = {
    ("Softmax", "dim"),
    ("LogSoftmax", "dim"),
    ("Softmin", "dim"),
    ("TransformerEncoderLayer", "activation"),
    ("TransformerDecoderLayer", "activation"),
    ("Transformer", "activation"),
}
# There the signatures are ``*args, **kwargs``.
UNSIGNED = ("RNN", "GRU", "LSTM")


@pytest.mark.parametrize(
    "name",
    [n for n in [*LAYERS, *LOSSES, "Dropout", "Dropout2d", "Hardsigmoid"] if n not in UNSIGNED],
)
def test_constructor(name: str) -> None:
    """The same names and defaults, and the same order of what can be given by place."""
    _, *mine = inspect.signature(getattr(nn, name).__init__).parameters.values()
    _, *theirs = inspect.signature(getattr(torch.nn, name).__init__).parameters.values()
    defaults = {parameter.name: parameter.default for parameter in theirs}
    for parameter in mine:
        if parameter.name != "dtype" and (name, parameter.name) not in OTHER_DEFAULTS:
            assert defaults[parameter.name] == parameter.default
    places = [parameter.name for parameter in mine if parameter.kind.name != "KEYWORD_ONLY"]
    assert [parameter.name for parameter in theirs][: len(places)] == places


def test_a_convolutional_network(rng: np.random.Generator) -> None:
    """The layers together: the same losses over ten steps of Adam."""

    def built(library: Any) -> Any:
        return library.Sequential(
            library.Conv2d(3, 8, 3, padding=1, bias=False), library.BatchNorm2d(8), library.ReLU(),
            library.MaxPool2d(2), library.Conv2d(8, 8, 3, groups=2), library.GELU(),
            library.AdaptiveAvgPool2d(2), library.Flatten(), library.Linear(32, 5),
        )  # fmt: skip

    peer = built(torch.nn).double()
    mine = built(nn).double()
    mine.load_state_dict(peer.state_dict())
    ours = ex.optim.Adam(mine.parameters(), lr=1e-3)
    theirs = torch.optim.Adam(peer.parameters(), lr=1e-3)
    criterion, peer_criterion = nn.CrossEntropyLoss(), torch.nn.CrossEntropyLoss()
    for _ in range(STEPS):
        x, target = rng.normal(size=(4, 3, 10, 10)), rng.integers(0, 5, 4)
        ours.zero_grad()
        theirs.zero_grad()
        loss = criterion(mine(ex.tensor(x)), ex.tensor(target))
        expected = peer_criterion(peer(torch.tensor(x)), torch.tensor(target))
        assert loss.item() == pytest.approx(expected.item(), rel=1e-8)
        loss.backward()
        expected.backward()
        ours.step()
        theirs.step()
