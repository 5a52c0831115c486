"""The groups of measures, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.groups import (
    call,
    convolution,
    epoch,
    functions,
    gemm,
    inference,
    normalization,
    ops,
    optim,
    train,
)
from benchmarks.libraries import Libraries
from benchmarks.measure import Measure, Notes

Group = Callable[[Libraries, bool, Notes], Iterator[Measure]]

TIMED: dict[str, Group] = {
    "call": call.measures,
    "ops": ops.measures,
    "gemm": gemm.measures,
    "convolution": convolution.measures,
    "normalization": normalization.measures,
    "optim": optim.measures,
    "functions": functions.measures,
    "train": train.measures,
    "inference": inference.measures,
    "epoch": epoch.measures,
}
# `machine` and `start` are not timed in turns: they measure the machine and fresh processes.
ALL = ("machine", *TIMED, "start")
