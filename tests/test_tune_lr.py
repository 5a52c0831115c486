"""Learning rates tried for some steps: against the same by hand, and leaving no trace."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor, files, write_config, write_data
from own_files import write_table, write_text

import extensor as ex
from extensor.data import ArrayDataset, DataLoader, RandomFlip
from extensor.random import Generator
from extensor.train import Experiment, RateTest, Trainer, tune_lr


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_data()
    write_config()
    return tmp_path


def _line() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    return x, x @ np.array([[1.0], [-2.0], [3.0]]) + 0.1 * rng.normal(size=(40, 1))


def _linear(lr: float = 0.1, **options: Any) -> Trainer:
    ex.random.manual_seed(1)
    model = ex.nn.Linear(3, 1, dtype="float64")
    optimizer = ex.optim.SGD(model.parameters(), lr=lr)
    return Trainer(model, ex.mse_loss, optimizer, callbacks=[], **options)


def _by_hand(
    trainer: Trainer, batches: list[tuple[Any, Any]], low: float, high: float, steps: int
) -> tuple[list[float], list[float], list[float], bool]:
    """The procedure with NumPy: linear regression by gradient descent, whose rate grows."""
    weight = trainer.model.weight.numpy().copy()  # type: ignore[attr-defined]
    bias = trainer.model.bias.numpy().copy()  # type: ignore[attr-defined]
    rates, losses, smooth = [], [], []
    average = 0.0
    for step in range(steps):
        rate = np.exp(np.log(low) + (np.log(high) - np.log(low)) * step / (steps - 1))
        x, y = batches[step % len(batches)]
        error = x @ weight.T + bias - y
        rates.append(float(rate))
        losses.append(float(np.mean(error**2)))
        weight -= rate * 2 * error.T @ x / len(x)
        bias -= rate * 2 * error.mean(axis=0)
        average = 0.95 * average + 0.05 * losses[-1]
        smooth.append(average / (1 - 0.95 ** (step + 1)))
        start = float(np.mean(losses[: steps // 10]))
        if step >= steps // 10 and smooth[-1] > start + max(start, start - min(smooth)):
            return rates, losses, smooth, True
    return rates, losses, smooth, False


@pytest.mark.parametrize(("high", "diverged"), [(10.0, True), (0.05, False)])
@pytest.mark.parametrize("accumulate", [1, 2])
def test_it_is_the_procedure_by_hand(high: float, diverged: bool, accumulate: int) -> None:
    x, y = _line()
    trainer = _linear(accumulate=accumulate)
    size = 8 // accumulate
    found = tune_lr(
        trainer, DataLoader(ArrayDataset(x, y), batch_size=size), low=1e-5, high=high, steps=120
    )
    batches = [(x[i : i + 8], y[i : i + 8]) for i in range(0, 40, 8)]
    rates, losses, smooth, ended = _by_hand(trainer, batches, 1e-5, high, 120)
    assert (found.diverged, ended) == (diverged, diverged)
    np.testing.assert_allclose(found.rates, rates, rtol=1e-12)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-9)
    np.testing.assert_allclose(found.smooth, smooth, rtol=1e-9)
    lowest = int(np.argmin(smooth))
    assert found.minimum == pytest.approx(rates[lowest])
    span = len(rates) // 10
    falls = [smooth[i] - smooth[i + span] for i in range(span, lowest - span + 1)]
    steepest = rates[span + int(np.argmax(falls)) + span // 2]
    assert found.steepest == pytest.approx(steepest)
    assert found.suggestion == pytest.approx(min(steepest, rates[lowest] / 10))


def test_the_suggestion_trains() -> None:
    """Ten times as much is where the loss is about to rise at the most."""
    x, y = _line()
    loader = DataLoader(ArrayDataset(x, y), batch_size=8)
    found = tune_lr(_linear(), loader)
    assert found.suggestion is not None
    before = _linear().evaluate(loader)["loss"]
    assert _linear(found.suggestion).fit(loader, 20)[-1]["loss"] < before / 100
    assert found.suggestion <= found.minimum / 10
    with pytest.raises(ex.train.NotFiniteError):
        _linear(float(found.rates[-1])).fit(loader, 2000)


def _everything() -> tuple[Trainer, DataLoader]:
    """Buffers, chance, a schedule that changes the momentum too, averages, state of the optimizer."""
    ex.random.manual_seed(7)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(36, 1, 3, 3)).astype(np.float32)
    y = (x.sum(axis=(1, 2, 3)) > 0).astype(np.int64)
    model = ex.nn.Sequential(
        ex.nn.Flatten(), ex.nn.Linear(9, 8), ex.nn.BatchNorm1d(8), ex.nn.Dropout(0.2),
        ex.nn.Linear(8, 2),
    )  # fmt: skip
    optimizer = ex.optim.AdamW(model.parameters(), lr=0.01)
    ex.optim.OneCycleLR(optimizer, 0.05, total_steps=40, automatic=True)
    loader = DataLoader(
        ArrayDataset(x, y), 6, shuffle=True, transform=RandomFlip(), generator=Generator(1)
    )
    trainer = Trainer(
        model, ex.cross_entropy, optimizer, ema=ex.optim.EMA(model, 0.9), clip_norm=1.0,
        callbacks=[],
    )  # fmt: skip
    return trainer, loader


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}")
    elif hasattr(value, "shape"):
        array = np.asarray(value)
        yield path, (str(array.dtype), array.shape, array.tobytes())
    else:
        yield path, repr(value)


def _state(trainer: Trainer, loader: DataLoader) -> dict[str, Any]:
    """All that could have changed, as bytes and texts."""
    gradients = {
        name: None if p.grad is None else p.grad.numpy()
        for name, p in trainer.model.named_parameters()
    }
    modes = {name: module.training for name, module in trainer.model.named_modules()}
    groups = [{k: v for k, v in g.items() if k != "params"} for g in trainer.optimizer.param_groups]
    everything = {
        "trainer": trainer.state_dict(),
        "gradients": gradients,
        "modes": modes,
        "groups": dict(enumerate(groups)),
        "loader": loader.state_dict(),
        "generator": loader.generator.get_state(),
        "chance": ex.random.get_state(),
        "running": trainer.model.get_submodule("2").running_mean,  # type: ignore[attr-defined]
        "schedules": len(trainer.optimizer.schedules),
    }
    return dict(_flat(everything))


@pytest.mark.parametrize("epochs", [0, 2])
def test_all_is_as_before(epochs: int) -> None:
    trainer, loader = _everything()
    trainer.fit(loader, epochs)
    next(iter(loader))  # somebody has begun an epoch, and not ended it
    trainer.model.get_submodule("3").eval()
    identities = [id(tensor) for tensor in (*trainer.model.parameters(), *trainer.model.buffers())]
    before = _state(trainer, loader)
    found = tune_lr(trainer, loader, steps=60)
    assert len(found.rates) > 40
    assert len(set(found.losses.tolist())) > 40  # it did train
    assert _state(trainer, loader) == before
    after = [id(tensor) for tensor in (*trainer.model.parameters(), *trainer.model.buffers())]
    assert after == identities


def test_what_is_trained_afterwards_has_the_same_bits() -> None:
    states = []
    for tuned in (False, True):
        trainer, loader = _everything()
        trainer.fit(loader, 1)
        if tuned:
            tune_lr(trainer, loader, steps=30)
        trainer.fit(loader, 3)
        states.append(_state(trainer, loader))
    assert states[0] == states[1]


def test_a_parameter_outside_the_optimizer_keeps_its_gradient() -> None:
    trainer, loader = _everything()
    first = next(iter(trainer.model.parameters()))
    optimizer = ex.optim.SGD(list(trainer.model.parameters())[1:], lr=0.1)
    other = Trainer(trainer.model, ex.cross_entropy, optimizer, callbacks=[])
    first.grad = ex.ones(first.shape)
    gradient = first.grad
    tune_lr(other, loader, steps=20)
    assert first.grad is gradient
    np.testing.assert_array_equal(gradient.numpy(), np.ones(first.shape))


def test_all_is_as_before_after_an_error() -> None:
    trainer, loader = _everything()
    trainer.fit(loader, 1)
    before = _state(trainer, loader)
    calls = 0
    loss = trainer.take_step.loss

    def failing(output: Any, target: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt
        return loss(output, target)

    trainer.take_step.loss = failing
    with pytest.raises(KeyboardInterrupt):
        tune_lr(trainer, loader)
    trainer.take_step.loss = loss
    assert _state(trainer, loader) == before


def _experiment(**changes: Any) -> Experiment:
    given = {key.replace("__", "."): value for key, value in changes.items()}
    return ex.train.experiment("config.toml", given, callbacks=[])


def test_of_an_experiment_it_depends_on_the_configuration_alone() -> None:
    first = tune_lr(_experiment(model__p=0.3))
    made = _experiment(model__p=0.3)
    ex.random.rand(5)
    second = tune_lr(made)
    np.testing.assert_array_equal(first.losses, second.losses)
    history = made.fit()
    assert history == _experiment(model__p=0.3).fit()


def test_mixed_precision_and_batches_in_a_list() -> None:
    made = _experiment(amp="float16")
    scale = made.trainer.take_step.scaler.state_dict()
    found = tune_lr(made.trainer, list(made.test_loader), steps=40)
    assert len(found.rates) >= 10
    assert made.trainer.take_step.scaler.state_dict() == scale


class _Batches:
    """A loader of the user's own, with a state."""

    def __init__(self, loader: DataLoader) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[Any]:
        return iter(self.loader)

    def state_dict(self) -> dict[str, int]:
        return self.loader.state_dict()

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.loader.load_state_dict(state)


