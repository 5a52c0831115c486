"""Shards of every format, against the arrays that they were made of."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import extensor as ex
from extensor.data import DataLoader, ImageFolder, ShardedDataset, TextWindows
from extensor.data.streaming import shard as shard_module
from extensor.data.streaming import tar_shards
from extensor.random import Generator

Arrays = dict[str, Any]


def made(rng: np.random.Generator, samples: int) -> Arrays:
    return {
        "x": rng.normal(size=(samples, 2, 3)).astype(np.float32),
        "y": rng.integers(0, 9, samples),
    }


def write_npy(path: Path, arrays: Arrays) -> None:
    for name, array in arrays.items():
        np.save(path.with_name(f"{path.name}.{name}.npy"), array)


def write_safetensors(path: Path, arrays: Arrays) -> None:
    safetensors.numpy.save_file(arrays, f"{path}.safetensors", {"by": "another library"})


def write_state(path: Path, arrays: Arrays) -> None:
    ex.save(f"{path}.safetensors", arrays)


def _columns(arrays: Arrays) -> Any:
    pa = pytest.importorskip("pyarrow")
    flat = pa.array(arrays["x"].reshape(-1))
    _, height, width = arrays["x"].shape
    inner = pa.FixedSizeListArray.from_arrays(flat, width)
    return pa.table({"y": arrays["y"], "x": pa.FixedSizeListArray.from_arrays(inner, height)})


def write_parquet(path: Path, arrays: Arrays) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(_columns(arrays), f"{path}.parquet", row_group_size=7)


def write_arrow(path: Path, arrays: Arrays, compression: str | None = None) -> None:
    import pyarrow as pa

    table = _columns(arrays)
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(f"{path}.arrow", table.schema, options=options) as file:
        file.write_table(table, max_chunksize=5)


def write_stream(path: Path, arrays: Arrays) -> None:
    """As Hugging Face's datasets save them."""
    import pyarrow as pa

    table = _columns(arrays)
    with pa.OSFile(f"{path}.arrow", "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table, max_chunksize=5)


def write_feather(path: Path, arrays: Arrays) -> None:
    import pyarrow.feather

    pyarrow.feather.write_feather(_columns(arrays), f"{path}.feather", compression="zstd")


WRITERS: dict[str, Callable[[Path, Arrays], None]] = {
    "npy": write_npy,
    "npz": lambda path, arrays: np.savez(path, **arrays),
    "npz compressed": lambda path, arrays: np.savez_compressed(path, **arrays),
    "safetensors": write_safetensors,
    "state": write_state,
    "parquet": write_parquet,
    "arrow": write_arrow,
    "arrow stream": write_stream,
    "arrow compressed": lambda path, arrays: write_arrow(path, arrays, "lz4"),
    "feather": write_feather,
}


def shards(
    folder: Path, write: Callable[[Path, Arrays], None], rng: Any, sizes: list[int]
) -> Arrays:
    """Write shards, and give what is in all of them."""
    parts = []
    for number, size in enumerate(sizes):
        parts.append(made(rng, size))
        write(folder / f"shard-{number}", parts[-1])
    return {name: np.concatenate([part[name] for part in parts]) for name in ("x", "y")}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format(
    name: str, rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_module, "PIECE", 96)  # pieces of three samples
    monkeypatch.setattr("extensor.data.streaming.sharded_dataset.PIECE", 96)
    expected = shards(tmp_path, WRITERS[name], rng, [20, 1, 13])
    dataset = ShardedDataset(tmp_path)
    assert (len(dataset), len(dataset.paths), dataset.skipped) == (34, 3, [])
    assert [(p.name, p.dtype, p.shape) for p in dataset.parts] == [
        ("x", np.float32, (2, 3)),
        ("y", np.int64, ()),
    ]
    for indices in (rng.permutation(34), rng.integers(0, 34, 50), np.array([33, 0, 20, 20])):
        x, y = dataset.batch(indices)
        np.testing.assert_array_equal(x, expected["x"][indices])
        np.testing.assert_array_equal(y, expected["y"][indices])
        assert x.dtype == np.float32
        assert x.flags.writeable
    x, y = dataset.batch(slice(15, 30))
    np.testing.assert_array_equal(x, expected["x"][15:30])
    np.testing.assert_array_equal(dataset[-1][0], expected["x"][-1])
    assert dataset[21][1] == expected["y"][21]
    assert [part.shape for part in dataset.batch(np.empty(0, np.int64))] == [(0, 2, 3), (0,)]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("workers", [0, 2])
def test_an_epoch_has_every_sample_once(
    name: str, workers: int, rng: np.random.Generator, tmp_path: Path
) -> None:
    expected = shards(tmp_path, WRITERS[name], rng, [20, 5, 13])
    loader = DataLoader(
        ShardedDataset(tmp_path), 8, shuffle=True, workers=workers, generator=Generator(2)
    )
    batches = [(x.numpy(), y.numpy()) for x, y in loader]
    x = np.concatenate([batch[0] for batch in batches])
    order = np.lexsort(x.reshape(38, 6).T)
    expected_order = np.lexsort(expected["x"].reshape(38, 6).T)
    np.testing.assert_array_equal(x[order], expected["x"][expected_order])
    y = np.concatenate([batch[1] for batch in batches])
    np.testing.assert_array_equal(y[order], expected["y"][expected_order])
    assert (x != expected["x"]).any()


def test_shards_of_several_formats(rng: np.random.Generator, tmp_path: Path) -> None:
    parts = [made(rng, 5) for _ in range(4)]
    write_npy(tmp_path / "c", parts[0])
    np.savez(tmp_path / "a.npz", **parts[1])
    write_safetensors(tmp_path / "b", parts[2])
    np.savez_compressed(tmp_path / "d.npz", **parts[3])
    paths = [tmp_path / name for name in ("c.x.npy", "d.npz", "a.npz", "c.y.npy", "b.safetensors")]
    dataset = ShardedDataset([str(path) for path in paths])
    assert [path.name for path in dataset.paths] == ["c", "d.npz", "a.npz", "b.safetensors"]
    expected = np.concatenate([parts[i]["x"] for i in (0, 3, 1, 2)])
    np.testing.assert_array_equal(dataset.batch(slice(None))[0], expected)


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int16", "uint16", "int64", "float16", "float64", ">f4", ">i8"]
)
def test_dtypes_are_kept(dtype: str, rng: np.random.Generator, tmp_path: Path) -> None:
    array = rng.integers(0, 2, (11, 3)).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    (found,) = ShardedDataset(tmp_path).batch(slice(None))
    assert found.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(found, array)


