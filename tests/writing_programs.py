"""Random programs that write into arrays and views of them, for tensors and for NumPy."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import extensor as ex

KINDS = ["new", "zeros", "view", "alias", "operator", "operator", "element", "part", "drop", "drop"]


class Program:
    """Random statements on arrays of 3 and of 2 numbers: new ones, views, changes in place, deletions."""

    def __init__(self, rng: np.random.Generator, length: int) -> None:
        self.statements = [
            (str(rng.choice(KINDS)), rng.integers(0, 2**16, 4).tolist()) for _ in range(length)
        ]

    def run(self, x: Any, zeros: Callable[[int], Any]) -> Any:
        """The sum of all that is left, with NumPy's arrays or with tensors."""
        whole, parts = [x * 1.0], [x[1:] * 1.0]
        for kind, (a, b, c, d) in self.statements:
            group = whole if d % 3 else parts
            first, second = a % len(group), b % len(group)
            if kind == "new":
                group.append(group[first] * group[second] * 0.5 + x[3 - len(group[first]) :])
            elif kind == "zeros":
                whole.append(zeros(3))
            elif kind == "view":
                parts.append(whole[a % len(whole)][1:])
            elif kind == "alias":
                group.append(group[first].reshape(-1))
            elif kind == "operator":
                group[first] = [operator.iadd, operator.isub, operator.imul][c % 3](
                    group[first], group[second]
                )
            elif kind == "element":
                whole[a % len(whole)][c % 3] = whole[b % len(whole)][d % 3] * 1.5
            elif kind == "part":
                whole[a % len(whole)][:2] = parts[b % len(parts)]
            elif len(group) > 1:
                del group[first]
        return sum((y * y * (i + 1.0)).sum() for i, y in enumerate([x, *whole, *parts]))


def outcome(seed: int) -> str:
    """ "right", "refused", or what is wrong. NumPy says what the values are, differences the slopes."""
    rng = np.random.default_rng(seed)
    program = Program(rng, int(rng.integers(2, 9)))
    point = rng.uniform(-1, 1, 3)
    x = ex.tensor(point, requires_grad=True)
    try:
        result = program.run(x, lambda n: ex.zeros(n, dtype="float64"))
        result.backward()
    except RuntimeError as error:
        named = "in place" in str(error) or "recorded change" in str(error)
        return "refused" if named else f"seed {seed}: {error}"
    expected = program.run(point, np.zeros)
    slopes = [
        (program.run(point + step, np.zeros) - program.run(point - step, np.zeros)) / 2e-6
        for step in 1e-6 * np.eye(3)
    ]
    if not np.isclose(result.item(), expected, rtol=1e-12, atol=0):
        return f"seed {seed}: {result.item()} for {expected}"
    if not np.allclose(x.grad.numpy(), slopes, rtol=1e-5, atol=1e-6):
        return f"seed {seed}: gradient {x.grad.tolist()} for {slopes}"
    return "right"
