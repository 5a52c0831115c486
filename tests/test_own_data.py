"""From a file of one's own to a model that is handed on: one command, moved, and used elsewhere."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import COMMAND, ENVIRONMENT, extensor, files, without_plots
from own_files import (
    write_labels,
    write_numbers,
    write_pictures,
    write_series,
    write_table,
    write_text,
)

import extensor as ex
from extensor.experiments.spec import read_config
from extensor.train import Callback, Predictor, Trainer, experiment, read_log

SHORT = ("--set", "epochs=3", "--set", "data.batch_size=8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    return tmp_path


def _trained(*arguments: Any) -> Any:
    result = extensor("train", *arguments, "--name", "a", *SHORT)
    assert result.code == 0, result.err
    return result


def _moved() -> Path:
    """The run at another place, and nothing else of it left."""
    Path("elsewhere").mkdir()
    shutil.move("runs/a", "elsewhere/model")
    for path in list(Path().iterdir()):
        if path.name not in ("elsewhere", "new"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return Path("elsewhere/model")


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_table_with_categories_and_gaps() -> None:
    out = _trained(write_table()).out
    assert "table.csv: 90 rows, 5 columns" in out
    assert "target 'plant', the last column (another: --target or data.target)" in out
    assert "task multiclass: 3 different words" in out
    assert "classes ash 30, birch 30, cedar 30" in out
    assert "test accuracy" in out
    assert extensor("evaluate", "a").code == 0
    other = write_table("other.csv", 30)
    assert "test accuracy" in extensor("evaluate", "a", other).out
    os.mkdir("new")
    # Columns in another order, one too many, no target, and a category that nobody has seen.
    Path("new/x.csv").write_text(
        "weight,note,day,colour,size\n6.1,hello,2024-03-04,blue,3.0\n,,2024-05-06,violet,\n"
    )
    run = _moved()
    result = extensor("predict", run, "new/x.csv")
    assert result.code == 0, result.err
    rows = _rows(result.out)
    assert list(rows[0]) == ["row", "class", "probability", "p(ash)", "p(birch)", "p(cedar)"]
    predictor = Predictor.load(run)
    assert [row["class"] for row in rows] == predictor.predict("new/x.csv").tolist()
    chances = predictor.predict_proba("new/x.csv")
    for row, chance in zip(rows, chances, strict=True):
        found = [float(row[f"p({name})"]) for name in predictor.classes]
        np.testing.assert_allclose(found, chance, atol=5e-7)
    written = json.loads(extensor("predict", run, "new/x.csv", "--format", "json").out)
    assert [row["class"] for row in written] == [row["class"] for row in rows]


def test_the_training_file_itself_can_be_predicted() -> None:
    path = write_table()
    _trained(path)
    rows = _rows(extensor("predict", "a", path).out)
    assert len(rows) == 90
    assert {row["class"] for row in rows} <= {"ash", "birch", "cedar"}


def test_data_frames_are_predicted_as_files() -> None:
    pandas = pytest.importorskip("pandas")
    path = write_table()
    _trained(path)
    predictor = Predictor.load("a")
    frame = pandas.read_csv(path)
    assert predictor.predict(frame).tolist() == predictor.predict(path).tolist()
    assert repr(predictor).startswith("Predictor(Sequential, multiclass, 3 classes, runs/a")


def test_pictures_of_mixed_sizes() -> None:
    out = _trained(write_pictures(count=40)).out
    assert "40 pictures of" in out
    assert "task binary: two values, down and up" in out
    new = write_pictures("new", 4, with_classes=False)
    run = _moved()
    result = extensor("predict", run, new)
    assert result.code == 0, result.err
    rows = _rows(result.out)
    assert [row["file"] for row in rows] == ["00.png", "01.png", "02.png", "03.png"]
    assert {row["class"] for row in rows} <= {"down", "up"}
    single = _rows(extensor("predict", run, new / "01.png").out)
    assert (single[0]["file"], single[0]["class"]) == ("new/01.png", rows[1]["class"])
    assert [row["class"] for row in rows] == Predictor.load(run).predict(new).tolist()


def test_a_text() -> None:
    out = _trained(write_text(), "--set", "data.context=16", "--set", "model.width=16").out
    assert "task sequence: the next of the characters, with a context of 16" in out
    assert "test perplexity" in out
    records = read_log("runs/a/log.jsonl")
    samples = [record for record in records if record["event"] == "sample"]
    assert [record["epoch"] for record in samples] == [1, 2, 3]
    run = _moved()
    os.mkdir("new")
    result = extensor("predict", run, "the ", "--length", "20")
    assert result.code == 0, result.err
    text = Predictor.load(run).generate("the ", 20)
    assert result.out == f"the {text}\n"
    assert len(text) == 20
    write_text("new/other.txt", "the dog sang. " * 20)
    assert "test perplexity" in extensor("evaluate", run, "new/other.txt").out


def test_a_series() -> None:
    out = _trained(write_series(), "--target", "load", "--horizon", 3, "--window", 12).out
    assert "task regression: load of the next 3 rows from the last 12" in out
    assert "test r2" in out
    os.mkdir("new")
    write_series("new/later.csv", 40)
    run = _moved()
    result = extensor("predict", run, "new/later.csv")
    assert result.code == 0, result.err
    (row,) = _rows(result.out)
    assert list(row) == ["forecast", "load +1", "load +2", "load +3"]
    found = Predictor.load(run).predict("new/later.csv")
    np.testing.assert_allclose([float(row[f"load +{i}"]) for i in (1, 2, 3)], found[0])
    assert 0 < float(row["load +1"]) < 20  # in its own unit
    assert "test r2" in extensor("evaluate", run, "new/later.csv").out


def test_numbers_come_in_their_own_unit() -> None:
    path = write_numbers()
    made = experiment({"data": {"train": str(path)}}, {"epochs": 40}, callbacks=[])
    made.fit()
    assert made.goal.task == "regression"
    found = made.evaluate()
    assert found["r2"] > 0.8
    assert 1 < found["root_mean_squared_error"] < 200


def test_two_classes_have_one_output() -> None:
    lines = "\n".join(f"{i % 10},{'yes' if i % 10 > 4 else 'no'}" for i in range(80))
    Path("two.csv").write_text("a,answer\n" + lines + "\n")
    made = experiment({"data": {"train": "two.csv"}}, {"epochs": 60}, callbacks=[])
    assert (made.goal.task, made.goal.classes) == ("binary", ("no", "yes"))
    assert made.config["loss"]["name"] == "BCEWithLogitsLoss"
    assert list(made.trainer.metrics) == ["accuracy", "roc_auc", "f1"]
    made.fit()
    assert made.evaluate()["accuracy"] > 0.9


def test_several_labels() -> None:
    _trained(write_labels(), "--target", "warm", "--target", "wet")
    config = read_config("runs/a/config.toml")
    assert config["data"]["task"] == "multilabel"
    rows = _rows(extensor("predict", "a", "labels.csv").out)
    assert list(rows[0]) == ["row", "labels", "p(warm)", "p(wet)"]


def test_whole_numbers_beside_a_loss_of_numbers() -> None:
    lines = "\n".join(f"{i % 31},{i % 7}" for i in range(70))
    Path("whole.csv").write_text("a,y\n" + lines + "\n")
    config = {"data": {"train": "whole.csv"}, "loss": {"name": "MSELoss"}, "epochs": 1}
    assert experiment(config, callbacks=[]).goal.task == "regression"
    assert experiment({**config, "loss": {}}, callbacks=[]).goal.task == "multiclass"


def test_the_header_that_pandas_gives() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.normal(size=(40, 12)).round(3))
    frame["y"] = np.arange(40) % 2
    frame.to_csv("pandas.csv", index=False)
    made = experiment({"data": {"train": "pandas.csv"}, "epochs": 1}, callbacks=[])
    parts = (made.train_data, made.validation_data, made.test_data)
    assert sum(len(part) for part in parts if part is not None) == 40
    assert (made.goal.names, made.goal.classes) == (("y",), ("0", "1"))


def test_the_configuration_that_was_chosen_can_be_used() -> None:
    path = write_table()
    printed = extensor("train", path, "--print-config")
    assert printed.code == 0, printed.err
    Path("mine.toml").write_text(printed.out)
    assert not Path("runs").exists()
    first = experiment("mine.toml", {"epochs": 2}, callbacks=[])
    second = experiment({"data": {"train": str(path)}}, {"epochs": 2}, callbacks=[])
    first.fit(), second.fit()
    for name, value in first.model.state_dict().items():
        assert value.numpy().tobytes() == second.model.state_dict()[name].numpy().tobytes(), name


def test_the_test_data_choose_nothing() -> None:
    """Whatever stands in the rows for the test, the weights are the same."""
    path = write_table()
    made = experiment({"data": {"train": str(path)}}, {"epochs": 3}, callbacks=[])
    made.fit()
    rows = [int(name.split()[1]) for name in made.sample_names or ()]
    lines = path.read_text().splitlines()
    for row in rows:
        cells = lines[row].split(",")
        lines[row] = ",".join(["77", "green", "2024-01-01", "99", cells[-1]])
    path.write_text("\n".join(lines) + "\n")
    again = experiment({"data": {"train": str(path)}}, {"epochs": 3}, callbacks=[])
    again.fit()
    for name, value in made.model.state_dict().items():
        assert value.numpy().tobytes() == again.model.state_dict()[name].numpy().tobytes(), name


def test_the_best_epoch_is_handed_on() -> None:
    write_table()
    config = {"data": {"train": "table.csv"}, "optimizer": {"lr": 0.3}, "epochs": 12}
    made = experiment(config, folder="run", callbacks=[])
    history = made.fit()
    losses = [record["validation_loss"] for record in history]
    best = ex.load("run/checkpoints/best.safetensors")
    assert best["progress"]["epoch"] == int(np.argmin(losses)) + 1
    (test,) = [x for x in read_log("run/log.jsonl") if x["event"] == "test"]
    assert test["loss"] == made.evaluate()["loss"] == Predictor.load("run").evaluate()["loss"]


class Dies(Callback):
    """Ends training after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def step_ended(self, trainer: Trainer, record: Any) -> None:
        if trainer.step == self.step:
            raise KeyboardInterrupt


