"""Normalization kernels against the formulas in float64: sizes around the vectors and the tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tolerances

import extensor as ex
from extensor.core import door
from extensor.core.op import OPS
from extensor.core.tensor import wrap

pytestmark = pytest.mark.skipif(door.ENGINE == "reference", reason="the reference has no kernels")

every_float = pytest.mark.parametrize("dtype", ["float32", "float64"])

# The op and the shapes of x: rows alone and in tiles of four, columns in tiles, single vectors and
# less, channels of several segments.
KINDS: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "rows": ("layer_norm", [(r, n) for r in (1, 4, 6) for n in (1, 7, 8, 33, 256, 257, 1030)]),
    "squares": ("rms_norm", [(r, n) for r in (1, 4, 6) for n in (1, 7, 8, 33, 256, 257, 1030)]),
    "groups": ("group_norm", [(3, 6, 5), (2, 6, 40, 60), (9, 6), (70, 60), (5, 6, 1, 1)]),
    "columns": (
        "batch_norm",
        [(r, n) for r in (2, 63, 64, 65) for n in (1, 7, 8, 31, 32, 41, 75)] + [(9, 40, 1, 1)],
    ),
    "channels": ("batch_norm", [(3, 6, 5), (2, 3, 40, 60), (4, 5, 2, 2)]),
    "running": ("batch_norm", [(9, 41), (3, 6, 5), (2, 3, 40, 60)]),
    "maps": ("instance_norm", [(3, 6, 5), (2, 3, 40, 60)]),
    "running maps": ("instance_norm", [(3, 6, 5), (3, 6, 1)]),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
EPS = 1e-5


def _forward(kind: str, x: Any, weight: Any, bias: Any) -> tuple[Any, ...]:
    """The arguments of the op, arrays first."""
    name = KINDS[kind][0]
    if name == "rms_norm":
        return x, weight, x.shape[-1], EPS
    if name in ("layer_norm", "group_norm"):
        return x, weight, bias, x.shape[-1] if name == "layer_norm" else 3, EPS
    return (x, *_running(kind, x), weight, bias, "running" not in kind, 0.1, EPS)


def _backward(kind: str, gradient: Any, x: Any, weight: Any, eps: float = EPS) -> tuple[Any, ...]:
    """The arguments of the rule."""
    name = KINDS[kind][0]
    if name in ("layer_norm", "rms_norm", "group_norm"):
        return gradient, x, 3 if name == "group_norm" else x.shape[-1], weight, eps
    return (gradient, x, *_running(kind, x), weight, "running" not in kind, eps)


def _running(kind: str, x: Any) -> tuple[Any, Any]:
    if "running" not in kind:
        return None, None
    middle = np.linspace(-0.5, 0.5, x.shape[1])
    return middle + float(np.mean(np.asarray(x), where=np.isfinite(x))), 1 + middle


def _drawn(kind: str, shape: tuple[int, ...], dtype: str, rng: Any, middle: float = 0.0) -> Any:
    """x, grad_output, the weight and the bias."""
    size = shape[-1] if KINDS[kind][0] in ("layer_norm", "rms_norm") else shape[1]
    x = rng.normal(middle, 1, shape).astype(dtype)
    gradient = rng.normal(0, 1, shape).astype(dtype)
    return x, gradient, *(rng.uniform(0.5, 2, size).astype(dtype) for _ in range(2))


def _kernel_rule(kind: str, arguments: tuple[Any, ...]) -> Any:
    rule = OPS[KINDS[kind][0]].rule
    assert rule is not None
    assert rule.kernel is not None
    return rule.kernel(*arguments, (True,) * len(rule.fields))


def _formula_rule(kind: str, arguments: tuple[Any, ...]) -> list[Any]:
    """By the formula in float64."""
    rule = OPS[KINDS[kind][0]].rule
    assert rule is not None
    wide = [wrap(a.astype(np.float64)) if isinstance(a, np.ndarray) else a for a in arguments]
    return [found.numpy() for found in rule.by_formula(wide, (True,) * len(rule.fields))]


def _assert_near(found: Any, expected: Any, dtype: str, terms: int = 1) -> None:
    """Sums of many terms are as far off as those, the larger ones, are."""
    rtol, atol = tolerances.of(dtype).values()
    np.testing.assert_allclose(found, expected, rtol=4 * rtol, atol=4 * atol * max(1, terms**0.5))


@every_kind
@every_float
def test_outputs(kind: str, dtype: str, rng: np.random.Generator) -> None:
    op = OPS[KINDS[kind][0]]
    assert op.kernel is not None
    for shape in KINDS[kind][1]:
        x, _, weight, bias = _drawn(kind, shape, dtype, rng)
        for given in ((weight, bias), (weight, None), (None, None)):
            found = op.kernel(*_forward(kind, x, *given))
            wide = [None if a is None else a.astype(np.float64) for a in (x, *given)]
            _assert_near(found, op.formula(*_forward(kind, *wide)), dtype)


@every_kind
@every_float
def test_gradients(kind: str, dtype: str, rng: np.random.Generator) -> None:
    for shape in KINDS[kind][1]:
        x, gradient, weight, _ = _drawn(kind, shape, dtype, rng)
        for given in (weight, None):
            arguments = _backward(kind, gradient, x, given)
            for found, expected in zip(
                _kernel_rule(kind, arguments), _formula_rule(kind, arguments), strict=True
            ):
                _assert_near(found, expected, dtype, x.size // expected.size)


@pytest.mark.parametrize("kind", ["rows", "groups", "columns", "channels", "maps"])
def test_far_from_zero_no_digits_are_lost(kind: str, rng: np.random.Generator) -> None:
    """A mean of 10000 deviations: the square of it has no room in a float32 beside the variance."""
    op = OPS[KINDS[kind][0]]
    assert op.kernel is not None
    for shape in ((64, 72), (4, 6, 15, 30)):
        if (len(shape) == 2) != (kind in ("rows", "columns")):
            continue
        x, gradient, weight, bias = _drawn(kind, shape, "float32", rng, middle=1e4)
        wide = [a.astype(np.float64) for a in (x, weight, bias)]
        found = op.kernel(*_forward(kind, x, weight, bias))
        _assert_near(found, op.formula(*_forward(kind, *wide)), "float32")
        arguments = _backward(kind, gradient, x, weight)
        for found, expected in zip(
            _kernel_rule(kind, arguments), _formula_rule(kind, arguments), strict=True
        ):
            _assert_near(found, expected, "float32", x.size // expected.size)


@every_kind
@pytest.mark.parametrize("where", ["x", "weight"])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_zero_gradients_stay_zero(
    kind: str, where: str, value: float, rng: np.random.Generator
) -> None:
    """Beside what is not finite too; and what is finite is what it is by the formula.

    Of an infinite weight the formula adds products, with both signs, and the kernels multiply sums.
    """
    for shape in KINDS[kind][1]:
        x, gradient, weight, _ = _drawn(kind, shape, "float64", rng)
        changed = x if where == "x" else weight
        changed.flat[changed.size // 2] = value
        arguments = _backward(kind, gradient * 0, x, weight)
        for found in _kernel_rule(kind, arguments):
            assert not found.any()
        gradient[..., : shape[-1] // 2] = 0
        arguments = _backward(kind, gradient, x, weight)
        with np.errstate(invalid="ignore", over="ignore"):
            wanted = _formula_rule(kind, arguments)
        for found, expected in zip(_kernel_rule(kind, arguments), wanted, strict=True):
            finite = np.isfinite(expected)
            np.testing.assert_array_equal(np.isfinite(found), finite)
            _assert_near(found[finite], expected[finite], "float64", x.size)


@pytest.mark.parametrize("kind", ["rows", "groups", "columns", "channels", "maps"])
def test_an_infinite_scale_is_that_of_the_formula(kind: str, rng: np.random.Generator) -> None:
    """Equal elements without eps: what is not zero in the gradient is not a number after it."""
    for shape in KINDS[kind][1]:
        x, gradient, weight, _ = _drawn(kind, shape, "float64", rng)
        x[:] = 2.0
        gradient[..., : shape[-1] // 2] = 0
        arguments = _backward(kind, gradient, x, weight, eps=0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            wanted = _formula_rule(kind, arguments)
        for found, expected in zip(_kernel_rule(kind, arguments), wanted, strict=True):
            np.testing.assert_array_equal(np.isfinite(found), np.isfinite(expected))


@every_float
@pytest.mark.parametrize("odd", [np.inf, np.nan])
@pytest.mark.parametrize("norm", ["group_norm", "batch_norm", "instance_norm"])
def test_a_weight_of_zero_lets_nothing_through_to_what_is_not_finite(
    norm: str, odd: float, dtype: str, rng: np.random.Generator
) -> None:
    g, x = (rng.standard_normal((3, 2, 5)).astype(dtype) for _ in range(2))
    x[0, 1, 1] = odd
    weight, mean, variance = (np.array(values, dtype) for values in ((1, 0), (0, 0), (1, 1)))
    arguments: dict[str, tuple[Any, ...]] = {
        "group_norm": (2, weight),
        "batch_norm": (mean, variance, weight, True),
        "instance_norm": (None, None, weight),
    }
    rule = getattr(ex, f"{norm}_backward")
    found = rule(g, x, *arguments[norm])[0].numpy()
    np.testing.assert_array_equal(found[:, 1], np.zeros((3, 5)))
    with door.by_formulas():
        expected = rule(g, x, *arguments[norm])[0].numpy()
    _assert_near(found, expected, dtype, terms=5)
