"""Shards that are not whole: named with their path, and left out only if that is asked for."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_streaming_formats import WRITERS, made, png, shards, write_arrow, write_tar

from extensor.data import BlockShuffle, DataLoader, ShardedDataset, pack
from extensor.io import DamagedFileError


def refused(text: str, error: type[Exception] = DamagedFileError) -> Any:
    return pytest.raises(error, match=f"^{re.escape(f'ShardedDataset: {text}')}$")


def _write_pictures(path: Path, arrays: Any) -> None:
    members = []
    for i, row in enumerate(arrays["x"]):
        image = np.clip(row * 50, 0, 255).astype(np.uint8)
        members += [(f"{i}.png", png(image)), (f"{i}.cls", b"1")]
    write_tar(path.with_name(path.name + ".tar"), members)


ALL = {**WRITERS, "tar": _write_pictures}


def _second(folder: Path) -> list[Path]:
    return sorted(folder.glob("shard-1*"))


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size * 2 // 3)


def _cut_short(path: Path) -> None:
    os.truncate(path, 40)


def _overwrite(path: Path) -> None:
    path.write_bytes(b"this is no shard at all, but a text of some length" * 9)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "cut": _cut,
    "cut short": _cut_short,
    "overwritten": _overwrite,
    "without content": _empty,
    "a folder": _replace_by_folder,
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ALL)
def test_damaged_shards_are_named(
    name: str, damage: str, rng: np.random.Generator, tmp_path: Path
) -> None:
    shards(tmp_path, ALL[name], rng, [20, 15, 13])
    target = _second(tmp_path)[0]
    DAMAGES[damage](target)
    with pytest.raises((DamagedFileError, OSError)) as caught:
        ShardedDataset(tmp_path)
    text = caught.value.strerror if isinstance(caught.value, OSError) else str(caught.value)
    assert text is not None
    assert text.startswith("ShardedDataset: ")
    assert str(target) in text
    dataset = ShardedDataset(tmp_path, skip_damaged=True)
    assert len(dataset) == 33
    ((path, why),) = dataset.skipped
    assert path in (target, target.with_name("shard-1"))
    assert why == text


def _flip(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.filterwarnings("ignore:ShardedDataset. verify has nothing to compare")
@pytest.mark.parametrize("name", ALL)
def test_no_byte_that_is_wrong_escapes_in_other_words(
    name: str, rng: np.random.Generator, tmp_path: Path
) -> None:
    """Whatever byte is changed: the shard is read, or refused in our words; nothing else happens."""
    shards(tmp_path, ALL[name], rng, [6, 6, 6])
    target = _second(tmp_path)[0]
    good = target.read_bytes()
    places = np.unique(np.linspace(0, len(good) - 1, 60).astype(int)).tolist()
    refusals = {}
    for place in places:
        target.write_bytes(good)
        _flip(target, place)
        try:
            dataset = ShardedDataset(tmp_path, verify=True)
            dataset.batch(slice(None))
        except (ValueError, OSError) as error:
            refusals[place] = str(error.strerror if isinstance(error, OSError) else error)
    assert refusals
    assert {p: x for p, x in refusals.items() if not x.startswith("ShardedDataset: ")} == {}


def test_missing_files(rng: np.random.Generator, tmp_path: Path) -> None:
    shards(tmp_path, WRITERS["npz"], rng, [4, 4])
    missing = tmp_path / "shard-9.npz"
    paths = [tmp_path / "shard-0.npz", missing]
    text = f"ShardedDataset: could not read {missing} (No such file or directory)"
    with pytest.raises(OSError, match=re.escape(text)):
        ShardedDataset(paths)
    dataset = ShardedDataset(paths, skip_damaged=True)
    assert (len(dataset), dataset.skipped) == (4, [(missing, text)])
    with refused(f"at least one shard must be whole, got skipped={[text]!r}", ValueError):
        ShardedDataset([missing], skip_damaged=True)


def test_shards_that_differ(tmp_path: Path) -> None:
    def write(name: str, x: Any) -> None:
        np.savez(tmp_path / name, x=x, y=np.zeros(len(x), np.int64))

    write("a.npz", np.zeros((3, 2), np.float32))
    write("b.npz", np.zeros((3, 2), np.float64))
    write("c.npz", np.zeros((3, 2), np.float32))
    usual = "x float32[2], y int64[]"
    text = (
        f"shards must have the same parts, in most {usual}, got "
        f"path={str(tmp_path / 'b.npz')!r}, parts='x float64[2], y int64[]'"
    )
    with refused(text):
        ShardedDataset(tmp_path)
    write("b.npz", np.zeros((3, 4), np.float32))
    with refused(text.replace("float64[2]", "float32[4]")):
        ShardedDataset(tmp_path)
    dataset = ShardedDataset(tmp_path, skip_damaged=True)
    assert (len(dataset), [path.name for path, _ in dataset.skipped]) == (6, ["b.npz"])
    # Most decide, not the first.
    shutil.move(tmp_path / "b.npz", tmp_path / "0.npz")
    assert ShardedDataset(tmp_path, skip_damaged=True).skipped[0][0].name == "0.npz"


def test_empty_shards_and_parts_of_different_lengths(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.zeros((0, 2)), y=np.zeros(0))
    with refused(f"shard must have samples, got path={str(path)!r}, samples=0"):
        ShardedDataset(tmp_path)
    np.savez(path, x=np.zeros((4, 2)), y=np.zeros(3))
    text = "the parts of a shard must have the same length, got path="
    with refused(f"{text}{str(path)!r}, lengths={{'x': 4, 'y': 3}}"):
        ShardedDataset(tmp_path)
    np.savez(path, x=np.zeros(()))
    with refused(f"x must have an axis of samples, got path={str(path)!r}, shape=()"):
        ShardedDataset(tmp_path)


def test_arrays_that_cannot_be_used(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.array([None, print], object), allow_pickle=True)
    text = "shard must have numbers, not objects, which would be unpickled, got path="
    with refused(f"{text}{str(path)!r}"):
        ShardedDataset(path)
    np.save(path, np.array(["a", "b"]))
    text = "x must have numbers of a dtype that tensors have, got path="
    with refused(f"{text}{str(path)!r}, dtype='<U1'"):
        ShardedDataset(path)
    np.save(path, np.asfortranarray(np.zeros((3, 4))))
    text = "the samples of a shard must lie one after the other (np.ascontiguousarray), got path="
    with refused(f"{text}{str(path)!r}, order='F'"):
        ShardedDataset(path)
    np.save(path, np.array([True, False, True]))
    _flip(path, path.stat().st_size - 1)
    text = "a part of bools must have only the bytes 0 and 1, got path="
    with refused(f"{text}{str(path)!r}"):
        ShardedDataset(path).batch(slice(None))


def test_a_shard_that_changes_while_it_is_used(tmp_path: Path) -> None:
    """A file that is cut short under a map would end the process."""
    path = tmp_path / "a.npy"
    np.save(path, np.zeros(10000))
    dataset = ShardedDataset(path)
    os.truncate(path, 200)
    with refused(f"a shard must not change while it is used, got path={str(path)!r}, bytes=200"):
        dataset.batch(slice(None))
    np.save(path, np.zeros(10000))
    os.utime(path, ns=(0, 0))
    with refused(f"a shard must not change while it is used, got path={str(path)!r}, bytes=80128"):
        dataset.batch(slice(None))
    path.unlink()
    with pytest.raises(OSError, match=re.escape(f"ShardedDataset: could not read {path}")):
        dataset.batch(slice(None))


def test_an_error_of_a_thread_names_the_shard(rng: np.random.Generator, tmp_path: Path) -> None:
    shards(tmp_path, WRITERS["npz"], rng, [20, 20])
    loader = DataLoader(ShardedDataset(tmp_path), 5, shuffle=True, workers=2)
    (tmp_path / "shard-1.npz").unlink()
    with pytest.raises(OSError, match=r"ShardedDataset: could not read .*shard-1\.npz"):
        list(loader)


def test_compressed_members_are_checked(tmp_path: Path) -> None:
    """What no header tells: the checksum of a compressed array."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.random.default_rng(0).normal(size=500))
    with zipfile.ZipFile(path) as archive:
        begin = archive.infolist()[0].header_offset + 200
    _flip(path, begin + 1000)
    dataset = ShardedDataset(path)
    with refused(f"shard must be a whole .npz file of arrays, got path={str(path)!r}"):
        dataset.batch(slice(None))
    with refused(f"shard must be a whole .npz file of arrays, got path={str(path)!r}"):
        ShardedDataset(path, verify=True)


