"""Memory: the tape keeps what the rules name and nothing else, and a step in steady state asks for none."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.core import door

native = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no pool")
pooled = pytest.mark.skipif(
    "address" in os.environ.get("EXTENSOR_SANITIZED", ""),
    reason="under the address sanitizer every array is an allocation of its own",
)
unshadowed = pytest.mark.skipif(
    "EXTENSOR_SANITIZED" in os.environ,
    reason="a sanitizer's shadow of every byte is resident memory too",
)
# While an op works its input and its output are there; a formula also has steps in between.
AT_WORK = 2 if door.ENGINE == "native" else 4

ROOT = Path(__file__).parents[1]
# A chain of twenty ops, each with what its rule names: its input, its output, or only shapes. Two
# ops that name the same tensor (the output of one is the input of the next) keep it once.
CHAIN: list[tuple[str, Callable[[Any], Any], str]] = [
    ("exp", lambda x: x.exp(), "output"),
    ("log1p", lambda x: x.log1p(), "input"),
    ("add", lambda x: x + 1, "nothing"),
    ("sqrt", lambda x: x.sqrt(), "output"),
    ("negative", lambda x: -x, "nothing"),
    ("tanh", lambda x: x.tanh(), "output"),
    ("subtract", lambda x: 2 - x, "nothing"),
    ("reshape", lambda x: x.reshape(-1, 10), "nothing"),
    ("reciprocal", lambda x: x.reciprocal(), "output"),
    ("sigmoid", lambda x: x.sigmoid(), "output"),
    ("square", lambda x: x.square(), "input"),
    ("transpose", lambda x: x.T, "nothing"),
    ("sin", lambda x: x.sin(), "input"),
    ("relu", lambda x: x.relu(), "input"),
    ("add", lambda x: x + 0.5, "nothing"),
    ("transpose", lambda x: x.T, "nothing"),
    ("log", lambda x: x.log(), "input"),
    ("multiply", lambda x: x * 3, "input"),
    ("abs", lambda x: x.abs(), "input"),
    ("sum", lambda x: x.sum(), "nothing"),
]


class Meter:
    """Bytes in use and at their peak. NumPy reports every array to tracemalloc, the pool's too."""

    def __init__(self) -> None:
        gc.collect()
        tracemalloc.start()
        self.restart()

    def restart(self) -> None:
        ex.reset_peak_memory()
        tracemalloc.reset_peak()
        self.base = tracemalloc.get_traced_memory()[0]
        self.pool_base = ex.memory_stats()["in_use"]

    @property
    def in_use(self) -> int:
        return tracemalloc.get_traced_memory()[0] - self.base

    @property
    def peak(self) -> int:
        return tracemalloc.get_traced_memory()[1] - self.base

    @property
    def pool_peak(self) -> int:
        return ex.memory_stats()["peak_in_use"] - self.pool_base


@pytest.fixture
def meter() -> Iterator[Meter]:
    made = Meter()
    yield made
    tracemalloc.stop()


def _kept(sizes: list[int]) -> int:
    """The bytes of distinct tensors that the chain's rules name; ``sizes[i]`` goes into op i."""
    named = set()
    for position, (_, _, keeps) in enumerate(CHAIN):
        if keeps == "input":
            named.add(position)
        elif keeps == "output":
            named.add(position + 1)
    named.discard(0)  # the leaf is the caller's
    return sum(sizes[position] for position in named)


def _run(x: Any, meter: Meter) -> tuple[Any, int]:
    """The chain's result, and the most that was in use while it was made."""
    for _, apply, _ in CHAIN:
        x = apply(x)
    return x, meter.peak


@pytest.mark.parametrize("count", [10_000_000])
def test_graph_keeps_what_the_rules_name(meter: Meter, count: int) -> None:
    x = ex.tensor(np.linspace(0.1, 0.9, count, dtype=np.float32), requires_grad=True)
    size = x.numpy().nbytes
    sizes = [size] * len(CHAIN) + [4]
    kept = _kept(sizes)
    assert kept == 10 * size
    slack = 200_000  # nodes, tuples and scalars; an array of the chain is two hundred times that
    meter.restart()
    y, peak = _run(x, meter)
    assert meter.in_use <= kept + slack
    assert meter.in_use >= kept
    assert peak <= kept + AT_WORK * size + slack
    assert meter.pool_peak <= kept + AT_WORK * size + slack
    meter.restart()
    y.backward()
    # Of the gradients only the one that came in and the one that goes out exist.
    assert meter.peak <= AT_WORK * size + slack
    del y
    gc.collect()
    assert x.grad is not None
    assert meter.in_use <= size - kept + slack


def test_graph_dies_with_its_last_tensor(meter: Meter) -> None:
    """Without a backward pass, and without the garbage collector."""
    x = ex.tensor(np.linspace(0.1, 0.9, 100_000), requires_grad=True)
    _run(x, meter)
    gc.collect()
    meter.restart()
    gc.disable()
    try:
        y, _ = _run(x, meter)
        assert meter.in_use > 5 * x.numpy().nbytes
        del y
        assert meter.in_use < 10_000
    finally:
        gc.enable()


