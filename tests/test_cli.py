"""The command line: training, going on, measuring, predicting."""

from __future__ import annotations

import csv
import itertools
import json
import platform
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from commands import COMMAND, ENVIRONMENT, extensor, files, write_config, write_data

import extensor as ex
from extensor import _native
from extensor.cli.shared_options import read_config
from extensor.core.door import ENGINE
from extensor.experiments.factories import MODELS, SCHEDULES
from extensor.train import Checkpoints, experiment, read_log
from extensor_cli import command_name, parser
from extensor_cli.command_arguments import COMMANDS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trained(name: str = "run", *changes: str) -> Path:
    """A short run on small data."""
    write_data()
    options = [word for change in changes for word in ("--set", change)]
    result = extensor("train", write_config(), "--name", name, *options)
    assert (result.code, "Traceback" in result.err) == (0, False), result.err
    return Path("runs") / name


def test_without_a_file_it_reads_the_digits() -> None:
    result = extensor("train")
    assert result.code == 0, result.err
    (run,) = Path("runs").iterdir()
    accuracy = float(result.out.split("test accuracy ")[1].split("%")[0])
    assert accuracy >= 98.5
    assert f"run folder  {run}" in result.out
    assert f"extensor evaluate {run}" in result.out
    assert "⠤" in result.out or "⠉" in result.out  # a curve
    written = {path.name for path in run.iterdir()}
    assert {"report.html", "config.toml", "log.jsonl", "log.csv", "checkpoints"} <= written
    evaluated = extensor("evaluate", run)
    assert f"test accuracy {accuracy:.2f}%" in evaluated.out


@pytest.mark.parametrize("argument", ["--help", "train --help"])
def test_help_loads_neither_numpy_nor_the_library(argument: str) -> None:
    """So that it is there at once."""
    python, *command = COMMAND
    shown = subprocess.run(
        [python, "-X", "importtime", *command, *argument.split()],
        env=ENVIRONMENT,
        check=True,
        capture_output=True,
        text=True,
    )
    imported = {line.rsplit("|", 1)[-1].strip() for line in shown.stderr.splitlines()}
    assert "extensor_cli" in imported
    assert imported.isdisjoint({"numpy", "extensor"})


def test_no_command_shows_each_command_with_an_example() -> None:
    result = extensor()
    assert result.code == 2
    lines = result.out.splitlines()
    assert max(map(len, lines)) <= 80
    for name, command in COMMANDS.items():
        place = next(i for i, line in enumerate(lines) if line.split()[:1] == [name])
        assert lines[place].endswith(command.summary)
        assert lines[place + 1].strip() == command.example


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits_a_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    root = parser()
    text = (root.commands.choices[name] if name else root).format_help()
    assert max(map(len, text.splitlines())) <= 80
    if name:
        assert text.rstrip().endswith(f"Example:\n  {COMMANDS[name].example}")


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_valid(name: str) -> None:
    words = shlex.split(COMMANDS[name].example.removeprefix('eval "$(').removesuffix(')"'))
    assert words[:2] == ["extensor", name]
    assert parser().parse_args(words[1:]).command == name


def test_defaults_in_the_help_are_those_of_the_options() -> None:
    for command in COMMANDS.values():
        for _, details in itertools.chain(*command.options.values()):
            shown = re.findall(r"default: (\S+)\)", details["help"])
            if details.get("default") not in (None, [], "latest"):
                (value,) = shown
                assert details.get("type", str)(value) == details["default"]


def test_version() -> None:
    lines = extensor("--version").out.splitlines()
    assert lines[:3] == [
        f"extensor {ex.__version__}", f"Python {platform.python_version()}", f"NumPy {np.__version__}",
    ]  # fmt: skip
    assert lines[3:] == [f"engine {ENGINE}", f"instruction set {_native.instruction_set}"]


