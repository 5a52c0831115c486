"""Initial values: their distributions by statistics, their bounds, and the same ones by seed."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn
from extensor.nn import init
from extensor.random import Generator

SHAPE = (200, 300)  # so fan_in is 300 and fan_out 200
MEAN_FAN = sqrt(2 / 500)
Make = Callable[[Any], ex.Tensor]
# Each with its mean, its standard deviation and its bound: a factor of the deviation, or None.
UNIFORM = sqrt(3)
DISTRIBUTIONS: dict[str, tuple[Make, Make, float, float, float | None]] = {
    "uniform": (
        lambda g: init.uniform(SHAPE, low=-1.0, high=3.0, generator=g),
        lambda g: init.uniform_(ex.empty(SHAPE), -1.0, 3.0, g),
        1.0, 4 / sqrt(12), UNIFORM,
    ),
    "normal": (
        lambda g: init.normal(SHAPE, mean=2.0, std=0.5, generator=g),
        lambda g: init.normal_(ex.empty(SHAPE), 2.0, 0.5, g),
        2.0, 0.5, None,
    ),
    # The variance of a normal cut at two deviations is 1 - 4 * pdf(2) / (cdf(2) - cdf(-2)).
    "truncated_normal": (
        lambda g: init.truncated_normal(SHAPE, mean=1.0, std=3.0, low=-5.0, high=7.0, generator=g),
        lambda g: init.trunc_normal_(ex.empty(SHAPE), 1.0, 3.0, -5.0, 7.0, g),
        1.0, 3 * 0.879626, 2 / 0.879626,
    ),
    "xavier_uniform": (
        lambda g: init.xavier_uniform(300, 200, SHAPE, gain=2.0, generator=g),
        lambda g: init.xavier_uniform_(ex.empty(SHAPE), 2.0, g),
        0.0, 2 * MEAN_FAN, UNIFORM,
    ),
    "xavier_normal": (
        lambda g: init.xavier_normal(300, 200, SHAPE, gain=2.0, generator=g),
        lambda g: init.xavier_normal_(ex.empty(SHAPE), 2.0, g),
        0.0, 2 * MEAN_FAN, None,
    ),
    "kaiming_uniform": (
        lambda g: init.kaiming_uniform(300, 200, SHAPE, a=1.0, generator=g),
        lambda g: init.kaiming_uniform_(ex.empty(SHAPE), 1.0, generator=g),
        0.0, 1 / sqrt(300), UNIFORM,
    ),
    "kaiming_normal": (
        lambda g: init.kaiming_normal(
            300, 200, SHAPE, mode="fan_out", nonlinearity="relu", generator=g
        ),
        lambda g: init.kaiming_normal_(ex.empty(SHAPE), 0.0, "fan_out", "relu", g),
        0.0, sqrt(2 / 200), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str) -> None:
    make, fill, mean, std, bound = DISTRIBUTIONS[name]
    values = make(Generator(5)).numpy()
    assert values.dtype == np.float32
    assert values.shape == SHAPE
    count = values.size
    # Five standard errors: of the mean, and of the deviation, where a normal's is the widest.
    assert abs(values.mean() - mean) < 5 * std / sqrt(count)
    assert abs(values.std() / std - 1) < 5 / sqrt(2 * count)
    if bound is None:
        assert abs(values - mean).max() > 3.5 * std
    else:
        farthest = abs(values - mean).max() / std
        assert bound * 0.999 < farthest < bound * (1 + 1e-5)
    np.testing.assert_array_equal(make(Generator(5)).numpy(), values)
    np.testing.assert_array_equal(fill(Generator(5)).numpy(), values)
    assert (make(Generator(6)).numpy() != values).mean() > 0.99


def test_the_default_generator_is_used() -> None:
    before = ex.random.get_state()
    first = init.normal(3).tolist()
    ex.random.set_state(before)
    assert init.normal(3).tolist() == first
    ex.random.set_state(before)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_dtypes(dtype: str) -> None:
    for made in (
        init.uniform(3, dtype),
        init.truncated_normal(3, dtype),
        init.xavier_uniform(2, 2, (2, 2), dtype),
        init.kaiming_normal(2, 2, (2, 2), dtype),
        init.orthogonal((2, 3), dtype),
        init.constant(3, 2, dtype),
        init.zeros(3, dtype),
        init.ones(3, dtype),
    ):
        assert made.dtype == dtype
        assert not made.requires_grad


def test_constants() -> None:
    assert init.zeros((2,)).tolist() == [0.0, 0.0]
    assert init.ones(2).tolist() == [1.0, 1.0]
    assert init.constant(2, 3).tolist() == [3.0, 3.0]
    assert init.constant(2, 3).dtype == np.float32
    x = ex.empty(2)
    assert init.constant_(x, 4.0) is x
    assert x.tolist() == [4.0, 4.0]
    assert init.zeros_(x).tolist() == [0.0, 0.0]
    assert init.ones_(x).tolist() == [1.0, 1.0]


def test_parameters_are_filled_in_place() -> None:
    parameter = nn.Parameter(ex.zeros((2, 3)))
    array = parameter._array
    assert init.xavier_uniform_(parameter) is parameter
    assert parameter._array is array
    assert parameter.is_leaf
    assert parameter.requires_grad
    assert (array != 0).all()


@pytest.mark.parametrize("shape", [(4, 4), (3, 7), (7, 3), (4, 2, 3, 1), (5, 1), (0, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    made = init.orthogonal(shape, "float64", gain=2.0, generator=Generator(1)).numpy()
    assert made.shape == shape
    matrix = made.reshape(shape[0], -1) if made.size else made
    small = matrix if len(matrix) <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(small @ small.T, 4 * np.eye(len(small)), atol=1e-12)
    filled = init.orthogonal_(ex.empty(shape, "float64"), 2.0, Generator(1))
    np.testing.assert_array_equal(filled.numpy(), made)


def test_orthogonal_has_no_preferred_sign() -> None:
    corners = [init.orthogonal((3, 3), generator=Generator(i)).numpy()[0, 0] for i in range(400)]
    # The corner of a uniform orthogonal 3 by 3 matrix is uniform in [-1, 1].
    assert abs(np.mean(corners)) < 5 / sqrt(3 * 400)
    assert abs(np.mean(np.square(corners)) - 1 / 3) < 5 * sqrt(4 / 45 / 400)


@pytest.mark.parametrize(
    ("name", "param", "expected"),
    [
        ("linear", None, 1.0), ("conv2d", None, 1.0), ("sigmoid", None, 1.0),
        ("tanh", None, 5 / 3), ("relu", None, sqrt(2)), ("selu", None, 0.75),
        ("leaky_relu", None, sqrt(2 / (1 + 1e-4))), ("leaky_relu", 2.0, sqrt(0.4)),
    ],
)  # fmt: skip
def test_gain(name: str, param: float | None, expected: float) -> None:
    assert init.calculate_gain(name, param) == pytest.approx(expected, rel=1e-15)


def test_fans() -> None:
    assert init.calculate_fans((5, 3)) == (3, 5)
    assert init.calculate_fans((5, 3, 2, 4)) == (24, 40)


def test_linear_begins_as_in_pytorch() -> None:
    layer = nn.Linear(100, 400)
    assert layer.bias is not None
    for x in (layer.weight, layer.bias):
        assert 0.095 < abs(x.numpy()).max() <= 0.1
    assert layer.weight.numpy().std() == pytest.approx(0.1 / sqrt(3), rel=0.01)
    assert nn.Linear(0, 3)(ex.ones((2, 0))).tolist() == [[0.0] * 3] * 2


ERRORS: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: init.calculate_gain("swish"),
        "calculate_gain: nonlinearity must be one of conv1d, conv2d, conv_transpose2d, leaky_relu, "
        "linear, relu, selu, sigmoid, tanh, got nonlinearity='swish'",
    ),
    (
        lambda: init.xavier_uniform_(ex.ones(3)),
        "calculate_fans: a weight must have two axes, got shape=(3,)",
    ),
    (
        lambda: init.xavier_uniform(0, 0, 3),
        "xavier_uniform: fans must be positive, got fan_in=0, fan_out=0",
    ),
    (
        lambda: init.xavier_normal(-1, 3, 3),
        "xavier_normal: fans must be positive, got fan_in=-1, fan_out=3",
    ),
    (
        lambda: init.kaiming_uniform(0, 2, 3),
        "kaiming_uniform: fan_in must be positive, got fan_in=0",
    ),
    (
        lambda: init.kaiming_normal(1, 2, 3, mode="both"),
        "kaiming_normal: mode must be 'fan_in' or 'fan_out', got mode='both'",
    ),
    (lambda: init.orthogonal(3), "orthogonal: shape must have two axes, got shape=(3,)"),
    (
        lambda: init.truncated_normal(3, mean=9.0),
        "truncated_normal: at least 1% of the normal distribution must lie within the bounds, "
        "got mean=9.0, std=1.0, low=-2.0, high=2.0",
    ),
    (
        lambda: init.truncated_normal(3, std=0.0),
        "truncated_normal: at least 1% of the normal distribution must lie within the bounds, "
        "got mean=0.0, std=0.0, low=-2.0, high=2.0",
    ),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_error_texts(row: int) -> None:
    call, text = ERRORS[row]
    with pytest.raises(ValueError, match=":") as caught:
        call()
    assert str(caught.value) == text


def test_slopes_whose_square_fits_no_integer() -> None:
    assert init.calculate_gain("leaky_relu", np.asarray(2**32 - 2)) == pytest.approx(2**0.5 / 2**32)
    assert init.calculate_gain("leaky_relu", 1e300) == 0
