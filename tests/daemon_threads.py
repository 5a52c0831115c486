"""A program that ends while its daemon threads are inside ops: seed, number of threads of the pool."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import extensor as ex

LONG = ex.ones((1000, 1000))
LEAF = ex.ones((64, 300), requires_grad=True)
MATRIX = ex.ones((300, 200))
TALL = ex.ones((300, 700)).T
OPS: list[Callable[[], Any]] = [
    lambda: LEAF @ MATRIX,
    lambda: ex.exp(LONG),
    lambda: ex.sum(LONG),
    lambda: ex.sum(LEAF @ MATRIX).backward(),
    lambda: TALL + 1,
    lambda: LEAF + 1.5,
    lambda: ex.softmax(LONG),
    lambda: ex.random.rand(200, 500),
    lambda: ex.place(LEAF, (128, 300), slice(None, None, 2)),
    lambda: LONG[::2, ::3] * 2,
]


class Last:
    """Computes when the interpreter takes it apart."""

    def __init__(self, op: Callable[[], Any]) -> None:
        self.op = op

    def __del__(self) -> None:
        self.op()


def work(op: Callable[[], Any]) -> None:
    while True:
        op()


def main(seed: int, threads: int) -> None:
    draw = random.Random(seed)
    ex.set_num_threads(threads)
    sys.last = Last(lambda x=LONG, exp=ex.exp: exp(x))  # type: ignore[attr-defined]
    for _ in range(4):
        threading.Thread(target=work, args=(draw.choice(OPS),), daemon=True).start()
    time.sleep(draw.uniform(0, 0.03))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
