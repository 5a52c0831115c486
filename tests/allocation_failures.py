"""What ops do when memory runs out: every allocation of the extension is made to fail, one by one.

Runs in a process of its own, with ``native/failing_allocations.cpp`` before all other libraries.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import extensor as ex
from extensor import _native

HERE = Path(__file__).parent
# After so many failures a call still allocates: something asks for memory in an endless loop.
ENOUGH = 500


@dataclass
class Trial:
    """A call, what it reads and must leave alone, and what it changes, all or nothing."""

    call: Callable[[], Any]
    read: Sequence[Any] = ()
    changed: Callable[[], Any] = lambda: ()


Make = Callable[[], Trial]


def built(folder: Path) -> Path:
    """The library that lets allocations fail."""
    library = folder / "failing_allocations.so"
    source = HERE / "native" / "failing_allocations.cpp"
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", str(source), "-o", str(library)]
    subprocess.run([*command, "-ldl"], check=True, timeout=120)
    return library


def environment(library: Path) -> dict[str, str]:
    """That of a process whose allocations can fail."""
    path = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    return {**os.environ, "LD_PRELOAD": str(library), "PYTHONPATH": path}


class Shortage:
    """The allocations of the extension and of the C++ library, as the preloaded library counts them."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(None)
        self.library.arm.argtypes = [ctypes.c_long, ctypes.c_int]
        self.library.disarm.restype = ctypes.c_long
        self.library.watch_range.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
        mapped = Path("/proc/self/maps").read_text()
        pattern = r"^(\w+)-(\w+) r-xp .*/(?:_native[^/]*|libstdc\+\+[^/]*)$"
        found = re.findall(pattern, mapped, re.MULTILINE)
        if len(found) < 2:
            raise RuntimeError("the extension and the C++ library are not where they were")
        for begin, end in found:
            self.library.watch_range(int(begin, 16), int(end, 16))

    def run(self, call: Callable[[], Any], first: int, lasts: bool) -> tuple[Any, Any, bool]:
        """The result, the error, and whether the ``first`` allocation was reached."""
        _native.trim_memory()
        self.library.arm(first, lasts)
        result = error = None
        try:
            result = call()
        except BaseException as caught:
            error = caught
        finally:
            seen = self.library.disarm()
        return result, error, seen >= first


def bits(x: Any) -> Any:
    """Arrays as their bytes, to be compared exactly; other things as they are."""
    if isinstance(x, list | tuple):
        return [bits(item) for item in x]
    array = getattr(x, "_array", x)
    if isinstance(array, np.ndarray):
        return array.shape, str(array.dtype), array.tobytes()
    return x


def findings(make: Make, threads: int, shortage: Shortage) -> Iterator[str]:
    """What goes wrong with one call, at any of its allocations, and how many there are."""
    _native.set_num_threads(threads)
    trial = make()
    expected = bits(trial.call()), bits(trial.changed())
    trial = make()
    if (bits(trial.call()), bits(trial.changed())) != expected:
        yield "two calls give different bits without any failure"
        return
    for lasts in (False, True):
        for first in range(1, ENOUGH + 1):
            trial = make()
            read, before = bits(trial.read), bits(trial.changed())
            _native.set_num_threads(1)
            _native.set_num_threads(threads)  # so that the call has to start its threads
            result, error, reached = shortage.run(trial.call, first, lasts)
            where = f"allocation {first}{' and all after it' if lasts else ''}"
            if bits(trial.read) != read:
                yield f"{where}: an input has changed"
            if error is None:
                if (bits(result), bits(trial.changed())) != expected:
                    yield f"{where}: no error, and another result"
            elif type(error) is not MemoryError:
                yield f"{where}: " + "".join(traceback.format_exception(error))
            else:
                if bits(trial.changed()) != before:
                    yield f"{where}: half of the change was made"
                if (bits(trial.call()), bits(trial.changed())) != expected:
                    yield f"{where}: the next call gives another result"
            del result, error
            if not reached:
                break
        else:
            yield f"still allocates after {ENOUGH} failures"


def main(trials: Iterable[tuple[str, int, Make]]) -> int:
    """Runs (name, threads, trial) and prints what goes wrong; the number of names that failed."""
    gc.disable()
    _native.set_memory_cache_limit(0)
    shortage = Shortage()
    failed = count = 0
    for name, threads, make in trials:
        print(f"{name}, {threads} threads", flush=True)
        found = list(findings(make, threads, shortage))
        failed += bool(found)
        count += 1
        for text in found:
            print(f"  FOUND {name}, {threads} threads, {text}", flush=True)
        if count % 50 == 0:
            gc.collect()
    print(f"{count} calls, {failed} with findings")
    return failed


def leaf(array: Any) -> ex.Tensor:
    """A tensor that is differentiated with respect to, if it can be."""
    made = ex.tensor(array)
    if made.dtype.kind == "f":
        made.requires_grad = True
    return made


def differentiated(function: Callable[..., Any], *arrays: Any) -> Make:
    """The outputs of ``function`` and the gradients of its inputs, by the tape."""

    def make() -> Trial:
        inputs = [leaf(x) for x in arrays]
        leaves = [x for x in inputs if x.requires_grad]

        def call() -> Any:
            outputs = function(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            roots = [x for x in outputs if x.requires_grad]
            if not roots:
                return outputs
            seeds = [ex.tensor(np.linspace(-1, 1, x.size).reshape(x.shape), x.dtype) for x in roots]
            ex.backward(roots, seeds)
            gradients = [x.grad for x in leaves]
            for x in leaves:
                x.grad = None
            return [*outputs, *gradients]

        return Trial(call, inputs, lambda: [x.grad for x in leaves])

    return make
