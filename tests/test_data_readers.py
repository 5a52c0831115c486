"""Readers of files, and the data sets that are shipped, found or downloaded."""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import struct
import tarfile
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.data import (
    DataLoader,
    ImageFolder,
    cifar10,
    csv_classes,
    digits,
    fashion_mnist,
    mnist,
    read_arrays,
    read_cifar10,
    read_csv,
    read_idx,
    standard,
)

IDX_CODES = {"u1": 8, "i1": 9, "i2": 11, "i4": 12, "f4": 13, "f8": 14}


def _idx(array: np.ndarray) -> bytes:
    kind = array.dtype.str[1:]
    shape = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, IDX_CODES[kind], array.ndim]) + shape + array.astype(f">{kind}").tobytes()


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system without data sets, whose cache is the folder that is returned."""
    monkeypatch.setattr(standard, "SYSTEM_FOLDERS", (tmp_path / "system",))
    monkeypatch.setenv("EXTENSOR_DATA", str(tmp_path / "cache"))
    return tmp_path


@pytest.mark.parametrize("dtype", IDX_CODES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_idx(dtype: str, pack: Any, tmp_path: Path) -> None:
    array = (np.arange(24).reshape(2, 3, 4) * 5).astype(dtype)
    (tmp_path / "a").write_bytes(pack(_idx(array)))
    result = read_idx(tmp_path / "a")
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "file must begin as an IDX file"),
        (b"\0\0\x08\x03\0\0", "file must begin as an IDX file"),
        (b"\x01\0\x08\x01\0\0\0\0", "file must begin as an IDX file"),
        (b"\0\0\x07\x01\0\0\0\0", "file must begin as an IDX file"),
        (
            _idx(np.ones(4, "f4"))[:-1],
            "file must have 16 bytes of data for shape (4,), got bytes=15",
        ),
        # Without a time: what processes collect must have one name.
        (gzip.compress(_idx(np.ones(40, "f4")), mtime=0)[:-9], "gzip file must be whole"),
    ],
)
def test_idx_that_is_damaged(content: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content)
    path = str(tmp_path / "a")
    with pytest.raises(ValueError, match=f"^read_idx: {re.escape(text)}.* path={path!r}$"):
        read_idx(path)


def _cifar(rng: np.random.Generator, samples: int) -> tuple[bytes, np.ndarray, np.ndarray]:
    images = rng.integers(0, 256, (samples, 3, 32, 32), np.uint8)
    labels = rng.integers(0, 10, samples, np.uint8)
    return np.hstack([labels[:, None], images.reshape(samples, -1)]).tobytes(), images, labels


def test_cifar10_files(tmp_path: Path, rng: np.random.Generator) -> None:
    parts = [_cifar(rng, samples) for samples in (3, 2)]
    for number, (content, _, _) in enumerate(parts):
        (tmp_path / str(number)).write_bytes(content)
    images, labels = read_cifar10(tmp_path / "0", tmp_path / "1")
    np.testing.assert_array_equal(images, np.concatenate([images for _, images, _ in parts]))
    np.testing.assert_array_equal(labels, np.concatenate([labels for _, _, labels in parts]))
    (tmp_path / "1").write_bytes(parts[1][0][:-1])
    with pytest.raises(ValueError, match=r"read_cifar10: file must have a multiple of 3073 bytes"):
        read_cifar10(tmp_path / "1")


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_mapped(order: Any, tmp_path: Path) -> None:
    first = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    np.save(tmp_path / "a.npy", first)
    # Archives have several members, and their names have different lengths.
    np.savez(tmp_path / "a.npz", first=first, x=np.arange(5, dtype=np.uint8), empty=np.ones((0, 2)))
    single = read_arrays(tmp_path / "a.npy")
    several = read_arrays(tmp_path / "a.npz")
    for found in (single, several["first"]):
        assert isinstance(found, np.memmap)
        assert not found.flags.writeable
        np.testing.assert_array_equal(found, first)
    np.testing.assert_array_equal(several["x"], np.arange(5))
    assert several["empty"].shape == (0, 2)


def test_compressed_arrays_are_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.arange(5))
    np.testing.assert_array_equal(read_arrays(tmp_path / "a.npz")["x"], np.arange(5))


_NOT_ARRAYS = r"^read_arrays: file must hold arrays of numbers, as a whole .npy or .npz, got path="


@pytest.mark.parametrize("save", [np.save, np.savez, np.savez_compressed])
def test_objects_are_never_unpickled(save: Any, tmp_path: Path) -> None:
    path = tmp_path / ("a.npy" if save is np.save else "a.npz")
    save(path, np.array([print], object))
    with pytest.raises(
        ValueError,
        match=_NOT_ARRAYS,
    ):
        read_arrays(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x93NUMPY", b"text"])
def test_arrays_that_are_damaged(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(
        ValueError,
        match=_NOT_ARRAYS,
    ):
        read_arrays(tmp_path / "a.npz")


def _csv(tmp_path: Path, text: str, **options: Any) -> Any:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    return read_csv(tmp_path / "a.csv", **options)


def test_csv_with_names_and_words(tmp_path: Path) -> None:
    text = 'length,width,"name"\n1,2.5,cat\n\n3e1, 4 ,ant\n5,6,cat\n'
    x, y = _csv(tmp_path, text)
    np.testing.assert_array_equal(x, np.array([[1, 2.5], [30, 4], [5, 6]], np.float32))
    assert x.dtype == np.float32
    assert y.tolist() == [1, 0, 1]
    x, y = _csv(tmp_path, "y;x\n0.5;1\n1.0;2\n", target="y", delimiter=";")
    assert (x.tolist(), y.tolist(), y.dtype) == ([[1.0], [2.0]], [0.5, 1.0], np.float32)


def test_csv_with_quotes(tmp_path: Path) -> None:
    x, y = _csv(tmp_path, '"a, long",b,y\r\n"1" ,2,"cat, big"\r\n3,4,"an ""ant"""')
    assert (x.tolist(), y.tolist()) == ([[1.0, 2.0], [3.0, 4.0]], [1, 0])
    assert csv_classes(tmp_path / "a.csv") == ['an "ant"', "cat, big"]
    assert _csv(tmp_path, "1\n2\n", target=None).tolist() == [[1.0], [2.0]]