def test_checksums_of_mapped_members_are_compared_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=np.ones(500))
    content = path.read_bytes()
    _flip(path, content.index(np.ones(1).tobytes()) + 80)
    assert ShardedDataset(path).batch(slice(None))[0].sum() != 500
    with refused(f"shard must be a whole .npz file of arrays, got path={str(path)!r}"):
        ShardedDataset(path, verify=True)


def test_columns_that_cannot_be_used(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = tmp_path / "a.parquet"

    def write(**columns: Any) -> None:
        pyarrow.parquet.write_table(pa.table(columns), path)

    named = f"got path={str(path)!r}"
    write(x=[1.0, None], y=[1, 2])
    with refused(f"x must have no missing values, {named}"):
        ShardedDataset(path).batch(slice(None))
    write(x=[[1.0, None], [2.0, 3.0]], y=[1, 2])
    with refused(f"x must have no missing values, {named}"):
        ShardedDataset(path).batch(slice(None))
    write(x=[[1.0, 2.0], [2.0]], y=[1, 2])
    with refused(f"the lists in x must all have 2 numbers, {named}"):
        ShardedDataset(path).batch(slice(None))
    write(x=["a", "b"], y=[1, 2])
    text = (
        "columns of a part must be numbers, or lists of them of the same length (parts= chooses, in a "
        "configuration data.inputs)"
    )
    with refused(f"{text}, {named}, column='x', type='string'", ValueError):
        ShardedDataset(path)
    write(x=pa.array([[[1.0], [2.0]]], pa.list_(pa.list_(pa.float64()), 2)), y=[1])
    with refused(f"{text}, {named}, column='x', type='list<element: double>'", ValueError):
        ShardedDataset(path)
    write(a=[1], b=[[2.0]])
    text = "columns that make one part must have a number in each row"
    with refused(f"{text}, {named}, columns=['a', 'b']", ValueError):
        ShardedDataset(path, (["a", "b"],))
    text = "parts must say which arrays make a sample, as parts=('x', 'y')"
    with refused(f"{text}, {named}, arrays=['a', 'b']", ValueError):
        ShardedDataset(path)
    hint = "(parts= chooses, in a configuration data.inputs and data.target)"
    with refused(f"shard must have 'c' {hint}, {named}, arrays=['a', 'b']"):
        ShardedDataset(path, (["a", "c"], "b"))
    pyarrow.parquet.write_table(pa.table([[1.0], [2.0], [1]], names=["a", "a", "y"]), path)
    with refused(f"shard must have 'a' once, {named}, arrays=['a', 'a', 'y']", ValueError):
        ShardedDataset(path, ("a", "y"))
    write(x=pa.array([], pa.float32()))
    with refused(f"shard must have samples, {named}, samples=0"):
        ShardedDataset(path)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_arrow(tmp_path / "a", made(np.random.default_rng(0), 3))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    text = (
        "ShardedDataset: pyarrow must be installed to read a.arrow, "
        "see pip install extensor[parquet]"
    )
    with pytest.raises(ImportError, match=f"^{re.escape(text)}$"):
        ShardedDataset(tmp_path)


def _pair(i: int, cls: bytes = b"1") -> list[tuple[str, bytes]]:
    return [(f"{i}.png", png(np.full((2, 2, 3), i, np.uint8))), (f"{i}.cls", cls)]


TARS: dict[str, tuple[Callable[[], list[tuple[str, bytes]]], str]] = {
    "no samples": (lambda: [], "shard must have samples, got path={}, samples=0"),
    "a part is missing": (
        lambda: [*_pair(0), *_pair(1)[:1]],
        "every sample must have one member for the part 'cls', got path={}, key='1', "
        "members=['png']",
    ),
    "two pictures": (
        lambda: [("0.png", b""), ("0.jpg", b""), ("0.cls", b"")],
        "parts must say which members make a sample, as parts=('jpg', 'cls'), got path={}, "
        "members=['png', 'jpg', 'cls']",
    ),
    "the same ending": (
        lambda: [("0.cls", b"1"), ("0.CLS", b"1")],
        "the members of a sample must have different endings, got path={}, member='0.CLS'",
    ),
    "no number": (
        lambda: _pair(0, b"cat"),
        "a member .cls must be a number (parts= chooses among the members), got path={0/}",
    ),
}


@pytest.mark.parametrize("name", TARS)
def test_tar_shards_that_cannot_be_used(name: str, tmp_path: Path) -> None:
    members, text = TARS[name]
    path = tmp_path / "a.tar"
    write_tar(path, members())
    text = text.replace("{0/}", repr(str(path / "0"))).replace("{}", repr(str(path)))
    with pytest.raises(ValueError, match=f"^{re.escape(f'ShardedDataset: {text}')}$"):
        ShardedDataset(path)


@pytest.mark.filterwarnings("ignore:ShardedDataset. verify has nothing to compare")
def test_members_that_are_not_as_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    write_tar(path, [*_pair(0), ("1.png", png(np.zeros((3, 2, 3), np.uint8))), ("1.cls", b"1")])
    dataset = ShardedDataset(path)
    text = "picture must have shape (3, 2, 2) in every sample (size= resizes pictures)"
    with refused(f"{text}, got path={str(path / 'sample 1')!r}, shape=(3, 3, 2)"):
        dataset.batch(slice(None))
    assert len(ShardedDataset(path, size=4).batch(slice(None))[0]) == 2
    write_tar(path, [*_pair(0), *_pair(1, b"1.5")])
    text = "cls must be int64 in every sample, got path="
    with refused(f"{text}{str(path / 'sample 1')!r}, dtype='float32'"):
        ShardedDataset(path).batch(slice(None))
    write_tar(path, [*_pair(0), ("1.png", b"no picture"), ("1.cls", b"1")])
    text = "file must be a picture (it has no format that Pillow knows), got path="
    with refused(f"{text}{str(path / 'sample 1')!r}"):
        ShardedDataset(path).batch(slice(None))
    write_tar(tmp_path / "b.tar", _pair(0))
    dataset = ShardedDataset(tmp_path, verify=True, skip_damaged=True)
    assert (len(dataset), [path.name for path, _ in dataset.skipped]) == (1, ["a.tar"])


def test_links_and_compressed_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as file:
        for name, content in _pair(0):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("1.png")
        link.type, link.linkname = tarfile.LNKTYPE, "0.png"
        file.addfile(link)
    text = "the members of a tar shard must be plain files, no links, got path="
    with refused(f"{text}{str(path)!r}, member='1.png'"):
        ShardedDataset(path)
    with tarfile.open(path, "w:gz") as file:
        file.addfile(tarfile.TarInfo("a.cls"))
    text = "shard must be a whole tar archive, not compressed, got path="
    with refused(f"{text}{str(path)!r}, position=0"):
        ShardedDataset(path)


def _packed(folder: Path) -> Path:
    (folder / "table.csv").write_text("\n".join(f"{i}.5,{i * 2}.25,{i % 3}" for i in range(90)))
    pack(folder / "table.csv", folder / "packed", shard_size=300)
    return folder / "packed"


def test_the_index_is_checked(tmp_path: Path) -> None:
    folder = _packed(tmp_path)
    path = folder / "index.json"
    good = json.loads(path.read_text())

    def changed(change: Callable[[Any], None]) -> None:
        state = json.loads(json.dumps(good))
        change(state)
        path.write_text(json.dumps(state))

    def bad(state: Any, **changes: Any) -> None:
        state["shards"][0]["files"][0].update(changes)

    changes: list[Callable[[Any], None]] = [
        lambda state: state.pop("kind"),
        lambda state: state.update(extensor=1),
        lambda state: state.update(kind="sounds"),
        lambda state: state.update(shards=[]),
        lambda state: state.update(shards=7),
        lambda state: state["parts"].clear(),
        lambda state: state["parts"][0].update(shape=[-1]),
        lambda state: state["parts"][0].update(dtype="object of mine"),
        lambda state: state["shards"].append(state["shards"][0]),
        lambda state: state["shards"][0].update(samples=True),
        lambda state: state["shards"][0].update(files=[]),
        lambda state: bad(state, name="../table.csv"),
        lambda state: bad(state, name="/etc/passwd"),
        lambda state: bad(state, name=""),
        lambda state: bad(state, bytes="many"),
        lambda state: bad(state, sha256=3),
        lambda state: state.update(vocabulary={"kind": "byte"}),
        lambda state: state.update(classes=[3]),
        lambda state: state.update(encoding=None),
        lambda state: state["encoding"].update(kinds=[]),
        lambda state: state["encoding"].update(targets=["column 0"]),
        lambda state: state["encoding"]["encoder"]["names"].pop(),
        lambda state: state["encoding"]["options"].update(header="yes"),
        lambda state: state["parts"][0].update(shape=[3]),
        lambda state: state.update(kind="pictures"),
    ]
    text = (
        "index must be one that extensor pack wrote (earlier versions: pack again), "
        f"got path={str(path)!r}"
    )
    for change in changes:
        changed(change)
        with refused(text, ValueError):
            ShardedDataset(folder)
    for content in ("", "[" * 100000, "[]", '{"extensor": 1, "extensor": 1}', "\xff"):
        path.write_text(content)
        with refused(text, ValueError):
            ShardedDataset(folder)


def test_shards_are_what_their_index_says(tmp_path: Path) -> None:
    folder = _packed(tmp_path)
    index = folder / "index.json"
    good = index.read_text()
    index.write_text(good.replace('"samples": 18', '"samples": 19'))
    first = folder / "shard-00000"
    text = "shard must have 19 samples of x float32[2], y int64[], as its index says"
    with refused(f"{text}, got path={str(first)!r}, samples=18, parts='x float32[2], y int64[]'"):
        ShardedDataset(folder)
    index.write_text(good)
    np.save(folder / "other.npy", np.zeros(3))
    text = "the shards of a folder must all be in its index.json, or it in none, got path="
    with refused(f"{text}{str(folder / 'other.npy')!r}", ValueError):
        ShardedDataset(folder)
    (folder / "other.npy").unlink()
    last = folder / "shard-00004.y.npy"
    content = last.read_bytes()
    last.write_bytes(content + b"more")
    with refused(
        f"shard must have {len(content)} bytes, as its index says, got path={str(last)!r}, "
        f"bytes={len(content) + 4}"
    ):
        ShardedDataset(folder)


def test_digests_are_compared_on_demand(tmp_path: Path) -> None:
    folder = _packed(tmp_path)
    assert len(ShardedDataset(folder, verify=True)) == 90
    path = folder / "shard-00002.x.npy"
    _flip(path, path.stat().st_size - 5)
    assert len(ShardedDataset(folder)) == 90
    text = f"shard must be as it was packed (its digest differs), got path={str(path)!r}"
    with refused(text):
        ShardedDataset(folder, verify=True)
    dataset = ShardedDataset(folder, verify=True, skip_damaged=True)
    assert len(dataset) == 72
    assert dataset.skipped == [(folder / "shard-00002", f"ShardedDataset: {text}")]


def test_memory_must_hold_what_is_read_as_a_whole(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(1000))
    text = "memory must hold what is read as a whole, 8000 bytes, got memory=4096, path="
    with refused(f"{text}{str(tmp_path / 'a.npz')!r}", ValueError):
        ShardedDataset(tmp_path, memory=4096)
    dataset = ShardedDataset(tmp_path, memory=30000)
    text = "BlockShuffle: two windows must fit into the memory of the data set"
    with pytest.raises(ValueError, match=f"^{text}"):
        BlockShuffle(dataset, window=2)


ENDINGS = ".npy, .npz, .safetensors, .tar, .parquet, .arrow, .feather"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            ("nowhere",),
            ValueError,
            "source must exist, as a folder of shards or one of them, got source='nowhere'",
        ),
        (([],), ValueError, "source must have at least one shard, got source=[]"),
        ((3,), TypeError, "source must be a folder of shards, or a list of them, got source=3"),
        ((["a.txt"],), ValueError, f"a shard must end with {ENDINGS}, got path='a.txt'"),
        ((["a.npy", "a.npy"],), ValueError, "a shard must be given once, got path='a.npy'"),
        ((".",), ValueError, f"source must have shards ({ENDINGS}), got source='.'"),
        ((["a.npy"], ()), TypeError, "parts must be names, as ('x', 'y'), got parts='tuple'"),
        ((["a.npy"], "x"), TypeError, "parts must be names, as ('x', 'y'), got parts='x'"),
        (
            (["a.npy"], [["x"], []]),
            TypeError,
            "parts must be names, as ('x', 'y'), got parts='list'",
        ),
    ],
)
def test_wrong_arguments(
    arguments: Any,
    error: type[Exception],
    text: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with refused(text, error):
        ShardedDataset(*arguments)


def test_wrong_tokens_and_indices(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, np.arange(4))
    text = "shard must have 6 tokens or more, a window and what follows, got path="
    with refused(f"{text}{str(path)!r}, tokens=4"):
        ShardedDataset(path, context=5)
    np.save(path, np.ones(9))
    with refused(f"tokens must be integers, got path={str(path)!r}, dtype='float64'"):
        ShardedDataset(path, context=5)
    np.save(path, np.ones((9, 2)))
    text = "context is for shards of one row of tokens, not compressed, got path="
    with refused(f"{text}{str(path)!r}, context=5", ValueError):
        ShardedDataset(path, context=5)
    dataset = ShardedDataset(path)
    with refused("index must be in [-9, 8], got index=9", IndexError):
        dataset[9]
    text = "ShardedDataset.batch: the numbers of samples must be in [0, 8], got number=-1"
    with pytest.raises(IndexError, match=f"^{re.escape(text)}$"):
        dataset.batch(np.array([3, -1]))
    text = (
        "ShardedDataset.batch: the numbers of samples must be a row of integers, or a slice, "
        "got indices='list'"
    )
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        dataset.batch([0.5])
