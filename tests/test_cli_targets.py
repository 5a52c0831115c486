"""What the command line takes targets for: the loss says whether whole numbers are classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor, write_config

from extensor.cli.shared_options import read_config
from extensor.train import experiment, read_log


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


CONFIG = """
epochs = 1
[data]
train = "{train}"
batch_size = 8
[model]
name = "mlp"
sizes = [2, {outputs}]
"""


def _written(targets: Any, outputs: int = 1, loss: str = "", table: bool = False) -> None:
    """Data of two columns with these targets, in an .npz or a table, and a configuration for them."""
    x = np.random.default_rng(0).normal(size=(len(targets), 2)).round(2)
    train = "data.csv" if table else "data.npz"
    if table:
        lines = [f"{a},{b},{t}" for (a, b), t in zip(x, targets, strict=True)]
        Path(train).write_text("\n".join(["a,b,y", *lines]) + "\n")
    else:
        np.savez(train, x=x, y=targets)
    text = CONFIG.format(train=train, outputs=outputs)
    write_config(text + (f'[loss]\nname = "{loss}"\n' if loss else ""))


def _opened(*changes: str) -> Any:
    return experiment(read_config("config.toml", changes), folder="runs/a")


def _refused(text: str) -> None:
    result = extensor("train", "config.toml")
    assert (result.code, text in result.err, "Traceback" in result.err) == (2, True, False), (
        result.err
    )
    assert not Path("runs").exists()


WHOLE = np.arange(40) % 5


@pytest.mark.parametrize("table", [False, True])
@pytest.mark.parametrize("loss", ["MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"])
def test_whole_numbers_are_numbers_beside_a_loss_of_numbers(loss: str, table: bool) -> None:
    _written(WHOLE, loss=loss, table=table)
    session = _opened()
    for loader in (session.train_loader, session.test_loader):
        target = next(iter(loader))[-1]
        assert (str(target.dtype), target.shape) == ("float32", (8, 1))
    assert session.config["metrics"] == ["r2", "root_mean_squared_error", "mean_absolute_error"]


def test_whole_numbers_are_learned() -> None:
    _written(WHOLE, loss="MSELoss", table=True)
    result = extensor("train", "config.toml", "--name", "a")
    assert result.code == 0, result.err
    assert "task regression: for MSELoss" in result.out
    last = read_log("runs/a/log.jsonl")[-1]
    assert (last["event"], last["root_mean_squared_error"] > 0) == ("test", True)
    assert extensor("evaluate", "a").code == 0


@pytest.mark.parametrize("loss", ["BCEWithLogitsLoss", "BCELoss", "FocalLoss"])
@pytest.mark.parametrize("targets", [WHOLE % 2, WHOLE % 2 == 1, np.where(WHOLE % 2, "yes", "no")])
def test_truth_beside_a_loss_of_truth(loss: str, targets: Any) -> None:
    _written(targets, loss=loss, table=targets.dtype.kind == "U")
    if loss == "BCELoss":
        Path("probable.py").write_text(
            "import extensor as ex\n"
            "def model(): return ex.nn.Sequential(ex.nn.Linear(2, 1), ex.nn.Sigmoid())\n"
        )
        text = Path("config.toml").read_text()
        Path("config.toml").write_text(text.replace('"mlp"\nsizes = [2, 1]', '"probable:model"'))
    session = _opened()
    target = np.concatenate([batch[-1].numpy() for batch in session.test_loader])
    assert (str(target.dtype), target.shape) == ("float32", (8, 1))
    assert set(target.ravel().tolist()) == {0.0, 1.0}
    assert list(session.trainer.metrics) == ["accuracy", "roc_auc", "f1"]


@pytest.mark.parametrize("loss", ["BCEWithLogitsLoss", "FocalLoss"])
def test_truth_is_learned(loss: str) -> None:
    _written(WHOLE % 2, loss=loss)
    result = extensor("train", "config.toml", "--name", "a")
    assert result.code == 0, result.err
    assert "task binary: targets 0 or 1" in result.out
    assert f"mlp: 3 parameters, {loss}, Adam" in result.out
    assert "test loss" in result.out
    np.save("new.npy", np.zeros((2, 2), np.float32))
    said = extensor("predict", "a", "new.npy").out.splitlines()
    assert said[0] == "sample,class,probability,p(0),p(1)"


def test_floats_leave_chance_as_it_was() -> None:
    """Targets that need no change add nothing to the loaders, which would draw for it."""
    _written(WHOLE / 2)
    session = _opened()
    assert (session.train_loader.transforms, session.test_loader.transforms) == ((), ())


def test_several_labels_of_each_sample() -> None:
    labels = np.stack([WHOLE % 2, WHOLE > 2, WHOLE == 1], axis=1).astype(np.int64)
    _written(labels, outputs=3, loss="BCEWithLogitsLoss")
    target = next(iter(_opened().train_loader))[-1]
    assert (str(target.dtype), target.shape) == ("float32", (8, 3))
    result = extensor("train", "config.toml")
    assert result.code == 0, result.err
    assert "task multilabel" in result.out
    refused = extensor("train", "config.toml", "--set", 'metrics=["perplexity"]')
    assert "named_metric: name must be a metric for task='multilabel': accuracy" in refused.err


def test_classes_beside_a_loss_of_classes() -> None:
    _written(WHOLE, outputs=5, loss="CrossEntropyLoss")
    session = _opened()
    target = next(iter(session.train_loader))[-1]
    assert (str(target.dtype), target.shape) == ("int64", (8,))
    assert list(session.trainer.metrics) == ["accuracy", "f1"]


def test_without_a_loss_the_targets_say() -> None:
    _written(WHOLE, outputs=5)
    said = extensor("train", "config.toml").out
    assert "task multiclass: targets classes" in said
    assert "CrossEntropyLoss" in said
    _written(WHOLE / 2)
    said = extensor("train", "config.toml").out
    assert "task regression: targets numbers" in said
    assert "MSELoss" in said


ONE = (
    "config: a model of one output chooses no class: give it an output for each, or say "
    "loss.name='BCEWithLogitsLoss' for two classes, 'MSELoss' for numbers, got outputs=1"
)


@pytest.mark.parametrize("loss", ["", "CrossEntropyLoss", "NLLLoss"])
@pytest.mark.parametrize("targets", [WHOLE, WHOLE % 2])
def test_one_output_chooses_no_class(loss: str, targets: Any) -> None:
    _written(targets, loss=loss)
    _refused(ONE)


@pytest.mark.parametrize(
    ("targets", "loss", "text"),
    [
        (
            np.where(WHOLE % 2, "yes", "no"),
            "MSELoss",
            "data: targets must be numbers for MSELoss, got path='data.csv', target='y', "
            "values=['no', 'yes']",
        ),
        (
            np.array(["a", "b", "c", "d", "e"])[WHOLE],
            "BCEWithLogitsLoss",
            "data: the target must be one column of two values for BCEWithLogitsLoss, "
            "got path='data.csv', target='y', columns=1, values=['a', 'b', 'c', 'd']",
        ),
        (
            WHOLE,
            "BCEWithLogitsLoss",
            "the target must be one column of two values for BCEWithLogitsLoss, "
            "got path='data.csv', target='y', columns=1",
        ),
        (WHOLE % 2, "HingeLoss", "targets must be -1 or 1 for HingeLoss, got path='data.csv'"),
        (
            WHOLE / 2,
            "CrossEntropyLoss",
            "data: targets must be words or whole numbers for CrossEntropyLoss, got path=",
        ),
    ],
)
def test_targets_that_the_loss_does_not_take(targets: Any, loss: str, text: str) -> None:
    _written(targets, loss=loss, table=True)
    _refused(text)


def test_metrics_are_tried_before_training() -> None:
    _written(WHOLE % 2, loss="BCEWithLogitsLoss")
    for name in ("top_k_accuracy", "perplexity", "r2"):
        result = extensor("train", "config.toml", "--set", f'metrics=["{name}"]')
        assert "name must be a metric for task='binary': accuracy, " in result.err
    assert not Path("runs").exists()


def test_signs_beside_the_hinge_loss() -> None:
    _written(2 * (WHOLE % 2) - 1, loss="HingeLoss")
    assert next(iter(_opened().train_loader))[-1].shape == (8, 1)


def test_a_header_of_numbers() -> None:
    """As pandas writes columns without names, beside one that has a name."""
    rng = np.random.default_rng(0)
    rows = [
        ",".join(map(str, [*row, i % 2]))
        for i, row in enumerate(rng.normal(size=(20, 12)).round(2))
    ]
    names = ",".join([*map(str, range(12)), "y"])
    Path("data.csv").write_text("\n".join([names, *rows]) + "\n")
    write_config(CONFIG.format(train="data.csv", outputs=2).replace("[2, 2]", "[12, 2]"))
    session = _opened()
    parts = (session.train_data, session.validation_data, session.test_data)
    assert sum(map(len, parts)) == 20
    assert session.train_data.arrays[0].shape[1] == 12


def test_the_header_can_be_said() -> None:
    Path("data.csv").write_text("0,1,2\n" + "5,6,1\n7,8,0\n" * 10)
    write_config(CONFIG.format(train="data.csv", outputs=3))
    _refused("read_table: whether the first line is names or data must be clear")
    for header, samples, outputs in ((True, 20, 1), (False, 21, 3)):
        session = _opened(f"data.header={str(header).lower()}", f"model.sizes=[2, {outputs}]")
        parts = (session.train_data, session.validation_data, session.test_data)
        assert sum(map(len, parts)) == samples
    result = extensor("train", "config.toml", "--set", "data.header=auto")
    assert "config: data.header must be true or false, got header='auto'" in result.err


def test_pictures_of_two_kinds_with_one_output() -> None:
    image = pytest.importorskip("PIL.Image")
    for place in ("train/a", "train/b", "test/a", "test/b"):
        Path(place).mkdir(parents=True)
        for number in range(2):
            image.new("L", (2, 2)).save(f"{place}/{number}.png")
    write_config(
        '[data]\ntrain = "train"\ntest = "test"\nmode = "L"\nsize = 2\n[model]\nname = "mlp"\n'
        'sizes = [4, 1]\n[loss]\nname = "BCEWithLogitsLoss"\n'
    )
    target = next(iter(_opened().test_loader))[-1]
    assert target.tolist() == [[0.0], [0.0], [1.0], [1.0]]


def test_data_of_a_function_keep_their_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own_targets.py").write_text(
        "import numpy as np, extensor as ex\n"
        "class Flat(ex.nn.Linear):\n"
        "    def forward(self, x): return super().forward(x)[:, 0]\n"
        "def model(): return Flat(2, 1)\n"
        "def data():\n"
        "    x = np.ones((8, 2), np.float32)\n"
        "    return (ex.data.ArrayDataset(x, np.arange(8)),) * 2\n"
    )
    monkeypatch.syspath_prepend("")
    write_config(
        '[data]\nname = "own_targets:data"\n[model]\nname = "own_targets:model"\n'
        '[loss]\nname = "MSELoss"\n'
    )
    target = next(iter(_opened().test_loader))[-1]
    assert (str(target.dtype), target.shape) == ("float32", (8,))


def test_a_loss_that_nobody_named_says_why_it_was_taken() -> None:
    _written(WHOLE.astype(float), outputs=5)
    _refused(
        "config: no [loss] is given, so MSELoss is taken for targets that are written with a "
        "point, and the model must have one output; classes are whole numbers (0, not 0.0; "
        "astype('int64')), for which CrossEntropyLoss is taken, got outputs=5, target="
    )


def test_layers_must_fit_a_table() -> None:
    _written(WHOLE.astype(float), outputs=5, table=True)
    _refused(
        "config: model.sizes must end with 1, the outputs of the data (model.hidden alone lets "
        "the data say both), got sizes=[2, 5]"
    )


def test_whole_numbers_of_a_data_set_of_ones_own_are_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("own_classes.py").write_text(
        "import numpy as np\n"
        "class Points:\n"
        "    def __len__(self): return 8\n"
        "    def __getitem__(self, i): return np.ones(2, np.float32), i % 3\n"
        "def data(): return Points(), Points()\n"
    )
    monkeypatch.syspath_prepend("")
    write_config('[data]\nname = "own_classes:data"\n[model]\nname = "mlp"\nsizes = [2, 3]\n')
    session = _opened()
    assert session.config["loss"]["name"] == "CrossEntropyLoss"
    assert list(session.trainer.metrics) == ["accuracy", "f1"]


def test_tables_with_another_delimiter() -> None:
    _written(np.where(WHOLE % 2, "yes", "no"), outputs=2, table=True)
    Path("data.csv").write_text(Path("data.csv").read_text().replace(",", ";"))
    result = extensor("train", "config.toml", "--name", "a")
    assert result.code == 0, result.err
    assert "delimiter ';'" in result.out
    Path("new.csv").write_text("a;b\n1;2\n")
    assert len(extensor("predict", "a", "new.csv").out.splitlines()) == 2
