"""The global generators of Python and NumPy, which code of users may draw from.

They are one for the whole process: where threads draw at the same time, no seed helps.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from extensor.random.generator import noted_draws

_WORD = 2**32
# Generators that take the place of NumPy's inside a block. They are kept: a thread that draws at
# the wrong moment must not meet freed memory.
_spares: list[Any] = []
_UNTOUCHED = 0  # the seed of generators that are watched, and what they give first after it
_first: tuple[int, int] | None = None


def _numpy() -> Any:
    """``np.random``, imported when it is needed; its types leave out its global generator."""
    return np.random


class GlobalState(NamedTuple):
    """Where the global generators are; NumPy's is the object itself, which others leave alone."""

    python: Any
    numpy: Any

    @classmethod
    def now(cls) -> GlobalState:
        """The present one."""
        return cls(random.getstate(), _numpy().get_bit_generator())

    def bring_back(self) -> None:
        """Let them go on from here. A normal number that NumPy holds in reserve is dropped."""
        random.setstate(self.python)
        _numpy().set_bit_generator(self.numpy)


class GlobalSnapshot:
    """A copy of the states, to find out later which generator was drawn from or seeded."""

    def __init__(self) -> None:
        self._python = random.getstate()
        self._numpy = _numpy().get_state(legacy=False)

    def moved(self) -> str | None:
        """The module whose global generator is not where it was."""
        if random.getstate() != self._python:
            return "random"
        now = _numpy().get_state(legacy=False)
        return "numpy.random" if repr(now) != repr(self._numpy) else None


@contextmanager
def preserve_global_generators(seed: int | None = None) -> Iterator[None]:
    """Whatever is drawn or seeded inside the block, afterwards both are as they were.

    Inside it they begin with ``seed``; without one they go on from where they are.
    """
    before, whole = GlobalState.now(), _numpy().get_state(legacy=False)
    spare = _spares.pop() if _spares else _numpy().MT19937(0)
    _numpy().set_bit_generator(spare)
    try:
        if seed is not None:
            reseed_global_generators(seed)
        elif whole["bit_generator"] == spare.state["bit_generator"]:
            _numpy().set_state(whole)
        yield
    finally:
        before.bring_back()
        if whole["has_gauss"]:
            _numpy().set_state(whole)
        _spares.append(spare)


@contextmanager
def compare_draws() -> Iterator[list[Any]]:
    """At the end of the block, fill a list that equals another one if the same numbers were drawn.

    To compare two blocks, let the global generators begin with the same seed in both. The library's
    generators are compared by the draws of this thread.
    """
    drawn: list[Any] = []
    with noted_draws() as draws:
        yield drawn
    drawn += [draws, random.getstate(), repr(_numpy().get_state(legacy=False))]


def reseed_global_generators(seed: int) -> None:
    """Let both begin anew; only inside :func:`preserve_global_generators`."""
    random.seed(seed)
    # NumPy takes one word several times as fast as an array of words.
    _numpy().seed(seed % _WORD)


def watch_global_generators() -> None:
    """Let :func:`were_drawn_from` tell what is drawn from here on."""
    global _first
    reseed_global_generators(_UNTOUCHED)
    if _first is None:
        _first = _next_words()
        reseed_global_generators(_UNTOUCHED)


def were_drawn_from() -> bool:
    """Whether anybody has drawn or seeded since :func:`watch_global_generators`."""
    return _next_words() != _first


def _next_words() -> tuple[int, int]:
    return random.getrandbits(64), int(_numpy().get_bit_generator().random_raw())
