"""The state of random numbers: a seed and how many blocks of them have been taken."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from operator import index
from threading import Lock, local
from typing import Any

from extensor.arrays.dtypes import DType, float64, uint64
from extensor.arrays.shapes import Shape, count, target
from extensor.core import tracing
from extensor.core.modes import switched
from extensor.errors import type_error, value_error
from extensor.errors.explanation import explaining
from extensor.random.philox import LIMIT, random_integers

# One for all, so that generators can be copied and pickled.
_lock = Lock()


def _seed(op: str, seed: Any) -> int:
    try:
        number = index(seed)
    except TypeError:
        raise type_error(op, "seed must be an int", seed=seed) from None
    if not 0 <= number < LIMIT:
        raise value_error(op, "seed must be from 0 to 2**64 - 1", seed=number)
    return number


class Generator:
    """A source of random numbers: a seed, and how many blocks have been taken.

    A copy repeats what the original will give.

    Parameters
    ----------
    seed : int, optional
        From 0 to 2**64 - 1, by default one from the operating system.

    Examples
    --------
    >>> from extensor.random import Generator, randint
    >>> generator = Generator(7)
    >>> randint(0, 100, 4, generator=generator)
    tensor([75,  8, 79, 95])
    >>> generator.get_state()
    (7, 2)
    """

    seedings = 0  # how often manual_seed was called

    def __init__(self, seed: int | None = None) -> None:
        self._counter = 0
        self._seed = (
            int.from_bytes(os.urandom(8), "little") if seed is None else _seed("Generator", seed)
        )

    @property
    def seed(self) -> int:
        """The seed, from 0 to 2**64 - 1."""
        return self.get_state()[0]

    @property
    def counter(self) -> int:
        """The number of blocks taken so far."""
        return self.get_state()[1]

    def manual_seed(self, seed: int) -> Generator:
        """Begin again with ``seed``.

        Parameters
        ----------
        seed : int
            From 0 to 2**64 - 1.

        Returns
        -------
        Generator
            The generator itself.
        """
        self.set_state((_seed("manual_seed", seed), 0))
        self.seedings += 1
        return self

    def get_state(self) -> tuple[int, int]:
        """Return ``(seed, counter)`` for :meth:`set_state`: two ints, ready for JSON."""
        if tracing.current() is not None:
            raise RuntimeError(
                "get_state: a generator cannot be read inside a compiled function, where its state "
                "is that of the first call; read it before the call"
            )
        with _lock:
            return self._seed, self._counter

    @explaining
    def set_state(self, state: Sequence[int]) -> None:
        """Continue from a state that :meth:`get_state` returned.

        Parameters
        ----------
        state : pair of ints
            The seed and the counter.

        Raises
        ------
        ValueError
            If ``state`` is not two ints from 0 to 2**64 - 1.
        """
        if tracing.current() is not None:
            raise RuntimeError(
                "set_state: a generator cannot be set inside a compiled function, which is run "
                "without it; set it before the call"
            )
        try:
            seed, counter = (index(word) for word in state)
        except (TypeError, ValueError):
            seed = counter = -1
        if not (0 <= seed < LIMIT and 0 <= counter < LIMIT):
            raise value_error(
                "set_state", "state must be two ints from 0 to 2**64 - 1, seed and counter",
                state=state,
            )  # fmt: skip
        with _lock:
            self._seed, self._counter = seed, counter

    def split(self, number: int) -> list[Generator]:
        """New generators with seeds drawn from this one, for workers that draw side by side.

        Parameters
        ----------
        number : int
            How many generators.

        Returns
        -------
        list of Generator
            The new generators.
        """
        shape = target("split", number, "number")
        seeds = drawn("split", self, random_integers, shape, uint64, 0, LIMIT - 1)
        return [Generator(seed) for seed in seeds.tolist()]

    def _take(self, blocks: int) -> tuple[int, int]:
        """The seed and the number of the first of ``blocks`` blocks that nobody else will get."""
        with _lock:
            first = self._counter
            self._counter = (first + blocks) % LIMIT
            return self._seed, first

    def _give_back(self, seed: int, first: int, blocks: int) -> None:
        """Go back to before a draw that failed, unless somebody has drawn since."""
        with _lock:
            if (self._seed, self._counter) == (seed, (first + blocks) % LIMIT):
                self._counter = first

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed}, counter={self._counter})"


default_generator = Generator(0)


def manual_seed(seed: int) -> Generator:
    """Begin the default generator again with ``seed``.

    Parameters
    ----------
    seed : int
        From 0 to 2**64 - 1.

    Returns
    -------
    Generator
        The default generator.

    Raises
    ------
    ValueError
        If ``seed`` is out of range.

    Examples
    --------
    >>> from extensor import random
    >>> _ = random.manual_seed(1)
    >>> random.rand(3)
    tensor([0.89025915, 0.8946847 , 0.5857259 ])
    """
    return _default().manual_seed(seed)


def get_state() -> tuple[int, int]:
    """The state of the default generator, as :meth:`Generator.get_state`.

    Returns
    -------
    tuple of int
        The seed and the counter.

    Examples
    --------
    >>> import extensor as ex
    >>> state = ex.random.get_state()
    >>> first = ex.random.rand(2)
    >>> ex.random.set_state(state)
    >>> bool((ex.random.rand(2) == first).all())
    True
    """
    return _default().get_state()


def set_state(state: Sequence[int]) -> None:
    """Let the default generator continue from ``state``.

    Parameters
    ----------
    state : pair of ints
        The seed and the counter, as `get_state` returns them.

    Examples
    --------
    >>> import extensor as ex
    >>> ex.random.set_state(ex.random.get_state())
    """
    _default().set_state(state)


def drawn(
    op: str,
    generator: Generator | None,
    fill: Any,
    shape: Shape,
    dtype: DType,
    *attributes: Any,
    then: Callable[[Any], Any] | None = None,
) -> Any:
    """The array that ``fill`` makes of the generator's next blocks, or what ``then`` makes of it.

    If there is no memory for either, nothing was drawn.
    """
    if generator is None:
        generator = _default()
    elif not isinstance(generator, Generator):
        raise type_error(op, "generator must be a Generator", generator=type(generator).__name__)
    per_block = 2 if fill is random_integers or dtype == float64 else 4
    blocks = -(-count(shape) // per_block)
    trace = tracing.current()
    calls = 0 if trace is None else trace.calls
    draw: tuple[Any, Any]
    if _draws.again is None:
        draw = generator._take(blocks) if trace is None else trace.drawn(generator, blocks)
    else:
        repeated = next(_draws.again, None)
        if repeated is None:
            raise value_error(op, "a function that is run again must not draw more than before")
        draw = repeated
        if trace is not None:
            trace.redrawn(draw)
    try:
        array = fill(draw[0], 0, draw[1], shape, dtype, *attributes)
        if then is not None:
            array = then(array)
    except MemoryError:
        if _draws.again is None and trace is None:
            generator._give_back(draw[0], draw[1], blocks)
        raise
    if trace is not None:
        trace.filled(calls)
    for noted in _draws.noted:
        noted.append(draw)
    return array


class _Draws(local):
    """Of this thread: its default, lists that want to know each draw, and draws to be repeated."""

    default: Generator | None = None
    noted: tuple[list[tuple[int, int]], ...] = ()
    again: Iterator[tuple[int, int]] | None = None


_draws = _Draws()


def _default() -> Generator:
    return default_generator if _draws.default is None else _draws.default


def drawing_from(generator: Generator) -> AbstractContextManager[None]:
    """``generator`` in place of the default one, for what this thread draws inside the block."""
    return switched(_draws, default=generator)


@contextmanager
def noted_draws() -> Iterator[list[tuple[int, int]]]:
    """The draws of this thread inside the block, from whatever generators, for :func:`repeated_draws`."""
    draws: list[tuple[int, int]] = []
    with switched(_draws, noted=(*_draws.noted, draws)):
        yield draws


def repeated_draws(draws: Sequence[tuple[int, int]]) -> AbstractContextManager[None]:
    """The same numbers again in this thread, whatever others draw; no generator moves."""
    return switched(_draws, noted=(), again=iter(draws))
