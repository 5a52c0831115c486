"""Going on with a run: what may be changed and what not, and from which checkpoint."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import CONFIG, extensor, files, write_config, write_data

import extensor as ex
from extensor.train import Checkpoints, Progress, read_log

STEPS = 6  # of an epoch


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    write_data()
    write_config()
    return tmp_path


def _train(*arguments: Any, **changes: Any) -> str:
    """Train, with ``optimizer__lr=0.1`` for ``--set optimizer.lr=0.1``. Returns what it prints."""
    settings = [f"{key.replace('__', '.')}={value}" for key, value in changes.items()]
    options = [word for setting in settings for word in ("--set", setting)]
    result = extensor("train", *arguments, *options)
    assert result.code == 0, result.err
    return result.out


def _config(run: str) -> dict[str, Any]:
    return tomllib.loads(Path(f"runs/{run}/config.toml").read_text())


def _last(run: str) -> Path:
    path = Checkpoints(f"runs/{run}/checkpoints").latest()
    assert path is not None
    return path


def _weights(run: str) -> list[bytes]:
    return [x.numpy().tobytes() for x in ex.load(_last(run))["model"].values()]


def _rates(run: str) -> list[float]:
    return [r["lr"] for r in read_log(f"runs/{run}/log.jsonl") if r["event"] == "epoch"]


def _refused(expected: str, *arguments: Any) -> None:
    before = files()
    result = extensor("train", *arguments)
    assert (result.code, result.err) == (2, f"extensor train: {expected}\n")
    assert files() == before


def test_another_rate_takes_effect_and_is_recorded() -> None:
    _train("config.toml", "--name", "a", optimizer__lr=0.01)
    out = _train("--resume", "a", optimizer__lr=0.05, epochs=4)
    assert _rates("a") == [0.01, 0.01, 0.05, 0.05]
    config = _config("a")
    assert config["optimizer"]["lr"] == 0.05
    assert config["resumed"] == {
        "step 12": {
            "epochs": {"before": 2, "after": 4},
            "optimizer.lr": {"before": 0.01, "after": 0.05},
        }
    }
    assert "optimizer.lr is now 0.05, it was 0.01\nlearning rate 0.05\n" in out
    _train("--resume", "a", epochs=5)
    assert _rates("a")[-1] == 0.05
    assert list(_config("a")["resumed"]) == ["step 12", "step 24"]
    assert ex.load(_last("a"))["config"] == _config("a")


@pytest.mark.parametrize("step", [14, 18, 21])
def test_a_changed_run_that_is_killed_goes_on_to_the_same_bits(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it was killed before the first checkpoint after the change."""
    schedule = {"schedule__name": "StepLR", "schedule__step_size": 2}
    _train("config.toml", "--name", "a", **schedule)
    shutil.copytree("runs/a", "runs/b")
    changes = {"epochs": 4, "optimizer__lr": 0.02, "schedule__gamma": 0.7}
    _train("--resume", "a", **changes)
    assert _rates("a") == pytest.approx([0.001, 0.001, 0.014, 0.014])

    def dies(progress: Any, trainer: Any, record: Any) -> None:
        if trainer.step == step:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "step_ended", dies)
        options = [f"{key.replace('__', '.')}={value}" for key, value in changes.items()]
        words = [word for option in options for word in ("--set", option)]
        assert extensor("train", "--resume", "b", *words).code == 130
    assert len(read_log("runs/b/log.jsonl")) < len(read_log("runs/a/log.jsonl"))
    _train("--resume", "b")
    for name in ("config.toml", "log.jsonl", "log.csv", f"checkpoints/{_last('a').name}"):
        assert Path("runs/b", name).read_bytes() == Path("runs/a", name).read_bytes(), name
    assert [line["epoch"] for line in read_log("runs/b/timing.jsonl")] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("begun", "changed"),
    [
        ({"optimizer.name": "SGD", "optimizer.lr": 0.1}, {"optimizer.momentum": 0.9}),
        ({"optimizer.name": "SGD", "optimizer.lr": 0.1}, {"optimizer.weight_decay": 0.1}),
        ({}, {"optimizer.betas": "[0.5, 0.6]"}),
        ({}, {"optimizer.amsgrad": "true"}),
        ({"optimizer.lr": 0.1}, {"clipping.norm": 0.01}),
        ({}, {"amp": "bfloat16"}),
        ({}, {"accumulate": 3}),
        ({"ema.decay": 0.9}, {"ema.decay": 0.1}),
        (
            {"schedule.name": "ExponentialLR", "schedule.gamma": 0.5},
            {"schedule.gamma": 0.9},
        ),
        ({"schedule.name": "OneCycleLR", "schedule.max_lr": 0.1}, {"schedule.max_lr": 0.2}),
        ({"schedule.name": "WarmupLR", "schedule.warmup_steps": 3}, {"optimizer.lr": 0.3}),
    ],
    ids=lambda table: ",".join(f"{k}={v}" for k, v in table.items()) or "default",
)
def test_what_may_be_changed_takes_effect(begun: dict[str, Any], changed: dict[str, Any]) -> None:
    name = {key.replace(".", "__"): value for key, value in begun.items()}
    _train("config.toml", "--name", "a", **name)
    shutil.copytree("runs/a", "runs/b")
    _train("--resume", "a", epochs=3)
    _train("--resume", "b", epochs=3, **{k.replace(".", "__"): v for k, v in changed.items()})
    first, second = (ex.load(_last(run)) for run in "ab")
    different = [
        key
        for part in ("model", "ema")
        for key in first[part]
        if not np.array_equal(first[part][key], second[part][key])
    ]
    assert different
    assert set(changed) <= set(_config("b")["resumed"]["step 12"])


