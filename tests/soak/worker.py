"""Makes the calls that ``soak.calls`` asks for, in a process that may die of them."""

from __future__ import annotations

import json
import mmap
import os
import resource
import sys
import warnings
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from calls import flat
from drawn_calls import HUGE, shown

import extensor as ex
from extensor.core.tensor import Tensor
from soak.calls import STATUS
from soak.native_targets import native_targets, recorded
from soak.targets import Call, Target, public_targets
from soak.texts import place, raw

SPARE = 2**30  # bytes that a call may take: what is larger is a MemoryError, not a full machine


def targets() -> list[Target]:
    """All, in an order that does not depend on the run."""
    return [*public_targets(), *native_targets()]


def _watched(call: Call) -> list[tuple[Any, bytes]]:
    """The arrays that must not change, and what they hold."""
    found = []
    for x in flat([*call.args, *call.kwargs.values()]):
        array = x._array if type(x) is Tensor else x
        if not isinstance(array, np.ndarray) or array.nbytes >= 2**20 or array is HUGE:
            continue
        if array.dtype != object and not (call.changes and array.flags.writeable):
            found.append((array, array.tobytes()))
    return found


def attempt(target: Target, call: Call) -> tuple[str, str, str] | None:
    """Make the call: what is wrong with how it went, as a kind, a place and a text."""
    watched = _watched(call)
    problem = None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "(overflow|invalid value) encountered in cast")
        warnings.filterwarnings("ignore", "autocast: products")
        try:
            call.function(*call.args, **call.kwargs)
        except Warning as warning:
            problem = ("warning", place(warning), f"{type(warning).__name__}: {warning}")
        except Exception as error:
            why = raw(error) if target.public else None
            if why is not None:
                problem = ("raw text", place(error), f"{type(error).__name__}: {error} ({why})")
    if any(array.tobytes() != before for array, before in watched):
        problem = ("changed input", "", "")
    return problem


def _reset() -> None:
    """The settings that calls have changed."""
    if ex.get_default_dtype() != ex.float32:
        ex.set_default_dtype(ex.float32)
    if ex.get_num_threads() != 2:
        ex.set_num_threads(2)


def _shown(call: Call) -> str:
    try:
        text = shown([*call.args, *call.kwargs.values()])
    except Exception as error:  # a value that cannot be shown is not what is looked for
        text = f"<{type(error).__name__}>"
    return text if len(text) < 600 else f"{text[:600]}..."


def work(seed: int, first: int, step: int, end: int, status: mmap.mmap, found: TextIO) -> None:
    every = targets()
    recorded()
    _files()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE, used + SPARE))
    sys.setrecursionlimit(500)
    for number in range(first, end, step):
        target = every[number % len(every)]
        status[:] = STATUS.pack(number, target.name.encode()[:119])
        rng = np.random.default_rng([seed, number])
        call = target.draw(rng)
        problem = attempt(target, call)
        _reset()
        if problem is not None:
            kind, where, text = problem
            entry = {"number": number, "name": target.name, "kind": kind, "place": where}
            found.write(json.dumps({**entry, "text": f"{text}; called with {_shown(call)}"}) + "\n")
            found.flush()


def _files() -> None:
    """What the readers are given."""
    np.save("array.npy", np.arange(6.0).reshape(2, 3))
    Path("table.csv").write_text("a,b,y\n1,2,yes\n3,4,no\n")
    ex.save("file.safetensors", {"a": np.ones(2)})


def start() -> None:
    seed, first, step, end = map(int, sys.argv[1:5])
    folder = Path(f"{sys.argv[5]}.folder")
    folder.mkdir()
    handle = os.open(sys.argv[5], os.O_RDWR)
    with mmap.mmap(handle, STATUS.size) as status, open(f"{sys.argv[5]}.found", "w") as found:
        os.chdir(folder)
        work(seed, first, step, end, status, found)


if __name__ == "__main__":
    start()
