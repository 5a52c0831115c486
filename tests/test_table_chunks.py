"""Tables in chunks: of any size they are what read_table reads, or refused alike."""

from __future__ import annotations

import gzip
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_table_drawn import _frame

from extensor.data.table import TableEncoder, read_table
from extensor.data.table.column_statistics import ColumnSummary, Moments
from extensor.data.table.reading import read_chunks

TEXTS: dict[str, str] = {
    "numbers": "a,b\n1,2.5\n3,4\n5,6\n",
    "no names": "1,2.5\n3,4.5\n5,6.5\n",
    "words late": "a,b\n1,2\n3,4\n5,n.a.\n7,8\n",
    "words early": "a,b\nx,2\n3,4\n5,6\n7,8\n",
    "as written": "a,b\n007,2\n3,4\nx,6\n1.50,8\n",
    "digits": "a,b\n7,2\n007,4\n12345678901234567,6\n",
    "fractions and digits": "a,b\n1.50,2\n007,4\n3,5\n",
    "missing": "a,b\n,2\nNA,4\n5,?\n-,8\n,\n",
    "empty lines": "a,b\n1,2\n,\n,\n3,4\n,\n,\n",
    "a column of nothing": "a,b,\n1,2,\n3,4,\n",
    "a last column of few": "a,b,\n1,2,\n3,4,\n5,6,x\n",
    "delimiters at the ends": "a,b\n1,2,\n3,4,\n",
    "semicolons": "a;b\n1,5;2\n3;4\n1.234,5;6\n1.234;8\n",
    "points alone": "a;b\n1.234;2,5\n1.234;2\n5.678;8\n",
    "semicolons and points": "a;b\n1.5;x\n2.5;y\n3;z\n",
    "row numbers": ",a,b\n0,1,2\n1,3,4\n2,5,6\n",
    "row numbers of pandas": "Unnamed: 0,a\n5,1.5\n3,2.5\n9,3.5\n",
    "no row numbers": ",a,b\n0,1,2\n1,3,4\n1,5,6\n",
    "dates": "d,a\n2024-01-05,1\n2024-02-06,2\n2023-12-31,3\n",
    "days first": "d,a\n01/02/2024,1\n03/04/2024,2\n25/12/2024,3\n",
    "months first": "d,a\n01/01/2024,1\n03/04/2024,2\n12/25/2024,3\n",
    "days or months": "d,a\n01/02/2024,1\n03/04/2024,2\n05/06/2024,3\n",
    "offsets": "d,a\n2024-01-05T10:00Z,1\n2024-02-06T10:00,2\n2024-02-06T10:00,3\n",
    "dates and words": "d,a\n2024-01-05,1\n2024-02-06,2\nlater,3\n",
    "numbers and dates": "d,a\n5,1\n2024-02-06,2\n2024-02-07,3\n",
    "truth": "t,a\ntrue,1\nFALSE,2\nTrue,3\n",
    "truth and words": "t,a\ntrue,1\nFALSE,2\nmaybe,3\n",
    "quotes": 'a,b\n"1\n2",x\n"3, ""4""",y\n5,"z"\n',
    "excel": "sep=;\na;b\n1;2\n3;4\n",
    "one column": "a\nx\ny\nz\n",
    "windows": "a,b\r\n1,2\r\n3,4\r\n\x1a",
    "mac": "a,b\r1,2\r3,4\r",
}
REFUSED: dict[str, str] = {
    "ragged": "a,b\n1,2\n3,4\n5\n",
    "open quote": 'a,b\n1,2\n3,"4\n5,6\n',
    "after a quote": 'a,b\n1,2\n3,"4"5\n5,6\n',
    "control": "a,b\n1,2\n3,\x014\n",
    "names only": "a,b\n",
    "nothing": "\n\n",
    "names twice": "a,a\n1,2\n",
    "unclear names": "0,1,2\n5,6,7\n8,9,10\n",
}


def _together(chunks: list[Any], name: str) -> tuple[Any, ...]:
    columns = [chunk[name] for chunk in chunks]
    words = [word for column in columns for word in column.words()]
    missing = [x for column in columns for x in column.missing]
    lines = [int(x) for column in columns for x in column.origin.numbers]
    numbers = None
    if columns[0].kind == "number":
        numbers = np.concatenate([column.numbers() for column in columns]).tolist()
    elif columns[0].kind == "date":
        numbers = np.concatenate([column.dates() for column in columns]).tolist()
    return words, missing, lines, repr(numbers), {column.order for column in columns}


