"""Computing again instead of keeping."""

from __future__ import annotations

import gc
import threading
import weakref
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.differentiation.recomputation import checkpoint
from extensor.gradcheck import check_gradient


def leaf(*values: float) -> ex.Tensor:
    return ex.tensor(list(values), dtype=ex.float64, requires_grad=True)


def same(first: Any, second: Any) -> None:
    for a, b in zip(first, second, strict=True):
        assert a.numpy().tobytes() == b.numpy().tobytes()


def test_the_same_bits_with_and_without() -> None:
    def gradients(run: Any) -> Any:
        x, w = leaf(0.3, 0.7), leaf(1.5, -2.0)
        middle = x * x
        # Uses an argument, a captured leaf and a captured tensor from before, some of them twice.
        y = run(lambda a: ex.tanh(a * w) * middle + ex.exp(a), middle)
        z = run(lambda a, scale: a * w * scale, y, scale=3.0)
        return ex.grad(z.sum(), [x, w, middle])

    same(gradients(checkpoint), gradients(lambda fn, *a, **k: fn(*a, **k)))


def test_backward_reaches_captured_parameters() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    checkpoint(lambda x: x * w, x).sum().backward()
    assert x.grad.tolist() == [3, 4]
    assert w.grad.tolist() == [1, 2]


def test_higher_orders() -> None:
    x = np.array([0.3, 0.7, -1.2])
    assert check_gradient(lambda x: checkpoint(lambda x: ex.exp(x) * x, x), x, order=3)


def test_nested() -> None:
    w = leaf(1.5, -2.0)

    def inner(x: Any) -> Any:
        return ex.sin(x) * w

    def outer(x: Any) -> Any:
        return checkpoint(inner, checkpoint(inner, x)) * x

    def plain(x: Any) -> Any:
        return inner(inner(x)) * x

    x = leaf(0.3, 0.7)
    same(
        ex.grad(checkpoint(outer, x).sum(), [x, w]),
        ex.grad(plain(x).sum(), [x, w]),
    )
    assert check_gradient(lambda x: checkpoint(outer, x), np.array([0.3, 0.7]), order=2)


def test_any_structure_of_outputs() -> None:
    pair = namedtuple("pair", "first rest")
    x = leaf(1, 2)
    y = checkpoint(lambda x: pair(x * 2, {"a": [x * 3, x], "b": "text", "c": x.detach()}), x)
    assert isinstance(y, pair)
    assert y.rest["b"] == "text"
    assert y.rest["a"][1] is x
    (y.first + y.rest["a"][0] * 10).sum().backward()
    assert x.grad.tolist() == [32, 32]


def test_one_tensor_returned_twice_is_still_one() -> None:
    def twice(x: Any) -> Any:
        y = x * x
        return y, y

    x = leaf(1, 2)
    first, second = checkpoint(twice, x)
    (first + second).sum().backward()
    assert x.grad.tolist() == [4, 8]


def test_only_used_outputs_are_differentiated() -> None:
    x = leaf(1, 2)
    first, _ = checkpoint(lambda x: (x * x, ex.exp(x)), x)
    first.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_without_recording_it_is_a_plain_call() -> None:
    x = ex.tensor([1.0, 2.0])
    assert checkpoint(lambda x: x * x, x).is_leaf
    with ex.no_grad():
        assert checkpoint(lambda x: x * x, leaf(1)).is_leaf
    assert checkpoint(lambda: "text") == "text"


def test_nothing_inside_is_kept() -> None:
    gc.collect()
    gc.disable()
    try:
        inside = []

        def fn(x: Any) -> Any:
            y = ex.exp(x)
            inside.append(weakref.ref(y.numpy()))
            return y * y

        x = leaf(1, 2)
        output = checkpoint(fn, x)
        assert inside[0]() is None
        output.sum().backward()
        assert len(inside) == 2
        assert inside[1]() is None
        del output
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_fn_is_not_run_again_for_gradients_nobody_needs() -> None:
    calls = []
    x, other = leaf(1, 2), leaf(3, 4)

    def fn(x: Any) -> Any:
        calls.append(1)
        return x * x

    y = checkpoint(fn, x) + other
    ex.grad(y.sum(), other)
    assert len(calls) == 1


