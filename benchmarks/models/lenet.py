"""LeNet-5 on random 28x28 images, with relu and max pooling, and cross-entropy."""

from __future__ import annotations

from typing import Any

from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, Setup
from benchmarks.models import modules


def contestants(libraries: Libraries, batch: int, optimizer: str) -> dict[str, Setup]:
    inputs = [modules.noise(batch, 1, 28, 28), modules.classes(10, batch)]
    return modules.contestants(libraries, _ours, _torch, loss, inputs, optimizer)


def work(batch: int) -> tuple[float, float]:
    first, second = 28 * 28 * 6 * 25, 10 * 10 * 16 * 150
    layers = 400 * 120 + 120 * 84 + 84 * 10
    # The gradient of the images is not needed.
    return 2.0 * batch * (2 * first + 3 * (second + layers)), 4.0 * batch * 28 * 28


def build(nn: Any) -> Any:
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )


def _ours(ex: Any) -> Any:
    return build(ex.nn)


def _torch(torch: Any) -> Any:
    return build(torch.nn)


def loss(library: Any, module: Any, inputs: Any) -> Any:
    x, target = inputs
    functions = library if library.__name__ == OURS else library.nn.functional
    return functions.cross_entropy(module(x), target)
