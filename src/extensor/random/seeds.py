"""Seeds that are functions of a seed, a purpose and a number, and of nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.random.philox import LIMIT, philox

# Streams far from the one in which numbers are drawn, and from each other.
STEPS, SAMPLES, BATCHES, EVALUATION = (2**63, 2**62, 2**61, 2**60)


def derived_seeds(seed: int, purpose: int, stage: int, numbers: range) -> list[int]:
    """The seeds of these ``numbers`` of a stage, such as micro-batches of a step or samples of an epoch.

    >>> from extensor.random.seeds import SAMPLES, derived_seeds
    >>> derived_seeds(0, SAMPLES, 3, range(2, 4)) == derived_seeds(0, SAMPLES, 3, range(5))[2:4]
    True
    """
    counted: Any = np.arange(numbers.start, numbers.stop, dtype=np.uint64)
    blocks = philox(seed, (purpose + stage) % LIMIT, counted)
    return [int(block[0]) | int(block[1]) << 32 for block in blocks]