def test_csv_without_names(tmp_path: Path) -> None:
    x, y = _csv(tmp_path, "1,2,0\n3,4,1\n")
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert (y.tolist(), y.dtype) == ([0, 1], np.int64)
    assert _csv(tmp_path, "1,2\n", target=None).tolist() == [[1.0, 2.0]]
    assert _csv(tmp_path, "1,2,cat\n", target=2)[1].tolist() == [0]


@pytest.mark.parametrize(
    ("text", "options", "names", "targets"),
    [
        ("0,1,2,3,y\n5,6,7,8,1\n5,6,7,8,0\n", {}, True, [1, 0]),
        ("0,1,2,3,y\n5,6,7,8,b\n5,6,7,8,a\n", {}, True, [1, 0]),
        ("7,8,y\n5,6,1.5\n5,6,2\n", {}, True, [1.5, 2.0]),
        ("5,6,b\n5,6,a\n5,6,b\n", {}, False, [1, 0, 1]),
        ("y,1,2\n3,1,2\n4,1,2\n", {"target": 0}, True, [3, 4]),
        ("b,1,2\na,1,2\nb,1,2\n", {"target": 0}, False, [1, 0, 1]),
        ("y,5,6\na,1,2\nb,1,2\n", {"target": "y"}, True, [0, 1]),
        ("5,6,b\n5,6,a\n", {"header": False}, False, [1, 0]),
        ("5,6,b\n5,6,a\n", {"header": True}, True, [0]),
        ("0,1,2\n3,4,5\n", {"header": False}, False, [2, 5]),
        ("0,1,2\n3,4,5\n", {"header": True}, True, [5]),
        ("0,1\n1,0\n", {"header": False}, False, [1, 0]),
        ("5,,7\n5,6,1\n", {}, False, [7, 1]),
        (",a,y\n0,5,1\n1,6,0\n", {}, True, [1, 0]),
        ("Unnamed: 0,a,y\n0,5,1\n1,6,0\n", {}, True, [1, 0]),
        ('"","a","y"\n"1",5,1\n"2",6,0\n', {}, True, [1, 0]),
        ("a;b;y\n1,5;2;0\n", {}, True, [0]),
        ("country,2019,2020,y\n1,2,3,4\n", {}, True, [4]),
        ("\ufeff1,2,0\n3,4,1\n", {}, False, [0, 1]),
        ("1,2,9007199254740993\n", {}, False, [9007199254740993]),
        ("1,2,1.0\n1,2,inf\n", {}, False, [1.0, float("inf")]),
    ],
)
def test_whether_the_first_line_is_names(
    text: str, options: dict[str, Any], names: bool, targets: list[Any], tmp_path: Path
) -> None:
    x, y = _csv(tmp_path, text, **options)
    assert len(x) == text.count("\n") - names
    assert y.tolist() == targets
    words = csv_classes(tmp_path / "a.csv", **{"target": -1, **options})
    below = text.splitlines()[names:]
    assert words is None or words == sorted({word for word in "ab" if word in "".join(below)})


