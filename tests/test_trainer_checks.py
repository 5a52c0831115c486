"""What is refused before the first step, and that looking for it leaves no trace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_trainer import _bytes, _data, _model, _trainer

import extensor as ex
from extensor import nn, optim
from extensor.data import ArrayDataset, DataLoader
from extensor.errors.messages import MONITOR_NOT_LOGGED, meant
from extensor.train import (
    Accuracy,
    BestCheckpoint,
    Callback,
    ConfusionMatrix,
    EarlyStopping,
    Logging,
    Progress,
    Timing,
    Trainer,
)

X, Y = _data(40).arrays


def _loader() -> DataLoader:
    return DataLoader(ArrayDataset(X, Y), 8)


def _plateau(monitor: str) -> Trainer:
    model = _model()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    optim.ReduceLROnPlateau(optimizer)
    return _trainer(model, optimizer=optimizer, monitor=monitor)


NAMES = "['epoch', 'step', 'loss', 'lr']"


@pytest.mark.parametrize(
    ("trainer", "validation", "text"),
    [
        (
            lambda: _trainer(callbacks=[EarlyStopping()]),
            None,
            f"EarlyStopping: monitor must be one of {NAMES} without validation data "
            "(fit(..., validation=0.2) has some), got monitor='validation_loss'",
        ),
        (
            lambda: _plateau("validation_loss"),
            None,
            f"ReduceLROnPlateau: monitor must be one of {NAMES} without validation data "
            "(fit(..., validation=0.2) has some), got monitor='validation_loss'",
        ),
        (
            lambda: _plateau("val_loss"),
            (X, Y),
            MONITOR_NOT_LOGGED.text(
                meant("validation_loss"), monitor="val_loss", who="ReduceLROnPlateau"
            ),
        ),
        (
            lambda: _trainer(callbacks=[EarlyStopping("val_acc")], metrics=["accuracy"]),
            (X, Y),
            MONITOR_NOT_LOGGED.text(
                meant("validation_accuracy"), monitor="val_acc", who="EarlyStopping"
            ),
        ),
        (
            lambda: _trainer(
                callbacks=[EarlyStopping("validation_confusion")],
                metrics={"confusion": ConfusionMatrix(2)},
            ),
            (X, Y),
            MONITOR_NOT_LOGGED.text(
                meant("validation_loss"), monitor="validation_confusion", who="EarlyStopping"
            ),
        ),
        (
            lambda: _trainer(callbacks=[EarlyStopping("accuracy")], metrics=["accuracy"]),
            (X, Y),
            MONITOR_NOT_LOGGED.text(
                meant("validation_accuracy"), monitor="accuracy", who="EarlyStopping"
            ),
        ),
    ],
)
def test_monitors(trainer: Any, validation: Any, text: str) -> None:
    one = trainer()
    before = _bytes(one.model)
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        one.fit(_loader(), 3, validation)
    assert (one.step, _bytes(one.model)) == (0, before)


def test_monitors_that_are_there() -> None:
    trainer = _trainer(
        train_metrics=["accuracy"],
        metrics=["accuracy"],
        callbacks=[EarlyStopping(name) for name in ("loss", "accuracy", "validation_accuracy")],
    )
    trainer.fit(_loader(), 2, (X, Y))
    _plateau("loss").fit(_loader(), 1)


def test_a_number_that_a_callback_adds() -> None:
    """Those after it may watch it; and so may they watch what an own evaluation gives."""

    class Adds(Callback):
        def epoch_ended(self, trainer: Trainer, record: Any) -> None:
            record["score"] = 1.0

    _trainer(callbacks=[Adds(), EarlyStopping("score", mode="max")]).fit(_loader(), 2)
    with pytest.raises(
        ValueError, match=MONITOR_NOT_LOGGED.text(monitor="score", who="EarlyStopping")
    ):
        _trainer(callbacks=[EarlyStopping("score"), Adds()]).fit(_loader(), 2)

    text = "EarlyStopping: mode must be 'min' or 'max' for a number that is not one of the library's metrics"
    with pytest.raises(ValueError, match=text):
        _trainer(callbacks=[Adds(), EarlyStopping("score")]).fit(_loader(), 2)

    class Own(Trainer):
        def evaluate(self, loader: Any, *_: Any) -> dict[str, Any]:
            return {"loss": 1.0, "mine": 2.0}

    model = _model()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    own = Own(
        model, ex.cross_entropy, optimizer, callbacks=[EarlyStopping("validation_mine", mode="max")]
    )
    assert own.fit(_loader(), 1, _loader())[0]["validation_mine"] == 2.0


def test_nothing_is_written_before_all_is_right(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    wrong: list[tuple[Trainer, Any]] = [
        (_trainer(folder=folder, callbacks=[EarlyStopping("los")]), (X, Y)),
        (_trainer(folder=folder, metrics={"confusion": ConfusionMatrix(3)}), (X, Y)),
        (_trainer(folder=folder), (X, Y.astype(np.float32))),
        (_trainer(nn.Linear(4, 2), folder=folder), (X, Y)),
    ]
    for trainer, validation in wrong:
        state = ex.random.get_state()
        with pytest.raises((TypeError, ValueError)):
            trainer.fit(X, Y, 1, validation)
        assert ex.random.get_state() == state
        assert not folder.exists()
        assert (trainer.step, len(trainer.history)) == (0, 0)


@pytest.mark.parametrize("callback", [Logging, Timing, BestCheckpoint, ex.train.TensorBoard])
def test_callbacks_without_a_folder(callback: Any) -> None:
    text = f"{callback.__name__}: the trainer must have a folder, got folder=None"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        _trainer(callbacks=[callback()]).fit(_loader(), 1, _loader())


def test_callbacks_twice(tmp_path: Path) -> None:
    one = EarlyStopping("loss")
    for callbacks, text in [
        ([one, one], "Trainer: callbacks must be given once, got callbacks[1]='EarlyStopping'"),
        (
            [Logging(), Progress(), Logging(every=2)],
            "Trainer: callbacks that write log.csv must be given once, got callbacks[2]='Logging'",
        ),
        (
            [BestCheckpoint("loss"), BestCheckpoint("validation_loss")],
            "Trainer: callbacks that write checkpoints/best.safetensors must be given once, "
            "got callbacks[1]='BestCheckpoint'",
        ),
    ]:
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            _trainer(callbacks=callbacks, folder=tmp_path)
    _trainer(callbacks=[EarlyStopping("loss"), EarlyStopping("lr")])


class Odd(nn.Module):
    """Everything that a call may leave behind: attributes, lists, buffers, numbers of two kinds."""

    def __init__(self) -> None:
        self.linear = nn.Linear(5, 2)
        self.norm = nn.BatchNorm1d(5, momentum=0.5)
        self.register_buffer("total", ex.zeros(2))
        self.calls = 0
        self.seen: list[int] = []
        self.rng = np.random.default_rng(0)

    def forward(self, x: Any) -> Any:
        self.calls += 1
        self.seen.append(len(self.seen))
        self.total[...] = self.total + 1.0  # type: ignore[attr-defined]
        noise = self.rng.normal() + float(ex.random.randn())
        return self.linear(self.norm(x)) * (1 + 0.1 * self.calls + 0.1 * noise)


def test_a_trial_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit with the trial and one without end with the same bits, and have drawn as much."""
    results = []
    for is_tried in (True, False):
        if not is_tried:
            monkeypatch.setattr("extensor.train.rehearsal.first_batch", lambda loader: None)
            monkeypatch.setattr("extensor.train.fit_loop.rehearse_training", lambda *_: None)
        ex.random.manual_seed(1)
        model = Odd()
        trainer = _trainer(model, metrics={"accuracy": Accuracy()})
        loader = DataLoader(ArrayDataset(X, Y), 8, shuffle=True)
        trainer.fit(loader, 2, DataLoader(ArrayDataset(X, Y), 8))
        results.append((_bytes(model), model.calls, model.seen, ex.random.get_state()))
    assert results[0] == results[1]


