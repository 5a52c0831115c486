"""Edges of arguments against PyTorch: a sample without a batch, integers, 0-d tensors, plateaus."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn, optim

torch = pytest.importorskip("torch")
LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Conv1d", (3, 4, 2), {"padding": 1}),
    ("Conv2d", (3, 4, 3), {"padding": 1, "padding_mode": "reflect"}),
    ("ConvTranspose1d", (3, 4, 2), {"stride": 2}),
    ("ConvTranspose2d", (3, 4, 2), {"stride": 2}),
    ("MaxPool1d", (2,), {}),
    ("MaxPool2d", (2,), {"ceil_mode": True}),
    ("AvgPool1d", (2,), {"padding": 1}),
    ("AvgPool2d", (2,), {"padding": 1, "count_include_pad": False}),
    ("AvgPool2d", (2,), {"padding": 1, "divisor_override": 3}),
    ("AdaptiveAvgPool1d", (2,), {}),
    ("AdaptiveAvgPool2d", (2,), {}),
    ("InstanceNorm2d", (3,), {"affine": True}),
]


@pytest.mark.parametrize(("name", "args", "options"), LAYERS)
def test_one_sample_without_a_batch(
    name: str, args: tuple[Any, ...], options: dict[str, Any], rng: np.random.Generator
) -> None:
    theirs = getattr(torch.nn, name)(*args, **options)
    ours = getattr(nn, name)(*args, **options)
    ours.load_state_dict({k: v.detach().numpy() for k, v in theirs.state_dict().items()})
    x = rng.normal(size=(3, 5) if "1d" in name else (3, 5, 6)).astype("f4")
    mine, peer = ex.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    found, expected = ours(mine), theirs(peer)
    np.testing.assert_allclose(found.numpy(), expected.detach().numpy(), rtol=1e-4, atol=1e-5)
    (found * found).sum().backward()
    (expected * expected).sum().backward()
    assert mine.grad is not None
    np.testing.assert_allclose(mine.grad.numpy(), peer.grad.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_integers(dtype: str, rng: np.random.Generator) -> None:
    info = np.iinfo(dtype)
    x = rng.integers(info.min, info.max, (1, 2, 4, 4), dtype, endpoint=True)
    weight = rng.integers(0, 3, (2, 2, 2, 2)).astype(dtype)
    peer, of_peer = torch.tensor(x), torch.tensor(weight)
    pairs = [
        (ex.max_pool2d(x, 2), torch.nn.functional.max_pool2d(peer, 2)),
        (ex.hard_tanh(x, 0, 5), torch.nn.functional.hardtanh(peer, 0, 5)),
        (ex.dropout(x, training=False), torch.nn.functional.dropout(peer, training=False)),
        (ex.conv2d(x, weight), torch.nn.functional.conv2d(peer, of_peer)),
    ]
    for found, expected in pairs:
        np.testing.assert_array_equal(found.numpy(), expected.numpy(), strict=True)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize(
    "name", "sum mean prod logsumexp argmax argmin any all cumsum softmax log_softmax".split()
)
def test_axis_of_a_0d_tensor(name: str, axis: int) -> None:
    found = getattr(ex, name)(1.5, axis=axis).numpy()
    expected = getattr(torch, name)(torch.tensor(1.5), dim=axis).numpy()
    np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape == ()


@pytest.mark.parametrize("threshold_mode", ["rel", "abs"])
@pytest.mark.parametrize("mode", ["min", "max"])
def test_plateau(mode: str, threshold_mode: str, rng: np.random.Generator) -> None:
    options = {"patience": 1, "threshold": 0.05, "threshold_mode": threshold_mode, "cooldown": 1}
    mine = optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    peer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    ours = optim.ReduceLROnPlateau(mine, mode, 0.5, **options)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(peer, mode, 0.5, **options)
    for metric in rng.normal(0, 0.2, 200).cumsum():
        ours.step(metric)
        theirs.step(metric)
        assert mine.param_groups[0]["lr"] == peer.param_groups[0]["lr"]


def test_batchmean_of_a_0d_tensor() -> None:
    found = nn.KLDivLoss(reduction="batchmean")(ex.tensor(-0.5), ex.tensor(0.3)).item()
    expected = torch.nn.KLDivLoss(reduction="batchmean")(torch.tensor(-0.5), torch.tensor(0.3))
    assert found == pytest.approx(expected.item(), rel=1e-6)


def test_bounds_out_of_order() -> None:
    x = [-1.0, 1.0, 5.0]
    assert ex.clip(x, 3, 0).tolist() == torch.clamp(torch.tensor(x), 3, 0).tolist()
    assert ex.clip(x, 3, 0).tolist() == np.clip(x, 3, 0).tolist()
