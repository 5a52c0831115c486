"""Which random numbers an object draws: two objects of one program never draw the same."""

from __future__ import annotations

from typing import ClassVar
from weakref import ref

import numpy as np

from extensor.errors import value_error
from extensor.random.generator import default_generator
from extensor.random.philox import philox

_PLACE = 2**63 + 2**62  # of the streams' seeds, far from those of steps


def stream_seed(seed: int, stream: int) -> int:
    """The seed of a stream; stream 0 has ``seed`` itself.

    >>> from extensor.distributed.noise_streams import stream_seed
    >>> stream_seed(7, 0), stream_seed(7, 1) != stream_seed(7, 2)
    (7, True)
    """
    if stream == 0:
        return seed
    block = philox(seed, _PLACE, np.array([stream], np.uint64))[0]
    return int(block[0]) | int(block[1]) << 32


class NoiseStream:
    """The next stream since the default generator was seeded, or the one with this ``number``.

    Counting from the last ``manual_seed`` on lets a program repeat itself within one process.
    """

    _counted: ClassVar[tuple[int, int]] = (
        0,
        0,
    )  # how often the generator was seeded, and the streams since then
    _last: ClassVar[dict[int, tuple[ref[NoiseStream], int, int]]] = {}

    def __init__(self, number: int | None = None) -> None:
        self.is_numbered = number is not None
        if number is None:
            seedings, count = NoiseStream._counted
            number = count if seedings == default_generator.seedings else 0
            NoiseStream._counted = default_generator.seedings, number + 1
        self.number = number

    def seed(self, seed: int, step: int) -> int:
        """The seed for ``step`` of a run with this ``seed``.

        Streams from before and after a ``manual_seed`` may have one number. They are refused where
        they would draw the same.
        """
        if not self.is_numbered:
            owner, last, seedings = self._last.get(self.number, (None, 0, 0))
            other = None if owner is None else owner()
            is_new = (last, seedings) != (step, default_generator.seedings)
            if other is not None and other is not self and not is_new:
                requirement = (
                    "two objects must not draw the same random numbers: make both after "
                    "manual_seed, or give them streams of their own (stream=1)"
                )
                raise value_error("Gradients", requirement, step=step, stream=self.number)
            self._last[self.number] = ref(self), step, default_generator.seedings
        return stream_seed(seed, self.number)
