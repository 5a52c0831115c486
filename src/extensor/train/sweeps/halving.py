"""Successive halving: all trials are trained a little, and only the best of them further.

Jamieson and Talwalkar, 2016, with a third in the place of a half.
"""

from __future__ import annotations

from typing import NamedTuple

_FACTOR = 3


class Rung(NamedTuple):
    """``trials`` trials are trained until ``epochs`` epochs are over."""

    epochs: int
    trials: int


def rungs(epochs: int, trials: int, halving: bool = True) -> list[Rung]:
    """From the first rung to the last, which has all the epochs and at least two trials.

    >>> from extensor.train.sweeps.halving import rungs
    >>> rungs(40, 20)
    [Rung(epochs=4, trials=20), Rung(epochs=13, trials=7), Rung(epochs=40, trials=3)]
    """
    lengths, left = [epochs], [trials]
    while halving and left[-1] > _FACTOR and lengths[-1] >= _FACTOR:
        lengths.append(lengths[-1] // _FACTOR)
        left.append(-(-left[-1] // _FACTOR))
    return [Rung(*rung) for rung in zip(reversed(lengths), left, strict=True)]
