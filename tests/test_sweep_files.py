"""Sweeps of files of data: what trials fill up, which epoch counts, and what is never looked at."""

from __future__ import annotations

import json
import math
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import ENVIRONMENT, extensor, write_config, write_data
from own_files import write_series, write_table, write_text

from extensor import load
from extensor.cli import sweep_command as command
from extensor.errors.messages import COLUMN_NOT_FOUND, PATH_NOT_FOUND, meant
from extensor.experiments.sweeps import Asked, Choices, Space, Sweep
from extensor.io.toml import as_toml
from extensor.train import Checkpoints, experiment, read_log

ON_TEST = "validation is the test data here; set data.validation_fraction"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", ENVIRONMENT["PYTHONPATH"])
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time


@pytest.fixture
def untrained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let trials end at once: what is written before them is there."""

    def fail(jobs: Any, most: int, environment: Any, done: Callable[..., None]) -> None:
        for job in jobs:
            job.output.parent.mkdir()
            job.output.write_text("extensor sweep: not today\n")
            done(job.number, 2)

    monkeypatch.setattr(command, "run_side_by_side", fail)


def _asked() -> dict[str, Any]:
    return tomllib.loads(Path("runs/a/sweep.toml").read_text())


def _epochs(run: Path) -> list[dict[str, Any]]:
    return [record for record in read_log(run / "log.jsonl") if record["event"] == "epoch"]


def test_a_table_is_searched() -> None:
    settings = (
        "optimizer.lr=0.003,0.03",
        "model.hidden=[4],[16,8]",
        "epochs=5",
        "data.batch_size=32",
    )
    options = [word for setting in settings for word in ("--set", setting)]
    arguments = ("--target", "plant", "--trials", "2", "--no-halving", "--jobs", "2")
    result = extensor("sweep", write_table(), *arguments, *options, "--name", "a")
    assert result.code == 0, result.err
    assert result.out.startswith("table.csv: 90 rows, 5 columns\n")
    assert ON_TEST not in result.out
    lines = [json.loads(line) for line in Path("runs/a/trials.jsonl").read_text().splitlines()]
    assert [line["trial"] for line in lines] == [1, 2]
    for line in lines:
        run = Path(f"runs/a/trial-00{line['trial']}")
        kept = min(_epochs(run), key=lambda record: record["validation_loss"])
        assert (line["epoch"], line["value"]) == (kept["epoch"], kept["validation_accuracy"])
        assert line["loss"] == kept["validation_loss"]
        assert not any(record["event"] == "test" for record in read_log(run / "log.jsonl"))
    best = max(lines, key=lambda line: (line["value"], -line["loss"]))["trial"]
    one, two = result.out.splitlines()[-2:]
    assert shlex.split(one)[:5] == ["extensor", "train", "table.csv", "--target", "plant"]
    page = Path("runs/a/sweep.html").read_text()
    assert "<title>Sweep of mlp on table.csv</title>" in page
    assert "at the best epoch of a trial, whose weights are kept." in page
    assert "Validation is the test data" not in page
    # Whoever trains the best one comes to the same bits, at the best epoch and at the last.
    for name, words in (("one", one), ("two", two)):
        assert extensor(*shlex.split(words)[1:], "--name", name).code == 0
        for checkpoint in ("best", "step-000000010"):
            states = [
                load(Path("runs", run, f"checkpoints/{checkpoint}.safetensors"))
                for run in (f"a/trial-00{best}", name)
            ]
            for state in states:
                del state["callbacks"]  # the log says why it is this task, which best.toml says
            assert _flat(states[0]) == _flat(states[1])


def _flat(state: Any) -> Any:
    if isinstance(state, dict):
        return {key: _flat(value) for key, value in state.items()}
    return np.asarray(state).tobytes() if hasattr(state, "shape") else state


@pytest.mark.usefixtures("untrained")
def test_all_trials_have_the_most_epochs_that_a_value_asks_for() -> None:
    write_table(rows=1500)
    result = extensor("sweep", "table.csv", "--set", "data.batch_size=8,64", "--name", "a")
    assert result.err.splitlines()[-1].endswith("one at least must succeed, got failed=2")
    alone = [
        experiment({"data": {"train": "table.csv", "batch_size": size}}, callbacks=[]).config
        for size in (8, 64)
    ]
    # About 3,000 steps: with larger batches those are more epochs.
    assert [config["epochs"] for config in alone] == [23, 176]
    assert _asked()["epochs"] == 176
    made = Sweep(
        Path("runs/a"), Asked(**_asked()), {}, Space({"data.batch_size": Choices((8, 64))})
    )
    configs = [made.opened(number).config for number in (1, 2)]
    assert [config["epochs"] for config in configs] == [176, 176]
    assert [config["early_stopping"]["patience"] for config in configs] == [35, 35]
    assert [made.changes(number)["epochs"] for number in (1, 2)] == [176, 176]


@pytest.mark.usefixtures("untrained")
@pytest.mark.parametrize(
    ("write", "options", "settings"),
    [
        (write_series, ("--target", "load", "--horizon", 2, "--window", 6), "model.hidden=[4],[8]"),
        (write_text, (), "optimizer.lr=1e-4..1e-2"),
        (write_data, (), "model.hidden=[4],[8]"),
        (write_table, ("--target", -1, "--task", "multiclass"), "model.p=0.0..0.5"),
    ],
)
def test_every_kind_can_be_searched(write: Any, options: Any, settings: str) -> None:
    path = write() or "data.npz"
    small = ("--set", "data.context=8", "--set", "model.width=8") if write is write_text else ()
    result = extensor(
        "sweep", path, *options, "--set", settings, *small, "--trials", 2, "--name", "a"
    )
    assert "one at least must succeed, got failed=2" in result.err
    assert ON_TEST not in result.out
    asked = _asked()
    assert asked["has_validation"] is True
    assert asked["keeps_best"] is (write is not write_text)
    assert asked["config"]["data"]["train"] == str(path)
    assert asked["title"] == f"{'gpt' if write is write_text else 'mlp'} on {path}"


@pytest.mark.usefixtures("untrained")
def test_it_says_if_the_test_data_are_chosen_by() -> None:
    write_data()
    write_config()
    search = ("--set", "optimizer.lr=0.1,0.2", "--name")
    result = extensor("sweep", "config.toml", *search, "a")
    assert f" at a time\n{ON_TEST}\n" in result.out
    page = Path("runs/a/sweep.html").read_text()
    assert f"{ON_TEST[0].upper()}{ON_TEST[1:]}.</p>" in page
    assert "after the last epoch of a trial." in page
    held = ("--set", "data.validation_fraction=0.2")
    result = extensor("sweep", "config.toml", *held, *search, "b")
    assert ON_TEST not in result.out
    assert ON_TEST[1:] not in Path("runs/b/sweep.html").read_text()


REFUSED = {
    "--target: is for a data file; for a configuration, use --set data.target=..., got target=['y']": [
        "config.toml", "--target", "y",
    ],
    "--horizon: is for a data file; for a configuration, use --set data.horizon=..., got horizon=3": [
        "config.toml", "--horizon", "3",
    ],
    COLUMN_NOT_FOUND.text(meant("plant"), column="plants", source="table.csv"): [
        "table.csv", "--target", "plants",
    ],
    PATH_NOT_FOUND.text(path="nothing.csv"): ["nothing.csv"],
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text: str) -> None:
    write_data()
    write_config()
    write_table()
    for words in (["sweep", "--set", "optimizer.lr=0.1,0.2"], ["tune-lr"]):
        result = extensor(*words, *REFUSED[text])
        assert (result.code, result.out, result.err) == (2, "", f"extensor {words[0]}: {text}\n")
    assert not Path("runs").exists()


@pytest.mark.parametrize("option", ["--target=y", "--task=binary", "--window=2", "--horizon=2"])
def test_a_sweep_that_goes_on_has_all_of_that(option: str) -> None:
    result = extensor("sweep", "--resume", "a", option)
    assert "the sweep keeps its settings" in result.err


def _sweep(stopping: dict[str, Any], losses: list[Any], accuracies: list[Any]) -> Sweep:
    """A sweep of which one trial was trained so far."""
    asked = Asked(
        [], 2, 0, False, "validation_accuracy", len(losses), "", True, True, {"epochs": len(losses)}
    )
    made = Sweep(Path("a"), asked, {}, Space({"seed": Choices((0, 1))}))
    run = made.trial(1)
    run.path.mkdir(parents=True)
    run.config.write_text(as_toml({"early_stopping": stopping} if stopping else {"epochs": 1}))
    records = [
        {"event": "epoch", "epoch": i, "validation_loss": loss, "validation_accuracy": accuracy}
        for i, (loss, accuracy) in enumerate(zip(losses, accuracies, strict=True), 1)
    ]
    test = {"event": "test", "loss": 0.0, "accuracy": 1.0}
    run.log.write_text("".join(json.dumps(record) + "\n" for record in [*records, test]))
    return made


LOSS, ACCURACY = {"monitor": "validation_loss"}, {"monitor": "validation_accuracy"}


@pytest.mark.parametrize(
    ("stopping", "epochs", "epoch", "value"),
    [
        ({}, 4, 4, 0.6),
        ({}, 2, 2, 0.7),
        (LOSS, 4, 2, 0.7),
        ({"patience": 3}, 4, 2, 0.7),
        (LOSS, 1, 1, 0.5),
        (ACCURACY, 4, 3, 0.9),
        (ACCURACY, 2, 2, 0.7),
    ],
)
def test_the_epoch_that_counts(stopping: Any, epochs: int, epoch: int, value: float) -> None:
    """Of a trial that stops early it is the one that is kept, of another the last of the rung."""
    losses, accuracies = [0.4, 0.2, 0.3, 0.2], [0.5, 0.7, 0.9, 0.6]
    found = _sweep(stopping, losses, accuracies).measured(1, epochs)
    assert found == (1, epochs, value, None, epoch, losses[epoch - 1])


def test_an_epoch_that_is_not_finite_is_not_kept() -> None:
    found = _sweep(LOSS, [math.nan, 0.5, -math.inf], [0.1, 0.2, 0.3]).measured(1, 3)
    assert (found.epoch, found.value) == (2, 0.2)


@pytest.mark.parametrize("stopping", [{}, LOSS, ACCURACY])
def test_if_no_epoch_is_finite_the_trial_failed(stopping: Any) -> None:
    found = _sweep(stopping, [math.nan] * 2, [math.nan] * 2).measured(1, 2)
    assert (found.value, found.failed) == (None, "validation_accuracy is nan")


def test_trials_leave_the_test_data_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial is trained in parts to the bits of a run of its own, which alone is tested."""
    write_table()
    config = {"epochs": 4, "data": {"train": "table.csv"}}
    whole = experiment(config, folder="whole", callbacks=[])
    whole.fit()
    part = experiment(config, folder="part", callbacks=[])
    monkeypatch.setattr(type(part), "evaluate", lambda _: pytest.fail("the test was looked at"))
    part.train_until(1)
    experiment(resume="part", callbacks=[]).train_until(4)
    logs = [read_log(f"{name}/log.jsonl") for name in ("whole", "part")]
    assert logs[0][:-1] == logs[1]
    assert logs[0][-1]["event"] == "test"
    states = [Checkpoints(f"{name}/checkpoints").latest() for name in ("whole", "part")]
    assert states[0] is not None
    assert states[1] is not None
    assert states[0].read_bytes() == states[1].read_bytes()


