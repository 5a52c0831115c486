"""Data larger than memory by one command: packed, trained on, measured, predicted, resumed."""

from __future__ import annotations

import csv
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor, files
from own_files import write_pictures, write_text
from test_own_data import Dies, _same

import extensor as ex
from extensor.data import ShardedDataset, pack
from extensor.random import Generator
from extensor.train import Predictor, experiment

SHORT = ("--set", "epochs=3", "--set", "data.batch_size=8")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    return tmp_path


def _table(
    folder: str = "shards",
    rows: int = 120,
    words: bool = True,
    name: str = "t.csv",
    like: str | None = None,
) -> str:
    rng = np.random.default_rng(0)
    kinds = np.arange(rows) % 3
    x = (rng.normal(size=(rows, 4)) + 3 * np.eye(3, 4)[kinds]).round(3)
    last = np.array(["ash", "birch", "cedar"])[kinds] if words else kinds
    lines = [",".join(map(str, [*row, y])) for row, y in zip(x.tolist(), last, strict=True)]
    Path(name).write_text("a,b,c,d,plant\n" + "\n".join(lines) + "\n")
    pack(name, folder, shard_size=600, like=like)
    return folder


def _pictures(folder: str = "shards", form: str = "tar", count: int = 60) -> str:
    write_pictures("raw", count)
    pack("raw", folder, shard_size=20_000, form=form, size=16 if form == "npy" else None)
    return folder


def _text() -> str:
    pack(write_text(), "shards", shard_size=500)
    return "shards"


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _trained(source: str, *arguments: Any) -> Any:
    result = extensor("train", source, "--name", "a", *SHORT, *arguments)
    assert result.code == 0, result.err
    return result


def test_a_table_is_packed_and_trained_on() -> None:
    out = _trained(_table()).out
    assert "shards: 120 samples in" in out
    assert "task multiclass: 3 different words" in out
    assert "classes ash, birch, cedar" in out
    assert "84 to train on, 12 for validation, 24 for the test" in out
    assert "test accuracy" in out
    assert "test accuracy" in extensor("evaluate", "a").out
    _table("others", 30, name="others.csv", like="shards")
    assert "test accuracy" in extensor("evaluate", "a", "others").out
    rows = _rows(extensor("predict", "a", "others").out)
    assert len(rows) == 30
    assert {row["class"] for row in rows} <= {"ash", "birch", "cedar"}
    shutil.move("runs/a", "model")
    shutil.rmtree("shards")
    predictor = Predictor.load("model")
    assert [row["class"] for row in rows] == predictor.predict("others.csv").tolist()
    _table("fitted", 30, name="others.csv")
    for ask in (predictor.evaluate, predictor.predict):
        with pytest.raises(ValueError, match=r"shards must be encoded as in training .*like"):
            ask("fitted")


def test_what_is_learned_is_what_is_learned_in_memory() -> None:
    """The same samples as arrays, in the same order: the means are those of the rows to train on."""
    rng = np.random.default_rng(0)
    os.mkdir("shards")
    x = rng.normal(3, 2, (120, 4)).astype(np.float32)
    np.savez("shards/a.npz", x=x, y=np.arange(120) % 3)
    made = experiment({"data": {"train": "shards"}, "epochs": 1}, callbacks=[])
    samples: Any = made.train_data
    x, y = samples.batch(slice(0, len(samples)))
    learned = made.config["data"]["normalize"]
    np.testing.assert_allclose(learned["mean"], x.mean(axis=0, dtype=np.float64), rtol=1e-6)
    np.testing.assert_allclose(learned["std"], x.std(axis=0, dtype=np.float64), rtol=1e-6)
    assert (x.dtype, y.dtype) == (np.float32, np.int64)