def test_data_of_ones_own_are_asked_once() -> None:
    """Nobody knows what it does when it is asked: it is tried with the batch that is trained on."""

    class Own:
        calls = 0

        def __len__(self) -> int:
            return 8

        def __getitem__(self, index: int) -> Any:
            self.calls += 1
            return X[index], Y[index]

    own = Own()
    _trainer(metrics=["accuracy"]).fit(DataLoader(own, 4), 3)
    assert own.calls == 24

    asked = []

    def noted(batch: Any, generator: Any) -> Any:
        asked.append(len(batch))
        return batch

    _trainer().fit(DataLoader(ArrayDataset(X, Y), 8, transform=noted), 1)
    assert len(asked) == 5
    other = _trainer(nn.Linear(4, 2))
    with pytest.raises(ValueError, match=r"the last axes of x and weight must agree"):
        other.fit(DataLoader(own, 4), 1)


def test_a_loss_of_ones_own_is_not_asked_before() -> None:
    calls = []

    def loss(output: Any, target: Any) -> Any:
        calls.append(ex.is_grad_enabled())
        return ex.cross_entropy(output, target)

    model = _model()
    Trainer(model, loss, optim.SGD(model.parameters(), 0.1), callbacks=[]).fit(_loader(), 1)
    assert calls == [True] * 5


def test_a_model_with_other_outputs_in_training() -> None:
    """Without validation nobody asks for what it gives in evaluation."""

    class Two(nn.Module):
        def __init__(self) -> None:
            self.linear = nn.Linear(5, 2)

        def forward(self, x: Any) -> Any:
            return self.linear(x) if self.training else None

    _trainer(Two()).fit(_loader(), 1)
    with pytest.raises((TypeError, ValueError)):
        _trainer(Two()).fit(_loader(), 1, _loader())


def test_what_cannot_be_copied_or_is_watched_is_not_tried() -> None:
    model = _model()
    model.lock = open(__file__)  # noqa: SIM115
    trainer = _trainer(model, metrics=["accuracy"])
    assert len(trainer.fit(_loader(), 1, _loader())) == 1
    model.lock.close()
    hooked = _model()
    calls = []
    hooked.register_forward_hook(lambda *_: calls.append(1))
    _trainer(hooked).fit(_loader(), 1)
    assert len(calls) == 5


def test_a_metric_for_which_one_batch_is_too_little() -> None:
    class Spread(Accuracy):
        def compute(self) -> float:
            if self.count < 40:
                raise ValueError("too few")
            return super().compute()

    trainer = _trainer(
        metrics={"spread": Spread()}, callbacks=[EarlyStopping("validation_spread", mode="max")]
    )
    assert 0 <= trainer.fit(_loader(), 1, _loader())[0]["validation_spread"] <= 1


def test_the_loader_goes_on_where_it_was() -> None:
    """Also one that was left in the middle, which begins anew."""

    def batches(fitted: bool) -> list[Any]:
        loader = DataLoader(ArrayDataset(X, Y), 8, shuffle=True, generator=ex.random.Generator(3))
        begun = iter(loader)
        next(begun)
        if fitted:
            loader.first()
        return [x.numpy().copy() for x, _ in loader]

    for first, second in zip(batches(False), batches(True), strict=True):
        np.testing.assert_array_equal(first, second)
    loader = _loader()
    np.testing.assert_array_equal(loader.first()[0].numpy(), next(iter(loader))[0].numpy())
