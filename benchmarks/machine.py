"""The limits of this machine, measured: what the arithmetic units and the memory can do at best."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.measure import Notes, Row

# Below this, the cost of a call says more than any limit.
_SHORTEST = 1e-6


@dataclass(frozen=True)
class Limits:
    """float32 operations per second, and ascending pairs of working set and bytes per second."""

    flops: float
    bandwidth: list[tuple[float, float]]

    def bytes_per_second(self, working_set: float) -> float:
        sizes = [math.log(size) for size, _ in self.bandwidth]
        return float(np.interp(math.log(working_set), sizes, [rate for _, rate in self.bandwidth]))

    def seconds(self, flops: float, moved: float) -> float | None:
        """The least time for so much work; None where it is too short to mean anything."""
        least = flops / self.flops
        if moved:
            least = max(least, moved / self.bytes_per_second(moved))
        return least if least >= _SHORTEST else None

    def rows(self, threads: int) -> list[Row]:
        def row(name: str, size: str, unit: str, value: float) -> Row:
            return Row("machine", name, size, threads, unit, {"machine": value}, {"machine": value})

        return [
            row("float32 multiply-add", "", "GF/s", self.flops / 1e9),
            *(
                row("read 3, write 1", f"{size / 1024:,.0f} KiB", "GB/s", rate / 1e9)
                for size, rate in self.bandwidth
            ),
        ]


def measure_limits(threads: int, quick: bool, notes: Notes) -> Limits:
    """By a small C++ program; by NumPy where there is no compiler."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        notes.skip("machine: no g++ or clang++, so the limits are those that NumPy reaches")
        return _numpy_limits(quick)
    try:
        found = json.loads(_run_program(compiler, threads, 0.01 if quick else 0.25))
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or "").strip().splitlines()[:1]
        notes.skip(f"machine: machine_limits.cpp failed {reason}, so the limits are NumPy's")
        return _numpy_limits(quick)
    return Limits(found["flops"], [(size, rate) for size, rate in found["bandwidth"]])


def _run_program(compiler: str, threads: int, seconds: float) -> str:
    source = Path(__file__).with_name("machine_limits.cpp")
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "machine_limits")
        flags = ["-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", "-pthread"]
        build = [compiler, *flags, str(source), "-o", program]
        subprocess.run(build, check=True, capture_output=True, text=True)
        call = [program, str(threads), str(seconds)]
        return subprocess.run(call, check=True, capture_output=True, text=True).stdout


def _numpy_limits(quick: bool) -> Limits:
    n = 256 if quick else 1024
    a = np.ones((n, n), np.float32)
    out = np.empty_like(a)
    flops = 2.0 * n**3 / _fastest(lambda: np.matmul(a, a, out=out))
    bandwidth = []
    for exponent in range(14, 25 if quick else 29, 2):
        x, y, z = (np.ones(max(1, 2**exponent // 12), np.float32) for _ in range(3))
        moved = 3.0 * x.nbytes
        seconds = _fastest(partial(np.add, x, y, out=z))
        bandwidth.append((float(2**exponent), moved / seconds))
    return Limits(flops, bandwidth)


def _fastest(call: Callable[[], object], rounds: int = 7) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
