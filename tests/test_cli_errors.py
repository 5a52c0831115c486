"""Mistakes of users: one or two lines that say what is wrong, exit code 2, and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import CONFIG, extensor, files, write_config, write_data

from extensor.errors.messages import (
    KEY_UNKNOWN,
    METRIC_UNKNOWN,
    NAME_UNKNOWN,
    PATH_NOT_FOUND,
    RUN_NOT_FOUND,
    meant,
)

X = np.ones((6, 4), np.float32)
NAN = np.where(np.arange(60)[:, None] == 17, np.nan, np.ones((60, 4)))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_data()
    write_config()
    return tmp_path


def refused(expected: str, *arguments: Any) -> None:
    """The command says ``expected`` and leaves everything as it was."""
    before = files()
    result = extensor(*arguments)
    lines = result.err.splitlines()
    assert result.code == 2, result
    assert expected in result.err
    assert lines[0].startswith(f"extensor {arguments[0]}: ")
    assert len(lines) <= 2
    assert result.out == ""
    assert files() == before


DATA = {
    "empty": ({"x": np.ones((0, 4)), "y": np.ones(0, int)}, "train must have at least one sample"),
    "too many labels": (
        {"y": np.arange(60) % 4},
        "labels of train must be in [0, 2], the classes of the model, got label=3, sample=",
    ),
    "negative label": ({"y": np.arange(60) % 3 - 1}, "got label=-1, sample="),
    "one class": (
        {"y": np.ones(60, int)},
        "data: train must have at least two classes, got classes=[1]",
    ),
    "nan": ({"x": NAN}, "must have no NaN or infinity, got sample="),
    "infinity": ({"x": np.where(np.isnan(NAN), np.inf, 1.0)}, "value=inf"),
    "wrong width": (
        {"x": np.ones((60, 5))},
        "1: linear: the last axes of x and weight must agree, got x_shape=(1, 5)",
    ),
    "lengths differ": (
        {"x": np.ones((59, 4))},
        "data: arrays must have as many samples each (data.npz)",
    ),
    "no target": ({"y": np.ones((60, 7, 2))}, "mse_loss"),
}


@pytest.mark.parametrize("case", DATA, ids=list(DATA))
def test_data(case: str) -> None:
    changed, expected = DATA[case]
    write_data(**changed)
    refused(expected, "train", "config.toml")


@pytest.mark.parametrize("command", ["train", "evaluate", "report", "predict"])
@pytest.mark.parametrize("case", ["empty", "nan", "wrong width", "too many labels", "one class"])
def test_data_that_changed_after_training(command: str, case: str) -> None:
    assert extensor("train", "config.toml", "--name", "run").code == 0
    changed, expected = DATA[case]
    write_data(**changed)
    if command == "train" and case in ("wrong width", "too many labels"):
        refused("the data must be the same as when the run began", "train", "--resume", "run")
    elif command == "train":
        refused(expected, "train", "--resume", "run")
    elif command == "predict" and "y" in changed and "x" not in changed:
        assert extensor("predict", "run", "data.npz").code == 0  # it does not look at labels
    elif command == "predict":
        expected = expected.replace("train must", "inputs must")
        if case == "wrong width":
            expected = (
                "data: inputs must have 4 columns, as in training "
                "(the targets are none of them), got columns=5"
            )
        refused(expected, "predict", "run", "data.npz")
    else:
        refused(expected, command, "run")


CONFIGS = {
    "unknown table": ("[optimzer]\nlr = 1.0", KEY_UNKNOWN.text(meant("optimizer"), key="optimzer")),
    "unknown key": (
        "[checkpoints]\nevry = 1",
        KEY_UNKNOWN.text(meant("checkpoints.every"), key="checkpoints.evry"),
    ),
    "unknown argument": (
        '[optimizer]\nname = "SGD"\nmomentun = 0.9',
        KEY_UNKNOWN.text(meant("optimizer.momentum"), key="optimizer.momentun"),
    ),
    "unknown optimizer": (
        '[optimizer]\nname = "AdmW"',
        NAME_UNKNOWN.text(meant("AdamW"), name="AdmW", entry="optimizer"),
    ),
    "unknown loss": (
        '[loss]\nname = "cross_entropy"',
        NAME_UNKNOWN.text(name="cross_entropy", entry="loss"),
    ),
    "unknown schedule": (
        '[schedule]\nname = "Cosine"',
        NAME_UNKNOWN.text(name="Cosine", entry="schedule"),
    ),
    "missing argument": (
        '[schedule]\nname = "StepLR"',
        "config: schedule: missing a required argument: 'step_size', got name='StepLR'",
    ),
    "wrong unit": ('[schedule]\nname = "StepLR"\nevery = "day"', "must be 'step' or 'epoch'"),
    "not toml": ("epochs = ", "config: file must be TOML ("),
    "not a table": ("[ema]\ndecay = true", "config: ema.decay must be an integer or a number"),
    "bad value": ("[optimizer]\nlr = -1.0", "Adam: lr must be"),
    "bad range": ("[ema]\ndecay = 2.0", "EMA: decay must be in [0, 1], got decay=2.0"),
    "bad keep": ("[checkpoints]\nkeep = 0", "Checkpoints: keep must be 1 or more, got keep=0"),
    "bad clipping": ("[clipping]\nnorm = 0", "Trainer: clip_norm must be greater than 0"),
    "bad augmentation": (
        "[data.augment.Flip]",
        NAME_UNKNOWN.text(name="Flip", entry="data.augment.Flip"),
    ),
}


@pytest.mark.parametrize("case", CONFIGS, ids=list(CONFIGS))
def test_configurations(case: str) -> None:
    text, expected = CONFIGS[case]
    write_config(f"{CONFIG}\n{text}\n")
    refused(expected, "train", "config.toml")


CHANGES = {
    "epochs=0": "config: epochs must be 1 or more, got epochs=0",
    "epochs=ten": "config: epochs must be an integer, got epochs='ten'",
    "epochs": "--set: a change must be KEY=VALUE, got change='epochs'",
    "epochs=1 2": "--set: a value must be written as in TOML, got value='1 2'",
    "epochs.more=1": "--set: epochs must be a table",
    "epohcs=2": KEY_UNKNOWN.text(meant("epochs"), key="epohcs"),
    "optimizer.lr=fast": "config: optimizer must have values that fit (",
    "model.name=lenet6": NAME_UNKNOWN.text(meant("lenet5"), name="lenet6", entry="model"),
    "model.name=nowhere:model": "config: model: the module must be found (No module named 'nowhere')",
    "model.name=numpy:nowhere": (
        "config: model: numpy must have the function, got name='numpy:nowhere'"
    ),
    "model.name=numpy:kron": KEY_UNKNOWN.text(key="model.sizes"),
    "model.name=math:floor": (
        "config: model must be a function of yours or of an installed package, not of Python's "
        "standard library, got name='math:floor'"
    ),
    "model.name=3": "config: model.name must be a string, got name=3",
    "model.sizes=[4]": "mlp: sizes must have at least two numbers, got sizes=[4]",
    'metrics=["acuracy"]': METRIC_UNKNOWN.text(meant("accuracy"), name="acuracy"),
    "amp=float23": "float23",
    "data.name=digits": "config: data must have a name or a file to train on",
    "data.train=nothing.npz": PATH_NOT_FOUND.text(path="nothing.npz"),
    "data.test=nothing.npz": PATH_NOT_FOUND.text(path="nothing.npz"),
    "data.train=config.toml": "data: file must end with one of .csv, .tsv, ",
    "data.inputs=z": "data: file must have the array 'z', got path='data.npz'",
    "data.test_fraction=0": "data: test must have at least one sample",
    "data.test_fraction=2": "split: fraction must be in [0, 1]",
    "data.batch_size=0": "DataLoader: batch_size must be 1 or more",
    "seed=-1": "config: seed must be 0 or more, got seed=-1",
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes(change: str) -> None:
    refused(CHANGES[change], "train", "config.toml", "--set", change)


def test_classes_of_the_test_that_training_does_not_have() -> None:
    Path("train.csv").write_text("x,y\n" + "1,a\n2,b\n3,c\n" * 4)
    Path("test.csv").write_text("x,y\n1,b\n2,d\n")
    files = (
        "--set",
        "data.train=train.csv",
        "--set",
        "data.test=test.csv",
        "--set",
        "model={name='mlp'}",
    )
    expected = (
        "targets must be classes of the training data (a, b, c), got source='test.csv', line=3"
    )
    refused(expected, "train", "config.toml", *files)
    image = pytest.importorskip("PIL.Image")
    for place in ("train/a", "train/b", "test/b", "test/c"):
        Path(place).mkdir(parents=True)
        for number in range(3):
            image.new("L", (8, 8)).save(f"{place}/{number}.png")
    files = (
        "--set",
        "data.train=train",
        "--set",
        "data.test=test",
        "--set",
        "model={name='convnet'}",
    )
    expected = "folders must be classes of the training data, ['a', 'b'], got folder='test/c'"
    refused(expected, "train", "config.toml", *files)


def test_neither_name_nor_file() -> None:
    write_config('[model]\nname = "mlp"\n[data]\nbatch_size = 1\n')
    refused("config: data must have a name (digits, mnist, ", "train", "config.toml")
    write_config('[model]\nname = "mlp"\n')
    refused("config: [data] must be given", "train", "config.toml")
    write_config('[model]\nname = "mlp"\n[data]\nname = "digit"\n')
    refused(NAME_UNKNOWN.text(meant("digits"), name="digit", entry="data"), "train", "config.toml")


def test_missing_files() -> None:
    refused("nothing.toml", "train", "nothing.toml")
    for command in ("evaluate", "report", "info"):
        refused(RUN_NOT_FOUND.text(run="nothing"), command, "nothing")
    refused(RUN_NOT_FOUND.text(run="nothing"), "train", "--resume", "nothing")
    refused(RUN_NOT_FOUND.text(run="nothing"), "predict", "nothing", "data.npz")


def test_resume_and_a_configuration_exclude_each_other() -> None:
    refused(
        "--resume: a resumed run keeps its configuration", "train", "config.toml", "--resume", "x"
    )


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [flipped, emptied])
@pytest.mark.parametrize("command", ["train", "evaluate", "predict", "report"])
def test_damaged_checkpoint(command: str, damage: Callable[[Path], None]) -> None:
    assert extensor("train", "config.toml", "--name", "run").code == 0
    damage(sorted(Path("runs/run/checkpoints").iterdir())[-1])
    words = {"train": ["--resume", "run"], "predict": ["run", "data.npz"]}.get(command, ["run"])
    refused("load: ", command, *words)


def test_checkpoints_that_are_not_there() -> None:
    assert extensor("train", "config.toml", "--name", "run").code == 0
    expected = "--checkpoint: must be latest or one of ['step-000000006', 'step-000000012']"
    refused(expected, "evaluate", "run", "--checkpoint", "best")
    for path in Path("runs/run/checkpoints").iterdir():
        path.unlink()
    refused("run: there must be a checkpoint, got run='runs/run'", "evaluate", "run")


def test_checkpoint_of_something_else() -> None:
    from safetensors.numpy import load_file, save_file

    import extensor as ex

    assert extensor("train", "config.toml", "--name", "run").code == 0
    last = sorted(Path("runs/run/checkpoints").iterdir())[-1]
    save_file(load_file(last), "foreign")
    for command in ("evaluate", "report"):
        expected = "load: file must be one that save wrote, not one of others, got path='foreign'"
        refused(expected, command, "run", "--checkpoint", "foreign")
    ex.save("other", {"weight": ex.ones(3)})
    refused("file must be a checkpoint of a run", "evaluate", "run", "--checkpoint", "other")
    ex.save("other", {"model": {}, "progress": {}})
    expected = "checkpoint: file must be a checkpoint of a run, got path='other'"
    refused(expected, "train", "--resume", "run", "--checkpoint", "other")
    expected = "Sequential.load_state_dict: keys and shapes must be those of the module"
    refused(expected, "evaluate", "run", "--set", "model.sizes=[4, 9, 3]")


@pytest.mark.parametrize(
    "name",
    ["..", ".", "", "/tmp/a", "../a", "a/../../b", "a//b", "a/", "./a", "a\nb", "a\0b", "a/.."],
)
def test_names_do_not_leave_the_folder_of_runs(name: str) -> None:
    expected = f"--name: must name a folder inside runs/, got name={name!r}"
    refused(expected, "train", "config.toml", "--name", name)
    assert not Path("runs").exists()


def test_runs_do_not_lie_in_each_other() -> None:
    assert extensor("train", "config.toml", "--name", "set/a").code == 0
    for name in ("set/a/b", "set/a/checkpoints/c"):
        expected = f"--name: must not lie in another run (runs/set/a), got name={name!r}"
        refused(expected, "train", "config.toml", "--name", name)
    refused("--name: the run must be new", "train", "config.toml", "--name", "set/a")


@pytest.mark.parametrize("name", ["", ".", "..", "config.toml", "a\0b", "/", "runs"])
def test_what_is_no_run_is_not_resumed(name: str) -> None:
    """A folder with a configuration, as here, is none: nobody has trained in it."""
    for command in (["train", "--resume"], ["evaluate"], ["report"], ["info"]):
        expected = RUN_NOT_FOUND.text(run=name)
        refused(expected, *command, name)


def test_a_run_may_be_anywhere() -> None:
    """Moved away, or behind a link."""
    assert extensor("train", "config.toml", "--name", "a").code == 0
    Path("runs/a").rename("elsewhere")
    Path("runs/b").symlink_to(Path("elsewhere").absolute())
    for number, name in enumerate(["elsewhere", Path("elsewhere").absolute(), "b", "runs/b"], 3):
        result = extensor("train", "--resume", name, "--set", f"epochs={number}")
        assert result.code == 0, result.err


def test_predictions_never_overwrite() -> None:
    assert extensor("train", "config.toml", "--name", "run").code == 0
    Path("out.csv").write_text("precious")
    predict = ("predict", "run", "data.npz", "--output")
    refused("--output: file must be new, got output='out.csv'", *predict, "out.csv")
    refused("--output: file must end with .csv or .json or .npy", *predict, "out.txt")
    refused("--output: the folder must exist", *predict, "no/out.csv")
    refused(PATH_NOT_FOUND.text(path="nothing.npy"), "predict", "run", "nothing.npy")


def test_loss_that_turns_nan_is_told_in_short() -> None:
    result = extensor(
        "train", "config.toml", "--set", "optimizer.name=SGD", "--set", "optimizer.lr=1e30"
    )
    assert result.code == 2
    assert "Traceback" not in result.err
    assert "step" in result.err.splitlines()[-1]


def test_tracebacks_can_be_asked_for() -> None:
    with pytest.raises(
        ValueError, match=KEY_UNKNOWN.text(meant("epochs"), key="epohcs").rstrip("?")
    ):
        extensor("--traceback", "train", "--set", "epohcs=1")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("nosuch.toml", "config: could not read nosuch.toml (No such file or directory)"),
        ("nosuch.csv", PATH_NOT_FOUND.text(path="nosuch.csv")),
        (
            "/",
            "data: folder must have a folder of pictures for each class, and no whole system, "
            "got path='/'",
        ),
    ],
)
def test_files_that_cannot_be_read(path: str, text: str) -> None:
    result = extensor("train", path)
    assert (result.code, result.err) == (2, f"extensor train: {text}\n")


def test_names_that_are_too_long() -> None:
    name = "a" * 300
    own = ("train", "config.toml", "--set")
    expected = "--name: must have at most 255 bytes, got bytes=300"
    refused(expected, "train", "config.toml", "--name", name)
    refused(RUN_NOT_FOUND.text(run=name), "evaluate", name)
    refused(PATH_NOT_FOUND.text(path=name), *own, f"data.train={name}")


@pytest.mark.parametrize("columns", [3, 5, 6])
def test_tables_of_other_columns_are_not_predicted(columns: int) -> None:
    settings = ["--set", "data.standardize=true"]
    assert extensor("train", "config.toml", "--name", "run", *settings).code == 0
    np.save("new.npy", np.ones((2, columns), np.float32))
    hint = " (the targets are none of them)" if columns == 5 else ""
    refused(
        f"data: inputs must have 4 columns, as in training{hint}, got columns={columns}\n",
        "predict",
        "run",
        "new.npy",
    )


def test_runs_that_lost_their_configuration() -> None:
    assert extensor("train", "config.toml", "--name", "run").code == 0
    Path("runs/run/config.toml").unlink()
    expected = (
        "run: the folder must have the run's config.toml, which is missing, got run='runs/run'"
    )
    refused(expected, "train", "--resume", "run")
    refused(expected, "evaluate", "run")
