"""What more workers would reach: a step of many, simulated from the figures of a step of one and of two.

Each worker computes a micro-batch (as long as one was measured to take, drawn anew for every worker and
step), its buckets become known one after the other in the second half of that time, and each goes through
what :mod:`extensor.distributed.exchange` does with it: a chunk to every other worker, the tree finished
when the last chunk has come, the sums to all. A worker hands over one message at a time and its link
carries one at a time; it computes meanwhile, but what handing over costs is taken from the computing.

The network is assumed: :data:`NETWORKS`. What is not simulated: switches that are shared, and that
neighbours on one machine need no network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

BLOCK = 4 * 1024  # bytes, of which chunks are made
BACKWARD = 0.5  # of a step's time is over when the first bucket is known


@dataclass
class Costs:
    """Of one micro-batch: seconds, one for each that was measured. Of messages: seconds to hand over."""

    steps: list[float]
    parameters: int
    message: float
    byte: float


class Network(NamedTuple):
    """Seconds until the first byte arrives, and bytes a second."""

    name: str
    latency: float
    bandwidth: float


NETWORKS = (
    Network("10 Gbit/s Ethernet", 30e-6, 1.25e9),
    Network("100 Gbit/s InfiniBand", 2e-6, 12.5e9),
)


def simulated_step(
    costs: Costs, network: Network, workers: int, micro: int, buckets: int, rng: Any
) -> float:
    """Seconds of one step in which each worker has ``micro`` micro-batches."""
    compute = rng.choice(costs.steps, (workers, micro)).sum(axis=1)
    if workers == 1:
        return float(compute[0])
    size = 4 * costs.parameters / buckets
    # Chunks are whole blocks: of a small bucket some workers have none.
    owners = min(workers, max(1, int(size // BLOCK)))
    chunk = size / owners
    last = rng.choice(costs.steps, workers)  # the micro-batch during which buckets go out
    begin = compute - last * (1 - BACKWARD)
    hand_over = costs.message + chunk * costs.byte
    wire = chunk / network.bandwidth
    known = np.linspace(0, 1, buckets + 1)[1:]
    ready, free = begin.copy(), begin.copy()  # when a worker, and its link, have time
    arrived = []
    for part in known:
        # Handing a bucket over delays the rest of the computing.
        ready = np.maximum(ready, begin + last * (1 - BACKWARD) * part) + (owners - 1) * hand_over
        free = np.maximum(free, ready - (owners - 1) * hand_over) + (owners - 1) * max(
            wire, hand_over
        )
        arrived.append(free.max() + network.latency)
    # Losses are told to all before the sums are waited for.
    told = np.maximum(ready, compute) + (workers - 1) * costs.message
    end = np.maximum(told, told.max() + network.latency)
    for at in arrived:  # the owners add and give the sums to all
        end = np.maximum(end, at) + (workers - 1) * owners / workers * hand_over
        free = np.maximum(free, end) + (workers - 1) * owners / workers * max(wire, hand_over)
    return float(max(end.max(), free.max() + network.latency))


def simulation_rows(
    costs: Costs, micro: int, measured: float, trials: int = 50
) -> Iterator[list[str]]:
    """A table of steps and efficiencies; the first row sets the simulation beside the measurement.

    There, two workers share ``micro`` micro-batches; further down each worker has that many, which is how
    more workers are used: larger batches.
    """
    rng = np.random.default_rng(0)
    memory = Network("memory", 1e-6, 1 / costs.byte if costs.byte else 1e10)

    def step(network: Network, workers: int, share: int, buckets: int) -> float:
        return float(
            np.median(
                [
                    simulated_step(costs, network, workers, share, buckets, rng)
                    for _ in range(trials)
                ]
            )
        )

    buckets = max(1, round(4 * costs.parameters / 2**20))
    yield ["workers", "network", "micro-batches each", "step", "efficiency"]
    found = step(memory, 2, micro // 2, buckets)
    here = f"{1e3 * found:.1f} ms (measured {1e3 * measured:.1f})"
    yield ["2", "one machine", str(micro // 2), here, ""]
    for network in NETWORKS:
        for share in (micro, 16 * micro):
            for workers in (2, 8, 64, 1024):
                # A bucket has a block for each worker at least.
                count = max(1, min(buckets, 4 * costs.parameters // (BLOCK * workers)))
                seconds = step(network, workers, share, count)
                alone = step(network, 1, share, count)
                yield [
                    str(workers),
                    network.name,
                    str(share),
                    f"{1e3 * seconds:.1f} ms",
                    f"{alone / seconds:.0%}",
                ]