def test_a_schedule_goes_on_from_its_count_with_the_new_rate() -> None:
    _train(
        "config.toml", "--name", "a", optimizer__lr=0.1,
        schedule__name="StepLR", schedule__step_size=1, schedule__gamma=0.5,
    )  # fmt: skip
    out = _train("--resume", "a", optimizer__lr=0.2, epochs=4)
    assert _rates("a") == [0.1, 0.05, 0.05, 0.025]
    assert "optimizer.lr is now 0.2, it was 0.1\nlearning rate 0.05\n" in out


def test_metrics_and_checkpoints_may_be_changed() -> None:
    _train("config.toml", "--name", "a", data__validation_fraction=0.2)
    _train(
        "--resume", "a", epochs=4, metrics='["accuracy", "recall"]', checkpoints__keep=1,
        checkpoints__every=4, checkpoints__best="validation_recall",
    )  # fmt: skip
    assert "validation_recall" in read_log("runs/a/log.jsonl")[-2]
    names = sorted(path.stem for path in Path("runs/a/checkpoints").iterdir())
    assert names == ["best", "step-000000020"]
    best = [
        r.get("validation_recall", 0) for r in read_log("runs/a/log.jsonl") if r["event"] == "epoch"
    ]
    state = ex.load("runs/a/checkpoints/best.safetensors")
    assert state["progress"]["epoch"] == 1 + best.index(max(best))
    # Another number is compared with none of the last one's.
    _train("--resume", "a", epochs=5, checkpoints__best="validation_loss")
    assert ex.load("runs/a/checkpoints/best.safetensors")["progress"]["epoch"] == 5
    Path("runs/a/config.toml").write_text(
        Path("runs/a/config.toml").read_text().replace('best = "validation_loss"', "")
    )
    _train("--resume", "a", epochs=6)
    resumed = _config("a")["resumed"]["step 25"]
    assert resumed["checkpoints.best"] == {"before": "validation_loss"}
    # A run that is over says what it has of other metrics.
    assert "test loss" in _train("--resume", "a", metrics='["recall"]')


def test_where_data_lie_and_who_reads_them_does_not_matter() -> None:
    _train("config.toml", "--name", "a", epochs=3)
    _train("config.toml", "--name", "b")
    _train("--resume", "b", epochs=3, data__workers=2)
    assert _weights("a") == _weights("b")


REFUSED = {
    "seed=1": "seed must stay 0",
    "data.batch_size=4": "data.batch_size must stay 8",
    "data.train=other.npz": "data.train must stay 'data.npz'",
    "data.standardize=true": "data.standardize must stay unset",
    "model.sizes=[4, 9, 3]": "model.sizes must stay [4, 8, 3]",
    "model.name=lenet5": "model.name must stay 'mlp'",
    "loss.label_smoothing=0.1": "loss.label_smoothing must stay unset",
    "optimizer.name=SGD": "optimizer.name must stay 'Adam'",
    "schedule.name=CosineAnnealingLR": "schedule.name must stay unset",
    "ema.decay=0.9": "ema.decay must stay unset",
}


