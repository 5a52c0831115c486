"""Shards mean what files mean: the same columns, classes and scales, or a refusal."""

from __future__ import annotations

import io
import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor, files
from own_files import write_pictures

from extensor.data import BlockShuffle, DataLoader, ShardedDataset, pack
from extensor.errors.messages import COLUMN_NOT_FOUND
from extensor.io.state_file import DamagedFileError
from extensor.random import Generator
from extensor.train import Predictor, experiment


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    return tmp_path


def _write(path: str, columns: dict[str, Any]) -> str:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows)]
    Path(path).write_text("\n".join(lines) + "\n")
    return path


def _words(rows: int = 240) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    kinds = np.arange(rows) % 3
    x = (rng.normal(size=(rows, 4)) + 4 * np.eye(3, 4)[kinds]).round(3)
    return {**dict(zip("pqrs", x.T.tolist(), strict=True)), "kind": ["abc"[i] for i in kinds]}


def _fitted(data: dict[str, Any], epochs: int = 12, **more: Any) -> Predictor:
    made = experiment({"data": data, "epochs": epochs, **more}, folder="run", callbacks=[])
    made.fit()
    return Predictor.load("run")


def _trained_on_words() -> Predictor:
    pack(_write("words.csv", _words()), "shards", shard_size=1000)
    return _fitted({"train": "shards"})


def _messy(name: str, begin: int, rows: int, target: str) -> str:
    """Words, dates, gaps, a column of row numbers, decimal commas between semicolons."""
    rng = np.random.default_rng(begin)
    lines = [";size;city;day;count;plant"]
    for i in range(begin, begin + rows):
        size = "" if i % 6 == 0 else f"{rng.normal(5, 3):.3f}".replace(".", ",")
        city = rng.choice(["Ulm", "Bonn", "NA", "Celle"])
        day = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.2024"
        plant = (
            rng.choice(["ash", "birch", "cedar"]) if target == "words" else f"{rng.normal():.4f}"
        )
        lines.append(f"{i};{size};{city};{day};{rng.integers(9)};{plant.replace('.', ',')}")
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def _sorted_rows(dataset: Any) -> Any:
    x, y = dataset.batch(np.arange(len(dataset)))
    rows = np.concatenate([x, np.asarray(y, np.float64).reshape(len(x), -1)], axis=1)
    return rows[np.lexsort(rows.T)]


