"""Five networks, each of the modules of a library: ours or torch's, with the same keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.models import lenet
from benchmarks.models.modules import classes, noise

_STAGES = (64, 128, 256, 512)  # channels of a ResNet
_SEPARABLE = ((32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2))
WIDTH, HEADS, POSITIONS, BLOCKS, VOCABULARY = 128, 4, 64, 4, 64


@dataclass(frozen=True)
class Network:
    """``build`` makes it of a library's modules, for an input of batch 1."""

    name: str
    size: str
    build: Callable[[Any], Any]
    input: Callable[[], np.ndarray]


def _mlp(library: Any) -> Any:
    nn = library.nn
    return nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))


def _lenet(library: Any) -> Any:
    return lenet.build(library.nn)


def _mobile(library: Any) -> Any:
    """Convolutions of 3x3 channel by channel, and of 1x1 between them, as in MobileNet."""
    nn = library.nn

    def convolution(inputs: int, outputs: int, kernel: int, stride: int, groups: int) -> list[Any]:
        layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        return [layer, nn.BatchNorm2d(outputs), nn.ReLU()]

    layers = convolution(3, 32, 3, 2, 1)
    for inputs, outputs, stride in _SEPARABLE:
        layers += convolution(inputs, inputs, 3, stride, inputs)
        layers += convolution(inputs, outputs, 1, 1, 1)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def _resnet18(library: Any) -> Any:
    nn, relu = library.nn, library.relu

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.shortcut = nn.Sequential()
            if inputs != outputs:
                pointwise = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
                self.shortcut = nn.Sequential(pointwise, nn.BatchNorm2d(outputs))

        def forward(self, x: Any) -> Any:
            return relu(self.bn2(self.conv2(relu(self.bn1(self.conv1(x))))) + self.shortcut(x))

    layers: list[Any] = [nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    inputs = 64
    for stage, outputs in enumerate(_STAGES):
        layers += [Block(inputs, outputs, 2 if stage else 1), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


def _gpt(library: Any) -> Any:
    nn = library.nn
    ours = library.__name__ != "torch"
    functions = library if ours else nn.functional
    causal = {"causal": True} if ours else {"is_causal": True}

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.joint, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            parts = self.joint(self.norm1(x)).reshape((1, POSITIONS, 3, HEADS, WIDTH // HEADS))
            q, k, v = (parts[:, :, i].swapaxes(1, 2) for i in range(3))
            mixed = functions.scaled_dot_product_attention(q, k, v, **causal)
            x = x + self.output(mixed.swapaxes(1, 2).reshape((1, POSITIONS, WIDTH)))
            return x + self.narrow(functions.gelu(self.wide(self.norm2(x))))

    class Model(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH)
            self.positions = nn.Embedding(POSITIONS, WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
            self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)

        def forward(self, x: Any) -> Any:
            return self.head(self.norm(self.blocks(self.tokens(x) + self.positions.weight)))

    return Model()


NETWORKS = (
    Network("MLP 784-128-10", "1 x 784", _mlp, lambda: noise(1, 784)),
    Network("LeNet-5", "1 x 28 x 28", _lenet, lambda: noise(1, 1, 28, 28)),
    Network("ResNet-18", "3 x 32 x 32", _resnet18, lambda: noise(1, 3, 32, 32)),
    Network("depthwise network", "3 x 64 x 64", _mobile, lambda: noise(1, 3, 64, 64)),
    Network("GPT, 4 layers of 128", "64 tokens", _gpt, lambda: classes(VOCABULARY, 1, POSITIONS)),
)
