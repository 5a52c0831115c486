"""Optimizers, clipping and schedules against PyTorch, with drawn options over many steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import optim

torch = pytest.importorskip("torch")

from torch_samples import OPTIMIZERS  # noqa: E402

SHAPES = [(3, 4), (7,), (), (33, 5)]
STEPS = 24
DRAWS = range(8)
# Single precision: many steps of rounding, where a root of a small number may stand below.
CLOSE = {"float64": {"rtol": 1e-10, "atol": 1e-12}, "float32": {"rtol": 2e-5, "atol": 2e-6}}

Options = dict[str, Any]


def _rate(rng: np.random.Generator) -> float:
    return float(10 ** rng.uniform(-3, -0.5))


def _decay(rng: np.random.Generator) -> float:
    return float(rng.choice([0.0, rng.uniform(0, 0.3)]))


def _betas(rng: np.random.Generator) -> tuple[float, float]:
    return float(rng.uniform(0, 0.95)), float(rng.uniform(0.5, 0.999))


def _flag(rng: np.random.Generator) -> bool:
    return bool(rng.integers(2))


def _sgd(rng: np.random.Generator) -> Options:
    momentum = float(rng.choice([0.0, 0.5, 0.9]))
    nesterov = momentum > 0 and _flag(rng)
    dampening = 0.0 if nesterov else float(rng.choice([0.0, 0.3]))
    return {"momentum": momentum, "nesterov": nesterov, "dampening": dampening}


def _adam(rng: np.random.Generator) -> Options:
    eps = float(10 ** rng.uniform(-8, -2))
    return {"betas": _betas(rng), "eps": eps, "amsgrad": _flag(rng)}


def _rmsprop(rng: np.random.Generator) -> Options:
    return {
        "alpha": float(rng.uniform(0.5, 0.99)),
        "eps": float(10 ** rng.uniform(-6, -2)),
        "momentum": float(rng.choice([0.0, 0.5])),
        # Centered, the root of a difference: torch has NaN where rounding makes it negative.
        "centered": _flag(rng),
    }


def _adagrad(rng: np.random.Generator) -> Options:
    return {
        "lr_decay": float(rng.choice([0.0, 0.1])),
        "initial_accumulator_value": float(rng.choice([0.0, 0.4])),
    }


def _adadelta(rng: np.random.Generator) -> Options:
    return {"rho": float(rng.uniform(0.5, 0.99)), "eps": float(10 ** rng.uniform(-6, -2))}


def _nadam(rng: np.random.Generator) -> Options:
    return {
        "betas": _betas(rng),
        "eps": float(10 ** rng.uniform(-8, -2)),
        "momentum_decay": float(rng.choice([0.0, 4e-3, 0.5])),
        "decoupled_weight_decay": _flag(rng),
    }


def _radam(rng: np.random.Generator) -> Options:
    eps = float(10 ** rng.uniform(-8, -2))
    return {"betas": _betas(rng), "eps": eps, "decoupled_weight_decay": _flag(rng)}


def _adamax(rng: np.random.Generator) -> Options:
    return {"betas": _betas(rng), "eps": float(10 ** rng.uniform(-8, -2))}


def _asgd(rng: np.random.Generator) -> Options:
    return {
        "lambd": float(10 ** rng.uniform(-4, -1)),
        "alpha": float(rng.uniform(0.5, 1)),
        "t0": float(rng.choice([3.0, 10.0, 1e6])),
    }


def _rprop(rng: np.random.Generator) -> Options:
    return {
        "etas": (float(rng.uniform(0.2, 0.9)), float(rng.uniform(1.1, 2))),
        "step_sizes": (float(10 ** rng.uniform(-6, -3)), float(rng.uniform(0.1, 50))),
    }


def _adafactor(rng: np.random.Generator) -> Options:
    return {
        "beta2_decay": float(rng.uniform(-1, -0.5)),
        "eps": (None if _flag(rng) else 1e-6, float(rng.choice([1e-3, 1.0]))),
        "d": float(rng.choice([1.0, 2.0])),
    }


DRAWN: dict[str, Callable[[np.random.Generator], Options]] = {
    "SGD": _sgd,
    "Adam": _adam,
    "AdamW": _adam,
    "RMSprop": _rmsprop,
    "Adagrad": _adagrad,
    "Adadelta": _adadelta,
    "NAdam": _nadam,
    "RAdam": _radam,
    "Adamax": _adamax,
    "ASGD": _asgd,
    "Rprop": _rprop,
    "Adafactor": _adafactor,
}


@pytest.fixture(autouse=True)
def _default_of_torch(request: pytest.FixtureRequest) -> Iterator[None]:
    """The scalars in the state of torch's optimizers have its default dtype."""
    if "dtype" not in request.fixturenames:
        yield
        return
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, request.getfixturevalue("dtype")))
    yield
    torch.set_default_dtype(before)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", DRAWN)