def test_a_loader_with_a_state_of_its_own_gets_it_back() -> None:
    trainer, loader = _everything()
    before = loader.state_dict()
    tune_lr(trainer, _Batches(loader), steps=20)
    assert loader.state_dict() == before
    other = _everything()[1]
    for one, two in zip(loader, other, strict=True):
        np.testing.assert_array_equal(one[0].numpy(), two[0].numpy())


def test_a_loss_that_does_not_fall_has_no_suggestion() -> None:
    """The targets are zero and so are the outputs."""
    trainer = _linear()
    for parameter in trainer.model.parameters():
        ex.nn.init.zeros_(parameter)
    x = _line()[0]
    y = np.random.default_rng(1).choice([-1.0, 1.0], (40, 1))
    found = tune_lr(trainer, DataLoader(ArrayDataset(x * 0, y - y.mean()), batch_size=40))
    assert found.suggestion is None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"low": 0}, "tune_lr: low must be greater than 0, got low=0"),
        ({"low": 1.0, "high": 0.5}, "tune_lr: high must be greater than 1, got high=0.5"),
        ({"high": float("inf")}, "tune_lr: high must be finite, got high=inf"),
        ({"steps": 9}, "tune_lr: steps must be 10 or more, got steps=9"),
        ({"smoothing": 1.0}, "tune_lr: smoothing must be less than 1, got smoothing=1.0"),
        ({"loader": None}, "tune_lr: a trainer needs a loader of batches, got loader=None"),
        (
            {"loader": []},
            "tune_lr: loader must give at least one batch, got batches=0",
        ),
        (
            {"experiment": "config.toml"},
            "tune_lr: experiment must be an Experiment or a Trainer, got experiment='config.toml'",
        ),
    ],
)
def test_what_is_refused(options: dict[str, Any], text: str) -> None:
    x, y = _line()
    given = {"experiment": _linear(), "loader": DataLoader(ArrayDataset(x, y), 8), **options}
    with pytest.raises((ValueError, TypeError)) as error:
        tune_lr(**given)
    assert str(error.value) == text