def test_hooks_run_once() -> None:
    seen = []
    x = leaf(1, 2)
    x.register_hook(lambda g: seen.append("leaf"))
    middle = x * 2
    middle.register_hook(lambda g: seen.append("middle"))

    def fn(y: Any) -> Any:
        inside = y * 3
        inside.register_hook(lambda g: seen.append("inside"))
        return inside * x

    output = checkpoint(fn, middle)
    output.register_hook(lambda g: seen.append("output"))
    output.sum().backward()
    assert seen == ["output", "inside", "middle", "leaf"]


def test_the_graph_around_is_freed_and_can_be_retained() -> None:
    x = leaf(1, 2)
    y = checkpoint(lambda x: x * x, x * 1.0).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match="an earlier backward pass freed"):
        y.backward()


def test_a_change_in_place_of_what_fn_uses_is_found() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    y = checkpoint(lambda x: x * w, x).sum()
    with ex.no_grad():
        w[0] = 9.0
    with pytest.raises(RuntimeError, match="that checkpoint saved was changed in place"):
        y.backward()


def test_fn_must_compute_the_same_again() -> None:
    x = leaf(1, 2)
    shapes = iter([2, 1])
    y = checkpoint(lambda x: ex.reshape(x * x, (-1, next(shapes))), x)
    with pytest.raises(ValueError, match="checkpoint: fn must compute the same") as caught:
        y.sum().backward()
    assert str(caught.value) == (
        "checkpoint: fn must compute the same again, the first time it was float64(1, 2) of sum 5.0, "
        "got outputs='float64(2, 1) of sum 5.0'"
    )


@pytest.mark.parametrize("own", [False, True])
def test_random_numbers_are_the_same_again(own: bool) -> None:
    generator = ex.random.Generator(3) if own else ex.random.default_generator
    ex.random.manual_seed(3)
    x = leaf(*[1.0] * 100)

    def fn(x: Any) -> Any:
        inner = checkpoint(lambda x: ex.dropout(x, 0.5, generator=generator), x)
        return inner * ex.random.rand(100, generator=generator)

    y = checkpoint(fn, x)
    ex.random.rand(7, generator=generator)
    state = generator.get_state()
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert generator.get_state() == state


def test_random_numbers_of_other_threads_do_not_come_between() -> None:
    others = iter([threading.Thread(target=lambda: ex.random.rand(64))])

    def fn(x: Any) -> Any:
        first = ex.dropout(x)
        for other in others:  # only the first time
            other.start()
            other.join()
        return ex.dropout(first)

    x = leaf(*[1.0] * 100)
    y = checkpoint(fn, x)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_a_function_that_draws_more_the_second_time_is_refused() -> None:
    times = iter([1, 2])
    y = checkpoint(lambda x: x * sum(ex.random.rand(2) for _ in range(next(times))), leaf(1, 2))
    with pytest.raises(ValueError, match=r"^rand: a function that is run again must not draw more"):
        y.sum().backward()


def test_a_function_that_changes_what_it_uses_is_refused() -> None:
    c, b = ex.ones(2, dtype="float64"), [1.0]

    def changes_argument(x: Any, c: Any) -> Any:
        c *= 2
        return x * c

    def changes_surroundings(x: Any, _: Any) -> Any:
        b[0] += 1
        return x * b[0]

    for fn in (changes_argument, changes_surroundings):
        y = checkpoint(fn, leaf(1, 2), c)
        with pytest.raises((ValueError, RuntimeError), match=r"the same again|changed in place"):
            y.sum().backward()