def test_optimizer(name: str, draw: int, dtype: str, rng: np.random.Generator) -> None:
    options = {"lr": _rate(rng), "weight_decay": _decay(rng), "maximize": _flag(rng)}
    options |= DRAWN[name](rng)
    if name == "Rprop":
        del options["weight_decay"]
    values = [np.asarray(rng.normal(size=shape), dtype) for shape in SHAPES]
    mine = [ex.tensor(x, requires_grad=True) for x in values]
    theirs = [torch.tensor(x, requires_grad=True) for x in values]
    ours, peer = (
        getattr(optim, name)(mine, **options),
        getattr(torch.optim, name)(theirs, **options),
    )
    for step in range(STEPS):
        for i, (x, y) in enumerate(zip(mine, theirs, strict=True)):
            gradient = np.asarray(rng.normal(size=x.shape), dtype)
            skipped = i == 1 and step % 3 == 1
            x.grad = None if skipped else ex.tensor(gradient)
            y.grad = None if skipped else torch.tensor(gradient)
        ours.step()
        peer.step()
    for x, y in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(x.numpy(), y.detach().numpy(), **CLOSE[dtype])


def test_the_mean_of_asgd(rng: np.random.Generator) -> None:
    value = rng.normal(size=(3, 4))
    x, y = ex.tensor(value, requires_grad=True), torch.tensor(value, requires_grad=True)
    ours = optim.ASGD([x], lr=0.1, t0=4)
    peer = torch.optim.ASGD([y], lr=0.1, t0=4)
    for _ in range(STEPS):
        gradient = rng.normal(size=value.shape)
        x.grad, y.grad = ex.tensor(gradient), torch.tensor(gradient)
        ours.step()
        peer.step()
    # PyTorch keeps its weights in float32, as its default dtype is.
    np.testing.assert_allclose(ours.state[x]["ax"], peer.state[y]["ax"].numpy(), rtol=1e-6)


def _valley(xs: list[Any]) -> Any:
    """Rosenbrock's function, twisted by a second parameter."""
    x, y = xs
    steep = (x[1:] - x[:-1] * x[:-1]) ** 2
    return 100 * steep.sum() + ((1 - x[:-1]) ** 2).sum() + ((y - x.sum()) ** 2).sum()


@pytest.mark.parametrize(
    "options",
    [
        {"lr": 1e-3},
        {"lr": 2e-3, "max_iter": 7, "history_size": 3},
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "max_iter": 6, "history_size": 2, "lr": 0.5},
        {"line_search_fn": "strong_wolfe", "max_eval": 5, "lr": 3.0},
        {"line_search_fn": "strong_wolfe", "tolerance_grad": 0.1},
        {"line_search_fn": "strong_wolfe", "tolerance_change": 1e-2},
    ],
    ids=str,
)
@pytest.mark.parametrize("draw", range(4))
def test_lbfgs(options: Options, draw: int, rng: np.random.Generator) -> None:
    values = [rng.normal(size=5), rng.normal(size=(2, 3))]
    mine = [ex.tensor(x, requires_grad=True) for x in values]
    theirs = [torch.tensor(x, requires_grad=True) for x in values]
    ours, peer = optim.LBFGS(mine, **options), torch.optim.LBFGS(theirs, **options)

    def closure() -> Any:
        ours.zero_grad()
        loss = _valley(mine)
        loss.backward()
        return loss

    def their_closure() -> Any:
        peer.zero_grad()
        loss = _valley(theirs)
        loss.backward()
        return loss

    for _ in range(3):
        loss, expected = ours.step(closure), peer.step(their_closure)
        assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-8, abs=1e-10)
        for x, y in zip(mine, theirs, strict=True):
            np.testing.assert_allclose(x.numpy(), y.detach().numpy(), rtol=1e-6, atol=1e-8)
        counts, known = ours.state[mine[0]], peer.state[theirs[0]]
        assert counts["n_iter"] == known["n_iter"]
        assert counts["func_evals"] == known["func_evals"]


def _samples() -> list[tuple[str, Options]]:
    """PyTorch's own options of every optimizer that is here too; Muon iterates in bfloat16 there."""
    return [
        (name, sample.kwargs)
        for name, info in OPTIMIZERS.items()
        for sample in info.optim_inputs_func(device="cpu")
        if name in optim.__all__ and name != "Muon"
    ]


