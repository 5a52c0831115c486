"""Where shards lie: Hugging Face's folders, Hive's, patterns, folders in folders."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor
from test_streaming_formats import write_tar

from extensor.data import ShardedDataset
from extensor.io.state_file import DamagedFileError
from extensor.train import Predictor, experiment

pa = pytest.importorskip("pyarrow")
import pyarrow.dataset  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "extensor.cli.report_command.write_plots", lambda _: None
    )  # most of the time
    return tmp_path


def _rows(count: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, count))
    return {"a": a, "b": b, "label": (a > 0).astype(np.int64)}


def _save_to_disk(folder: str, rows: dict[str, Any], shards: int = 2) -> str:
    """What ``Dataset.save_to_disk`` writes: Arrow streams, listed in ``state.json``."""
    os.makedirs(folder)
    features = {name: {"dtype": "float64", "_type": "Value"} for name in ("a", "b")}
    features["label"] = {"names": ["low", "high"], "_type": "ClassLabel"}  # type: ignore[dict-item]
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pa.table(rows).replace_schema_metadata(metadata)
    names = [f"data-{i:05d}-of-{shards:05d}.arrow" for i in range(shards)]
    cuts = np.linspace(0, len(table), shards + 1).astype(int)
    for name, begin, end in zip(names, cuts[:-1], cuts[1:], strict=True):
        with (
            pa.OSFile(f"{folder}/{name}", "wb") as file,
            pa.ipc.new_stream(file, table.schema) as stream,
        ):
            stream.write_table(table[begin:end], max_chunksize=7)
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "f22aaaaf"}
    Path(folder, "state.json").write_text(json.dumps(state))
    Path(folder, "dataset_info.json").write_text(json.dumps({"features": features}))
    return folder


def _dataset_dict(**splits: int) -> None:
    for seed, (name, count) in enumerate(splits.items()):
        _save_to_disk(f"saved/{name}", _rows(count, seed), 1)
    Path("saved/dataset_dict.json").write_text(json.dumps({"splits": list(splits)}))


def test_saved_datasets() -> None:
    rows = _rows(60)
    _save_to_disk("saved", rows, 3)
    Path("saved/cache-1f2e.arrow").write_bytes(b"what map keeps")
    dataset = ShardedDataset("saved", (["a", "b"], "label"))
    assert dataset.classes == ["low", "high"]
    order = np.random.default_rng(1).permutation(60)
    x, y = dataset.batch(order)
    np.testing.assert_array_equal(x, np.stack([rows["a"], rows["b"]], axis=1)[order])
    np.testing.assert_array_equal(y, rows["label"][order])
    Path("saved/data-9.arrow").write_bytes(b"")
    with pytest.raises(ValueError, match=r"must all be in its state.json, got path='saved/data-9"):
        ShardedDataset("saved", ("a", "label"))


def test_a_stream_with_words_in_dictionaries_is_read() -> None:
    table = pa.table({"x": np.arange(6.0), "w": pa.array(list("aabbcc")).dictionary_encode()})
    with pa.OSFile("s.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=2)
    assert ShardedDataset(["s.arrow"], ["x"]).batch(np.array([5, 0]))[0].tolist() == [5.0, 0.0]


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("state.json", "{}", "state.json must list the files of the data set"),
        ("state.json", "[" * 10**5, "state.json must be as save_to_disk writes it"),
        ("state.json", '{"_data_files": [{"filename": "../x.arrow"}]}', "must list the files"),
    ],
)
def test_saved_datasets_that_are_damaged(name: str, content: str, text: str) -> None:
    _save_to_disk("saved", _rows(10))
    Path("saved", name).write_text(content)
    with pytest.raises(DamagedFileError, match=text):
        ShardedDataset("saved", ("a", "label"))


def test_splits_are_parts() -> None:
    _dataset_dict(train=90, validation=30, test=40)
    result = extensor("train", "saved", "--target", "label", "--name", "r", "--set", "epochs=2")
    assert result.code == 0, result.err
    assert "classes low, high" in result.out
    assert "90 to train on, validation from saved/validation, test from saved/test" in result.out
    predictor = Predictor.load("runs/r")
    assert set(predictor.predict("saved/test")) <= {"low", "high"}
    assert "accuracy" in predictor.evaluate("saved/test")


def test_splits_of_other_names_are_named() -> None:
    _dataset_dict(train=20, unsupervised=20)
    text = r"splits must be called train, validation, test \(saved/NAME takes one alone\)"
    with pytest.raises(ValueError, match=rf"{text}.*'unsupervised'"):
        experiment({"data": {"train": "saved", "target": "label"}}, callbacks=[])
    with pytest.raises(ValueError, match=r"source must be one split .* splits=\['train', 'unsup"):
        ShardedDataset("saved", ("a", "label"))


def _write(path: str, columns: dict[str, Any]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=4)


def _hive() -> None:
    for number, place in enumerate(("year=2020/land=de", "year=2020/land=fr", "year=2021/land=de")):
        _write(f"data/{place}/part-0.parquet", {"a": np.arange(10.0) + number, "y": [number] * 10})


def test_folders_of_hive_are_columns() -> None:
    _hive()
    Path("data/_SUCCESS").write_text("")
    dataset = ShardedDataset("data", (["a", "year"], "y"))
    x, y = dataset.batch(slice(None))
    np.testing.assert_array_equal(x[:, 0], np.concatenate([np.arange(10.0) + i for i in range(3)]))
    np.testing.assert_array_equal(x[:, 1], np.repeat([2020, 2020, 2021], 10))
    assert y.tolist() == np.repeat([0, 1, 2], 10).tolist()
    (years,) = ShardedDataset("data", ["year"]).batch(np.array([25, 3]))
    assert (years.dtype, years.tolist()) == (np.int32, [2021, 2020])
    with pytest.raises(ValueError, match=r"columns of a part must be numbers.*column='land'"):
        ShardedDataset("data", (["a", "land"], "y"))


@pytest.mark.parametrize(
    "values",
    [
        ["007", "8"],
        ["3000000000", "1"],
        ["1.5", "2"],
        ["-3", "4"],
        ["a%20b", "c"],
        ["__HIVE_DEFAULT_PARTITION__", "1"],
    ],
)
def test_partitions_are_typed_as_pyarrow_does(values: list[str]) -> None:
    from extensor.data.streaming.shard_files import partition_values

    for value in values:
        _write(f"data/k={value}/p.parquet", {"a": [1.0]})
    files = [Path(f"data/k={value}/p.parquet") for value in values]
    names = [str(path) for path in files]
    known = pyarrow.dataset.dataset(names, partitioning="hive", partition_base_dir="data")
    found = partition_values(Path("data"), files)
    assert found is not None
    assert {found[path]["k"].type for path in files} == {known.schema.field("k").type}
    expected = [
        pyarrow.dataset.get_partition_keys(x.partition_expression)["k"]
        for x in known.get_fragments()
    ]
    assert [found[path]["k"].as_py() for path in files] == expected


def test_a_missing_partition_is_missing() -> None:
    _hive()
    _write("data/year=__HIVE_DEFAULT_PARTITION__/land=de/p.parquet", {"a": [1.0], "y": [1]})
    dataset = ShardedDataset("data", (["a", "year"], "y"))
    with pytest.raises(DamagedFileError, match=r"year must have no missing values.*HIVE_DEFAULT"):
        dataset.batch(slice(None))


def test_folders_of_hive_that_do_not_agree() -> None:
    _hive()
    _write("data/year=2022/p.parquet", {"a": [1.0], "y": [1]})
    with pytest.raises(ValueError, match=r"folders for year, land.*year=2022/p.parquet"):
        ShardedDataset("data", ("a", "y"))
    _write("both/year=2020/p.parquet", {"a": [1.0], "year": [1]})
    with pytest.raises(ValueError, match=r"column 'year' must be in the files or in the names"):
        ShardedDataset("both", ("a", "year"))


def test_folders_of_hive_are_trained_on() -> None:
    _hive()
    made = experiment({"data": {"train": "data", "target": "y", "inputs": ["a", "year"]}, "epochs": 1},
        callbacks=[])  # fmt: skip
    assert len(made.train_data) + len(made.test_data) + len(made.validation_data) == 30  # type: ignore[arg-type]
    before = made.train_data.fingerprint  # type: ignore[attr-defined]
    os.rename("data/year=2021", "data/year=2023")
    again = experiment({"data": {"train": "data", "target": "y", "inputs": ["a", "year"]}, "epochs": 1},
        callbacks=[])  # fmt: skip
    assert again.train_data.fingerprint != before  # type: ignore[attr-defined]


def test_patterns() -> None:
    for number, place in enumerate(
        ("b/2.parquet", "a/10.parquet", "a/9.parquet", "a/deep/1.parquet")
    ):
        _write(f"data/{place}", {"x": [[float(number)]] * 3, "y": [number] * 3})
    found = ShardedDataset("data/*/*.parquet")
    assert [str(path) for path in found.paths] == [
        "data/a/10.parquet",
        "data/a/9.parquet",
        "data/b/2.parquet",
    ]
    assert len(ShardedDataset("data/**/*.parquet")) == 12
    assert len(ShardedDataset(Path("data/**"))) == 12
    assert len(ShardedDataset(["data/b/*.parquet", "data/a/9.parquet"])) == 6
    with pytest.raises(
        ValueError, match=r"a pattern must match at least one file, got pattern='data/.*npz'"
    ):
        ShardedDataset("data/*.npz")
    with pytest.raises(
        ValueError, match=r"a pattern must match files, not folders.*folder='data/a/deep'"
    ):
        ShardedDataset("data/a/*")
    _write("odd[1].parquet", {"x": [[1.0]], "y": [1]})
    assert len(ShardedDataset("odd[1].parquet")) == 1


def test_patterns_in_commands() -> None:
    for number in range(3):
        _write(f"data/{number}.parquet", _rows(40, number))
    _write("data/test-0.parquet", _rows(20, 9))
    common = ("--target", "label", "--set", "epochs=2", "--set", "data.test=data/test-*.parquet")
    result = extensor("train", "data/[0-9].parquet", "--name", "r", *common)
    assert result.code == 0, result.err
    assert "data/[0-9].parquet: 120 samples in 3 shards" in result.out
    assert extensor("evaluate", "runs/r", "data/test-*.parquet").code == 0
    assert (
        len(extensor("predict", "runs/r", "data/test-*.parquet", "--format", "csv").out.split())
        == 21
    )
    result = extensor("train", "data/*.parquet", *common)
    assert result.code == 2
    assert "data.test must be another file than data.train" in result.err
    result = extensor("train", "none/*.parquet", *common)
    assert (result.code, "a pattern must match at least one file" in result.err) == (2, True)


def test_members_with_dots() -> None:
    members = []
    for number in range(6):
        array = np.full(3, number, np.float32)
        np.save("a.npy", array)
        content = Path("a.npy").read_bytes()
        meta = json.dumps({"depth": number}).encode()
        members += [(f"{number:03d}.x.npy", content), (f"{number:03d}.y.cls", str(number % 2).encode()),
                    (f"{number:03d}.meta.json", meta)]  # fmt: skip
    os.mkdir("tars")
    write_tar(Path("tars/a.tar"), members)
    for parts in (("x.npy", "y.cls"), None):
        x, y = ShardedDataset("tars", parts).batch(slice(None))
        assert x[:, 0].tolist() == list(range(6))
        assert y.tolist() == [0, 1, 0, 1, 0, 1]
    (depth,) = ShardedDataset("tars", ["meta.json.depth"]).batch(slice(None))
    assert depth.tolist() == list(range(6))
    with pytest.raises(ValueError, match=r"parts must name a key of .json, as 'meta.json.label'"):
        ShardedDataset("tars", ["meta.json"])
    made = experiment({"data": {"train": "tars", "inputs": "x.npy", "target": "y.cls"}, "epochs": 1},
        callbacks=[])  # fmt: skip
    assert made.goal.task == "binary"


def test_pictures_with_dots() -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    image.fromarray(pixels).save("a.png")
    content = Path("a.png").read_bytes()
    write_tar(Path("a.tar"), [("0.left.png", content), ("0.right.png", content), ("0.cls", b"1")])
    left, y = ShardedDataset(["a.tar"], ("left.png", "cls")).batch(slice(None))
    np.testing.assert_array_equal(left[0], np.moveaxis(pixels, -1, 0))
    assert y.tolist() == [1]
    with pytest.raises(ValueError, match="parts must say which members make a sample"):
        ShardedDataset(["a.tar"])


@pytest.mark.parametrize("above", [True, False])
def test_shards_in_folders_are_not_left_out(above: bool) -> None:
    if above:
        np.savez("a.npz", x=np.ones(3), y=np.ones(3))
    os.makedirs("more/deep")
    np.savez("more/deep/b.npz", x=np.ones(3), y=np.ones(3))
    text = r"must all lie in it, or all in folders such as year=2020 .*got path='.*more/deep/b.npz'"
    with pytest.raises(ValueError, match=text):
        ShardedDataset(".")
    with pytest.raises(ValueError, match=text):
        experiment({"data": {"train": "."}}, callbacks=[])


def test_shards_in_folders_beside_an_index() -> None:
    from extensor.data import pack

    Path("t.txt").write_text("some text " * 50)
    pack("t.txt", "packed")
    os.mkdir("packed/more")
    np.save("packed/more/b.npy", np.ones(3))
    with pytest.raises(ValueError, match=r"must all be in its index.json.*packed/more/b.npy"):
        ShardedDataset("packed", context=4)


def test_folders_that_lead_back_are_passed_over() -> None:
    np.savez("a.npz", x=np.ones((3, 1)), y=np.ones(3))
    os.symlink(".", "back")
    assert len(ShardedDataset(".")) == 3


COLUMNS: dict[str, tuple[dict[str, Any], str]] = {
    "more": ({"z": [1.0]}, "column 'z' is not in the others"),
    "fewer": ({"b": None}, "column 'b' is missing"),
    "typed": ({"b": pa.array([1], pa.int32())}, "column 'b' is int32, in the others double"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_shard_of_other_columns_is_named(name: str) -> None:
    usual = {"a": [1.0, 2.0], "b": [1.0, 2.0], "y": [0, 1]}
    for number in range(3):
        _write(f"data/{number}.parquet", usual)
    change, text = COLUMNS[name]
    other = {**{key: value[:1] for key, value in usual.items()}, **change}
    _write("data/3.parquet", {key: value for key, value in other.items() if value is not None})
    with pytest.raises(ValueError) as caught:  # noqa: PT011 compared below
        experiment({"data": {"train": "data", "target": "y"}, "epochs": 1}, callbacks=[])
    if name == "fewer":
        assert "shard must have 'b'" in str(caught.value)
        assert "3.parquet" in str(caught.value)
    else:
        assert str(caught.value) == (
            f"ShardedDataset: shards must have the same columns ({text}), got path='data/3.parquet'"
        )
    if name == "more":  # what is not chosen does not count
        assert len(ShardedDataset("data", (["a", "b"], "y"))) == 7
    else:
        dataset = ShardedDataset("data", (["a", "b"], "y"), skip_damaged=True)
        assert (len(dataset), [path.name for path, _ in dataset.skipped]) == (6, ["3.parquet"])


def test_usual_parts_beside_other_columns() -> None:
    _write("data/0.parquet", {"x": [1.0], "y": [0]})
    _write("data/1.parquet", {"x": [1.0], "y": [0]})
    _write("data/2.parquet", {"x": [1.0], "y": [0], "weight": [0.5]})
    text = r"column 'weight' is not in the others\), got path='data/2.parquet'"
    with pytest.raises(DamagedFileError, match=text):
        ShardedDataset("data")


def test_verify_says_that_it_has_nothing_to_compare_with() -> None:
    os.mkdir("a")
    np.save("a/0.npy", np.ones(3))
    with pytest.warns(UserWarning, match="verify has nothing to compare the shards with"):
        assert len(ShardedDataset("a", verify=True)) == 3
    np.savez("b.npz", x=np.ones(3))
    assert len(ShardedDataset("b.npz", verify=True)) == 3  # it has checksums
