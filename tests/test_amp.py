"""Mixed precision: which op computes in what, and the factor that saves small gradients."""

from __future__ import annotations

import re
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import amp
from extensor.amp import autocasting
from extensor.core import door, precision
from extensor.core.op import OPS


@pytest.fixture(params=["bfloat16", "float16"])
def dtype(request: pytest.FixtureRequest) -> Any:
    return ex.dtypes.as_dtype(request.param)


def _matrix(rng: np.random.Generator, *shape: int) -> ex.Tensor:
    return ex.tensor(rng.normal(size=shape).astype("float32"), requires_grad=True)


def test_lists_name_ops_and_none_twice() -> None:
    assert not precision.SHORT & precision.LONG
    assert not {name for name in precision.SHORT | precision.LONG if name not in OPS}


def test_products_are_short_and_gradients_long(dtype: Any, rng: np.random.Generator) -> None:
    x, w, b = _matrix(rng, 4, 5), _matrix(rng, 3, 5), _matrix(rng, 3)
    with amp.autocast(dtype):
        y = ex.linear(x, w, b)
        assert y.dtype == dtype
        assert (y + 1).dtype == dtype
        assert ex.add(y, b).dtype == ex.float32
        loss = ex.softmax(y).sum()
    assert loss.dtype == ex.float32
    assert ex.linear(x, w, b).dtype == ex.float32
    loss.backward()
    assert [t.grad.dtype for t in (x, w, b)] == [ex.float32] * 3


def test_the_product_is_that_of_rounded_inputs(dtype: Any, rng: np.random.Generator) -> None:
    a, b = _matrix(rng, 6, 40), _matrix(rng, 40, 7)
    with amp.autocast(dtype):
        short = ex.matmul(a, b)
    wide = [x.numpy().astype(dtype).astype("float64") for x in (a, b)]
    expected = wide[0] @ wide[1]
    unit = 2.0**-8 if dtype != ex.float16 else 2.0**-11
    assert (
        np.abs(short.numpy().astype("float64") - expected).max()
        <= 1.01 * unit * np.abs(expected).max()
    )


def test_float64_stays(rng: np.random.Generator) -> None:
    a = ex.tensor(rng.normal(size=(2, 2)))
    with amp.autocast("float16"):
        assert (a @ a).dtype == ex.float64


def test_nested_blocks_and_decorator(rng: np.random.Generator) -> None:
    a = _matrix(rng, 2, 2)

    @amp.autocast("float16")
    def product() -> Any:
        with amp.autocast("float16", enabled=False):
            inner = (a @ a).dtype
        return inner, (a @ a).dtype

    assert product() == product() == (ex.float32, ex.float16)
    assert (a @ a).dtype == ex.float32


def test_an_error_leaves_no_trace(rng: np.random.Generator) -> None:
    a = _matrix(rng, 2, 2)
    with pytest.raises(ValueError, match="matmul"), amp.autocast("float16"):
        ex.matmul(a, _matrix(rng, 3, 3))
    assert (a @ a).dtype == ex.float32


def test_other_threads_are_not_cast(rng: np.random.Generator) -> None:
    a = _matrix(rng, 2, 2)
    seen: list[Any] = []
    with amp.autocast("float16"):
        thread = threading.Thread(target=lambda: seen.append((a @ a).dtype))
        thread.start()
        thread.join()
    assert seen == [ex.float32]


def test_backward_inside_the_block_is_the_same(dtype: Any, rng: np.random.Generator) -> None:
    x, w = _matrix(rng, 4, 5), _matrix(rng, 3, 5)
    results = []
    for inside in (True, False):
        x.grad = w.grad = None
        with amp.autocast(dtype):
            loss = ex.relu(ex.linear(x, w)).mean()
            if inside:
                loss.backward()
        if not inside:
            loss.backward()
        results.append([x.grad.numpy(), w.grad.numpy()])  # type: ignore[attr-defined]
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("inside", [True, False])
def test_checkpoint_computes_again_in_the_same_precision(
    inside: bool, rng: np.random.Generator
) -> None:
    x, w = _matrix(rng, 4, 5), _matrix(rng, 3, 5)

    def block(x: ex.Tensor) -> ex.Tensor:
        return ex.tanh(ex.linear(x, w))

    expected = None
    for run in (block, lambda x: ex.checkpoint(block, x)):
        x.grad = w.grad = None
        with amp.autocast("float16"):
            loss = run(x).sum()
            if inside:
                loss.backward()
                assert (x @ x.T).dtype == ex.float16
        if not inside:
            loss.backward()
        found = [x.grad.numpy(), w.grad.numpy()]  # type: ignore[attr-defined]
        expected = expected or found
        for first, second in zip(expected, found, strict=True):
            np.testing.assert_array_equal(first, second)


