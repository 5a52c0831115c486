"""Arguments of a wrong kind, as a newcomer gives them: they work, or are answered in our words.

Each public callable of training, data, files and models has a row: arguments that are right, and what
is then done with the result. Every argument in turn is replaced by everything that it is not.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from argument_rows import (
    ARRAYS,
    EXPERIMENT,
    ROWS,
    WRONG,
    Row,
    Table,
    X,
    Y,
    fitted,
    loader,
    made_trainer,
    trainer,
)
from message_texts import is_in_catalogue

import extensor as ex
from extensor import data, models, train

OURS = re.compile(r"^(Sequential: .*?)?[\w.\-\[\]() →]+: \S.*", re.DOTALL)
# What Python and NumPy say, which must not be what a user of ours has to read.
RAW = re.compile(
    r"object has no attribute|object is not|not supported between|unexpected keyword|positional arg"
    r"|unsupported operand|cannot be interpreted|has no len|invalid literal|could not convert"
    r"|truth value of an array|not subscriptable|expected str, bytes|not enough values|too many values"
    r"|must be real number|argument must be|required argument|ambiguous|inhomogeneous|indices must be"
    r"|does not support|shapes? \(|could not be broadcast|embedded null|out of bounds"
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each kind."""
    folder = tmp_path_factory.mktemp("prepared")
    ex.save(folder / "state", {"a": 1})
    ex.save(folder / "checkpoint", trainer().state_dict())
    np.savez(folder / ARRAYS, x=X)
    np.savez(folder / "points.npz", x=X, y=Y)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        train.experiment(EXPERIMENT, {"epochs": 1}, folder="trained", callbacks=[]).fit()
    (folder / "a.csv").write_text("a,b,y\n1,2,0\n3,4,1\n")
    (folder / "a.idx").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 1, 2]))
    (folder / "a.cifar").write_bytes(bytes(3073))
    (folder / "log.jsonl").write_text('{"event": "step"}\n')
    image = pytest.importorskip("PIL.Image")
    (folder / "pictures" / "a").mkdir(parents=True)
    image.new("L", (4, 4)).save(folder / "pictures" / "a" / "0.png")
    return folder


@pytest.fixture(autouse=True)
def files(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of it to work in, on a system without data sets and networks."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data.standard, "SYSTEM_FOLDERS", (tmp_path / "system",))
    monkeypatch.setenv("EXTENSOR_DATA", str(tmp_path / "cache"))
    monkeypatch.setattr("urllib.request.urlopen", _offline)


def _offline(*_: Any, **__: Any) -> Any:
    raise OSError("no network here")


def _finding(row: Row, arguments: dict[str, Any]) -> str | None:
    try:
        row.use(row.call(**arguments))
    except (Exception, KeyboardInterrupt) as error:
        text = str(error)
        if isinstance(error, OSError):
            text = error.strerror or text
        is_ours = OURS.match(text) or is_in_catalogue(text)
        if not is_ours or RAW.search(text):
            return f"{type(error).__name__}: {error}"
    return None


def test_everything_public_has_a_row() -> None:
    classes = {
        "Callback",
        "Metric",
        "Sampler",
        "Dataset",
        "BatchDataset",
        "NotFiniteError",
        "Timing",
    }
    classes |= {"TensorBoard", "MeanAbsoluteError", "RootMeanSquaredError", "Mean", "digits"}
    classes |= {"MedianAbsoluteError", "R2"}
    # Made by functions.
    classes |= {"GPT", "LeNet5", "ResNet", "Experiment", "TrainedModel", "RateTest"}
    classes |= {"Predictor", "Predictions"}  # of a run
    public = {*train.__all__, *data.__all__, *models.__all__, "save", "load"} - classes
    assert public <= ROWS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_the_right_arguments_are_right(name: str) -> None:
    row = ROWS[name]
    given = {k: v for k, v in row.arguments.items() if name != "Trainer" or v is not None}
    if name in ("mnist", "fashion_mnist", "cifar10"):
        with pytest.raises(FileNotFoundError):
            row.call(**given)
    else:
        row.use(row.call(**given))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ROWS)
