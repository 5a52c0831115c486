"""One thread count, one process: the environment that every library reads when it is imported."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def available_cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def pin(threads: int) -> None:
    """Keep this process on as many cores as it has threads; before any library is imported."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, available_cores()[:threads])


def for_threads(threads: int) -> Mapping[str, str]:
    environment = dict(os.environ)
    for name in ("OMP", "MKL", "OPENBLAS", "EXTENSOR"):
        environment[f"{name}_NUM_THREADS"] = str(threads)
    # An idle OpenBLAS thread spins for 2**26 cycles, into the turn of whoever comes next. 2**20 is
    # still far longer than the gap between two calls of its own turn.
    environment["OPENBLAS_THREAD_TIMEOUT"] = "20"
    environment["JAX_PLATFORMS"] = "cpu"
    # Bytecode is kept, as it is for everyone who installs a wheel.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if threads == 1:
        environment["XLA_FLAGS"] = (
            "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        )
    path = [str(ROOT), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(entry for entry in path if entry)
    return environment


def processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
