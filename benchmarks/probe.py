"""In a fresh process: ``probe LIBRARY import`` or ``probe LIBRARY step MODEL BATCH OPTIMIZER``.

Prints one line of JSON. Nothing is imported before the clock starts but what NumPy itself needs.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from pathlib import Path


def _memory(field: str) -> float:
    """A line of this process's memory, in bytes: VmRSS is resident now, VmHWM the most so far."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith(field))


def _forget_peak() -> None:
    """Begin VmHWM anew, so that the peak of the import does not count; see proc(5)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _import(library: str) -> dict[str, float]:
    if library != "numpy":
        import numpy  # noqa: F401

    start = time.perf_counter()
    __import__(library)
    return {"seconds": time.perf_counter() - start, "resident": _memory("VmRSS")}


def _step(library: str, model: str, batch: int, optimizer: str) -> dict[str, float | str]:
    """What some training steps need at most, beyond what the library takes when it is imported."""
    __import__(library)
    from importlib import import_module

    from benchmarks.libraries import Libraries
    from benchmarks.measure import MissingError

    libraries = Libraries(threads=1, only=library)
    setup = import_module(f"benchmarks.models.{model}").contestants(libraries, batch, optimizer)
    if library not in setup:
        return {"missing": f"no {optimizer} step of {model} for {library}"}
    _forget_peak()
    before = _memory("VmRSS")
    try:
        step = setup[library]()
    except MissingError as reason:
        return {"missing": str(reason)}
    for _ in range(10):
        step()
    return {"peak": _memory("VmHWM") - before}


if __name__ == "__main__":
    library, what, *arguments = sys.argv[1:]
    if what == "import":
        print(json.dumps(_import(library)))
    else:
        model, batch, optimizer = arguments
        print(json.dumps(_step(library, model, int(batch), optimizer)))
