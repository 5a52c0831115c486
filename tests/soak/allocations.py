"""Every allocation of every kernel made to fail, with one thread and with two.

    PYTHONPATH=tests python -m soak.allocations

A failed allocation is a MemoryError or, where one can do without, the same bits; it changes no
input and no half of anything, and the same call then gives what it gave before. Nothing is drawn:
the calls are those of ``allocation_trials.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import allocation_failures
import allocation_trials

INSIDE = "EXTENSOR_FAILING_ALLOCATIONS"


def main() -> int:
    """0 if nothing was found."""
    if INSIDE in os.environ:
        return int(allocation_failures.main(allocation_trials.everything()) > 0)
    untouched = allocation_trials.untouched()
    if untouched:
        print(f"no call reaches {', '.join(sorted(untouched))}")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        library = allocation_failures.built(Path(folder))
        environment = {**allocation_failures.environment(library), INSIDE: "1"}
        command = [sys.executable, "-m", "soak.allocations"]
        return subprocess.run(command, env=environment, timeout=1800).returncode


if __name__ == "__main__":
    sys.exit(main())
