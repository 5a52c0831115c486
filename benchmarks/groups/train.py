"""Whole training steps: forward, backward, optimizer, eager and by the tape (JAX compiled)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from benchmarks.libraries import Libraries
from benchmarks.measure import Measure, Notes


@dataclass(frozen=True)
class Workload:
    """A file of ``benchmarks/models`` with a batch size and an optimizer."""

    name: str
    model: str
    batch: int
    optimizer: str


WORKLOADS = (
    Workload("MLP 784-128-10 SGD", "mlp", 1, "SGD"),
    Workload("MLP 784-128-10 SGD", "mlp", 64, "SGD"),
    Workload("MLP 784-128-10 SGD", "mlp", 1024, "SGD"),
    Workload("MLP 784-128-10 Adam", "mlp", 64, "Adam"),
)
# Each becomes a file in benchmarks/models and a line above as soon as the library has its parts.
PLANNED = (
    "LeNet-5 28x28, batch 64, SGD",
    "2 residual blocks, 32 channels, 32x32, batch 32",
    "2 transformer layers, d=128, 4 heads, batch 16 x 64, AdamW",
    "LSTM",
)


def measures(libraries: Libraries, quick: bool, notes: Notes) -> Iterator[Measure]:
    for name in PLANNED:
        notes.skip(f"train: not written yet: {name}")
    for workload in WORKLOADS[:2] if quick else WORKLOADS:
        model = import_module(f"benchmarks.models.{workload.model}")
        flops, moved = model.work(workload.batch)
        yield Measure(
            "train",
            workload.name,
            f"batch {workload.batch}",
            model.contestants(libraries, workload.batch, workload.optimizer),
            recorded=True,
            flops=flops,
            bytes=moved,
        )