KINDS: dict[str, tuple[Callable[[], Path], dict[str, Any]]] = {
    "table": (write_table, {}),
    "pictures": (write_pictures, {}),
    "text": (write_text, {"data.context": 16, "model.width": 16}),
    "series": (write_series, {"data.target": "load", "data.horizon": 2, "data.window": 6}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_killed_ends_with_the_same_bits(kind: str) -> None:
    write, changes = KINDS[kind]
    path = str(write())
    changes = {**changes, "epochs": 3, "data.batch_size": 8, "checkpoints.every": 2}
    whole = experiment({"data": {"train": path}}, changes, folder="whole", callbacks=[])
    whole.fit()
    steps = whole.trainer.step
    for place in (3, steps // 2 + 1, steps - 1):
        shutil.rmtree("parts", ignore_errors=True)
        first = experiment(
            {"data": {"train": path}}, changes, folder="parts", callbacks=[Dies(place)]
        )
        with pytest.raises(KeyboardInterrupt):
            first.fit()
        experiment(resume="parts", callbacks=[]).fit()
        for name in (whole.trainer.checkpoints.latest().name, "best.safetensors"):  # type: ignore[union-attr]
            one, two = (Path(run) / "checkpoints" / name for run in ("whole", "parts"))
            assert one.is_file() == two.is_file(), (place, name)
            if one.is_file():
                assert _same(ex.load(one), ex.load(two)), (place, name)
        assert Path("whole/log.jsonl").read_text() == Path("parts/log.jsonl").read_text(), place


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        keys = first.keys() - {"callbacks"}
        return keys == second.keys() - {"callbacks"} and all(
            _same(first[k], second[k]) for k in keys
        )
    if isinstance(first, ex.Tensor):
        return first.numpy().tobytes() == second.numpy().tobytes()
    return repr(first) == repr(second)  # also of NaN


def test_more_epochs_of_a_run_that_stopped_early() -> None:
    write_table()
    config = {"data": {"train": "table.csv"}, "optimizer": {"lr": 0.5}, "epochs": 60}
    made = experiment(config, {"early_stopping.patience": 2}, folder="run", callbacks=[])
    epochs = len(made.fit())
    assert epochs < 60
    assert len(experiment(resume="run", callbacks=[]).fit()) == epochs  # it is over
    again = experiment(resume="run", changes={"early_stopping.patience": 4}, callbacks=[])
    assert len(again.fit()) >= epochs + 4


def test_the_place_in_time_is_not_learned() -> None:
    data = {"train": str(write_series()), "target": "load", "horizon": 2, "window": 6}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    assert "time" not in made.preparation.encoder.names  # type: ignore[attr-defined]
    data = {**data, "columns": {"time": "date"}}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    assert "time" in made.preparation.encoder.names  # type: ignore[attr-defined]


def test_arrays_are_scaled_as_tables_are() -> None:
    x = np.random.default_rng(0).normal(1000, 5, (60, 2))
    np.savez("data.npz", x=x, y=np.arange(60) % 2)
    made = experiment({"data": {"train": "data.npz"}, "epochs": 1}, callbacks=[])
    inputs = np.concatenate([batch[0].numpy() for batch in made.train_loader])
    assert abs(inputs.mean()) < 0.1


def test_a_run_goes_on_only_with_its_data() -> None:
    path = write_table()
    experiment({"data": {"train": str(path)}}, {"epochs": 2}, folder="run", callbacks=[]).fit()
    path.write_text(path.read_text().replace("red", "blue"))
    before = files()
    with pytest.raises(ValueError, match="data: the data must be the same as when the run began"):
        experiment(resume="run", changes={"epochs": 3}, callbacks=[])
    assert files() == before


def test_other_files_for_validation_and_test() -> None:
    write_table("train.csv", 60)
    write_table("validation.csv", 15)
    write_table("test.csv", 21)
    data = {"train": "train.csv", "validation": "validation.csv", "test": "test.csv"}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    parts = (made.train_data, made.validation_data, made.test_data)
    assert [len(part) for part in parts if part is not None] == [60, 15, 21]


def test_groups_stay_together() -> None:
    lines = [f"{i % 9},{i // 5},{'ab'[i % 2]}" for i in range(100)]
    Path("grouped.csv").write_text("a,person,kind\n" + "\n".join(lines) + "\n")
    data = {"train": "grouped.csv", "group": "person"}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    tested = {(int(name.split()[1]) - 1) // 5 for name in made.sample_names or ()}
    assert len(made.test_data) == 5 * len(tested)
    assert not any("person" in name for name in made.preparation.encoder.features)  # type: ignore[attr-defined]


def test_weights_and_draws_for_rare_classes() -> None:
    lines = [f"{i % 9},{'rare' if i % 10 == 0 else 'usual'}" for i in range(100)]
    Path("rare.csv").write_text("a,kind\n" + "\n".join(lines) + "\n")
    data = {"train": "rare.csv", "class_weight": "balanced"}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    assert made.config["loss"]["pos_weight"] == pytest.approx([1 / 9], rel=0.2)
    data = {"train": "rare.csv", "sampling": "weighted"}
    made = experiment({"data": data, "epochs": 1, "seed": 1}, callbacks=[])
    drawn = np.concatenate([batch[-1].numpy() for batch in made.train_loader])
    assert 0.3 < drawn.mean() < 0.7


def test_a_column_can_be_said_to_be_something_else() -> None:
    write_table()
    data = {"train": "table.csv", "drop": ["day"], "columns": {"size": "category"}}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    names = made.preparation.encoder.features  # type: ignore[attr-defined]
    assert not any("day" in name for name in names)


def test_arrays_alone() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    np.save("x.npy", rng.normal(size=(90, 4)) + 3 * np.eye(3, 4)[y])
    np.save("y.npy", y)
    result = extensor("train", "x.npy", "--target", "y.npy", "--name", "a", *SHORT)
    assert result.code == 0, result.err
    assert "task multiclass: 3 different whole numbers" in result.out
    rows = _rows(extensor("predict", "a", "x.npy").out)
    assert (len(rows), set(rows[0])) == (
        90,
        {"sample", "class", "probability", "p(0)", "p(1)", "p(2)"},
    )


@pytest.mark.parametrize("ending", [".parquet", ".feather"])
def test_columns_of_arrow(ending: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(write_table())
    write = frame.to_parquet if ending == ".parquet" else frame.to_feather
    write(f"table{ending}")
    result = extensor("train", f"table{ending}", "--name", "a", *SHORT)
    assert result.code == 0, result.err
    assert "task multiclass: 3 different words" in result.out
    one = extensor("predict", "a", f"table{ending}").out
    assert one == extensor("predict", "a", "table.csv").out


def test_the_command_in_a_process_of_its_own() -> None:
    without_plots()
    write_table()
    command = [*COMMAND, "train", "table.csv", "--name", "a", *SHORT]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "extensor predict runs/a FILE.csv" in done.stdout
