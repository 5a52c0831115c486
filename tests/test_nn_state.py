"""Saving and loading modules."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from networks import NAMES, Net

import extensor as ex
from extensor import nn


def test_state_dict_shares_memory_and_loads() -> None:
    net, other = Net(), Net()
    saved = net.state_dict()
    assert list(saved) == ["scale", "seen", *NAMES[1:]]
    assert saved["scale"]._array is net.scale._array
    assert not saved["scale"].requires_grad
    parameters = list(other.parameters())
    assert other.load_state_dict(saved) == ([], [])
    assert all(x is y for x, y in zip(parameters, other.parameters(), strict=True))
    for name, tensor in other.state_dict().items():
        np.testing.assert_array_equal(tensor.numpy(), saved[name].numpy())
        assert not np.shares_memory(tensor.numpy(), saved[name].numpy())


def test_loading_takes_arrays_and_keeps_the_dtype() -> None:
    layer = nn.Linear(2, 1)
    layer.load_state_dict({"weight": np.ones((1, 2)), "bias": [3]})
    assert layer.weight.tolist() == [[1.0, 1.0]]
    assert layer.bias is not None
    assert layer.bias.dtype == ex.float32
    assert layer.bias.item() == 3.0


def test_loading_all_or_nothing() -> None:
    net = Net()
    saved = {name: np.full(x.shape, 7.0) for name, x in net.state_dict().items()}
    saved["blocks.0.conv1.weight"] = np.ones((3, 4))
    saved["seen"] = np.ones(())
    del saved["scale"], saved["blocks.1.conv1.bias"]
    saved["blocks.2.conv1.bias"] = np.ones(3)
    before = {name: x.numpy().copy() for name, x in net.state_dict().items()}
    with pytest.raises(ValueError, match="load_state_dict") as caught:
        net.load_state_dict(saved)
    shapes = {"seen": "() for (3,)", "blocks.0.conv1.weight": "(3, 4) for (3, 3)"}
    assert str(caught.value) == (
        "Net.load_state_dict: keys and shapes must be those of the module, "
        "got missing=['scale', 'blocks.1.conv1.bias'], unexpected=['blocks.2.conv1.bias'], "
        f"shapes={shapes}"
    )
    with pytest.raises(ValueError, match="shapes="):
        net.load_state_dict(saved, strict=False)
    for name, x in net.state_dict().items():
        np.testing.assert_array_equal(x.numpy(), before[name])


def test_loading_what_there_is() -> None:
    layer = nn.Linear(2, 1)
    before = layer.weight.numpy().copy()
    result = layer.load_state_dict({"bias": [3.0], "more": [1.0]}, strict=False)
    assert result.missing_keys == ["weight"]
    assert result.unexpected_keys == ["more"]
    assert layer.bias is not None
    assert layer.bias.item() == 3.0
    np.testing.assert_array_equal(layer.weight.numpy(), before)
    with pytest.raises(
        ValueError,
        match=r"^Linear.load_state_dict: keys .* module, got missing=\['weight', 'bias'\]$",
    ):
        layer.load_state_dict({})
    with pytest.raises(TypeError) as caught:
        layer.load_state_dict([1])  # type: ignore[arg-type]
    assert str(caught.value) == (
        "Linear.load_state_dict: state_dict must be a mapping, got state_dict='list'"
    )


def test_the_tape_notices_a_load() -> None:
    layer = nn.Linear(2, 2)
    loss = layer(ex.ones((1, 2), requires_grad=True)).sum()
    layer.load_state_dict(layer.state_dict())
    with pytest.raises(RuntimeError, match="was changed in place"):
        loss.backward()


def test_modules_can_be_copied_and_pickled() -> None:
    net = Net().eval()
    x = ex.ones((2, 3))
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert not other.training
        np.testing.assert_array_equal(other(x).numpy(), net(x).numpy())
        assert not np.shares_memory(other.scale.numpy(), net.scale.numpy())
