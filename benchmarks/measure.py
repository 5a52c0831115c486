"""What is measured and what comes out: a Measure has a contestant per library, a Row the times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

OURS = "extensor"
PEERS = ("numpy", "torch", "jax")
RUNTIMES = ("onnxruntime", "openvino")  # which only run models

Call = Callable[[], Any]
Setup = Callable[[], Call]


class MissingError(Exception):
    """A library lacks what a measure needs; the text says what."""


@dataclass(frozen=True)
class Measure:
    """One thing to time. A contestant is called ``<library>`` or ``<library> <variant>``.

    ``flops`` and ``bytes`` are the least that any implementation has to do: they give the limit.
    """

    group: str
    name: str
    size: str
    contestants: Mapping[str, Setup]
    recorded: bool = False
    flops: float = 0.0
    bytes: float = 0.0


@dataclass
class Row:
    """The outcome for each contestant: the best and the median, and our ratios to the others."""

    group: str
    name: str
    size: str
    threads: int
    unit: str
    best: dict[str, float]
    median: dict[str, float]
    ratio: dict[str, float] = field(default_factory=dict)
    median_ratio: dict[str, float] = field(default_factory=dict)
    limit: float | None = None

    @property
    def distance(self) -> float | None:
        """How many times the machine's limit we need; None where the limit says nothing."""
        if self.limit is None or OURS not in self.best:
            return None
        return self.best[OURS] / self.limit


@dataclass
class Notes:
    """What was left out and why, said once; ``failed`` holds what should have worked."""

    skipped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def skip(self, text: str) -> None:
        if text not in self.skipped:
            self.skipped.append(text)

    def fail(self, text: str) -> None:
        if text not in self.failed:
            self.failed.append(text)

    def merge(self, other: Notes) -> None:
        for text in other.skipped:
            self.skip(text)
        for text in other.failed:
            self.fail(text)


@dataclass
class Results:
    """All that a run found, as it is written to JSON."""

    about: dict[str, Any]
    rows: list[Row] = field(default_factory=list)
    notes: Notes = field(default_factory=Notes)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Results:
        rows = [Row(**row) for row in data["rows"]]
        return Results(data["about"], rows, Notes(**data["notes"]))


def library_of(label: str) -> str:
    """The library a contestant belongs to."""
    return label.split()[0]


def short(ratio: float) -> str:
    """A ratio with two digits that say something."""
    return f"{ratio:.2f}" if ratio >= 0.095 else f"{ratio:.3f}" if ratio >= 0.001 else "<.001"


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan
