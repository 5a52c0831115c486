"""Random numbers of a micro-batch: a function of the seed, the step and its number, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from extensor.random.generator import Generator, drawing_from
from extensor.random.philox import LIMIT, philox

_STREAM = 2**63  # far from those in which numbers are drawn


def seed_of(seed: int, step: int, number: int) -> int:
    """The seed of micro-batch ``number`` of a step.

    >>> from extensor.distributed.chance import seed_of
    >>> seed_of(0, 1, 2) == seed_of(0, 1, 2) != seed_of(0, 2, 1)
    True
    """
    block = philox(seed, (_STREAM + step) % LIMIT, np.array([number], np.uint64))[0]
    return int(block[0]) | int(block[1]) << 32


@contextmanager
def chance_of(seed: int, step: int, number: int) -> Iterator[None]:
    """Let this thread draw the random numbers of a micro-batch inside the block.

    ``seed`` is that of the run. The default generator stays as it is.
    """
    with drawing_from(Generator(seed_of(seed, step, number))):
        yield
