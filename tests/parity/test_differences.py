"""Where the two libraries meet at singular points, and where they are meant to differ, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from rows import F, torch

import extensor as ex


def _both(function: Any, wrap: Any, gradients: Any, arrays: Any) -> tuple[Any, list[Any]]:
    inputs = [wrap(np.asarray(x)) for x in arrays]
    output = function(*inputs)
    found = gradients(output, inputs)
    return np.asarray(output.detach()), [np.asarray(x) for x in found]


def _ours(function: Callable[..., Any], *arrays: Any) -> tuple[Any, list[Any]]:
    """The output, and the gradients of its sum."""
    return _both(
        function,
        lambda x: ex.tensor(x, requires_grad=True),
        lambda y, inputs: ex.grad(y, inputs, ex.ones_like(y)),
        arrays,
    )


def _theirs(function: Callable[..., Any], *arrays: Any) -> tuple[Any, list[Any]]:
    return _both(
        function,
        lambda x: torch.tensor(x, requires_grad=True),
        lambda y, inputs: torch.autograd.grad(y, inputs, torch.ones_like(y)),
        arrays,
    )


# Kinks, ties and singular points where both choose the same derivative.
SAME: dict[str, tuple[Any, Any, tuple[Any, ...]]] = {
    "abs at 0": (ex.abs, torch.abs, ([0.0, -0.0],)),
    "relu at 0": (ex.relu, torch.relu, ([0.0],)),
    "leaky_relu at 0": (ex.leaky_relu, F.leaky_relu, ([0.0],)),
    "prelu at 0": (ex.prelu, F.prelu, ([0.0], [0.3])),
    "elu at 0": (lambda x: ex.elu(x, 2.0), lambda x: F.elu(x, 2.0), ([0.0],)),
    "selu at 0": (ex.selu, F.selu, ([0.0],)),
    "softsign at 0": (ex.softsign, F.softsign, ([0.0],)),
    "clip at its bounds": (
        lambda x: ex.clip(x, -1, 1),
        lambda x: torch.clamp(x, -1, 1),
        ([-1.0, 1.0],),
    ),
    "hard_tanh at its corners": (ex.hard_tanh, F.hardtanh, ([-1.0, 1.0],)),
    "relu6 at its corners": (ex.relu6, F.relu6, ([0.0, 6.0],)),
    "hard_sigmoid at its corners": (ex.hard_sigmoid, F.hardsigmoid, ([-3.0, 3.0],)),
    "hard_swish at its corners": (ex.hard_swish, F.hardswish, ([-3.0, 3.0],)),
    "maximum of equals": (ex.maximum, torch.maximum, ([1.0], [1.0])),
    "minimum of equals": (ex.minimum, torch.minimum, ([1.0], [1.0])),
    "the largest of all, twice": (ex.max, torch.max, ([2.0, 2.0, 1.0],)),
    "the largest along an axis, twice": (
        lambda x: ex.max(x, axis=0),
        lambda x: torch.amax(x, 0),
        ([2.0, 2.0, 1.0],),
    ),
    "the largest of all, NaN": (ex.max, torch.max, ([2.0, nan],)),
    "prod with one zero": (ex.prod, torch.prod, ([0.0, 2.0, 3.0],)),
    "prod with two": (ex.prod, torch.prod, ([0.0, 0.0, 3.0],)),
    "std of equals": (ex.std, lambda x: torch.std(x, correction=0), ([1.0, 1.0],)),
    "norm of zeros": (ex.norm, torch.linalg.vector_norm, ([0.0, 0.0],)),
    "norm of order 3 of zeros": (
        lambda x: ex.norm(x, 3),
        lambda x: torch.linalg.vector_norm(x, 3),
        ([0.0, 0.0],),
    ),
    "largest magnitude, twice": (
        lambda x: ex.norm(x, inf),
        lambda x: torch.linalg.vector_norm(x, inf),
        ([-2.0, 2.0],),
    ),
    "atan2 at the origin": (ex.atan2, torch.atan2, ([0.0], [0.0])),
    "asin at 1": (ex.asin, torch.asin, ([1.0],)),
    "atanh at 1": (ex.atanh, torch.atanh, ([1.0],)),
    "rsqrt at 0": (ex.rsqrt, torch.rsqrt, ([0.0],)),
    "reciprocal at 0": (ex.reciprocal, torch.reciprocal, ([0.0],)),
    "power of a negative base": (ex.power, torch.pow, ([-2.0], [3.0])),
    "modulo 0": (ex.modulo, torch.remainder, ([1.0], [0.0])),
    "halves rounded": (ex.round, torch.round, ([0.5, 1.5, 2.5, -0.5],)),
    "softmax of -inf alone": (ex.softmax, lambda x: torch.softmax(x, 0), ([-inf, -inf],)),
    "logsumexp of inf": (ex.logsumexp, lambda x: torch.logsumexp(x, 0), ([inf, 0.0],)),
}


@pytest.mark.parametrize("name", SAME)
def test_the_same_choice(name: str) -> None:
    ours, theirs, arrays = SAME[name]
    value, gradients = _ours(ours, *arrays)
    expected, slopes = _theirs(theirs, *arrays)
    np.testing.assert_array_equal(value, expected)
    for mine, peer in zip(gradients, slopes, strict=True):
        np.testing.assert_allclose(mine, peer, rtol=1e-7)


@dataclass(frozen=True)
class Difference:
    """A call whose gradients (and values, where given) differ, what they are, and the reason."""

    reason: str
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    inputs: tuple[Any, ...]
    gradients: tuple[Any, Any]
    values: tuple[Any, Any] | None = None


EPS = "a denominator below eps=1e-10 is lifted to it, so that a step stays finite"
ZERO = "a gradient of 0 stays 0, so that a branch not taken cannot poison the one taken"
TIES = "what ties shares the gradient, with an axis as without; max(dim) there picks one"
SCALED = "scaled first, so that no square overflows or vanishes"
TAIL = "computed without cancellation, so the tail keeps its digits"
LIMIT = "the limit at infinity, where the formula is inf * 0 or inf / inf"

DIFFERENCES: dict[str, Difference] = {
    "sqrt at 0": Difference(EPS, ex.sqrt, torch.sqrt, ([0.0],), ([1e10], [inf])),
    "sqrt at -0": Difference(EPS, ex.sqrt, torch.sqrt, ([-0.0],), ([1e10], [-inf])),
    "log at 0": Difference(EPS, ex.log, torch.log, ([0.0],), ([1e10], [inf])),
    "log2 at 0": Difference(EPS, ex.log2, torch.log2, ([0.0],), ([1e10], [inf])),
    "log10 at 0": Difference(EPS, ex.log10, torch.log10, ([0.0],), ([1e10], [inf])),
    "divide by 0": Difference(
        EPS, ex.divide, torch.div, ([1.0], [0.0]), ([[1e10], [-1e20]], [[inf], [-inf]])
    ),
    "power with base 0": Difference(
        EPS, ex.power, torch.pow, ([0.0], [0.5]), ([[5e4], [0.0]], [[inf], [0.0]])
    ),
    "a root that was not taken": Difference(
        ZERO,
        lambda x: ex.where(x > 0, ex.sqrt(x), 0.0),
        lambda x: torch.where(x > 0, torch.sqrt(x), 0.0),
        ([0.0],),
        ([0.0], [nan]),
    ),
    "a quotient that was not taken": Difference(
        ZERO,
        lambda x: ex.where(x > 0, 1 / x, 0.0),
        lambda x: torch.where(x > 0, 1 / x, 0.0),
        ([0.0],),
        ([0.0], [nan]),
    ),
    "nothing times log(0)": Difference(
        ZERO, lambda x: 0.0 * ex.log(x), lambda x: 0.0 * torch.log(x), ([0.0],), ([0.0], [nan])
    ),
    "the largest along an axis, twice": Difference(
        TIES,
        lambda x: ex.max(x, axis=0),
        lambda x: torch.max(x, 0)[0],
        ([2.0, 2.0],),
        ([0.5, 0.5], [1.0, 0.0]),
    ),
    "the smallest along an axis, twice": Difference(
        TIES,
        lambda x: ex.min(x, axis=0),
        lambda x: torch.min(x, 0)[0],
        ([2.0, 2.0],),
        ([0.5, 0.5], [1.0, 0.0]),
    ),
    "the largest along an axis, NaN": Difference(
        "the NaN is the largest and takes the gradient, as it does without an axis",
        lambda x: ex.max(x, axis=0),
        lambda x: torch.amax(x, 0),
        ([2.0, nan],),
        ([0.0, 1.0], [nan, nan]),
    ),
    "an index written twice": Difference(
        "only the value that stayed has an influence",
        lambda x, u: ex.index_set(x, u, [0, 0]),
        lambda x, u: x.index_put((torch.tensor([0, 0]),), u),
        ([1.0, 2.0], [5.0, 6.0]),
        ([[0.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 1.0]]),
    ),
    "atan2 far out": Difference(
        SCALED,
        ex.atan2,
        torch.atan2,
        ([1e200], [1e200]),
        ([[5e-201], [-5e-201]], [[0.0], [0.0]]),
    ),
    "atan2 near the origin": Difference(
        SCALED,
        ex.atan2,
        torch.atan2,
        ([1e-200], [1e-200]),
        ([[5e199], [-5e199]], [[0.0], [0.0]]),
    ),
    "asinh far out": Difference(SCALED, ex.asinh, torch.asinh, ([1e200],), ([1e-200], [0.0])),
    "acosh far out": Difference(SCALED, ex.acosh, torch.acosh, ([1e200],), ([1e-200], [0.0])),
    "norm of large numbers": Difference(
        SCALED,
        ex.norm,
        torch.linalg.vector_norm,
        ([3e200, 4e200],),
        ([0.6, 0.8], [0.0, 0.0]),
        (5e200, inf),
    ),
    "norm of small numbers": Difference(
        SCALED,
        ex.norm,
        torch.linalg.vector_norm,
        ([3e-200, 4e-200],),
        ([0.6, 0.8], [0.0, 0.0]),
        (5e-200, 0.0),
    ),
    "expm1 far below 0": Difference(
        TAIL, ex.expm1, torch.expm1, ([-50.0],), ([1.9287498479639178e-22], [0.0])
    ),
    "gelu in its lower tail": Difference(
        TAIL,
        ex.gelu,
        F.gelu,
        ([-9.0],),
        ([-9.138937373906639e-18], [-9.251796214502024e-18]),
        ([-1.0157295653584566e-18], [0.0]),
    ),
    "gelu at -inf": Difference(LIMIT, ex.gelu, F.gelu, ([-inf],), ([0.0], [nan]), ([0.0], [nan])),
    "silu at -inf": Difference(LIMIT, ex.silu, F.silu, ([-inf],), ([0.0], [nan]), ([0.0], [nan])),
    "mish at -inf": Difference(LIMIT, ex.mish, F.mish, ([-inf],), ([0.0], [nan]), ([0.0], [nan])),
    "softsign at inf": Difference(
        LIMIT, ex.softsign, F.softsign, ([inf],), ([0.0], [nan]), ([1.0], [nan])
    ),
    "hard_swish at -inf": Difference(
        LIMIT, ex.hard_swish, F.hardswish, ([-inf],), ([0.0], [0.0]), ([0.0], [nan])
    ),
    "logsumexp of -inf alone": Difference(
        "log(0) has no slope to give to anyone; the gradient is 0",
        ex.logsumexp,
        lambda x: torch.logsumexp(x, 0),
        ([-inf, -inf],),
        ([0.0, 0.0], [nan, nan]),
    ),
    "sign of NaN": Difference(
        "NaN propagates", ex.sign, torch.sign, ([nan],), ([0.0], [0.0]), ([nan], [0.0])
    ),
    "softplus beyond the threshold": Difference(
        "there is no threshold: the formula does not overflow",
        ex.softplus,
        F.softplus,
        ([20.5],),
        ([0.9999999987498471], [1.0]),
        ([20.50000000125015], [20.5]),
    ),
    "var without ddof": Difference(
        "ddof=0 is the default, as in NumPy; there it is 1",
        ex.var,
        torch.var,
        ([1.0, 3.0],),
        ([-1.0, 1.0], [-2.0, 2.0]),
        (1.0, 2.0),
    ),
    "max_pool1d of two NaN": Difference(
        "NaN counts as largest, and the first of the largest gets the gradient; there the last NaN",
        lambda x: ex.max_pool1d(x, 3),
        lambda x: F.max_pool1d(x, 3),
        ([[[nan, 1.0, nan]]],),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]),
    ),
    "sum over no axis": Difference(
        "an empty tuple of axes reduces nothing, as in NumPy; there it reduces everything",
        lambda x: ex.sum(x, axis=()),
        lambda x: torch.sum(x, ()),
        ([1.0, 2.0],),
        ([1.0, 1.0], [1.0, 1.0]),
        ([1.0, 2.0], 3.0),
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_known_difference(name: str) -> None:
    row = DIFFERENCES[name]
    found = _ours(row.ours, *row.inputs), _theirs(row.theirs, *row.inputs)
    for side, (value, gradients) in enumerate(found):
        expected = np.reshape(row.gradients[side], np.shape(gradients))
        np.testing.assert_allclose(gradients, expected, rtol=1e-12)
        if row.values is not None:
            np.testing.assert_allclose(value, row.values[side], rtol=1e-12)
    if row.values is None:
        assert np.array_equal(found[0][0], found[1][0], equal_nan=True)
        assert not np.array_equal(found[0][1], found[1][1])


def test_with_eps_0_the_tape_is_plain_ieee() -> None:
    for name in ("sqrt at 0", "sqrt at -0", "log at 0", "divide by 0", "power with base 0"):
        row = DIFFERENCES[name]
        with ex.gradient_eps(0):
            _, gradients = _ours(row.ours, *row.inputs)
        expected = np.reshape(row.gradients[1], np.shape(gradients))
        np.testing.assert_array_equal(np.abs(gradients), np.abs(expected))


def test_hard_sigmoid_has_an_exact_sixth() -> None:
    """There the sixth is a float32 even in float64."""
    _, ours = _ours(ex.hard_sigmoid, [0.5])
    _, theirs = _theirs(F.hardsigmoid, [0.5])
    np.testing.assert_array_equal(ours, [[1 / 6]])
    np.testing.assert_array_equal(theirs, [[float(np.float32(1 / 6))]])


def test_gelu_keeps_its_tail_in_float32() -> None:
    """There it has no digit left from -6 downwards."""
    x = np.array([-6.0, -9.0, -13.0], np.float32)
    exact = [-5.9195258702261885e-09, -1.0157295653584566e-18, -7.952313719414843e-38]
    np.testing.assert_allclose(ex.gelu(x).numpy(), exact, rtol=3e-7)
    np.testing.assert_array_equal(F.gelu(torch.tensor(x)).numpy(), np.zeros(3))
