"""The two engines against each other: drawn calls of every op and rule, by kernels and by formulas.

    PYTHONPATH=tests python -m soak.engines 50000 --seed 7

Call ``n`` of a seed is always the same call, so a finding is run again by ``--first n`` and a number
of calls of 1. The engines must agree in what they return (values within the tolerances, NaN, dtypes,
shapes), in what they write into their arguments, and in their errors.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from agreement import Allowance, difference
from drawn_calls import rows, shown
from op_calls import RULES, anything_for, op_from_row, rule_from_row

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS

SECONDS = 20
Call = tuple[str, list[Any], dict[str, Any]]


def drawn(seed: int, number: int) -> Call:
    """Call ``number``: its function's name and its arguments, each time in memory of their own."""
    rng = np.random.default_rng([seed, number])
    ex.random.manual_seed(number)
    name = str(rng.choice([*OPS, *RULES]))
    of_rule = name in RULES and rng.random() < 0.5
    usual = rng.random() < 0.75
    choices = rows(name)
    row = choices[int(rng.integers(len(choices)))]
    if of_rule:
        rule = OPS[name].rule
        assert rule is not None
        args = rule_from_row(row, rng) if usual else anything_for(rule.parameters, rng)
        return rule.name, args, {}
    if usual:
        return name, *op_from_row(row, rng)
    return name, anything_for(OPS[name].parameters, rng), {}


def attempted(call: Call) -> Any:
    """The result of a call, or its error."""
    name, args, kwargs = call
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "(overflow|invalid value) encountered in cast")
        try:
            return getattr(ex, name)(*args, **kwargs)
        except Exception as error:
            return error


@contextmanager
def limited() -> Iterator[None]:
    """An error instead of a call that does not end."""

    def stop(*_: Any) -> None:
        raise TimeoutError(f"no result after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _values(call: Call) -> list[Any]:
    _, args, kwargs = call
    return [*args, *kwargs.values()]


def compared(seed: int, number: int) -> str | None:
    """One call by both engines: what differs."""
    native, formula = drawn(seed, number), drawn(seed, number)
    shown_call = f"{native[0]}({shown(_values(native))})"
    ex.random.manual_seed(number)
    with limited():
        found = attempted(native)
    ex.random.manual_seed(number)
    with limited(), door.by_formulas():
        expected = attempted(formula)
    allowance = Allowance.of(native[0], _values(drawn(seed, number)))
    text = difference(found, expected, allowance)
    if text is None:
        text = difference(_values(native), _values(formula), allowance)
        text = text and f"the arguments afterwards: {text}"
    return text and f"{shown_call}: {text}"


def run(seed: int, calls: int, first: int = 0, report: Callable[[str], None] = print) -> int:
    """How many of the calls differ; each is reported with what runs it again."""
    findings = 0
    for number in range(first, first + calls):
        text = compared(seed, number)
        if text is not None:
            findings += 1
            report(f"python -m soak.engines 1 --seed {seed} --first {number}\n    {text}")
    return findings


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="soak.engines", description=__doc__.split("\n")[0])
    parser.add_argument("calls", type=int, nargs="?", default=50_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args(arguments)
    print(f"soak.engines: {given.calls} calls, seed {given.seed}", flush=True)
    findings = run(given.seed, given.calls, given.first)
    print(f"soak.engines: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
