"""Verdicts: what the outcomes of a program's runs say about the library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from programs.draft import Draft
from programs.outcomes import Outcome

FINDINGS = (
    "differs",
    "failed",
    "unequal refusal",
    "parts differ",
    "accumulate differs",
    "resume differs",
    "invalid",
)


@dataclass(frozen=True)
class Verdict:
    """``same`` or ``refused`` is as it should be; every other kind is a finding."""

    kind: str
    text: str = ""

    @property
    def is_finding(self) -> bool:
        return self.kind in FINDINGS

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


def summarise(outcomes: Sequence[Outcome]) -> Outcome:
    """The one outcome of all workers of a run."""
    for kind in ("failed", "refused"):
        for outcome in outcomes:
            if outcome.kind == kind:
                return outcome
    if len({outcome.digest for outcome in outcomes}) > 1:
        digests = ", ".join(outcome.digest for outcome in outcomes)
        return Outcome("failed", text=f"workers ended with different tensors ({digests})")
    return outcomes[0]


def compare_workers(found: Mapping[int, Outcome], folder: Path, job: str) -> Verdict:
    """Whether all numbers of workers end with the same bits, or all above one refuse."""
    for size, outcome in found.items():
        if outcome.kind == "failed":
            return Verdict("failed", f"{_workers(size)}: {outcome.text}")
    refused = [size for size, outcome in found.items() if outcome.kind == "refused"]
    finished = [size for size in found if size not in refused]
    if len({found[size].digest for size in finished}) > 1:
        first = finished[0]
        other = next(size for size in finished if found[size].digest != found[first].digest)
        names = [load(folder, job, size) for size in (first, other)]
        text = f"{first} and {_workers(other)}: {describe_difference(*names)}"
        return Verdict("differs", text)
    if not refused:
        return Verdict("same")
    message = found[refused[-1]].text
    several = {size for size in found if size > 1}
    if several <= set(refused) and (refused != [1] or not several):
        by = " (by one worker alone)" if found[refused[-1]].alone else ""
        return Verdict("refused", message + by)
    only = " and ".join(map(_workers, refused))
    return Verdict("unequal refusal", f"only with {only}: {message}")


def _workers(size: int) -> str:
    return "1 worker" if size == 1 else f"{size} workers"


def compare_tensors(
    expected: Outcome, actual: Outcome, arrays: Iterator[Mapping[str, Any]], tolerance: float
) -> Verdict:
    """Whether two ways to train end with the same tensors, up to rounding."""
    if expected.kind == "refused":  # which says nothing about the other way
        return Verdict("refused", f"the plain program too: {expected.text}")
    if expected.kind != "finished":
        return Verdict("invalid", f"the plain program: {expected.text}")
    if actual.kind != "finished":
        return Verdict(actual.kind, actual.text)
    difference = describe_difference(*arrays, tolerance=tolerance)
    return Verdict("differs", difference) if difference else Verdict("same")


def describe_difference(
    expected: Mapping[str, Any], actual: Mapping[str, Any], tolerance: float = 0.0
) -> str:
    """The first tensor that differs by more than the tolerance, and by how much; or nothing."""
    if expected.keys() != actual.keys():
        return f"names differ: {sorted(expected.keys() ^ actual.keys())}"
    worst = ""
    largest = 0.0
    for name, one in expected.items():
        two = actual[name]
        if one.shape != two.shape or one.dtype != two.dtype:
            return f"{name} is {one.dtype} {one.shape} and {two.dtype} {two.shape}"
        if one.tobytes() == two.tobytes():
            continue
        if one.dtype.kind != "f":
            return f"{name} is {one.tolist()} and {two.tolist()}"
        excess = _excess(one.astype("float64"), two.astype("float64"), tolerance)
        if excess > largest:
            largest, worst = excess, f"{name} differs by {np.abs(one - two).max():.2g}"
    return worst


def counts_in(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The names of all tensors and the values of integers, such as counts of steps.

    They do not depend on random numbers, and show what was trained. Counts of batches are left out:
    all parts of a step are one, and with ``accumulate`` a step has several batches.
    """
    return {
        name: np.empty(0) if x.dtype.kind == "f" else x
        for name, x in tensors.items()
        if not name.endswith("num_batches_tracked")
    }


def _excess(one: Any, two: Any, tolerance: float) -> float:
    """By how much two arrays are further apart than they may be, as a share of their size."""
    scale = max(1.0, np.abs(one).max(initial=0.0))
    gap = np.abs(one - two)
    if not np.isfinite(gap).all() and not np.array_equal(one, two, equal_nan=True):
        return float("inf")
    return float(max(gap.max(initial=0.0) - tolerance * scale, 0.0))


def tolerance_of(draft: Draft) -> float:
    """How far rounding may carry two ways to compute a few steps apart.

    Programs of six steps multiply the last digit by less than 10^6 in float64 and 10^3 in float32. A
    product in bfloat16 has three digits, and may fall to either side.
    """
    if draft.amp:
        return 5e-2
    return 1e-9 if draft.dtype == "float64" else 2e-4


def load(folder: Path, job: str, size: int = 1) -> dict[str, Any]:
    """The tensors that a job ended with on ``size`` workers."""
    with np.load(folder / f"{job}-{size}.npz") as stored:
        return dict(stored)
