"""Settings of the native runtime: threads and memory."""

from __future__ import annotations

from operator import index

from extensor import _native
from extensor.errors import value_error
from extensor.errors.explanation import checked

MOST_THREADS = 4096  # each is one of the system's, started at the next call that is worth it


@checked
def set_num_threads(count: int) -> None:
    """Let kernels use up to ``count`` threads. Results do not depend on it, to the last bit.

    Parameters
    ----------
    count : int
        The number of threads, from 1 to 4096.

    Raises
    ------
    ValueError
        If ``count`` is out of range.

    Examples
    --------
    >>> import extensor as ex
    >>> before = ex.get_num_threads()
    >>> ex.set_num_threads(1)
    >>> ex.get_num_threads()
    1
    >>> ex.set_num_threads(before)
    """
    if count < 1:
        raise value_error("set_num_threads", "count must be 1 or more", count=count)
    if count > MOST_THREADS:
        requirement = f"count must be {MOST_THREADS} or less"
        raise value_error("set_num_threads", requirement, count=count)
    _native.set_num_threads(index(count))


def get_num_threads() -> int:
    """The number of threads that kernels may use.

    Returns
    -------
    int
        The number, by default that of the processors.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.get_num_threads() >= 1
    True
    """
    return _native.num_threads()


def memory_stats() -> dict[str, int]:
    """Counts of the pool of array memory.

    Returns
    -------
    dict of int
        Bytes ``in_use``, at their peak and cached, and how often the cache was hit.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.memory_stats()["peak_in_use"] >= ex.memory_stats()["in_use"]
    True
    """
    return _native.memory_stats()


def reset_peak_memory() -> None:
    """Start a new measurement of ``peak_in_use``.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.reset_peak_memory()
    """
    _native.reset_peak_memory()


def trim_memory() -> int:
    """Give all cached memory back to the system.

    Returns
    -------
    int
        The number of bytes that were given back.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.trim_memory() >= 0
    True
    """
    return _native.trim_memory()


@checked
def set_memory_cache_limit(size: int) -> None:
    """Cache at most ``size`` bytes of array memory for reuse.

    Parameters
    ----------
    size : int
        The number of bytes; 0 caches nothing.

    Raises
    ------
    ValueError
        If ``size`` is negative.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.set_memory_cache_limit(2**30)
    """
    if size < 0:
        raise value_error("set_memory_cache_limit", "size must be 0 or more", size=size)
    _native.set_memory_cache_limit(min(index(size), 2**63 - 1))
