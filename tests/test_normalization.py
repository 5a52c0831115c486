"""What the case table cannot say of normalization: running statistics, constant and far inputs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import extensor as ex

CONSTANT = [0.1, 1e-30, -3.7e7, 1 / 3]


@pytest.mark.parametrize("value", CONSTANT)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constant_input_gives_exactly_zero(value: float, dtype: str) -> None:
    x = np.full((3, 6, 7), value, dtype)
    for y in (
        ex.layer_norm(x, 7),
        ex.group_norm(x, 2),
        ex.instance_norm(x),
        ex.batch_norm(x, None, None, training=True),
    ):
        np.testing.assert_array_equal(y.numpy(), np.zeros_like(x))


def test_far_from_zero_the_digits_stay(rng: np.random.Generator) -> None:
    """The variance is that of the differences, which are exact here, not one of two large squares."""
    steps = rng.integers(-8, 8, (4, 3, 50)).astype("float32")
    far = steps + np.float32(2**20)
    for function in (
        lambda x: ex.layer_norm(x, 50),
        lambda x: ex.group_norm(x, 1),
        lambda x: ex.batch_norm(x, None, None, training=True),
    ):
        np.testing.assert_allclose(function(far).numpy(), function(steps).numpy(), atol=2e-6)


def _moved(running: Any, own: Any, momentum: float) -> Any:
    return (1 - momentum) * running + momentum * own


@pytest.mark.parametrize("momentum", [0.1, 1.0, 0.0])
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 2, 2)])
def test_running_statistics(
    shape: tuple[int, ...], momentum: float, rng: np.random.Generator
) -> None:
    mean, var = ex.tensor(rng.normal(0, 1, 3)), ex.tensor(rng.uniform(1, 2, 3))
    expected_mean, expected_var = mean.numpy().copy(), var.numpy().copy()
    for _ in range(3):
        x = rng.normal(1, 2, shape)
        ex.batch_norm(x, mean, var, training=True, momentum=momentum)
        columns = np.moveaxis(x, 1, 0).reshape(3, -1)
        expected_mean = _moved(expected_mean, columns.mean(1), momentum)
        expected_var = _moved(expected_var, columns.var(1, ddof=1), momentum)
    np.testing.assert_allclose(mean.numpy(), expected_mean, rtol=1e-12)
    np.testing.assert_allclose(var.numpy(), expected_var, rtol=1e-12)
    before = mean.numpy().copy(), var.numpy().copy()
    ex.batch_norm(rng.normal(0, 1, shape), mean, var)
    np.testing.assert_array_equal(mean.numpy(), before[0])
    np.testing.assert_array_equal(var.numpy(), before[1])


def test_running_statistics_of_instances(rng: np.random.Generator) -> None:
    x, mean, var = rng.normal(1, 2, (4, 3, 5)), ex.zeros(3), ex.ones(3)
    ex.instance_norm(x, mean, var, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * x.mean((0, 2)), rtol=1e-6)
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * x.var(2, ddof=1).mean(0), rtol=1e-6)


def test_running_statistics_are_not_rounded_with_a_short_input(rng: np.random.Generator) -> None:
    x, mean, var = ex.tensor(rng.normal(1, 2, (64, 3)), dtype="float16"), ex.zeros(3), ex.ones(3)
    output = ex.batch_norm(x, mean, var, training=True)
    assert output.dtype == ex.float16
    np.testing.assert_allclose(mean.numpy(), 0.1 * x.numpy().astype("f8").mean(0), rtol=1e-6)


def test_short_running_statistics_are_updated_too() -> None:
    mean, var = ex.zeros(1, dtype="float16"), ex.ones(1, dtype="float16")
    ex.batch_norm(ex.tensor([[1.0], [3.0]]), mean, var, training=True, momentum=0.5)
    assert mean.tolist() == [1.0]
    assert var.tolist() == [1.5]


def test_a_second_call_does_not_disturb_the_first(rng: np.random.Generator) -> None:
    """Its backward pass comes after the statistics have moved on."""
    x = ex.tensor(rng.normal(0, 1, (4, 3)), requires_grad=True)
    mean, var = ex.zeros(3, dtype="float64"), ex.ones(3, dtype="float64")
    seed = rng.normal(0, 1, x.shape)
    for training in (False, True):
        expected = ex.batch_norm_backward(seed, x.detach(), mean, var, training=training).grad_x
        output = ex.batch_norm(x, mean, var, training=training)
        ex.batch_norm(rng.normal(0, 1, x.shape), mean, var, training=True)
        assert ex.grad(output, x, seed).tolist() == expected.tolist()


def test_read_only_statistics_cannot_move() -> None:
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(
        ValueError, match=r"^batch_norm: setitem: the memory of the tensor is read-only"
    ):
        ex.batch_norm(np.ones((2, 3)), fixed, np.ones(3), training=True)


def test_a_change_of_statistics_is_seen_by_the_tape() -> None:
    mean = ex.ones(3)
    scale = ex.ones(3, requires_grad=True)
    output = scale * mean
    ex.batch_norm(ex.ones((2, 3)), mean, ex.ones(3), training=True)
    with pytest.raises(RuntimeError, match=r"^multiply_backward: a tensor of shape"):
        output.sum().backward()


def test_empty_batches() -> None:
    mean, var = ex.zeros(3), ex.ones(3)
    x = ex.zeros((0, 3, 2), requires_grad=True)
    weight = ex.ones(3, requires_grad=True)
    for output in (
        ex.batch_norm(x, mean, var, weight, training=True),
        ex.batch_norm(x, mean, var, weight),
        ex.group_norm(x, 3, weight),
        ex.instance_norm(x, weight=weight),
        ex.instance_norm(x, mean, var, weight),
    ):
        assert output.shape == (0, 3, 2)
        weight.zero_grad()
        output.sum().backward()
        assert weight.grad is not None
        assert weight.grad.tolist() == [0.0, 0.0, 0.0]
    assert mean.tolist() == [0.0, 0.0, 0.0]
    assert var.tolist() == [1.0, 1.0, 1.0]
    assert ex.layer_norm(ex.zeros((2, 0)), 0).shape == (2, 0)


def _read_only() -> ex.Tensor:
    made = ex.ones(2)
    made._array.flags.writeable = False
    return made


@pytest.mark.parametrize("op", [ex.batch_norm, ex.instance_norm], ids=["batch", "instance"])
@pytest.mark.parametrize("place", ["running_mean", "running_var"])
@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        (_read_only(), "the memory of the tensor is read-only (change a clone() of it)"),
        (
            ex.ones(2, dtype="int64"),
            "value must fit dtype int64 (cast it with astype), got value_dtype='float64'",
        ),
    ],
    ids=["read-only", "integers"],
)
def test_statistics_that_cannot_move(op: Any, place: str, statistics: Any, message: str) -> None:
    running = {"running_mean": ex.zeros(2), "running_var": ex.ones(2), place: statistics}
    x = ex.tensor([[[1.0, 2.0], [3.0, 5.0]]] * 2)
    own = {"training": True} if op is ex.batch_norm else {}
    with pytest.raises(ValueError, match=f"^{re.escape(f'{op.__name__}: setitem: {message}')}$"):
        op(x, **running, **own)
