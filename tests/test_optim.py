"""Optimizers: papers written down again, groups, state, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import _native, optim
from extensor.core import door

STEPS = 10
SHAPES = [(3, 4), (7,), (), (2, 3, 2)]


# The papers, written down once more.


def _lion(p: Any, g: Any, s: dict[str, Any], t: int, o: dict[str, Any]) -> Any:
    m, (beta1, beta2) = s.get("m", 0 * p), o["betas"]
    update = np.sign(beta1 * m + (1 - beta1) * g) + o["weight_decay"] * p
    s["m"] = beta2 * m + (1 - beta2) * g
    return p - o["lr"] * update


def _lamb(p: Any, g: Any, s: dict[str, Any], t: int, o: dict[str, Any]) -> Any:
    beta1, beta2 = o["betas"]
    s["m"] = beta1 * s.get("m", 0 * p) + (1 - beta1) * g
    s["v"] = beta2 * s.get("v", 0 * p) + (1 - beta2) * g**2
    r = s["m"] / (1 - beta1**t) / (np.sqrt(s["v"] / (1 - beta2**t)) + o["eps"])
    update = r + o["weight_decay"] * p
    norm, length = np.sqrt((p**2).sum()), np.sqrt((update**2).sum())
    return p - o["lr"] * (norm / length if norm * length else 1) * update


def _muon(p: Any, g: Any, s: dict[str, Any], t: int, o: dict[str, Any]) -> Any:
    mu, (a, b, c) = o["momentum"], o["ns_coefficients"]
    s["b"] = mu * s.get("b", 0 * p) + (1 - mu) * g
    x = (1 - mu) * g + mu * s["b"] if o["nesterov"] else s["b"]
    tall = x.shape[0] > x.shape[1]
    u, values, vt = np.linalg.svd(x / max(np.linalg.norm(x), o["eps"]), full_matrices=False)
    for _ in range(o["ns_steps"]):
        values = a * values + b * values**3 + c * values**5
    rows, columns = p.shape
    scale = np.sqrt(max(1, rows / columns)) if tall else 1.0
    if o["adjust_lr_fn"] == "match_rms_adamw":
        scale = 0.2 * np.sqrt(max(rows, columns))
    return p - o["lr"] * o["weight_decay"] * p - o["lr"] * scale * (u * values) @ vt


PAPERS = [
    ("Lion", _lion, SHAPES, {"lr": 0.03, "betas": (0.8, 0.95), "weight_decay": 0.1}),
    ("LAMB", _lamb, SHAPES, {"lr": 0.03, "betas": (0.8, 0.95), "weight_decay": 0.1, "eps": 1e-6}),
    ("Muon", _muon, [(3, 5), (6, 2), (4, 4)], {"lr": 0.02, "nesterov": False}),
    ("Muon", _muon, [(3, 5), (6, 2)], {"lr": 0.02, "adjust_lr_fn": "match_rms_adamw"}),
]


@pytest.mark.parametrize("row", range(len(PAPERS)), ids=lambda i: f"{PAPERS[i][0]}-{i}")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_as_the_paper_says(row: int, dtype: str, rng: np.random.Generator) -> None:
    name, paper, shapes, options = PAPERS[row]
    values = [rng.normal(size=shape) for shape in shapes]  # type: ignore[attr-defined]
    parameters = [ex.tensor(np.asarray(x, dtype), requires_grad=True) for x in values]
    optimizer = getattr(optim, name)(parameters, **options)
    states: list[dict[str, Any]] = [{} for _ in shapes]  # type: ignore[attr-defined]
    for step in range(1, STEPS + 1):
        gradients = [rng.normal(size=shape) for shape in shapes]  # type: ignore[attr-defined]
        for i, parameter in enumerate(parameters):
            parameter.grad = ex.tensor(np.asarray(gradients[i], dtype))
            values[i] = paper(values[i], gradients[i], states[i], step, optimizer.param_groups[0])
        optimizer.step()
    rtol = 1e-10 if dtype == "float64" else 2e-4
    for parameter, value in zip(parameters, values, strict=True):
        assert parameter.dtype == dtype
        np.testing.assert_allclose(parameter.numpy(), value, rtol=rtol, atol=rtol)


def test_orthogonalize() -> None:
    """The cubic iteration converges to the orthogonal factor of the polar decomposition."""
    x = np.random.default_rng(3).normal(size=(5, 3))
    u, _, vt = np.linalg.svd(x, full_matrices=False)
    found = optim.orthogonalize(ex.tensor(x), (1.5, -0.5, 0.0), steps=40)
    np.testing.assert_allclose(found.numpy(), u @ vt, atol=1e-10)


# Optimizers as objects.

OPTIMIZERS: list[tuple[Any, dict[str, Any]]] = [
    (optim.SGD, {"lr": 0.1}),
    (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (optim.Adam, {"lr": 0.1}),
    (optim.Adam, {"lr": 0.1, "amsgrad": True}),
    (optim.AdamW, {"lr": 0.1}),
    (optim.RMSprop, {"lr": 0.01, "momentum": 0.5, "centered": True}),
    (optim.Adagrad, {"lr": 0.3, "initial_accumulator_value": 0.1}),
    (optim.Adadelta, {"lr": 30.0}),
    (optim.Lion, {"lr": 0.05}),
    (optim.LAMB, {"lr": 0.05}),
    (optim.Muon, {"lr": 0.1}),
    (optim.NAdam, {"lr": 0.1}),
    (optim.RAdam, {"lr": 0.1}),
    (optim.Adamax, {"lr": 0.1}),
    (optim.ASGD, {"lr": 0.05, "t0": 2}),
    (optim.Rprop, {"lr": 0.1}),
    (optim.Adafactor, {"lr": 0.3, "eps": (1e-8, 0.1)}),
]
each = pytest.mark.parametrize(
    ("make", "options"), OPTIMIZERS, ids=lambda x: getattr(x, "__name__", "")
)


def _parameters(rng: np.random.Generator, dtype: Any = "float32") -> list[ex.Tensor]:
    return [
        ex.tensor(rng.normal(size=s).astype(dtype), requires_grad=True) for s in [(3, 4), (4, 2)]
    ]


def _loss(parameters: list[ex.Tensor]) -> ex.Tensor:
    first, second = parameters
    return ((first @ second - 1.0) ** 2).sum()


def _train(optimizer: Any, parameters: list[ex.Tensor], steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = _loss(parameters)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@each
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_loss_falls(make: Any, options: Any, dtype: str, rng: np.random.Generator) -> None:
    dtype = ex.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)  # type: ignore[assignment]
    parameters = _parameters(rng, dtype)
    options = {**options, "lr": options["lr"] / 10} if make is optim.SGD else options
    losses = _train(make(parameters, **options), parameters, 60)
    assert losses[-1] < losses[0] / 2
    assert all(parameter.dtype == dtype for parameter in parameters)


@each
def test_resume_has_the_same_bits(make: Any, options: Any, rng: np.random.Generator) -> None:
    parameters = _parameters(rng)
    optimizer = make(parameters, **options)
    _train(optimizer, parameters, 3)
    saved = optimizer.state_dict()
    for key, value in saved.items():
        assert isinstance(key, str)
        assert isinstance(value, int | float | str | np.ndarray)
    copies = [ex.tensor(x.numpy(), requires_grad=True) for x in parameters]
    other = make(copies, **{**options, "lr": 77.0})
    # As a file would give it back: numbers as arrays without dimensions.
    other.load_state_dict({k: v if isinstance(v, str) else np.asarray(v) for k, v in saved.items()})
    assert other.param_groups[0] == {**optimizer.param_groups[0], "params": copies}
    _train(optimizer, parameters, 3)
    _train(other, copies, 3)
    for x, y in zip(parameters, copies, strict=True):
        np.testing.assert_array_equal(x.numpy(), y.numpy())


@each
def test_parameters_without_gradient_are_skipped(
    make: Any, options: Any, rng: np.random.Generator
) -> None:
    """Each parameter ages by its own steps, as if it had an optimizer of its own."""
    together = _parameters(rng)
    alone = [ex.tensor(x.numpy(), requires_grad=True) for x in together]
    optimizer, others = make(together, **options), [make([x], **options) for x in alone]
    for turn in range(6):
        for i, (x, y) in enumerate(zip(together, alone, strict=True)):
            gradient = rng.normal(size=x.shape).astype(np.float32)
            present = turn % (i + 2) != 1
            x.grad = ex.tensor(gradient) if present else None
            y.grad = ex.tensor(gradient) if present else None
        optimizer.step()
        for other in others:
            other.step()
    for x, y, other in zip(together, alone, others, strict=True):
        np.testing.assert_array_equal(x.numpy(), y.numpy())
        assert optimizer.state[x]["step"] == other.state[y]["step"] < 6


@each
def test_layouts(make: Any, options: Any, rng: np.random.Generator) -> None:
    """Strided parameters and gradients are like contiguous ones; nothing else is touched."""
    values, gradient = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    memory = np.full((4, 6), 5.0)
    memory[:, ::2] = values
    strided = ex.Tensor(memory[:, ::2], requires_grad=True)
    plain = ex.tensor(values, requires_grad=True)
    turned = ex.Tensor(np.asfortranarray(values), requires_grad=True)
    optimizer = make([strided, plain, turned], **options)
    for _ in range(2):
        strided.grad = ex.Tensor(np.asfortranarray(gradient))
        plain.grad = ex.Tensor(np.repeat(gradient, 2, axis=1)[:, ::2])
        turned.grad = ex.Tensor(gradient.copy())
        optimizer.step()
    np.testing.assert_allclose(strided.numpy(), plain.numpy(), rtol=1e-14)
    np.testing.assert_allclose(turned.numpy(), plain.numpy(), rtol=1e-14)
    assert np.shares_memory(strided.numpy(), memory)
    assert (memory[:, 1::2] == 5.0).all()


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1, 1)])
def test_small_shapes(shape: tuple[int, ...]) -> None:
    for make, options in OPTIMIZERS:
        if make is optim.Muon:
            continue
        x = ex.ones(shape, requires_grad=True)
        optimizer = make([x], **options)
        for _ in range(2):
            x.grad = ex.ones(shape)
            optimizer.step()
        assert x.shape == shape
        assert (x.numpy() < 1).all()


def test_state_of_16_bit_parameters_is_float32() -> None:
    x = ex.ones(3, dtype=ex.bfloat16, requires_grad=True)
    x.grad = ex.full((3,), 1e-3, dtype=ex.bfloat16)
    optimizer = optim.Adam([x])
    optimizer.step()
    assert optimizer.state[x]["v"].dtype == np.float32
    assert x.dtype == ex.bfloat16


@pytest.mark.skipif(door.ENGINE != "native", reason="counts kernels")
@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, optim.LAMB, optim.Lion])
def test_a_step_is_one_call(make: Any, rng: np.random.Generator) -> None:
    parameters = _parameters(rng)
    optimizer = make(parameters)
    _train(optimizer, parameters, 1)
    _loss(parameters).backward()
    seen = []
    with door.watch(lambda computed: seen.append(computed.op)):
        optimizer.step()
    assert seen == [optimizer.update.name]


def test_the_tape_notices_a_step() -> None:
    x = ex.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    loss.backward(retain_graph=True)
    optim.SGD([x], lr=0.1).step()
    with pytest.raises(RuntimeError, match="was changed in place before the backward pass"):
        loss.backward()


def test_groups() -> None:
    x, y, z = (ex.ones(2, requires_grad=True) for _ in range(3))
    optimizer = optim.SGD([{"params": [x]}, {"params": y, "lr": 0.5}], lr=0.25)
    optimizer.add_param_group({"params": [z], "weight_decay": 1.0})
    for parameter in (x, y, z):
        parameter.grad = ex.ones(2)
    optimizer.step()
    assert [t.tolist() for t in (x, y, z)] == [[0.75] * 2, [0.5] * 2, [0.5] * 2]
    optimizer.param_groups[0]["lr"] = np.float64(1.0)
    optimizer.param_groups[1]["lr"] = np.float32(1.0)
    optimizer.step()
    assert (x.tolist(), y.tolist()) == ([-0.25] * 2, [-0.5] * 2)
    optimizer.zero_grad()
    assert x.grad is y.grad is z.grad is None


def test_momentum_may_be_switched_on_later() -> None:
    x = ex.ones(2, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1)
    x.grad = ex.ones(2)
    optimizer.step()
    optimizer.param_groups[0]["momentum"] = 0.5
    optimizer.step()
    assert optimizer.state[x]["velocity"].tolist() == [1.0, 1.0]


def test_closure() -> None:
    x = ex.tensor([2.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.25)

    def closure() -> ex.Tensor:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with ex.no_grad():
        assert optimizer.step(closure).item() == 4.0
    assert x.tolist() == [1.0]


def _rosenbrock(x: ex.Tensor) -> ex.Tensor:
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def _minimizing(x: ex.Tensor, optimizer: Any) -> Any:
    def closure() -> ex.Tensor:
        optimizer.zero_grad()
        loss = _rosenbrock(x)
        loss.backward()
        return loss

    return closure


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lbfgs_finds_the_minimum(dtype: str) -> None:
    x = ex.tensor(np.array([-1.2, 1.0, 0.5], dtype), requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=100, line_search_fn="strong_wolfe")
    optimizer.step(_minimizing(x, optimizer))
    np.testing.assert_allclose(x.numpy(), 1.0, atol=1e-3 if dtype == "float32" else 1e-5)
    assert x.dtype == dtype


def test_lbfgs_resumes_with_the_same_bits(tmp_path: Any) -> None:
    def make() -> tuple[ex.Tensor, Any]:
        x = ex.tensor([-1.2, 1.0, 0.5], dtype="float64", requires_grad=True)
        options = {"max_iter": 4, "history_size": 3, "line_search_fn": "strong_wolfe"}
        return x, optim.LBFGS([x], **options)

    x, optimizer = make()
    for _ in range(2):
        optimizer.step(_minimizing(x, optimizer))
    y, other = make()
    y.detach().numpy()[...] = x.numpy()
    ex.save(tmp_path / "state.safetensors", optimizer.state_dict())
    other.load_state_dict(ex.load(tmp_path / "state.safetensors"))
    for _ in range(3):
        optimizer.step(_minimizing(x, optimizer))
        other.step(_minimizing(y, other))
    np.testing.assert_array_equal(x.numpy(), y.numpy())
    assert list(optimizer.state.values()) == list(other.state.values())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"state.direction": None},
            "LBFGS.load_state_dict: an entry is missing, got key='state.direction'",
        ),
        (
            {"state.moves.0": np.ones(2)},
            "LBFGS.load_state_dict: state.moves.0 must have shape (3,), got shape=(2,)",
        ),
        (
            {"state.turns.9": np.ones(3)},
            "LBFGS.load_state_dict: unknown entries, got keys=['state.turns.9']",
        ),
    ],
)
def test_wrong_state_of_lbfgs_is_refused(change: dict[str, Any], text: str) -> None:
    x = ex.tensor([-1.2, 1.0, 0.5], requires_grad=True)
    optimizer = optim.LBFGS([x], max_iter=4)
    optimizer.step(_minimizing(x, optimizer))
    before = optimizer.state_dict()
    given = {k: v for k, v in {**before, **change}.items() if v is not None}
    with pytest.raises(ValueError, match=r"load_state_dict") as caught:
        optimizer.load_state_dict(given)
    assert str(caught.value) == text
    assert optimizer.state_dict().keys() == before.keys()


def test_adafactor_keeps_rows_and_columns() -> None:
    matrix, vector = ex.ones((2, 3, 4), requires_grad=True), ex.ones(5, requires_grad=True)
    optimizer = optim.Adafactor([matrix, vector])
    for x in (matrix, vector):
        x.grad = ex.ones(x.shape)
    optimizer.step()
    shapes = [
        {name: value.shape for name, value in state.items() if name != "step"}
        for state in optimizer.state.values()
    ]
    assert shapes == [{"row_var": (2, 3, 1), "col_var": (2, 1, 4)}, {"variance": (5,)}]
    other = optim.Adafactor([matrix, vector])
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["eps"] == (None, 1e-3)


def _one() -> ex.Tensor:
    return ex.ones((2,), requires_grad=True)


def _with_gradient(parameter: ex.Tensor, gradient: Any) -> list[ex.Tensor]:
    parameter.grad = gradient
    return [parameter]


def _read_only() -> ex.Tensor:
    array = np.ones(2, np.float32)
    array.flags.writeable = False
    return ex.Tensor(array, requires_grad=True)


ONE = _one()
ERRORS = [
    (lambda: optim.SGD([]), "SGD: params must hold at least one parameter, got params=[]"),
    (
        lambda: optim.SGD(_one()),
        "SGD: params must be an iterable of tensors or dicts, got params='Tensor'",
    ),
    (lambda: optim.SGD([1.0]), "SGD: a parameter must be a tensor, got index=0, type='float'"),  # type: ignore[list-item]
    (
        lambda: optim.SGD([_one() * 2]),
        "SGD: a parameter must be a floating leaf tensor, not a result, "
        "got index=0, dtype='float32'",
    ),
    (
        lambda: optim.SGD([ex.tensor([1])]),
        "SGD: a parameter must be a floating leaf tensor, not a result, got index=0, dtype='int64'",
    ),
    (
        lambda: optim.SGD([ONE, ONE]),
        "SGD: parameters must not share memory; give a shared one once, got indices=[0, 1]",
    ),
    (
        lambda: optim.SGD([ONE, _one(), ONE.detach()]),
        "SGD: parameters must not share memory; give a shared one once, got indices=[0, 2]",
    ),
    (
        lambda: optim.Lion([{"params": [_one()], "rate": 1}]),
        "Lion: a group has params and may have lr, betas, weight_decay, maximize, "
        "got group=['params', 'rate']",
    ),
    (lambda: optim.SGD([_one()], lr=-1), "SGD: lr must be 0 or greater, got lr=-1"),
    (lambda: optim.SGD([_one()], lr=np.nan), "SGD: lr must be 0 or greater, got lr=nan"),
    (
        lambda: optim.SGD([_one()], nesterov=True),
        "SGD: nesterov needs momentum and no dampening, got momentum=0.0, dampening=0.0",
    ),
    (
        lambda: optim.AdamW([_one()], betas=(0.9, 1.0)),
        "AdamW: betas must be in [0, 1), got betas=(0.9, 1.0)",
    ),
    (lambda: optim.Lion([_one()], betas=(0.9,)), "Lion: betas must be two, got betas=(0.9,)"),
    (lambda: optim.Adam([_one()], betas=0.9), "Adam: betas must be two, got betas=0.9"),
    (lambda: optim.Adadelta([_one()], rho=1), "Adadelta: rho must be in [0, 1), got rho=1"),
    (lambda: optim.Muon([_one()]), "Muon: parameters must be matrices, got index=0, shape=(2,)"),
    (
        lambda: optim.Rprop([_one()], etas=(0.5, 0.9)),
        "Rprop: etas must be a factor in (0, 1) and one above 1, got etas=(0.5, 0.9)",
    ),
    (
        lambda: optim.Rprop([_one()], step_sizes=(2.0, 1.0)),
        "Rprop: step_sizes must be 0 or greater, the least first, got step_sizes=(2.0, 1.0)",
    ),
    (
        lambda: optim.Adafactor([_one()], beta2_decay=0.5),
        "Adafactor: beta2_decay must be 0 or less, got beta2_decay=0.5",
    ),
    (lambda: optim.Adafactor([_one()], d=0.5), "Adafactor: d must be 1 or greater, got d=0.5"),
    (
        lambda: optim.Adafactor([_one()], eps=(None, -1.0)),
        "Adafactor: eps must be 0 or greater, got eps=(None, -1.0)",
    ),
    (
        lambda: optim.Adafactor([_one()], eps=1e-8),  # type: ignore[arg-type]
        "Adafactor: eps must be a number or None, and a number, got eps=1e-08",
    ),
    (
        lambda: optim.LBFGS([{"params": [_one()]}, {"params": [_one()]}]),
        "LBFGS: there must be one group, got groups=2",
    ),
    (
        lambda: optim.LBFGS([_one()], max_iter=0),
        "LBFGS: max_iter must be 1 or more, got max_iter=0",
    ),
    (
        lambda: optim.LBFGS([_one()], line_search_fn="armijo"),
        "LBFGS: line_search_fn must be None or 'strong_wolfe', got line_search_fn='armijo'",
    ),
    (
        lambda: optim.LBFGS([_one()]).step(),
        "LBFGS: step needs a closure that returns the loss, got None",
    ),
    (
        lambda: optim.LBFGS([_one()]).step(lambda: None),
        "LBFGS: the closure must return the loss, got result='NoneType'",
    ),
    (
        lambda: optim.Muon([ex.ones((2, 2))], adjust_lr_fn="mine"),
        "Muon: adjust_lr_fn must be 'original' or 'match_rms_adamw', got adjust_lr_fn='mine'",
    ),
    (
        lambda: optim.Muon([ex.ones((2, 2))], ns_coefficients=(1, 2)),
        "Muon: ns_coefficients must be three numbers, got ns_coefficients=(1, 2)",
    ),
    (
        lambda: optim.Adam(_with_gradient(_one(), ex.ones(3))).step(),
        "grad: must have the shape (2,) and dtype float32 of its tensor, got (3,) and float32",
    ),
    (
        lambda: optim.Adam(_with_gradient(_one(), np.ones(2))).step(),
        "grad: must be a tensor or None, got numpy.ndarray",
    ),
    (
        lambda: optim.Adam(_with_gradient(_read_only(), ex.ones(2))).step(),
        "Adam: a parameter must not be read-only, got index=0",
    ),
    (
        lambda: optim.sgd_step([1.0, 2.0], [1.0], 0.1),
        "sgd_step: gradient must have shape (2,), got gradient_shape=(1,)",
    ),
    (
        lambda: optim.adam_step([1.0], [1.0], [1.0], [[1.0]], 1),
        "adam_step: v must have shape (1,), got v_shape=(1, 1)",
    ),
    (
        lambda: optim.rmsprop_step([1.0], [1.0], None, momentum=0.5, velocity=[1]),
        "rmsprop_step: v must be a tensor, got v=None",
    ),
    (
        lambda: optim.adam_step([1.0], [1.0], [1.0], [1.0], -1),
        "adam_step: step must be 1 or more, got step=-1",
    ),
    (
        lambda: optim.adamw_step([1.0], [1.0], [1.0], [1.0], 1, betas=(0.9, 2.0)),
        "adamw_step: betas must be in [0, 1), got betas=(0.9, 2.0)",
    ),
    (
        lambda: optim.clip_grad_norm([_one()], -1),
        "clip_grad_norm: max_norm must be 0 or greater, got max_norm=-1",
    ),
    (
        lambda: optim.clip_grad_norm([_one()], 1, -1),
        "clip_grad_norm: norm_type must be 0 or greater, got norm_type=-1",
    ),
    (
        lambda: optim.clip_grad_norm(_with_gradient(_one(), ex.tensor([np.inf, 1])), 1, 2, True),
        "clip_grad_norm: the norm of the gradients must be finite, got norm=inf",
    ),
    (
        lambda: optim.clip_grad_value(_with_gradient(_one(), _read_only()), 1),
        "clip_grad_value: a gradient must not be read-only, got index=0",
    ),
    (
        lambda: optim.clip_grad_value([_one()], -1),
        "clip_grad_value: clip_value must be 0 or greater, got clip_value=-1",
    ),
    (
        lambda: optim.clip_grad_value([1.0], 1),  # type: ignore[list-item]
        "clip_grad_value: parameters must be tensors, got float at index 0",
    ),
    (lambda: optim.EMA([_one()], decay=1.5), "EMA: decay must be in [0, 1], got decay=1.5"),
    (
        lambda: optim.EMA([_one()]).copy_to([ex.ones(3)]),
        "EMA: parameters must have shapes [(2,)], got shapes=[(3,)]",
    ),
]


@pytest.mark.parametrize("row", range(len(ERRORS)))
def test_error_texts(row: int) -> None:
    call, text = ERRORS[row]
    with pytest.raises((ValueError, TypeError, RuntimeError)) as caught:
        call()
    assert str(caught.value) == text


def test_a_failed_step_changes_nothing() -> None:
    x, y = _one(), _one()
    optimizer = optim.Adam([x, y])
    x.grad = ex.ones(2)
    assert _native.exchange_gradient(y, None, ex.ones(3))  # no other way leads there
    with pytest.raises(ValueError, match="must be like it"):
        optimizer.step()
    assert x.tolist() == [1.0, 1.0]
    assert optimizer.state == {}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"groups.0.params": 2}, "SGD.load_state_dict: groups.0.params must be 1, got params=2"),
        ({"groups.0.lr": None}, "SGD.load_state_dict: an entry is missing, got key='groups.0.lr'"),
        (
            {"state.0.velocity": np.ones(3)},
            "SGD.load_state_dict: state.0.velocity must have shape (2,), got shape=(3,)",
        ),
        ({"state.1.step": 4}, "SGD.load_state_dict: unknown entries, got keys=['state.1.step']"),
    ],
)
def test_wrong_state_is_refused(change: dict[str, Any], text: str) -> None:
    x = _one()
    optimizer = optim.SGD([x], lr=0.5, momentum=0.9)
    x.grad = ex.ones(2)
    optimizer.step()
    saved = {**optimizer.state_dict(), "groups.0.lr": 0.25, **change}
    with pytest.raises(ValueError, match=r"load_state_dict") as caught:
        optimizer.load_state_dict({k: v for k, v in saved.items() if v is not None})
    assert str(caught.value) == text
    assert optimizer.param_groups[0]["lr"] == 0.5
    assert optimizer.state[x]["step"] == 1


@pytest.mark.parametrize("rate", [ex.tensor(0.1), np.float32(0.1), np.array(0.1, "f4")], ids=type)
@pytest.mark.parametrize("name", ["SGD", "AdamW", "RMSprop", "Adagrad", "Lion", "LAMB", "Muon"])
def test_resumes_to_the_same_bits_with_a_rate_of_any_kind(name: str, rate: Any) -> None:
    def made() -> tuple[ex.Tensor, Any]:
        parameter = ex.tensor(np.linspace(-1, 1, 12, dtype="f4").reshape(4, 3), requires_grad=True)
        return parameter, getattr(ex.optim, name)([parameter], lr=rate)

    def stepped(parameter: ex.Tensor, optimizer: Any, first: int) -> None:
        for number in range(first, first + 3):
            draws = np.random.default_rng(number)
            parameter.grad = ex.tensor(draws.normal(size=(4, 3)).astype("f4"))
            optimizer.step()

    parameter, optimizer = made()
    stepped(parameter, optimizer, 0)
    state, values = optimizer.state_dict(), parameter.numpy().copy()
    stepped(parameter, optimizer, 3)
    again, other = made()
    again.detach().numpy()[...] = values
    other.load_state_dict(state)
    stepped(again, other, 3)
    np.testing.assert_array_equal(again.numpy(), parameter.numpy())


def test_keywords_that_choose_nothing_here() -> None:
    parameter = ex.ones(2, requires_grad=True)
    made = ex.optim.AdamW(
        [parameter], lr=0.1, foreach=None, fused=False, capturable=False, differentiable=False
    )
    assert made.defaults == ex.optim.AdamW([parameter], lr=0.1).defaults
    text = (
        r"^SGD: fused must be None or False \(anything else is not implemented\), got fused=True$"
    )
    with pytest.raises(ValueError, match=text):
        ex.optim.SGD([parameter], lr=0.1, fused=True)