def test_equals_are_ranked_by_their_loss(tmp_path: Path) -> None:
    from extensor.experiments.sweeps import Result, Results, rungs

    found = Results(tmp_path / "trials.jsonl", rungs(3, 5), False)
    for trial, (value, loss) in enumerate(
        [(0.5, 0.1), (0.9, 0.4), (0.9, 0.2), (0.9, None), (0.9, 0.4)], 1
    ):
        found.add(Result(trial, 1, value, None, 1, loss))
    assert [result.trial for result in found.standing()] == [3, 2, 5, 4, 1]
    again = Results(tmp_path / "trials.jsonl", rungs(3, 5), False)
    assert again.standing() == found.standing()
    assert again.waiting() == ((3, 2), [2, 3])


def test_arrays_of_numbers_are_learned_alike_from_what_was_written() -> None:
    """Their targets are scaled because nobody chose a model, and so they stay when one is written."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    np.savez("data.npz", x=x, y=1000 + 50 * (x @ [1.0, 2.0, 3.0]))
    first = experiment({"epochs": 2, "data": {"train": "data.npz"}}, callbacks=[])
    assert first.config["data"]["standardize_target"] is True
    second = experiment(first.config, callbacks=[])
    assert (second.config, second.fit()) == (first.config, first.fit())