def test_says_once_that_it_is_not_faster(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    monkeypatch.setattr(autocasting, "_said", [])
    monkeypatch.setattr(door, "multiplies_bfloat16", lambda: dtype != ex.bfloat16)
    with pytest.warns(UserWarning, match="save memory"), amp.autocast(dtype):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with amp.autocast(dtype):
            pass


def test_says_nothing_where_bfloat16_has_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autocasting, "_said", [])
    monkeypatch.setattr(door, "multiplies_bfloat16", lambda: True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with amp.autocast("bfloat16"):
            pass


def test_refuses_other_dtypes() -> None:
    with pytest.raises(TypeError, match=r"autocast: dtype must be bfloat16 or float16, got dtype="):
        amp.autocast("float32")


def _scaled(values: Any, **options: Any) -> tuple[ex.Tensor, Any, amp.GradScaler]:
    w = ex.tensor(values, requires_grad=True)
    return w, ex.optim.SGD([w], lr=1.0), amp.GradScaler(init_scale=4.0, **options)


def test_step_uses_unscaled_gradients() -> None:
    w, optimizer, scaler = _scaled([1.0, 2.0])
    scaler.scale((w * w).sum()).backward()
    np.testing.assert_array_equal(w.grad.numpy(), [8.0, 16.0])
    assert scaler.step(optimizer)
    np.testing.assert_array_equal(w.numpy(), [-1.0, -2.0])


def test_a_gradient_of_two_parameters_is_unscaled_once() -> None:
    w, v = ex.ones(2, requires_grad=True), ex.ones(2, requires_grad=True)
    w.grad = v.grad = ex.tensor([8.0, 16.0])
    amp.GradScaler(init_scale=4.0).unscale_(ex.optim.SGD([w, v]))
    np.testing.assert_array_equal(w.grad.numpy(), [2.0, 4.0])


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_a_step_that_is_not_finite_is_left_out(bad: float) -> None:
    w, optimizer, scaler = _scaled([1.0, 2.0])
    w.grad = ex.tensor([1.0, bad])
    assert not scaler.step(optimizer)
    np.testing.assert_array_equal(w.numpy(), [1.0, 2.0])
    scaler.update()
    assert scaler.get_scale() == 2.0


def test_the_factor_grows_after_good_steps_and_state_is_kept() -> None:
    w, optimizer, scaler = _scaled([1.0], growth_interval=3)
    scales = []
    for step in range(7):
        if step == 4:
            saved = scaler.state_dict()
            scaler = amp.GradScaler(growth_interval=3)
            scaler.load_state_dict(saved)
        w.grad = ex.tensor([np.inf if step == 1 else 0.0])
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    assert scales == [4.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0]


def test_clipping_between_unscale_and_step() -> None:
    w, optimizer, scaler = _scaled([3.0, 4.0])
    scaler.scale((w * w).sum() / 2).backward()
    scaler.unscale_(optimizer)
    assert ex.clip_grad_norm([w], 1.0).item() == pytest.approx(5.0)
    assert scaler.step(optimizer)
    np.testing.assert_allclose(w.numpy(), [2.4, 3.2], rtol=1e-6)


def test_not_enabled_does_nothing() -> None:
    w, optimizer, _ = _scaled([1.0])
    scaler = amp.GradScaler(enabled=False)
    loss = (w * w).sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    assert scaler.step(optimizer)
    assert scaler.get_scale() == 1.0
    scaler.update()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"growth_factor": 1.0}, "GradScaler: growth_factor must be > 1, got growth_factor=1.0"),
        ({"backoff_factor": 1.0}, "GradScaler: backoff_factor must be in (0, 1), got backoff_factor=1.0"),
        ({"growth_interval": 0}, "GradScaler: growth_interval must be 1 or more, got growth_interval=0"),
    ],
)  # fmt: skip
def test_scaler_refuses(options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        amp.GradScaler(**options)


def test_calls_in_the_wrong_order_say_so() -> None:
    w, optimizer, scaler = _scaled([1.0])
    with pytest.raises(RuntimeError, match="update: no step was taken"):
        scaler.update()
    with pytest.raises(RuntimeError, match="no parameter has a gradient"):
        scaler.step(optimizer)
    w.grad = ex.tensor([1.0])
    scaler.unscale_(optimizer)
    with pytest.raises(RuntimeError, match="already unscaled"):
        scaler.unscale_(optimizer)
    assert scaler.step(optimizer)
    with pytest.raises(RuntimeError, match=r"already stepped, call update\(\) first$"):
        scaler.step(optimizer)  # the gradients of another backward pass would still be scaled
    scaler.update()
    assert scaler.step(optimizer)


def test_small_gradients_survive_only_with_a_scaler(rng: np.random.Generator) -> None:
    """2^-30 is nothing in float16; scaled it is a number."""
    x = ex.tensor(np.full((1, 4), 2.0**-10, "float32"))
    steps = []
    for scaler in (amp.GradScaler(enabled=False), amp.GradScaler(init_scale=2.0**12)):
        w = ex.zeros((2, 4), requires_grad=True)
        optimizer = ex.optim.SGD([w], lr=1.0)
        with amp.autocast("float16"):
            loss = (ex.linear(x, w) * 2.0**-20).sum()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        steps.append(np.abs(w.numpy()).max())
    assert steps[0] == 0.0
    assert steps[1] == 2.0**-30


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_a_network_learns_as_well_as_in_float32(name: str, rng: np.random.Generator) -> None:
    x = rng.normal(size=(64, 8)).astype("float32")
    target = np.tanh(x @ rng.normal(size=(8, 1))).astype("float32")

    def train(short: bool) -> float:
        draw = np.random.default_rng(3)
        shapes = [(16, 8), (16,), (1, 16), (1,)]
        w = [
            ex.tensor(draw.normal(size=s).astype("float32") * 0.3, requires_grad=True)
            for s in shapes
        ]
        optimizer, scaler = ex.optim.Adam(w, lr=0.02), amp.GradScaler(enabled=short)
        for _ in range(150):
            optimizer.zero_grad()
            with amp.autocast(name, enabled=short):
                output = ex.linear(ex.tanh(ex.linear(ex.tensor(x), w[0], w[1])), w[2], w[3])
                loss = ex.mse_loss(output, ex.tensor(target))
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update() if short else None
        return float(loss.item())

    assert train(True) < train(False) + 2e-3
