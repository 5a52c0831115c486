"""Whoever watches is told of each computation, and changes none of its bits."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest
from calls import arrays_of, as_leaf, call, first_floating, flat
from cases.case import Case
from op_cases import CASES

import extensor as ex
from extensor import _native, nn
from extensor.core import door
from extensor.core.op import OPS


def _run(case: Case, recorded: bool, seed: int) -> list[Any]:
    """The bits of a call's outputs and, where it is recorded, of the gradients of its inputs."""
    ex.random.manual_seed(seed)
    arrays = arrays_of(case, np.random.default_rng(seed), "float32")
    inputs = as_leaf(arrays) if recorded else [_tensors(x) for x in arrays]
    outputs = call(case, inputs)
    results = flat(outputs)
    with_gradient = [x for x in first_floating(outputs, OPS[case.op].rule) if x.requires_grad]
    if with_gradient:
        ex.backward(with_gradient, [ex.cos(x.detach()) for x in with_gradient])
        results += [x.grad for x in flat(inputs) if x.grad is not None]
    return [(str(x.dtype), x.shape, x.numpy().tobytes()) for x in results]


def _tensors(x: Any) -> Any:
    return [_tensors(item) for item in x] if isinstance(x, list) else ex.tensor(x)


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "unrecorded"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_bits_do_not_depend_on_watchers(case: Case, recorded: bool) -> None:
    seen: list[str] = []
    alone = _run(case, recorded, 7)
    with door.watch(lambda computed: seen.append(computed.op)):
        watched = _run(case, recorded, 7)
    assert watched == alone
    assert case.op in seen


def _watched(function: Any) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    names = "op kernel inputs outputs backward rule node module begin end".split()
    with door.watch(
        lambda computed: told.append({name: getattr(computed, name) for name in names})
    ):
        function()
    return told


def test_what_a_forward_tells() -> None:
    x = ex.tensor([1.0, -2.0], requires_grad=True)
    made: list[Any] = []
    (told,) = _watched(lambda: made.append(ex.leaky_relu(x, 0.5)))
    assert told["op"] == "leaky_relu"
    assert told["inputs"][0] is x._array
    assert told["inputs"][1] == 0.5
    assert told["outputs"].tolist() == [1.0, -1.0]
    assert (told["backward"], told["rule"], told["module"]) == (False, None, None)
    assert told["node"] is made[0]._node
    assert 0 < told["begin"] <= told["end"]
    assert told["kernel"] == ("leaky_relu" if door.ENGINE == "native" else None)


def test_nodes_of_the_long_way_and_of_several_outputs() -> None:
    x = ex.tensor([[1.0, 2.0]], requires_grad=True)
    made: list[Any] = []
    told = _watched(lambda: made.append(ex.add(x, np.ones((1, 2)))))  # two dtypes
    assert told[-1]["op"] == "add"
    assert told[-1]["node"] is made[0]._node
    lstm = nn.LSTM(2, 3)
    told = _watched(lambda: made.append(lstm(x[None])))
    node = next(event["node"] for event in told if event["op"] == "lstm")
    assert node.rule.name == "lstm_backward"


def test_what_a_backward_tells() -> None:
    x = ex.tensor([1.0, -2.0], requires_grad=True)
    y = ex.exp(x)
    told = _watched(lambda: y.backward(ex.ones(2)))
    assert {event["rule"] for event in told} == {"exp_backward"}
    assert all(event["backward"] and event["node"] is y._node for event in told)


def test_modules_have_their_paths() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Linear(3, 1)))
    told = _watched(lambda: ex.sum(net(ex.ones((4, 2)))))
    paths = [(event["op"], event["module"]) for event in told]
    assert paths == [("linear", "0"), ("relu", "1.0"), ("linear", "1.1"), ("sum", None)]


def test_steps_and_random_numbers_pass_the_door() -> None:
    parameter = ex.ones(3, requires_grad=True)
    parameter.grad = ex.ones(3)
    optimizer = ex.optim.Adam([parameter])
    assert [event["op"] for event in _watched(optimizer.step)] == ["adam_update"]
    assert [event["op"] for event in _watched(lambda: ex.random.randn(3))] == ["random_normal"]


def test_numbers_seeds_and_writes_pass_the_door() -> None:
    x = ex.ones((2, 2), requires_grad=True)
    assert next(event["op"] for event in _watched(lambda: ex.add(x, np.float64(2)))) == "constant"
    seeds = _watched(lambda: (x[:1, :1] * 3).backward())
    assert "ones_like" in [event["op"] for event in seeds]
    norm = nn.BatchNorm1d(2)
    written = [
        event["inputs"][0] for event in _watched(lambda: norm(x)) if event["op"] == "setitem"
    ]
    assert any(array is norm.running_mean._array for array in written)


def test_an_error_of_a_watcher_is_the_callers() -> None:
    class StopError(Exception):
        pass

    def stop(computed: Any) -> None:
        raise StopError("here")

    with door.watch(stop), pytest.raises(StopError, match="here"):
        ex.exp(ex.ones(2))
    assert ex.exp(ex.zeros(1)).tolist() == [1.0]


def test_what_a_watcher_computes_is_not_told() -> None:
    told: list[str] = []

    def look(computed: Any) -> None:
        told.append(computed.op)
        ex.sum(ex.tensor(computed.outputs))

    with door.watch(look):
        ex.exp(ex.ones(2))
    assert told == ["exp"]


def test_watchers_see_every_thread() -> None:
    threads = set()
    with door.watch(lambda computed: threads.add(threading.get_ident())):
        ex.exp(ex.ones(2))
        other = threading.Thread(target=lambda: ex.exp(ex.ones(2)))
        other.start()
        other.join()
    assert len(threads) == 2


@pytest.mark.parametrize("kept", [False, True], ids=["forgotten", "kept"])
def test_what_was_told_is_let_go(kept: bool) -> None:
    inputs = [ex.ones((2, 2)) for _ in range(3)]
    counts = [sys.getrefcount(x._array) for x in inputs]
    told: list[Any] = []
    with door.watch(told.append if kept else lambda computed: None):
        for _ in range(5):
            ex.where(inputs[0] > 0, inputs[1], inputs[2])
            ex.matmul(inputs[0], inputs[1])
            ex.exp(inputs[2])
    assert bool(told) == kept
    told.clear()
    assert [sys.getrefcount(x._array) for x in inputs] == counts


def test_a_watcher_that_goes_costs_the_next_one_nothing() -> None:
    told: list[str] = []

    def once(computed: Any) -> None:
        told.append("once")
        _native.remove_watcher(once)

    _native.add_watcher(once)
    with door.watch(lambda computed: told.append(computed.op)):
        ex.exp(ex.ones(2))
        ex.sin(ex.ones(2))
    assert told == ["once", "exp", "sin"]
