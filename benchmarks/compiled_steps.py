"""Time training steps with and without ``ex.compile``, alternately in one process.

python benchmarks/compiled_steps.py [--threads 1] [--seconds 2]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import extensor as ex

STEPS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any], tuple[int, ...], int]] = {
    "policy 8-64-64-4, Adam, batch 1": (
        lambda: ex.models.mlp([8, 64, 64, 4]), ex.optim.Adam, (1, 8), 4,
    ),
    "MLP 784-128-10, SGD, batch 1": (
        lambda: ex.models.mlp([784, 128, 10]), lambda p: ex.optim.SGD(p, lr=0.1), (1, 784), 10,
    ),
    "MLP 784-128-10, SGD, batch 64": (
        lambda: ex.models.mlp([784, 128, 10]), lambda p: ex.optim.SGD(p, lr=0.1), (64, 784), 10,
    ),
    "LeNet-5, SGD, batch 64": (
        ex.models.lenet5, lambda p: ex.optim.SGD(p, lr=0.1), (64, 1, 28, 28), 10,
    ),
}  # fmt: skip


def main() -> None:
    """Print a row for each step: microseconds without and with compiling, and their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row")
    options = parser.parse_args()
    ex.set_num_threads(options.threads)
    print(f"{'microseconds, best of many':35}{'plain':>10}{'compiled':>10}{'ratio':>8}")
    for name, (model, optimizer, shape, classes) in STEPS.items():
        rng = np.random.default_rng(0)
        x, y = rng.standard_normal(shape, "float32"), rng.integers(0, classes, shape[0])
        plain, compiled = (_step(model(), optimizer) for _ in range(2))
        inputs = ex.tensor(x), ex.tensor(y)
        best = _alternate([plain, ex.compile(compiled)], inputs, options.seconds)
        print(f"{name:35}{best[0]:10.1f}{best[1]:10.1f}{best[1] / best[0]:8.2f}")


def _step(model: Any, make_optimizer: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    optimizer = make_optimizer(list(model.parameters()))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = ex.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def _alternate(functions: list[Any], inputs: tuple[Any, ...], seconds: float) -> list[float]:
    """The best time of each function in microseconds."""
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, function in enumerate(functions):
            for _ in range(20):
                begin = time.perf_counter()
                function(*inputs)
                best[i] = min(best[i], time.perf_counter() - begin)
    return [x * 1e6 for x in best]


if __name__ == "__main__":
    main()
