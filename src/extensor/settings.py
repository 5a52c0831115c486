"""Settings of the native runtime: threads and memory."""

from __future__ import annotations

from operator import index

from extensor import _native
from extensor.errors import value_error
from extensor.errors.explanation import checked

MOST_THREADS = 4096  # each is one of the system's, started at the next call that is worth it


@checked
def set_num_threads(count: int) -> None:
    """Let kernels use up to ``count`` threads. Results do not depend on it, to the last bit."""
    if count < 1:
        raise value_error("set_num_threads", "count must be 1 or more", count=count)
    if count > MOST_THREADS:
        requirement = f"count must be {MOST_THREADS} or less"
        raise value_error("set_num_threads", requirement, count=count)
    _native.set_num_threads(index(count))


def get_num_threads() -> int:
    """How many threads kernels may use."""
    return _native.num_threads()


def memory_stats() -> dict[str, int]:
    """Bytes in use, at their peak, and cached by the pool of array memory; and how often it was hit."""
    return _native.memory_stats()


def reset_peak_memory() -> None:
    """Start a new measurement of ``peak_in_use``."""
    _native.reset_peak_memory()


def trim_memory() -> int:
    """Give all cached memory back to the system; returns how many bytes that were."""
    return _native.trim_memory()


@checked
def set_memory_cache_limit(size: int) -> None:
    """Cache at most ``size`` bytes of array memory for reuse."""
    if size < 0:
        raise value_error("set_memory_cache_limit", "size must be 0 or more", size=size)
    _native.set_memory_cache_limit(min(index(size), 2**63 - 1))
