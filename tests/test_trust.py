"""Runs that somebody else made: what they name runs with consent only, and from where."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import COMMAND, ENVIRONMENT, extensor, without_plots, write_data

from extensor.cli import report_command as report
from extensor.cli.shared_options import COMMAND as COMMAND_WORDING
from extensor.cli.shared_options import as_changes
from extensor.cli.sweep_settings import read_sweep_settings
from extensor.experiments.spec import read_config
from extensor.experiments.stored_runs import find_checkpoint
from extensor.experiments.sweeps import Space, Sweep, read_asked
from extensor.train import (
    Predictor,
    RunFolder,
    TrainedModel,
    experiment,
    load_trained,
)

OWN = """
from pathlib import Path
import numpy as np
import extensor as ex
Path("marker").touch()
def model(sizes): return ex.models.mlp(sizes)
def loss(output, target): return ex.cross_entropy(output, target)
def optimizer(parameters): return ex.optim.SGD(parameters, lr=0.1)
def schedule(optimizer): return ex.optim.StepLR(optimizer, 1)
def flip(): return ex.data.RandomFlip()
def data():
    x = np.linspace(-1, 1, 160, dtype=np.float32).reshape(40, 4)
    parts = ex.data.ArrayDataset(x, np.arange(40) % 3)
    return parts, parts
"""
MARKER = Path("marker")  # there if the code of a foreign module has run


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of one epoch, whose model a module of somebody else has."""
    folder = tmp_path_factory.mktemp("trained")
    before = Path.cwd()
    os.chdir(folder)
    try:
        write_data()
        Path("foreign.py").write_text(OWN)
        config = {
            "epochs": 1,
            "data": {"train": "data.npz"},
            "model": {"name": "foreign:model", "sizes": [4, 8, 3]},
        }
        experiment(config, folder="run", callbacks=[]).fit()
        MARKER.unlink()
    finally:
        os.chdir(before)
        _forget_modules()
    return folder


def _forget_modules() -> None:
    for name in ("foreign", "handed", "handed.os", "beside", "later"):
        sys.modules.pop(name, None)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a copy of the folder; the modules that a test imports are forgotten after it."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(report, "write_plots", lambda run: None)  # which take long
    yield
    _forget_modules()


def _rename_model(name: str) -> None:
    """Let the run name another function, or a model of the library, as its model."""
    path = Path("run/config.toml")
    path.write_text(path.read_text().replace('"foreign:model"', f'"{name}"'))


SWEEP = """
settings = ["optimizer.lr=0.1,0.01"]
trials = 2
seed = 0
halving = false
monitor = "validation_accuracy"
epochs = 1
title = "a"
keeps_best = false
has_validation = false
[config]
epochs = 1
[config.data]
train = "data.npz"
[config.model]
name = "mlp"
sizes = [4, 8, 3]
"""


def _named_sweep(place: str) -> None:
    """A sweep that names the function in its configuration, in a value for all, or in a choice."""
    Path("swept").mkdir()
    text = SWEEP
    if place == "config":
        text = text.replace('"mlp"', '"foreign:model"')
    elif place == "fixed":
        text = text.replace('["opt', '["model.name=foreign:model", "opt')
    else:
        text = text.replace('["opt', '["model.name=mlp,foreign:model", "opt')
    Path("swept/sweep.toml").write_text(text)


def _swept() -> Sweep:
    asked = read_asked(Path("swept"))
    settings, dimensions = read_sweep_settings(asked.settings)
    return Sweep(Path("swept"), asked, dict(as_changes(settings)), Space(dimensions))


COMMANDS = {
    "predict": ("predict", "run", "new.npy"),
    "evaluate": ("evaluate", "run"),
    "evaluate file": ("evaluate", "run", "data.npz"),
    "report": ("report", "run"),
    "resume": ("train", "--resume", "run", "--set", "epochs=2"),
    "train": ("train", "run/config.toml", "--name", "new"),
    "print": ("train", "run/config.toml", "--print-config"),
    "tune-lr": ("tune-lr", "run/config.toml", "--steps", "30"),
    "sweep": (
        *("sweep", "run/config.toml", "--set", "optimizer.lr=0.1,0.01"),
        *("--set", "epochs=1", "--name", "s"),
    ),
}
# Those that other tests run to their end, as they start processes.
QUICK = [name for name in COMMANDS if name != "sweep"]


