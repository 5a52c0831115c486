"""Reads that nobody can watch: refused, or found by the net below the guards."""

from __future__ import annotations

import cProfile
import ctypes
import datetime
import os
import pathlib
import time
import uuid
from typing import Any

import numpy as np
import pandas as pd
import pytest

import extensor as ex

X = np.linspace(0.5, 1.5, 6, dtype="float64")


@pytest.mark.parametrize(
    ("function", "source"),
    [
        (lambda x: x * time.time(), "a clock"),
        (lambda x: x * time.perf_counter(), "a clock"),
        (lambda x: x * datetime.datetime.now().second, "a clock"),
        (lambda x: x * datetime.date.today().day, "a clock"),
        (lambda x: x * len(open(__file__).read()), "a file"),  # noqa: SIM115
        (lambda x: x * len(pathlib.Path(__file__).read_text()), "a file"),
        (lambda x: x * os.path.getsize(__file__), "a file"),
        (lambda x: x * len(np.fromfile(__file__, "u1")), "a file"),
        (lambda x: x * len(np.genfromtxt(__file__, delimiter="nothing", dtype=str)), "a file"),
        (lambda x: x * os.urandom(1)[0], "random numbers"),
        (lambda x: x * uuid.uuid4().int, "random numbers"),
        (lambda x: x * uuid.uuid1().int, "random numbers"),
    ],
)
def test_clocks_files_and_the_systems_chance_are_refused(function: Any, source: str) -> None:
    with pytest.raises(TypeError, match=f"must not read {source}"):
        ex.compile(function)(X)


def test_values_that_cannot_be_watched_are_refused() -> None:
    frame = pd.DataFrame({"beta": [1.0]})
    with pytest.raises(ValueError, match=r"cannot watch frame.* for changes; read it outside"):
        ex.compile(lambda x: x * float(frame["beta"].sum()))(X)
    series = pd.Series({"beta": 1.0})
    read = lambda x: x * float(series["beta"])  # noqa: E731
    read(X)  # pandas' compiled code keeps what it has looked up
    with pytest.raises(ValueError, match=r"cannot watch series.* for changes; read it outside"):
        ex.compile(read)(X)
    memory = (ctypes.c_double * 2)()
    pointer = ctypes.cast(memory, ctypes.POINTER(ctypes.c_double))
    with pytest.raises(ValueError, match="cannot watch pointer for changes; read it outside"):
        ex.compile(lambda x: x * pointer[0])(X)
    large = np.ones(2**20)
    with pytest.raises(ValueError, match="large is too large to be compared before each call"):
        ex.compile(lambda x: x * float(large.sum()))(X)
    large.flags.writeable = False
    np.testing.assert_array_equal(
        ex.compile(lambda x: x * float(large.sum()))(X).numpy(), X * 2**20
    )


def test_the_state_of_an_optimizer_is_not_read_inside() -> None:
    optimizer = ex.optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    with pytest.raises(ValueError, match=r"must not read state_dict\(\); call it outside"):
        ex.compile(lambda x: x * optimizer.state_dict()["groups.0.lr"])(X)


def test_a_large_array_that_is_an_input_of_ops_is_read_at_each_call() -> None:
    large = np.ones((2**18, 6))
    compiled = ex.compile(lambda x: (x * ex.asarray(large)).sum())
    for factor in (1.0, 3.0):
        large[:] = factor
        np.testing.assert_allclose(float(compiled(X)), factor * 2**18 * X.sum())


def test_a_result_from_outside_is_refused() -> None:
    doubled = ex.tensor(X, requires_grad=True) * 2
    with pytest.raises(ValueError, match=r"must be a leaf.*detach\(\) it"):
        ex.compile(lambda x: x * doubled)(X)


def test_a_profiler_goes_on() -> None:
    profile = cProfile.Profile()
    profile.enable()
    try:
        np.testing.assert_array_equal(ex.compile(lambda x: 2 * x)(X).numpy(), 2 * X)
        sorted([3, 1])
    finally:
        profile.disable()
    assert any("sorted" in str(entry.code) for entry in profile.getstats())


class Untold:
    """What nobody can watch: the value of a counter in memory of C."""

    memory = (ctypes.c_double * 1)(1.0)

    @property
    def value(self) -> float:
        return ctypes.cast(id_of(self.memory), ctypes.POINTER(ctypes.c_double))[0]


def id_of(memory: Any) -> Any:
    return ctypes.c_void_p(ctypes.addressof(memory))


@pytest.mark.parametrize("call", [2, 4, 8])
def test_the_net_below_the_watching_finds_what_it_missed(call: int, backend: str) -> None:
    address = ctypes.addressof(Untold.memory)
    Untold.memory[0] = 1.0

    def function(x: Any) -> Any:
        y = x + 1
        return y * ctypes.c_double.from_address(address).value

    compiled = ex.compile(function)
    for _ in range(call - 1):
        compiled(X)
    Untold.memory[0] = 5.0
    with pytest.raises(
        RuntimeError, match=rf"call {call} of function .*mul.*5\..* instead of .*1\."
    ) as error:
        compiled(X)
    assert backend == "native" or "return y * ctypes.c_double" in str(error.value)


def test_the_net_sees_other_ops_shapes_and_results() -> None:
    address = ctypes.addressof(Untold.memory)

    def value() -> float:
        return ctypes.c_double.from_address(address).value

    functions = [
        lambda x: ex.sin(x) if value() > 1 else ex.cos(x),
        lambda x: x[: int(value())],
        lambda x: (x, int(value())),
        lambda x: x + 1 if value() > 1 else x,
    ]
    for function in functions:
        Untold.memory[0] = 1.0
        compiled = ex.compile(function)
        compiled(X)
        Untold.memory[0] = 5.0
        with pytest.raises(RuntimeError, match="would compute something else than its program"):
            compiled(X)
    assert compiled.traces == 1
