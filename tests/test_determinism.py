"""The same bits for any number of threads: optimizers, random numbers, a whole training run.

``tests/test_kernel_threads.py`` holds each op and each rule to the same; here is what lies above
them.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import optim

pytestmark = pytest.mark.usefixtures("threads")

THREADS = (1, 2, 3, 4, 8)


def _digest(arrays: list[Any]) -> str:
    found = hashlib.sha256()
    for x in arrays:
        found.update(np.ascontiguousarray(np.asarray(x)).tobytes())
    return found.hexdigest()


def _assert_same_for_any_threads(compute: Callable[[], list[Any]]) -> None:
    digests = {}
    for count in THREADS:
        ex.set_num_threads(count)
        digests[count] = _digest(compute())
    assert len(set(digests.values())) == 1, digests


def trained(steps: int = 50) -> str:
    """The parameters of a small network after some steps, as a digest.

    The layers are wide enough for their products and activations to be cut into several tasks.
    """
    rng = np.random.default_rng(5)
    x = rng.standard_normal((256, 300)).astype(np.float32)
    target = rng.integers(0, 10, 256)
    sizes = (300, 257, 129, 10)
    parameters: list[Any] = []
    for before, after in itertools.pairwise(sizes):
        weight = rng.standard_normal((after, before)) / before**0.5
        parameters.append(ex.tensor(weight.astype(np.float32), requires_grad=True))
        parameters.append(ex.zeros((after,), requires_grad=True))
    optimizer = optim.SGD(parameters, lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        hidden = ex.tensor(x)
        for layer in range(0, len(parameters), 2):
            hidden = ex.linear(hidden, parameters[layer], parameters[layer + 1])
            if layer < len(parameters) - 2:
                hidden = ex.relu(hidden)
        loss = ex.cross_entropy(hidden, target)
        loss.backward()
        optim.clip_grad_norm(parameters, 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    return _digest([*parameters, np.array(losses)])


def test_a_training_run() -> None:
    digests = {}
    for count in THREADS:
        ex.set_num_threads(count)
        digests[count] = trained()
    assert len(set(digests.values())) == 1, digests


def test_a_training_run_in_processes_of_their_own() -> None:
    """As above, with the number of threads from the environment."""
    digests = {}
    for count in (1, 2, 8):
        done = subprocess.run(
            [sys.executable, "-c", "import test_determinism as t; print(t.trained(10))"],
            env={
                **os.environ,
                "EXTENSOR_NUM_THREADS": str(count),
                "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path]),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        digests[count] = done.stdout
    assert len(set(digests.values())) == 1, digests


OPTIMIZERS: dict[str, Callable[[list[Any]], Any]] = {
    "SGD": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.9),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.01),
    "Adadelta": lambda p: optim.Adadelta(p, lr=0.5),
    "Lion": lambda p: optim.Lion(p, lr=0.01),
    "LAMB": lambda p: optim.LAMB(p, lr=0.01),
    "NAdam": lambda p: optim.NAdam(p, lr=0.01),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "Adamax": lambda p: optim.Adamax(p, lr=0.01),
    "ASGD": lambda p: optim.ASGD(p, lr=0.01, t0=1),
    "Rprop": lambda p: optim.Rprop(p, lr=0.01),
    "Adafactor": lambda p: optim.Adafactor(p, lr=0.01),
    "Muon": lambda p: optim.Muon(p[:1], lr=0.01),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_optimizers(name: str, dtype: str, rng: np.random.Generator) -> None:
    shapes = [(300, 401), (130_001,), (7,)]
    arrays = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    gradients = [rng.standard_normal(shape).astype(dtype) for shape in shapes]

    def compute() -> list[Any]:
        parameters = [ex.tensor(x.copy(), requires_grad=True) for x in arrays]
        optimizer = OPTIMIZERS[name](parameters)
        for _ in range(3):
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.grad = ex.tensor(gradient.copy())
            norm = optim.clip_grad_norm(parameters, 5.0)
            optimizer.step()
        return [*parameters, norm]

    _assert_same_for_any_threads(compute)


RANDOM: dict[str, Callable[[], Any]] = {
    "rand": lambda: ex.random.rand(400_001),
    "randn": lambda: ex.random.randn(400_001),
    "uniform": lambda: ex.random.uniform(-1, 3, (400_001,), dtype="float64"),
    "randint": lambda: ex.random.randint(0, 1000, (400_001,)),
    "bernoulli": lambda: ex.random.bernoulli(0.3, (400_001,)),
    "permutation": lambda: ex.random.permutation(100_001),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers(name: str) -> None:
    def compute() -> list[Any]:
        ex.random.manual_seed(3)
        return [RANDOM[name](), RANDOM[name]()]

    _assert_same_for_any_threads(compute)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats(dtype: str, rng: np.random.Generator) -> None:
    """The 16-bit floats go another way through the kernels; a chain of them, there and back."""
    a = ex.tensor(rng.uniform(-1, 1, (700, 301)), dtype=dtype)
    b = ex.tensor(rng.uniform(-1, 1, (301, 203)), dtype=dtype)

    def compute() -> list[Any]:
        x, w = (ex.tensor(v.numpy(), requires_grad=True) for v in (a, b))
        out = ex.softmax(ex.gelu(x @ w) + ex.tanh(x).mean(axis=1, keepdims=True))
        (out * out).sum().backward()
        return [out, x.grad, w.grad]

    _assert_same_for_any_threads(compute)
