"""Values that change between calls: which cost a trace, and which are inputs of each run."""

from __future__ import annotations

import math
import types
from typing import Any

import numpy as np
import pytest

import extensor as ex

X = np.linspace(0.5, 1.5, 6, dtype="float64")


def test_a_hook_of_another_closure_is_followed() -> None:
    def scaling(table: Any) -> Any:
        return lambda grad: grad * table["s"]

    weight, tables = ex.tensor(X, requires_grad=True), [{"s": 2.0}, {"s": 3.0}]

    @ex.compile
    def gradient(x: Any) -> None:
        weight.grad = None
        (weight * x).sum().backward()

    for table in tables:
        handle = weight.register_hook(scaling(table))
        for factor in (table["s"], table["s"], 20.0):
            table["s"] = factor
            gradient(X)
            np.testing.assert_array_equal(weight.grad.numpy(), factor * X)
        handle.remove()


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_zeros_are_told_apart(zero: float) -> None:
    compiled = ex.compile(lambda x, a: 1 / (x * a))
    compiled(X, -zero)
    assert float(compiled(X, zero).numpy()[0]) == np.copysign(np.inf, zero)


def test_equal_values_that_are_set_again_take_no_memory() -> None:
    holder = types.SimpleNamespace(beta=1.0)
    compiled = ex.compile(lambda x: x * holder.beta)
    for _ in range(20):
        holder.beta = float("1.0")
        compiled(X)
    assert compiled.traces == 1
    assert len(compiled._alive) <= 3


@pytest.mark.parametrize("name", ["SGD", "RMSprop"])
def test_momentum_that_is_turned_on_between_calls_is_taken(name: str) -> None:
    ends = []
    for is_compiled in (True, False):
        weight = ex.tensor(X, requires_grad=True)
        optimizer = getattr(ex.optim, name)([weight], lr=0.1, momentum=0.0)

        def step(x: Any, weight: Any = weight, optimizer: Any = optimizer) -> None:
            optimizer.zero_grad()
            (weight * weight * x).sum().backward()
            optimizer.step()

        chosen = ex.compile(step) if is_compiled else step
        for momentum in (0.0, 0.0, 0.9, 0.9, 0.9):
            optimizer.param_groups[0]["momentum"] = momentum
            chosen(ex.tensor(X))
        ends.append(weight.detach().numpy())
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_the_decay_of_an_average_may_change() -> None:
    ends = []
    for is_compiled in (True, False):
        weight = ex.tensor(X)
        ema = ex.optim.EMA([weight], decay=0.5)

        def step(ema: Any = ema, weight: Any = weight) -> None:
            with ex.no_grad():
                weight[...] = weight * 2
            ema.update()

        chosen = ex.compile(step) if is_compiled else step
        for decay in (0.5, 0.5, 0.9, 0.1):
            ema.decay = decay
            chosen()
        ends.append(ema.averages[0].numpy())
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)


def test_a_rate_that_the_loss_reads_follows_its_schedule() -> None:
    ends, traces = [], 0
    for is_compiled in (True, False):
        weight = ex.tensor(X, requires_grad=True)
        optimizer = ex.optim.SGD([weight], lr=0.1)
        schedule = ex.optim.ExponentialLR(optimizer, 0.5)

        def step(x: Any, weight: Any = weight, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (weight * x).sum() * optimizer.param_groups[0]["lr"]
            loss.backward()
            optimizer.step()
            return loss

        chosen = ex.compile(step) if is_compiled else step
        losses = []
        for _ in range(5):
            losses.append(float(chosen(ex.tensor(X))))
            schedule.step()
        ends.append(losses)
        traces = chosen.traces if is_compiled else traces
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-12)
    assert traces == 1


def test_a_counter_named_like_a_method_costs_no_trace() -> None:
    holder = types.SimpleNamespace(beta=2.0, count=0)
    compiled = ex.compile(lambda x: x * holder.beta * [1, 2].count(1))
    for _ in range(5):
        holder.count += 1
        np.testing.assert_array_equal(compiled(X).numpy(), 2 * X)
    assert compiled.traces == 1


def test_equal_containers_that_are_set_anew_cost_no_trace() -> None:
    holder: Any = types.SimpleNamespace(pair=None, table=None)
    compiled = ex.compile(lambda x: x * holder.pair[0][0] * holder.table["a"][1])
    for _ in range(5):
        holder.pair, holder.table = ([2.0], [1.0]), {"a": (0, 3.0)}
        np.testing.assert_array_equal(compiled(X).numpy(), 6 * X)
    assert compiled.traces == 1
    holder.pair[0][0] = 1.0
    np.testing.assert_array_equal(compiled(X).numpy(), 3 * X)


def test_the_same_items_in_other_lists_are_seen() -> None:
    table: Any = types.SimpleNamespace(rows=[[1.0], [2.0, 3.0]])
    compiled = ex.compile(lambda x: x * len(table.rows[0]))
    np.testing.assert_array_equal(compiled(X).numpy(), X)
    one, two = 1.0, 2.0
    table.rows = [[one, two], [3.0]]
    np.testing.assert_array_equal(compiled(X).numpy(), 2 * X)


def test_the_same_list_twice_is_not_an_equal_one() -> None:
    a, b = [1.0], [2.0]
    table = [a, a, b]
    compiled = ex.compile(lambda x: x * table[1][0])
    np.testing.assert_array_equal(compiled(X).numpy(), X)
    table[1] = b
    np.testing.assert_array_equal(compiled(X).numpy(), 2 * X)


@pytest.mark.parametrize(
    "read",
    [
        lambda a: float(f"{a:.1f}"),
        lambda a: float(str(a)),
        lambda a: float(str([a])[1:-1]),
        lambda a: round(a, 1),
        lambda a: round(a * 4),
        lambda a: math.trunc(a * 4),
        lambda a: 2 // a,
    ],
)
def test_a_float_given_may_be_rounded_and_written(read: Any) -> None:
    compiled = ex.compile(lambda x, a: x * read(a))
    for value in (0.5, 0.5, 0.75, 0.5):
        np.testing.assert_allclose(compiled(X, value).numpy(), X * read(value), rtol=1e-12)


def test_a_numpy_function_of_a_float_says_what_to_do() -> None:
    with pytest.raises(
        TypeError, match=r"function of NumPy .*a \*\* 0\.5.*math\.sqrt\(a\)"
    ) as error:
        ex.compile(lambda x, a: x * np.sqrt(a))(X, 0.5)
    assert "np.sqrt(a)" in str(error.value)
    for advice in (lambda x, a: x * a**0.5, lambda x, a: x * math.sqrt(a)):
        np.testing.assert_allclose(ex.compile(advice)(X, 4.0).numpy(), 2 * X)
