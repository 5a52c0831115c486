"""Two pre-norm transformer layers, width 128, 4 heads, on sequences of 64."""

from __future__ import annotations

from typing import Any

from benchmarks.libraries import Libraries
from benchmarks.measure import Setup
from benchmarks.models import modules

_WIDTH, _HEADS, _LENGTH, _LAYERS = 128, 4, 64, 2


def contestants(libraries: Libraries, batch: int, optimizer: str) -> dict[str, Setup]:
    inputs = [modules.noise(batch, _LENGTH, _WIDTH)]
    return modules.contestants(libraries, _build, _build, modules.mean_square, inputs, optimizer)


def work(batch: int) -> tuple[float, float]:
    rows = batch * _LENGTH
    products = rows * 12 * _WIDTH**2 + 2 * rows * _LENGTH * _WIDTH
    return 3 * 2.0 * _LAYERS * products, 4.0 * _LAYERS * rows * 20 * _WIDTH


def _build(library: Any) -> Any:
    nn = library.nn
    return nn.Sequential(
        *(
            nn.TransformerEncoderLayer(
                _WIDTH,
                _HEADS,
                4 * _WIDTH,
                dropout=0.0,
                activation="gelu",
                batch_first=True,
                norm_first=True,
            )
            for _ in range(_LAYERS)
        )
    )