@pytest.mark.parametrize(("name", "options"), _samples(), ids=str)
@pytest.mark.parametrize("dtype", ["float64"])
def test_pytorchs_samples(
    name: str, options: Options, dtype: str, rng: np.random.Generator
) -> None:
    values = [rng.normal(size=5), rng.normal(size=(2, 3))]
    mine = [ex.tensor(x, requires_grad=True) for x in values]
    theirs = [torch.tensor(x, requires_grad=True) for x in values]
    numbers = {key: float(x) if torch.is_tensor(x) else x for key, x in options.items()}
    ours = getattr(optim, name)(mine, **numbers)
    peer = getattr(torch.optim, name)(theirs, **numbers)

    def closure(optimizer: Any, parameters: list[Any]) -> Callable[[], Any]:
        def compute() -> Any:
            optimizer.zero_grad()
            x, y = parameters
            loss = ((x * x - 1) ** 2).sum() + ((y - x.sum()) ** 2).sum()
            loss.backward()
            return loss

        return compute

    # A step of L-BFGS is twenty iterations, which enlarge what rounding makes of the first ones.
    for _ in range(3 if name == "LBFGS" else STEPS):
        ours.step(closure(ours, mine))
        peer.step(closure(peer, theirs))
    for x, y in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(x.numpy(), y.detach().numpy(), **CLOSE[dtype])


@pytest.mark.parametrize("draw", DRAWS)
def test_muon(draw: int, rng: np.random.Generator) -> None:
    """PyTorch iterates in bfloat16, so only the first two or three digits of a step agree."""
    shape = tuple(int(n) for n in rng.integers(2, 12, 2))
    options = {
        "lr": 0.1,
        "weight_decay": _decay(rng),
        "nesterov": _flag(rng),
        "adjust_lr_fn": str(rng.choice(["original", "match_rms_adamw"])),
    }
    value = rng.normal(size=shape).astype(np.float32)
    x, y = ex.tensor(value, requires_grad=True), torch.tensor(value, requires_grad=True)
    ours, peer = optim.Muon([x], **options), torch.optim.Muon([y], **options)
    for _ in range(3):
        gradient = rng.normal(size=shape).astype(np.float32)
        x.grad, y.grad = ex.tensor(gradient), torch.tensor(gradient)
        ours.step()
        peer.step()
    np.testing.assert_allclose(x.numpy(), y.detach().numpy(), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_clipping(order: float, limit: float, rng: np.random.Generator) -> None:
    mine, theirs = [], []
    for shape in SHAPES:
        gradient = rng.normal(size=shape)
        mine.append(ex.zeros(shape, dtype="float64", requires_grad=True))
        theirs.append(torch.zeros(shape, dtype=torch.float64, requires_grad=True))
        mine[-1].grad, theirs[-1].grad = ex.tensor(gradient), torch.tensor(gradient)
    norm = optim.clip_grad_norm(mine, limit, order)
    expected = torch.nn.utils.clip_grad_norm_(theirs, limit, order)
    assert norm.item() == pytest.approx(expected.item(), rel=1e-12)
    for x, y in zip(mine, theirs, strict=True):
        # PyTorch divides by the norm plus 1e-6.
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6)
    optim.clip_grad_value(mine, 0.05)
    torch.nn.utils.clip_grad_value_(theirs, 0.05)
    for x, y in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-6)


SCHEDULES: list[tuple[str, Options]] = [
    ("StepLR", {"step_size": 3, "gamma": 0.3}),
    ("MultiStepLR", {"milestones": [2, 5, 6], "gamma": 0.3}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("CosineAnnealingLR", {"T_max": 7, "eta_min": 0.01}),
    ("LambdaLR", {"lr_lambda": lambda t: 0.95**t}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.9, "end_factor": 0.1, "total_iters": 7}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.7, "total_iters": 9}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 11, "power": 2.5}),
    ("MultiplicativeLR", {"lr_lambda": lambda t: 1 - 0.5 / t}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.02}),
    ("CyclicLR", {"base_lr": 0.05, "max_lr": 0.4, "step_size_up": 3}),
    ("CyclicLR", {"base_lr": 0.05, "max_lr": 0.4, "step_size_up": 3, "step_size_down": 5}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.3, "step_size_up": 2, "mode": "triangular2"}),
    (
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 0.3, "step_size_up": 4, "mode": "exp_range", "gamma": 0.9},
    ),
    (
        "CyclicLR",
        {
            "base_lr": 0.1,
            "max_lr": 0.3,
            "step_size_up": 4,
            "scale_fn": lambda n: 1 / (1 + n),
            "scale_mode": "iterations",
            "base_momentum": 0.3,
            "max_momentum": 0.6,
        },
    ),
    (
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 0.3, "step_size_up": 3, "scale_fn": lambda n: 1 / n},
    ),
    ("OneCycleLR", {"max_lr": 0.4, "total_steps": 20}),
    ("OneCycleLR", {"max_lr": 0.4, "total_steps": 20, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 0.4, "epochs": 4, "steps_per_epoch": 5, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 0.4, "total_steps": 20, "cycle_momentum": False, "pct_start": 0.6}),
]


