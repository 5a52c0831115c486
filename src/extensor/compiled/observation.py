"""Observation of a trace: the code that runs in it, and reads that nobody can watch.

A profiler in Python's sense sees every call. Calls of the library and its engines do not count; of
installed packages those do that the user's code has called.
"""

from __future__ import annotations

import builtins
import datetime
import io
import os
import sys
import time
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from extensor.compiled.discovery import Executed
from extensor.compiled.origin import is_library, is_users
from extensor.errors import marked

_CLOCKS = tuple(
    getattr(time, name)
    for name in """
    time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns
    thread_time thread_time_ns localtime gmtime ctime asctime strftime clock_gettime
    clock_gettime_ns
    """.split()
    if hasattr(time, name)
)
_FILES = (
    *(builtins.open, builtins.input, io.open, os.open, os.read, os.stat, os.lstat, os.listdir),
    *(os.scandir, os.access, os.readlink, os.getcwd, np.fromfile),
)
_CHANCE = (os.urandom, *([os.getrandom] if hasattr(os, "getrandom") else []))
_READS: dict[int, str] = {
    **{id(function): "a clock" for function in _CLOCKS},
    **{id(function): "a file" for function in _FILES},
    **{id(function): "random numbers of the system" for function in _CHANCE},
}
_THROUGH_TO_FILES = ("numpy", "extensor.io", "extensor.data")
# Parts of Python that read clocks and files for their own use: to import, to warn, to log.
_PYTHONS_OWN = frozenset(
    "importlib _frozen_importlib linecache tokenize warnings traceback logging inspect".split()
)


class Observer:
    """Notes the code that runs in its block, and raises where it reads a clock or a file."""

    def __init__(self) -> None:
        self.executed: dict[types.CodeType, Executed] = {}
        self._ignored: set[types.CodeType] = set()  # code of the library and its engines

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Observe the calls of this thread inside the block."""
        before: Any = sys.getprofile()
        sys.setprofile(self._event)
        try:
            yield
        finally:
            if hasattr(before, "enable"):  # the profiler of cProfile, which is no function
                sys.setprofile(None)
                before.enable()
            else:
                sys.setprofile(before)

    def _event(self, frame: types.FrameType, event: str, function: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code in self._ignored or code in self.executed:
                return
            if is_library(str(frame.f_globals.get("__name__"))):
                self._ignored.add(code)
            elif _is_called_by_user(frame, _through_to_code(frame)):
                self.executed[code] = Executed(code, frame.f_globals)
        elif event == "c_call":
            source = _READS.get(id(function)) or _read_of_method(function)
            if source is not None and _is_called_by_user(frame, _THROUGH_TO_FILES):
                name = getattr(function, "__qualname__", str(function))
                raise marked(
                    TypeError(
                        f"compile: a compiled function must not read {source} ({name}), which it "
                        "would do only once, when it is traced; read it outside and pass the value "
                        f"as an argument; at {frame.f_code.co_filename}:{frame.f_lineno}"
                    )
                )


def _read_of_method(function: Any) -> str | None:
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, datetime.date):
        return "a clock" if function.__name__ in ("now", "utcnow", "today") else None
    return None


def _through_to_code(frame: types.FrameType) -> tuple[str, ...]:
    """Modules that may stand between the user's code and a package's: networks of packages are
    called by ours, and Python's functions mostly by ours for ours."""
    top = str(frame.f_globals.get("__name__")).partition(".")[0]
    return () if top in sys.stdlib_module_names else ("extensor",)


def _is_called_by_user(frame: types.FrameType | None, through: tuple[str, ...]) -> bool:
    """Whether the code of ``frame`` is the user's, or a package's that the user's code has called.

    Modules whose names begin with one of ``through`` may stand between them.
    """
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if is_users(module):
            return True
        is_passed = module.startswith(through) if through else False
        if module.partition(".")[0] in _PYTHONS_OWN or (is_library(module) and not is_passed):
            return False
        frame = frame.f_back
    return False