def test_no_sample_is_in_two_parts() -> None:
    pack_numbers("shards", np.arange(2000.0))
    made = experiment({"data": {"train": "shards"}, "epochs": 1}, callbacks=[])
    parts = (made.train_data, made.validation_data, made.test_data)
    found = [part.batch(slice(0, len(part)))[0][:, 0] for part in parts]  # type: ignore[union-attr]
    assert sorted(np.concatenate(found).tolist()) == list(range(2000))
    assert [len(part) for part in found] == [1400, 200, 400]


def pack_numbers(folder: str, y: Any, count: int = 3) -> None:
    os.mkdir(folder)
    x = np.stack([np.arange(len(y)), np.cos(np.arange(len(y)))], axis=1).astype(np.float32)
    for number, rows in enumerate(np.array_split(np.arange(len(y)), count)):
        np.savez(f"{folder}/{number}.npz", x=x[rows], y=y[rows])


def test_numbers_are_learned_on_a_scale_and_told_in_their_unit() -> None:
    y = 1e6 + 50 * np.cos(np.arange(400.0))
    pack_numbers("shards", y.astype(np.float32))
    made = experiment({"data": {"train": "shards"}, "epochs": 60}, callbacks=[])
    assert made.goal.task == "regression"
    stored = y.astype(np.float32).astype(np.float64)
    np.testing.assert_allclose(made.goal.mean, stored.mean(), rtol=1e-12)
    np.testing.assert_allclose(made.goal.std, stored.std(), rtol=1e-9)
    made.fit()
    assert made.evaluate()["r2"] > 0.9
    assert made.evaluate()["root_mean_squared_error"] < 20


def test_two_classes_and_labels_that_do_not_begin_with_nothing() -> None:
    pack_numbers("two", np.where(np.arange(200) < 90, -1, 1))
    made = experiment({"data": {"train": "two"}, "epochs": 1}, callbacks=[])
    assert (made.goal.task, made.goal.classes) == ("binary", ("-1", "1"))
    _, y = next(iter(made.train_loader))
    assert y.shape[1:] == (1,)
    assert set(y.numpy().ravel().tolist()) <= {0.0, 1.0}
    pack_numbers("seven", 1 + np.arange(210) % 7)
    made = experiment({"data": {"train": "seven"}, "epochs": 1}, callbacks=[])
    assert made.goal.classes == tuple("1234567")
    labels = np.concatenate([y.numpy() for _, y in made.train_loader])
    assert sorted(set(labels.tolist())) == list(range(7))


@pytest.mark.parametrize("form", ["tar", "npy"])
def test_pictures_are_decoded_when_they_are_needed(form: str) -> None:
    out = _trained(_pictures(form=form)).out
    assert "task binary" in out
    assert "test accuracy" in out
    new = write_pictures("new", 4, with_classes=False)
    rows = _rows(extensor("predict", "a", new).out)
    assert [row["file"] for row in rows] == ["00.png", "01.png", "02.png", "03.png"]
    assert len(_rows(extensor("predict", "a", "shards").out)) == 60
    assert "test accuracy" in extensor("evaluate", "a", "raw").out
    assert "test accuracy" in extensor("evaluate", "a", "shards").out


def test_a_text_is_cut_in_its_order() -> None:
    out = _trained(_text(), "--set", "data.context=16", "--set", "model.width=16").out
    assert "divided in order" in out
    assert "test perplexity" in out
    assert extensor("predict", "a", "the ", "--length", "20").code == 0
    assert "test perplexity" in extensor("evaluate", "a", "shards").out
    assert "test perplexity" in extensor("evaluate", "a", "story.txt").out


