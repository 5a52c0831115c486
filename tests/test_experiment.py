"""Experiments in Python: built from a configuration, gone on with, and used once they are trained."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor, files, write_config, write_data

import extensor as ex
from extensor.errors.messages import PATH_NOT_FOUND
from extensor.report import examine_experiment, write_report
from extensor.train import Callback, Checkpoints, EarlyStopping, Trainer, experiment, load_trained

CONFIG: dict[str, Any] = {
    "epochs": 2,
    "data": {"train": "data.npz", "batch_size": 8},
    "model": {"name": "mlp", "sizes": [4, 8, 3]},
}
STEPS = 6  # of an epoch


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    write_data()
    return tmp_path


class Dies(Callback):
    """Ends training after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def step_ended(self, trainer: Trainer, record: Any) -> None:
        if trainer.step == self.step:
            raise KeyboardInterrupt


def _trained(run: str = "run", changes: dict[str, Any] | None = None) -> Path:
    experiment(CONFIG, changes, folder=run, callbacks=[]).fit()
    return Path(run)


def _last(run: str | Path) -> Path:
    path = Checkpoints(Path(run) / "checkpoints").latest()
    assert path is not None
    return path


def _state(run: str | Path) -> dict[str, Any]:
    """What a run is after its last step, but for the callbacks of whoever trained."""
    state = ex.load(_last(run))
    del state["callbacks"]
    return state


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(_equal(first[k], second[k]) for k in first)
    if isinstance(first, ex.Tensor):
        return first.numpy().tobytes() == second.numpy().tobytes()
    return bool(first == second)


def _same_run(first: str | Path, second: str | Path) -> None:
    for name in ("config.toml", "log.jsonl", "log.csv", f"checkpoints/{_last(first).name}"):
        assert Path(first, name).read_bytes() == Path(second, name).read_bytes(), name


def test_the_digits_give_the_bits_of_the_command_line() -> None:
    """Whatever is drawn or built between building and training."""
    settings = ["--set", "epochs=2", "--set", "checkpoints.every=10"]
    assert extensor("train", "--name", "command", *settings).code == 0
    changes = {"epochs": 2, "checkpoints.every": 10}
    made = experiment(changes=changes, folder="python")
    experiment(CONFIG)
    ex.random.rand(5)
    history = made.fit()
    _same_run("runs/command", "python")
    assert [record["epoch"] for record in history] == [1, 2]
    assert made.trainer.step == 2 * len(made.train_loader)


def test_a_file_a_dict_and_a_parsed_configuration_are_the_same() -> None:
    path = write_config()
    parsed = tomllib.loads(path.read_text())
    sources = [path, str(path), parsed, CONFIG, experiment(path).config]
    for number, source in enumerate(sources):
        experiment(source, folder=f"run{number}", callbacks=[]).fit()
        _same_run("run0", f"run{number}")


def test_what_is_given_is_not_changed() -> None:
    config, changes = copy.deepcopy(CONFIG), {"optimizer.lr": 0.1, "data": CONFIG["data"]}
    made = experiment(config, changes)
    assert config == CONFIG
    assert changes == {"optimizer.lr": 0.1, "data": CONFIG["data"]}
    made.config["data"]["batch_size"] = 1
    assert CONFIG["data"]["batch_size"] == 8


def test_values_of_python_and_numpy_are_those_of_toml() -> None:
    config = {
        "epochs": np.int64(2),
        "data": {"train": Path("data.npz"), "batch_size": 8, "normalize": {"mean": np.zeros(4)}},
        "model": {"name": "mlp", "sizes": (4, 8, 3), "p": None},
        "schedule": None,
    }
    made = experiment(config, {"optimizer.betas": (0.8, 0.9)}, folder="run", callbacks=[])
    made.fit()
    assert tomllib.loads(Path("run/config.toml").read_text()) == made.config
    assert made.config["model"] == {"name": "mlp", "sizes": [4, 8, 3]}
    assert made.config["data"]["normalize"] == {"mean": [0.0] * 4}
    assert made.config["data"]["train"] == "data.npz"
    assert "schedule" not in made.config
    assert experiment(resume="run", changes={"model.sizes": (4, 8, 3)}).changes == {}


def test_changes_set_add_and_remove_entries() -> None:
    config = {**CONFIG, "ema": {"decay": 0.9}, "clipping": {"norm": 1.0, "value": 0.5}}
    changes = {"ema": None, "clipping.value": None, "amp": "bfloat16", "optimizer.name": "SGD"}
    changes |= {"optimizer.lr": 0.1, "schedule.gamma": None, "loss": {"name": "CrossEntropyLoss"}}  # type: ignore[dict-item]
    made = experiment(config, changes).config
    assert made["optimizer"] == {"name": "SGD", "lr": 0.1}
    assert made["clipping"] == {"norm": 1.0}
    assert (made["amp"], made["loss"]) == ("bfloat16", {"name": "CrossEntropyLoss"})
    assert made.keys().isdisjoint({"ema", "schedule"})


def test_without_a_folder_nothing_is_written() -> None:
    before = files()
    made = experiment(CONFIG, {"ema.decay": 0.5}, callbacks=[])
    history = made.fit()
    assert files() == before
    assert made.trainer.callbacks == []
    found = made.evaluate()
    assert found == {key: history[-1][f"validation_{key}"] for key in ("loss", "accuracy", "f1")}
    # The averages are what is evaluated; the model keeps its parameters.
    test: Any = made.test_data
    with ex.no_grad():
        loss = ex.cross_entropy(made.model(test.arrays[0]), test.arrays[1])
    assert abs(loss.item() - found["loss"]) > 1e-6


