"""The tape: what is recorded, replayed, kept and freed."""

from __future__ import annotations

import gc
import inspect
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.core import backward_pass, changes, tape
from extensor.differentiation.custom_function import Function


def leaf(*values: float) -> ex.Tensor:
    return ex.tensor(list(values), dtype=ex.float64, requires_grad=True)


def values(x: Any) -> list[float]:
    return np.asarray(x).tolist()


class Failing(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        raise ZeroDivisionError


def test_backward_adds_to_every_leaf() -> None:
    a, b = leaf(1, 2), leaf(3, 4)
    (a * b + a).sum().backward()
    assert values(a.grad) == [4, 5]
    assert values(b.grad) == [1, 2]
    (a * b).sum().backward()
    assert values(a.grad) == [7, 9]


def test_backward_from_several_tensors() -> None:
    x = leaf(1, 2)
    backward_pass.backward([x * 2, (x * x).sum()], [[1, 1], None])
    assert values(x.grad) == [4, 6]


def test_a_tensor_used_many_times_gets_the_sum() -> None:
    x = leaf(3)
    y = x * x
    (y * y + y + x).sum().backward()
    assert values(x.grad) == [4 * 27 + 2 * 3 + 1]


def test_only_floating_leaves_that_require_grad_get_a_gradient() -> None:
    a, constant = leaf(1, 2), ex.tensor([3.0, 4.0])
    y = (a * constant).sum()
    y.backward()
    assert constant.grad is None
    assert y.grad is None
    assert (constant * constant).is_leaf


def test_a_leaf_can_be_its_own_output() -> None:
    x = leaf(1, 2)
    seed = ex.tensor([5.0, 6.0], dtype=ex.float64)
    x.backward(seed)
    assert values(x.grad) == [5, 6]
    assert not np.shares_memory(x.grad.numpy(), seed.numpy())
    assert values(ex.grad(x, x, seed)) == [5, 6]


@pytest.mark.parametrize(
    ("run", "kind", "text"),
    [
        (
            lambda: (leaf(1, 2) * 2).backward(),
            ValueError,
            "backward: grad_output is needed for a tensor of more than one element, got shape=(2,)",
        ),
        (
            lambda: (leaf(1, 2) * 2).backward([1.0]),
            ValueError,
            "backward: grad_output must have shape (2,), got grad_output_shape=(1,)",
        ),
        (
            lambda: ex.tensor([1.0]).backward(),
            RuntimeError,
            "backward: the tensor does not require grad, so there is nothing to differentiate; "
            "create an input with requires_grad=True",
        ),
        (
            lambda: backward_pass.backward([leaf(1)], [None, None]),
            ValueError,
            "backward: grad_outputs must have one entry for each output, "
            "got outputs=1, grad_outputs=2",
        ),
        (
            lambda: ex.grad(leaf(1).sum(), ex.tensor([1.0])),
            ValueError,
            "grad: inputs must require grad, got index=0",
        ),
        (
            lambda: ex.grad(leaf(1).sum(), [leaf(1)]),
            ValueError,
            "grad: outputs do not depend on an input (allow_unused=True gives None), got index=0",
        ),
        (
            lambda: ex.gradient_eps(-1),
            ValueError,
            "gradient_eps: eps must be 0 or greater, got eps=-1",
        ),
        (
            lambda: ex.tensor([1.0]).register_hook(lambda g: g),
            RuntimeError,
            "register_hook: the tensor does not require grad, so it never gets one",
        ),
    ],
)
def test_errors(run: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        run()
    assert str(caught.value) == text


def test_grad_returns_gradients_and_touches_nothing() -> None:
    a, b = leaf(1, 2), leaf(3, 4)
    middle = a * b
    output = (middle * middle).sum()
    by_a, by_middle = ex.grad(output, [a, middle])
    assert values(by_a) == [18, 64]
    assert values(by_middle) == [6, 16]
    assert a.grad is None
    assert b.grad is None
    assert ex.grad((a * 2).sum(), (a, b), allow_unused=True)[1] is None


def test_grad_of_a_tensor_leaves_what_made_it() -> None:
    x = leaf(1, 2)
    middle = x * x
    assert values(ex.grad((middle * 3).sum(), middle)) == [3, 3]
    middle.sum().backward()
    assert values(x.grad) == [2, 4]


def test_the_graph_is_freed_unless_retained() -> None:
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert values(x.grad) == [4, 8]
    for again in (y.backward, lambda: ex.grad(y, x), lambda: (y * 2).backward()):
        with pytest.raises(RuntimeError, match="multiply_backward: an earlier backward pass freed"):
            again()


def test_a_freed_graph_says_what_to_do() -> None:
    x = leaf(1, 2)
    early = ex.exp(x)
    early.sum().backward()
    with pytest.raises(RuntimeError) as caught:
        early.sum().backward()
    assert str(caught.value) == (
        "exp_backward: an earlier backward pass freed what exp saved; compute exp again before each "
        "pass (inside the loop), or give retain_graph=True to the earlier ones"
    )


@pytest.mark.parametrize(
    "early",
    [
        lambda x: x.reshape(2, 1),
        lambda x: x.astype(ex.float32),
        lambda x: x + 1.0,
        lambda x: -x.unsqueeze(0).broadcast_to((3, 2)),
        lambda x: x[[0, 0, 1]],
        lambda x: ex.stack([x, x]),
        lambda x: ex.split(x, 2)[1],
        lambda x: ex.pad(x, 1),
        lambda x: x.clone(),
    ],
)
def test_what_keeps_no_tensor_survives_a_backward_pass(early: Any) -> None:
    x = leaf(1, 2)
    once = early(x)
    ex.sum(once * once).backward()
    first = values(x.grad)
    ex.sum(once * once).backward()
    assert values(x.grad) == [2 * g for g in first]


def test_a_gradient_never_misses_a_freed_part() -> None:
    x = leaf(1, 2)
    middle = x * 2
    middle.sum().backward()
    with pytest.raises(RuntimeError, match="multiply_backward: an earlier backward pass freed"):
        ex.grad((middle + x).sum(), x)
    assert values(ex.grad((middle + x).sum(), middle)) == [1, 1]


def test_create_graph_to_third_order() -> None:
    x = leaf(2, 3)
    y = (x * x * x * x).sum()
    first = ex.grad(y, x, create_graph=True)
    second = ex.grad(first.sum(), x, create_graph=True)
    third = ex.grad(second.sum(), x, create_graph=True)
    assert values(first) == [32, 108]
    assert values(second) == [48, 108]
    assert values(third) == [48, 72]
    assert values(ex.grad(third.sum(), x)) == [24, 24]


def test_backward_with_create_graph_can_be_differentiated() -> None:
    x = leaf(2, 3)
    (x * x * x).sum().backward(create_graph=True)
    first = x.grad
    x.zero_grad()
    assert first is not None
    first.sum().backward()
    assert values(x.grad) == [12, 18]
    assert not x.grad.requires_grad


def test_gradients_without_create_graph_are_not_recorded() -> None:
    x = leaf(2, 3)
    gradient = ex.grad((x * x).sum(), x)
    assert not gradient.requires_grad
    assert gradient.is_leaf


def test_hooks_see_and_replace_gradients() -> None:
    x = leaf(1, 2)
    middle = x * 3
    seen = []
    middle.register_hook(lambda g: seen.append(values(g)))
    remove = middle.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)
    (middle * 2).sum().backward(retain_graph=True)
    assert seen == [[2, 2]]
    assert values(x.grad) == [61, 61]
    remove()
    assert values(ex.grad((middle * 2).sum(), x)) == [7, 7]
    assert values(ex.grad((middle * 2).sum(), middle)) == [2, 2]


def test_a_hook_runs_once_with_the_whole_gradient() -> None:
    x = leaf(1)
    seen = []
    x.register_hook(lambda g: seen.append(values(g)))
    (x * 2 + x * 3).sum().backward()
    assert seen == [[5]]


def test_a_hook_must_keep_the_shape() -> None:
    x = leaf(1, 2)
    x.register_hook(lambda g: g.sum())
    with pytest.raises(ValueError, match=r"a hook must return a gradient of shape \(2,\)"):
        x.sum().backward()
    assert x.grad is None


def test_what_a_hook_keeps_is_not_the_memory_of_a_gradient() -> None:
    x = leaf(1, 2)
    kept: list[Any] = []
    middle = x + 0.0
    middle.register_hook(kept.append)
    x.register_hook(kept.append)
    (middle * 2).sum().backward()
    for tensor in kept:
        assert not np.shares_memory(tensor.numpy(), x.grad.numpy())


def test_leaves_never_share_gradient_memory() -> None:
    for create_graph in (False, True):
        a, b, c = leaf(1, 2), leaf(3, 4), leaf(5, 6)
        seed = ex.tensor([1.0, 1.0], dtype=ex.float64)
        (a + b + c).backward(seed, create_graph=create_graph)
        (a + b).backward(seed)
        arrays = [a.grad.numpy(), b.grad.numpy(), c.grad.numpy(), seed.numpy()]
        for i, first in enumerate(arrays):
            assert first.flags.writeable
            for second in arrays[i + 1 :]:
                assert not np.shares_memory(first, second)


def test_a_gradient_is_no_view_and_not_read_only() -> None:
    x = ex.tensor(np.ones((3, 4)), requires_grad=True)
    x.sum().backward()
    assert x.grad.numpy().flags.writeable
    assert x.grad.numpy().flags.owndata


def test_no_grad_and_enable_grad() -> None:
    x = leaf(1)
    with ex.no_grad():
        assert not ex.is_grad_enabled()
        assert not (x * 2).requires_grad
        with ex.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert ex.is_grad_enabled()

    @ex.no_grad()
    def plain(depth: int) -> bool:
        return plain(depth - 1) if depth else (x * 2).requires_grad

    @ex.enable_grad()
    def recorded() -> bool:
        return (x * 2).requires_grad

    assert not plain(3)
    assert ex.is_grad_enabled()
    with ex.no_grad():
        assert recorded()
    with pytest.raises(ZeroDivisionError), ex.no_grad():
        raise ZeroDivisionError
    assert ex.is_grad_enabled()


def test_one_context_can_be_entered_again() -> None:
    off = ex.no_grad()
    with off, off:
        assert not ex.is_grad_enabled()
    assert ex.is_grad_enabled()


def test_modes_belong_to_a_thread() -> None:
    seen = []
    with ex.no_grad():
        thread = threading.Thread(target=lambda: seen.append(ex.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_threads_build_and_replay_their_own_graphs() -> None:
    results: dict[int, list[float]] = {}

    def work(number: int) -> None:
        x = leaf(number, number + 1)
        y = x
        for _ in range(200):
            y = y * 1.0 + x
        y.sum().backward()
        results[number] = values(x.grad)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [201, 201] for i in range(4)}


def test_gradient_eps_reaches_the_rules() -> None:
    x = leaf(0)
    with ex.gradient_eps(0):
        ex.log(x).sum().backward()
    assert values(x.grad) == [float("inf")]
    x.zero_grad()
    ex.log(x).sum().backward()
    assert values(x.grad) == [1e10]


def test_a_long_chain_needs_no_recursion() -> None:
    x = leaf(1)
    y = x
    for _ in range(100_000):
        y = ex.identity(y)
    assert values(ex.grad(y, x, retain_graph=True)) == [1]
    y.backward()
    assert values(x.grad) == [1]


def test_a_long_chain_that_was_never_replayed_is_freed() -> None:
    y = leaf(1) * 1.0
    assert y._node is not None
    rule = y._node.rule
    for _ in range(100_000):
        # As recorded by a rule that keeps its input: through the tensor and through the parent.
        node = tape.Node(rule, (y,), (y._node,))
        y = y.detach()
        tape.attach(node, [y])
    watched = weakref.ref(y)
    del y, node
    assert watched() is None


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collector")
def test_nothing_waits_for_the_garbage_collector() -> None:
    x = leaf(1, 2)
    middle = ex.exp(x) * x
    output = ex.softmax(middle, axis=0).sum()
    watched = [weakref.ref(changes.owner(t.numpy())) for t in (middle, output)]
    del middle, output
    assert [r() for r in watched] == [None, None]

    output = (ex.exp(x) * ex.tanh(x)).sum()
    output.backward()
    ex.grad(ex.grad((ex.exp(x) * x).sum(), x, create_graph=True).sum(), x)
    del output
    assert gc.collect() == 0


@pytest.mark.usefixtures("no_collector")
def test_memory_is_freed_as_backward_goes() -> None:
    x = leaf(1, 2)
    early = ex.exp(x)
    watched = weakref.ref(early._array)
    late = ex.exp(early * 1.0)
    watched_late = weakref.ref(late._array)
    alive = []
    # When the gradient of the early tensor is known, the late one must be gone.
    early.register_hook(lambda g: alive.append((watched() is None, watched_late() is None)))
    output = late.sum()
    del early, late
    output.backward()
    assert alive == [(False, True)]
    assert watched() is None


@pytest.mark.usefixtures("no_collector")
def test_a_kept_loss_keeps_nothing_else() -> None:
    x = leaf(1, 2)
    middle = ex.exp(x)
    watched = weakref.ref(middle._array)
    loss = (middle * middle).sum()
    del middle
    loss.backward()
    assert watched() is None
    (multiply,) = loss._node.parents
    assert multiply.parents == ()


def test_a_change_in_place_is_found_by_name() -> None:
    x, w = leaf(1, 2), ex.tensor([3.0, 4.0], dtype=ex.float64)
    y = (x * w).sum()
    w[0] = 5.0
    with pytest.raises(RuntimeError) as caught:
        y.backward()
    assert str(caught.value) == (
        "multiply_backward: a tensor of shape (2,) that multiply saved was changed in place before "
        "the backward pass; change a clone, or use x.at[i].set(v)"
    )
    assert x.grad is None


def test_a_change_through_a_view_or_of_an_output_is_found() -> None:
    x = leaf(1, 2)
    w = ex.tensor(np.ones((3, 2)))
    y = (x * ex.reshape(ex.reshape(w, (6,)), (3, 2))).sum()
    w[0] = 5.0
    with pytest.raises(RuntimeError, match="multiply saved was changed in place"):
        y.backward()
    output = ex.exp(x)
    with ex.no_grad():
        output[0] = 1.0
    with pytest.raises(RuntimeError, match="exp saved was changed in place"):
        output.sum().backward()


def test_a_change_of_something_else_is_no_error() -> None:
    x, other = leaf(1, 2), ex.tensor([3.0, 4.0])
    y = (x * x).sum()
    other[0] = 5.0
    with ex.no_grad():
        z = (x * 2).sum()
    x.detach().clone()[0] = 7.0
    y.backward()
    assert values(x.grad) == [2, 4]
    assert z.item() == 6


def test_a_change_before_recording_is_no_error() -> None:
    x, w = leaf(1, 2), ex.tensor([3.0, 4.0], dtype=ex.float64)
    w[0] = 5.0
    (x * w).sum().backward()
    assert values(x.grad) == [5, 4]


def test_detect_anomaly_names_both_lines_of_a_change() -> None:
    x, w = leaf(1, 2), ex.tensor([3.0, 4.0], dtype=ex.float64)
    frame = inspect.currentframe()
    assert frame is not None
    with ex.detect_anomaly():
        line = frame.f_lineno + 1
        y = x * w
        w[0] = 5.0
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert f"(recorded at {__file__}:{line}, changed at {__file__}:{line + 1})" in str(caught.value)


def test_detect_anomaly_stops_at_the_first_nan() -> None:
    x = leaf(0, 1)
    frame = inspect.currentframe()
    assert frame is not None
    with ex.detect_anomaly(), ex.gradient_eps(0):
        line = frame.f_lineno + 1
        y = ex.sqrt(x) * ex.tensor([0.0, 1.0], dtype=ex.float64)
        with pytest.raises(RuntimeError) as caught:
            y.sum().backward()
    assert str(caught.value) == (
        f"sqrt_backward: returned NaN as gradient 0 of a call recorded at {__file__}:{line}"
    )


def test_no_gradient_changes_if_a_rule_fails() -> None:
    a, b = leaf(1, 2), leaf(3, 4)
    (a * 1.0).sum().backward()
    before = a.grad
    y = (Failing.apply(a) + b * a).sum()
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert a.grad is before
    assert values(a.grad) == [1, 1]
    assert b.grad is None


def test_unneeded_gradients_are_not_computed() -> None:
    a, b = leaf(1, 2), leaf(3, 4)
    y = Failing.apply(a) + b * 2
    assert values(ex.grad(y.sum(), b)) == [2, 2]


def test_requires_grad_can_be_set_only_on_leaves() -> None:
    x = leaf(1)
    y = x * 2
    with pytest.raises(RuntimeError, match="requires_grad: can only be set on a leaf tensor"):
        y.requires_grad = False
    x.requires_grad = False
    assert not (x * 2).requires_grad
