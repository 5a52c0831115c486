"""Parts that the benchmarks of compiled steps share: a GPT, a training step, and timing in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import extensor as ex
from extensor import nn

VOCABULARY = 256


def gpt() -> nn.Module:
    """A GPT of 2 layers and width 128 for 64 tokens."""
    return ex.models.gpt(vocabulary=VOCABULARY, context=64, width=128, layers=2, heads=4)


def next_token_loss(output: Any, target: Any) -> Any:
    return ex.cross_entropy(output.reshape((-1, VOCABULARY)), target.reshape((-1,)))


def by_xla(function: Callable[..., Any]) -> Any:
    """``function`` compiled for XLA's CPU."""
    return ex.compile(function, backend="xla", device="cpu")


def training_step(net: nn.Module, loss: Callable[[Any, Any], Any], rate: float) -> Any:
    """A step of gradient descent, which returns the loss."""
    optimizer = ex.optim.SGD(net.parameters(), lr=rate)

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        value = loss(net(x), y)
        value.backward()
        optimizer.step()
        return value

    return step


def times_in_turns(
    runs: Sequence[Callable[[], Any]], turns: int, seconds: float = 0.0, warmup: bool = False
) -> list[list[float]]:
    """The milliseconds of each call: in each turn every run is called for ``seconds``, at least once."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(turns):
        for run, taken in zip(runs, times, strict=True):
            if warmup:
                run()  # the other's threads may still spin
            end = time.perf_counter() + seconds
            while True:
                begin = time.perf_counter()
                run()
                now = time.perf_counter()
                taken.append(1e3 * (now - begin))
                if now >= end:
                    break
    return times