@pytest.mark.parametrize("size", [400, 1 << 23])
@pytest.mark.parametrize("target", ["words", "numbers"])
def test_packed_rows_are_what_training_makes_of_the_file(
    target: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same inputs to the last bit, also where the file is packed in chunks."""
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", size)
    for place, (part, rows) in enumerate((("train", 200), ("validation", 40), ("test", 60))):
        _messy(f"{part}.csv", 1000 * place, rows, target)
        pack(f"{part}.csv", part, shard_size=900, like=None if part == "train" else "train")
    parts = ("train", "validation", "test")
    by_file = experiment(
        {"data": {part: f"{part}.csv" for part in parts}, "epochs": 1}, callbacks=[]
    )
    by_shards = experiment({"data": {part: part for part in parts}, "epochs": 1}, callbacks=[])
    assert by_shards.preparation.encoder.state_dict() == by_file.preparation.encoder.state_dict()  # type: ignore[attr-defined]
    assert (by_shards.goal.task, by_shards.goal.classes, by_shards.goal.names) == (
        by_file.goal.task, by_file.goal.classes, by_file.goal.names,
    )  # fmt: skip
    for name in ("train_data", "validation_data", "test_data"):
        file, shards = (_sorted_rows(getattr(x, name)) for x in (by_file, by_shards))
        features = len(by_file.preparation.encoder.features)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(shards[:, :features], file[:, :features])
        np.testing.assert_allclose(shards[:, features:], file[:, features:], rtol=1e-6)


def test_a_model_of_a_packed_table_takes_files_and_shards() -> None:
    _messy("train.csv", 0, 200, "words")
    pack("train.csv", "train", shard_size=900)
    predictor = _fitted({"train": "train"}, 3)
    _messy("new.csv", 500, 40, "words")
    pack("new.csv", "new", like="train")
    assert predictor.predict("new").tolist() == predictor.predict("new.csv").tolist()
    assert predictor.evaluate("new") == pytest.approx(predictor.evaluate("new.csv"))


def test_several_targets_and_labels() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=90)
    columns = {
        "a": a,
        "b": rng.normal(size=90),
        "up": (a > 0).tolist(),
        "far": (abs(a) > 1).tolist(),
    }
    pack(_write("labels.csv", columns), "labels", target=["up", "far"])
    made = experiment({"data": {"train": "labels"}, "epochs": 1}, callbacks=[])
    assert (made.goal.task, made.goal.classes) == ("multilabel", ("up", "far"))
    columns = {"a": a, "b": 1e9 + a, "c": 3 * a}
    pack(_write("numbers.csv", columns), "numbers", target=["b", "c"])
    made = experiment({"data": {"train": "numbers"}, "epochs": 1}, callbacks=[])
    assert (made.goal.task, made.goal.names) == ("regression", ("b", "c"))
    _, y = made.train_data.batch(np.arange(len(made.train_data)))  # type: ignore[attr-defined]
    assert (y.shape[1], y.dtype) == (2, np.float32)
    np.testing.assert_allclose(y[:, 0], y[:, 1], atol=1e-4)  # no digit of 1e9 + a was lost


def test_words_that_mostly_differ_are_no_classes() -> None:
    columns = {"a": np.arange(60) % 7, "name": [f"name {i}" for i in range(60)]}
    pack(_write("t.csv", columns), "shards")
    errors = []
    for source in ("t.csv", "shards"):
        with pytest.raises(
            ValueError, match="the target must have words that occur again"
        ) as caught:
            experiment({"data": {"train": source}, "epochs": 1}, callbacks=[])
        errors.append(str(caught.value))
    assert errors[1] == errors[0].replace("t.csv", "shards")


@pytest.mark.parametrize("kind", ["numbers", "two"])
def test_shards_are_measured_as_their_file_is(kind: str) -> None:
    a, b = np.arange(400) % 23, np.arange(400) % 7
    target = 1000 + 50 * a + 20 * b if kind == "numbers" else np.where(a > 11, "yes", "no")
    pack(_write("t.csv", {"a": a, "b": b, "y": target}), "shards", shard_size=1500)
    predictor = _fitted({"train": "shards"}, 60, optimizer={"lr": 0.02})
    by_shards, by_file = predictor.evaluate("shards"), Predictor.load("run").evaluate("t.csv")
    assert by_shards == pytest.approx(by_file)
    assert by_shards["r2" if kind == "numbers" else "accuracy"] > 0.9


def test_classes_are_found_by_their_names() -> None:
    predictor = _trained_on_words()
    some = {
        k: [x for x, y in zip(v, _words()["kind"], strict=True) if y != "a"]
        for k, v in _words().items()
    }
    _write("some.csv", some)
    pack("some.csv", "some", like="shards")
    right = predictor.evaluate("some.csv")
    assert right["accuracy"] > 0.9
    assert predictor.evaluate("some") == pytest.approx(right)
    _write("other.csv", {**_words(), "kind": ["bcd"[i % 3] for i in range(240)]})
    with pytest.raises(ValueError, match=r"targets must be classes of the training data.*cell='d'"):
        predictor.evaluate("other.csv")
    pack("other.csv", "other", like="shards")
    with pytest.raises(ValueError, match=r"classes must be those of the training data.*class='d'"):
        predictor.evaluate("other")


def test_columns_are_found_by_their_names() -> None:
    predictor = _trained_on_words()
    words = _words()
    swapped = {name: words[name] for name in ("kind", "s", "q", "p", "r")}
    _write("swapped.csv", swapped)
    pack("swapped.csv", "swapped", like="shards")
    expected = predictor.predict("words.csv").tolist()
    assert predictor.evaluate("swapped")["accuracy"] > 0.9
    assert predictor.predict("swapped").tolist() == expected
    assert predictor.predict("swapped.csv").tolist() == expected
    assert predictor.evaluate("swapped.csv") == pytest.approx(predictor.evaluate("words.csv"))
    _write("less.csv", {name: words[name] for name in ("p", "q", "s")})
    with pytest.raises(ValueError, match=COLUMN_NOT_FOUND.text(column="r", source="less.csv")):
        predictor.predict("less.csv")
    with pytest.raises(ValueError, match=COLUMN_NOT_FOUND.text(column="r", source="less.csv")):
        pack("less.csv", "less", like="shards", with_target=False)


def test_inputs_that_are_not_finite_are_named() -> None:
    x = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    os.mkdir("good")
    np.savez("good/a.npz", x=x, y=np.arange(60) % 3)
    predictor = _fitted({"train": "good"}, 1)
    x = np.zeros((20, 4), np.float32)
    x[7, 1] = np.nan
    os.mkdir("bad")
    np.savez("bad/a.npz", x=x, y=np.arange(20) % 3)
    with pytest.raises(ValueError, match=r"inputs must have no NaN or infinity.*sample=7"):
        predictor.predict("bad")


def test_a_run_is_not_resumed_with_other_content() -> None:
    os.mkdir("shards")
    x = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    np.savez("shards/a.npz", x=x, y=(x[:, 0] > 0).astype(int))
    experiment({"data": {"train": "shards"}, "epochs": 1}, folder="run", callbacks=[]).fit()
    x[17, 2] += 1
    np.savez("shards/a.npz", x=x, y=(x[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="data: the data must be the same as when the run began"):
        experiment(resume="run", changes={"epochs": 2}, callbacks=[])


def test_the_place_in_an_epoch_is_that_of_one_order() -> None:
    for number in range(4):
        x = np.arange(500.0) + 500 * number
        np.savez(f"{number}.npz", x=x, y=np.zeros(500))
    names = [f"{number}.npz" for number in range(4)]
    sampler = BlockShuffle(ShardedDataset(names), 10, 4)
    loader = DataLoader(ShardedDataset(names), 50, sampler=sampler, generator=Generator(0))
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    other = DataLoader(
        ShardedDataset(names), 50, sampler=BlockShuffle(ShardedDataset(names), 10, 5)
    )
    with pytest.raises(ValueError, match="same shards, with the same block and window"):
        other.load_state_dict(state)
    again = DataLoader(ShardedDataset(names), 50, sampler=sampler, workers=2)
    again.load_state_dict(state)
    seen = [x for x, _ in batches] + []
    assert [x.tolist() for x in seen] == [x.tolist() for x, _ in again]


@pytest.mark.parametrize("change", ["cut", "written"])
def test_a_file_that_changes_under_a_map_is_noticed(change: str) -> None:
    np.save("a.npy", np.ones((4000, 8)))
    dataset = ShardedDataset(["a.npy"])
    dataset[0]
    if change == "cut":
        os.truncate("a.npy", 100)
    else:
        with open("a.npy", "r+b") as file:
            file.seek(2000)
            file.write(b"\1" * 8)
        os.utime("a.npy", ns=(1, 1))
    with pytest.raises(DamagedFileError, match="a shard must not change while it is used"):
        dataset[3999]


def test_pictures_of_another_size_are_refused() -> None:
    write_pictures("raw", 40)
    pack("raw", "small", form="npy", size=8)
    pack("raw", "large", form="npy", size=16)
    predictor = _fitted({"train": "large"}, 2)
    text = "pictures must be bytes of the same shape as in training, (3, 16, 16)"
    for ask in (predictor.evaluate, predictor.predict):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 compared below
            ask("small")
        assert text in str(caught.value)


def test_what_is_said_of_the_scale_is_done() -> None:
    os.mkdir("shards")
    np.savez("shards/a.npz", x=np.eye(60, 4), y=np.arange(60) % 3)
    made = experiment(
        {"data": {"train": "shards", "standardize": False}, "epochs": 1}, callbacks=[]
    )
    assert "normalize" not in made.config["data"]


@pytest.mark.parametrize("place", ["shards", "file"])
def test_large_numbers_of_classes_stay_apart(place: str) -> None:
    y = 10**17 + np.arange(90) % 3
    x = np.eye(3, dtype=np.float32)[np.arange(90) % 3]
    os.mkdir("shards")
    np.savez("shards/a.npz", x=x, y=y)
    source = "shards" if place == "shards" else "shards/a.npz"
    made = experiment({"data": {"train": source}, "epochs": 1}, callbacks=[])
    assert made.goal.classes == tuple(str(10**17 + i) for i in range(3))


def test_large_numbers_near_each_other_keep_their_digits() -> None:
    """Times in seconds differ in digits that float32 has not: they are standardized before."""
    times = [1_700_000_000 + 0.3 * i for i in range(40)]
    pack(_write("t.csv", {"t": times, "y": [i % 2 for i in range(40)]}), "shards")
    x, _ = ShardedDataset("shards").batch(slice(None))
    expected = (np.arange(40) - 19.5) / np.arange(40).std()
    np.testing.assert_allclose(x[:, 0], expected, rtol=1e-5)


def _tar(name: str, labels: list[Any], ending: str = "cls", inputs: str = "png") -> str:
    """Shards as others make them, without an index."""
    from PIL import Image

    os.makedirs(name, exist_ok=True)
    rng = np.random.default_rng(0)
    with tarfile.open(f"{name}/a.tar", "w") as tar:
        for number, label in enumerate(labels):
            picture = rng.integers(0, 60, (12, 12, 3)).astype(np.uint8)
            picture[: 6 + 6 * (label == labels[0])] += 150
            content = io.BytesIO()
            if inputs == "png":
                Image.fromarray(picture).save(content, "PNG")
            else:
                np.save(content, picture.transpose(2, 0, 1) / np.float32(255))
            members = {inputs: content.getvalue()}
            if label is not None:
                members[ending] = json.dumps(label).encode()
            for end, data in members.items():
                info = tarfile.TarInfo(f"{number:04d}.{end}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return name


@pytest.mark.parametrize("labels", [(1, 2, 3), (-1, 1), (0, 2), (0.0, 1.0), (False, True)])
def test_labels_of_others_may_be_any_numbers(labels: tuple[Any, ...]) -> None:
    ending = "json" if isinstance(labels[0], bool) else "cls"
    source = _tar("shards", [labels[i % len(labels)] for i in range(45)], ending)
    predictor = _fitted({"train": source}, 2)
    assert predictor.classes == [f"{x:g}" for x in labels]
    measured = predictor.evaluate(source)
    found = [float(name) for name in predictor.predict(source)]
    truth = [float(labels[i % len(labels)]) for i in range(45)]
    assert np.mean(np.array(found) == truth) == pytest.approx(measured["accuracy"])


def test_floats_in_archives_are_arrays() -> None:
    source = _tar("shards", [i % 2 for i in range(40)], inputs="npy")
    made = experiment({"data": {"train": source}, "epochs": 1}, callbacks=[])
    assert made.preparation.kind == "arrays"
    x, _ = next(iter(made.train_loader))
    assert abs(float(x.mean())) < 1


def test_archives_without_labels() -> None:
    _tar("shards", [i % 2 for i in range(40)])
    predictor = _fitted({"train": "shards"}, 1)
    _tar("bare", [None] * 6)
    assert len(predictor.predict("bare")) == 6
    with pytest.raises(ValueError, match="data: shards must have inputs and a target"):
        predictor.evaluate("bare")


@pytest.mark.parametrize("text", ["1_0", "nan", "1e999"])
def test_labels_that_are_no_numbers(text: str) -> None:
    _tar("shards", [0, 1])
    with tarfile.open("shards/a.tar", "a") as tar:
        for end, data in (("png", b"x"), ("cls", text.encode())):
            info = tarfile.TarInfo(f"9.{end}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    dataset = ShardedDataset("shards", ["cls"])
    with pytest.raises(DamagedFileError, match=r"must be a number"):
        dataset.batch(slice(0, 3))


def test_names_that_look_like_numbers_are_names() -> None:
    columns = _words()
    columns["kind"] = [["2_0", "1_0", "01x"][i % 3] for i in range(240)]
    pack(_write("t.csv", columns), "shards")
    predictor = _fitted({"train": "shards"})
    assert predictor.classes == ["01x", "1_0", "2_0"]
    assert predictor.evaluate("shards")["accuracy"] > 0.9


def _changed_index(**changes: Any) -> None:
    index = json.loads(Path("shards/index.json").read_text())
    Path("shards/index.json").write_text(json.dumps({**index, **changes}))


def test_labels_beyond_the_classes_are_refused_before_training() -> None:
    pack(_write("words.csv", _words()), "shards")
    _changed_index(classes=["a", "b"])
    before = files()
    result = extensor("train", "shards")
    assert (result.code, files()) == (2, before)
    assert "labels must be whole numbers in [0, 1], of the classes" in result.err


@pytest.mark.parametrize("classes", [["a", "a", "b"], ["a", "\ud800", "c"]])
def test_classes_that_cannot_be_are_refused(classes: list[str]) -> None:
    pack(_write("words.csv", _words()), "shards")
    _changed_index(classes=classes)
    with pytest.raises(ValueError, match="index must be one that extensor pack wrote"):
        ShardedDataset("shards")


def test_a_file_as_the_test_of_shards() -> None:
    pack(_write("words.csv", _words()), "shards")
    made = experiment({"data": {"train": "shards", "test": "words.csv"}, "epochs": 1}, callbacks=[])
    assert len(made.test_data) == 240


def test_a_shard_of_other_columns_is_left_out_if_that_is_asked_for() -> None:
    pandas = pytest.importorskip("pandas")
    os.mkdir("shards")
    frame = pandas.DataFrame({"x": np.arange(5.0), "y": np.arange(5)})
    for number in range(2):
        frame.to_parquet(f"shards/{number}.parquet")
    frame.rename(columns={"x": "z"}).assign(w=1).to_parquet("shards/2.parquet")
    dataset = ShardedDataset("shards", skip_damaged=True)
    assert (len(dataset), [path.name for path, _ in dataset.skipped]) == (10, ["2.parquet"])
    with pytest.raises(ValueError, match="parts must say which arrays make a sample"):
        ShardedDataset("shards")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "size": ({"size": 8}, "data.size is for pictures, arrays, not for table"),
    "columns": ({"columns": {"p": "drop"}}, "data.columns must be set when the table is packed"),
    "another target": ({"target": "p"}, "data.target must be that of the packed table, ['kind']"),
    "header": ({"header": True}, "data.header is for data in memory, not for shards"),
    "inputs": ({"inputs": "x"}, "data.inputs is for arrays, not for table"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_settings_without_a_meaning_are_refused(name: str) -> None:
    pack(_write("words.csv", _words()), "shards")
    data, text = REFUSED[name]
    with pytest.raises(ValueError) as caught:  # noqa: PT011 compared below
        experiment({"data": {"train": "shards", **data}, "epochs": 1}, callbacks=[])
    assert text in str(caught.value)


def test_too_few_samples_are_said_with_their_place() -> None:
    os.mkdir("shards")
    np.savez("shards/a.npz", x=np.zeros((2, 2)), y=np.arange(2))
    with pytest.raises(
        ValueError, match="data: shards must have samples for each part, got samples=2"
    ):
        experiment({"data": {"train": "shards"}, "epochs": 1}, callbacks=[])


def test_a_column_for_each_input_is_needed() -> None:
    os.mkdir("shards")
    np.savez("shards/a.npz", x=np.zeros(40), y=np.arange(40) % 2)
    with pytest.raises(ValueError, match=r"inputs must have columns, as x\[:, None\] has one"):
        experiment({"data": {"train": "shards"}, "epochs": 1}, callbacks=[])


def test_a_table_without_a_target_is_packed_to_predict() -> None:
    predictor = _trained_on_words()
    words = _words()
    del words["kind"]
    _write("new.csv", words)
    result = extensor("pack", "new.csv", "new", "--no-target", "--like", "shards")
    assert result.code == 0, result.err
    assert predictor.predict("new").tolist() == predictor.predict("new.csv").tolist()
    shutil.copy("new.csv", "new.tab")
    Path("new.tab").write_text(Path("new.csv").read_text().replace(",", "\t"))
    assert pack("new.tab", "tabbed", with_target=False).kind == "table"


@pytest.mark.parametrize("name", ["block", "window"])
def test_blocks_beyond_all_numbers(name: str) -> None:
    given = {"block": 2, "window": 2, name: 2**70}
    with pytest.raises(ValueError, match=rf"BlockShuffle: {name} must be below 2\*\*62"):
        BlockShuffle([5], **given)
