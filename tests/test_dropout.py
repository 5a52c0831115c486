"""What the case table cannot say of dropout: chances, states, and what the tape keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.random import Generator, get_state, manual_seed

both = pytest.mark.parametrize("function", [ex.dropout, ex.dropout2d], ids=["dropout", "2d"])


@both
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_chances(function: Any, p: float) -> None:
    """Within five standard deviations, and the mean stays."""
    n = 40_000
    y = function(ex.ones((n // 8, 8)), p, generator=Generator(1)).numpy()
    kept = np.count_nonzero(y)
    assert abs(kept - n * (1 - p)) < 5 * np.sqrt(n * p * (1 - p))
    np.testing.assert_allclose(y[y != 0], 1 / (1 - p), rtol=1e-6)


def test_channels_go_as_a_whole() -> None:
    y = ex.dropout2d(ex.ones((50, 4, 3, 2)), generator=Generator(1)).numpy()
    assert set(y.sum((2, 3)).ravel().tolist()) == {0.0, 12.0}


@both
def test_backward_drops_what_forward_dropped(function: Any) -> None:
    x = ex.ones((5, 4, 3), requires_grad=True)
    y = function(x, 0.3)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == y.tolist()


@both
def test_the_default_generator_moves_on(function: Any) -> None:
    manual_seed(7)
    first, second = (function(ex.ones((8, 8))).tolist() for _ in range(2))
    assert first != second
    manual_seed(7)
    assert function(ex.ones((8, 8))).tolist() == first
    state = get_state()
    function(ex.ones((8, 8)), generator=Generator(1))
    function(ex.ones((8, 8)), training=False)
    function(ex.ones((8, 8)), 0.0)
    assert get_state() == state


@both
def test_without_training_nothing_is_copied(function: Any) -> None:
    x = ex.ones((2, 3))
    assert function(x, training=False).numpy() is x.numpy()


@both
def test_the_tape_keeps_bytes(function: Any) -> None:
    y = function(ex.ones((4, 5, 6), requires_grad=True))
    (mask,) = [item for item in y._node.saved if isinstance(item, ex.Tensor)]
    assert mask.dtype == ex.bool_
    assert mask.size == (120 if function is ex.dropout else 20)


def test_what_is_dropped_is_zero_even_if_it_is_not_a_number() -> None:
    y = ex.dropout(ex.full((100,), float("nan")), generator=Generator(1)).numpy()
    assert set(np.isnan(y).tolist()) == {True, False}
    assert not y[~np.isnan(y)].any()