def test_columns_of_parquet_are_named() -> None:
    pandas = pytest.importorskip("pandas")
    os.mkdir("shards")
    rng = np.random.default_rng(0)
    for number in range(3):
        frame = pandas.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b", "c"])
        frame["kind"] = (frame["a"] > 0).astype(int)
        frame.to_parquet(f"shards/{number}.parquet", row_group_size=10)
    data = {"train": "shards", "inputs": ["a", "b"], "target": "kind"}
    made = experiment({"data": data, "epochs": 8}, folder="run", callbacks=[])
    made.fit()
    assert made.evaluate()["accuracy"] > 0.7
    assert len(Predictor.load("run").predict("shards")) == 150
    before = files()
    for target in ({}, {"target": "nobody"}):
        with pytest.raises(
            ValueError, match=r"data\.target must say which column is to be learned"
        ):
            experiment({"data": {"train": "shards", **target}, "epochs": 1}, callbacks=[])
    assert files() == before


def test_columns_of_parquet_are_inputs_if_nothing_else_is_said() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    for folder, columns in (("shards", ["a", "kind", "b"]), ("one", ["kind", "a"])):
        os.mkdir(folder)
        for number in range(3):
            frame = pandas.DataFrame(rng.normal(size=(50, len(columns))), columns=columns)
            frame["kind"] = (frame["a"] > 0).astype(int)
            frame.to_parquet(f"{folder}/{number}.parquet")
        data = {"train": folder, "target": "kind"}
        made = experiment({"data": data, "epochs": 8}, folder=f"run-{folder}", callbacks=[])
        inputs = [name for name in columns if name != "kind"]
        assert made.config["data"]["inputs"] == inputs
        assert next(iter(made.train_loader))[0].shape[1:] == (len(inputs),)
        made.fit()
        assert made.evaluate()["accuracy"] > 0.7
        assert len(Predictor.load(f"run-{folder}").predict(folder)) == 150
    os.mkdir("sorted")
    frame.assign(x=1.0).sort_values("a").to_parquet("sorted/0.parquet")
    Path("sorted/._0.parquet").write_bytes(b"what a Mac leaves beside files")
    made = experiment({"data": {"train": "sorted", "target": "kind"}}, callbacks=[])
    assert made.config["data"]["inputs"] == ["a", "x"]  # and no index of pandas
    os.mkdir("words")
    frame.assign(word="w").to_parquet("words/0.parquet")
    with pytest.raises(ValueError, match=r"numbers, .*\(parts= chooses.*column='word'"):
        experiment({"data": {"train": "words", "target": "kind"}}, callbacks=[])