def test_parts_are_chosen(rng: np.random.Generator, tmp_path: Path) -> None:
    arrays = {**made(rng, 6), "weights": np.ones(6, np.float32)}
    np.savez(tmp_path / "a.npz", **arrays)
    assert len(ShardedDataset(tmp_path).parts) == 2
    dataset = ShardedDataset(tmp_path, ("x", "weights", "y"))
    assert [part.name for part in dataset.parts] == ["x", "weights", "y"]
    np.testing.assert_array_equal(dataset.batch(slice(None))[2], arrays["y"])


def test_columns_make_a_matrix(rng: np.random.Generator, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {"a": rng.normal(size=9), "b": rng.integers(0, 5, 9), "label": rng.integers(0, 2, 9)}
    )
    frame.to_parquet(tmp_path / "a.parquet")
    x, y = ShardedDataset(tmp_path, (["a", "b"], "label")).batch(slice(None))
    np.testing.assert_array_equal(x, frame[["a", "b"]].to_numpy())
    np.testing.assert_array_equal(y, frame["label"].to_numpy())
    first, second = ShardedDataset(tmp_path, ("a", ["b", "a"])).batch(slice(None))
    np.testing.assert_array_equal(first, frame["a"].to_numpy())
    np.testing.assert_array_equal(second, frame[["b", "a"]].to_numpy())