def _check(path: Path, **options: Any) -> None:
    whole = read_table(path, **options)
    table = read_chunks(path, **options)
    chunks = list(table.chunks())
    assert table.names == whole.names
    assert table.said == whole.said
    for name in whole.names:
        assert _together(chunks, name) == _together([whole], name)
        assert {chunk[name].is_whole for chunk in chunks} == {whole[name].is_whole}
    summaries = [ColumnSummary(name, is_chunked=True) for name in table.names]
    for chunk in chunks:
        for summary in summaries:
            summary.add(chunk[summary.name], "fit")
    try:
        expected = TableEncoder.fit(whole)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            TableEncoder.from_summaries(summaries, table.source)
        return
    found = TableEncoder.from_summaries(summaries, table.source)
    assert found.state_dict() == expected.state_dict()
    matrix = np.concatenate([found.encode(chunk) for chunk in chunks])
    np.testing.assert_array_equal(matrix, expected.encode(whole))


@pytest.mark.parametrize("size", [1, 12])
@pytest.mark.parametrize("name", TEXTS)
def test_chunks_are_the_table(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", size)
    path = tmp_path / "t.csv"
    path.write_bytes(TEXTS[name].encode())
    _check(path)


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("name", REFUSED)
def test_chunks_are_refused_as_the_table_is(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", size)
    path = tmp_path / "t.csv"
    path.write_bytes(REFUSED[name].encode())
    with pytest.raises(ValueError) as expected:  # noqa: PT011 compared below
        read_table(path)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 compared below
        read_chunks(path)
    assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_tables(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", 100)
    rng = np.random.default_rng(seed)
    path = tmp_path / "t.csv"
    _frame(rng).to_csv(path, index=seed % 2 == 0, sep=",;\t"[seed % 3])
    _check(path, delimiter=",;\t"[seed % 3])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("is_packed", [True, False])
def test_encodings(
    encoding: str, is_packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", 10)
    monkeypatch.setattr("extensor.data.table.text_file._BLOCK", 7)
    content = "name;größe\nÄrger;1,5\nSüß;2\nfad;3\n".encode(encoding)
    path = tmp_path / ("t.csv.gz" if is_packed else "t.csv")
    path.write_bytes(gzip.compress(content) if is_packed else content)
    _check(path)


@pytest.mark.parametrize(
    "content", [b"a,b\nx,\xc3\xa4\ny,\xc3\xa4\nz,\xff\n", b"a,b\n\x00,2\n", b"a,b\n1,\xc3\xa4\xc3\xa4\xc3"]
)  # fmt: skip
def test_damaged_encodings(content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.data.table.text_file._BLOCK", 6)
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", 4)
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError) as expected:  # noqa: PT011 compared below
        read_table(path)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 compared below
        read_chunks(path)
    assert str(caught.value) == str(expected.value)


def test_files_that_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.data.table.text_file.SIZE", 4)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    table = read_chunks(path)
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match="file must not change while it is read"):
        list(table.chunks())


def test_words_beyond_those_that_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.data.table.column_statistics.MOST_WORDS", 30)
    from extensor.data.table import as_table

    few = as_table({"w": [f"w{i % 40}" for i in range(200)]})["w"]
    summary = ColumnSummary("w", is_chunked=True)
    summary.add(few, "fit")
    with pytest.raises(ValueError, match=r"at most 30 different words .*kinds=\{'w': 'drop'\}"):
        TableEncoder.from_summaries([summary], "t.csv")


def test_lines_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensor.data.table.text_file._LONGEST", 50)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1" * 100 + b",2\n"))
    with pytest.raises(ValueError, match="a line must have less than 50 characters"):
        read_chunks(path)


@pytest.mark.parametrize("scale", [1e-310, 1.0, 1e300])
def test_moments_are_exact(scale: float) -> None:
    """Against fractions; in any order, and in any chunks."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=40), [0.0, 1e5, -7.0, 1e-5]]) * scale
    exact = [Fraction(x) for x in values.tolist()]
    mean = sum(exact) / len(exact)
    variance = sum((x - mean) ** 2 for x in exact) / len(exact)
    for _ in range(5):
        moments = Moments()
        for chunk in np.split(rng.permutation(values), [3, 4, 20]):
            moments.add(chunk)
        assert moments.mean == float(mean)
        root = Fraction(moments.deviation)
        assert abs(root * root - variance) <= variance * Fraction(1, 2**50) + Fraction(5e-324)
        assert (moments.low, moments.high) == (values.min(), values.max())
