"""PyTorch's own samples of the ops that are here under another signature: values and gradients."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import extensor as ex

torch = pytest.importorskip("torch")

from rows_samples import ROWS, SampleRow  # noqa: E402
from torch_samples import OPS  # noqa: E402

CLOSE = {"rtol": 1e-9, "atol": 1e-11}
MOST = 120  # samples of one op


def _ours(x: Any) -> Any:
    """Tensors as leaves here, also in lists and dicts."""
    if torch.is_tensor(x):
        array = x.detach().numpy()
        return ex.tensor(array.copy(), requires_grad=x.requires_grad and array.dtype.kind == "f")
    if isinstance(x, list | tuple):
        return type(x)(_ours(item) for item in x)
    return {key: _ours(item) for key, item in x.items()} if isinstance(x, dict) else x


def _tensors(x: Any, kind: type) -> list[Any]:
    if isinstance(x, kind):
        return [x]
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, list | tuple):
        return [tensor for item in x for tensor in _tensors(item, kind)]
    return []


def _compare(row: SampleRow, theirs: Any, sample: Any) -> bool:
    """Whether the sample can be said here; fails where the two differ."""
    inputs = _ours((sample.input, sample.args, sample.kwargs))
    mine = row.call(inputs[0], *inputs[1], **inputs[2])
    if mine is None:
        return False
    expected = theirs(sample.input, *sample.args, **sample.kwargs)
    outputs = _tensors(mine, ex.Tensor)
    targets = _tensors(expected, torch.Tensor)[: len(outputs)]
    for x, y in zip(outputs, targets, strict=True):
        np.testing.assert_allclose(x.numpy(), y.detach().numpy(), **CLOSE)
        assert x.shape == tuple(y.shape)
    pairs = [(x, y) for x, y in zip(outputs, targets, strict=True) if y.requires_grad]
    if not pairs:
        return True
    leaves = [x for x in _tensors(inputs, ex.Tensor) if x.requires_grad]
    peers = _tensors((sample.input, sample.args, sample.kwargs), torch.Tensor)
    peers = [x for x in peers if x.requires_grad]
    seeds = [np.cos(np.arange(y.numel())).reshape(y.shape) for _, y in pairs]
    found = ex.grad(
        [x for x, _ in pairs], leaves, [ex.tensor(seed) for seed in seeds], allow_unused=True
    )
    known = torch.autograd.grad(
        [y for _, y in pairs], peers, [torch.tensor(seed) for seed in seeds], allow_unused=True
    )
    for x, y in zip(found, known, strict=True):
        if y is not None:
            gradient = np.zeros(y.shape) if x is None else x.numpy()
            np.testing.assert_allclose(gradient, y.detach().numpy(), **CLOSE)
    return True


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}{row.variant}")
def test_samples(row: SampleRow) -> None:
    info = OPS[row.name, row.variant]
    samples = info.sample_inputs("cpu", torch.float64, requires_grad=info.supports_autograd)
    said = [_compare(row, info.op, sample) for sample in itertools.islice(samples, MOST)]
    assert any(said)
