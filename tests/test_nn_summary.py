"""How modules show themselves: their text, and the table of the summary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from networks import Net

import extensor as ex
from extensor import nn


def test_repr() -> None:
    net = Net()
    net.extra_repr = lambda: "width=3"  # type: ignore[method-assign]
    assert repr(net) == (
        "Net(width=3\n"
        "  (blocks): ModuleList(\n"
        "    (0): Block(\n"
        "      (conv1): Linear(in_features=3, out_features=3)\n"
        "      (conv2): Linear(in_features=3, out_features=3, bias=False)\n"
        "    )\n"
        "    (1): Block(\n"
        "      (conv1): Linear(in_features=3, out_features=3)\n"
        "      (conv2): Linear(in_features=3, out_features=3, bias=False)\n"
        "    )\n"
        "  )\n"
        ")"
    )
    assert repr(nn.PReLU(4)) == "PReLU(num_parameters=4)"
    assert repr(nn.ReLU(inplace=True)) == "ReLU()"
    assert repr(nn.CrossEntropyLoss(weight=[1.0, 2.0])) == "CrossEntropyLoss()"
    assert (
        repr(nn.KLDivLoss(reduction="sum", log_target=True))
        == "KLDivLoss(reduction='sum', log_target=True)"
    )


SUMMARY = """\
module          type        output shape  parameters  flops
-----------------------------------------------------------
                Net         (5, 3)                45    360
blocks          ModuleList                        42
blocks.0        Block       (5, 3)                21    180
blocks.0.conv1  Linear      (5, 3)                12     90
blocks.0.conv2  Linear      (5, 3)                 9     90
blocks.1        Block       (5, 3)                21    180
blocks.1.conv1  Linear      (5, 3)                12     90
blocks.1.conv2  Linear      (5, 3)                 9     90
-----------------------------------------------------------
33 trainable, 12 frozen"""


def test_summary() -> None:
    net = Net()
    net.blocks[0].conv1.requires_grad_(False)
    assert net.double().summary((5, 3)).flops == 360
    net.float()
    for example in ((5, 3), ex.ones((5, 3)), np.ones((5, 3), "float32"), (ex.ones((5, 3)),)):
        summary = net.summary(example)
        assert str(summary) == repr(summary) == SUMMARY
    assert (summary.parameters, summary.trainable, summary.flops) == (45, 33, 360)
    assert [row.path for row in summary.rows][-1] == "blocks.1.conv2"
    assert all(module.training and not module._hooks for module in net.modules())


def test_summary_of_several_outputs_and_of_a_failure() -> None:
    class Pair(nn.Module):
        def forward(self, x: Any) -> Any:
            assert not self.training
            return x, (x[0], None)

    pair = Pair()
    assert pair.summary((2, 3)).rows[0].output_shape == [(2, 3), [(3,), None]]
    assert "(2, 3), (3,)" in str(pair.summary((2, 3)))
    net = Net()
    with pytest.raises(ValueError, match=r"^blocks\.0\.conv1: linear:"):
        net.summary((5, 4))
    assert all(module.training and not module._hooks for module in net.modules())
