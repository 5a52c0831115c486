"""Metrics by their names, and those of the batches that are trained on."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from killed_training import contents
from sklearn.metrics import accuracy_score, f1_score
from test_trainer import _bytes, _data, _model, _trainer

import extensor as ex
from extensor import nn, optim
from extensor.data import ArrayDataset, DataLoader
from extensor.errors.messages import METRIC_UNKNOWN, MONITOR_NOT_LOGGED, meant
from extensor.random import Generator
from extensor.train import Accuracy, Callback, Mean, Metric, TopKAccuracy, Trainer

X, Y = _data(40).arrays


def _predicted(trainer: Trainer) -> Any:
    return trainer.predict(X).numpy().argmax(axis=1)


def test_names_are_metrics_of_the_loss_and_the_outputs() -> None:
    trainer = _trainer(metrics=["accuracy", "f1"])
    (record,) = trainer.fit(X, Y, 1, (X, Y))
    assert list(record)[-3:] == ["validation_loss", "validation_accuracy", "validation_f1"]
    assert record["validation_accuracy"] == pytest.approx(accuracy_score(Y, _predicted(trainer)))
    expected = f1_score(Y, _predicted(trainer), average="macro")
    assert record["validation_f1"] == pytest.approx(expected)
    assert {name: type(x).__name__ for name, x in trainer.metrics.items()} == {
        "accuracy": "Accuracy",
        "f1": "F1",
    }


def test_names_and_objects_together() -> None:
    second = TopKAccuracy(2)
    trainer = _trainer(metrics={"right": "accuracy", "among two": second})
    found = trainer.evaluate(X, Y)
    assert list(found) == ["loss", "right", "among two"]
    assert found["right"] == pytest.approx(accuracy_score(Y, _predicted(trainer)))
    assert found["among two"] == 1.0
    assert trainer.metrics["among two"] is second


@pytest.mark.parametrize(
    "loss",
    [
        nn.CrossEntropyLoss(label_smoothing=0.1),
        ex.cross_entropy,
        partial(ex.cross_entropy, label_smoothing=0.1),
        type("Mine", (nn.CrossEntropyLoss,), {})(),
    ],
)
def test_losses_of_classes(loss: Any) -> None:
    model = _model()
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(model, loss, optimizer, metrics=["accuracy"], callbacks=[])
    assert list(trainer.evaluate(X, Y)) == ["loss", "accuracy"]


@pytest.mark.parametrize("loss", [ex.l1_loss, nn.MSELoss(), nn.SmoothL1Loss(), nn.HuberLoss()])
def test_losses_of_numbers(loss: Any) -> None:
    model = nn.Linear(5, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    names = ["mean_absolute_error", "root_mean_squared_error"]
    trainer = Trainer(model, loss, optimizer, metrics=names, callbacks=[])
    found = trainer.evaluate(X, X[:, :1])
    error = trainer.predict(X).numpy() - X[:, :1]
    assert found[names[0]] == pytest.approx(np.abs(error).mean(), rel=1e-6)
    assert found[names[1]] == pytest.approx(np.sqrt(np.square(error).mean()), rel=1e-6)


@pytest.mark.parametrize("argument", ["metrics", "train_metrics"])
def test_names_that_are_not_known(argument: str) -> None:
    text = METRIC_UNKNOWN.text(meant("accuracy"), name="acuracy")
    with pytest.raises(ValueError, match=re.escape(text)):
        _trainer(**{argument: ["acuracy"]})
    with pytest.raises(ValueError, match=r"multiclass.*got \w+='mean_absolute_error'$"):
        _trainer(**{argument: {"error": "mean_absolute_error"}})


class Last(Metric):
    """The last output, which nothing could go on from."""

    def reset(self) -> None:
        self.value = 0.0

    def update(self, output: Any, target: Any) -> None:
        self.value = float(np.asarray(output).flat[-1])

    def compute(self) -> float:
        return self.value


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"metrics": ["accuracy", "accuracy"]},
            "Trainer: metrics must not be repeated, got name='accuracy'",
        ),
        (
            {"metrics": {"loss": Accuracy()}},
            "Trainer: the name of a metric must not be one that the log already uses, "
            "('loss', 'lr', 'epoch', 'step', 'event'), got name='loss'",
        ),
        (
            {"metrics": ["accuracy"], "loss": lambda output, target: ex.sum(output)},
            "Trainer: metrics must be objects, as {'accuracy': Accuracy()}, for a loss that does "
            "not say whether it is of classes or of numbers, got loss='function'",
        ),
        (
            {"train_metrics": {"last": Last()}},
            "Trainer: train_metrics['last'] must have a state_dict, so that a run can be resumed "
            "within an epoch (among metrics, which are of validation data, it needs none), "
            "got metric='Last'",
        ),
        (
            {"train_metrics": 3},
            "Trainer: train_metrics must be a list of names, as ['accuracy'], or a dict of metrics, "
            "got train_metrics=3",
        ),
    ],
)
def test_what_stands_for_no_metric(options: dict[str, Any], text: str) -> None:
    model = _model()
    loss = options.pop("loss", ex.cross_entropy)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises((TypeError, ValueError), match=f"^{re.escape(text)}$"):
        Trainer(model, loss, optimizer, callbacks=[], **options)


class TestTraining:
    """Metrics of the training batches, as they come."""

    def test_they_are_those_of_the_outputs_that_were_trained_on(self) -> None:
        outputs = []

        class Note(nn.Module):
            def forward(self, x: Any) -> Any:
                if self.training:
                    outputs.append(x.detach().numpy().copy())
                return x

        model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.5), nn.Linear(8, 2), Note())
        trainer = _trainer(model, train_metrics=["accuracy"], metrics=["accuracy"])
        loader = DataLoader(ArrayDataset(X, Y), 16)
        history = trainer.fit(loader, 3, loader)
        found = np.concatenate(outputs).argmax(axis=1).reshape(3, 40)
        assert history.column("accuracy") == [accuracy_score(Y, epoch) for epoch in found]
        names = list(history[0])
        assert names == [
            "event", "epoch", "step", "loss", "accuracy", "lr",
            "validation_loss", "validation_accuracy",
        ]  # fmt: skip

    def test_accumulated_batches_count_each(self) -> None:
        values = [
            _trainer(lr=1e-9, train_metrics=["accuracy"], accumulate=group)
            .fit(DataLoader(ArrayDataset(X, Y), 8), 1)
            .column("accuracy")
            for group in (1, 2, 5)
        ]
        assert values[0] == values[1] == values[2]

    def test_nothing_else_changes(self) -> None:
        trainers = [_trainer(), _trainer(train_metrics=["accuracy", "perplexity"])]
        for trainer in trainers:
            trainer.fit(DataLoader(ArrayDataset(X, Y), 8), 2)
        assert _bytes(trainers[0].model) == _bytes(trainers[1].model)
        assert "train_metrics" not in trainers[0].state_dict()

    def test_a_known_metric_is_another_one_in_training(self) -> None:
        own = TopKAccuracy(1)
        trainer = _trainer(metrics={"top": own}, train_metrics=["top"])
        (record,) = trainer.fit(X, Y, 1, (X, Y))
        assert record["top"] != record["validation_top"]
        assert trainer.running_metrics.metrics["top"] is not own

    @pytest.mark.parametrize("step", [1, 4, 7])
    def test_a_run_resumed_within_an_epoch_has_the_same_log(
        self, step: int, tmp_path: Path
    ) -> None:
        class Stop(Callback):
            at = 0

            def step_ended(self, trainer: Trainer, record: Any) -> None:
                if trainer.step == self.at:
                    raise InterruptedError

        def run(folder: Path, at: int) -> None:
            stop = Stop()
            stop.at = at
            trainer = _trainer(
                folder=folder, checkpoint_every=1, train_metrics=["accuracy"], callbacks=[stop]
            )
            trainer.resume()
            loader = DataLoader(ArrayDataset(X, Y), 8, shuffle=True, generator=Generator(1))
            trainer.fit(loader, 2)

        run(tmp_path / "whole", 0)
        with pytest.raises(InterruptedError):
            run(tmp_path / "parts", step)
        run(tmp_path / "parts", 0)
        assert contents(tmp_path / "whole") == contents(tmp_path / "parts")

    def test_an_epoch_seen_in_part_has_none(self, tmp_path: Path) -> None:
        """A checkpoint of a run that had no such metrics; the next epoch has them."""
        loader = DataLoader(ArrayDataset(X, Y), 8)
        before = _trainer(folder=tmp_path, checkpoint_every=3)
        before.fit(loader, 1)
        first = tmp_path / "checkpoints" / "step-000000003.safetensors"
        after = _trainer(train_metrics=["accuracy"])
        after.resume(first)
        assert after.running_metrics.partial
        assert after.state_dict()["train_metrics"] == {}
        history = after.fit(DataLoader(ArrayDataset(X, Y), 8), 2)
        assert ["accuracy" in record for record in history] == [False, True]
        stopping = ex.train.EarlyStopping("accuracy", mode="max")
        watched = _trainer(train_metrics=["accuracy"])
        watched.resume(first)
        watched.callbacks.append(stopping)
        with pytest.raises(
            ValueError, match=MONITOR_NOT_LOGGED.text(monitor="accuracy", who="EarlyStopping")
        ):
            watched.fit(DataLoader(ArrayDataset(X, Y), 8), 2)

    def test_a_state_that_does_not_fit_changes_nothing(self) -> None:
        trainer = _trainer(train_metrics=["accuracy", "perplexity"])
        trainer.fit(DataLoader(ArrayDataset(X, Y), 8), 1)
        good = trainer.state_dict()
        good["progress"]["batch"] = 1
        for part in ({"total": "x", "count": 1}, {"total": 1.0}, 3):
            state = {**good, "train_metrics": {**good["train_metrics"], "perplexity": part}}
            before = trainer.running_metrics.state_dict()
            with pytest.raises((TypeError, ValueError), match="load_state_dict: "):
                trainer.load_state_dict(state)
            assert trainer.running_metrics.state_dict() == before
            assert trainer.batch == 0

    def test_a_metric_of_ones_own(self) -> None:
        class Share(Mean):
            def update(self, output: Any, target: Any) -> None:
                assert not ex.is_grad_enabled()
                self.add(float((output[:, 0] > 0).numpy().mean()), len(target))

        history = _trainer(train_metrics={"share": Share()}).fit(X, Y, 2)
        assert all(0 <= value <= 1 for value in history.column("share"))
