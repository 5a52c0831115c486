"""Ops with sizes, counts, axes and shapes that no memory can hold, and that no loop can reach.

Runs in a process of its own, which is short of memory and ends if a call takes too long.
"""

from __future__ import annotations

import re
import resource
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from calls import arguments_of, arrays_of, call, flat, hand_arguments
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor.core.op import OPS

SIZES = [10**9, 2**31, 2**40, 2**53, 2**60, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]
VALUES = [*SIZES, *(-size for size in SIZES)]
SECONDS = 20
MEMORY = 3 << 30
OURS = re.compile(r"[a-z_]\w*: ")
Call = tuple[str, Any, list[Any], dict[str, Any]]


def varied(value: Any, extreme: int) -> list[Any]:
    """``value`` with an int of it replaced, or all; nothing if it has none."""
    if type(value) is int:
        return [extreme]
    if isinstance(value, list | tuple) and value and all(type(item) is int for item in value):
        kind = type(value)
        return [
            kind([extreme, *value[1:]]),
            kind([*value[:-1], extreme]),
            kind([extreme] * len(value)),
        ]
    return []


def forwards(case: Case, values: Sequence[int]) -> Iterator[Call]:
    """The case with each of its attributes made extreme, of empty inputs too."""
    function = getattr(ex, case.op)
    arrays = arrays_of(case, np.random.default_rng(0), "float32")
    args, kwargs = arguments_of(case, [_tensors(x) for x in arrays])
    public = OPS[case.op].public
    defaults = dict(zip(public.names, public.defaults, strict=True))
    given = {**{k: v for k, v in defaults.items() if k in OPS[case.op].attributes}, **kwargs}
    for name, value in given.items():
        for extreme in values:
            for changed in varied(value, extreme):
                text = f"{case.op}(..., {name}={changed})"
                yield text, function, args, {**kwargs, name: changed}
                if args and isinstance(args[0], ex.Tensor) and args[0].ndim:
                    empty = [args[0][:0], *args[1:]]
                    yield f"{text} of nothing", function, empty, {**kwargs, name: changed}


def backwards(case: Case, values: Sequence[int]) -> Iterator[Call]:
    """The case's rule, called by hand, with each attribute and shape made extreme."""
    op = OPS[case.op]
    if op.rule is None or op.variadic or op.rule.several:
        return
    inputs = [_tensors(x) for x in arrays_of(case, np.random.default_rng(0), "float32")]
    outputs = call(case, inputs)
    output = flat(outputs)[0]
    if output.dtype.kind != "f":
        return
    arguments = hand_arguments(case, inputs, outputs)
    for name, value in arguments.items():
        for extreme in values:
            for changed in varied(value, extreme):
                text = f"{op.rule.name}(..., {name}={changed})"
                yield text, op.rule.function, [output.detach()], {**arguments, name: changed}


def _tensors(x: Any) -> Any:
    return [_tensors(item) for item in x] if isinstance(x, list) else ex.tensor(x)


def creations(values: Sequence[int]) -> Iterator[Call]:
    """What is made from nothing."""
    random = ex.random
    for n in values:
        for shape in (n, (n, 2), (2, n), (n, 0), (n, n), (n, n, 0)):
            for make in (ex.zeros, ex.ones, ex.empty, random.rand, random.randn):
                yield f"{make.__name__}({shape})", make, [shape], {}
            yield f"full({shape})", ex.full, [shape, 1.0], {}
            yield f"randint({shape})", random.randint, [0, 9, shape], {}
            yield f"bernoulli({shape})", random.bernoulli, [0.5, shape], {}
        for make in (  # type: ignore[assignment]
            ex.arange,
            ex.eye,
            random.permutation,
            random.choice,
            ex.set_memory_cache_limit,
        ):
            yield f"{make.__name__}({n})", make, [n], {}
        for start, stop, step in ((0, n, 1), (0, 9, n), (-n, n, 2), (n, n + 5, 1), (0, 1, 1 / n)):
            yield f"arange({start}, {stop}, {step})", ex.arange, [start, stop, step], {}
        yield f"linspace({n})", ex.linspace, [0, 1, n], {}
        yield f"eye(2, {n})", ex.eye, [2, n], {}
        yield f"eye(2, 2, {n})", ex.eye, [2, 2, n], {}
        yield f"one_hot({n})", ex.one_hot, [[0, 1], n], {}
        yield f"choice(3, {n})", random.choice, [3, n], {}
        yield f"split({n})", random.Generator(0).split, [n], {}


def all_calls(values: Sequence[int], step: int = 1) -> Iterator[Call]:
    """Everything, with every ``step``-th row of the case table."""
    yield from creations(values)
    for case in CASES[::step]:
        if case.op != "einsum":
            yield from forwards(case, values)
            yield from backwards(case, values)


def main(values: Sequence[int], step: int = 1) -> int:
    """Makes the calls, each of which must work or fail with a text of ours; how many do not."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    found = count = 0
    for text, function, args, kwargs in all_calls(values, step):
        count += 1
        print(text, flush=True)
        signal.alarm(SECONDS)
        try:
            function(*args, **kwargs)
        except MemoryError:
            pass
        except Exception as error:
            if type(error) not in (ValueError, TypeError, IndexError) or not OURS.match(str(error)):
                found += 1
                print(f"  FOUND {text}: {traceback.format_exception_only(error)}", flush=True)
    signal.alarm(0)
    print(f"{count} calls, {found} findings")
    return found


def ended(values: Sequence[int], step: int, timeout: float) -> tuple[int, list[str], str]:
    """The exit code of such a process, what it found, and the last thing it did."""
    code = f"import extreme_sizes, sys; sys.exit(extreme_sizes.main({list(values)}, {step}) > 0)"
    path = [str(Path(__file__).parent), *filter(None, sys.path)]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {path}; {code}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    found = [line for line in done.stdout.splitlines() if "FOUND" in line]
    return done.returncode, found, done.stdout[-300:] + done.stderr[-2000:]
