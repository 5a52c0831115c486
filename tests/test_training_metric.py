"""The first metric of an experiment is that of what is trained on too, where that has a meaning."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import write_data
from own_files import write_labels, write_numbers, write_series, write_table, write_text
from sklearn.metrics import f1_score, r2_score

from extensor.experiments.goal import Goal, metrics_in_units
from extensor.train import experiment, read_log
from extensor.train.metrics import named_metric

# A model that does not change, and says in training what it says otherwise.
STILL = {"optimizer": {"name": "SGD", "lr": 0.0}, "model": {"p": 0.0}}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _trained(data: dict[str, Any], **changes: Any) -> Any:
    made = experiment({"epochs": 1, "data": data, **changes}, callbacks=[])
    return made, made.fit()[-1]


def test_numbers_are_in_their_own_units() -> None:
    made, record = _trained({"train": str(write_numbers()), "batch_size": 8}, **STILL)
    x, y = made.train_data.arrays
    found = made.goal.in_units(made.trainer.predict(x).numpy())
    truth = np.asarray(y, np.float64) * made.goal.std + made.goal.mean
    assert record["r2"] == pytest.approx(r2_score(truth, found), rel=1e-5)
    assert "root_mean_squared_error" not in record
    assert "validation_root_mean_squared_error" in record


def test_labels() -> None:
    path = str(write_labels())
    made, record = _trained({"train": path, "target": ["warm", "wet"]}, **STILL)
    x, y = made.train_data.arrays
    found = made.trainer.predict(x).numpy() > 0
    assert record["f1"] == pytest.approx(f1_score(y, found, average="macro", zero_division=0))


@pytest.mark.parametrize(
    ("write", "data", "changes", "names"),
    [
        (write_table, {}, {}, {"accuracy"}),
        (write_table, {}, {"metrics": ["confusion_matrix", "f1", "accuracy"]}, {"f1"}),
        (write_table, {}, {"metrics": []}, set()),
        (write_series, {"horizon": 2, "window": 4, "target": "load"}, {}, {"r2"}),
        (write_numbers, {}, {"metrics": ["median_absolute_error"]}, set()),
        (write_text, {"context": 8}, {"model": {"width": 8}}, {"perplexity"}),
    ],
)
def test_it_is_the_first_that_a_checkpoint_can_hold(
    write: Any, data: Any, changes: Any, names: set[str]
) -> None:
    _, record = _trained({"train": str(write()), **data}, **changes)
    assert {key for key in record if f"validation_{key}" in record} == names | {"loss"}


def test_of_mixed_targets_there_is_none() -> None:
    write_data()
    mixing = {"Mixup": {"num_classes": 3, "alpha": 0.4}}
    _, record = _trained({"train": "data.npz", "augment": mixing})
    assert ("accuracy" in record, "validation_accuracy" in record) == (False, True)


def test_of_a_loss_of_ones_own_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    write_data()
    Path("my_loss.py").write_text("import extensor as ex\nloss = ex.cross_entropy\n")
    monkeypatch.syspath_prepend(".")
    _, record = _trained(
        {"train": "data.npz"},
        model={"name": "mlp", "sizes": [4, 3]},
        loss={"name": "my_loss:loss"},
        metrics=["accuracy"],
    )
    assert ("accuracy" in record, "validation_accuracy" in record) == (False, True)


@pytest.mark.parametrize("step", [2, 8])
def test_a_run_resumed_within_an_epoch_has_the_same_log(step: int) -> None:
    config = {
        "epochs": 2,
        "data": {"train": str(write_numbers(rows=70)), "batch_size": 8},
        "checkpoints": {"every": 1, "keep": 20},
    }
    experiment(config, folder="whole", callbacks=[]).fit()
    shutil.copytree("whole", "part")
    made = experiment(resume="part", checkpoint=f"step-{step:09d}", callbacks=[])
    assert made.trainer.step == step
    made.fit()
    assert Path("part/log.jsonl").read_bytes() == Path("whole/log.jsonl").read_bytes()
    epochs = [record for record in read_log("part/log.jsonl") if record["event"] == "epoch"]
    assert all(np.isfinite(record["r2"]) for record in epochs)


def test_states_of_numbers_in_their_own_units_are_passed_on() -> None:
    goal = Goal("regression", mean=(1000.0,), std=(20.0,))
    both = {name: named_metric(name, "regression") for name in ("r2", "median_absolute_error")}
    wrapped: dict[str, Any] = metrics_in_units(both, goal)
    x, y = np.linspace(-1, 1, 6)[:, None], np.arange(6.0)[:, None]
    wrapped["r2"].update(x[:4], y[:4])
    other: Any = metrics_in_units({"r2": named_metric("r2", "regression")}, goal)["r2"]
    other.load_state_dict(wrapped["r2"].state_dict())
    other.update(x[4:], y[4:])
    assert other.compute() == pytest.approx(r2_score(20 * y + 1000, 20 * x + 1000))
    assert not hasattr(wrapped["median_absolute_error"], "state_dict")
    expected = r"^SumsInUnits.load_state_dict: "
    with pytest.raises((ValueError, TypeError), match=expected):
        other.load_state_dict({"wrong": 1})
