"""Native programs: the bits of plain steps, whatever is computed, on any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import models, nn
from extensor.compiled.native.arena import Lifetime, plan_arena
from extensor.core.tensor import Tensor

pytestmark = pytest.mark.native

STEPS = 6
RNG = np.random.default_rng(5)
VECTORS = RNG.standard_normal((8, 12)).astype("float32")
IMAGES = RNG.standard_normal((4, 3, 32, 32)).astype("float32")
DIGITS = RNG.standard_normal((4, 1, 28, 28)).astype("float32")
SERIES = RNG.standard_normal((4, 6, 5)).astype("float32")
TOKENS = RNG.integers(0, 11, (3, 8))


class Recurrent(nn.Module):
    """A recurrent layer, and a linear one on its last output."""

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer
        self.head = nn.Linear(7, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.layer(x)[0][:, -1])


class Language(nn.Module):
    """A small GPT as a classifier of each position."""

    def __init__(self) -> None:
        self.gpt = models.gpt(11, context=8, layers=1, heads=2, width=8, p=0.1)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.gpt(tokens).reshape(-1, 11)


def _mlp() -> nn.Module:
    return nn.Sequential(
        nn.Linear(12, 9), nn.LayerNorm(9), nn.GELU(), nn.Dropout(0.3), nn.Linear(9, 4)
    )


NETS: dict[str, tuple[Callable[[], nn.Module], Any, int]] = {
    "mlp": (_mlp, VECTORS, 4),
    "batch norm": (
        lambda: nn.Sequential(nn.Linear(12, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 4)),
        VECTORS,
        4,
    ),
    "lenet": (models.lenet5, DIGITS, 10),
    "resnet": (lambda: models.resnet18(num_classes=4), IMAGES, 4),
    "lstm": (lambda: Recurrent(nn.LSTM(5, 7, batch_first=True)), SERIES, 4),
    "gru": (lambda: Recurrent(nn.GRU(5, 7, num_layers=2, batch_first=True)), SERIES, 4),
    "rnn": (lambda: Recurrent(nn.RNN(5, 7, batch_first=True)), SERIES, 4),
    "gpt": (Language, TOKENS, 11),
    "transformer": (
        lambda: nn.Sequential(
            nn.TransformerEncoderLayer(5, 1, 8, batch_first=True), nn.Flatten(), nn.Linear(30, 4)
        ),
        SERIES,
        4,
    ),
}


def _state_after(
    compiled: bool,
    net_name: str,
    make_optimizer: Callable[[Any], Any],
    around: Callable[[Any, Any], Any] = lambda net, optimizer: None,
) -> tuple[list[bytes], dict[str, bytes]]:
    """The losses and all tensors after some steps, as bytes."""
    make, x, classes = NETS[net_name]
    ex.random.manual_seed(3)
    net = make()
    optimizer = make_optimizer(list(net.parameters()))
    y = np.arange(len(x) if net_name != "gpt" else x.size) % classes
    after = around(net, optimizer)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = ex.cross_entropy(net(x), y)
        loss.backward()
        if after is not None:
            after()
        optimizer.step()
        return loss

    run: Any = ex.compile(step) if compiled else step
    losses = [run(ex.tensor(x), ex.tensor(y)).numpy().tobytes() for _ in range(STEPS)]
    state = {name: value.numpy().tobytes() for name, value in net.state_dict().items()}
    for name, value in optimizer.state_dict().items():
        state[name] = np.asarray(value).tobytes()
    if compiled:
        assert run.traces <= 2
    return losses, state


def _adam(parameters: Any) -> Any:
    return ex.optim.AdamW(parameters, lr=0.01)


@pytest.fixture
def threads() -> Iterator[None]:
    before = ex.get_num_threads()
    yield
    ex.set_num_threads(before)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("name", NETS)
def test_a_program_has_the_bits_of_plain_steps(name: str, count: int, threads: None) -> None:
    ex.set_num_threads(count)
    assert _state_after(True, name, _adam) == _state_after(False, name, _adam)


OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "SGD": lambda p: ex.optim.SGD(p, lr=0.1),
    "momentum": lambda p: ex.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.01),
    "Adam": lambda p: ex.optim.Adam(p, lr=0.05, amsgrad=True, weight_decay=0.1),
    "RMSprop": lambda p: ex.optim.RMSprop(p, lr=0.01, centered=True, momentum=0.5),
    "Adagrad": lambda p: ex.optim.Adagrad(p, lr=0.1, lr_decay=0.1),
    "Adadelta": ex.optim.Adadelta,
    "LAMB": lambda p: ex.optim.LAMB(p, lr=0.01),
    "Lion": lambda p: ex.optim.Lion(p, lr=0.01),
    "groups": lambda p: ex.optim.Adam([{"params": p[:1], "lr": 0.1}, {"params": p[1:]}]),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_has_the_bits_of_plain_steps(name: str) -> None:
    make = OPTIMIZERS[name]
    assert _state_after(True, "mlp", make) == _state_after(False, "mlp", make)


@pytest.mark.parametrize("norm", [0.05, 100.0])
def test_clipping_has_the_bits_of_plain_steps(norm: float) -> None:
    def clipped(net: nn.Module, _: Any) -> Any:
        def clip() -> None:
            ex.optim.clip_grad_norm(net.parameters(), norm)
            ex.optim.clip_grad_value(net.parameters(), 0.01)

        return clip

    assert _state_after(True, "mlp", _adam, clipped) == _state_after(False, "mlp", _adam, clipped)


def test_schedules_set_the_rates_of_a_program() -> None:
    def scheduled(_: nn.Module, optimizer: Any) -> None:
        ex.optim.CosineAnnealingLR(optimizer, 4)

    found = [_state_after(x, "mlp", _adam, scheduled) for x in (True, False)]
    assert found[0] == found[1]


def test_a_scaler_leaves_out_steps_of_a_program() -> None:
    results = []
    for compiled in (True, False):
        weight = ex.tensor([1.0, 2.0], requires_grad=True)
        optimizer = ex.optim.SGD([weight], lr=0.5)
        scaler = ex.amp.GradScaler(init_scale=2.0**100, growth_interval=2)

        def step(
            x: Tensor, weight: Any = weight, optimizer: Any = optimizer, scaler: Any = scaler
        ) -> None:
            optimizer.zero_grad()
            scaler.scale((weight * x).sum()).backward()
            scaler.step(optimizer)
            scaler.update()

        run = ex.compile(step) if compiled else step
        for factor in (1e20, 1.0, 1e30, 1.0, 1.0):
            run(ex.tensor([factor, factor]))
        results.append((weight.tolist(), scaler.state_dict()))
    assert results[0] == results[1]


def test_values_that_a_kernel_does_not_take_get_the_error_of_the_plain_step() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    optimizer = ex.optim.SGD(net.parameters(), lr=0.1)

    @ex.compile
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = ex.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    x = RNG.standard_normal((5, 3)).astype("float32")
    for _ in range(2):
        step(x, np.array([0, 1, 2, 3, 0]))
    before = {name: value.numpy().copy() for name, value in net.state_dict().items()}
    with pytest.raises(ValueError, match="cross_entropy: target must be"):
        step(x, np.array([0, 1, 2, 9, 0]))
    assert net[1].num_batches_tracked.item() == 3  # as without compiling: it ran before the loss
    np.testing.assert_array_equal(net[0].weight.numpy(), before["0.weight"])
    step(x, np.array([0, 1, 2, 3, 0]))


@pytest.mark.parametrize("order", ["C", "F", "strided", "reversed", "repeated"])
def test_inputs_of_any_layout(order: str) -> None:
    whole = RNG.standard_normal((6, 10)).astype("float32")
    x = {
        "C": whole[:, :5].copy(),
        "F": np.asfortranarray(whole[:, :5]),
        "strided": whole[::2, ::2],
        "reversed": whole[::-1, 4::-1],
        "repeated": np.broadcast_to(whole[:1, :5], (6, 5)),
    }[order]
    function = ex.compile(lambda x: ((x @ x.T).sum(axis=0), x.sum(axis=1)))
    for _ in range(3):
        for one, two in zip(function(x), function.function(ex.tensor(x)), strict=True):
            np.testing.assert_array_equal(one.numpy(), two.numpy())
    assert function.traces == 1


def test_an_input_that_shows_the_memory_of_a_parameter() -> None:
    weight = ex.tensor([1.0, 2.0, 3.0], requires_grad=True)
    optimizer = ex.optim.SGD([weight], lr=1.0)

    @ex.compile
    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        (weight * 2).sum().backward()
        optimizer.step()
        return x * 1

    for expected in ([1.0, 2.0, 3.0], [-1.0, 0.0, 1.0]):
        # Copied before the run changes it: an input is what it was when the function was called.
        assert step(weight.detach()).tolist() == expected


def test_dropout_that_is_recomputed_has_the_mask_of_its_run() -> None:
    results = []
    for compiled in (False, True):
        ex.random.manual_seed(1)
        net = nn.Sequential(nn.Linear(12, 9), nn.Dropout(0.5))
        optimizer = ex.optim.SGD(net.parameters(), lr=0.1)

        def step(x: Tensor, net: Any = net, optimizer: Any = optimizer) -> Tensor:
            optimizer.zero_grad()
            loss = (ex.checkpoint(net, x) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        run = ex.compile(step) if compiled else step
        losses = [float(run(ex.tensor(VECTORS))) for _ in range(5)]
        results.append((losses, net[0].weight.tolist()))
    assert results[0] == results[1]


def test_a_parameter_in_another_layout() -> None:
    weight = ex.tensor(np.arange(9.0).reshape(3, 3), requires_grad=True)
    function = ex.compile(lambda x: (x @ weight).sum(axis=0))
    x = np.eye(3)
    for array in (np.arange(9.0).reshape(3, 3), np.asfortranarray(np.arange(9.0).reshape(3, 3))):
        weight._array = array
        for _ in range(2):
            np.testing.assert_array_equal(function(x).detach().numpy(), array.sum(axis=0))


def test_values_of_an_op_without_a_kernel_are_checked_in_each_run() -> None:
    function = ex.compile(lambda p, y: ex.binary_cross_entropy(p, y, reduction="none"))
    p, y = np.array([[0.2], [0.7]]), np.array([[0.0, 1.0], [1.0, 1.0]])[:, :1]
    strided = np.stack([p, p], axis=-1)[..., 0]
    for _ in range(3):
        function(strided.astype("float16"), y.astype("float16"))
    strided[0] = 1.5
    with pytest.raises(ValueError, match="binary_cross_entropy: prediction must be"):
        function(strided.astype("float16"), y.astype("float16"))


def test_results_are_new_arrays_at_each_call() -> None:
    function = ex.compile(lambda x: (x + 1, x.T, (x * 2)[0]))
    first = function(np.ones((2, 3), "float32"))
    kept = [x.numpy().copy() for x in first]
    function(np.zeros((2, 3), "float32"))
    for x, before in zip(first, kept, strict=True):
        np.testing.assert_array_equal(x.numpy(), before)


def test_memory_that_the_function_makes_is_as_it_was_at_each_call() -> None:
    @ex.compile
    def running(x: Tensor) -> Tensor:
        total = ex.zeros(3)
        for i in range(4):
            total[i % 3] = x[i] + total[i % 3]
        return total

    for _ in range(3):
        assert running(np.arange(4, dtype="float32")).tolist() == [3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "read",
    [float, bool, int, Tensor.item, Tensor.tolist, Tensor.numpy, str, np.asarray, "{:.2f}".format],
)
def test_a_value_cannot_be_read_inside(read: Any) -> None:
    function = ex.compile(lambda x: (x.sum(), read(x.sum()))[0])
    with pytest.raises(TypeError, match=r"only known when the function runs, at .*read"):
        function(np.ones(3, "float32"))


def test_anomaly_detection_is_refused() -> None:
    with (
        ex.detect_anomaly(),
        pytest.raises(ValueError, match="detect_anomaly reads every gradient"),
    ):
        ex.compile(lambda x: x * 2)(np.ones(2))


def test_a_device_is_for_xla() -> None:
    with pytest.raises(ValueError, match="device is for backend='xla'"):
        ex.compile(lambda x: x, device="cpu")


@pytest.mark.parametrize("seed", range(20))
def test_the_arena_gives_no_byte_to_two_at_a_time(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lifetimes = []
    for buffer in range(40):
        first = int(rng.integers(0, 30))
        last = first + int(rng.integers(0, 12))
        lifetimes.append(Lifetime(buffer, first, last, int(rng.integers(0, 4000))))
    offsets, size = plan_arena(lifetimes)
    for x in lifetimes:
        assert offsets[x.buffer] % 64 == 0
        assert offsets[x.buffer] + x.bytes <= size
        for y in lifetimes:
            apart = x.last < y.first or y.last < x.first
            begin, end = offsets[y.buffer], offsets[y.buffer] + y.bytes
            assert (
                x is y or apart or offsets[x.buffer] + x.bytes <= begin or end <= offsets[x.buffer]
            )


def test_an_optimizer_that_is_found_only_when_it_steps() -> None:
    weight = ex.tensor([1.0, 2.0], requires_grad=True)
    # Variables of the library's own modules are not looked through.
    variables = {"__name__": "extensor.nn", "weight": weight}
    variables["optimizer"] = ex.optim.Adam([weight], lr=0.5)
    exec(
        "def step(x):\n"
        "    optimizer.zero_grad()\n"
        "    (weight * x).sum().backward()\n"
        "    optimizer.step()\n",
        variables,
    )
    step = ex.compile(variables["step"])  # type: ignore[call-overload]
    for _ in range(4):
        step(np.ones(2, "float32"))
    assert variables["optimizer"].state[weight]["step"] == 4  # type: ignore[attr-defined]
    np.testing.assert_allclose(weight.tolist(), [-1.0, 0.0], atol=1e-5)
