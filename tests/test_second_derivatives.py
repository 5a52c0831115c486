"""Second derivatives of elementwise functions at points where a formula could make NaN of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

import extensor as ex

EPS = [0.0, 1e-10]


def _normal_cdf(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mpmath.exp(-x))


def _softplus(x: Any) -> Any:
    return mpmath.log1p(mpmath.exp(x))


SMOOTH: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(mpmath, name) for name in "exp expm1 log log10 log1p sqrt sin cos".split()},
    **{name: getattr(mpmath, name) for name in "tan asin acos atan sinh cosh tanh".split()},
    **{name: getattr(mpmath, name) for name in "asinh acosh atanh erf".split()},
    "log2": lambda x: mpmath.log(x, 2),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log_sigmoid": lambda x: -_softplus(-x),
    "normal_cdf": _normal_cdf,
    "normal_pdf": lambda x: mpmath.npdf(x),
    "gelu": lambda x: x * _normal_cdf(x),
    "silu": lambda x: x * _sigmoid(x),
    "mish": lambda x: x * mpmath.tanh(_softplus(x)),
}
SMOOTH = {name: function for name, function in SMOOTH.items() if hasattr(ex, name)}
POSITIVE = ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal")
# The reciprocals of the subnormal numbers among them are infinite.
NEAR = (0.0, 5e-324, 1e-310, 1e-160, 1e-20, 0.1, 0.5, 0.9, 1.0, 1.5, 30.0)
FAR = (400.0, 1e10, 1e160, 1e300)


def _domain(name: str, points: tuple[float, ...]) -> list[float]:
    both = [*points, *(-x for x in points)]
    if name in POSITIVE:
        return [x for x in both if x > 0.01]
    if name in ("asin", "acos", "atanh"):
        return [x for x in both if abs(x) < 1]
    if name == "log1p":
        return [x for x in both if x > -1]
    return [x for x in both if x > 1] if name == "acosh" else both


def _second(name: str, x: float, eps: float) -> float:
    point = ex.tensor(np.array([x]), requires_grad=True)
    with ex.gradient_eps(eps):
        first = ex.grad(ex.sum(getattr(ex, name)(point)), point, create_graph=True)
        if not first.requires_grad:
            return 0.0
        second = ex.grad(ex.sum(first), point, allow_unused=True)
    return 0.0 if second is None else float(second.numpy()[0])


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("name", SMOOTH)
def test_near_special_points(name: str, eps: float) -> None:
    for x in _domain(name, NEAR):
        with mpmath.workdps(200):
            exact = float(mpmath.diff(SMOOTH[name], mpmath.mpf(x), 2, h=mpmath.mpf(10) ** -60))
        assert _second(name, x, eps) == pytest.approx(exact, rel=1e-9, abs=1e-14), x


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("name", SMOOTH)
def test_far_from_zero_it_is_a_number(name: str, eps: float) -> None:
    for x in _domain(name, FAR):
        assert not math.isnan(_second(name, x, eps)), x


def _hessian_of_power(a: float, b: float, eps: float) -> np.ndarray:
    with ex.gradient_eps(eps):
        x, y = (ex.tensor(np.array(value), requires_grad=True) for value in (a, b))
        rows = ex.grad(ex.power(x, y), [x, y], create_graph=True)
        columns = [ex.grad(row, [x, y], allow_unused=True, retain_graph=True) for row in rows]
    return np.array([[0.0 if h is None else float(h.numpy()) for h in row] for row in columns])


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("a", [0.5, 1.0, 2.0, 1e100])
@pytest.mark.parametrize("b", [-2.0, -0.5, 0.0, 1.0, 1.5, 2.0])
def test_power(a: float, b: float, eps: float) -> None:
    logarithm = math.log(a)
    mixed = a ** (b - 1) * (1 + b * logarithm)
    exact = [[b * (b - 1) * a ** (b - 2), mixed], [mixed, a**b * logarithm**2]]
    np.testing.assert_allclose(_hessian_of_power(a, b, eps), exact, rtol=1e-12)


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize(
    ("b", "expected"),
    [
        (0.0, [[0, 0], [0, 0]]),
        (1.0, [[0, 1], [0, 0]]),
        (2.0, [[2, 0], [0, 0]]),
        (3.0, [[0, 0], [0, 0]]),
    ],
)
def test_power_of_zero(zero: float, b: float, expected: list[list[float]]) -> None:
    np.testing.assert_array_equal(_hessian_of_power(zero, b, 0.0), expected)


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_power_of_zero_by_a_weight(dtype: str, eps: float) -> None:
    """As in PyTorch and JAX: 0 where the exponent is not negative, else the limit from above."""
    w = ex.tensor(np.array([0.0, -0.0, 0.5, 2.0, -1.0], dtype), requires_grad=True)
    with ex.gradient_eps(eps):
        gradient = ex.grad(ex.sum(0.0**w), w)
    np.testing.assert_array_equal(gradient.numpy(), [0, 0, 0, 0, -np.inf])