def test_lists_of_one_length(rng: np.random.Generator, tmp_path: Path) -> None:
    """As pandas writes them, which knows no lists of a fixed length."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = rng.normal(size=(9, 4)).astype(np.float32)
    frame = pandas.DataFrame({"x": list(rows), "y": np.arange(9)})
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=4)
    x, _ = ShardedDataset(tmp_path).batch(slice(None))
    np.testing.assert_array_equal(x, rows)


def test_tensors_of_arrow(rng: np.random.Generator, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = rng.normal(size=(7, 2, 3))
    table = pa.table({"x": pa.FixedShapeTensorArray.from_numpy_ndarray(rows)})
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as file:
        file.write_table(table)
    np.testing.assert_array_equal(ShardedDataset(tmp_path).batch(slice(None))[0], rows)


@pytest.mark.parametrize("context", [1, 3, 4, 39])
def test_windows_of_tokens(context: int, rng: np.random.Generator, tmp_path: Path) -> None:
    """In each shard those of TextWindows."""
    rows = [rng.integers(0, 300, size).astype(np.uint16) for size in (41, 40, 53)]
    for number, row in enumerate(rows):
        np.save(tmp_path / f"{number}.npy", row)
    dataset = ShardedDataset(tmp_path, context=context)
    expected = [TextWindows(row, context).batch(slice(None)) for row in rows]
    inputs, targets = dataset.batch(slice(None))
    np.testing.assert_array_equal(inputs, np.concatenate([pair[0] for pair in expected]))
    np.testing.assert_array_equal(targets, np.concatenate([pair[1] for pair in expected]))
    order = rng.permutation(len(dataset))
    np.testing.assert_array_equal(dataset.batch(order)[1], targets[order])
    assert inputs.dtype == np.int64


def png(pixels: Any, ending: str = "PNG") -> bytes:
    image = pytest.importorskip("PIL.Image")
    content = io.BytesIO()
    image.fromarray(pixels).save(content, ending)
    return content.getvalue()


def write_tar(
    path: Path, members: list[tuple[str, bytes]], form: int = tarfile.USTAR_FORMAT
) -> None:
    with tarfile.open(path, "w", format=form) as file:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))


def pictures(rng: np.random.Generator, count: int) -> list[Any]:
    return [rng.integers(0, 256, (4, 5, 3), dtype=np.uint8) for _ in range(count)]


FOLDERS = {
    tarfile.USTAR_FORMAT: ["", "train/", "long/" * 40],
    tarfile.GNU_FORMAT: ["", "long/" * 40, "länger/" * 60],
    tarfile.PAX_FORMAT: ["", "long/" * 40, "länger/" * 60],
}


@pytest.mark.parametrize(
    ("form", "folder"), [(form, folder) for form in FOLDERS for folder in FOLDERS[form]]
)
def test_tar_shards(form: int, folder: str, rng: np.random.Generator, tmp_path: Path) -> None:
    images = pictures(rng, 7)
    for number, rows in enumerate((range(4), range(4, 7))):
        members = []
        for i in rows:
            key = f"{folder}sample{i:03d}"
            members += [(f"{key}.cls", str(i % 3).encode()), (f"{key}.png", png(images[i]))]
        write_tar(tmp_path / f"{number}.tar", members, form)
    dataset = ShardedDataset(tmp_path)
    assert [(part.name, part.shape) for part in dataset.parts] == [
        ("picture", (3, 4, 5)),
        ("cls", ()),
    ]
    x, y = dataset.batch(np.array([5, 0, 6]))
    np.testing.assert_array_equal(x, [np.moveaxis(images[i], -1, 0) for i in (5, 0, 6)])
    assert y.tolist() == [2, 0, 0]
    loader = DataLoader(dataset, 3, shuffle=True, workers=2, generator=Generator(0))
    assert sorted(y for _, labels in loader for y in labels.tolist()) == [0, 0, 0, 1, 1, 2, 2]


def test_pictures_are_decoded_as_those_of_folders(rng: np.random.Generator, tmp_path: Path) -> None:
    (tmp_path / "pictures" / "a").mkdir(parents=True)
    members = []
    for i, image in enumerate(pictures(rng, 3)):
        ending = ("png", "jpg", "jpeg")[i]
        content = png(image, "PNG" if i == 0 else "JPEG")
        (tmp_path / "pictures" / "a" / f"{i}.{ending}").write_bytes(content)
        members += [(f"{i}.{ending}", content), (f"{i}.txt", b" 2.5\n")]
    write_tar(tmp_path / "a.tar", members)
    for options in ({"size": 8, "mode": "L"}, {"size": (3, 2)}, {}):
        folder = ImageFolder(tmp_path / "pictures", **options)
        x, y = ShardedDataset([tmp_path / "a.tar"], **options).batch(slice(None))
        np.testing.assert_array_equal(x, [folder[i][0] for i in range(3)])
        assert (y.dtype, y.tolist()) == (np.float32, [2.5] * 3)


def test_members_of_other_kinds(tmp_path: Path) -> None:
    def npy(array: Any) -> bytes:
        content = io.BytesIO()
        np.save(content, array)
        return content.getvalue()

    members = []
    for i in range(3):
        label = json.dumps({"label": i, "box": [0.5, i], "text": "a word"}).encode()
        members += [(f"{i}.npy", npy(np.full((2, 2), i, np.int16))), (f"{i}.json", label)]
        members += [(f"{i}.seg.npy", npy(np.zeros(1))), (f"{i}.txt", b"a word")]
    write_tar(tmp_path / "a.tar", members)
    dataset = ShardedDataset(tmp_path, ("npy", "json.label", "json.box"))
    x, label, box = dataset.batch(slice(None))
    assert (x.dtype, x[:, 0, 0].tolist()) == (np.int16, [0, 1, 2])
    assert (label.dtype, label.tolist()) == (np.int64, [0, 1, 2])
    assert (box.dtype, box.tolist()) == (np.float32, [[0.5, 0.0], [0.5, 1.0], [0.5, 2.0]])


def test_large_members(tmp_path: Path) -> None:
    """Sizes that do not fit into octal digits are written in another way."""
    info = tarfile.TarInfo("a.npy")
    info.size = 9 * 2**30
    header = info.tobuf(tarfile.GNU_FORMAT)
    path = tmp_path / "a.tar"
    with path.open("wb") as file:
        file.write(header)
        file.truncate(512 + info.size + 1024)
    with path.open("rb") as file:
        (member,) = tar_shards.members(file.fileno(), path)
    assert member == ("a.npy", 512, 9 * 2**30)