def test_a_loader_that_can_be_used_once_is_refused() -> None:
    x, y = _line()
    with pytest.raises(TypeError) as error:
        tune_lr(_linear(), iter([(x, y)]))
    assert str(error.value) == (
        "tune_lr: loader must begin anew each time it is iterated, got loader='list_iterator'"
    )


def test_a_first_loss_that_is_not_finite_is_an_error() -> None:
    x, y = _line()
    with pytest.raises(ex.train.NotFiniteError):
        tune_lr(_linear(), DataLoader(ArrayDataset(x * np.inf, y), 8))


def test_the_command_prints_what_to_write_and_leaves_no_run() -> None:
    before = files()
    result = extensor("tune-lr", "config.toml", "--set", "optimizer.name=SGD", "--steps", "100")
    assert (result.code, result.err) == (0, "")
    assert files() == before
    found = tune_lr(_experiment(optimizer__name="SGD"), steps=100)
    rate = float(f"{found.suggestion:.2g}")
    assert f"\n[optimizer]\nlr = {rate}\n" in result.out
    command = f"  extensor train config.toml --set optimizer.name=SGD --set optimizer.lr={rate}"
    assert result.out.splitlines()[-1] == command
    assert "┤" in result.out


def test_under_a_cycle_it_is_the_top_of_it() -> None:
    settings = ["--set", "schedule.name=OneCycleLR", "--set", "schedule.max_lr=9.0"]
    result = extensor("tune-lr", "config.toml", *settings, "--set", "checkpoints.every=2")
    assert result.code == 0
    assert "\n[schedule]\nmax_lr = 0." in result.out
    assert "schedule.max_lr=9.0" not in result.out