@pytest.mark.parametrize("row", range(len(SCHEDULES)))
@pytest.mark.parametrize("owner", ["SGD", "Adam"])
def test_schedule(row: int, owner: str) -> None:
    name, options = SCHEDULES[row]
    settings = {"lr": 0.2, **({"momentum": 0.5} if owner == "SGD" else {})}
    ours = getattr(optim, owner)([ex.ones(1, requires_grad=True)], **settings)
    peer = getattr(torch.optim, owner)([torch.ones(1, requires_grad=True)], **settings)
    schedule = getattr(optim, name)(ours, **options)
    expected = getattr(torch.optim.lr_scheduler, name)(peer, **options)
    for _ in range(19):
        mine, theirs = ours.param_groups[0], peer.param_groups[0]
        assert mine["lr"] == pytest.approx(theirs["lr"], rel=1e-12)
        moved = "momentum" if owner == "SGD" else "betas"
        assert mine[moved] == pytest.approx(theirs[moved], rel=1e-12)
        ours.step()
        peer.step()
        schedule.step()
        expected.step()


def _sequence(library: Any, optimizer: Any) -> Any:
    parts = [
        library.LinearLR(optimizer, 0.1, total_iters=4),
        library.CosineAnnealingLR(optimizer, 6, 0.01),
        library.StepLR(optimizer, 2, 0.5),
    ]
    return library.SequentialLR(optimizer, parts, [5, 11])


def _chain(library: Any, optimizer: Any) -> Any:
    parts = [library.ConstantLR(optimizer, 0.1, 4), library.ExponentialLR(optimizer, 0.9)]
    return library.ChainedScheduler(parts, optimizer)


@pytest.mark.parametrize("make", [_sequence, _chain])
def test_composed_schedules(make: Any) -> None:
    ours = optim.SGD([ex.ones(1, requires_grad=True)], lr=0.2, momentum=0.5)
    peer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.2, momentum=0.5)
    schedule, expected = make(optim, ours), make(torch.optim.lr_scheduler, peer)
    for _ in range(15):
        mine, theirs = ours.param_groups[0], peer.param_groups[0]
        assert mine["lr"] == pytest.approx(theirs["lr"], rel=1e-12)
        ours.step()
        peer.step()
        schedule.step()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of its own way to reset a schedule
            expected.step()


def test_restarts_within_epochs() -> None:
    ours = optim.SGD([ex.ones(1, requires_grad=True)], lr=0.2)
    peer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.2)
    schedule = optim.CosineAnnealingWarmRestarts(ours, 2, 3)
    expected = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(peer, 2, 3)
    for count in range(40):
        schedule.step(count / 4)
        expected.step(count / 4)
        assert ours.param_groups[0]["lr"] == pytest.approx(peer.param_groups[0]["lr"], rel=1e-12)
    schedule.step()
    expected.step()
    assert ours.param_groups[0]["lr"] == pytest.approx(peer.param_groups[0]["lr"], rel=1e-12)


@pytest.mark.parametrize("draw", DRAWS)
def test_plateau(draw: int, rng: np.random.Generator) -> None:
    options = {
        "mode": str(rng.choice(["min", "max"])),
        "factor": 0.5,
        "patience": int(rng.integers(0, 3)),
        "threshold": float(rng.choice([1e-4, 0.1])),
        "threshold_mode": str(rng.choice(["rel", "abs"])),
        "cooldown": int(rng.integers(0, 3)),
        "min_lr": float(rng.choice([0.0, 0.05])),
    }
    ours = optim.SGD([ex.ones(1, requires_grad=True)], lr=1.0)
    peer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    schedule = optim.ReduceLROnPlateau(ours, **options)
    expected = torch.optim.lr_scheduler.ReduceLROnPlateau(peer, **options)
    for value in 1 + rng.normal(size=40).cumsum() * 0.1:
        schedule.step(value)
        expected.step(value)
        assert ours.param_groups[0]["lr"] == pytest.approx(peer.param_groups[0]["lr"])