def _trained_model(trust: bool) -> TrainedModel:
    run = RunFolder("run")
    return TrainedModel(run, read_config(run.config), find_checkpoint(run), trust=trust)


CALLS: dict[str, Callable[[bool], Any]] = {
    "Predictor.load": lambda trust: Predictor.load("run", trust=trust),
    "load_trained": lambda trust: load_trained("run", trust=trust),
    "TrainedModel": _trained_model,
    "resume": lambda trust: experiment(resume="run", callbacks=[], trust=trust),
    "path": lambda trust: experiment("run/config.toml", {"checkpoints": None}, trust=trust),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_ask_before_a_stored_run_runs_a_function(command: str) -> None:
    np.save("new.npy", np.zeros((3, 4), np.float32))
    result = extensor(*COMMANDS[command])
    assert result.code == 2
    assert "got name='foreign:model'" in result.err
    assert "run/config.toml names one" in result.err
    assert "(if you trust this one: --trust)" in result.err
    assert not MARKER.exists()


@pytest.mark.parametrize("command", QUICK)
def test_commands_run_it_with_trust(command: str) -> None:
    np.save("new.npy", np.zeros((3, 4), np.float32))
    result = extensor(*COMMANDS[command], "--trust")
    assert result.code == 0, result.err
    assert MARKER.exists() is (command != "print")  # which shows what it read


@pytest.mark.parametrize("call", CALLS)
def test_calls_ask_before_a_stored_run_runs_a_function(call: str) -> None:
    with pytest.raises(ValueError, match=r"config.toml names one.*trust=True.*'foreign:model'"):
        CALLS[call](False)
    assert not MARKER.exists()
    CALLS[call](True)
    assert MARKER.exists()


@pytest.mark.parametrize("place", ["config", "fixed", "choice"])
def test_a_stored_sweep_asks_too(place: str) -> None:
    _named_sweep(place)
    result = extensor("sweep", "--resume", "swept")
    assert result.code == 2
    assert "swept/sweep.toml names one" in result.err
    assert "--trust" in result.err
    with pytest.raises(ValueError, match="got name='foreign:model'"):
        _swept().opened(1)
    assert not MARKER.exists()


def test_a_configuration_beside_a_sweep_asks_too() -> None:
    _named_sweep("config")
    shutil.copy("run/config.toml", "swept/best.toml")
    assert "swept/best.toml names one" in extensor("train", "swept/best.toml").err
    assert not MARKER.exists()


def test_a_trial_asks_although_its_sweep_names_nothing() -> None:
    Path("swept").mkdir()
    Path("swept/sweep.toml").write_text(SWEEP)
    shutil.copytree("run", "swept/trial-001")
    with pytest.raises(ValueError, match=r"trial-001/config\.toml names one.*: trust=True\)"):
        _swept().opened(1)
    with pytest.raises(ValueError, match=r"trial-001/config\.toml names one.*: --trust\)"):
        _swept().opened(1, wording=COMMAND_WORDING)
    assert not MARKER.exists()


@pytest.mark.parametrize("folder", ["run", "swept"])
def test_a_configuration_below_the_folder_of_a_run_asks_too(folder: str) -> None:
    _named_sweep("config")
    below = Path(folder, "sub/deeper")
    below.mkdir(parents=True)
    shutil.copy("run/config.toml", below / "x.toml")
    Path("linked.toml").symlink_to((below / "x.toml").absolute())
    Path(folder, "other.toml").hardlink_to(below / "x.toml")
    for path in (below / "x.toml", "linked.toml", f"{folder}/other.toml"):
        assert f"{path} names one" in extensor("train", str(path)).err
    assert not MARKER.exists()


ENTRIES = {
    "model": '[model]\nname = "foreign:model"\nsizes = [4, 8, 3]\n',
    "loss": '[loss]\nname = "foreign:loss"\n',
    "optimizer": '[optimizer]\nname = "foreign:optimizer"\n',
    "schedule": '[schedule]\nname = "foreign:schedule"\n',
    "data": '[data]\nname = "foreign:data"\n',
    "augmentation": '[data.augment."foreign:flip"]\n',
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_that_names_a_function_needs_consent(entry: str) -> None:
    base = {
        "model": '[model]\nname = "mlp"\nsizes = [4, 8, 3]\n',
        "data": '[data]\ntrain = "data.npz"\n',
    }
    tables = {**base, entry: ENTRIES[entry]}
    Path("run/config.toml").write_text("epochs = 1\n" + "".join(tables.values()))
    for call in CALLS.values():
        with pytest.raises(ValueError, match=f"consent.*got name='{_function(entry)}'"):
            call(False)
    assert not MARKER.exists()
    experiment("run/config.toml", callbacks=[], trust=True)
    assert MARKER.exists()


def _function(entry: str) -> str:
    return f"foreign:{'flip' if entry == 'augmentation' else entry}"


def test_a_configuration_of_yours_is_a_program() -> None:
    shutil.copy("run/config.toml", "mine.toml")
    experiment("run/../mine.toml", {"checkpoints": None}, callbacks=[])
    assert MARKER.exists()


def test_a_second_name_outside_of_the_run_is_a_copy() -> None:
    Path("mine.toml").hardlink_to("run/config.toml")
    experiment("mine.toml", {"checkpoints": None}, callbacks=[])
    assert MARKER.exists()


def test_what_the_command_line_names_needs_no_more_consent() -> None:
    _rename_model("gone:model")
    result = extensor("evaluate", "run", "--set", "model.name=foreign:model")
    assert result.code == 0, result.err
    assert MARKER.exists()


@pytest.mark.parametrize("command", ["info", "compare"])
def test_commands_that_only_show_a_run_import_nothing(command: str) -> None:
    shutil.copytree("run", "other")
    arguments = ["run", "other"] if command == "compare" else ["run"]
    assert extensor(command, *arguments).code == 0
    assert not MARKER.exists()


STANDARD = [
    "os:system", "os.path:exists", "posix:system", "subprocess:run", "builtins:exec",
    "importlib:import_module", "runpy:run_path", "shutil:rmtree", "test.support:import_module",
    "handed:system", "handed:execute", "handed:shell", "handed:joined", "handed.os:system",
]  # fmt: skip


def test_functions_without_a_signature_are_refused() -> None:
    Path("handed.py").write_text("def build(): ...\nbuild.__signature__ = 3\n")
    text = 'epochs = 1\n[data]\ntrain = "data.npz"\n[model]\nname = "handed:build"\n'
    Path("mine.toml").write_text(text)
    with pytest.raises(ValueError, match="model must have a signature that can be read"):
        experiment("mine.toml", callbacks=[])


@pytest.mark.parametrize("name", STANDARD)
@pytest.mark.parametrize("source", ["run/config.toml", "mine.toml"])
def test_nothing_of_the_standard_library_is_called(name: str, source: str) -> None:
    Path("handed.py").write_text(
        "import functools, os, sys\n"
        "from os import system\n"
        "execute = exec\n"
        "shell = functools.partial(functools.partial(os.system), 'touch marker')\n"
        "joined = ' '.join\n"
        "sys.modules['handed.os'] = os\n"
    )
    if name == "handed.os:system":
        Path("handed").mkdir()
        Path("handed.py").rename("handed/__init__.py")
    text = f'epochs = 1\n[data]\ntrain = "data.npz"\n[model]\nname = "{name}"\n'
    Path(source).write_text(text + 'command = "touch marker"\n')
    with pytest.raises(ValueError, match=f"standard library, got name='{name}'"):
        experiment(source, callbacks=[], trust=True)
    assert not MARKER.exists()


@pytest.mark.parametrize(
    "name",
    ["extensor:save", "extensor.data:pack", "extensor.train:experiment", "extensor_cli:main"],
)
def test_functions_of_the_library_that_write_are_not_called(name: str) -> None:
    Path("run/config.toml").write_text(
        f'epochs = 1\n[data]\ntrain = "data.npz"\n[model]\nname = "{name}"\n'
    )
    with pytest.raises(ValueError, match=r"must be a model, layer, loss, optimizer or transform"):
        experiment("run/config.toml", callbacks=[], trust=True)


def test_what_the_library_computes_with_may_be_named() -> None:
    config = {
        "epochs": 1,
        "data": {"train": "data.npz"},
        "model": {"name": "extensor.models:mlp", "sizes": [4, 3]},
        "loss": {"name": "extensor:cross_entropy"},
    }
    assert experiment(config, callbacks=[]).model.num_parameters() == 15


@pytest.mark.parametrize("name", [":model", "foreign:", ".foreign:model", "a b:c", "foreign:a.b"])
def test_a_name_must_be_a_module_and_a_function(name: str) -> None:
    _rename_model(name)
    with pytest.raises(ValueError, match=r"model\.name must be module:function"):
        load_trained("run", trust=True)


def test_installed_modules_come_before_those_of_the_working_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("installed").mkdir()
    Path("installed/foreign.py").write_text(OWN.replace('"marker"', '"installed/marker"'))
    monkeypatch.syspath_prepend(str(Path("installed").absolute()))
    paths = list(sys.path)
    load_trained("run", trust=True)
    assert Path("installed/marker").exists()
    assert not MARKER.exists()
    assert sys.path == paths


def test_the_working_folder_is_no_place_for_other_modules() -> None:
    """A module beside yours is found while yours is imported and called, and never after that."""
    Path("foreign.py").write_text(
        "import extensor as ex\nimport beside\n"
        "def model(sizes):\n    import later\n    return ex.models.mlp(sizes)\n"
    )
    for name in ("beside", "later", "other"):
        Path(f"{name}.py").touch()
    load_trained("run", trust=True)
    with pytest.raises(ModuleNotFoundError):
        __import__("other")


def test_commands_import_no_library_from_the_working_folder() -> None:
    without_plots()  # the real one takes long
    for name in ("numpy", "matplotlib", "rich", "extensor"):
        Path(f"{name}.py").write_text(f"open('{name}.imported', 'w')\n")
    command = [*COMMAND, "report", "run", "--trust"]
    result = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert MARKER.exists()
    assert list(Path().glob("*.imported")) == []


def test_the_launcher_starts_python_without_the_working_folder() -> None:
    Path("numpy.py").write_text("open('marker', 'w')\n")
    Path("-odd.toml").write_text("epochs = 'none'\n")
    Path("launcher.py").write_text(
        "import sys, json\njson.dump(sys.argv[1:], open('words', 'w'))\n"
    )
    launcher = f"{sys.executable} launcher.py"
    with pytest.raises(SystemExit):
        extensor("train", f"--launcher={launcher}", "--name=-a", "--trust", "--", "-odd.toml")
    words = json.loads(Path("words").read_text())
    assert words[1:5] == ["-P", "-m", "extensor_cli", "train"]
    assert words[-2:] == ["--", "-odd.toml"]
    assert {"--name=-a", "--trust"} <= set(words)
    result = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert "epochs must be an integer" in result.stderr
    assert not MARKER.exists()


def test_a_program_that_is_supervised_keeps_the_path_that_p_gives() -> None:
    Path("program.py").write_text("import sys\nprint(sys.path)\n")
    Path("plain.py").write_text("import sys\nprint(sys.path)\n")
    words = [sys.executable, "-P", "-m", "extensor.distributed", "program.py"]
    found = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    plain = [sys.executable, "-P", "plain.py"]
    usual = subprocess.run(plain, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert found.stdout == usual.stdout


def test_python_m_looks_in_the_working_folder_and_p_does_not() -> None:
    """Python itself does so, before a line of the library runs."""
    Path("argparse.py").write_text("open('marker', 'w')\n")
    for option, is_imported in (("-P", False), ("-B", True)):
        words = [sys.executable, option, "-m", "extensor_cli", "--version"]
        subprocess.run(words, env=ENVIRONMENT, capture_output=True, check=False)
        assert MARKER.exists() is is_imported
