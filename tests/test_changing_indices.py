"""Indices whose memory another thread or process changes while an op reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from changing_indices import CALLS

from extensor import _native

PROGRAM = Path(__file__).parent / "changing_indices.py"


def test_no_op_reads_an_index_that_it_has_not_checked() -> None:
    command = [sys.executable, str(PROGRAM), "0.2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == list(CALLS), done.stderr
    assert done.returncode == 0


def test_rows_that_are_overwritten_by_the_copy_itself() -> None:
    memory = np.array([1, 2, 3, 0, 1 << 40])
    target, rows = memory[:4, None], memory[:4]
    source = np.full((4, 1), 1 << 40)
    _native.copy_rows(target, np.arange(4), source, rows)
    assert (memory == 1 << 40).all()
    places = np.arange(4)
    _native.copy_rows(places[:, None], places, source, np.arange(4))
    assert (places == 1 << 40).all()
