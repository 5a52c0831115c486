"""One reader of tables: the same odd file is read alike, or refused alike, through every door.

The doors are ``read_table`` (which ``extensor train`` calls), its chunks and ``pack``, ``read_like`` (which
``extensor predict`` calls), ``read_csv`` with ``csv_classes``, and the frames that estimators are given.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.data import csv_classes, pack, read_csv, read_table
from extensor.data.table import Table, TableEncoder, as_table
from extensor.data.table.reading import read_chunks, read_like
from extensor.estimators import Regressor
from extensor.experiments.sources import kind_of_file

UNCLEAR = "whether the first line is names or data must be clear (header=True or False says it)"
ABY = {"a": [1, 3], "b": [2, 4], "y": [0, 1]}
AB = {"a": [1, 3], "b": [2.5, 4]}

# A file, and the columns in it (None where a cell is missing), or the beginning of the refusal.
FILES: dict[str, tuple[bytes, Any]] = {
    "comma": (b"a,b,y\n1,2,0\n3,4,1\n", ABY),
    "semicolon": (b"a;b;y\n1;2;0\n3;4;1\n", ABY),
    "tab": (b"a\tb\ty\n1\t2\t0\n3\t4\t1\n", ABY),
    "bar": (b"a|b|y\n1|2|0\n3|4|1\n", ABY),
    "decimal comma": (b"a;b\n1;2,5\n3;4\n", AB),
    "points of thousands": (b"a;b\n1.234,5;2,5\n3;4\n", {"a": [1234.5, 3], "b": [2.5, 4]}),
    "commas of thousands": (
        b'a;b\n"1,234";2\n"5,678";4\n', {"a": ["1,234", "5,678"], "b": [2, 4]},
    ),
    "mark of UTF-8": (b"\xef\xbb\xbfa,b\n1,2.5\n3,4\n", AB),
    "UTF-16": ("a,b\n1,2.5\n3,4\n".encode("utf-16"), AB),
    "UTF-16 without a mark": (
        "a,b\n1,2.5\n".encode("utf-16-le"), "file must be text (encoding='utf-16-le' says",
    ),
    "latin-1": ("größe,b\n1,2\n".encode("latin-1"), {"größe": [1], "b": [2]}),
    "broken UTF-8": (
        "ä,öü\n1,2\n".encode() + b"\xff,3\n", "file must be UTF-8 throughout, as most of it is",
    ),
    "CRLF": (b"a,b\r\n1,2.5\r\n3,4\r\n", AB),
    "CR": (b"a,b\r1,2.5\r3,4\r", AB),
    "end of DOS": (b"a,b\n1,2.5\n3,4\n\x1a", AB),
    "quoted line ends": (b'a,b\n"u\nv",2\nw,4\n', {"a": ["u\nv", "w"], "b": [2, 4]}),
    "quoted delimiters": (b'"a,b",c\n"1",2\n3,4\n', {"a,b": [1, 3], "c": [2, 4]}),
    "quotes in quotes": (b'a,b\n"u ""v""",2\n', {"a": ['u "v"'], "b": [2]}),
    "open quote": (b'a,b\n1,"2\n3,4\n', "a quoted cell must be closed"),
    "text after a quote": (b'a,b\n1,"2"3\n', "after a quoted cell a delimiter must come"),
    "spaces around cells": (b"a , b\n 1, 2.5\n3 ,4 \n", AB),
    "spaces between cells": (b"1 2\n3 4\n", "delimiter must be that of the file (' ' splits"),
    "two delimiters": (
        b"a,b;c,d\n1,2;3,x\n5,6;7,y\n", 'what stands between cells must be clear, not "," or ";"',
    ),
    "Excel's line": (b"sep=;\na;b\n1;2,5\n3;4\n", AB),
    "index of pandas": (b",a,b\n0,1,2.5\n1,3,4\n", AB),
    "index of pandas, read and written": (b"Unnamed: 0,a,b\n7,1,2.5\n5,3,4\n", AB),
    "rows of R": (b'"","a","b"\n"1",1,2.5\n"2",3,4\n', AB),
    "row numbers of another name": (
        b"row,a\n0,1\n1,3\n", {"row": [0, 1], "a": [1, 3]},
    ),
    "row numbers called index": (b"index,a\n0,1\n1,3\n", {"index": [0, 1], "a": [1, 3]}),
    "no name and no row numbers": (b",a\n5,1\n5,3\n", {"column 0": [5, 5], "a": [1, 3]}),
    "no header": (b"1,2.5\n3,4\n", {"column 0": [1, 3], "column 1": [2.5, 4]}),
    "names that count": (b"0,1,2\n5,6,7\n", UNCLEAR),
    "names or data": (b"0,1\n1,0\n", UNCLEAR),
    "names twice": (b"a,b,a\n1,2,3\n", "names of columns must differ"),
    "gaps": (
        b"a,b,c,d,e,f,g,h,y\n,NA,n/a,NaN,null,None,?,-,0\n1,2,3,4,5,6,7,8,9\n",
        {**{x: [None, i + 1] for i, x in enumerate("abcdefgh")}, "y": [0, 9]},
    ),
    "gaps in capitals": (b"a,b,y\nNULL,nan,3\n1,2,4\n", {"a": [None, 1], "b": [None, 2], "y": [3, 4]}),
    "a column of gaps": (b"a,b\nNA,1\n,2\n", {"a": [None, None], "b": [1, 2]}),
    "a gap in the first line": (b"5,,7\n5,6,1\n",
        {"column 0": [5, 5], "column 1": [None, 6], "column 2": [7, 1]}),
    "trailing commas": (b"a,b,\n1,2.5,\n3,4,\n", AB),
    "trailing commas below": (b"a,b\n1,2.5,\n3,4,\n", AB),
    "lines of commas": (b"a,b\n1,2.5\n3,4\n,\n,\n", AB),
    "empty lines": (b"\na,b\n\n1,2.5\n\n\n3,4\n\n", AB),
    "short row": (b"a,b,y\n1,2,0\n3,4\n", "a line must have as many cells as the first, 3"),
    "long row": (b"a,b\n1,2\n3,4,5\n", "a line must have as many cells as the first, 2"),
    "empty file": (b"", "file must have at least one line"),
    "only line ends": (b"\n\r\n\n", "file must have at least one line"),
    "only a header": (b"a,b,y\n", "file must have a line of cells below its names"),
    "one column": (b"a\n1\n3\n", {"a": [1, 3]}),
    "one column without a name": (b"1\n3\n", {"column 0": [1, 3]}),
    "dates": (b"d,b\n2024-01-31,1\n2024-02-01,2\n",
        {"d": ["2024-01-31", "2024-02-01"], "b": [1, 2]}),
    "days first": (b"d,b\n31/01/2024,1\n01/02/2024,2\n",
        {"d": ["31/01/2024", "01/02/2024"], "b": [1, 2]}),
    "booleans": (b"a,b\ntrue,1\nFALSE,2\n", {"a": ["True", "False"], "b": [1, 2]}),
    "words and numbers": (b"a,b\n1,2\nx,4\n", {"a": ["1", "x"], "b": [2, 4]}),
    "numbers of Python": (b"a,b\n1_000,2\n3,4\n", {"a": ["1_000", "3"], "b": [2, 4]}),
    "exponents": (b"a,b\n1e3,-2.5E-1\n+3,.5\n", {"a": [1000, 3], "b": [-0.25, 0.5]}),
    "leading zeros": (b"a,b\n007,1\n010,2\n", {"a": [7, 10], "b": [1, 2]}),
    "large integers": (b"a,b\n9007199254740993,1\n9007199254740992,2\n",
        {"a": [9007199254740993, 9007199254740992], "b": [1, 2]}),
    "percent": (b"a,b\n5%,1\n7%,2\n", {"a": ["5%", "7%"], "b": [1, 2]}),
    "long cell": (b"a,b\n" + b"w" * 100_000 + b",1\nv,2\n",
        {"a": ["w" * 100_000, "v"], "b": [1, 2]}),
    "too long a cell": (b"a,b\n" + b"w" * 200_000 + b",1\n", "a cell must have at most 131072"),
    "comment": (b"# measured on Monday\na,b\n1,2\n", "a line must have as many cells as the first, 1"),
    "NUL": (b"a,b\n1,\x002\n", "file must be text"),
    "control character": (b"a,b\n1,\x012\n", "file must be text"),
}  # fmt: skip