UNCLEAR = (
    "whether the first line is names or data must be clear (header=True or False says it), "
    "got source='a.csv', line=1, cells="
)
MIXED = "targets must all be numbers, or all be words, none missing, got source='a.csv', "


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", {}, "file must have at least one line, got source='a.csv'"),
        (
            "a,b\n1,2\n1\n",
            {},
            "a line must have as many cells as the first, 2, got source='a.csv', line=3, cells=1",
        ),
        (
            "a,b\nx,2\n",
            {},
            "cells must be numbers, got source='a.csv', line=2, column='a', cell='x'",
        ),
        (
            "5,b\nx,2\n",
            {"header": False},
            "cells must be numbers, got source='a.csv', line=2, column='column 0', cell='x'",
        ),
        (
            "a,b\n1_0,2\n",
            {},
            "cells must be numbers, got source='a.csv', line=2, column='a', cell='1_0'",
        ),
        ("a,b\n1,2\n", {"target": "c"}, "target must be one of ['a', 'b'], got target='c'"),
        ("1,2\n", {"target": 2}, "target must be one of 2 columns, got target=2"),
        ("1,2\n", {"target": 0.5}, "target must be the name or number of a column, got target=0.5"),
        (
            "a,b\n",
            {"target": "b", "header": False},
            "target must be the number of a column where there are no names, got target='b'",
        ),
        ("1,2\n", {"header": "yes"}, "header must be True, False or 'auto', got header='yes'"),
        (
            "1,2\n",
            {"delimiter": ", "},
            "delimiter must be one character, or None, got delimiter=', '",
        ),
        ("5,6,b\n5,6,a\n5,6,a\n", {}, f"""{UNCLEAR}'["5", "6", "b"]'"""),
        ("0,1,2\n5,6,1\n", {}, f"""{UNCLEAR}'["0", "1", "2"]'"""),
        ("0,1\n1,0\n", {}, f"""{UNCLEAR}'["0", "1"]'"""),
        ("0,1\n5.5,6\n", {"target": None}, f"""{UNCLEAR}'["0", "1"]'"""),
        ("1,2,3\n0.5,2.5,0\n1.5,3.5,1\n", {}, f"""{UNCLEAR}'["1", "2", "3"]'"""),
        ('"1","2","3"\n0.5,2.5,0\n', {}, f"""{UNCLEAR}'["1", "2", "3"]'"""),
        (
            'a,b,y\n1,2,"0\n3,4,1\n',
            {},
            "a quoted cell must be closed, got source='a.csv', line=2",
        ),
        (
            'a,b,y\n1,2,0\n3,4,"1',
            {},
            "a quoted cell must be closed, got source='a.csv', line=3",
        ),
        (
            'a,b,y\n1,2,"0\n3,4,1",5\n',
            {},
            "a line must have as many cells as the first, 3, got source='a.csv', line=2, cells=4",
        ),
        (
            'a,b,y\n\n1,2,"0\n' + "3,4,1\n" * 30_000,
            {},
            "a quoted cell must be closed, got source='a.csv', line=3",
        ),
        (
            "a,y,y\n1,0,1\n2,1,0\n",
            {"target": "y"},
            "names of columns must differ, got source='a.csv', line=1, name='y', columns=[1, 2]",
        ),
        (
            "a;b;y\n1.5;2;0\n",
            {"delimiter": ","},
            'delimiter must be that of the file (";" splits every line into 3), '
            "got source='a.csv', delimiter=','",
        ),
        (
            "a\tb\n1\t2\n",
            {"delimiter": ","},
            'delimiter must be that of the file ("\\t" splits every line into 2), '
            "got source='a.csv', delimiter=','",
        ),
        (
            "a,b;c,d\n1,2;3,x\n5,6;7,y\n",
            {},
            'what stands between cells must be clear, not "," or ";" (delimiter= says it), got source=',
        ),
        (
            "a,b,y\n1,2,0\n",
            {"delimiter": ";"},
            'delimiter must be that of the file ("," splits every line into 3), '
            "got source='a.csv', delimiter=';'",
        ),
        ("a,y\n1,2.5\n1,\n", {}, f"{MIXED}line=3, column='y'"),
        ("a,y\n1,2\n1,n/a\n", {}, f"{MIXED}line=3, column='y'"),
        ("a,y\n1,2\n1,cat\n", {}, f"{MIXED}line=3, column='y', cell='cat'"),
        ("a,y\n1,cat\n1,\n", {}, f"{MIXED}line=3, column='y'"),
        (
            "a,y\n" + "1" * 200_000 + ",1\n",
            {},
            "a cell must have at most 131072 characters, got source='a.csv', line=2",
        ),
    ],
)  # fmt: skip
def test_csv_errors(text: str, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError)) as raised:
        _csv(tmp_path, text, **options)
    assert str(raised.value).replace(f"{tmp_path}/", "").startswith(f"read_csv: {message}")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_found(delimiter: str, tmp_path: Path) -> None:
    x, y = _csv(tmp_path, "a,b,y\n1,2,0\n3,4,1\n".replace(",", delimiter))
    assert (x.tolist(), y.tolist()) == ([[1, 2], [3, 4]], [0, 1])