def test_printed_commands_name_the_program_that_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("bin", "own program"):
        Path(place).mkdir()
        Path(place, "extensor").write_text("#!/bin/sh\n")
        Path(place, "extensor").chmod(0o755)
    monkeypatch.setenv("PATH", "bin")
    monkeypatch.setattr("sys.argv", ["bin/extensor"])
    assert command_name() == "extensor"
    monkeypatch.setattr("sys.argv", ["own program/extensor"])
    assert command_name() == "'own program/extensor'"
    monkeypatch.setenv("PATH", "nowhere")
    monkeypatch.setattr("sys.argv", ["bin/extensor"])
    assert command_name() == "bin/extensor"
    monkeypatch.setattr("sys.argv", ["pytest"])
    assert command_name() == "extensor"
    monkeypatch.setattr("sys.argv", ["/library/extensor_cli/__main__.py"])
    monkeypatch.setattr("sys.executable", "own program/python")
    assert command_name() == "'own program/extensor'"
    monkeypatch.setattr("sys.executable", "empty/python")
    assert command_name() == "empty/python -m extensor_cli"


def test_commands_are_printed_with_the_path_of_the_program() -> None:
    write_data()
    config = write_config()
    program = "import sys; from extensor_cli import main; sys.argv[0] = 'own/extensor'; main()"
    command = [sys.executable, "-c", program, "train", str(config), "--name", "a"]
    shown = subprocess.run(
        command, env={**ENVIRONMENT, "PATH": "nowhere"}, check=True, capture_output=True, text=True
    )
    advice = shown.stdout.partition("\nnext\n")[2].splitlines()
    assert len(advice) == 4
    assert all("own/extensor" in line for line in advice)


def test_changes_are_typed_as_in_toml() -> None:
    changes = ["optimizer.lr=0.01", "epochs=3", "model.name=resnet18", "ema.warmup=true"]
    changes += ["data.normalize.mean=[1, 2.5]", 'amp="bfloat16"', "data.train=a/b-c.npz"]
    config = read_config(None, changes)
    assert config["optimizer"] == {"name": "AdamW", "weight_decay": 0.2, "lr": 0.01}
    assert (config["epochs"], config["model"]["name"]) == (3, "resnet18")
    assert (config["ema"]["warmup"], config["amp"]) == (True, "bfloat16")
    assert config["data"]["normalize"]["mean"] == [1, 2.5]
    assert config["data"]["train"] == "a/b-c.npz"


def test_printed_configuration_can_be_trained() -> None:
    result = extensor("train", "--print-config", "--set", "seed=5")
    assert tomllib.loads(result.out) == read_config(None, ["seed=5"])
    assert files() == {}


def test_run_has_the_whole_configuration() -> None:
    config = tomllib.loads((trained() / "config.toml").read_text())
    assert config["loss"] == {"name": "CrossEntropyLoss"}
    assert config["metrics"] == ["accuracy", "f1"]
    assert config["optimizer"] == {"name": "Adam"}
    assert config["seed"] == 0


def test_everything_that_can_be_configured() -> None:
    changes = ["accumulate=2", "amp=bfloat16", "checkpoints.every=3", "checkpoints.keep=2"]
    changes += ["checkpoints.best=validation_accuracy", "clipping.norm=1.0", "clipping.value=0.5"]
    changes += ["ema.decay=0.9", "optimizer.name=SGD", "optimizer.lr=0.1", "optimizer.momentum=0.9"]
    changes += ["schedule.name=CosineAnnealingLR", "loss.label_smoothing=0.1", "data.workers=1"]
    changes += ['metrics=["accuracy", "f1", "recall", "perplexity"]']
    changes += ["data.standardize=true", "data.test_fraction=0.25", "data.validation_fraction=0.2"]
    run = trained("all", *changes)
    names = sorted(path.stem for path in (run / "checkpoints").iterdir())
    assert names[0] == "best"
    assert len(names) == 3
    *_, last, test = read_log(run / "log.jsonl")
    assert {"validation_f1", "validation_perplexity"} <= set(last)
    assert {"f1", "perplexity"} <= set(test)
    config = tomllib.loads((run / "config.toml").read_text())
    assert len(config["data"]["normalize"]["mean"]) == 4
    assert "standardize" not in config["data"]
    for command in ("evaluate", "report", "info"):
        result = extensor(command, run)
        assert result.code == 0, result.err


