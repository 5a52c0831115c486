"""Small files that would cost much: refused before memory or time is spent on them."""

from __future__ import annotations

import contextlib
import gzip
import io
import struct
import tarfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import extensor

from extensor.data import PictureFiles, ShardedDataset, read_arrays, read_idx, read_table
from extensor.data.standard import unpack
from extensor.data.table import text_file
from extensor.data.table.arrow import arrow_batches, batches_cost
from extensor.io.limits import SETTING, decoded_limit, parse_size

MB = 1 << 20


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SETTING, raising=False)


def refusal(size: str) -> str:
    return f"file must take at most {size} of memory when it is decoded \\({SETTING} sets this\\)"


# Tables


def test_trailing_delimiters_cost_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row is cut once, however many of its last cells are empty."""
    cut = 0

    class Row(list[str]):
        def __getitem__(self, key: Any) -> Any:
            nonlocal cut
            if isinstance(key, slice):
                cut += 1
            return super().__getitem__(key)

    empty = [""] * 2000
    rows = [Row(["a", "b", *empty]), Row(["1", "2", *empty]), Row(["3", "4", *empty])]
    assert text_file._without_ends(rows) == [["a", "b"], ["1", "2"], ["3", "4"]]  # type: ignore[arg-type]
    assert cut == 3


def test_a_file_of_delimiters() -> None:
    ends = 160_000 * ","
    Path("a.csv").write_text(f"a,b{ends}\n1,2{ends}\n3,5{ends}\n")
    begin = time.process_time()
    table = read_table("a.csv")
    assert time.process_time() - begin < 5  # it was a minute
    assert table["b"].numbers().tolist() == [2, 5]
    assert table.said[1:] == [
        "the last 160000 columns have neither names nor cells and are left out"
    ]


def test_one_delimiter_more_before_the_empty_columns() -> None:
    Path("a.csv").write_text("a,b,,,\n1,2,,\n3,5,,\n")
    table = read_table("a.csv")
    assert table["b"].numbers().tolist() == [2, 5]
    assert table.said[1:] == ["the last 3 columns have neither names nor cells and are left out"]


# Compressed files


@pytest.mark.parametrize("parts", [1, 3])
def test_a_compressed_table(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    content = gzip.compress(b"a,b\n" + 400_000 * b"1,2\n")
    Path("a.csv.gz").write_bytes(parts * content)
    monkeypatch.setenv(SETTING, "8M")
    with pytest.raises(ValueError, match=refusal("8 MB")) as raised:
        read_table("a.csv.gz")
    assert "path='a.csv.gz', needed_at_least='8 MB'" in str(raised.value)


def test_no_more_is_unpacked_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    original = gzip.GzipFile.read

    def read(file: Any, size: int = -1) -> bytes:
        asked.append(size)
        return original(file, size)

    monkeypatch.setattr(gzip.GzipFile, "read", read)
    Path("a.idx.gz").write_bytes(gzip.compress(bytes(4 * MB)))
    monkeypatch.setenv(SETTING, "2M")
    with pytest.raises(ValueError, match=refusal("2 MB")):
        read_idx("a.idx.gz")
    assert asked == [MB + 1]


def test_a_larger_setting_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.csv.gz").write_bytes(gzip.compress(b"a,b\n" + 1000 * b"1,2\n"))
    monkeypatch.setenv(SETTING, "20K")
    with pytest.raises(ValueError, match=refusal("20 KB")):
        read_table("a.csv.gz")
    monkeypatch.setenv(SETTING, "64K")
    assert len(read_table("a.csv.gz")["a"].numbers()) == 1000


def test_a_plain_file_is_not_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, "1K")
    Path("a.csv").write_text("a,b\n" + 1000 * "1,2\n")
    assert len(read_table("a.csv")["a"].numbers()) == 1000


def test_the_command_says_how_to_raise_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.csv.gz").write_bytes(gzip.compress(b"a,b\n" + 9000 * b"1,2\n"))
    monkeypatch.setenv(SETTING, "20K")
    result = extensor("train", "a.csv.gz")
    assert result.code == 2
    assert f"at most 20 KB of memory when it is decoded ({SETTING} sets this)" in result.err


# The limit


def test_the_usual_limit_grows_with_the_file() -> None:
    assert decoded_limit(48_000) == 1 << 30
    assert decoded_limit(100 * MB) == 1000 * 100 * MB


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("800M", 800 * MB), ("1.5G", 1536 * MB), ("2 tb", 2 << 40), (" 8K ", 8192)],
)
def test_the_setting(text: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_size(text) == size
    monkeypatch.setenv(SETTING, text)
    assert decoded_limit(10**12) == size


@pytest.mark.parametrize("text", ["lots", "-1", "1X", "1e9", "\u0661", "nan", "G"])
def test_a_wrong_setting(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SETTING, text)
    with pytest.raises(ValueError, match=f"{SETTING}: must be a number of bytes, as 800M or 8G"):
        decoded_limit(1)


# Pictures


def png(width: int, height: int) -> bytes:
    """A grey picture of zeros, compressed row by row: the size that is said may be any."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        whole = kind + content
        return struct.pack(">I", len(content)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress(bytes(min(height, 64) * (width + 1)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_picture_is_measured_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import ImageFile

    def load(_: Any) -> None:
        raise AssertionError("it was decoded")

    monkeypatch.setattr(ImageFile.ImageFile, "load", load)
    Path("a.png").write_bytes(png(12_000, 12_000))
    with pytest.raises(ValueError, match=refusal("1 GB")) as raised:
        PictureFiles(["a.png"], 8)[0]
    assert "path='a.png', needed='1.341 GB'" in str(raised.value)


def test_pictures_in_a_tar_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tar("a.tar", {"0.png": png(400, 300), "0.cls": b"1"})
    assert len(ShardedDataset(".", size=8)) == 1
    monkeypatch.setenv(SETTING, "1M")
    with pytest.raises(ValueError, match=refusal("1 MB")):
        ShardedDataset(".", size=8)[0]


def test_what_starts_other_programs_is_no_picture() -> None:
    """Pillow gives PostScript to Ghostscript, whatever the name of the file says."""
    Path("a.png").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"
    )
    with pytest.raises(ValueError, match="it has no format that Pillow knows"):
        PictureFiles(["a.png"], 8)[0]


# Arrays


def npy(shape: str, data: bytes = b"") -> bytes:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


ABSURD = [
    "(1000000000000,)",
    "(4294967296, 4294967296)",
    "(9223372036854775807, 9223372036854775807, 2)",
    "(-1,)",
    f"({'9' * 5000},)",
    "(" * 4000 + ")" * 4000,
    "(2.5,)",
    "'a'",
]


def write_zip(path: str, content: bytes, kind: int) -> None:
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("x.npy", content)


@pytest.mark.parametrize("shape", ABSURD, ids=range(len(ABSURD)))
@pytest.mark.parametrize("form", ["npy", "stored", "deflated", "lzma", "bzip2"])
def test_absurd_headers_of_arrays(shape: str, form: str) -> None:
    kinds = {
        "stored": zipfile.ZIP_STORED,
        "deflated": zipfile.ZIP_DEFLATED,
        "lzma": zipfile.ZIP_LZMA,
        "bzip2": zipfile.ZIP_BZIP2,
    }
    if form == "npy":
        Path("a.npy").write_bytes(npy(shape, bytes(64)))
        path = "a.npy"
    else:
        path = "a.npz"
        write_zip(path, npy(shape, bytes(64)), kinds[form])
    requirement = "read_arrays: file must hold arrays of numbers, as a whole .npy or .npz"
    with pytest.raises(ValueError, match=requirement):
        read_arrays(path)
    result = extensor("train", path)
    assert (result.code, result.err.count("\n")) == (2, 1)


def test_compressed_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez_compressed("a.npz", x=np.zeros(MB), y=np.zeros(MB, np.uint8))
    assert read_arrays("a.npz")["x"].shape == (MB,)
    monkeypatch.setenv(SETTING, "8.5M")
    with pytest.raises(ValueError, match=refusal("8.5 MB")):
        read_arrays("a.npz")
    with pytest.raises(ValueError, match=refusal("8.5 MB")):
        ShardedDataset(".")


def test_an_archive_that_cannot_be_opened() -> None:
    """A password, or a way to compress that nobody knows."""
    write_zip("a.npz", npy("(1,)", bytes(8)), zipfile.ZIP_STORED)
    content = Path("a.npz").read_bytes()
    place = content.index(b"PK\x01\x02")
    for at, mark in ((8, b"\x01"), (10, b"\x63")):
        changed = bytearray(content)
        changed[place + at : place + at + 1] = mark
        changed[at - 2 : at - 1] = mark
        Path("a.npz").write_bytes(changed)
        with pytest.raises(ValueError, match="file must hold arrays of numbers"):
            read_arrays("a.npz")


def write_tar(path: str, members: dict[str, bytes], form: int = tarfile.USTAR_FORMAT) -> None:
    with tarfile.open(path, "w", format=form) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def test_archives_of_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    write_tar("a.tar", {"b/x.bin": bytes(3 * MB)})
    Path("a.tar.gz").write_bytes(gzip.compress(Path("a.tar").read_bytes()))
    monkeypatch.setenv(SETTING, "2M")
    with pytest.raises(ValueError, match=refusal("2 MB")):
        unpack(Path("a.tar.gz"), ["x.bin"])
    assert sorted(path.name for path in Path().iterdir()) == ["a.tar", "a.tar.gz"]
    monkeypatch.setenv(SETTING, "4M")
    assert unpack(Path("a.tar.gz"), ["x.bin"]) == [Path("x.bin")]
    assert Path("x.bin").read_bytes() == bytes(3 * MB)
    with pytest.raises(ValueError, match=r"unpack: archive must have the files y\.bin"):
        unpack(Path("a.tar.gz"), ["x.bin", "y.bin"])
    Path("b.tar.gz").write_bytes(gzip.compress(b"none"))
    with pytest.raises(ValueError, match="unpack: archive must be whole"):
        unpack(Path("b.tar.gz"), ["x.bin"])


def test_a_file_of_holes_in_an_archive() -> None:
    info = tarfile.TarInfo("x.bin")
    info.pax_headers = {
        "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.name": "x.bin",
        "GNU.sparse.size": str(1 << 50), "GNU.sparse.numblocks": "1", "GNU.sparse.map": "0,0",
    }  # fmt: skip
    Path("a.tar").write_bytes(info.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
    with pytest.raises(ValueError, match=refusal("1 GB")):
        unpack(Path("a.tar"), ["x.bin"])
    Path("a.tar").write_bytes(Path("a.tar").read_bytes().replace(b"map=0,0", b"map=0,a"))
    with pytest.raises(ValueError, match="unpack: archive must be whole"):
        unpack(Path("a.tar"), ["x.bin"])
    assert not Path("x.bin.partial").exists()


@pytest.mark.parametrize("shape", ABSURD[:4], ids=range(4))
def test_arrays_in_a_tar_shard(shape: str) -> None:
    write_tar("a.tar", {"0.npy": npy(shape, bytes(64)), "0.cls": b"1"})
    with pytest.raises(ValueError, match=r"a member .npy must be a whole array of numbers"):
        ShardedDataset(".")


def test_the_size_of_a_member_has_few_digits() -> None:
    info = tarfile.TarInfo("0.cls")
    info.pax_headers = {"size": "1" * 5000}
    Path("a.tar").write_bytes(info.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
    with pytest.raises(ValueError, match="ShardedDataset: "):
        ShardedDataset(".")


# Columns


@pytest.fixture
def parquet() -> Any:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet

    return pyarrow.parquet


def test_rows_that_are_stored_once(parquet: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow

    rows = 1_000_000
    parquet.write_table(pyarrow.table({"x": np.zeros(rows), "y": np.zeros(rows)}), "a.parquet")
    assert Path("a.parquet").stat().st_size < 20_000
    monkeypatch.setenv(SETTING, "15M")

    def read(*_: Any, **__: Any) -> None:
        raise AssertionError("it was read")

    with monkeypatch.context() as patch:
        patch.setattr(parquet.ParquetFile, "read", read)
        patch.setattr(parquet.ParquetFile, "read_row_group", read)
        with pytest.raises(ValueError, match=refusal("15 MB")) as raised:
            read_table("a.parquet")
        assert "needed='15.26 MB'" in str(raised.value)
        with pytest.raises(ValueError, match=refusal("15 MB")):
            ShardedDataset(".")[0]
    monkeypatch.setenv(SETTING, "16M")
    assert len(read_table("a.parquet")["x"].numbers()) == rows
    assert len(ShardedDataset(".")) == rows


@pytest.mark.parametrize("category", [False, True])
def test_words_that_are_stored_once(
    parquet: Any, category: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow

    words = pyarrow.array(["a" * 100_000, "b" * 100_000] * 50)
    table = pyarrow.table({"x": words.dictionary_encode() if category else words})
    parquet.write_table(table, "a.parquet")
    size = Path("a.parquet").stat().st_size
    assert size < 300_000
    monkeypatch.setenv(SETTING, "9M")
    with pytest.raises(ValueError, match=refusal("9 MB")):
        read_table("a.parquet")
    monkeypatch.setenv(SETTING, "10M")
    assert len(read_table("a.parquet")["x"]) == 100


def test_words_of_an_arrow_file_that_are_stored_once(
    parquet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.feather

    words = pyarrow.array(["a" * 100_000, "b" * 100_000] * 50).dictionary_encode()
    pyarrow.feather.write_feather(pyarrow.table({"x": words}), "a.feather", "uncompressed")
    monkeypatch.setenv(SETTING, "9M")
    with pytest.raises(ValueError, match=refusal("9 MB")):
        read_table("a.feather")


def write_arrow(path: str, table: Any, kind: str, compression: str | None) -> None:
    import pyarrow

    new = pyarrow.ipc.new_stream if kind == "stream" else pyarrow.ipc.new_file
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with new(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=200_000)


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("compression", ["zstd", "lz4"])
def test_compressed_arrow_files(
    parquet: Any, kind: str, compression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow

    rows = 500_000
    table = pyarrow.table({"x": np.zeros(rows), "y": np.zeros(rows)})
    write_arrow("a.arrow", table, kind, compression)
    assert Path("a.arrow").stat().st_size < 100_000
    monkeypatch.setenv(SETTING, "3M")
    before = pyarrow.total_allocated_bytes()
    with pytest.raises(ValueError, match=refusal("3 MB")) as raised:
        read_table("a.arrow")
    assert "path='a.arrow', needed='7.6" in str(raised.value)
    with pytest.raises(ValueError, match=refusal("3 MB")):
        ShardedDataset(["a.arrow"])[0]
    assert pyarrow.total_allocated_bytes() - before < MB
    monkeypatch.setenv(SETTING, "4M")  # for each batch of a shard
    assert ShardedDataset(["a.arrow"])[rows - 1] is not None
    monkeypatch.setenv(SETTING, "8M")
    assert len(read_table("a.arrow")) == rows


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_batch_that_is_listed_often(parquet: Any, kind: str) -> None:
    """What is repeated counts each time; plain files are as large as they are."""
    import pyarrow

    words = pyarrow.array(["a" * 100_000, "b"] * 3).dictionary_encode()
    table = pyarrow.table({"x": words, "n": np.arange(6)})
    write_arrow("a.arrow", table, kind, None)
    batches = arrow_batches(Path("a.arrow").read_bytes())
    assert [(x.rows, x.is_dictionary, x.is_compressed) for x in batches] == [
        (2, True, False),
        (6, False, False),
    ]
    assert batches_cost(batches, table.schema) == 0
    write_arrow("a.arrow", table, kind, "zstd")
    batches = arrow_batches(Path("a.arrow").read_bytes())
    assert [x.is_compressed for x in batches] == [True, True]
    assert batches[0].decoded >= 100_001
    assert batches_cost(2 * batches, table.schema) == 2 * batches_cost(batches, table.schema)
    for end in range(0, len(Path("a.arrow").read_bytes()), 7):
        with contextlib.suppress(ValueError):
            arrow_batches(Path("a.arrow").read_bytes()[:end])


def test_rows_of_nothing(parquet: Any) -> None:
    """A column of nulls has no bytes, however many rows it says to have."""
    import pyarrow

    rows = 50_000_000
    table = pyarrow.table({"x": pyarrow.nulls(rows)})
    with pyarrow.ipc.new_file("a.arrow", table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match=refusal("1 GB")):
        read_table("a.arrow")


def test_views_of_the_same_words(parquet: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow

    view = np.frombuffer(struct.pack("<i4sii", 100_000, b"aaaa", 0, 0), np.int32)
    buffers = [None, pyarrow.py_buffer(np.tile(view, 100)), pyarrow.py_buffer(100_000 * b"a")]
    column = pyarrow.Array.from_buffers(pyarrow.string_view(), 100, buffers)
    with pyarrow.ipc.new_file("a.arrow", pyarrow.schema({"x": pyarrow.string_view()})) as writer:
        writer.write_table(pyarrow.table({"x": column}))
    assert Path("a.arrow").stat().st_size < 200_000
    monkeypatch.setenv(SETTING, "9M")
    with pytest.raises(ValueError, match=refusal("9 MB")):
        read_table("a.arrow")
    monkeypatch.setenv(SETTING, "10M")
    assert len(read_table("a.arrow")) == 100
