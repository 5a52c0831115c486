"""The clock: contestants take turns round by round, so that noise hits all alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from statistics import median
from typing import Any

import numpy as np

from benchmarks.libraries import Libraries, as_numpy
from benchmarks.machine import Limits
from benchmarks.measure import OURS, Call, Measure, MissingError, Notes, Row


@dataclass(frozen=True)
class Settings:
    """How long to measure: a timed loop lasts ``block`` seconds, a contestant gets ``budget``."""

    threads: int
    quick: bool = False
    rounds: int = 15
    fewest_rounds: int = 5
    block: float = 3e-3
    budget: float = 1.5
    # With several threads, the pool of the one before may still spin: let it go to sleep.
    pause: float = 0.0

    @staticmethod
    def make(threads: int, quick: bool) -> Settings:
        pause = 3e-3 if threads > 1 else 0.0
        if quick:
            return Settings(threads, True, 3, 2, 2e-4, 0.05, pause / 3)
        return Settings(threads, pause=pause)


def run(
    measure: Measure, libraries: Libraries, settings: Settings, limits: Limits, notes: Notes
) -> Row | None:
    """The times of all contestants that can take part; None if we cannot."""
    calls = _set_up(measure, libraries, notes)
    if OURS not in calls:
        return None
    loops = {}
    longest = 0.0
    for label, call in calls.items():
        with libraries.mode(label, measure.recorded):
            loops[label], block = _calibrated(call, settings.block)
        longest = max(longest, block)
    rounds = round(settings.budget / longest)
    rounds = max(settings.fewest_rounds, min(settings.rounds, rounds))
    samples: dict[str, list[float]] = {label: [] for label in calls}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for label in _rotated(list(calls), turn):
                time.sleep(settings.pause)
                with libraries.mode(label, measure.recorded):
                    # One call that is not timed wakes the library's threads and fills the caches.
                    calls[label]()
                    samples[label].append(_timed(calls[label], loops[label]))
    finally:
        gc.enable()
    row = row_of(measure.group, measure.name, measure.size, settings.threads, "s", samples)
    row.limit = limits.seconds(measure.flops, measure.bytes)
    return row


def row_of(
    group: str, name: str, size: str, threads: int, unit: str, samples: dict[str, list[float]]
) -> Row:
    """A row from the samples of each contestant, those of one round beside each other."""
    best = {label: min(values) for label, values in samples.items()}
    row = Row(group, name, size, threads, unit, best, {k: median(v) for k, v in samples.items()})
    for label in samples:
        if label != OURS and OURS in samples:
            row.ratio[label] = best[OURS] / best[label]
            pairs = zip(samples[OURS], samples[label], strict=True)
            row.median_ratio[label] = median(ours / theirs for ours, theirs in pairs)
    return row


def _set_up(measure: Measure, libraries: Libraries, notes: Notes) -> dict[str, Call]:
    calls: dict[str, Call] = {}
    expected: list[np.ndarray] = []
    for label, setup in measure.contestants.items():
        if label not in libraries or (calls and OURS not in calls):
            continue
        what = f"{measure.group}: {measure.name}"
        try:
            call = setup()
            with libraries.mode(label, measure.recorded):
                first = as_numpy(call())
        except MissingError as reason:
            notes.skip(f"{what}: {reason}")
            if label == OURS:
                return {}
        except Exception as error:
            notes.fail(f"{what} ({measure.size}): {label}: {type(error).__name__}: {error}")
            if label == OURS:
                return {}
        else:
            calls[label] = call
            expected = expected or first
            if not _agree(expected, first):
                notes.fail(f"{what} ({measure.size}): {label} computes something else than we do")
    return calls


def _agree(expected: Sequence[Any], found: Sequence[Any]) -> bool:
    """Whether two results are the same up to rounding: what differs more is no fair comparison."""
    for ours, theirs in zip(expected, found, strict=False):
        if ours.shape != theirs.shape:
            return False
        scale = float(np.abs(ours).max(initial=0.0))
        rtol = 1e-3
        if ours.dtype.name == "bfloat16":
            ours, rtol = ours.astype(np.float32), 2.0**-7
        if not np.allclose(ours, theirs, rtol=rtol, atol=1e-4 * scale, equal_nan=True):
            return False
    return not expected or not found or len(expected) == len(found)


def _calibrated(call: Call, block: float) -> tuple[int, float]:
    """How often to call so that a timed loop lasts ``block`` seconds, and how long it lasts."""
    loops = 1
    while True:
        seconds = _timed(call, loops) * loops
        if seconds >= block:
            return loops, seconds
        loops = max(loops + 1, min(10 * loops, round(1.2 * block / max(seconds, 1e-9) * loops)))


def _timed(call: Call, loops: int) -> float:
    start = time.perf_counter()
    for _ in repeat(None, loops):
        call()
    return (time.perf_counter() - start) / loops


def _rotated(labels: list[str], turn: int) -> list[str]:
    """Each round begins with another, so that nobody always follows the same neighbour."""
    first = turn % len(labels)
    return labels[first:] + labels[:first]
