"""The end of the interpreter: threads may still be inside ops, and nobody waits for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "daemon_threads.py"


def ended(seed: int, threads: int) -> tuple[int, str]:
    """The exit code of a program that leaves its daemon threads behind, and what it printed."""
    command = [sys.executable, str(PROGRAM), str(seed), str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_daemon_threads_may_be_inside_ops(seed: int, threads: int) -> None:
    assert ended(seed, threads) == (0, "")