KINDS: dict[str, tuple[Callable[[], str], dict[str, Any]]] = {
    "table": (_table, {}),
    "pictures": (_pictures, {}),
    "text": (_text, {"data.context": 16, "model.width": 16}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_killed_ends_with_the_same_bits(kind: str) -> None:
    write, changes = KINDS[kind]
    path = write()
    changes = {**changes, "epochs": 3, "data.batch_size": 8, "checkpoints.every": 2}
    whole = experiment({"data": {"train": path}}, changes, folder="whole", callbacks=[])
    whole.fit()
    for place in (3, whole.trainer.step - 1):
        shutil.rmtree("parts", ignore_errors=True)
        first = experiment(
            {"data": {"train": path}}, changes, folder="parts", callbacks=[Dies(place)]
        )
        with pytest.raises(KeyboardInterrupt):
            first.fit()
        experiment(resume="parts", callbacks=[]).fit()
        name = whole.trainer.checkpoints.latest().name  # type: ignore[union-attr]
        one, two = (ex.load(Path(run) / "checkpoints" / name) for run in ("whole", "parts"))
        assert _same(one, two), place
        assert Path("whole/log.jsonl").read_text() == Path("parts/log.jsonl").read_text(), place


def test_a_run_goes_on_only_with_its_shards() -> None:
    _table()
    experiment({"data": {"train": "shards"}}, {"epochs": 1}, folder="run", callbacks=[]).fit()
    shutil.rmtree("shards")
    _table(rows=123)
    with pytest.raises(ValueError, match="data: the data must be the same as when the run began"):
        experiment(resume="run", changes={"epochs": 2}, callbacks=[])


def test_other_folders_for_validation_and_test() -> None:
    _table("first"), _table("second", 30, like="first"), _table("third", 60, like="first")
    data = {"train": "first", "validation": "second", "test": "third"}
    made = experiment({"data": data, "epochs": 1}, callbacks=[])
    assert [len(x) for x in (made.train_data, made.validation_data, made.test_data)] == [
        120, 30, 60,
    ]  # type: ignore[arg-type]  # fmt: skip


def test_a_trainer_takes_shards_as_they_are() -> None:
    pack_numbers("shards", np.arange(300) % 2)
    net = ex.nn.Sequential(ex.nn.Linear(2, 2))
    trainer = ex.train.Trainer(
        net, ex.nn.CrossEntropyLoss(), ex.optim.SGD(net.parameters(), 1e-4), callbacks=[]
    )
    train, test = ShardedDataset("shards").split(0.2, Generator(0))
    history = trainer.fit(train, epochs=1, validation=test, batch_size=16)
    assert trainer.step == -(-240 // 16)
    assert "validation_loss" in history[-1]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "weights": (
        {"class_weight": "balanced"},
        "config: data.class_weight is for data in memory, not for shards, "
        "got class_weight='balanced'",
    ),
    "another kind": (
        {"kind": "text"},
        "config: data.kind must be 'table' for these shards, got kind='text'",
    ),
    "a task that does not fit": (
        {"task": "regression"},
        "data: targets must be numbers for the task regression, got path='shards', "
        "values=['ash', 'birch', 'cedar']",
    ),
    "no part to train on": (
        {"test_fraction": 0.99, "validation_fraction": 0.05},
        "config: data.validation_fraction and data.test_fraction must leave samples to train on, "
        "got validation_fraction=0.05, test_fraction=0.99",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    _table()
    before = files()
    data, text = REFUSED[name]
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the whole text is compared
        experiment({"data": {"train": "shards", **data}, "epochs": 1}, callbacks=[])
    assert str(caught.value) == text
    assert files() == before


def test_targets_that_are_not_finite_are_named() -> None:
    y = np.arange(50.0)
    y[33] = np.nan
    pack_numbers("shards", y)
    with pytest.raises(ValueError, match="data: targets must have no NaN or infinity") as caught:
        experiment({"data": {"train": "shards"}, "epochs": 1}, callbacks=[])
    assert str(caught.value).endswith("got path='shards', sample=33")


def test_a_damaged_shard_is_named_by_the_command() -> None:
    _table()
    path = sorted(Path("shards").glob("*.x.npy"))[1]
    path.write_bytes(path.read_bytes()[:-8])
    result = extensor("train", "shards")
    assert (result.code, result.out) == (2, "")
    assert path.name in result.err
    assert not Path("runs").exists()


def test_a_file_beside_folders_of_classes_is_no_shard() -> None:
    write_pictures("raw", 20)
    np.save("raw/means.npy", np.zeros(3))
    made = experiment({"data": {"train": "raw"}, "epochs": 1}, callbacks=[])
    assert made.goal.classes == ("down", "up")


def test_the_other_commands_take_shards() -> None:
    _table()
    assert extensor("tune-lr", "shards", "--steps", "20").code == 0
    result = extensor(
        "sweep", "shards", "--set", "optimizer.lr=1e-3..1e-2", "--trials", "2", "--name", "s",
        "--set", "epochs=2",
    )  # fmt: skip
    assert result.code == 0, result.err


def test_parts_are_named_in_the_command() -> None:
    os.mkdir("shards")
    for number in range(3):
        rng = np.random.default_rng(number)
        values = rng.normal(size=(40, 3)).astype(np.float32)
        np.savez(f"shards/{number}.npz", points=values, side=(values[:, 0] > 0).astype(int))
    out = _trained("shards", "--set", "data.inputs=points", "--target", "side").out
    assert "points float32 (3,), side int64 ()" in out
    assert len(_rows(extensor("predict", "a", "shards").out)) == 120