@pytest.mark.parametrize("name", ["lr.html", "lr.png"])
def test_the_plot(name: str) -> None:
    if name.endswith("png"):
        pytest.importorskip("matplotlib", reason="PNG plots need Matplotlib")
    result = extensor("tune-lr", "config.toml", "--output", name, "--steps", "50")
    assert result.code == 0, result.err
    content = Path(name).read_bytes()
    assert content.startswith(b"\x89PNG" if name.endswith("png") else b"<!doctype html>")
    if name.endswith("html"):
        assert content.count(b"<polyline") == 2
        assert b'class="mark"' in content
        assert content.count(b"<script") == 1  # values under the pointer
    result = extensor("tune-lr", "config.toml", "--output", name)
    expected = f"extensor tune-lr: --output: file must be new, got output='{name}'\n"
    assert (result.code, result.err) == (2, expected)
    assert Path(name).read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--output", "lr.pdf"], "--output: file must end with .html or .png, got output='lr.pdf'"),
        (["--output", "no/lr.png"], "--output: the folder must exist, got output='no/lr.png'"),
        (["--steps", "3"], "tune_lr: steps must be 10 or more, got steps=3"),
        (["--low", "2", "--high", "1"], "tune_lr: high must be greater than 2, got high=1.0"),
    ],
)
def test_the_command_refuses(arguments: list[str], text: str) -> None:
    before = files()
    result = extensor("tune-lr", "config.toml", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"extensor tune-lr: {text}\n")
    assert files() == before


def test_pictures_need_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.report.search_pages.find_spec", lambda _: None)
    result = extensor("tune-lr", "config.toml", "--output", "lr.png")
    expected = (
        "--output: a .png needs Matplotlib: pip install 'extensor[plot]', got output='lr.png'"
    )
    assert (result.code, result.err) == (2, f"extensor tune-lr: {expected}\n")


def test_the_command_says_if_no_rate_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = np.ones(20)
    nothing = RateTest(np.logspace(-7, 1, 20), flat, flat, 1e-7, 1e-7, None, False)
    monkeypatch.setattr("extensor.cli.tune_lr.tune_lr", lambda *_, **__: nothing)
    result = extensor("tune-lr", "config.toml")
    assert result.code == 2
    assert result.err == (
        "extensor tune-lr: tune-lr: the loss must fall at some rate (look at the data, the loss and "
        "the model), got lowest=1.0, first=1.0\n"
    )


def test_the_command_takes_files_of_data() -> None:
    """And what it prints to go on with is for the same file."""
    path = write_table()
    steps = ("--steps", "30", "--set", "data.batch_size=8")
    before = files()
    result = extensor("tune-lr", path, "--target", "plant", "--task", "multiclass", *steps)
    assert result.code == 0, result.err
    assert files() == before
    assert result.out.startswith("table.csv: 90 rows, 5 columns\n")
    *_, config, rate, _, _, command = result.out.splitlines()
    assert config == "[optimizer]"
    words = shlex.split(command)
    assert words[:7] == "extensor train table.csv --target plant --task multiclass".split()
    assert words[7:] == [
        "--set",
        "data.batch_size=8",
        "--set",
        f"optimizer.{rate.replace(' ', '')}",
    ]
    assert extensor(*words[1:], "--set", "epochs=1").code == 0


def test_of_a_text_it_is_the_top_of_the_usual_cycle() -> None:
    small = ("--set", "data.context=8", "--set", "model.width=8", "--steps", "20")
    result = extensor("tune-lr", write_text(), *small)
    assert result.code == 0, result.err
    assert "\n[schedule]\nmax_lr = " in result.out
    assert " --set schedule.max_lr=" in result.out.splitlines()[-1]
