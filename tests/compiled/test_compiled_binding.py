"""What a compiled function binds, when it is traced again, and how values come back."""

from __future__ import annotations

import copy
import gc
import pickle
import re
import subprocess
import sys
import warnings
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn
from extensor.compiled.device_arrays import Resident, cell_of
from extensor.compiled.program_trace import VIEWS
from extensor.core.tensor import Tensor


def _linear() -> nn.Linear:
    ex.random.manual_seed(0)
    return nn.Linear(3, 2)


def _training(net: nn.Module, optimizer: Any) -> Any:
    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (net(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    return step


def _pair(make: Any) -> tuple[Any, Any]:
    """The same things twice: for steps here and for steps by XLA."""
    return make(), make()


X = np.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)


@pytest.mark.xla
def test_a_parameter_comes_back_into_its_own_memory_when_it_is_looked_at() -> None:
    net = _linear()
    memory = net.weight.detach().numpy()
    before = memory.copy()
    step = ex.compile(_training(net, ex.optim.SGD(net.parameters(), lr=0.1)))
    step(X)
    assert isinstance(net.weight, Resident)
    np.testing.assert_array_equal(memory, before)
    assert net.weight.shape == (2, 3)
    assert net.weight.dtype == ex.float32
    assert cell_of(net.weight) is not None  # shapes and dtypes bring nothing back
    assert net.weight.detach().numpy() is memory
    assert not np.array_equal(memory, before)
    assert type(net.weight) is nn.Parameter


@pytest.mark.parametrize("look", ["state_dict", "save", "eager", "deepcopy", "pickle", "repr"])
def test_every_way_to_look_at_a_parameter_gives_the_new_values(look: str, tmp_path: Path) -> None:
    (net, other), seen = _pair(_linear), None
    ex.compile(_training(net, ex.optim.SGD(net.parameters(), lr=0.1)))(X)
    _training(other, ex.optim.SGD(other.parameters(), lr=0.1))(ex.tensor(X))
    expected = other.weight.numpy()
    if look == "state_dict":
        seen = net.state_dict()["weight"]
    elif look == "save":
        ex.save(tmp_path / "net.safetensors", net.state_dict())
        seen = ex.load(tmp_path / "net.safetensors")["weight"]
    elif look == "eager":
        seen = ex.identity(net.weight).detach()
    elif look == "deepcopy":
        seen = copy.deepcopy(net).weight
    elif look == "pickle":
        seen = pickle.loads(pickle.dumps(net.weight))
    else:
        assert repr(net.weight).startswith("tensor([[")
        seen = net.weight
    np.testing.assert_allclose(np.asarray(seen), expected, rtol=1e-6)


def test_what_is_changed_outside_is_what_the_next_call_takes() -> None:
    net = _linear()
    forward = ex.compile(lambda x: net(x).sum())
    forward(X)
    with ex.no_grad():
        net.weight[...] = 1.0
        net.bias[...] = 0.5
    assert float(forward(X)) == pytest.approx(float(X.sum() * 2 + 4), abs=1e-5)
    net.load_state_dict({"weight": np.zeros((2, 3), "float32"), "bias": np.ones(2, "float32")})
    assert float(forward(X)) == 8.0
    assert forward.traces == 1


def test_the_state_of_an_optimizer_is_saved_and_loaded() -> None:
    net, other = _pair(_linear)
    ours = ex.optim.Adam(net.parameters(), lr=0.1)
    theirs = ex.optim.Adam(other.parameters(), lr=0.1)
    step, plain = ex.compile(_training(net, ours)), _training(other, theirs)
    for _ in range(3):
        step(X)
        plain(ex.tensor(X))
    state, expected = ours.state_dict(), theirs.state_dict()
    assert state.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(np.asarray(state[key]), value, rtol=1e-5, err_msg=key)
    changed = {
        key: 3 * value if key.endswith(("m", "v")) else value for key, value in state.items()
    }
    for optimizer in (ours, theirs):
        optimizer.load_state_dict({**changed, "state.0.step": 9})
    step(X)
    plain(ex.tensor(X))
    state, expected = ours.state_dict(), theirs.state_dict()
    assert (state["state.0.step"], state["state.1.step"]) == (10, 4)
    for key, value in expected.items():
        np.testing.assert_allclose(np.asarray(state[key]), value, rtol=1e-5, err_msg=key)


def test_shapes_dtypes_modes_and_plain_values_are_traced_again() -> None:
    net = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))

    def forward(x: Tensor, twice: bool = False) -> Tensor:
        return net(x) * (2 if twice else 1)

    compiled = ex.compile(forward)
    compiled(X)
    compiled(X)
    assert compiled.traces == 1
    compiled(X[:2])
    assert compiled.traces == 2
    compiled(X, twice=True)
    assert compiled.traces == 3
    net.eval()
    first = compiled(X)
    assert compiled.traces == 4
    np.testing.assert_allclose(first.numpy(), net(X).numpy(), rtol=1e-6)
    net.train()
    compiled(X)
    assert compiled.traces == 4
    with ex.no_grad():
        compiled(X)
    assert compiled.traces == 5


