"""The ready networks, cut apart as people do: by their children."""

from __future__ import annotations

import numpy as np
import pytest

import extensor as ex
from extensor import models, nn


@pytest.mark.parametrize("stem", ["small", "large"])
def test_resnet_in_parts(stem: str) -> None:
    """All but the last layer in a row, as for features, are what the network does before it."""
    net = models.resnet18(stem=stem).eval()
    x = ex.random.randn((2, 3, 16, 16))
    *features, last = net.children()
    with ex.no_grad():
        cut = ex.flatten(nn.Sequential(*features)(x), 1)
        np.testing.assert_array_equal(last(cut).numpy(), net(x).numpy())
    assert [name for name, _ in net.named_children()] == (
        "conv1 bn1 relu maxpool layer1 layer2 layer3 layer4 avgpool fc".split()
    )
    block = net.layer1[0]
    assert [name for name, _ in block.named_children()] == "conv1 bn1 relu conv2 bn2".split()


def test_relus_of_a_resnet_can_be_replaced() -> None:
    net = models.resnet18().eval()
    x = ex.random.randn((1, 3, 8, 8))
    with ex.no_grad():
        before = net(x).numpy().copy()
        for module in net.modules():
            if hasattr(module, "relu"):
                module.relu = nn.Identity()
        assert not np.allclose(net(x).numpy(), before)


def test_lenet_in_parts() -> None:
    net = models.lenet5(image_size=8)
    x = ex.random.randn((3, 1, 8, 8))
    np.testing.assert_array_equal(nn.Sequential(*net.children())(x).numpy(), net(x).numpy())
    layers = ("conv1", "conv2", "fc1", "fc2", "fc3")
    assert list(net.state_dict()) == [f"{k}.{p}" for k in layers for p in ("weight", "bias")]
