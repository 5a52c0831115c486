"""What the rows of the parity table draw: shapes, axes, and the inputs and attributes of a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cases.case import real

Rng = np.random.Generator
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """Inputs, float64 where they are differentiable, and the attributes by our names.

    ``names`` are given where the inputs are not the first parameters.
    """

    inputs: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()


Draw = Callable[[Rng], Call]


def shape(rng: Rng, low: int = 0, high: int = 3, sizes: tuple[int, ...] = (1, 2, 3, 5)) -> Shape:
    """From ``low`` to ``high`` axes of the given sizes."""
    return tuple(int(n) for n in rng.choice(sizes, rng.integers(low, high + 1)))


def any_shape(rng: Rng) -> Shape:
    """Now and then with an axis of size 0."""
    return shape(rng, sizes=(0, 1, 2, 3, 4, 5, 17))


def broadcastable(rng: Rng, count: int) -> list[Shape]:
    """Shapes that broadcast: a common one with axes left out in front or made 1."""
    common = any_shape(rng)
    return [
        tuple(1 if rng.random() < 0.3 else n for n in common[rng.integers(0, len(common) + 1) :])
        for _ in range(count)
    ]


def values(rng: Rng, of: Shape, **domain: Any) -> np.ndarray:
    return np.asarray(real(*of, **domain)(rng, np.float64))


def axis(rng: Rng, ndim: int) -> int:
    """One axis, counted from the beginning or from the end."""
    return int(rng.integers(-ndim, ndim))


def axes(rng: Rng, ndim: int) -> Any:
    """None, one axis or several."""
    if ndim == 0 or rng.random() < 0.25:
        return None
    if rng.random() < 0.5:
        return axis(rng, ndim)
    chosen = rng.permutation(ndim)[: rng.integers(1, ndim + 1)]
    return tuple(int(i) - (ndim if rng.random() < 0.5 else 0) for i in chosen)


def flag(rng: Rng) -> bool:
    return bool(rng.integers(0, 2))


def unary(**domain: Any) -> Draw:
    """One tensor of any shape, with numbers of a domain."""
    return lambda rng: Call([values(rng, any_shape(rng), **domain)])


def with_choice(name: str, *choices: Any, **domain: Any) -> Draw:
    """One tensor, and one of the choices for the attribute ``name``."""
    return lambda rng: Call(
        [values(rng, any_shape(rng), **domain)], {name: choices[rng.integers(0, len(choices))]}
    )


def binary(first: dict[str, Any] | None = None, second: dict[str, Any] | None = None) -> Draw:
    """Two tensors that broadcast."""

    def draw(rng: Rng) -> Call:
        a, b = broadcastable(rng, 2)
        return Call([values(rng, a, **(first or {})), values(rng, b, **(second or {}))])

    return draw


def whole(count: int, high: int = 3, dtype: Any = np.float64) -> Draw:
    """Small whole numbers, so that many are equal, and many are 0."""

    def draw(rng: Rng) -> Call:
        return Call([rng.integers(0, high, s).astype(dtype) for s in broadcastable(rng, count)])

    return draw


def special(rng: Rng) -> Call:
    choices = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5, 1e-310])
    return Call([rng.choice(choices, any_shape(rng))])


def reduction(
    sizes: tuple[int, ...] = (1, 2, 3, 5),
    least: int = 0,
    several: bool = True,
    whole_numbers: bool = False,
    choices: dict[str, tuple[Any, ...]] | None = None,
    **domain: Any,
) -> Draw:
    """One tensor, ``axis`` and ``keepdims``, and more attributes, each one of its choices."""

    def draw(rng: Rng) -> Call:
        of = shape(rng, least, 4, sizes)
        chosen = axes(rng, len(of))
        if not several and isinstance(chosen, tuple):
            chosen = chosen[0]
        x = rng.integers(0, 2, of).astype(float) if whole_numbers else values(rng, of, **domain)
        more = {
            name: options[rng.integers(0, len(options))]
            for name, options in (choices or {}).items()
        }
        return Call([x], {**more, "axis": chosen, "keepdims": flag(rng)})

    return draw


def along(low: int = 1, sizes: tuple[int, ...] = (1, 2, 3, 5), **choices: Any) -> Draw:
    """One tensor and one axis, and more attributes, each one of its choices."""

    def draw(rng: Rng) -> Call:
        of = shape(rng, low=low, high=4, sizes=sizes)
        more = {name: options[rng.integers(0, len(options))] for name, options in choices.items()}
        return Call([values(rng, of)], {**more, "axis": axis(rng, max(len(of), 1))})

    return draw


def shaped(attributes: Callable[[Rng, Shape], dict[str, Any]], low: int = 0) -> Draw:
    """One tensor and attributes that depend on its shape."""

    def draw(rng: Rng) -> Call:
        of = shape(rng, low=low, high=4, sizes=(1, 2, 3, 4))
        return Call([values(rng, of)], attributes(rng, of))

    return draw


def fixed(*shapes: Shape, **attributes: Any) -> Draw:
    """Tensors of given shapes."""
    return lambda rng: Call([values(rng, s) for s in shapes], attributes)


def one_of(*draws: Draw) -> Draw:
    return lambda rng: draws[rng.integers(0, len(draws))](rng)