def test_a_name_that_stands_for_another_thing_is_seen() -> None:
    net = _linear()

    def forward(x: Tensor) -> Tensor:
        return net(x).sum()

    compiled = ex.compile(forward)
    compiled(X)
    net = nn.Linear(3, 2)
    assert float(compiled(X)) == pytest.approx(float(net(X).sum()), abs=1e-5)


def test_a_number_given_is_an_input_and_a_condition_on_it_is_traced_again() -> None:
    def scaled(x: Tensor, factor: float) -> Tensor:
        return x * factor if factor > 0 else x

    compiled = ex.compile(scaled)
    for factor in (2.0, 3.0, 0.5):
        np.testing.assert_array_equal(compiled(X, factor).numpy(), X * np.float32(factor))
    assert compiled.traces == 1
    np.testing.assert_array_equal(compiled(X, -1.0).numpy(), X)
    assert compiled.traces == 2


def test_an_array_of_the_closure_is_read_at_each_call() -> None:
    shift = np.ones(3, "float32")
    compiled = ex.compile(lambda x: x + ex.asarray(x) * 0 + shift)
    np.testing.assert_array_equal(compiled(X).numpy(), X + 1)
    shift[:] = 5
    np.testing.assert_array_equal(compiled(X).numpy(), X + 5)


def test_a_tensor_that_was_not_found_before_is_bound_when_it_is_met() -> None:
    hidden = {"weights": iter([])}
    tensor = ex.tensor([1.0, 2.0, 3.0])
    hidden["get"] = type("Getter", (), {"__call__": lambda self, t=tensor: t, "__slots__": ()})()
    compiled = ex.compile(lambda x: x * hidden["get"]())
    np.testing.assert_allclose(compiled(X).numpy(), X * [1, 2, 3], rtol=1e-6)
    tensor[0] = 10.0
    np.testing.assert_allclose(compiled(X).numpy(), X * [10, 2, 3], rtol=1e-6)


def test_gradients_are_gone_after_a_step_unless_they_are_to_be_kept() -> None:
    net, other = _pair(_linear)
    for keep in (False, True):
        optimizer = ex.optim.SGD(net.parameters(), lr=0.0)
        ex.compile(_training(net, optimizer), keep_gradients=keep)(X)
        assert (net.weight.grad is not None) == keep
    _training(other, ex.optim.SGD(other.parameters(), lr=0.0))(ex.tensor(X))
    np.testing.assert_allclose(net.weight.grad.numpy(), other.weight.grad.numpy(), rtol=1e-5)


def test_gradients_add_up_over_calls_and_a_step_outside_uses_them() -> None:
    net, other = _pair(_linear)
    add = ex.compile(lambda x: (net(x) ** 2).sum().backward())
    for _ in range(3):
        assert add(X) is None
        (other(ex.tensor(X)) ** 2).sum().backward()
    assert add.traces == 2  # without gradients, and with
    np.testing.assert_allclose(net.weight.grad.numpy(), other.weight.grad.numpy(), rtol=1e-5)
    ex.optim.SGD(net.parameters(), lr=0.1).step()
    ex.optim.SGD(other.parameters(), lr=0.1).step()
    np.testing.assert_allclose(net.weight.numpy(), other.weight.numpy(), rtol=1e-5)