def test_backward_frees_as_it_goes(meter: Meter) -> None:
    """A long chain whose every op keeps its output: halfway back, half of them are gone."""
    count, length = 100_000, 40
    x = ex.tensor(np.full(count, 0.5, np.float32), requires_grad=True)
    size = x.numpy().nbytes
    meter.restart()
    y = x
    middle: list[int] = []
    for position in range(length):
        y = y.tanh()
        if position == length // 2:
            y.register_hook(lambda _: middle.append(meter.in_use))
    total = meter.in_use
    assert total >= length * size
    y.sum().backward()
    assert middle[0] <= total - (length // 2 - 4) * size


def test_no_grad_keeps_nothing(meter: Meter) -> None:
    x = ex.tensor(np.full(1_000_000, 0.5, np.float32), requires_grad=True)
    size = x.numpy().nbytes
    meter.restart()
    with ex.no_grad():
        _, peak = _run(x, meter)
    assert peak <= AT_WORK * size + 300_000


def test_views_cost_nothing(meter: Meter) -> None:
    x = ex.tensor(np.zeros((1000, 1000), np.float32), requires_grad=True)
    meter.restart()
    views = [
        x.reshape(-1), x.T, x[10:, ::2], x.squeeze(), x.unsqueeze(0), x.swapaxes(0, 1),
        x.broadcast_to((5, 1000, 1000)), *x.split(4),
    ]  # fmt: skip
    assert all(np.shares_memory(view.numpy(), x.numpy()) for view in views)
    assert meter.peak < 100_000


def _step(parameters: list[Any], data: Any, target: Any) -> Any:
    first, bias, second = parameters
    hidden = ((data @ first) + bias).relu()
    loss = ((hidden @ second) - target).square().mean()
    for x in parameters:
        x.zero_grad()
    loss.backward()
    with ex.no_grad():
        return [
            ex.tensor(x.numpy() - 0.01 * x.grad.numpy(), requires_grad=True) for x in parameters
        ]


@native
@pooled
def test_steady_state_makes_no_pool_misses(rng: np.random.Generator) -> None:
    shapes = [(64, 128), (128,), (128, 10)]
    parameters = [
        ex.tensor(rng.normal(size=shape).astype("float32") / 10, requires_grad=True)
        for shape in shapes
    ]
    data = ex.tensor(rng.normal(size=(256, 64)).astype("float32"))
    target = ex.tensor(rng.normal(size=(256, 10)).astype("float32"))
    for _ in range(3):
        parameters = _step(parameters, data, target)
    before = ex.memory_stats()
    for _ in range(5):
        parameters = _step(parameters, data, target)
    after = ex.memory_stats()
    assert after["allocations"] > before["allocations"]
    assert after["misses"] == before["misses"]
    assert after["in_use"] == before["in_use"]


@native
@pooled
@pytest.mark.skipif(sys.platform == "win32", reason="page faults are counted by resource")
def test_steps_of_a_transformer_touch_no_new_pages() -> None:
    """Also what is copied to be contiguous, or joined, lies in memory that was used before."""
    import resource

    layer = ex.nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    optimizer = ex.optim.AdamW(layer.parameters())
    x = ex.random.normal(0.0, 1.0, (16, 64, 64))

    def step() -> None:
        optimizer.zero_grad()
        layer(x).square().mean().backward()
        optimizer.step()

    for _ in range(5):
        step()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        step()
    # One activation has 64 pages; a few new ones are Python's.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 10 * 64


@native
@pooled
def test_statistics_follow_a_tensor() -> None:
    gc.collect()
    ex.trim_memory()
    before = ex.memory_stats()
    x = ex.tensor(np.zeros(250_000, np.float32))
    y = x.exp()
    during = ex.memory_stats()
    assert during["in_use"] - before["in_use"] >= y.numpy().nbytes
    assert during["peak_in_use"] >= during["in_use"]
    del y
    after = ex.memory_stats()
    assert after["in_use"] <= during["in_use"] - 1_000_000
    assert after["cached"] >= 1_000_000
    assert ex.trim_memory() >= 1_000_000
    assert ex.memory_stats()["cached"] == 0


@unshadowed
def test_resident_memory_of_a_process() -> None:
    """Seen from outside: the same chain on ten million elements, in a process of its own."""
    program = """
import resource, sys
import numpy as np
import extensor as ex
sys.path.insert(0, "tests")
from test_memory import CHAIN
x = ex.tensor(np.linspace(0.1, 0.9, 10_000_000, dtype=np.float32), requires_grad=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
y = x
for _, apply, _ in CHAIN:
    y = apply(y)
y.backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    # Ten tensors that rules name, and two gradients; ru_maxrss counts kilobytes.
    assert int(done.stdout) < (10 + AT_WORK) * 40_000_000 / 1024 * 1.1


@native
def test_an_array_lives_while_it_is_read() -> None:
    """A tensor may get another one from a second thread, which runs while a kernel works."""
    x = ex.ones((600, 600))
    idle = sys.getrefcount(x._array)
    seen = threading.Event()

    def multiply() -> None:
        for _ in range(400):
            ex.matmul(x, x)
            if seen.is_set():
                return

    worker = threading.Thread(target=multiply)
    worker.start()
    while worker.is_alive() and not seen.is_set():
        if sys.getrefcount(x._array) > idle:
            seen.set()
    worker.join()
    assert seen.is_set()
