"""Two residual blocks of 3x3 convolutions and batch normalization, 32 channels, 32x32."""

from __future__ import annotations

from typing import Any

from benchmarks.libraries import Libraries
from benchmarks.measure import Setup
from benchmarks.models import modules

_CHANNELS, _SIDE, _BLOCKS = 32, 32, 2


def contestants(libraries: Libraries, batch: int, optimizer: str) -> dict[str, Setup]:
    inputs = [modules.noise(batch, _CHANNELS, _SIDE, _SIDE)]
    return modules.contestants(libraries, _build, _build, modules.mean_square, inputs, optimizer)


def work(batch: int) -> tuple[float, float]:
    convolution = 2.0 * batch * _SIDE**2 * _CHANNELS**2 * 9
    # Of the first the gradient of the input is not needed.
    passes = 3 * 2 * _BLOCKS - 1
    return passes * convolution, 4.0 * 12 * _BLOCKS * batch * _CHANNELS * _SIDE**2


def _build(library: Any) -> Any:
    nn, relu = library.nn, library.relu

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(_CHANNELS, _CHANNELS, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(_CHANNELS)
            self.conv2 = nn.Conv2d(_CHANNELS, _CHANNELS, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(_CHANNELS)

        def forward(self, x: Any) -> Any:
            return relu(x + self.bn2(self.conv2(relu(self.bn1(self.conv1(x))))))

    return nn.Sequential(*(Block() for _ in range(_BLOCKS)))