def test_the_gradient_of_an_input() -> None:
    x = ex.tensor(X, requires_grad=True)
    ex.compile(lambda x: (x**3).sum().backward())(x)
    np.testing.assert_allclose(x.grad.numpy(), 3 * X**2, rtol=1e-5)


def test_results_keep_their_nesting_and_what_is_no_tensor() -> None:
    net = _linear()
    compiled = ex.compile(lambda x: {"a": (x + 1, None, "text"), "net": [net.weight, 3]})
    result = compiled(X)
    np.testing.assert_array_equal(result["a"][0].numpy(), X + 1)
    assert result["a"][1:] == (None, "text")
    assert result["net"][0] is net.weight
    assert result["net"][1] == 3


@pytest.mark.xla
def test_results_are_inputs_of_the_next_call_without_coming_back() -> None:
    double = ex.compile(lambda x: x * 2)
    once = double(X)
    twice = double(once)
    assert cell_of(once) is not None
    np.testing.assert_array_equal(twice.numpy(), X * 4)


def test_inputs_may_be_changed_as_soon_as_the_call_is_back() -> None:
    x = np.ones((600, 600), "float32")
    compiled = ex.compile(lambda x: x @ x @ x)
    compiled(x)
    for _ in range(5):
        result = compiled(x)
        x += 1
        np.testing.assert_allclose(result.numpy(), (x[0, 0] - 1) ** 3 * 600**2, rtol=1e-5)


def test_a_graph_recorded_before_a_step_does_not_survive_it() -> None:
    net = _linear()
    loss = (net(ex.tensor(X)) ** 2).sum()
    ex.compile(_training(net, ex.optim.SGD(net.parameters(), lr=0.1)))(X)
    with pytest.raises(RuntimeError, match="was changed in place before the backward pass"):
        loss.backward()


@pytest.mark.xla
def test_views_that_may_see_a_change_are_refused_and_all_ops_with_views_are_known() -> None:
    def through_view(x: Tensor) -> Tensor:
        y = x * 1
        row = y[0]
        y[0] = 5.0
        return row

    with pytest.raises(RuntimeError, match="another one shows the memory"):
        ex.compile(through_view)(X)

    def written(x: Tensor) -> Tensor:
        y = x * 1
        y[0] = 5.0
        y += 1
        return y

    np.testing.assert_array_equal(ex.compile(written)(X).numpy()[0], [6, 6, 6])
    assert {"getitem", "reshape", "transpose"} <= VIEWS


@pytest.mark.parametrize(
    ("read", "line"),
    [
        (lambda x: float(x.sum()), "float(x.sum())"),
        (lambda x: x if x.sum() > 0 else -x, "if x.sum() > 0"),
        (lambda x: x.numpy().sum(), "x.numpy().sum()"),
        (lambda x: x.sum().item(), "x.sum().item()"),
        (lambda x: [1, 2, 3][ex.argmax(x[0])], "[1, 2, 3][ex.argmax(x[0])]"),
        (lambda x: x.tolist(), "x.tolist()"),
    ],
)
def test_a_value_read_inside_names_the_line_and_the_way_out(read: Any, line: str) -> None:
    with pytest.raises(TypeError) as caught:
        ex.compile(read)(X)
    text = str(caught.value)
    assert text.startswith(
        "compile: a value was asked for that is only known when the function runs"
    )
    assert re.search(r"test_compiled_binding\.py:\d+ \(.*" + re.escape(line), text)
    assert text.endswith("read it outside, or choose with ex.where instead of if")


