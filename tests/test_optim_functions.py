"""Pure steps, clipping and averaging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import optim

SHAPES = [(3, 4), (7,), (), (2, 3, 2)]


def _one() -> ex.Tensor:
    return ex.ones((2,), requires_grad=True)


def test_pure_steps_are_those_of_the_classes(rng: np.random.Generator) -> None:
    value = rng.normal(size=(3, 2)).astype(np.float32)
    gradients = [rng.normal(size=(3, 2)).astype(np.float32) for _ in range(3)]
    zeros = np.zeros((3, 2), np.float32)

    def by_class(make: Any, **options: Any) -> Any:
        x = ex.tensor(value, requires_grad=True)
        optimizer = make([x], **options)
        for gradient in gradients:
            x.grad = ex.tensor(gradient)
            optimizer.step()
        return x.numpy()

    def by_steps(step: Any, *state: Any) -> Any:
        parameter: Any = value
        for number, gradient in enumerate(gradients, 1):
            before = [np.array(x) for x in (parameter, *state) if x is not None]
            old = [x for x in (parameter, *state) if x is not None]
            parameter, *state = step(parameter, gradient, number, *state)
            for x, y in zip(old, before, strict=True):
                np.testing.assert_array_equal(np.asarray(x), y)
        return parameter.numpy()

    pairs = [
        (
            by_class(optim.SGD, lr=0.1, momentum=0.9, dampening=0.2, weight_decay=0.1),
            by_steps(lambda p, g, t, v: optim.sgd_step(p, g, 0.1, 0.9, 0.2, 0.1, velocity=v), None),
        ),
        (
            by_class(optim.SGD, lr=0.1),
            by_steps(lambda p, g, t, v: optim.sgd_step(p, g, lr=0.1, velocity=v), None),
        ),
        (
            by_class(optim.Adam, weight_decay=0.1),
            by_steps(
                lambda p, g, t, m, v: optim.adam_step(p, g, m, v, t, weight_decay=0.1), zeros, zeros
            ),
        ),
        (
            by_class(optim.AdamW),
            by_steps(lambda p, g, t, m, v: optim.adamw_step(p, g, m, v, t), zeros, zeros),
        ),
        (
            by_class(optim.RMSprop, momentum=0.5),
            by_steps(
                lambda p, g, t, v, b: optim.rmsprop_step(p, g, v, momentum=0.5, velocity=b),
                zeros,
                None,
            ),
        ),
        (
            by_class(optim.Adagrad, lr_decay=0.1),
            by_steps(lambda p, g, t, s: optim.adagrad_step(p, g, s, t, lr_decay=0.1), zeros),
        ),
    ]
    for expected, found in pairs:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("order", [2.0, np.inf, 1.0, 3.0, 0.0])
def test_clip_grad_norm(order: float, rng: np.random.Generator) -> None:
    parameters = [ex.zeros(s, dtype="float64", requires_grad=True) for s in SHAPES]
    gradients = [rng.normal(size=s) for s in SHAPES]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = ex.tensor(gradient)
    flat = np.concatenate([x.ravel() for x in gradients])
    norm = np.linalg.norm(flat, order)
    assert optim.clip_grad_norm([*parameters, _one()], 2 * norm, order).item() == pytest.approx(
        norm
    )
    np.testing.assert_array_equal(parameters[0].grad.numpy(), gradients[0])
    optim.clip_grad_norm(iter(parameters), norm / 4, order)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), gradient / 4, rtol=1e-12)


def test_clip_edges() -> None:
    assert optim.clip_grad_norm([], 1.0).item() == 0.0
    x = _one()
    assert optim.clip_grad_norm(x, 1.0).item() == 0.0
    x.grad = ex.tensor([np.nan, -9.0])
    optim.clip_grad_value(x, 2.5)
    np.testing.assert_array_equal(x.grad.numpy(), [np.nan, -2.5])
    x.grad = ex.tensor(np.ones((2, 4), "float32"))[:, ::2][0].detach()
    optim.clip_grad_value(x, 0.5)
    np.testing.assert_array_equal(x.grad.numpy(), [0.5, 0.5])
    shared = ex.tensor([3.0, 4.0])
    y = _one()
    x.grad = y.grad = shared  # is there once
    assert optim.clip_grad_norm([x, y], 1.0).item() == 5.0
    np.testing.assert_allclose(shared.numpy(), [0.6, 0.8], rtol=1e-6)


def test_ema(rng: np.random.Generator) -> None:
    x = ex.tensor(rng.normal(size=5), requires_grad=True)
    average = optim.EMA([x], decay=0.9)
    expected = x.numpy().copy()
    for _ in range(4):
        x.detach().numpy()[...] = rng.normal(size=5)
        average.update()
        expected = 0.9 * expected + 0.1 * x.numpy()
    np.testing.assert_allclose(average.averages[0].numpy(), expected, rtol=1e-12)
    now = x.numpy().copy()
    with average.applied():
        np.testing.assert_allclose(x.numpy(), expected, rtol=1e-12)
    np.testing.assert_array_equal(x.numpy(), now)
    other = optim.EMA([ex.zeros(5, dtype="float64")], decay=0.9)
    other.load_state_dict(average.state_dict())
    target = ex.zeros(5, dtype="float64")
    other.copy_to([target])
    np.testing.assert_allclose(target.numpy(), expected, rtol=1e-12)
    assert other.count == 4


def test_ema_warmup_and_halves() -> None:
    x = ex.ones(2, dtype=ex.bfloat16)
    average = optim.EMA([x], decay=0.999, warmup=True)
    x.detach().numpy()[...] = 2
    average.update()
    assert average.averages[0].dtype == np.float32
    np.testing.assert_allclose(average.averages[0].numpy(), 0.1 * 1 + 0.9 * 2, rtol=1e-6)


def test_state_of_integers_is_not_cut_off() -> None:
    floats = optim.adam_step([1.0], [0.5], [0.0], [0.0], 1)
    for given, expected in zip(optim.adam_step([1.0], [0.5], [0], [0], 1), floats, strict=True):
        assert given.dtype == expected.dtype
        assert given.item() == expected.item() != 0
