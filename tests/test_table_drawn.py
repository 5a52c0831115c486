"""Drawn tables as pandas writes them: found out without a word, they are what pandas reads when told."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.data.table import as_table, read_table

pandas = pytest.importorskip("pandas")

LETTERS = [*"abcXYZ ,;|\t\"'\n.:äéß"]


def _word(rng: np.random.Generator) -> str:
    inner = "".join(rng.choice(LETTERS, rng.integers(0, 6)))
    return f"w{inner}z"


def _column(rng: np.random.Generator, rows: int) -> Any:
    kind = rng.integers(5)
    if kind == 0:
        column = rng.normal(0, 10.0 ** rng.integers(-3, 6), rows).round(int(rng.integers(2, 9)))
    elif kind == 1:
        column = rng.integers(-1000, 1000, rows).astype(np.float64)
    elif kind == 2:
        column = rng.choice([_word(rng) for _ in range(4)], rows).astype(object)
    elif kind == 3:
        column = np.array([_word(rng) for _ in range(rows)], object)
    else:
        column = rng.integers(0, 2, rows).astype(bool).astype(str).astype(object)
    gone = rng.random(rows) < rng.choice([0.0, 0.2])
    if gone.any() and kind != 1:
        column[gone] = np.nan
    return column.astype(np.int64) if kind == 1 else column


def _frame(rng: np.random.Generator) -> Any:
    rows, columns = int(rng.integers(3, 60)), int(rng.integers(2, 9))
    # Numbers that are not whole, so that a decimal comma can be seen.
    drawn = {"size": rng.normal(size=rows).round(4) + 0.05}
    return pandas.DataFrame(drawn | {f"name {i}": _column(rng, rows) for i in range(columns)})


def _same(column: Any, expected: Any, written: Any) -> None:
    """Words and kinds as pandas reads them; of numbers it misses some by the last bit."""
    assert column.missing.tolist() == expected.isna().tolist()
    if expected.isna().all():
        return
    if expected.dtype.kind in "if":
        assert column.kind == "number"
        assert column.is_whole == (expected.dtype.kind == "i")
        np.testing.assert_array_equal(column.numbers(), written.to_numpy(np.float64))
    else:
        words = [None if x is None or x != x else str(x).strip() for x in expected.astype(object)]
        assert column.kind in ("category", "text")
        assert column.words().tolist() == words


@pytest.mark.parametrize("seed", range(60))
def test_drawn_tables(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    frame = _frame(rng)
    sep = str(rng.choice([",", ";", "\t", "|"]))
    decimal = "." if sep == "," else str(rng.choice([".", ","]))
    encoding = str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))
    path = tmp_path / f"a{rng.choice(['.csv', '.txt', '.csv.gz'])}"
    frame.to_csv(
        path,
        index=bool(rng.integers(2)),
        sep=sep,
        decimal=decimal,
        encoding=encoding,
        quoting=int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
        na_rep=str(rng.choice(["", "NA", "nan"])),
        lineterminator=str(rng.choice(["\n", "\r\n"])),
    )
    told = pandas.read_csv(path, sep=sep, decimal=decimal, encoding=encoding)
    told = told[[name for name in told if not name.startswith("Unnamed:")]]
    table = read_table(path)
    assert table.names == list(told)
    assert (table.options["delimiter"], table.options["decimal"]) == (sep, decimal)
    for name in table.names:
        _same(table[name], told[name], frame[name])
    again = read_table(path, **table.options)
    assert again.said[1:] == table.said[1:]
    for name in again.names:
        _same(again[name], told[name], frame[name])


@pytest.mark.parametrize("seed", range(10))
def test_frames_are_what_their_files_are(seed: int, tmp_path: Path) -> None:
    frame = _frame(np.random.default_rng(seed))
    frame.to_csv(tmp_path / "a.csv", index=False)
    first, second = as_table(frame), read_table(tmp_path / "a.csv")
    assert first.names == second.names
    for name in first.names:
        assert first[name].kind == second[name].kind
        np.testing.assert_array_equal(first[name].missing, second[name].missing)
        assert first[name].words().tolist() == second[name].words().tolist()


def test_a_large_table(tmp_path: Path, rng: np.random.Generator) -> None:
    """Beyond the lines that are looked at to find out how it is written."""
    rows = 5000
    frame = pandas.DataFrame({"x": rng.normal(size=rows), "n": rng.integers(0, 9, rows)})
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",")
    with (tmp_path / "a.csv").open("a") as file:
        file.write('"a\nword";7\n')
    table = read_table(tmp_path / "a.csv")
    assert table["n"].numbers().tolist() == [*frame["n"], 7]
    assert table["x"].kind == "text"
    line = rows + 2
    assert table.said[1] == (
        f"column 'x' is taken as words: its cells are numbers, but not 'a\\nword' in line {line}"
    )
    with pytest.raises(
        ValueError, match=rf"^table: cells must be numbers, got .*, line={line}, col"
    ):
        table["x"].numbers()
