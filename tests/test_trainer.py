"""The trainer: steps against a loop by hand, evaluation, callbacks, and losses that go wrong."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor import nn, optim
from extensor.data import ArrayDataset, DataLoader
from extensor.random import Generator
from extensor.train import (
    Accuracy,
    Callback,
    EarlyStopping,
    Logging,
    NotFiniteError,
    Trainer,
    default_callbacks,
    read_log,
)


def _data(samples: int = 24, seed: int = 0) -> ArrayDataset:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, 5)).astype(np.float32)
    return ArrayDataset(x, (x @ np.arange(5) > 0).astype(np.int64))


def _model(seed: int = 0, *middle: nn.Module) -> nn.Sequential:
    before = ex.random.get_state()
    ex.random.manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), *middle, nn.Linear(8, 2))
    ex.random.set_state(before)
    return model


def _loader(batch_size: int = 8, **options: Any) -> DataLoader:
    return DataLoader(_data(), batch_size, **options)


def _trainer(model: nn.Module | None = None, lr: float = 0.1, **options: Any) -> Trainer:
    model = model or _model()
    optimizer = options.pop("optimizer", None) or optim.SGD(model.parameters(), lr=lr)
    return Trainer(model, ex.cross_entropy, optimizer, **{"callbacks": [], **options})


def _bytes(model: nn.Module) -> list[bytes]:
    return [tensor.numpy().tobytes() for tensor in model.state_dict().values()]


class Watch(Callback):
    """Remembers every record, and calls a function after each step."""

    def __init__(self, step_ended: Any = None) -> None:
        self.records: list[Any] = []
        self.after = step_ended

    def step_ended(self, trainer: Trainer, record: Any) -> None:
        self.records.append(record)
        if self.after is not None:
            self.after(trainer)

    def epoch_ended(self, trainer: Trainer, record: Any) -> None:
        self.records.append(record)


def test_fit_is_the_loop_by_hand() -> None:
    by_hand = _model()
    optimizer = optim.Adam(by_hand.parameters(), lr=0.01)
    losses = []
    loader = _loader(shuffle=True, generator=Generator(4))
    for _ in range(2):
        for x, y in loader:
            optimizer.zero_grad()
            loss = ex.cross_entropy(by_hand(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    model = _model()
    watch = Watch()
    trainer = _trainer(model, optimizer=optim.Adam(model.parameters(), lr=0.01), callbacks=[watch])
    history = trainer.fit(_loader(shuffle=True, generator=Generator(4)), 2)
    assert _bytes(model) == _bytes(by_hand)
    assert [r["loss"] for r in watch.records if r["event"] == "step"] == losses
    assert [r["loss"] for r in history] == pytest.approx([np.mean(losses[:3]), np.mean(losses[3:])])
    assert [(r["epoch"], r["step"], r["lr"]) for r in history] == [(1, 3, 0.01), (2, 6, 0.01)]


@pytest.mark.parametrize(("batch_size", "accumulate"), [(4, 2), (5, 3), (10, 5)])
def test_accumulated_batches_are_one(batch_size: int, accumulate: int) -> None:
    """Also where the last batch is smaller, or fewer batches are left than make a group."""
    models = []
    for size, group in ((batch_size, accumulate), (batch_size * accumulate, 1)):
        model = _model().double()
        trainer = _trainer(model, accumulate=group)
        dataset = ArrayDataset(*(x.astype(np.float64) if x.ndim > 1 else x for x in _data().arrays))
        trainer.fit(DataLoader(dataset, size), 2)
        assert trainer.step == 2 * -(-24 // (batch_size * accumulate))
        models.append(model)
    for first, second in zip(*(model.parameters() for model in models), strict=True):
        np.testing.assert_allclose(first.numpy(), second.numpy(), rtol=1e-12)


def test_clipping() -> None:
    bounds = []

    class Bound(Callback):
        def step_ended(self, trainer: Trainer, record: Any) -> None:
            gradients = np.concatenate([p.grad.numpy().ravel() for p in trainer.model.parameters()])
            bounds.append((np.linalg.norm(gradients), np.abs(gradients).max()))

    watch = Watch()
    _trainer(clip_norm=0.01, callbacks=[Bound(), watch]).fit(_loader(), 1)
    assert all(norm == pytest.approx(0.01, rel=1e-5) for norm, _ in bounds)
    assert all(r["gradient_norm"] > 0.01 for r in watch.records[:3])
    bounds.clear()
    _trainer(clip_value=0.001, callbacks=[Bound()]).fit(_loader(), 1)
    assert all(largest == np.float32(0.001) for _, largest in bounds)


@pytest.mark.parametrize("amp", ["bfloat16", "float16"])
def test_mixed_precision(amp: str) -> None:
    model = _model()
    trainer = _trainer(model, amp=amp)
    exact = _model()
    _trainer(exact).fit(_loader(), 3)
    trainer.fit(_loader(), 3)
    assert trainer.take_step.scaler.enabled == (amp == "float16")
    assert all(p.dtype == np.float32 for p in model.parameters())
    pairs = list(zip(model.parameters(), exact.parameters(), strict=True))
    assert any(not np.array_equal(a.numpy(), b.numpy()) for a, b in pairs)
    for a, b in pairs:
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=0.02)


def test_evaluation_uses_the_average_and_leaves_no_trace() -> None:
    model = _model(0, nn.Dropout(0.5), nn.BatchNorm1d(8))
    model[1].eval()  # a mode of its own, to be kept
    ema = optim.EMA(model, 0.5)
    trainer = _trainer(model, ema=ema, metrics={"accuracy": Accuracy()})
    trainer.fit(_loader(), 2)
    before = _bytes(model)
    state = ex.random.get_state()
    model.train()
    model[1].eval()
    found = trainer.evaluate(_loader())
    assert _bytes(model) == before
    assert ex.random.get_state() == state
    assert [m.training for m in model.modules()] == [True, True, False, True, True, True]
    x, y = (ex.tensor(array) for array in _data().arrays)
    model.eval()
    with ex.no_grad(), ema.applied():
        output = model(x)
        loss = ex.cross_entropy(output, y).item()
    assert found["loss"] == pytest.approx(loss, rel=1e-6)
    assert found["accuracy"] == np.mean(output.numpy().argmax(axis=1) == y.numpy())
    assert ex.is_grad_enabled()


@pytest.mark.parametrize("given", ["array", "tensor", "loader", "loader without targets"])
def test_predict(given: str) -> None:
    trainer = _trainer()
    x = _data().arrays[0]
    inputs = {
        "array": x,
        "tensor": ex.tensor(x),
        "loader": _loader(),
        "loader without targets": DataLoader(ArrayDataset(x), 8),
    }[given]
    result = trainer.predict(inputs, batch_size=7)
    np.testing.assert_allclose(result.numpy(), trainer.model(x).numpy(), rtol=1e-5, atol=1e-6)
    assert not result.requires_grad


def test_several_inputs() -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            self.linear = nn.Linear(5, 2)

        def forward(self, a: Any, b: Any) -> Any:
            return self.linear(a + b)

    x, y = _data().arrays
    trainer = _trainer(Sum())
    loader = DataLoader(ArrayDataset(x, x, y), 8)
    trainer.fit(loader, 1)
    assert trainer.predict(loader).shape == (24, 2)


def test_schedules_by_step_and_by_epoch() -> None:
    model = _model()
    optimizer = optim.SGD(model.parameters(), lr=1.0)
    optim.ExponentialLR(optimizer, 0.5, automatic=True)
    optim.StepLR(optimizer, 1, gamma=0.1)
    watch = Watch()
    _trainer(model, optimizer=optimizer, callbacks=[watch]).fit(_loader(), 2)
    rates = [r["lr"] for r in watch.records if r["event"] == "step"]
    assert rates == pytest.approx([0.5, 0.25, 0.125, 0.00625, 0.003125, 0.0015625])


def test_rates_fall_on_a_plateau() -> None:
    model = _model()
    optimizer = optim.SGD(model.parameters(), lr=0.0)
    optimizer.param_groups[0]["lr"] = 1e-9
    optim.ReduceLROnPlateau(optimizer, patience=1, eps=0.0)
    trainer = _trainer(model, optimizer=optimizer)
    history = trainer.fit(_loader(), 5, _loader())
    assert [r["lr"] for r in history] == pytest.approx([1e-9] * 3 + [1e-10] * 2)


@pytest.mark.parametrize("mode", ["min", "max"])
def test_early_stopping(mode: str) -> None:
    values = iter([0.5, 0.4, 0.45, 0.41, 0.39, 0.6, 0.7, 0.2])
    if mode == "max":
        values = iter([-v for v in values])

    class Given(Trainer):
        def evaluate(self, loader: Any) -> dict[str, Any]:  # type: ignore[override]
            return {"loss": next(values)}

    model = _model()
    stopping = EarlyStopping(patience=3, mode=mode, min_delta=0.005)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    trainer = Given(model, ex.cross_entropy, optimizer, callbacks=[stopping])
    assert len(trainer.fit(_loader(), 8, _loader())) == 8  # never three in a row without a better
    assert not trainer.stopped
    values = iter([0.5] * 9) if mode == "min" else iter([-0.5] * 9)
    assert len(trainer.fit(_loader(), 20, _loader())) == 11
    assert trainer.stopped


def test_events_come_in_order() -> None:
    events: list[Any] = []

    class Note(Callback):
        def fit_began(self, trainer: Trainer) -> None:
            events.append("began")

        def gradients_known(self, trainer: Trainer) -> None:
            assert all(p.grad is not None for p in trainer.model.parameters())
            events.append("gradients")

        def step_ended(self, trainer: Trainer, record: Any) -> None:
            events.append(record["step"])

        def epoch_ended(self, trainer: Trainer, record: Any) -> None:
            events.append("epoch")

        def fit_ended(self, trainer: Trainer) -> None:
            events.append("ended")

    _trainer(callbacks=[Note()]).fit(_loader(12), 2)
    epochs = [["gradients", 1, "gradients", 2, "epoch"], ["gradients", 3, "gradients", 4, "epoch"]]
    assert events == ["began", *epochs[0], *epochs[1], "ended"]


def test_callbacks_end_when_training_fails() -> None:
    class Failing(Callback):
        ended = False

        def step_ended(self, trainer: Trainer, record: Any) -> None:
            raise RuntimeError("no")

        def fit_ended(self, trainer: Trainer) -> None:
            self.ended = True

    callback = Failing()
    with pytest.raises(RuntimeError, match="no"):
        _trainer(callbacks=[callback]).fit(_loader(), 1)
    assert callback.ended


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert [type(c).__name__ for c in default_callbacks(False)] == ["Progress"]
    _trainer(callbacks=None).fit(_loader(), 1)
    assert list(tmp_path.iterdir()) == []


class Broken(nn.Module):
    """A layer whose derivative or value goes wrong when ``factor`` is set so."""

    def __init__(self) -> None:
        self.factor = 1.0

    def forward(self, x: Any) -> Any:
        return ex.exp(x * self.factor) if self.factor != 1 else x


def test_a_loss_that_is_not_finite_names_step_op_and_module(tmp_path: Path) -> None:
    model = _model(0, nn.Sequential(nn.Dropout(0.1), Broken()))

    def spoil(trainer: Trainer) -> None:
        if trainer.step == 4:
            model[2][1].factor = 1e30

    trainer = _trainer(model, folder=tmp_path / "run", callbacks=[Watch(spoil), Logging()])
    with pytest.raises(NotFiniteError) as caught:
        trainer.fit(_loader(), 9)
    stopped = read_log(tmp_path / "run" / "log.jsonl")[-1]
    assert stopped == {"event": "stopped", "step": 5, "reason": str(caught.value)}
    latest = tmp_path / "run" / "checkpoints" / "step-000000003.safetensors"
    assert str(caught.value) == (
        "step 5 of epoch 2: loss is nan: 2.1: exp gave infinity for finite inputs; "
        f"the last good checkpoint is {latest}"
    )
    assert [path.name for path in latest.parent.iterdir()] == [latest.name]


def test_what_chance_brought_about_is_found_too() -> None:
    """The batch is repeated with the random numbers that it had."""

    class Seldom(nn.Module):
        def forward(self, x: Any) -> Any:
            return x / ex.random.bernoulli(0.9, ())

    before = ex.random.get_state()
    ex.random.manual_seed(0)
    with pytest.raises(NotFiniteError, match=r"2: divide gave (NaN|infinity) for finite inputs$"):
        _trainer(_model(0, Seldom())).fit(_loader(), 99)
    ex.random.set_state(before)


def test_a_batch_that_is_not_finite_is_named() -> None:
    x, y = _data().arrays
    x[13, 2] = np.nan
    trainer = _trainer()
    with pytest.raises(NotFiniteError) as caught:
        trainer.fit(DataLoader(ArrayDataset(x, y), 8), 1)
    assert str(caught.value) == (
        "step 2 of epoch 1: loss is nan: part 0 of the batch is not finite in sample 5"
    )


def test_a_gradient_that_is_not_finite_is_found_before_the_step() -> None:
    class Root(nn.Module):
        def forward(self, x: Any) -> Any:
            with_kink = ex.sqrt(ex.abs(x) * 0.0)
            return x + with_kink

    model = _model(0, Root())
    before = _bytes(model)
    trainer = _trainer(model, clip_norm=1.0)
    with ex.gradient_eps(0), pytest.raises(NotFiniteError) as caught:
        trainer.fit(_loader(), 1)
    assert re.match(
        r"step 1 of epoch 1: norm of the gradients is \w+: sqrt_backward gave ", str(caught.value)
    )
    assert _bytes(model) == before


def test_parameters_that_are_not_finite_are_not_saved(tmp_path: Path) -> None:
    def spoil(trainer: Trainer) -> None:
        if trainer.step == 4:
            trainer.model[0].weight.detach().numpy()[0, 0] = np.inf

    trainer = _trainer(folder=tmp_path / "run", checkpoint_every=2, callbacks=[Watch(spoil)])
    with pytest.raises(NotFiniteError) as caught:
        trainer.fit(_loader(), 9)
    assert str(caught.value).startswith(
        "step 5 of epoch 2: a parameter is not finite, so no checkpoint was written; "
        "the last good checkpoint is "
    )
    names = sorted(path.name for path in (tmp_path / "run" / "checkpoints").iterdir())
    assert names == ["step-000000002.safetensors", "step-000000003.safetensors"]


def test_a_parameter_that_is_not_finite_is_named() -> None:
    def spoil(trainer: Trainer) -> None:
        trainer.model[0].weight.detach().numpy()[0, 0] = np.inf

    with pytest.raises(NotFiniteError, match=r"0\.weight is not finite since the step before$"):
        _trainer(callbacks=[Watch(spoil)]).fit(_loader(), 1)


@pytest.mark.parametrize(
    ("work", "error", "text"),
    [
        (
            lambda: _trainer(accumulate=0),
            ValueError,
            "Trainer: accumulate must be 1 or more, got accumulate=0",
        ),
        (
            lambda: _trainer(clip_norm=0.0),
            ValueError,
            "Trainer: clip_norm must be greater than 0, got clip_norm=0.0",
        ),
        (
            lambda: _trainer(checkpoint_every=2),
            ValueError,
            "Trainer: checkpoints need a folder, got folder=None",
        ),
        (
            lambda: _trainer().fit(DataLoader(ArrayDataset(np.ones((0, 5)), np.ones(0))), 1),
            ValueError,
            "fit: train must be a loader of at least one batch, got train=0",
        ),
        (
            lambda: _trainer().fit(iter([]), 1),
            ValueError,
            "fit: train must be a loader of at least one batch, got train='list_iterator'",
        ),
        (
            lambda: _trainer().evaluate([]),
            ValueError,
            "evaluate: loader must give at least one batch, got samples=0",
        ),
        (
            lambda: _trainer().predict(np.ones((0, 5))),
            ValueError,
            "predict: inputs must have at least one sample, got samples=0",
        ),
        (
            lambda: _trainer().save(),
            ValueError,
            "save: the trainer must have a folder, got folder=None",
        ),
        (
            lambda: _trainer().resume(),
            ValueError,
            "resume: the trainer must have a folder, got folder=None",
        ),
        (
            lambda: _trainer(callbacks=[Logging()]).fit(_loader(), 1),
            ValueError,
            "Logging: the trainer must have a folder, got folder=None",
        ),
        (
            lambda: _trainer(callbacks=[EarlyStopping()]).fit(_loader(), 1),
            ValueError,
            "EarlyStopping: monitor must be one of ['epoch', 'step', 'loss', 'lr'] without "
            "validation data (fit(..., validation=0.2) has some), got monitor='validation_loss'",
        ),
        (
            lambda: EarlyStopping(mode="up"),
            ValueError,
            "EarlyStopping: mode must be 'min' or 'max', got mode='up'",
        ),
    ],
)
def test_errors(work: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(text)}$"):
        work()


def test_a_loader_that_gives_too_few_batches_is_refused() -> None:
    class Short(list[Any]):
        def __len__(self) -> int:
            return 3

    batches = Short([_data().arrays] * 2)
    with pytest.raises(ValueError, match=r"^fit: train must give 3 batches, got batches=2$"):
        _trainer().fit(batches, 1)