@pytest.mark.parametrize("change", REFUSED)
def test_what_makes_another_run_is_refused_by_name(change: str) -> None:
    _train("config.toml", "--name", "a")
    key, _, text = change.partition("=")
    value = {"seed": 1, "data.batch_size": 4, "model.sizes": [4, 9, 3]}.get(key, text)
    value = {"true": True, "0.1": 0.1, "0.9": 0.9}.get(text, value)
    _refused(
        f"--resume: {REFUSED[change]} in this run (for a new run: extensor train "
        f"runs/a/config.toml --set {key}=...), got {key.rpartition('.')[2]}={value!r}",
        "--resume", "a", "--set", change,
    )  # fmt: skip


def test_a_configuration_changed_by_hand_is_looked_at_too() -> None:
    _train("config.toml", "--name", "a", optimizer__lr=0.01)
    path = Path("runs/a/config.toml")
    before = path.read_text()
    path.write_text(before.replace("lr = 0.01", "lr = 0.04"))
    _train("--resume", "a", epochs=3)
    assert _rates("a") == [0.01, 0.01, 0.04]
    path.write_text(path.read_text().replace("seed = 0", "seed = 3"))
    assert "seed must stay 0 in this run" in extensor("train", "--resume", "a").err


def test_the_way_out_is_a_run_without_that_past() -> None:
    _train("config.toml", "--name", "a")
    _train("--resume", "a", epochs=3)
    _train("runs/a/config.toml", "--name", "b", seed=4)
    config = _config("b")
    assert (config["seed"], config["epochs"]) == (4, 3)
    assert "resumed" not in config
    expected = "--set: resumed is for the run itself to write, got change='resumed.x=1'"
    _refused(expected, "--resume", "a", "--set", "resumed.x=1")


def test_epochs_that_are_over_stay() -> None:
    _train("config.toml", "--name", "a")
    expected = "--resume: epochs must be 2 or more, as the run is in epoch 2, got epochs=1"
    _refused(expected, "--resume", "a", "--set", "epochs=1")


def test_what_the_schedule_decides_cannot_be_set() -> None:
    """OneCycleLR reads neither the rate nor the momentum of the optimizer."""
    write_config(f'{CONFIG}\n[schedule]\nname = "OneCycleLR"\nmax_lr = 0.1\n')
    expected = "config: optimizer.lr has no effect under OneCycleLR; set schedule.max_lr, got lr="
    result = extensor("train", "config.toml", "--set", "optimizer.lr=0.05")
    assert (result.code, expected in result.err) == (2, True)
    _train("config.toml", "--name", "a", optimizer__betas="[0.9, 0.99]")
    _refused(f"{expected}0.05", "--resume", "a", "--set", "optimizer.lr=0.05")
    _refused(
        "config: optimizer.betas has no effect under OneCycleLR; set schedule.base_momentum and "
        "schedule.max_momentum, got betas=[0.8, 0.99]",
        "--resume", "a", "--set", "optimizer.betas=[0.8, 0.99]",
    )  # fmt: skip
    _train("--resume", "a", epochs=3, optimizer__betas="[0.9, 0.95]")


def test_before_the_first_checkpoint_everything_may_be_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "step_ended", dies)
        result = extensor("train", "config.toml", "--name", "a")
    assert result.code == 130
    assert "interrupted before the first checkpoint; continue with: extensor train" in result.err
    _train("--resume", "a", seed=5)
    _train("config.toml", "--name", "b", seed=5)
    assert _last("a").read_bytes() == _last("b").read_bytes()
    assert "resumed" not in _config("a")


def test_the_best_is_of_a_number_that_is_measured() -> None:
    expected = (
        "config: checkpoints.best must be one of ['loss', 'validation_loss', "
        "'validation_accuracy', 'validation_f1'], got best='validation_recall'"
    )
    _refused(expected, "config.toml", "--set", "checkpoints.best=validation_recall")


def test_the_test_data_choose_no_checkpoint() -> None:
    expected = (
        "config: checkpoints.best needs data to choose by, which the test data are not: set "
        "data.validation_fraction=0.1, or data.validation to a file"
    )
    _refused(expected, "config.toml", "--set", "checkpoints.best=validation_loss")


def _damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 4
    path.write_bytes(content)