def test_image_folder(tmp_path: Path, rng: np.random.Generator) -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = rng.integers(0, 256, (4, 6, 5, 3), np.uint8)
    for number, (folder, picture) in enumerate(zip("bbac", pixels, strict=True)):
        (tmp_path / folder).mkdir(exist_ok=True)
        image.fromarray(picture).save(tmp_path / folder / f"{number}.png")
    (tmp_path / "a" / "notes.txt").write_text("no picture")
    (tmp_path / ".hidden").mkdir()
    dataset = ImageFolder(tmp_path)
    assert dataset.classes == ["a", "b", "c"]
    x, y = next(iter(DataLoader(dataset, 4, workers=2)))
    assert y.tolist() == [0, 1, 1, 2]
    np.testing.assert_array_equal(x.numpy(), np.moveaxis(pixels[[2, 0, 1, 3]], -1, 1))
    assert ImageFolder(tmp_path, size=(3, 4), mode="L")[0][0].shape == (1, 3, 4)
    (tmp_path / "c" / "z.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=r"^ImageFolder: file must be a picture"):
        ImageFolder(tmp_path)[4]


def test_image_folder_without_images(tmp_path: Path) -> None:
    text = f"root must have folders of images, one for each class, got root={str(tmp_path)!r}"
    with pytest.raises(ValueError, match=f"^ImageFolder: {re.escape(text)}$"):
        ImageFolder(tmp_path)


def test_digits_are_shipped() -> None:
    train, test = digits()
    for dataset, samples in ((train, 1442), (test, 355)):
        images, labels = dataset.arrays
        assert images.shape == (samples, 1, 8, 8)
        assert abs(np.bincount(labels, minlength=10) - samples / 10).max() < 5
    joined = np.concatenate([train.arrays[0], test.arrays[0]]).reshape(1797, -1)
    # Of the images that scikit-learn has, in a certain order.
    digest = hashlib.sha256(b"".join(sorted(map(bytes, joined)))).hexdigest()
    assert digest[:16] == "d34fb8ecae8dd764"


def _mnist_files(folder: Path, pack: Any, suffix: str) -> None:
    folder.mkdir(parents=True)
    for part, samples in (("train", 5), ("t10k", 2)):
        images = np.full((samples, 28, 28), samples, np.uint8)
        for name, array in (("images-idx3", images), ("labels-idx1", images[:, 0, 0])):
            (folder / f"{part}-{name}-ubyte{suffix}").write_bytes(pack(_idx(array)))


@pytest.mark.parametrize(("load", "folder"), [(mnist, "mnist"), (fashion_mnist, "fashion-mnist")])
@pytest.mark.parametrize("place", ["system", "cache", "root", "root/inside"])
@pytest.mark.parametrize(("pack", "suffix"), [(bytes, ""), (gzip.compress, ".gz")])
def test_mnist_is_found(
    load: Any, folder: str, place: str, pack: Any, suffix: str, nowhere: Path
) -> None:
    root = nowhere / "root" if place.startswith("root") else None
    target = nowhere / "root" if place == "root" else nowhere / place.split("/")[0] / folder
    _mnist_files(target, pack, suffix)
    train, test = load(root)
    assert train.arrays[0].shape == (5, 1, 28, 28)
    assert test.arrays[1].tolist() == [2, 2]


@pytest.mark.parametrize(
    ("load", "folder", "names"),
    [
        (mnist, "mnist", standard._IDX_NAMES),
        (fashion_mnist, "fashion-mnist", standard._IDX_NAMES),
        (cifar10, "cifar-10-batches-bin", ["cifar-10-binary.tar.gz"]),
    ],
)
def test_without_network_the_error_says_what_to_put_where(
    load: Any, folder: str, names: list[str], nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError("no route")

    monkeypatch.setattr(urllib.request, "urlopen", refuse)
    with pytest.raises(FileNotFoundError) as caught:
        load()
    text = str(caught.value)
    assert text.startswith(
        f"{folder}: the files are not here and could not be downloaded (no route); "
        f"put these into {nowhere / 'cache' / folder}:\n"
    )
    assert all(name in text for name in names)


def test_downloads_are_checked(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    """A tar of six small batches stands for CIFAR-10's archive."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name in standard._CIFAR_NAMES:
            content, _, _ = _cifar(rng, 2)
            entry = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    sent = archive.getvalue()
    asked = []

    def answer(url: str, timeout: float) -> Any:
        asked.append(url)
        return io.BytesIO(sent)

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    with pytest.raises(OSError, match="is not the file that was expected"):
        cifar10()
    assert not list((nowhere / "cache").rglob("*.*"))
    right = standard._CIFAR_ARCHIVE._replace(digest=hashlib.sha256(sent).hexdigest())
    monkeypatch.setattr(standard, "_CIFAR_ARCHIVE", right)
    train, test = cifar10()
    assert (len(train), len(test)) == (10, 2)
    assert asked == [right.url] * 2
    assert len(cifar10()[0]) == 10  # from the cache
    assert asked == [right.url] * 2


def test_classes_of_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,kind\n1, b\n2,a\n3,b\n")
    assert csv_classes(path) == csv_classes(path, "kind") == ["a", "b"]
    assert read_csv(path)[1].tolist() == [1, 0, 1]
    assert csv_classes(path, "x") is None