def test_errors_are_those_of_the_ops() -> None:
    with pytest.raises(ValueError, match="matmul: inner dimensions must agree"):
        ex.compile(lambda x: x @ x)(X)

    def change(x: Tensor) -> None:
        x += 1

    with pytest.raises(ValueError, match="must not be changed in place"):
        ex.compile(change)(X)
    with pytest.raises(RuntimeError, match="a generator cannot be set inside a compiled function"):
        ex.compile(lambda: ex.random.manual_seed(3))()
    with pytest.raises(ValueError, match="a tensor given must be a leaf"):
        ex.compile(lambda x: x)(ex.tensor(X, requires_grad=True) * 2)


def test_after_an_error_everything_is_as_before() -> None:
    net = _linear()
    before = net.weight.numpy().copy()
    optimizer = ex.optim.Adam(net.parameters())

    def broken(x: Tensor) -> float:
        loss = _training(net, optimizer)(x)
        return float(loss)

    with pytest.raises(TypeError):
        ex.compile(broken)(X)
    np.testing.assert_array_equal(net.weight.numpy(), before)
    assert type(net.weight) is nn.Parameter
    assert net.weight.grad is None
    assert optimizer.state_dict()["groups.0.lr"] == 1e-3
    assert not any(key.endswith("step") for key in optimizer.state_dict())


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"backend": "cuda"},
            "compile: backend must be one of ('native', 'xla'), got backend='cuda'",
        ),
        (
            {"device": "moon"},
            "compile: device must be one that JAX finds here, ['cpu'], got device='moon'",
        ),
        ({"device": "cpu:99"}, "compile: device must have a number below 1, got device='cpu:99'"),
    ],
)
@pytest.mark.xla
def test_options_are_checked(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        ex.compile(lambda x: x, **options)


def test_many_traces_are_warned_of_once() -> None:
    compiled = ex.compile(lambda x, n: x + n)
    for n in range(8):
        compiled(X, n)
    with pytest.warns(UserWarning, match="was traced 9 times"):
        compiled(X, 8)
    compiled(X, 9)  # warnings are errors here


@pytest.mark.xla
def test_the_import_of_jax_draws_nothing() -> None:
    program = """
import random, numpy as np
import extensor as ex
np.random.seed(0); random.seed(0)
before = repr(np.random.get_state()), random.getstate()
ex.compile(lambda x: 2 * x, backend="xla", device="cpu")(np.ones(2))
assert (repr(np.random.get_state()), random.getstate()) == before
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.xla
def test_jax_is_left_as_it_was() -> None:
    import jax
    import jax.numpy as jnp

    compiled = ex.compile(lambda x: x * 2)
    assert compiled(ex.ones(3, ex.float64)).dtype == ex.float64
    assert not jax.config.jax_enable_x64
    assert jnp.ones(2).dtype == "float32"


def test_a_compiled_function_inside_another_is_a_part_of_it() -> None:
    inner = ex.compile(lambda x: x + 1)
    outer = ex.compile(lambda x: inner(x) * 2)
    np.testing.assert_array_equal(outer(X).numpy(), (X + 1) * 2)
    assert inner.traces == 0


def test_objects_given_are_not_kept_for_ever() -> None:
    class Options:
        def __init__(self, beta: float) -> None:
            self.beta = beta

    compiled = ex.compile(lambda x, options: x * options.beta)
    given = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(40):
            options = Options(float(i))
            given.append(weakref.ref(options))
            np.testing.assert_array_equal(compiled(np.ones(2), options).numpy(), [i, i])
    del options
    gc.collect()
    assert sum(x() is not None for x in given) <= 32


def test_a_subclass_of_parameter_is_bound() -> None:
    class Scaled(ex.nn.Parameter):
        """A parameter with attributes."""

    weight = Scaled(np.ones(3))
    optimizer = ex.optim.SGD([weight], lr=0.5)

    @ex.compile
    def step(x: Any) -> None:
        optimizer.zero_grad()
        (weight * x).sum().backward()
        optimizer.step()

    step(np.ones(3))
    assert isinstance(weight, Scaled)
    step(np.ones(3))
    np.testing.assert_array_equal(weight.detach().numpy(), np.zeros(3))
    assert type(weight) is Scaled
