"""Without memory or threads a call fails whole, with a MemoryError, and the next one works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import allocation_failures
import allocation_trials
import pytest

from extensor.core import door

native = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")
failing = pytest.mark.skipif(
    not sys.platform.startswith("linux")
    or shutil.which("g++") is None
    or "EXTENSOR_SANITIZED" in os.environ,
    reason="the library that lets allocations fail needs glibc and g++, and no sanitizer beside it",
)


@native
@failing
def test_every_allocation_may_fail(tmp_path: Path) -> None:
    library = allocation_failures.built(tmp_path)
    code = (
        "import allocation_failures, allocation_trials, sys;"
        "sys.exit(allocation_failures.main(allocation_trials.sample()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=allocation_failures.environment(library),
        capture_output=True,
        text=True,
        timeout=300,
    )
    found = [line for line in done.stdout.splitlines() if "FOUND" in line]
    end = done.stdout[-200:] + done.stderr[-2000:]
    assert (done.returncode, found) == (0, []), end
    assert "calls, 0 with findings" in end


@native
def test_the_calls_reach_every_kernel() -> None:
    assert allocation_trials.untouched() == set()
