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
    Workload("LeNet-5 SGD", "lenet", 64, "SGD"),
    Workload("2 residual blocks SGD", "residual", 32, "SGD"),
    Workload("2 transformer layers AdamW", "transformer", 16, "AdamW"),
    Workload("LSTM 128 x 64 SGD", "lstm", 32, "SGD"),
)


def measures(libraries: Libraries, quick: bool, _notes: Notes) -> Iterator[Measure]:
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