def test_wrong_arguments(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    row = ROWS[name]
    findings = []
    for argument in row.arguments:
        for kind, wrong in WRONG.items():
            given = {k: v for k, v in row.arguments.items() if name != "Trainer" or v is not None}
            text = _finding(row, {**given, argument: wrong})
            if text is not None:
                findings.append(f"{name}({argument}={kind}): {text}")
    assert findings == []


LOADER = "as DataLoader(ArrayDataset(x, y), batch_size=32, shuffle=True), got"


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: trainer().fit(X),
            "fit: y must be given beside arrays and tables: fit(X, y), got train='ndarray'",
        ),
        (
            lambda: trainer().evaluate(X),
            "evaluate: y must be given beside arrays and tables: evaluate(X, y), "
            "got loader='ndarray'",
        ),
        (
            lambda: trainer().fit(loader(), 1, [X, Y]),
            "fit: validation must be (X, y), a fraction, a data set or a loader of batches, "
            "got validation='a list'",
        ),
        (
            lambda: trainer().fit({"x": X}, 1),
            f"fit: train must be a loader of batches (inputs, target), {LOADER} train='dict'",
        ),
        (
            lambda: trainer().fit(data.DataLoader(data.ArrayDataset(X), 4), 1),
            f"fit: train must give batches with a target beside the inputs, {LOADER} parts=1",
        ),
        (lambda: trainer().fit(loader(), "3"), "fit: epochs must be an integer, got epochs='3'"),
        (
            lambda: trainer(metrics="accuracy"),
            "Trainer: metrics must be a list of names, as ['accuracy'], or a dict of metrics, "
            "got metrics='accuracy'",
        ),
        (
            lambda: trainer(metrics={"accuracy": train.Accuracy}),
            "Trainer: metrics['accuracy'] must be a Metric, such as Accuracy(...), not the class, "
            "got metrics['accuracy']='class Accuracy'",
        ),
        (
            lambda: trainer(callbacks=train.EarlyStopping()),
            "Trainer: callbacks must be a list of callbacks, got callbacks='EarlyStopping'",
        ),
        (
            lambda: made_trainer(loss=ex.nn.MSELoss),
            "Trainer: loss must be a function of output and target, or a loss of ex.nn, "
            "such as MSELoss(), not the class, got loss='class MSELoss'",
        ),
        (
            lambda: made_trainer(loss=ex.relu),
            "Trainer: loss must take 2 arguments, output and target, got loss='Dispatcher'",
        ),
        (
            lambda: fitted(made_trainer(loss=ex.nn.CrossEntropyLoss(reduction="none"))),
            "Trainer: loss must give a tensor of one number (reduction='mean' or 'sum'), "
            "got loss_shape=(4,)",
        ),
        (
            lambda: made_trainer(optimizer=ex.optim.SGD),
            "Trainer: optimizer must be an Optimizer, such as SGD(...), not the class, "
            "got optimizer='class SGD'",
        ),
        (
            lambda: made_trainer(optimizer=ex.optim.SGD(ex.nn.Linear(1, 1).parameters(), 0.1)),
            "Trainer: optimizer must have parameters of the model, "
            "as model.parameters() gives them, got optimizer='SGD'",
        ),
        (
            lambda: trainer().predict(X, batch_size=None),
            "predict: batch_size must be an integer, got batch_size=None",
        ),
        (
            lambda: loader(batch_size=None),
            "DataLoader: batch_size must be an integer, got batch_size=None",
        ),
        (
            lambda: ex.save(ex.nn.Linear(1, 1), "file"),
            "save: path must be a string or a Path (it comes first: save(path, state)), "
            "got path='Linear'",
        ),
        (
            lambda: ex.save("file", ex.nn.Linear(1, 1)),
            "save: state must be a dict, such as its state_dict(), got state='Linear'",
        ),
        (
            lambda: ex.save("file", X),
            "save: state must be a dict, such as {\"name\": value}, got state='ndarray'",
        ),
        (
            lambda: ex.load("nowhere"),
            "[Errno 2] load: could not read nowhere (No such file or directory)",
        ),
        (
            lambda: models.mlp(2),  # type: ignore[arg-type]
            "mlp: sizes must be a list of integers, such as [64, 32, 10], got sizes=2",
        ),
    ],
)
def test_the_way_out(work: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError, OSError), match=f"^{re.escape(text)}$"):
        work()


@pytest.mark.parametrize("inputs", [Table(), X.tolist(), data.ArrayDataset(X, Y), ex.tensor(X)])
def test_what_can_be_predicted(inputs: Any) -> None:
    one = trainer()
    np.testing.assert_array_equal(one.predict(inputs, 5).numpy(), one.predict(X).numpy())


def test_a_table_in_float64_is_predicted_in_the_dtype_of_models() -> None:
    class Wide(Table):
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return X.astype(np.float64)

    assert str(trainer().predict(Wide()).dtype) == "float32"