def _values(table: Table) -> dict[str, list[Any]]:
    """The columns: numbers (whole ones to the last digit) or words, None where missing."""
    columns = {}
    for name in table.names:
        column = table[name]
        values: Any = column.words() if column.kind != "number" else column.integers()
        values = column.numbers() if values is None else values
        pairs = zip(values.tolist(), column.missing.tolist(), strict=True)
        columns[name] = [None if gone else value for value, gone in pairs]
    return columns


def _refusal(function: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(ValueError, match=r"^\w+: ") as raised:
        function(*arguments, **options)
    return str(raised.value)


def _written(name: str, folder: Path) -> Path:
    path = folder / "t.csv"
    path.write_bytes(FILES[name][0])
    return path


@pytest.mark.parametrize("name", FILES)
def test_the_same_reading(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, expected = _written(name, tmp_path), FILES[name][1]
    if isinstance(expected, str):
        refusal = _refusal(read_table, path)
        assert refusal.startswith(f"read_table: {expected}")
        assert _refusal(read_like, read_table, path, {}, {}) == refusal
        assert _refusal(read_chunks, path) == refusal
        assert _refusal(pack, path, tmp_path / "packed") == refusal
        for function in (read_csv, csv_classes):
            assert _refusal(function, path) == refusal.replace("read_table", "read_csv", 1)
        monkeypatch.setattr("extensor.data.table.text_file.SIZE", 1)
        assert _refusal(read_chunks, path) == refusal
        return
    table = read_table(path)
    assert _values(table) == expected
    assert _values(read_like(read_table, path, {}, table.options)) == expected
    assert _values(read_table(path, **table.options)) == expected
    _check_matrix(path, table)
    _check_packed(path, table, tmp_path)
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", 1)
    chunked = read_chunks(path)
    joined: dict[str, list[Any]] = {x: [] for x in chunked.names}
    for chunk in chunked.chunks():
        for column, values in _values(chunk).items():
            joined[column] += values
    assert joined == expected
    assert chunked.said == table.said


def _check_matrix(path: Path, table: Table) -> None:
    """``read_csv`` gives the same numbers, and refuses words by their column."""
    words = [x for x in table.names if table[x].kind != "number"]
    if words and words[0] != table.names[-1]:
        text = _refusal(read_csv, path)
        assert text.startswith("read_csv: cells must be numbers, got ")
        assert f"column={words[0]!r}" in text
        return
    matrix = np.stack([table[x].numbers() for x in table.names], axis=1).astype(np.float32)
    np.testing.assert_array_equal(read_csv(path, target=None), matrix)
    x, y = read_csv(path)
    np.testing.assert_array_equal(x, matrix[:, :-1])
    assert y.tolist() == _values(table)[table.names[-1]]
    assert csv_classes(path) is None


def _check_packed(path: Path, table: Table, folder: Path) -> None:
    """``pack`` has the features that an encoder makes of the same table."""
    if all(
        len({*values} - {None}) < 2 and None not in values for values in _values(table).values()
    ):
        refusal = _refusal(TableEncoder.fit, table)
        assert _refusal(pack, path, folder / "packed", with_target=False) == refusal
        return
    encoder = TableEncoder.fit(table)
    pack(path, folder / "packed", with_target=False)
    (shard,) = (folder / "packed").glob("*.npy")
    np.testing.assert_array_equal(np.load(shard), encoder.encode(table))


@pytest.mark.parametrize("ending", [".csv", ".tab", ".TSV", ".csv.gz", ".tab.gz"])
def test_the_same_endings_of_text(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    content = b"a\tb\ty\n1\t2\t0\n3\t4\t1\n"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    assert _values(read_table(path)) == ABY
    assert kind_of_file(str(path)) == "table"
    assert pack(path, tmp_path / "packed").kind == "table"


@pytest.mark.parametrize("ending", [".parquet", ".pq", ".feather", ".arrow", ".arrows", ".ipc"])
def test_the_same_endings_of_columns(ending: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import feather

    path = tmp_path / f"t{ending}"
    feather.write_feather(pyarrow.table(ABY), path)  # the content decides, whatever the ending
    assert _values(read_table(path)) == ABY
    assert kind_of_file(str(path)) == "table"
    assert pack(path, tmp_path / "packed").kind == "table"


@pytest.mark.parametrize("ending", [".xlsx", ".json", ".jsonl", ".json.gz", ".pickle"])
def test_the_same_endings_are_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    path.write_bytes(b'{"a": 1}\n{"a": 3}\n')
    refusal = _refusal(read_table, path).removeprefix("read_table: ")
    assert refusal.startswith("file must be CSV, Parquet or Arrow (")
    assert _refusal(pack, path, tmp_path / "packed") == f"pack: {refusal}"
    assert _refusal(kind_of_file, str(path)) == f"data: {refusal}"


# pandas reads these files otherwise, whatever it is told.
NOT_OF_PANDAS = {
    "commas of thousands", "quoted line ends", "trailing commas", "trailing commas below",
    "lines of commas", "a gap in the first line", "no name and no row numbers", "end of DOS",
    "index of pandas, read and written", "Excel's line", "a column of gaps",
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        x
        for x, (_, columns) in FILES.items()
        if isinstance(columns, dict) and x not in NOT_OF_PANDAS
    ],
)
def test_frames_of_the_same_files(name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = _written(name, tmp_path)
    table = read_table(path)
    header = 0 if table.options["header"] else None
    frame = pandas.read_csv(
        path,
        sep=table.options["delimiter"],
        decimal=table.options["decimal"],
        thousands="." if table.options["decimal"] == "," else None,
        encoding=table.options["encoding"],
        header=header,
        names=None if header == 0 else table.names,
        na_values=["?", "-"],
        skipinitialspace=True,
        dtype={x: str for x in table.names if table[x].kind != "number"},
    )
    frame = frame.rename(columns=str.strip)
    from_frame = as_table(frame)
    assert from_frame.names == table.names
    for column in table.names:
        np.testing.assert_array_equal(from_frame[column].missing, table[column].missing)
        if table[column].kind == "number":
            np.testing.assert_array_equal(from_frame[column].numbers(), table[column].numbers())


@pytest.mark.parametrize("name", ["semicolon", "tab", "decimal comma", "UTF-16", "rows of R"])
def test_estimators_learn_from_what_is_read(name: str, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = read_table(_written(name, tmp_path))
    *inputs, target = table.names
    frame = pandas.DataFrame({x: table[x].numbers() for x in inputs})
    matrix, y = read_csv(_written(name, tmp_path))
    options: dict[str, Any] = {"epochs": 2, "random_state": 0}
    by_frame = Regressor(**options).fit(frame, table[target].numbers())
    by_matrix = Regressor(**options).fit(matrix.astype(np.float64), y.astype(np.float64))
    assert by_frame.feature_names_in_.tolist() == inputs
    np.testing.assert_array_equal(
        by_frame.predict(frame), by_matrix.predict(matrix.astype(np.float64))
    )


def test_row_numbers_are_left_out_of_frames_too(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "t.csv"
    pandas.DataFrame({"a": [1.5, 2.5], "y": ["u", "v"]}).to_csv(path)
    frame = pandas.read_csv(path)
    assert list(frame) == ["Unnamed: 0", "a", "y"]
    assert as_table(frame).names == read_table(path).names == ["a", "y"]
    assert as_table(frame).said == read_table(path).said[1:]
    assert read_csv(path)[0].tolist() == [[1.5], [2.5]]


def test_words_are_the_same_classes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a;kind\n1,5;b\n2;a\n3,25; b\n")
    assert csv_classes(path) == read_table(path)["kind"].distinct() == ["a", "b"]
    x, y = read_csv(path)
    assert (x.tolist(), y.tolist()) == ([[1.5], [2.0], [3.25]], [1, 0, 1])
