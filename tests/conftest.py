from __future__ import annotations

import signal
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import extensor as ex

# Shells start background jobs with these signals ignored, and the processes of tests would inherit that.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (getattr(signal, "SIGHUP", None), signal.SIG_DFL),
):
    if number is not None and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator for each test, the same in every run."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))


@pytest.fixture
def threads() -> Iterator[Callable[[int], None]]:
    """Sets the number of threads, which is put back after the test."""
    before = ex.get_num_threads()
    yield ex.set_num_threads
    ex.set_num_threads(before)
