# ruff: noqa: NPY002
"""Trying a model leaves no trace in it, whatever the model holds."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import ArrayDataset, DataLoader
from extensor.nn.preservation import iterator_positions, preserve_state
from extensor.train import Trainer
from extensor.train.batch_sharding import can_share
from extensor.train.rehearsal import check_ready, rehearse

X = np.random.default_rng(0).normal(size=(24, 3)).astype(np.float32)
SHARED = ex.nn.BatchNorm1d(4)


class Holder:
    def __init__(self, norm: ex.nn.Module) -> None:
        self.norm = norm


class Net(ex.nn.Module):
    """Its helpers run this very module, also in a copy, as functions are not copied."""

    def __init__(self) -> None:
        self.linear = ex.nn.Linear(3, 4)
        self.norm = ex.nn.BatchNorm1d(4)
        self.noise = ex.random.Generator(3)
        self.calls = {"count": 0, "seen": [0]}
        held, unknown, count = Holder(ex.nn.BatchNorm1d(4)), ex.nn.BatchNorm1d(4), 0
        self.others = (held.norm, unknown)

        def block(x: Any) -> Any:
            nonlocal count
            count += 1
            self.calls["count"] += count
            self.calls["seen"].append(count)  # type: ignore[attr-defined]
            x = SHARED(unknown(held.norm(self.norm(self.linear(x)))))
            ex.random.rand(2)
            noise = ex.random.rand(4, generator=self.noise)
            return x + noise * float(np.random.normal()) * random.random() + count

        self.block = block

    def forward(self, x: Any) -> Any:
        with ex.no_grad():
            self.linear.weight *= 0.5
        return self.block(x)


def traces(net: Net) -> list[Any]:
    """All that a call of the model changes."""
    modules = [net, *net.others, SHARED]
    tensors = [x for module in modules for x in (*module.parameters(), *module.buffers())]
    bits = [np.asarray(x.detach()).tobytes() for x in tensors]
    cells = [repr(cell.cell_contents) for cell in net.block.__closure__ or ()]
    globals_ = [str(random.getstate()), str(np.random.get_state())]
    counts = [dict(net.calls), list(net.calls["seen"]), cells[0]]
    chance = [net.noise.get_state(), ex.random.get_state(), *globals_]
    return [bits, counts, chance, [module.training for module in net.modules()]]


def step_of(net: Net) -> Any:
    optimizer = ex.optim.SGD(net.parameters(), lr=0.1)
    return Trainer(net, ex.mse_loss, optimizer, callbacks=[], micro_batches=2).take_step


BATCH = (ex.tensor(X[:8]), ex.zeros((8, 4)))
LOADER = DataLoader(ArrayDataset(X, np.zeros((24, 4), np.float32)), 8)


@pytest.mark.parametrize(
    "use",
    [
        lambda net: rehearse(step_of(net), BATCH, "train"),
        lambda net: can_share(step_of(net), LOADER),
        lambda net: net.summary(BATCH[0]),
        lambda net: ex.train.tune_lr(
            Trainer(net, ex.mse_loss, ex.optim.SGD(net.parameters(), lr=0.1), callbacks=[]),
            LOADER,
            steps=10,
        ),
    ],
    ids=["readiness", "joint evaluation", "summary", "tune_lr"],
)
def test_rehearsals_leave_no_trace(use: Callable[[Net], Any]) -> None:
    net = Net()
    np.random.normal()  # so that NumPy holds another one in reserve
    before = traces(net)
    use(net)
    assert traces(net) == before


def test_calling_the_model_does_leave_traces() -> None:
    net = Net()
    before = traces(net)
    net(BATCH[0])
    for now, then in zip(traces(net)[:3], before[:3], strict=True):
        assert all(x != y for x, y in zip(now, then, strict=True) if not isinstance(x, bytes))
        assert now != then


def test_identities_and_gradients_are_put_back() -> None:
    net = ex.nn.Sequential(ex.nn.Linear(3, 2), ex.nn.BatchNorm1d(2))
    linear, norm = net.children()
    weight, mean = linear.weight, norm.running_mean  # type: ignore[attr-defined]
    net(BATCH[0]).sum().backward()
    gradient, bits = weight.grad, np.asarray(weight.grad).tobytes()
    memory = weight._array
    with preserve_state(net):
        net.to("float64").eval()
        linear.weight = ex.nn.Parameter(ex.zeros((2, 3)))
        norm.running_mean = ex.ones(2)
        gradient += 1
        weight.requires_grad = False
        linear.extra = 1
    assert linear.weight is weight  # type: ignore[attr-defined]
    assert weight._array is memory
    assert weight.requires_grad
    assert weight.grad is gradient
    assert np.asarray(gradient).tobytes() == bits
    assert norm.running_mean is mean  # type: ignore[attr-defined]
    assert not hasattr(linear, "extra")
    assert net.training


def test_a_graph_that_is_recorded_stays_valid() -> None:
    net = ex.nn.Sequential(ex.nn.Linear(3, 2), ex.nn.ReLU())
    loss = net(BATCH[0]).sum()
    net.summary(BATCH[0])
    loss.backward()


@pytest.mark.parametrize("micro_batches", [None, 2])
def test_batch_norm_in_a_helper_counts_the_steps_alone(micro_batches: int | None) -> None:
    class Helped(ex.nn.Module):
        def __init__(self) -> None:
            self.lin, self.bn = ex.nn.Linear(3, 4), ex.nn.BatchNorm1d(4)
            self.block = lambda x: ex.relu(self.bn(self.lin(x)))

        def forward(self, x: Any) -> Any:
            return self.block(x)

    net = Helped()
    optimizer = ex.optim.SGD(net.parameters(), lr=0.1)
    trainer = Trainer(net, ex.mse_loss, optimizer, callbacks=[], micro_batches=micro_batches)
    trainer.fit(LOADER, 2, LOADER)
    assert trainer.step == 6
    assert int(net.bn.num_batches_tracked) == 6


def test_a_step_that_is_repeated_to_find_its_nan_changes_nothing_more() -> None:
    net = ex.nn.Sequential(ex.nn.Linear(3, 4), ex.nn.BatchNorm1d(4))
    norm = list(net.children())[1]
    optimizer = ex.optim.SGD(net.parameters(), lr=0.1)

    def loss(output: Any, target: Any) -> Any:
        return ex.log(output - output).sum()

    with pytest.raises(ex.train.NotFiniteError, match="log gave infinity"):
        Trainer(net, loss, optimizer, callbacks=[]).fit(LOADER, 1)
    assert int(norm.num_batches_tracked) == 1  # type: ignore[attr-defined]


CALLS = 0
SEEN: list[int] = [1]
TABLE: dict[str, Any] = {"weights": [1.0]}
RUNNING = np.zeros(2)


def count_globally(output: Any, target: Any) -> Any:
    global CALLS, MADE
    CALLS += 1
    MADE = CALLS  # type: ignore[name-defined]
    SEEN.append(CALLS)
    TABLE["weights"][0] += 1
    TABLE[f"{CALLS}"] = CALLS
    RUNNING[...] += 1
    return annealed(output, target, CALLS)


def annealed(output: Any, target: Any, calls: int) -> Any:
    return ex.mse_loss(output, target) + min(1.0, calls / 8) * (output**2).mean()


def count_in_attribute(output: Any, target: Any) -> Any:
    vars(count_in_attribute)["calls"] = vars(count_in_attribute).get("calls", 0) + 1
    return annealed(output, target, vars(count_in_attribute)["calls"])


class Annealed:
    def __init__(self) -> None:
        self.calls, self.history = 0, [0.0]

    def __call__(self, output: Any, target: Any) -> Any:
        self.calls += 1
        self.history.append(self.calls)
        return annealed(output, target, self.calls)

    def by_method(self, output: Any, target: Any) -> Any:
        return self(output, target)


def count_in_closure() -> tuple[Any, Callable[[], Any]]:
    calls, history = 0, {"calls": [0]}

    def loss(output: Any, target: Any) -> Any:
        nonlocal calls
        calls += 1
        history["calls"].append(calls)
        return annealed(output, target, calls)

    return loss, lambda: (calls, repr(history))


def global_state() -> Any:
    return CALLS, list(SEEN), repr(TABLE), RUNNING.tolist(), "MADE" in globals()


@pytest.mark.parametrize("options", [{"accumulate": 2}, {"micro_batches": 2}, {}], ids=str)
@pytest.mark.parametrize("kind", ["global", "attribute", "closure", "object", "method"])
def test_rehearsals_leave_no_trace_in_the_loss(kind: str, options: dict[str, Any]) -> None:
    one = Annealed()
    loss, state = {
        "global": (count_globally, global_state),
        "attribute": (count_in_attribute, lambda: dict(vars(count_in_attribute))),
        "closure": count_in_closure(),
        "object": (one, lambda: (one.calls, list(one.history))),
        "method": (one.by_method, lambda: (one.calls, list(one.history))),
    }[kind]
    before = state()
    model = ex.nn.Linear(3, 4)
    trainer = Trainer(
        model, loss, ex.optim.SGD(model.parameters(), lr=0.1), callbacks=[], **options
    )
    check_ready(trainer, LOADER, LOADER)
    can_share(trainer.take_step, LOADER)
    assert state() == before
    with preserve_state(model, loss):
        loss(model(BATCH[0]), BATCH[1])
        assert state() != before
    assert state() == before


def test_only_arrays_that_changed_are_written_to() -> None:
    strided = np.arange(12.0).reshape(3, 4).T
    kept = [np.arange(4 << 20, dtype=np.float32), np.array(1.0), np.zeros(0), strided]
    model = ex.nn.Linear(3, 4)
    model.arrays = [x.copy(order="K") for x in kept]
    with preserve_state(model):
        for array in model.arrays:  # type: ignore[attr-defined]
            array[...] += 1
    for array, wanted in zip(model.arrays, kept, strict=True):  # type: ignore[attr-defined]
        assert array.tobytes() == wanted.tobytes()
    locked = model.arrays[0]  # type: ignore[attr-defined]
    with preserve_state(model):
        locked.flags.writeable = False  # writing would raise


@pytest.mark.parametrize("place", [0, 3 << 20, -1])
def test_a_change_anywhere_in_a_large_array_is_undone(place: int) -> None:
    model = ex.nn.Linear(3, 4)
    model.table = np.zeros(3_500_000, np.float32)
    with preserve_state(model):
        model.table[place] = -0.0  # type: ignore[attr-defined]
    assert not np.signbit(model.table).any()  # type: ignore[attr-defined]


def test_a_large_array_is_copied_once() -> None:
    model = ex.nn.Linear(3, 4)
    model.table = np.zeros(32 << 20, np.uint8)
    tracemalloc.start()
    try:
        with preserve_state(model):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 48 << 20


class _Countdown:
    """An iterator of the user's, which holds itself too."""

    def __init__(self) -> None:
        self.left = 3
        self.own = self

    def __iter__(self) -> _Countdown:
        return self

    def __next__(self) -> int:
        self.left -= 1
        return self.left


def _count_up() -> Iterator[int]:
    yield from range(9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: itertools.cycle([1.0, 0.5, 2.0]),
        lambda: itertools.chain([1], [2]),
        lambda: iter([1, 2]),
        lambda: iter({1: 2, 3: 4}),
        lambda: enumerate("ab"),
        lambda: zip([1, 2], [3, 4], strict=True),
        _count_up,
        _Countdown,
    ],
)
def test_the_position_of_an_iterator_tells_whether_it_was_read(make: Any) -> None:
    iterator = make()
    before = iterator_positions(lambda: next(iterator))
    assert len(before) == 1
    assert iterator_positions(lambda: next(iterator)) == before
    next(iterator)
    assert iterator_positions(lambda: next(iterator)) != before


class _Restless(_Countdown):
    descriptions = 0

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.descriptions += 1
        return _Restless, (self.descriptions,)


def test_an_iterator_that_describes_one_position_in_two_ways_is_left_out() -> None:
    iterator = _Restless()
    assert iterator_positions(lambda: next(iterator)) == []
