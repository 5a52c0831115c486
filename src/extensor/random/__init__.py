"""Random numbers from a counter: each is a function of the seed and its place, and of nothing else.

Philox4x32-10 turns a seed of 64 bits and the number of a block into four words of 32 bits. A call
takes the next blocks of its generator, as many as its elements need. So the state is two ints, any
call can be repeated from it, and the threads that fill an array need not agree on anything.
Uniforms and integers are the same on every machine; normals may differ in their last bits.

Functions draw from ``default_generator`` unless they are given another. It starts with seed 0 in
every process: two runs of a program are equal until :func:`manual_seed` is told otherwise.
"""

from extensor.random.continuous import normal, rand, randn, uniform
from extensor.random.discrete import bernoulli, randint
from extensor.random.generator import (
    Generator,
    default_generator,
    get_state,
    manual_seed,
    set_state,
)
from extensor.random.sampling import choice, permutation

__all__ = [
    "Generator",
    "bernoulli",
    "choice",
    "default_generator",
    "get_state",
    "manual_seed",
    "normal",
    "permutation",
    "rand",
    "randint",
    "randn",
    "set_state",
    "uniform",
]


def __dir__() -> list[str]:
    return sorted(__all__)
