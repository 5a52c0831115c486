"""Modules whose first call fixes the number of their inputs."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn

MADE = [
    (lambda: nn.LazyLinear(3), lambda: nn.Linear(4, 3), (2, 4)),
    (lambda: nn.LazyConv1d(3, 2), lambda: nn.Conv1d(4, 3, 2), (2, 4, 5)),
    (lambda: nn.LazyConv2d(3, 2, groups=1), lambda: nn.Conv2d(4, 3, 2), (4, 5, 6)),
    (lambda: nn.LazyConv3d(3, 2), lambda: nn.Conv3d(4, 3, 2), (2, 4, 3, 3, 3)),
    (lambda: nn.LazyConvTranspose2d(3, 2), lambda: nn.ConvTranspose2d(4, 3, 2), (2, 4, 3, 3)),
    (lambda: nn.LazyBatchNorm1d(), lambda: nn.BatchNorm1d(4), (3, 4)),
    (lambda: nn.LazyBatchNorm2d(), lambda: nn.BatchNorm2d(4), (3, 4, 2, 2)),
    (
        lambda: nn.LazyInstanceNorm2d(affine=False, track_running_stats=False),
        lambda: nn.InstanceNorm2d(4),
        (4, 2, 2),
    ),
]


@pytest.mark.parametrize(("lazy", "eager", "shape"), MADE)
def test_the_first_call_makes_the_module(lazy: Any, eager: Any, shape: tuple[int, ...]) -> None:
    x = ex.random.randn(shape)
    ex.random.manual_seed(3)
    made = lazy()
    y = made(x)
    ex.random.manual_seed(3)
    other = eager()
    expected = other(x)
    assert type(made) is type(other)
    assert repr(made) == repr(other)
    assert list(made.state_dict()) == list(other.state_dict())
    np.testing.assert_array_equal(y.numpy(), expected.numpy())
    assert not hasattr(made, "_lazy_options")


def test_parameters_are_refused_before() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.LazyLinear(4))
    text = (
        r"^LazyLinear: the first call fixes in_features; call the module before its parameters are "
        r"needed, got in_features=None"
    )
    for use in (
        lambda: list(model.parameters()),
        model.state_dict,
        lambda: model.load_state_dict({}),
        lambda: model.to("float64"),
        lambda: ex.optim.SGD(model.parameters(), lr=0.1),
    ):
        with pytest.raises(ValueError, match=text):
            use()
    with pytest.raises(AttributeError, match="there is no weight before the first call"):
        _ = nn.LazyLinear(4).weight
    model(ex.ones((1, 2)))
    assert [x.shape for x in model.parameters()] == [(3, 2), (3,), (4, 3), (4,)]


def test_mode_and_copies_are_kept() -> None:
    layer = nn.LazyBatchNorm1d().eval()
    other = copy.deepcopy(layer)
    layer(ex.ones((1, 3)))
    assert not layer.training
    assert type(layer) is nn.BatchNorm1d
    assert type(other) is nn.LazyBatchNorm1d
    with pytest.raises(
        ValueError, match=r"^LazyConv2d: x must have 4 or 3 axes, got x_shape=\(2,\)"
    ):
        nn.LazyConv2d(2, 3)(ex.ones(2))


def test_a_first_call_that_fails_changes_nothing() -> None:
    layer = nn.LazyConv1d(4, 3, groups=2)
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        layer(ex.ones((1, 3, 5)))
    assert type(layer) is nn.LazyConv1d
    assert layer(ex.ones((1, 2, 5))).shape == (1, 4, 3)