@pytest.mark.parametrize("name", sorted(SCHEDULES))
def test_each_schedule_can_be_chosen(name: str) -> None:
    needed = {
        "CyclicLR": {"base_lr": 0.01, "max_lr": 0.1, "cycle_momentum": False},
        "ExponentialLR": {"gamma": 0.9},
        "MultiStepLR": {"milestones": [1]},
        "OneCycleLR": {"max_lr": 0.1},
        "StepLR": {"step_size": 1},
        "WarmupCosineLR": {"warmup_steps": 2},
        "WarmupLR": {"warmup_steps": 2},
    }
    write_data()
    schedule = {"name": name, **needed.get(name, {})}  # type: ignore[dict-item]
    history = experiment(write_config(), {"schedule": schedule}).fit()
    assert len(history) == 2
    if name in ("OneCycleLR", "WarmupCosineLR"):  # these come down over all steps
        assert history[-1]["lr"] < 1e-4


def test_model_loss_and_data_of_the_user() -> None:
    Path("mine_for_test.py").write_text(
        "import numpy as np, extensor as ex\n"
        "def model(width): return ex.models.mlp([4, width, 1])\n"
        "def loss(output, target): return ex.huber_loss(output, target)\n"
        "def data():\n"
        "    x = np.linspace(-1, 1, 160, dtype=np.float32).reshape(40, 4)\n"
        "    return ex.data.ArrayDataset(x, x[:, :1]), ex.data.ArrayDataset(x, x[:, :1])\n"
    )
    write_config(
        '[data]\nname = "mine_for_test:data"\n'
        '[model]\nname = "mine_for_test:model"\nwidth = 5\n[loss]\nname = "mine_for_test:loss"\n'
    )
    result = extensor("train", "config.toml", "--name", "a")
    assert result.code == 0, result.err
    assert "test root mean squared error" in result.out
    np.save("new.npy", np.zeros((3, 4), np.float32))
    assert "extensor predict runs/a --trust FILE.npy" in result.out
    lines = extensor("predict", "a", "new.npy", "--trust").out.splitlines()
    assert lines[0] == "sample,output0"
    assert len(lines) == 4


