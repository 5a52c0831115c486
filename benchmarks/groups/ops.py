"""Each op, forward without recording and backward by the tape, from 16 to 2**20 elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.groups.cases import FURTHER, HEADLINE, QUICK, Case, sample
from benchmarks.libraries import Libraries
from benchmarks.measure import OURS, PEERS, Call, Measure, MissingError, Notes

SIZES = {"16": 16, "4096": 4096, "2^16": 2**16, "2^20": 2**20}


def measures(libraries: Libraries, quick: bool, notes: Notes) -> Iterator[Measure]:
    _say_what_is_not_covered(libraries, notes)
    for case in QUICK if quick else (*HEADLINE, *FURTHER):
        for size in ("4096",) if quick else SIZES:
            yield from _pair(libraries, case, size)


def _pair(libraries: Libraries, case: Case, size: str) -> Iterator[Measure]:
    count = SIZES[size]
    shape = (math.isqrt(count),) * 2 if case.square else (count,)
    arrays = [sample(kind, shape, seed) for seed, kind in enumerate(case.inputs)]
    for direction, setup, moved in zip(
        ("forward", "backward"), (_forward, _backward), case.moved, strict=True
    ):
        # NumPy has no gradients, and not every function.
        peers = [peer for peer in PEERS if peer != "numpy" or _numpy_can(case, setup)]
        yield Measure(
            "ops",
            f"{case.name} {direction}",
            size,
            {label: partial(setup, libraries, label, case, arrays) for label in (OURS, *peers)},
            recorded=setup is _backward,
            bytes=4.0 * moved * count,
        )


def _numpy_can(case: Case, setup: Callable[..., Call]) -> bool:
    return setup is _forward and (case.numpy is not None or hasattr(np, case.name))


def _function(libraries: Libraries, label: str, case: Case) -> Callable[..., Any]:
    named = case.named(label)
    if isinstance(named, str):
        return libraries.find(label, named)
    try:
        return named(libraries[label])
    except AttributeError as error:
        raise MissingError(f"{label} has no {error.name or case.name}") from error


def _inputs(libraries: Libraries, label: str, case: Case, arrays: list[Any], grad: bool) -> Any:
    return [
        libraries.array(label, values, requires_grad=grad and kind != "classes")
        for values, kind in zip(arrays, case.inputs, strict=True)
    ]


def _forward(libraries: Libraries, label: str, case: Case, arrays: list[Any]) -> Call:
    function = _function(libraries, label, case)
    inputs = _inputs(libraries, label, case, arrays, grad=False)
    if label == "jax":
        compiled = libraries["jax"].jit(function)
        return lambda: compiled(*inputs).block_until_ready()
    return partial(function, *inputs)


def _backward(libraries: Libraries, label: str, case: Case, arrays: list[Any]) -> Call:
    """The gradients of all inputs from a graph that was recorded once and is kept."""
    function = _function(libraries, label, case)
    inputs = _inputs(libraries, label, case, arrays, grad=True)
    wanted = [x for x, kind in zip(inputs, case.inputs, strict=True) if kind != "classes"]
    if label == "jax":
        return _jax_backward(libraries["jax"], function, wanted, inputs[len(wanted) :])
    output = function(*inputs)
    gradient = libraries.array(label, sample("positive", tuple(output.shape), 9))
    grad = libraries[label].autograd.grad if label == "torch" else libraries[label].grad
    return partial(grad, output, wanted, gradient, retain_graph=True)


def _jax_backward(
    jax: Any, function: Callable[..., Any], wanted: list[Any], fixed: list[Any]
) -> Call:
    """As for the others, what the forward saved is there already; only the pull-back is timed."""
    output, pull_back = jax.jit(lambda *x: jax.vjp(lambda *y: function(*y, *fixed), *x))(*wanted)
    gradient = jax.numpy.asarray(sample("positive", output.shape, 9))
    compiled = jax.jit(lambda pull_back, gradient: pull_back(gradient))
    return lambda: jax.block_until_ready(compiled(pull_back, gradient))


def _say_what_is_not_covered(libraries: Libraries, notes: Notes) -> None:
    registry = getattr(libraries[OURS], "OPS", {})
    covered = {name for case in (*HEADLINE, *FURTHER) for name in (case.name, case.ours)}
    # Products have a group of their own.
    rest = sorted(name for name in registry if name not in (*covered, "matmul", "linear"))
    if rest:
        notes.skip(f"ops: registered without a benchmark case: {', '.join(rest)}")