def test_a_damaged_checkpoint_is_refused_and_a_good_one_named() -> None:
    _train("config.toml", "--name", "whole", epochs=4)
    _train("config.toml", "--name", "a", epochs=3)
    _damage(_last("a"))
    expected = (
        "load: content must be as it was written (its digest differs), "
        f"got path='{_last('a')}'; take a good one: --checkpoint step-000000012"
    )
    _refused(expected, "--resume", "a", "--set", "epochs=4")
    for command in (["evaluate", "a"], ["report", "a"], ["predict", "a", "data.npz"]):
        result = extensor(*command)
        assert (result.code, result.err) == (2, f"extensor {command[0]}: {expected}\n")
    _train("--resume", "a", "--checkpoint", "step-000000012", epochs=4)
    assert _weights("a") == _weights("whole")
    assert (
        Path("runs/a/log.jsonl").read_bytes().splitlines()[-1]
        == Path("runs/whole/log.jsonl").read_bytes().splitlines()[-1]
    )
    assert extensor("evaluate", "a").code == 0
    _damage(Path("runs/a/checkpoints/step-000000024.safetensors"))
    for path in Path("runs/a/checkpoints").glob("*.safetensors"):
        if "24" not in path.name:
            path.write_bytes(b"")
    _refused(expected.replace("018", "024").partition(";")[0], "--resume", "a")


def test_going_back_sets_later_checkpoints_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a run that is interrupted again goes on from what it did since."""
    _train("config.toml", "--name", "a", epochs=3)
    before = _last("a").read_bytes()

    def dies(progress: Any, trainer: Any, record: Any) -> None:
        if trainer.step == 8:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "step_ended", dies)
        back = ("--resume", "a", "--checkpoint", "step-000000006", "--set", "optimizer.lr=0.1")
        assert extensor("train", *back).code == 130
    assert _last("a").stem == "step-000000006"
    assert Path("runs/a/checkpoints/left-step-000000018.safetensors").read_bytes() == before
    _train("--resume", "a")
    assert _rates("a") == [0.001, 0.1, 0.1]
    assert list(_config("a")["resumed"]) == ["step 6"]
    assert [line["epoch"] for line in read_log("runs/a/timing.jsonl")] == [1, 2, 3]
    _train("--resume", "a", "--checkpoint", "step-000000012")
    assert Path("runs/a/checkpoints/left-step-000000018-2.safetensors").exists()


def test_a_named_checkpoint_is_where_the_run_goes_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it is killed at once, and the checkpoint of that step was deleted long ago."""
    _train("config.toml", "--name", "whole", epochs=4, checkpoints__keep=1)
    shutil.copytree("runs/whole", "runs/a")
    checkpoints = Path("runs/a/checkpoints")
    _train("config.toml", "--name", "short", epochs=2)
    _last("short").rename(checkpoints / "best.safetensors")

    def dies(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "step_ended", dies)
        back = extensor("train", "--resume", "a", "--checkpoint", "best")
        assert back.code == 130, back.err
    assert _last("a").stem == "step-000000012"
    _train("--resume", "a")
    assert _weights("a") == _weights("whole")


def test_checkpoint_is_for_a_run() -> None:
    expected = "--checkpoint: needs --resume, which names the run, got checkpoint='best'"
    _refused(expected, "config.toml", "--checkpoint", "best")
    _train("config.toml", "--name", "a")
    expected = (
        "--checkpoint: must be latest or one of ['step-000000006', 'step-000000012'], "
        "got checkpoint='best'"
    )
    _refused(expected, "--resume", "a", "--checkpoint", "best")


def test_a_checkpoint_of_the_first_release_takes_changes_too() -> None:
    """It does not say what the optimizer was made with."""
    _train("config.toml", "--name", "a", schedule__name="ExponentialLR", schedule__gamma=0.5)
    state = ex.load(_last("a"))
    del state["options"]
    ex.save(_last("a"), state)
    _train("--resume", "a", optimizer__lr=0.1, epochs=3)
    assert _rates("a") == [0.001, 0.0005, 0.025]


@pytest.mark.parametrize("left", [[], [".lock"], [".config.toml.123.0.partial", "machine.json"]])
def test_a_folder_without_a_configuration_can_be_used_again(left: list[str]) -> None:
    place = Path("runs/a")
    place.mkdir(parents=True)
    for name in left:
        (place / name).write_text("")
    _train("config.toml", "--name", "a")
    assert not list(place.glob(".*.partial"))


def test_a_folder_of_something_else_is_not_used() -> None:
    Path("runs/a").mkdir(parents=True)
    Path("runs/a/thesis.txt").write_text("precious")
    expected = "--name: the folder must be new or empty, got path='runs/a', files=['thesis.txt']"
    _refused(expected, "config.toml", "--name", "a")
