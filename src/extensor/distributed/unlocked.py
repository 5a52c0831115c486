"""Beginning and ending MPI without Python's lock, so that a timer can end what hangs.

mpi4py keeps the lock for both; the library it has loaded is asked directly where it can be found.
"""

from __future__ import annotations

import ctypes
from typing import Any


def initialize(MPI: Any) -> None:
    """``MPI_Init_thread``, for one thread at a time."""
    begin = _function("MPI_Init_thread")
    if begin is None:
        MPI.Init_thread(MPI.THREAD_SERIALIZED)
        return
    begin(None, None, MPI.THREAD_SERIALIZED, ctypes.byref(ctypes.c_int()))


def finalize(MPI: Any) -> None:
    """``MPI_Finalize``."""
    end = _function("MPI_Finalize")
    if end is None:
        MPI.Finalize()
        return
    end()


def _function(name: str) -> Any:
    try:
        with open("/proc/self/maps", encoding="utf-8") as maps:
            paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libmpi.so" in line}
        return getattr(ctypes.CDLL(paths.pop()), name) if len(paths) == 1 else None
    except (OSError, AttributeError):
        return None
