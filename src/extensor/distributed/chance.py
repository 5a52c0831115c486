"""Random numbers of a micro-batch: a function of the seed, the step and its number, and of nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from extensor.random.generator import Generator, drawing_from
from extensor.random.global_generators import preserve_global_generators
from extensor.random.seeds import STEPS, derived_seeds

_TOGETHER = 64  # seeds that are computed at once, which takes hardly longer than one


def seed_of(seed: int, step: int, number: int) -> int:
    """The seed of micro-batch ``number`` of a step.

    >>> from extensor.distributed.chance import seed_of
    >>> seed_of(0, 1, 2) == seed_of(0, 1, 2) != seed_of(0, 2, 1)
    True
    """
    block, place = divmod(number, _TOGETHER)
    return _seeds(seed, step, block)[place]


@lru_cache(maxsize=2)
def _seeds(seed: int, step: int, block: int) -> list[int]:
    first = block * _TOGETHER
    return derived_seeds(seed, STEPS, step, range(first, first + _TOGETHER))


@contextmanager
def chance_of(seed: int, step: int, number: int) -> Iterator[None]:
    """Let this thread draw the random numbers of a micro-batch inside the block.

    ``seed`` is that of the run. The default generator stays as it is. The global generators of Python
    and NumPy are seeded too, and put back afterwards.
    """
    own = seed_of(seed, step, number)
    with drawing_from(Generator(own)), preserve_global_generators(own):
        yield
