"""``extensor pack`` and ``ex.data.pack``: shards of pictures, tables and texts, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import COMMAND, ENVIRONMENT, extensor

from extensor.data import (
    DataLoader,
    ImageFolder,
    ShardedDataset,
    TableEncoder,
    TextWindows,
    Vocabulary,
    pack,
    read_table,
)
from extensor.data.packing import shard_writer
from extensor.errors.messages import COLUMN_NOT_FOUND, known, meant
from extensor.random import Generator

TEXT = "Call me Ishmael.\r\nSome years ago — never mind how long precisely —\n" * 40


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_pictures(sizes: list[tuple[int, int]] | None = None) -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    for number in range(12):
        name = Path("pictures") / ("cat", "dog", "emu")[number % 3] / f"{number}.png"
        name.parent.mkdir(parents=True, exist_ok=True)
        height, width = (6, 5) if sizes is None else sizes[number % len(sizes)]
        pixels = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
        image.fromarray(pixels).save(name.with_suffix(".jpg" if number == 4 else ".png"))


def by_content(x: Any, y: Any) -> list[tuple[bytes, int]]:
    return sorted(
        (np.asarray(image).tobytes(), int(label)) for image, label in zip(x, y, strict=True)
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"form": "npy"}, {"size": (4, 3)}, {"size": 4, "mode": "L"}, {"size": 4, "form": "npy"}],
    ids=str,
)
def test_pictures(options: dict[str, Any]) -> None:
    """Each picture once, as ImageFolder decodes it, whether it is resized now or was before."""
    write_pictures()
    packed = pack("pictures", "packed", shard_size=300, **options)
    reading = {key: value for key, value in options.items() if key == "mode"}
    source = ImageFolder("pictures", options.get("size"), **reading)
    as_packed = reading if options.get("form") != "npy" else {}
    dataset = ShardedDataset("packed", verify=True, **as_packed)
    assert (packed.kind, packed.samples, len(dataset)) == ("pictures", 12, 12)
    assert packed.shards == len(dataset.paths) > 1
    assert dataset.classes == ["cat", "dog", "emu"]
    x, y = dataset.batch(slice(None))
    expected = [source[i] for i in range(12)]
    assert by_content(x, y) == by_content(*zip(*expected, strict=True))
    assert y.tolist() != sorted(y.tolist())  # blocks should have all classes


def test_pictures_of_different_sizes() -> None:
    write_pictures([(6, 5), (4, 4)])
    pack("pictures", "packed")
    assert json.loads(Path("packed/index.json").read_text())["parts"][0]["shape"] is None
    x, y = ShardedDataset("packed", size=8).batch(slice(None))
    source = ImageFolder("pictures", 8)
    assert by_content(x, y) == by_content(*zip(*[source[i] for i in range(12)], strict=True))
    text = "pack: pictures must have the shape of the first, "
    with pytest.raises(ValueError, match=re.escape(text)):
        pack("pictures", "arrays", form="npy")
    assert not Path("arrays").exists()


def test_tar_shards_are_those_of_other_tools() -> None:
    write_pictures()
    pack("pictures", "packed", shard_size=1000)
    keys = []
    for path in sorted(Path("packed").glob("*.tar")):
        with tarfile.open(path) as file:
            for member in file:
                content = file.extractfile(member)
                assert content is not None
                keys.append((member.name, content.read()))
    assert [name for name, _ in keys[:2]] == ["00.png", "00.cls"]
    assert {name.partition(".")[2] for name, _ in keys} == {"png", "jpg", "cls"}
    files = {path.read_bytes() for path in Path("pictures").rglob("*.*")}
    assert {content for name, content in keys if not name.endswith("cls")} == files


def test_the_order_of_pictures_is_the_seed() -> None:
    write_pictures()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        pack("pictures", name, seed=seed)
    digests = [
        hashlib.sha256((Path(name) / "shard-00000.tar").read_bytes()).hexdigest() for name in "abc"
    ]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("target", "cell"),
    [
        (None, "{:.0f}"),
        (None, "{}.5"),
        (0, "{:.0f}"),
        ("b", "{}"),
        (None, "w{}"),
        (["b", "c"], "{}"),
    ],
)
def test_tables(target: Any, cell: str) -> None:
    """As training reads and encodes them, in the order of the file."""
    rng = np.random.default_rng(1)
    lines = ["a,b,c"]
    for number in range(50):
        a, b = rng.normal(size=2).round(4)
        lines.append(f"{number % 7 if target == 0 else a},{b}, {cell.format(number % 4)}")
    Path("table.csv").write_text("\n".join(["", *lines, ""]))
    packed = pack("table.csv", "packed", shard_size=160, target=target)
    assert packed.shards > 3
    dataset = ShardedDataset("packed", verify=True)
    x, y = dataset.batch(slice(None))
    names = ["a", "b", "c"]
    targets = [names[target]] if isinstance(target, int) else target or ["c"]
    targets = [targets] if isinstance(targets, str) else targets
    table = read_table("table.csv")
    encoder = TableEncoder.fit(table.without(*targets))
    np.testing.assert_array_equal(x, encoder.encode(table.without(*targets)))
    assert dataset.encoding is not None
    assert dataset.encoding.encoder.state_dict() == encoder.state_dict()
    assert dataset.columns == [*encoder.features, *targets]
    if cell == "w{}":
        assert dataset.classes == ["w0", "w1", "w2", "w3"]
        assert (y.dtype, y[:5].tolist()) == (np.int64, [0, 1, 2, 3, 0])
    else:
        expected = np.stack([table[name].numbers() for name in targets], axis=1)
        np.testing.assert_array_equal(y.reshape(50, -1), expected)
        whole = all(table[name].is_whole for name in targets)
        assert (y.dtype, dataset.classes) == (np.int64 if whole else np.float64, None)


def test_tables_without_names() -> None:
    Path("table.tsv").write_text("1\t2\tx\n3\t4\tx\n5\t6\ty\n7\t9\ty\n")
    packed = pack("table.tsv", "packed", kinds={"column 0": "drop"})
    x, y = ShardedDataset("packed").batch(slice(None))
    np.testing.assert_allclose(x.mean(), 0, atol=1e-6)
    assert (x.shape, y.tolist()) == ((4, 1), [0, 0, 1, 1])
    assert "  column 0: left out, as asked" in packed.lines


def test_tables_as_training_takes_them() -> None:
    """Words, dates, gaps, row numbers and semicolons: nothing is packed that training leaves out."""
    rows = ";size;city;day;plant\n" + "".join(
        f"{i};{'' if i % 5 == 0 else f'{i % 9},5'};{'NA' if i % 7 == 0 else 'Ulm' if i % 2 else 'Bonn'};"
        f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024;{'' if i == 4 else 'ash' if i % 3 else 'birch'}\n"
        for i in range(60)
    )
    Path("t.csv").write_text(rows)
    packed = pack("t.csv", "packed", shard_size=300)
    assert packed.samples == 59
    assert packed.lines[:5] == (
        "encoding utf-8, delimiter ';', decimal comma, names in the first line",
        "the first column has no name and numbers the rows: it is left out",
        "cells that are 'NA' are missing",
        "target 'plant', the last column",
        "1 row without a target is left out, the first in line 6",
    )
    dataset = ShardedDataset("packed")
    table = read_table("t.csv").rows(np.delete(np.arange(60), 4))
    encoder = TableEncoder.fit(table.without("plant"))
    x, y = dataset.batch(slice(None))
    np.testing.assert_array_equal(x, encoder.encode(table))
    assert dataset.classes == ["ash", "birch"]
    assert [dataset.classes[i] for i in y] == table["plant"].words().tolist()


@pytest.mark.parametrize("name", ["t.parquet", "t.csv.gz"])
def test_tables_of_other_kinds(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"a": np.arange(9) % 4, "w": list("xyzxyzxyz"), "y": list("pqpqpqpqp")}
    )
    frame.to_parquet(name) if name == "t.parquet" else frame.to_csv(name, index=False)
    pack(name, "packed")
    x, y = ShardedDataset("packed").batch(slice(None))
    assert (x.shape, y.tolist()) == ((9, 5), [0, 1, 0, 1, 0, 1, 0, 1, 0])


def test_chunks_are_packed_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.6f},{rng.choice(['u', 'v', 'w'])},{i % 3}" for i in range(300)]
    Path("t.csv").write_text("a,w,y\n" + "\n".join(lines))
    pack("t.csv", "whole", shard_size=900)
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", 100)
    pack("t.csv", "chunked", shard_size=900)
    for path in Path("whole").iterdir():
        assert path.read_bytes() == (Path("chunked") / path.name).read_bytes()


def test_a_table_need_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def peak(size: int) -> int:
        monkeypatch.setattr("extensor.data.table.text_file.SIZE", size)
        monkeypatch.setattr("extensor.data.table.text_file._BLOCK", 4096)
        tracemalloc.start()
        pack("t.csv", f"packed-{size}")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    words = ["ash", "birch", "cedar"]
    lines = [f"{i * 7919 % 9973}.5,{words[i % 3]},{i % 5}" for i in range(10_000)]
    Path("t.csv").write_text("a,w,y\n" + "\n".join(lines))
    whole = peak(10**9)  # first, so that what is imported does not count for the other
    assert peak(4000) < whole / 4


def test_a_table_is_packed_like_another() -> None:
    Path("a.csv").write_text("a;w;y\n1;u;p\n2;v;q\n4;u;p\n,5;v;q\n")
    Path("b.csv").write_text("y;w;a\nq;new;1,5\n")
    pack("a.csv", "first")
    pack("b.csv", "second", like="first")
    pack("b.csv", "bare", like="first", with_target=False)
    first, second = ShardedDataset("first"), ShardedDataset("second")
    assert first.encoding is not None
    expected = first.encoding.encoder.encode(read_table("b.csv", decimal=","))
    np.testing.assert_array_equal(second.batch(slice(None))[0], expected)
    np.testing.assert_array_equal(ShardedDataset("bare").batch(slice(None))[0], expected)
    assert second.classes == ["q"]
    text = COLUMN_NOT_FOUND.text(known("a", "w"), column="y", source="c.csv")
    Path("c.csv").write_text("a;w\n1;u\n2;u\n")
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        pack("c.csv", "third", like="first")
    for options, words in (
        ({"target": "a"}, "like defines the columns and targets"),
        ({"kinds": {"a": "drop"}}, "like defines the columns and targets"),
    ):
        with pytest.raises(ValueError, match=words):
            pack("b.csv", "third", like="first", **options)
    with pytest.raises(
        ValueError, match=r"like must be a folder of shards of a table, got like='\.'"
    ):
        pack("b.csv", "third", like=".")


TABLES: dict[str, tuple[str, dict[str, Any], str]] = {
    "short line": (
        "a,b,y\n1,2\n3,4,5\n6,7,8\n",
        {},
        "read_table: a line must have as many cells as the first, 3, got source='t.csv', line=2, "
        "cells=2",
    ),
    "no targets": (
        "a,b,y\n1,2,\n3,4,\n",
        {"header": True},
        "pack: file must have rows with targets, got source='t.csv'",
    ),
    "target beyond floats": (
        "a,b,y\n1,2,3.5\n2,2,1e999\n",
        {},
        "pack: targets must be finite numbers, got source='t.csv', line=3, target='y', cell='inf'",
    ),
    "target of dates": (
        "a,b\n1,2024-01-01\n2,2024-01-02\n",
        {},
        "pack: the target must be a column of numbers or words, not of dates, got source='t.csv', "
        "target='b'",
    ),
    "several of words": (
        "a,b,c\n1,x,2\n2,y,3\n3,x,4\n",
        {"target": ["b", "c"]},
        "pack: several targets must be columns of numbers, or of True and False, got "
        "source='t.csv', line=2, target='b', cell='x'",
    ),
    "nothing to learn from": (
        "a,b,y\n1,2,3\n1,2,4\n",
        {},
        "fit: table must have a column to learn from, got source='t.csv', dropped="
        "{'a': \"constant: '1' in every row\", 'b': \"constant: '2' in every row\"}",
    ),
    "no such column": (
        "ab,b\n1,2\n",
        {"target": "abc"},
        COLUMN_NOT_FOUND.text(meant("ab"), column="abc", source="t.csv"),
    ),
    "no such number": (
        "a,b\n1,2\n",
        {"target": 2},
        "pack: the number of a column must be one of 2, got source='t.csv', column=2",
    ),
    "no kind": (
        "a,b\n1,2\n3,4\n",
        {"kinds": {"c": "drop"}},
        "fit: kinds must name columns of the table (known: a), got name='c'",
    ),
    "no target and one": (
        "a,b\n1,2\n",
        {"target": "a", "with_target": False},
        "pack: target must be None if there is none, got target='a'",
    ),
    "open quote": (
        'a,b\n1,"2\n3,4\n',
        {},
        "read_table: a quoted cell must be closed, got source='t.csv', line=2",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_are_refused(name: str, folder: Path) -> None:
    content, options, text = TABLES[name]
    Path("t.csv").write_text(content)
    with pytest.raises((ValueError, TypeError)) as caught:
        pack("t.csv", "packed", **options)
    assert str(caught.value) == text
    assert [path.name for path in folder.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("tokens", ["character", "byte"])
def test_texts(tokens: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.data.packing._CHARACTERS", 17)
    Path("text.txt").write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    packed = pack("text.txt", "packed", shard_size=1000, tokens=tokens)
    plain = TEXT.replace("\r\n", "\n")
    vocabulary = Vocabulary.of(plain, tokens)
    expected = vocabulary.encode(plain)
    assert (packed.kind, packed.samples, packed.size) == ("text", len(expected), packed.size)
    rows = [np.load(path) for path in sorted(Path("packed").glob("*.npy"))]
    assert {row.dtype for row in rows} == {np.dtype(np.uint8)}
    assert max(map(len, rows)) - min(map(len, rows)) <= 1
    np.testing.assert_array_equal(np.concatenate(rows), expected)
    dataset = ShardedDataset("packed", context=12)
    assert dataset.vocabulary == vocabulary
    windows = [TextWindows(row, 12).batch(slice(None))[1] for row in rows]
    np.testing.assert_array_equal(dataset.batch(slice(None))[1], np.concatenate(windows))
    text = "ShardedDataset: context must be given for shards of tokens, the length of a sample"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        ShardedDataset("packed")


def test_many_characters_take_two_bytes() -> None:
    Path("text.txt").write_text("".join(chr(0x4E00 + i) for i in range(400)))
    pack("text.txt", "packed")
    assert np.load("packed/shard-00000.tokens.npy").dtype == np.uint16


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "file must not be empty"),
        (b"abc\xff", "file must be text in UTF-8"),
        (b"a\0b", "file must be text, without bytes of 0"),
        ("abc".encode("utf-16"), "file must be text in UTF-8, not in UTF-16"),
    ],
)
def test_texts_that_are_refused(content: bytes, text: str, folder: Path) -> None:
    Path("t.txt").write_bytes(content)
    with pytest.raises(ValueError, match=f"^{re.escape(f'pack: {text}')}, got path='t.txt'$"):
        pack("t.txt", "packed")
    assert [path.name for path in folder.iterdir()] == ["t.txt"]


def test_the_index_says_what_is_there() -> None:
    write_pictures()
    pack("pictures", "packed", form="npy", shard_size=500)
    index = json.loads(Path("packed/index.json").read_text())
    assert [part["dtype"] for part in index["parts"]] == ["uint8", "int64"]
    assert sum(shard["samples"] for shard in index["shards"]) == 12
    listed = {file["name"]: file for shard in index["shards"] for file in shard["files"]}
    assert {path.name for path in Path("packed").glob("*.npy")} == set(listed)
    for name, file in listed.items():
        content = (Path("packed") / name).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (
            file["bytes"],
            file["sha256"],
        )


def test_a_folder_that_is_there_is_refused(folder: Path) -> None:
    Path("t.txt").write_text("text")
    Path("packed").mkdir()
    with pytest.raises(ValueError, match=r"^pack: folder must be new, got folder='packed'$"):
        pack("t.txt", "packed")
    text = "pack: the parent folder must exist, got folder='no/packed'"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        pack("t.txt", "no/packed")
    with pytest.raises(ValueError, match=r"^pack: source must exist, got source='nothing'$"):
        pack("nothing", "new")
    assert {path.name for path in folder.iterdir()} == {"t.txt", "packed"}
    assert not list(Path("packed").iterdir())
    os.mkfifo("pipe.csv")
    text = "pack: source must be a file or a folder, not a pipe or a device, got source='pipe.csv'"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        pack("pipe.csv", "new")


def test_what_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    Path("t.txt").write_text(TEXT)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        OSError, match=r"pack: could not write .* \(No space left on device\); noth"
    ):
        pack("t.txt", "packed")
    assert [path.name for path in folder.iterdir()] == ["t.txt"]
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(shard_writer.NewFile, "close", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        pack("t.txt", "packed")
    assert [path.name for path in folder.iterdir()] == ["t.txt"]


def _interrupted(self: Any) -> Any:
    raise KeyboardInterrupt


def test_a_damaged_picture_is_named() -> None:
    write_pictures()
    Path("pictures/dog/1.png").write_bytes(b"no picture")
    for form in ("tar", "npy"):
        text = "pack: file must be a picture (it has no format that Pillow knows), got path="
        with pytest.raises(ValueError, match=f"^{re.escape(text)}'pictures/dog/1.png'$"):
            pack("pictures", "packed", form=form, size=4)
        assert not Path("packed").exists()


def test_the_command() -> None:
    write_pictures()
    result = extensor("pack", "pictures", "packed", "--size", "4x3", "--shard-size", "0.5K")
    assert result.code == 0, result.err
    assert re.fullmatch(r"12 pictures in \d+ shards, [\d.]+ KB, in packed\n", result.out)
    assert ShardedDataset("packed").parts[0].shape == (3, 4, 3)
    assert re.fullmatch(
        r"\d+ shards, [\d.]+ KB: as packed\n", extensor("pack", "--verify", "packed").out
    )
    Path("t.csv").write_text("a;y;b;c\n1;x;2;u\n3;x;4;v\n")
    result = extensor(
        "pack", "t.csv", "table", "--target", "y", "--column", "b=category", "--drop", "c"
    )
    assert result.out == (
        "encoding utf-8, delimiter ';', decimal point, names in the first line\n"
        "  a: number, 1 to 3; standardized\n"
        "  b: category, 2 values (2, 4); one-hot\n"
        "  c: left out, as asked\n"
        "2 rows in 1 shard, 304 bytes, in table\n"
    )
    np.testing.assert_array_equal(ShardedDataset("table")[1][0], [1, 0, 1, 0])
    result = extensor("pack", "t.csv", "more", "--like", "table")
    assert result.code == 0, result.err
    Path("t.txt").write_text(TEXT)
    assert extensor("pack", "t.txt", "text", "--tokens", "byte").code == 0
    loader = DataLoader(ShardedDataset("text", context=8), 16, shuffle=True, generator=Generator(0))
    assert next(iter(loader))[0].shape == (16, 8)


def test_the_command_names_all_damage() -> None:
    Path("t.txt").write_text(TEXT)
    extensor("pack", "t.txt", "packed", "--shard-size", "500")
    first, second, third = sorted(Path("packed").glob("*.npy"))[:3]
    content = bytearray(first.read_bytes())
    content[-1] ^= 1
    first.write_bytes(content)
    second.unlink()
    os.truncate(third, 150)
    result = extensor("pack", "--verify", "packed")
    assert result.code == 2
    lines = result.err.removeprefix("extensor pack: ").splitlines()
    assert lines[0] == (
        f"ShardedDataset: shard must be as it was packed (its digest differs), got path={str(first)!r}"
    )
    assert lines[1] == f"ShardedDataset: could not read {second} (No such file or directory)"
    assert lines[2].endswith(f"as its index says, got path={str(third)!r}, bytes=150")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("t.txt",), "pack: a folder for the shards must be given, got folder=None"),
        (("--verify", "a", "b"), "--verify: one folder must be given, got folder='b'"),
        (("--verify", "a"), "verify: folder must be one of shards, got folder='a'"),
        (
            ("t.txt", "a", "--shard-size", "much"),
            "--shard-size: size must be a number of bytes, as 64M or 1G, got size='much'",
        ),
        (
            ("t.txt", "a", "--size", "4x"),
            "--size: size must be a number, or height x width as 48x64, got size='4x'",
        ),
        (
            ("t.txt", "a", "--mode", "X"),
            "pack: mode must be 'L', 'LA', 'RGB', 'RGBA', 'CMYK', 'YCbCr', 'LAB' or 'HSV', "
            "got mode='X'",
        ),
    ],
)
def test_wrong_commands(arguments: tuple[str, ...], text: str) -> None:
    Path("t.txt").write_text(TEXT)
    result = extensor("pack", *arguments)
    assert (result.code, result.err) == (2, f"extensor pack: {text}\n")
    assert not Path("a").exists()


def test_control_c_leaves_nothing(folder: Path) -> None:
    process = _begun(folder)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said.strip()) == (130, "extensor pack: interrupted")
    assert [path.name for path in folder.iterdir()] == ["book.txt"]


def _begun(folder: Path) -> subprocess.Popen[str]:
    """A command that has begun to write shards."""
    Path("book.txt").write_text(TEXT * 100)
    process = subprocess.Popen(
        [*COMMAND, "pack", "book.txt", "packed", "--shard-size", "100"],
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not list(folder.glob(".packed.*/*.npy")):
        assert process.poll() is None
        time.sleep(0.01)
    return process


def test_sigterm_leaves_nothing(folder: Path) -> None:
    process = _begun(folder)
    process.terminate()
    process.communicate()
    assert process.returncode == 143
    assert [path.name for path in folder.iterdir()] == ["book.txt"]


def test_the_next_pack_removes_what_a_killed_one_left(folder: Path) -> None:
    process = _begun(folder)
    process.kill()
    process.communicate()
    (left,) = folder.glob(".packed.*.partial")
    Path(".other.1.partial").mkdir()  # of somebody else
    Path("t.txt").write_text(TEXT)
    pack("t.txt", "text")
    assert not left.exists()
    assert Path(".other.1.partial").exists()
    assert sorted(path.name for path in Path("text").iterdir()) == [
        "index.json",
        "shard-00000.tokens.npy",
    ]


def test_what_a_living_process_writes_stays(folder: Path) -> None:
    Path("t.txt").write_text(TEXT)
    with shard_writer.new_folder(folder / "slow") as slow:
        pack("t.txt", "text")
        assert slow.path.is_dir()
    assert sorted(path.name for path in folder.iterdir()) == ["slow", "t.txt", "text"]
    assert not list(Path("slow").iterdir())


def test_help() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "extensor_cli", "pack", "--help"],
        env=ENVIRONMENT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "--shard-size" in shown.stdout
