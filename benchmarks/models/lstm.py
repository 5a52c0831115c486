"""One LSTM layer of 128 units over 64 steps of 128 features."""

from __future__ import annotations

from typing import Any

from benchmarks.libraries import Libraries
from benchmarks.measure import Setup
from benchmarks.models import modules

_WIDTH, _LENGTH = 128, 64


def contestants(libraries: Libraries, batch: int, optimizer: str) -> dict[str, Setup]:
    inputs = [modules.noise(_LENGTH, batch, _WIDTH)]
    return modules.contestants(libraries, _build, _build, modules.mean_square, inputs, optimizer)


def work(batch: int) -> tuple[float, float]:
    product = 2.0 * _LENGTH * batch * _WIDTH * 4 * _WIDTH
    # Of the input only the weights have a gradient.
    return (2 + 3) * product, 4.0 * _LENGTH * batch * 20 * _WIDTH


def _build(library: Any) -> Any:
    return library.nn.LSTM(_WIDTH, _WIDTH)
