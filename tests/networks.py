"""A small network with parts of every kind, for the tests of modules."""

from __future__ import annotations

from typing import Any

import extensor as ex
from extensor import nn


class Block(nn.Module):
    def __init__(self, width: int = 3) -> None:
        self.conv1 = nn.Linear(width, width)
        self.conv2 = nn.Linear(width, width, bias=False)

    def forward(self, x: Any, scale: float = 1.0) -> Any:
        return self.conv2(ex.relu(self.conv1(x))) * scale


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()  # as PyTorch's code has it; not needed here
        self.blocks = nn.ModuleList([Block(), Block()])
        self.scale = nn.Parameter(ex.ones(3))
        self.register_buffer("seen", ex.zeros(3))
        self.register_buffer("scratch", ex.zeros(2), persistent=False)
        self.register_buffer("absent", None)
        self.note = [1, 2]

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x * self.scale


NAMES = [
    "scale",
    "blocks.0.conv1.weight",
    "blocks.0.conv1.bias",
    "blocks.0.conv2.weight",
    "blocks.1.conv1.weight",
    "blocks.1.conv1.bias",
    "blocks.1.conv2.weight",
]
