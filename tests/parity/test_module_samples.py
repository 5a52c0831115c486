"""PyTorch's own samples of modules, of its test suite: values, gradients and states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn

torch = pytest.importorskip("torch")
F = torch.nn.functional
common_modules = pytest.importorskip("torch.testing._internal.common_modules")

CLOSE = {"rtol": 1e-8, "atol": 1e-8}
# Their masks come from another generator.
SKIPPED = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout"}
SKIPPED |= {"FractionalMaxPool2d", "FractionalMaxPool3d"}  # their windows too
SKIPPED |= {"TransformerEncoder"}  # which holds a module that is given; Transformer has one
# Their samples are powers of negative numbers, where a gradient of 0 is NaN there and stays 0 here.
SKIPPED |= {"LPPool1d", "LPPool2d", "LPPool3d"}
SKIPPED |= {"MarginRankingLoss"}  # their targets are 0 too, which is refused here
INFOS = {
    info.module_cls.__name__: info
    for info in common_modules.module_db
    if hasattr(nn, info.module_cls.__name__)
}


def _ours(x: Any) -> Any:
    """An argument of a call there as one here."""
    if isinstance(x, torch.Tensor):
        return ex.tensor(x.numpy(force=True), requires_grad=x.requires_grad)
    if isinstance(x, list | tuple):
        return type(x)(_ours(item) for item in x)
    return {torch.relu: ex.relu, F.relu: ex.relu, F.gelu: ex.gelu}.get(x, x) if callable(x) else x


def _flat(x: Any) -> Iterator[Any]:
    if isinstance(x, list | tuple):
        for item in x:
            yield from _flat(item)
    elif x is not None:
        yield x


def _samples(name: str) -> Iterator[Any]:
    info = INFOS[name]
    for training in (True, False):
        torch.manual_seed(0)
        for sample in info.module_inputs_func(
            info, device="cpu", dtype=torch.float64, requires_grad=True, training=training
        ):
            if sample.forward_input is not None:
                yield training, sample


@pytest.mark.parametrize("name", sorted(INFOS.keys() - SKIPPED))
@pytest.mark.filterwarnings("ignore")
def test_samples(name: str) -> None:
    kind, tried = INFOS[name].module_cls, 0
    for training, sample in _samples(name):
        given = sample.constructor_input
        options = {k: v for k, v in given.kwargs.items() if k not in ("device", "dtype")}
        peer = kind(*given.args, **options).double().train(training)
        mine = getattr(nn, name)(
            *map(_ours, given.args), **{k: _ours(v) for k, v in options.items()}
        )
        forward = sample.forward_input
        inputs, keywords = (
            [_ours(x) for x in forward.args],
            {k: _ours(v) for k, v in forward.kwargs.items()},
        )
        if name.startswith("Lazy"):  # no parameters to cast before
            mine = getattr(nn, name)(*map(_ours, given.args), **options, dtype="float64")
            mine(*inputs, **keywords)
            peer(*forward.args, **forward.kwargs)
        mine = mine.to("float64").train(training)
        mine.load_state_dict(peer.state_dict())
        outputs = list(_flat(mine(*inputs, **keywords)))
        expected = list(_flat(peer(*forward.args, **forward.kwargs)))
        assert len(outputs) == len(expected), sample.desc
        for y, z in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(y.numpy(), z.numpy(force=True), **CLOSE)
        _compare_gradients(outputs, expected, inputs, forward.args)
        tried += 1
    assert tried


def _compare_gradients(outputs: Any, expected: Any, inputs: Any, peers: Any) -> None:
    pairs = [(y, z) for y, z in zip(outputs, expected, strict=True) if z.requires_grad]
    if not pairs:
        return
    ex.backward([y for y, _ in pairs], [ex.ones_like(y) for y, _ in pairs])
    torch.autograd.backward([z for _, z in pairs], [torch.ones_like(z) for _, z in pairs])
    for x, other in zip(_flat(inputs), _flat(list(peers)), strict=True):
        if isinstance(other, torch.Tensor) and other.is_leaf and other.grad is not None:
            np.testing.assert_allclose(x.grad.numpy(), other.grad.numpy(), **CLOSE)
            other.grad = None