@pytest.mark.parametrize("step", [3, STEPS, STEPS + 2])
def test_a_run_that_was_interrupted_goes_on_to_the_same_bits(step: int) -> None:
    _trained("whole", {"checkpoints.every": 3})
    cut = experiment(CONFIG, {"checkpoints.every": 3}, folder="cut", callbacks=[Dies(step)])
    with pytest.raises(KeyboardInterrupt):
        cut.fit()
    ex.random.manual_seed(99)
    made = experiment(resume="cut", callbacks=[])
    assert made.trainer.step == (step - 1) // 3 * 3  # it ended before this step was saved
    made.fit()
    _same_run("whole", "cut")
    assert made.changes == {}


@pytest.mark.parametrize("first", ["python", "command"])
def test_python_and_the_command_line_go_on_with_each_other(first: str) -> None:
    write_config()
    if first == "python":
        _trained("runs/a")
        result = extensor("train", "--resume", "a", "--set", "epochs=3")
        assert result.code == 0, result.err
    else:
        assert extensor("train", "config.toml", "--name", "a").code == 0
        experiment(resume="a", changes={"epochs": 3}, callbacks=[]).fit()
    _trained("whole")
    experiment(resume="whole", changes={"epochs": 3}, callbacks=[]).fit()
    assert _equal(_state("runs/a"), _state("whole"))
    assert Path("runs/a/log.jsonl").read_bytes() == Path("whole/log.jsonl").read_bytes()


def test_changes_on_the_way_take_effect_and_are_recorded() -> None:
    _trained("run", {"optimizer.lr": 0.01})
    made = experiment(resume=Path("run"), changes={"optimizer.lr": 0.05, "epochs": 3}, callbacks=[])
    assert made.changes == {"epochs": (2, 3), "optimizer.lr": (0.01, 0.05)}
    assert [record["lr"] for record in made.fit()] == [0.01, 0.01, 0.05]
    assert list(tomllib.loads(Path("run/config.toml").read_text())["resumed"]) == ["step 12"]
    # The way out of what may not be changed: a new run, without that past.
    assert "resumed" not in experiment("run/config.toml", {"seed": 3}).config


def test_going_back_to_a_checkpoint() -> None:
    _trained("run", {"epochs": 3})
    made = experiment(resume="run", checkpoint="step-000000006", callbacks=[])
    assert made.trainer.epoch == 1
    made = experiment(resume="run", checkpoint=_last("run"), callbacks=[])
    assert made.trainer.epoch == 3


def test_callbacks_of_ones_own_go_on_too() -> None:
    stopping = EarlyStopping("loss", patience=1, min_delta=100.0)
    experiment(CONFIG, {"epochs": 9}, folder="run", callbacks=[stopping]).fit()
    state = stopping.state_dict()
    again = EarlyStopping("loss", patience=1, min_delta=100.0)
    experiment(resume="run", callbacks=[again])
    assert again.state_dict() == state
    assert state != EarlyStopping("loss", patience=1, min_delta=100.0).state_dict()


def test_predictions_are_those_of_the_command_line() -> None:
    run = _trained("run", {"data.standardize": True, "ema.decay": 0.9})
    x = np.random.default_rng(1).normal(size=(5, 4))
    np.savez("new.npz", x=x)
    assert extensor("predict", run, "new.npz", "--output", "out.npy").code == 0
    expected = np.load("out.npy")
    trained = load_trained(run)
    given = [x, x.astype(np.float32), ex.tensor(x), x.tolist(), "new.npz", Path("new.npz")]
    given += [ex.data.ArrayDataset(x.astype(np.float32), np.arange(5))]
    made: Any = experiment(resume=run, callbacks=[])
    for inputs in given:
        for batch_size in (256, 2):
            for model in (trained, made):
                found = model.predict(inputs, batch_size)
                np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-6)
    assert trained.predict("new.npz").numpy().tobytes() == expected.tobytes()
    table = trained.config["data"]["normalize"]
    prepared = ((x - table["mean"]) / table["std"]).astype(np.float32)
    with ex.no_grad():
        by_hand = trained.model(prepared).numpy()
    np.testing.assert_allclose(by_hand, expected, rtol=1e-5, atol=1e-5)


def test_a_trained_model_needs_no_data_and_leaves_chance_alone() -> None:
    run = _trained()
    Path("data.npz").rename("moved.npz")
    ex.random.manual_seed(7)
    state = ex.random.get_state()
    trained = load_trained(run)
    assert trained.predict(np.zeros((2, 4))).shape == (2, 3)
    with pytest.raises(FileNotFoundError, match=PATH_NOT_FOUND.text(path="data.npz")):
        trained.evaluate()
    before = files()
    trained = load_trained(run, changes={"data.train": "moved.npz"})
    said = ex.train.read_log(run / "log.jsonl")[-1]
    assert trained.evaluate() == {k: said[f"validation_{k}"] for k in ("loss", "accuracy", "f1")}
    assert ex.random.get_state() == state
    assert not trained.model.training
    assert files() == before


def test_a_checkpoint_that_is_asked_for() -> None:
    run = _trained()
    first = load_trained(run, "step-000000006")
    assert first.checkpoint == run / "checkpoints" / "step-000000006.safetensors"
    weights = ex.load(first.checkpoint)["model"]
    assert _equal(dict(first.model.state_dict()), dict(weights))
    assert not _equal(dict(load_trained(run).model.state_dict()), dict(weights))


def test_the_report_of_an_experiment() -> None:
    made = experiment(CONFIG, folder="run", callbacks=[])
    made.fit()
    found = examine_experiment(made)
    assert found is not None
    assert found.confusion.sum() == len(made.test_data)
    assert made.trainer.run is not None
    path = write_report(made.trainer.run, found, made.model.summary(made.example))
    written = path.read_bytes()
    assert extensor("report", "run").code == 0
    assert path.read_bytes() == written
