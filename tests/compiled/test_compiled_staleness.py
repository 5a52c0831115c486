"""Whatever happens between two calls, the next one takes what is there then."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn
from extensor.core.tensor import Tensor

X = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)
SCALE = 2.0


class Pair:
    """The same network and optimizer twice: steps of the one by XLA, of the other here."""

    def __init__(self, make_step: Any, make_optimizer: Any = None, **options: Any) -> None:
        self.sides = []
        for compiled in (True, False):
            ex.random.manual_seed(0)
            net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
            make = make_optimizer or (lambda p: ex.optim.Adam(p, lr=0.05))
            optimizer = make(net.parameters())
            step = make_step(net, optimizer)
            self.sides.append((net, optimizer, ex.compile(step, **options) if compiled else step))

    def each(self, change: Any) -> None:
        for net, optimizer, _ in self.sides:
            change(net, optimizer)

    def step(self, x: Any = X) -> None:
        """One step on both sides, and everything the same."""
        results = []
        for _, _, step in self.sides:
            state = ex.random.get_state()
            results.append((step(ex.tensor(x)), ex.random.get_state()))
            if len(results) == 1:
                ex.random.set_state(state)
        (ours, our_state), (theirs, their_state) = results
        assert our_state == their_state
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-5, atol=1e-7)

    def check(self) -> None:
        (net, optimizer, _), (other, plain, _) = self.sides
        for key, value in other.state_dict().items():
            np.testing.assert_allclose(net.state_dict()[key].numpy(), value.numpy(), atol=1e-5)
        expected, found = plain.state_dict(), optimizer.state_dict()
        assert found.keys() == expected.keys()
        for key, value in expected.items():
            np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-6, err_msg=key)
        for one, two in zip(net.parameters(), other.parameters(), strict=True):
            assert (one.grad is None) == (two.grad is None)
            if two.grad is not None:
                np.testing.assert_allclose(one.grad.numpy(), two.grad.numpy(), rtol=1e-4, atol=1e-6)

    @property
    def traces(self) -> int:
        return int(self.sides[0][2].traces)


def _clearing(net: nn.Module, optimizer: Any) -> Any:
    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (net(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    return step


def _adding(net: nn.Module, optimizer: Any) -> Any:
    """Nobody clears the gradients."""

    def step(x: Tensor) -> Tensor:
        loss = (net(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    return step


def _change_in_place(net: nn.Module, optimizer: Any) -> None:
    with ex.no_grad():
        net[0].weight *= 0.5


def _change_memory(net: nn.Module, optimizer: Any) -> None:
    net[0].weight.detach().numpy()[0] = 3.0


def _load_weights(net: nn.Module, optimizer: Any) -> None:
    net.load_state_dict({key: x.numpy() * 0.9 for key, x in net.state_dict().items()})


def _load_state(net: nn.Module, optimizer: Any) -> None:
    state = optimizer.state_dict()
    doubled = {key: 2 * x if key.endswith((".m", ".v")) else x for key, x in state.items()}
    optimizer.load_state_dict(doubled)


def _change_rate(net: nn.Module, optimizer: Any) -> None:
    optimizer.param_groups[0]["lr"] *= 0.1


def _change_option(net: nn.Module, optimizer: Any) -> None:
    optimizer.param_groups[0]["maximize"] = True


def _change_betas(net: nn.Module, optimizer: Any) -> None:
    optimizer.param_groups[0]["betas"] = (0.5, 0.9)


def _freeze(net: nn.Module, optimizer: Any) -> None:
    net[0].requires_grad_(False)


def _new_parameter(net: nn.Module, optimizer: Any) -> None:
    net[2].bias = nn.Parameter(ex.tensor([1.0, -1.0]))


def _add_group(net: nn.Module, optimizer: Any) -> None:
    net[2].bias = nn.Parameter(ex.tensor([1.0, -1.0]))
    optimizer.add_param_group({"params": [net[2].bias], "lr": 0.5})


def _new_layer(net: nn.Module, optimizer: Any) -> None:
    net[1] = nn.ReLU()


def _set_gradient(net: nn.Module, optimizer: Any) -> None:
    net[0].weight.grad = ex.ones((4, 3))


def _own_step(net: nn.Module, optimizer: Any) -> None:
    (net(ex.tensor(X)) ** 2).sum().backward()
    optimizer.step()


def _module_hook(net: nn.Module, optimizer: Any) -> None:
    net[0].register_forward_hook(lambda module, args, output: output * 3)


def _tensor_hook(net: nn.Module, optimizer: Any) -> None:
    net[0].weight.register_hook(lambda grad: grad * 0.1)


def _new_rates_of_a_schedule(net: nn.Module, optimizer: Any) -> None:
    ex.optim.ExponentialLR(optimizer, 0.5).step()


def _read_everything(net: nn.Module, optimizer: Any) -> None:
    repr(net.state_dict())
    repr(optimizer.state_dict())


def _zero_gradients(net: nn.Module, optimizer: Any) -> None:
    optimizer.zero_grad(set_to_none=False)


def _forget_gradients(net: nn.Module, optimizer: Any) -> None:
    net.zero_grad()


CHANGES = [
    _change_in_place,
    _change_memory,
    _load_weights,
    _load_state,
    _change_rate,
    _change_option,
    _change_betas,
    _freeze,
    _new_parameter,
    _add_group,
    _new_layer,
    _set_gradient,
    _own_step,
    _module_hook,
    _tensor_hook,
    _new_rates_of_a_schedule,
    _read_everything,
    _zero_gradients,
    _forget_gradients,
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("make", [_clearing, _adding])
def test_a_change_between_calls_is_seen(change: Any, make: Any) -> None:
    pair = Pair(make, keep_gradients=True)
    pair.step()
    pair.step()
    pair.each(change)
    pair.step()
    pair.step()
    pair.check()


def test_hooks_that_are_removed_are_gone() -> None:
    pair = Pair(_clearing, keep_gradients=True)
    handles: list[Any] = []
    pair.each(lambda net, _: handles.append(net[0].weight.register_hook(lambda g: g * 5)))
    pair.each(lambda net, _: handles.append(net[0].register_forward_hook(lambda m, a, o: o + 1)))
    pair.step()
    for handle in handles:
        handle.remove()
    pair.step()
    pair.step()
    pair.check()


def test_a_gradient_of_a_graph_from_before_is_added_to() -> None:
    pair = Pair(_adding)
    losses = [(net(ex.tensor(X)) ** 2).sum() for net, _, _ in pair.sides]
    forward = [ex.compile(lambda x, net=net: net(x).detach()) for net, _, _ in pair.sides]
    for each in forward:
        each(X)
    for loss in losses:
        loss.backward()
    pair.step()
    pair.check()


def test_parameters_that_never_get_a_gradient_cost_no_traces() -> None:
    def make(net: nn.Module, optimizer: Any) -> Any:
        def step(x: Tensor) -> Tensor:
            optimizer.zero_grad()
            loss = (net[1](net[0](x)) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        return step

    pair = Pair(make)
    for _ in range(6):
        pair.step()
    pair.each(lambda net, optimizer: net.zero_grad())
    pair.check()
    assert pair.traces <= 2


def test_two_functions_share_parameters_and_optimizers() -> None:
    pair = Pair(_clearing)
    net, optimizer, first = pair.sides[0]
    other, _, theirs = pair.sides[1]
    second = ex.compile(_clearing(net, optimizer))
    evaluate = ex.compile(lambda x: net(x).detach().sum())
    half = ex.tensor(X[:2])
    for _ in range(3):
        pair.step()
        second(half)
        theirs(half)
        np.testing.assert_allclose(
            float(evaluate(X)), float(other(ex.tensor(X)).sum()), rtol=1e-4, atol=1e-5
        )
    pair.each(lambda net, _: net.zero_grad())
    pair.check()
    assert (first.traces, second.traces, evaluate.traces) == (1, 1, 1)


def test_a_copy_of_a_value_outlives_the_step_that_changes_it() -> None:
    target, online = ex.tensor([1.0, 2.0]), ex.tensor([3.0, 4.0])

    @ex.compile
    def follow() -> tuple[Tensor, Tensor]:
        with ex.no_grad():
            before = target.clone()
            target[...] = online
            return before, online.detach()

    @ex.compile
    def grow() -> None:
        with ex.no_grad():
            online[...] = online * 2

    seen = []
    for _ in range(3):
        seen.append(follow())
        grow()
    assert [x.tolist() for x, _ in seen] == [[1, 2], [3, 4], [6, 8]]
    assert [x.tolist() for _, x in seen] == [[3, 4], [6, 8], [12, 16]]
    assert (target.tolist(), online.tolist()) == ([12, 16], [24, 32])


def test_copies_and_pickles_after_compiling_are_of_the_new_values_and_are_their_own() -> None:
    pair = Pair(_clearing)
    pair.step()
    net, optimizer, _ = pair.sides[0]
    copies = [copy.deepcopy((net, optimizer)), pickle.loads(pickle.dumps((net, optimizer)))]
    averages = ex.optim.EMA(net, decay=0.5)
    ex.compile(averages.update)()
    assert type(copy.deepcopy(averages)) is ex.optim.EMA
    for twin, other in copies:
        for one, two in zip(twin.parameters(), net.parameters(), strict=True):
            assert type(one) is nn.Parameter
            np.testing.assert_array_equal(one.numpy(), two.numpy())
        assert type(other._histories[0]) is type(pair.sides[1][1]._histories[0])
        assert other.param_groups[0]["params"][0] is next(iter(twin.parameters()))
        before = net[0].weight.numpy().copy()
        _clearing(twin, other)(ex.tensor(X))
        np.testing.assert_array_equal(net[0].weight.numpy(), before)
    pair.step()
    pair.each(lambda net, _: net.zero_grad())
    pair.check()


def test_a_plain_value_of_the_closure_the_globals_or_a_class_is_seen() -> None:
    global SCALE

    class Options:
        power = 2

    table, factors, shift = {"a": 1.0}, [1.0], 1.0

    def compute(x: Tensor) -> Tensor:
        return x**Options.power * SCALE * table["a"] * factors[0] + shift

    compiled = ex.compile(compute)

    def check() -> None:
        np.testing.assert_allclose(compiled(X).numpy(), compute(ex.tensor(X)).numpy(), rtol=1e-6)

    check()
    SCALE = 3.0
    check()
    table["a"] = 5.0
    check()
    factors[0] = 7.0
    check()
    shift = -1.0
    check()
    Options.power = 3
    check()
    SCALE = 2.0
    check()


def test_what_the_code_does_not_name_may_change_freely() -> None:
    class Training:
        def __init__(self) -> None:
            self.net = nn.Linear(3, 2)
            self.factor = 1.0
            self.count = 0
            self.log: list[float] = []

        def loss(self, x: Tensor) -> Tensor:
            return self.scaled(self.net(x)).sum().detach()

        def scaled(self, x: Tensor) -> Tensor:
            return x * self.factor

        def counted(self) -> int:
            self.count += 1
            return self.count

    training = Training()
    compiled = ex.compile(training.loss)
    for _ in range(3):
        training.counted()
        training.log.append(float(compiled(X)))
    assert compiled.traces == 1
    training.factor = 2.0
    assert float(compiled(X)) == pytest.approx(2 * training.log[0], rel=1e-5)
    assert compiled.traces == 2


def test_slots_are_looked_at() -> None:
    class Holder:
        __slots__ = ("factor", "tensor")

        def __init__(self) -> None:
            self.tensor, self.factor = ex.tensor([1.0]), 1.0

    holder = Holder()
    compiled = ex.compile(lambda x: x * holder.tensor * holder.factor)
    compiled(X)
    holder.tensor, holder.factor = ex.tensor([3.0]), 2.0
    np.testing.assert_allclose(compiled(X).numpy(), X * 6, rtol=1e-6)


def test_a_bound_tensor_that_is_given_is_the_same_tensor() -> None:
    weight = ex.tensor([1.0, 2.0, 3.0], requires_grad=True)
    optimizer = ex.optim.SGD([weight], lr=0.1)

    def step(w: Tensor, x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (w * weight * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    compiled = ex.compile(step)
    expected = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        compiled(weight, X)
        expected = expected - 0.1 * 2 * expected * X.sum(0)
    np.testing.assert_allclose(weight.numpy(), expected, rtol=1e-4)


def test_one_tensor_given_twice_gets_both_gradients() -> None:
    compiled = ex.compile(lambda a, b: (a * b).sum().backward())
    x, y = (ex.tensor([2.0, 3.0], requires_grad=True) for _ in range(2))
    compiled(x, y)
    compiled(x, x)
    np.testing.assert_array_equal(x.grad.numpy(), [2 + 4, 3 + 6])
    assert compiled.traces >= 2


def test_arguments_of_all_kinds() -> None:
    def function(x: Any, *more: Any, deep: Any = None, **named: Any) -> Tensor:
        total = ex.asarray(x).sum()
        for each in (*more, *(deep or {}).get("list", ()), *named.values()):
            if each is not None:
                total = total + (each.sum() if hasattr(each, "shape") else each)
        return total

    compiled = ex.compile(function)
    calls: list[tuple[Any, dict[str, Any]]] = [
        ((X,), {}),
        ((X, None, True, 3, 2.5), {}),
        ((ex.tensor(X), X), {"deep": {"list": [X, None, (1)], "other": "text"}}),
        ((X,), {"a": X, "b": 1.5, "c": np.float32(2), "d": np.int64(3)}),
        ((X.astype("float64"),), {"a": np.ones((2, 2), bool), "b": np.arange(3)}),
    ]
    for args, kwargs in calls:
        for _ in range(2):
            expected = function(*args, **kwargs)
            found = compiled(*args, **kwargs)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
    assert compiled.traces == len(calls)
    with pytest.raises(TypeError, match="dtype must be bool, int8-64"):
        compiled(np.array(["a"]))


def test_a_scalar_of_numpy_is_a_part_of_the_trace() -> None:
    compiled = ex.compile(lambda x, n: x * n)
    for n in (np.float32(2), np.float32(3), np.float32(2)):
        np.testing.assert_array_equal(compiled(X, n).numpy(), X * n)
    assert compiled.traces == 2


def test_objects_given_are_bound() -> None:
    nets = [nn.Linear(3, 2) for _ in range(2)]
    compiled = ex.compile(lambda net, x: net(x).detach())
    for _ in range(2):
        for net in nets:
            np.testing.assert_allclose(
                compiled(net, X).numpy(), net(ex.tensor(X)).numpy(), rtol=1e-5
            )
            with ex.no_grad():
                net.weight += 1.0
    assert compiled.traces <= 3


def test_a_generator_that_is_seeded_restored_or_used_between_calls() -> None:
    compiled = ex.compile(lambda x: ex.dropout(x, 0.5))
    ones = ex.ones((8, 8))
    ex.random.manual_seed(1)
    masks = [ex.dropout(ones, 0.5).numpy() for _ in range(3)]
    ex.random.manual_seed(1)
    np.testing.assert_array_equal(compiled(ones).numpy(), masks[0])
    state = ex.random.get_state()
    np.testing.assert_array_equal(compiled(ones).numpy(), masks[1])
    ex.random.set_state(state)
    np.testing.assert_array_equal(ex.dropout(ones, 0.5).numpy(), masks[1])
    np.testing.assert_array_equal(compiled(ones).numpy(), masks[2])
    ex.random.manual_seed(1)
    np.testing.assert_array_equal(compiled(ones).numpy(), masks[0])
    assert compiled.traces == 1


def test_threads_use_one_network_at_a_time() -> None:
    pair = Pair(_clearing)
    net, _, step = pair.sides[0]
    forward = ex.compile(lambda x: net(x).detach().sum())
    step(ex.tensor(X))
    forward(X)
    errors: list[BaseException] = []

    def work(call: Any) -> None:
        try:
            for _ in range(30):
                call()
        except BaseException as error:
            errors.append(error)

    calls = [
        lambda: step(ex.tensor(X)),
        lambda: float(forward(X)),
        lambda: net[0].weight.numpy().copy(),
        lambda: net.state_dict(),
    ]
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for _ in range(31):
        pair.sides[1][2](ex.tensor(X))
    pair.each(lambda net, _: net.zero_grad())
    pair.check()


class Counting(nn.Module):
    def __init__(self) -> None:
        self.layer = nn.Linear(3, 2)
        self.calls = 0
        self.last: Any = None

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


def _count(net: Counting, x: Tensor) -> None:
    net.calls += 1


def _keep(net: Counting, x: Tensor) -> None:
    net.last = net.layer(x)


def _switch(net: Counting, x: Tensor) -> None:
    net.eval()


def _unfreeze(net: Counting, x: Tensor) -> None:
    net.layer.weight.requires_grad = False


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_count, "Counting.calls"),
        (_keep, "Counting.last"),
        (_switch, "Counting.training"),
        (_unfreeze, "requires_grad of a tensor from outside"),
    ],
)
def test_what_would_be_changed_once_only_is_refused_and_undone(change: Any, what: str) -> None:
    net = Counting()
    before = dict(vars(net))

    def step(x: Tensor) -> Tensor:
        change(net, x)
        return net(x).detach()

    with pytest.raises(ValueError, match="must not have side effects") as e:
        ex.compile(step)(X)
    assert str(e.value).endswith(f"got changed='{what}'")
    assert vars(net) == before
    assert net.training
    assert net.layer.weight.requires_grad
    losses: list[Tensor] = []
    with pytest.raises(ValueError, match="got changed='losses'"):
        ex.compile(lambda x: losses.append(net(x)))(X)
    assert losses == []


def test_rates_are_changed_outside() -> None:
    pair = Pair(_clearing)
    net, optimizer, _ = pair.sides[0]

    def step(x: Tensor) -> None:
        _clearing(net, optimizer)(x)
        optimizer.param_groups[0]["lr"] *= 0.5

    with pytest.raises(ValueError, match="do it outside, or by a schedule"):
        ex.compile(step)(X)
    assert optimizer.param_groups[0]["lr"] == 0.05
    assert not any(key.startswith("state.") for key in optimizer.state_dict())


def test_a_table_that_a_module_makes_for_itself_is_kept() -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            self.mask: Any = None

        def forward(self, x: Tensor) -> Tensor:
            if self.mask is None:
                self.mask = ex.tensor(np.tri(3, dtype="float32"))
            return x @ self.mask

    net = Masked()
    compiled = ex.compile(net)
    for _ in range(3):
        np.testing.assert_allclose(compiled(X).numpy(), X @ np.tri(3, dtype="float32"), rtol=1e-6)
    assert compiled.traces <= 2


def test_no_gradient_is_lost_without_a_word() -> None:
    net = nn.Linear(3, 2)
    forward = ex.compile(net)
    output = forward(X)
    assert output.requires_grad
    with pytest.raises(RuntimeError, match="the result of a compiled function has no gradient"):
        (output * 2).sum().backward()
    with ex.no_grad():
        assert not forward(X).requires_grad


def test_an_error_in_the_middle_changes_nothing() -> None:
    pair = Pair(_clearing)
    net, optimizer, step = pair.sides[0]
    ema = ex.optim.EMA(net, decay=0.5)
    schedule = ex.optim.StepLR(optimizer, 1)
    state = ex.random.get_state()

    def broken(x: Tensor) -> None:
        ex.dropout(x, 0.5)
        step.function(x)
        ema.update()
        schedule.step()
        raise KeyError("mine")

    for _ in range(2):  # before and after the state of the optimizer is made
        before = [copy.deepcopy(x.state_dict()) for x in (net, optimizer, ema)]
        with pytest.raises(KeyError, match="mine"):
            ex.compile(broken)(X)
        for x, then in zip((net, optimizer, ema), before, strict=True):
            now = x.state_dict()
            assert now.keys() == then.keys()
            for key, value in then.items():
                np.testing.assert_array_equal(np.asarray(now[key]), np.asarray(value))
        assert all(p.grad is None for p in net.parameters())
        assert (schedule.count, ema.count, ex.random.get_state()) == (0, 0, state)
        step(ex.tensor(X))


@pytest.mark.xla
def test_memory_whose_values_are_away_cannot_be_written_to() -> None:
    net = nn.Linear(3, 2)
    step = ex.compile(_clearing(net, ex.optim.SGD(net.parameters(), lr=0.1)))
    memory, bias = net.weight.detach().numpy(), net.bias.detach().numpy()
    step(X)
    with pytest.raises(ValueError, match="read-only"):
        memory[0] = 3.0
    assert net.weight.numpy() is not None
    memory[0] = 3.0
    step(X)
    np.testing.assert_array_equal(memory[0], [3, 3, 3])  # what was there before, until one looks
    assert net.weight.detach().numpy() is memory
    assert not np.array_equal(memory[0], [3, 3, 3])
    step(X)
    before = bias.copy()
    del net, step
    gc.collect()
    assert not np.array_equal(bias, before)  # the last values, though nobody looked
    bias[0] = 1.0


def test_tensors_that_share_memory_are_not_changed_apart() -> None:
    weight = ex.tensor([1.0, 2.0])
    same = weight.detach()

    @ex.compile
    def grow() -> Tensor:
        with ex.no_grad():
            weight[...] = weight * 2
        return same.sum()

    with pytest.raises(ValueError, match="must not share its memory with others"):
        grow()
    assert weight.tolist() == [1, 2]
    assert float(ex.compile(lambda: (weight * same).sum())()) == 5.0


def test_arrays_that_are_no_inputs_of_ops_are_read_again_too() -> None:
    index, mask = np.array([0, 2]), np.array([True, False, True, False])
    factor = np.array([1.0, 2.0, 3.0], "float32")

    def chosen(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x[index], x[mask], x * (factor * 2)

    compiled = ex.compile(chosen)
    for _ in range(2):
        for found, expected in zip(compiled(X), chosen(ex.tensor(X)), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
        index[:], mask[:], factor[:] = [3, 3], [False, True, False, False], 5.0
    assert compiled.traces == 2