@pytest.mark.parametrize("target", ["words", "numbers"])
def test_tables(target: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = np.where(x[:, 0] > 0, "up", "down") if target == "words" else x @ [1.0, 2.0]
    with Path("table.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["a", "b", "c"], *([*row, t] for row, t in zip(x, y, strict=True))]
        )
    outputs = 2 if target == "words" else 1
    write_config(
        'epochs = 20\n[data]\ntrain = "table.csv"\ntarget = "c"\nstandardize = true\n'
        f'[model]\nname = "mlp"\nsizes = [2, 16, {outputs}]\n[optimizer]\nlr = 0.02\n'
    )
    result = extensor("train", "config.toml", "--name", "a")
    assert result.code == 0, result.err
    test = read_log("runs/a/log.jsonl")[-1]
    if target == "words":
        assert test["accuracy"] > 0.9
    else:
        assert test["root_mean_squared_error"] < 0.5


def test_folders_of_pictures() -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for part, name, level in [
        (p, n, v) for p in ("train", "test") for n, v in (("ink", 60), ("paper", 220))
    ]:
        place = Path(part) / name
        place.mkdir(parents=True)
        for i in range(6):
            pixels = rng.integers(level - 30, level + 30, (8, 8)).astype(np.uint8)
            image.fromarray(pixels).save(place / f"{i}.png")
    write_config(
        'epochs = 30\n[data]\ntrain = "train"\ntest = "test"\nmode = "L"\nsize = [8, 8]\n'
        '[model]\nname = "lenet5"\nimage_size = 8\nnum_classes = 2\n'
    )
    result = extensor("train", "config.toml", "--name", "a")
    assert result.code == 0, result.err
    assert "ink" in Path("runs/a/report.html").read_text()
    assert len(extensor("predict", "a", "test").out.splitlines()) == 13


def test_evaluate_takes_a_checkpoint_and_changes() -> None:
    run = trained()
    first = sorted((run / "checkpoints").iterdir())[0]
    write_data("other.npz", samples=9)
    result = extensor("evaluate", "run", "--checkpoint", first.stem, "--set", "data.test=other.npz")
    assert result.out.splitlines()[0] == f"{first}, 9 samples"
    before = files()
    assert extensor("evaluate", run, "--checkpoint", first).code == 0
    assert files() == before


def test_predictions_are_those_of_the_model() -> None:
    run = trained("run", "data.normalize.mean=1.0", "data.normalize.std=2.0")
    x = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    np.savez("new.npz", x=x)
    assert extensor("predict", run, "new.npz", "--output", "out.npy").code == 0
    state = ex.load(Checkpoints(run / "checkpoints").latest())
    model = ex.models.mlp([4, 8, 3])
    model.load_state_dict(state["model"])
    with ex.no_grad():
        expected = model(ex.asarray((x - 1) / 2)).numpy()
    np.testing.assert_allclose(np.load("out.npy"), expected, rtol=1e-5, atol=1e-6)
    rows = list(csv.DictReader(extensor("predict", run, "new.npz").out.splitlines()))
    assert [int(row["class"]) for row in rows] == expected.argmax(axis=1).tolist()
    probabilities = ex.softmax(expected, axis=1).numpy().max(axis=1)
    assert [float(row["probability"]) for row in rows] == pytest.approx(probabilities, abs=1e-4)


def test_averages_are_what_is_evaluated() -> None:
    run = trained("run", "ema.decay=0.9")
    said = read_log(run / "log.jsonl")[-1]["validation_loss"]
    assert f"test loss {said:.4g}" in extensor("evaluate", run).out


def test_info() -> None:
    known = extensor("info").out
    for word in (ex.__version__, *MODELS, "none here"):
        assert word in known
    trained()
    assert "2 of 2" in extensor("info", "run").out


def test_names_are_not_used_twice() -> None:
    trained()
    before = files()
    result = extensor("train", "config.toml", "--name", "run")
    assert (result.code, files()) == (2, before)
    assert "--resume runs/run" in result.err


def test_interrupted_run_goes_on_to_the_same_bits() -> None:
    """Ctrl-C in mid-epoch: saved, said how to go on, and in the end as if nothing had happened."""
    changes = ["--set", "epochs=12"]
    assert extensor("train", "--name", "whole", *changes).code == 0
    process = subprocess.Popen(
        [*COMMAND, "train", "--name", "cut", *changes],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("epoch 3/"):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1].endswith("continue with: extensor train --resume runs/cut")
    assert "Traceback" not in err
    assert read_log("runs/cut/log.jsonl")[-1]["step"] < read_log("runs/whole/log.jsonl")[-1]["step"]
    assert extensor("train", "--resume", "cut").code == 0
    for name in ("log.jsonl", "log.csv", "config.toml"):
        assert Path("runs/cut", name).read_bytes() == Path("runs/whole", name).read_bytes(), name
    first, second = (Checkpoints(f"runs/{run}/checkpoints").latest() for run in ("cut", "whole"))
    assert first is not None
    assert second is not None
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


def test_a_run_can_be_made_longer() -> None:
    run = trained()
    result = extensor("train", "--resume", run, "--set", "epochs=4")
    assert result.code == 0, result.err
    epochs = [r["epoch"] for r in read_log(run / "log.jsonl") if r["event"] == "epoch"]
    assert epochs == [1, 2, 3, 4]
    assert json.loads((run / "machine.json").read_text())["extensor"] == ex.__version__
