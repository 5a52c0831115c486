"""The rows of the case table. From each row the tests of ``tests/test_ops.py`` are generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Generator = Callable[[np.random.Generator, Any], Any]


def real(
    *shape: int,
    low: float = -2.0,
    high: float = 2.0,
    avoid: tuple[float, ...] = (),
    gap: float = 0.1,
) -> Generator:
    """Numbers from ``low`` to ``high``, none of them within ``gap`` of a point to ``avoid``."""

    def generate(rng: np.random.Generator, dtype: Any) -> Any:
        x = rng.uniform(low, high, shape)
        for point in avoid:
            near = np.abs(x - point) < gap
            x = np.where(near, point + np.where(x < point, -gap, gap) * rng.uniform(1, 2, shape), x)
        return np.asarray(x).astype(dtype)

    return generate


def distinct(*shape: int, spacing: float = 0.25, centre: float = 0.0) -> Generator:
    """Numbers around ``centre`` that are ``spacing`` apart from each other, in random order."""

    def generate(rng: np.random.Generator, dtype: Any) -> Any:
        size = int(np.prod(shape))
        x = (rng.permutation(size) - size / 2) * spacing + centre
        return x.reshape(shape).astype(dtype)

    return generate


def integers(*shape: int, low: int = 0, high: int = 10, dtype: Any = np.int64) -> Generator:
    """Whole numbers in [low, high) of a fixed dtype: indices."""
    return lambda rng, _: np.asarray(rng.integers(low, high, shape)).astype(dtype)


def booleans(*shape: int) -> Generator:
    return lambda rng, _: np.asarray(rng.integers(0, 2, shape)).astype(bool)


@dataclass(frozen=True)
class Case:
    """One way to call an op.

    ``inputs`` are generators, a list of them for an op that takes a sequence; ``reference`` is an
    independent implementation on NumPy arrays (NumPy's or SciPy's own function where there is one);
    ``smooth`` is False where finite differences mean nothing (indices out, piecewise constant);
    ``second`` is False where the second derivative is not defined, with the reason beside the row.
    ``integers`` says that integer and bool dtypes are also meaningful inputs. ``names`` says which
    inputs of the op are given, where they are not the first ones.
    """

    op: str
    inputs: tuple[Any, ...]
    reference: Callable[..., Any]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    smooth: bool = True
    second: bool = True
    integers: bool = True
    names: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        settings = ",".join(f"{k}={v}" for k, v in self.attributes.items())
        return f"{self.op}({settings})"


@dataclass(frozen=True)
class Singular:
    """A point where the derivative is not finite.

    With ``grad_output`` 0 the rule must return zeros; with ``eps=0`` and ``grad_output`` 1 it must return
    exactly ``ieee``, one value for each differentiable input (only for rules that take eps).
    """

    op: str
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    ieee: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Error:
    """A call that must fail, and the exact text. ``function`` may be an op or a ``*_backward``."""

    function: str
    arguments: tuple[Any, ...]
    text: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    kind: type[Exception] = ValueError
