"""Odd files: each is read rightly, and said, or refused with a text that names the file and the line."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import pytest

from extensor.data.table import Table, read_table

FIRST = "encoding utf-8, delimiter ',', decimal point, names in the first line"
NAMELESS = (
    "encoding utf-8, delimiter ',', decimal point, no names, so they are 'column 0' to 'column 1'"
)
INDEX = "the first column has no name and numbers the rows: it is left out"
END = "the last column has neither a name nor cells and is left out"
SIGNS = (
    "is no number (percent signs, currencies, separators of thousands and the like are not read)"
)
SEMICOLON = "encoding utf-8, delimiter ';', decimal {}, names in the first line"
AB = {"a": [1, 3], "b": [2, 4]}
COUNTED = "0,1,2,3,4,5,6,7,8,9,10,11,y\n" + "1," * 12 + "5\n" + "2," * 12 + "6\n"


def values(table: Table, name: str) -> list[Any]:
    """Numbers as numbers, dates and words as words, None where missing."""
    column = table[name]
    if column.kind == "number":
        return [None if math.isnan(x) else x for x in column.numbers().tolist()]
    if column.kind == "date":
        return [str(x) for x in column.dates()]
    return column.words().tolist()


# What is written, how it is to be read, and what is said: by default that of a plain file.
RIGHT: list[tuple[str | bytes, dict[str, list[Any]], list[str]]] = [
    ("a,b\n1,2\n3,4\n", AB, [FIRST]),
    ("a,b\n1,2\n3,4", AB, [FIRST]),
    ("a,b\r\n1,2\r\n3,4\r\n", AB, [FIRST]),
    ("a,b\r1,2\r3,4\r", AB, [FIRST]),
    ("\n\na,b\n\n1,2\n  \n3,4\n\n\n", AB, [FIRST]),
    (" a , b\n1 , 2\n 3,4\n", AB, [FIRST]),
    ('"a","b"\n"1","2"\n"3","4"\n', AB, [FIRST]),
    ("a;b\n1;2\n3;4\n", AB, [SEMICOLON.format("point")]),
    ("sep=;\na;b\n1;2\n3;4\n", AB, [SEMICOLON.format("point")]),
    ("a\tb\n1\t2\n3\t4\n", AB, [FIRST.replace("','", "'\\t'")]),
    ("a|b\n1|2\n3|4\n", AB, [FIRST.replace("','", "'|'")]),
    # Quotes.
    ('a,b\n"x, y",1\n"z ""q""",2\n', {"a": ["x, y", 'z "q"'], "b": [1, 2]}, [FIRST]),
    ('a,b\n"x\ny",1\n"u\r\n\r\nv",2\n', {"a": ["x\ny", "u\n\nv"], "b": [1, 2]}, [FIRST]),
    ('a,b\n"x" ,1\n "y, z" , 2\n', {"a": ["x", "y, z"], "b": [1, 2]}, [FIRST]),
    ('a,b\n5" pipe,1\n6" pipe,2\n', {"a": ['5" pipe', '6" pipe'], "b": [1, 2]}, [FIRST]),
    ('"a;b";c\n1;2\n', {"a;b": [1], "c": [2]}, [SEMICOLON.format("point")]),
    ('x\n1\n""\n3\n', {"x": [1, None, 3]}, [FIRST.replace("delimiter ','", "one column")]),
    # Encodings.
    ("\ufeffa,b\n1,2\n3,4\n", AB, [FIRST.replace("utf-8", "utf-8 with a mark")]),
    (
        "ä,b\nö,2\n".encode("utf-16"),
        {"ä": ["ö"], "b": [2]},
        [FIRST.replace("utf-8", "utf-16 with a mark")],
    ),
    (
        b"\xfe\xff" + "ä,b\n1,2\n".encode("utf-16-be"),
        {"ä": [1], "b": [2]},
        [FIRST.replace("utf-8", "utf-16 with a mark")],
    ),
    (
        "größe,€\n1,2\n".encode("cp1252"),
        {"größe": [1], "€": [2]},
        [FIRST.replace("utf-8", "cp1252 (it is not utf-8; encoding= says another)")],
    ),
    (
        b"\xe4\x81,b\n1,2\n",
        {"ä\x81": [1], "b": [2]},
        [FIRST.replace("utf-8", "latin-1 (it is not utf-8 or cp1252; encoding= says another)")],
    ),
    ("名,b\n1,2\n", {"名": [1], "b": [2]}, [FIRST]),
    ("a,b\n1,2\n\x1a", {"a": [1], "b": [2]}, [FIRST]),
    # Whether there are names.
    (COUNTED, {**{str(i): [1, 2] for i in range(12)}, "y": [5, 6]}, [FIRST]),
    ("0,1,2,y\n5,6,7,cat\n6,7,8,dog\n", {"0": [5, 6], "1": [6, 7], "2": [7, 8], "y": ["cat", "dog"]},
     [FIRST]),
    ("0,1\n0.5,1.5\n2.0,3.5\n1.0,2.5\n", {"0": [0.5, 2, 1], "1": [1.5, 3.5, 2.5]}, [FIRST]),
    ("0,1\ncat,dog\ncow,ant\n", {"0": ["cat", "cow"], "1": ["dog", "ant"]}, [FIRST]),
    ("1,2\n3,4\n", {"column 0": [1, 3], "column 1": [2, 4]}, [NAMELESS]),
    ("5,6\n7,8\n", {"column 0": [5, 7], "column 1": [6, 8]}, [NAMELESS]),
    ("5,\n,8\n", {"column 0": [5, None], "column 1": [None, 8]}, [NAMELESS]),
    ("5.1,Ann\n4.9,Bob\n", {"column 0": [5.1, 4.9], "column 1": ["Ann", "Bob"]}, [NAMELESS]),
    ("5,cat\n6,dog\n7,cat\n", {"column 0": [5, 6, 7], "column 1": ["cat", "dog", "cat"]}, [NAMELESS]),
    ("cat,dog\ncow,dog\ncat,ant\n", {"column 0": ["cat", "cow", "cat"], "column 1": ["dog", "dog", "ant"]},
     [NAMELESS]),
    ("2020-01-01,5\n2020-01-02,6\n",
     {"column 0": ["2020-01-01T00:00:00", "2020-01-02T00:00:00"], "column 1": [5, 6]}, [NAMELESS]),
    ("name,city\nAnn,Rome\nBob,Oslo\n", {"name": ["Ann", "Bob"], "city": ["Rome", "Oslo"]}, [FIRST]),
    ("land,2019,2020\nDE,5,6\nFR,7,8\nIT,1,1\n",
     {"land": ["DE", "FR", "IT"], "2019": [5, 7, 1], "2020": [6, 8, 1]}, [FIRST]),
    ("a,b,7\n5,6,7\n3,4,8\n", {"a": [5, 3], "b": [6, 4], "7": [7, 8]}, [FIRST]),
    ("1,2", {"column 0": [1], "column 1": [2]}, [NAMELESS]),
    ("1,cat", {"column 0": [1], "column 1": ["cat"]}, [NAMELESS]),
    ("3\n1\n0\n", {"column 0": [3, 1, 0]},
     ["encoding utf-8, one column, decimal point, no names, so they are 'column 0'"]),
    # Columns without names, and ends of lines.
    (",a,b\n0,1,2\n1,3,4\n", AB, [FIRST, INDEX]),
    ('"","a","b"\n"1",1,2\n"2",3,4\n', AB, [FIRST, INDEX]),
    ("Unnamed: 0,a,b\n57,1,2\n3,3,4\n", AB, [FIRST, INDEX]),
    (",0,1\n0,5,6\n1,7,8\n", {"0": [5, 7], "1": [6, 8]}, [FIRST, INDEX]),
    (",a\nx,1\ny,2\n", {"column 0": ["x", "y"], "a": [1, 2]},
     [FIRST, "columns without a name are called 'column 0'"]),
    ("a,,b\n1,7,2\n3,8,4\n", {"a": [1, 3], "column 1": [7, 8], "b": [2, 4]},
     [FIRST, "columns without a name are called 'column 1'"]),
    ("a,b,\n1,2,\n3,4,\n", AB, [FIRST, END]),
    ("a,b\n1,2,\n3,4,\n", AB, [FIRST, END]),
    ("a,b,\n1,2\n3,4\n", AB, [FIRST, END]),
    ("a,b\n1,2\n3,4\n,\n,\n", AB, [FIRST, "lines from 4 on have no cells and are left out"]),
    ("a,b\n1,2\n,\n3,4\n", {"a": [1, None, 3], "b": [2, None, 4]}, [FIRST]),
    ("a,b\n1,\n3,\n", {"a": [1, 3], "b": [None, None]}, [FIRST]),
    # Numbers.
    ("a;b\n1,5;2\n3,25;4\n", {"a": [1.5, 3.25], "b": [2, 4]}, [SEMICOLON.format("comma")]),
    ("1,5;2,5\n3,5;4,5\n", {"column 0": [1.5, 3.5], "column 1": [2.5, 4.5]},
     [NAMELESS.replace("','", "';'").replace("point", "comma")]),
    ("1,5;2,5\n3;4\n5;6\n", {"column 0": [1.5, 3, 5], "column 1": [2.5, 4, 6]},
     [NAMELESS.replace("','", "';'").replace("point", "comma")]),
    ("a;b\n1.234,5;2\n12,50;4\n", {"a": [1234.5, 12.5], "b": [2, 4]},
     [SEMICOLON.format("comma"), "column 'a' has points between thousands"]),
    ("a;b\n1,234;2,5\n-5,678;4\n", {"a": [1.234, -5.678], "b": [2.5, 4]},
     [SEMICOLON.format("comma"),
      "column 'a' has a decimal comma as others have: 1,234 is read as 1.234"]),
    ("a;b\n1,234;2\n5,678;4\n", {"a": ["1,234", "5,678"], "b": [2, 4]},
     [SEMICOLON.format("point"),
      "column 'a' is taken as words: '1,234' could be thousands or a fraction (which decimal=',' reads)"]),
    ("a;b\n1.234;2,5\n12.500;4\n", {"a": ["1.234", "12.500"], "b": [2.5, 4]},
     [SEMICOLON.format("comma"),
      "column 'a' is taken as words: '1.234' is a number only with decimal='.'"]),
    ("a;b\n1.5;2,5\n2.5;4,5\n", {"a": [1.5, 2.5], "b": ["2,5", "4,5"]},
     [SEMICOLON.format("point"),
      "column 'b' is taken as words: '2,5' is a number only with decimal=','"]),
    ('a,b\n"1,234",2\n"2,500",3\n', {"a": ["1,234", "2,500"], "b": [2, 3]},
     [FIRST,
      "column 'a' is taken as words: '1,234' could be thousands or a fraction (which decimal=',' reads)"]),
    ("a,b\n12 %,$5\n13 %,$6.5\n", {"a": ["12 %", "13 %"], "b": ["$5", "$6.5"]},
     [FIRST, f"column 'a' is taken as words: '12 %' {SIGNS}",
      f"column 'b' is taken as words: '$5' {SIGNS}"]),
    ("a,b\n\u22125,(2)\n\u22126,3\n", {"a": ["\u22125", "\u22126"], "b": ["(2)", "3"]},
     [FIRST, f"column 'a' is taken as words: '\u22125' {SIGNS}",
      f"column 'b' is taken as words: '(2)' {SIGNS}"]),
    ("a\n1'234\n5'678\n", {"a": ["1'234", "5'678"]},
     [FIRST.replace("delimiter ','", "one column"), f"column 'a' is taken as words: \"1'234\" {SIGNS}"]),
    ("a,b\n" + "1,2\n" * 9 + "1O,3\n", {"a": ["1"] * 9 + ["1O"], "b": [2] * 9 + [3]},
     [FIRST, "column 'a' is taken as words: its cells are numbers, but not '1O' in line 11"]),
    ("a,b\n1_0,0x1F\n2_0,0x2A\n", {"a": ["1_0", "2_0"], "b": ["0x1F", "0x2A"]}, [FIRST]),
    ("a,b\n1e3,+2\n-.5,3.\n", {"a": [1000, -0.5], "b": [2, 3]}, [FIRST]),
    ("a,b\n,1\nNA,2\nn/a,3\nNaN,4\nNULL,5\nNone,6\n?,7\n-,8\n9,9\n",
     {"a": [None] * 8 + [9], "b": [1, 2, 3, 4, 5, 6, 7, 8, 9]},
     [FIRST, "cells that are '-', '?', 'NA', 'NULL', 'NaN', 'None', 'n/a' are missing"]),
    ("a,b\nTrue,1\nFalse,2\n", {"a": ["True", "False"], "b": [1, 2]}, [FIRST]),
    # Dates.
    ("d,x\n31/01/2020,1\n01/02/2020,2\n",
     {"d": ["2020-01-31T00:00:00", "2020-02-01T00:00:00"], "x": [1, 2]}, [FIRST]),
    ("d,x\n01/31/2020 1:05 PM,1\n01/02/2020 12:00 AM,2\n",
     {"d": ["2020-01-31T13:05:00", "2020-01-02T00:00:00"], "x": [1, 2]}, [FIRST]),
    ("d,x\n2020-01-01T10:00:00Z,1\n2020-01-01 10:00:00+02:00,2\n",
     {"d": ["2020-01-01T10:00:00", "2020-01-01T08:00:00"], "x": [1, 2]}, [FIRST]),
    ("d,x\n01/02/2020,1\n01/03/2020,2\n", {"d": ["01/02/2020", "01/03/2020"], "x": [1, 2]},
     [FIRST, "column 'd' is taken as words: whether day or month comes first in '01/02/2020' "
      "cannot be told"]),
    ("d,x\n01/01/2020,1\n2/2/2020,2\n",
     {"d": ["2020-01-01T00:00:00", "2020-02-02T00:00:00"], "x": [1, 2]}, [FIRST]),
    ("d,x\n13/01/2020,1\n01/13/2020,2\n", {"d": ["13/01/2020", "01/13/2020"], "x": [1, 2]},
     [FIRST, "column 'd' is taken as words: its dates are not all in one order"]),
    ("d,x\n2020-01-01,1\n2020-02-30,2\n", {"d": ["2020-01-01", "2020-02-30"], "x": [1, 2]}, [FIRST]),
    ("d,x\n1577836800,1\n1577836900,2\n", {"d": [1577836800, 1577836900], "x": [1, 2]}, [FIRST]),
    # Delimiters beside others.
    ("ann;1,5;2\nbob;3,5;4\n", {"column 0": ["ann", "bob"], "column 1": [1.5, 3.5], "column 2": [2, 4]},
     ["encoding utf-8, delimiter ';', decimal comma, no names, so they are 'column 0' to 'column 2'"]),
    ("a, b\tc\nd, e\t5\n", {"a, b": ["d, e"], "c": [5]}, [FIRST.replace("','", "'\\t'")]),
    # One column.
    ("text\nHello, world\nfoo\n", {"text": ["Hello, world", "foo"]},
     [FIRST.replace("delimiter ','", "one column")]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(RIGHT)))
def test_odd_files_are_read(case: int, tmp_path: Path) -> None:
    content, expected, said = RIGHT[case]
    path = tmp_path / "a.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    table = read_table(path)
    assert {name: values(table, name) for name in table.names} == expected
    assert table.said == said
    assert table.source == str(path)
    again = read_table(path, **table.options)
    assert {name: values(again, name) for name in again.names} == expected


BOTH = "whether the first line is names or data must be clear (header=True or False says it), got "
WIDTH = "a line must have as many cells as the first, "
ALONE = "file must have a line of cells below its names (header=False if it has none), got "
TEXT = "file must be text (encoding='utf-16-le' says that of one without a mark), got "
QUOTE = "after a quoted cell a delimiter must come (a quote inside of one is written twice), got "
REFUSED: list[tuple[str | bytes, dict[str, Any], str]] = [
    ("", {}, "file must have at least one line, got source='a.csv'"),
    ("\n \n\r\n", {}, "file must have at least one line, got source='a.csv'"),
    ("a,b\n", {}, f"{ALONE}source='a.csv', line=1"),
    ("\na,b", {}, f"{ALONE}source='a.csv', line=2"),
    ("5,6\n", {"header": True}, f"{ALONE}source='a.csv', line=1"),
    ("a,b\n1,2\n\n3\n", {}, f"{WIDTH}2, got source='a.csv', line=4, cells=1"),
    ("a,b\n1,2\n3,4,5\n", {}, f"{WIDTH}2, got source='a.csv', line=3, cells=3"),
    ('a,b\n"x\ny",2\n3\n', {}, f"{WIDTH}2, got source='a.csv', line=4, cells=1"),
    ("x\n1,5\n2,5\n", {}, f"{WIDTH}1, got source='a.csv', line=2, cells=2"),
    ("title\na,b\n1,2\n3,4\n", {}, f"{WIDTH}1, got source='a.csv', line=2, cells=2"),
    ("a,b,a\n1,2,3\n", {},
     "names of columns must differ, got source='a.csv', line=1, name='a', columns=[0, 2]"),
    ("0,1,2\n5,6,7\n1,2,3\n", {}, f"""{BOTH}source='a.csv', line=1, cells='["0", "1", "2"]'"""),
    ("1,2,3\n4,5,6\n", {}, f"""{BOTH}source='a.csv', line=1, cells='["1", "2", "3"]'"""),
    ("0,1\n1,0\n", {}, f"""{BOTH}source='a.csv', line=1, cells='["0", "1"]'"""),
    ("0\n1\n0\n", {}, f"""{BOTH}source='a.csv', line=1, cells='["0"]'"""),
    ("0,1,2", {}, f"""{BOTH}source='a.csv', line=1, cells='["0", "1", "2"]'"""),
    ("Ann,30\nBob,25\nCid,40\n", {}, f"""{BOTH}source='a.csv', line=1, cells='["Ann", "30"]'"""),
    ("5.1,no,3\n4.9,1,3\n4,1,2\n", {}, f"""{BOTH}source='a.csv', line=1, cells='["5.1", "no", "3"]'"""),
    ("cat,dog,cow\ncat,x,y\nu,v,w\n", {},
     f"""{BOTH}source='a.csv', line=1, cells='["cat", "dog", "cow"]'"""),
    ('a,b\n1,"x\n2,3\n', {}, "a quoted cell must be closed, got source='a.csv', line=2"),
    ('a,b\n"x\ny","z\n2,3\n', {}, "a quoted cell must be closed, got source='a.csv', line=3"),
    ('a,b\n\n1,"x\n' + "3,4\n" * 40_000, {}, "a quoted cell must be closed, got source='a.csv', line=3"),
    ('a,b\n1,"abc\n2,"def"\n', {}, f"{QUOTE}source='a.csv', line=2"),
    ('a,b\n1,2\n"abc"d,3\n', {}, f"{QUOTE}source='a.csv', line=3"),
    ("a,b\n1," + "x" * 140_000 + "\n", {},
     "a cell must have at most 131072 characters, got source='a.csv', line=2"),
    ('a,b\n"' + "x" * 140_000 + '",1\n2,3\n', {},
     "a cell must have at most 131072 characters, got source='a.csv', line=2"),
    (b"a,b\n\x00\x01,2\n", {}, f"{TEXT}source='a.csv', byte=4"),
    ("a,b\n1,2\n".encode("utf-16-le"), {}, f"{TEXT}source='a.csv', byte=1"),
    (b"a,b\n\x01,2\n", {}, "file must be text, got source='a.csv', line=2, character='\\x01'"),
    ("ä,b\nö,ü\n".encode() + b"\xff,2\n", {},
     "file must be UTF-8 throughout, as most of it is (encoding= says another), "
     "got source='a.csv', line=3, byte=255"),
    (b"\xff\xfea", {}, "file must be text in utf-16, as its first bytes say, got source='a.csv'"),
    (b"\xff\n", {"encoding": "utf-8"},
     "file must be text in the encoding that is given, got source='a.csv', encoding='utf-8'"),
    ("a,b\n1,2\n", {"encoding": "rot13"},
     "encoding must be the name of one, such as 'utf-8' or 'cp1252', got encoding='rot13'"),
    ("a,b\n1,2\n", {"encoding": "\0"},
     "encoding must be the name of one, such as 'utf-8' or 'cp1252', got encoding='\\x00'"),
    ("a,b\n1,2\n", {"delimiter": ";"},
     """delimiter must be that of the file ("," splits every line into 2), """
     "got source='a.csv', delimiter=';'"),
    ("a b\n1 2\n3 4\n", {},
     "delimiter must be that of the file (' ' splits every line into 2: delimiter=' '), "
     "got source='a.csv'"),
    ("a;b,c\nd;e,f\n", {},
     """what stands between cells must be clear, not "," or ";" (delimiter= says it), """
     "got source='a.csv'"),
    ("ann,1|2\nbob,3|4\n", {},
     """what stands between cells must be clear, not "," or "|" (delimiter= says it), """
     "got source='a.csv'"),
    ("a,b\n1,2\n", {"delimiter": ",,"}, "delimiter must be one sign, or None, got delimiter=',,'"),
    ("a,b\n1,2\n", {"delimiter": "x"}, "delimiter must be one sign, or None, got delimiter='x'"),
    ("a,b\n1,2\n", {"decimal": ";"}, "decimal must be '.', ',' or None, got decimal=';'"),
    ("a,b\n1,2\n", {"header": "yes"}, "header must be True or False, got header='yes'"),
    ("a,b\n1,2\n", {"encoding": 3}, "encoding must be a string, got encoding=3"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_odd_files_are_refused(case: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content, options, text = REFUSED[case]
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert _refusal("a.csv", **options) == f"read_table: {text}"


def _refusal(path: str | Path, **options: Any) -> str:
    with pytest.raises((ValueError, TypeError)) as caught:
        read_table(path, **options)
    return str(caught.value)


def _written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "options", "expected"),
    [
        ("0,1,2\n5,6,7\n", {"header": False}, {f"column {i}": [i, 5 + i] for i in range(3)}),
        ("0,1,2\n5,6,7\n", {"header": True}, {"0": [5], "1": [6], "2": [7]}),
        ('a,b\n"1,5",2\n', {"decimal": ","}, {"a": [1.5], "b": [2]}),
        ("a;b\n1,234;2\n", {"decimal": ","}, {"a": [1.234], "b": [2]}),
        ("x\n1,5\n2,5\n", {"delimiter": ";"}, {"x": [1.5, 2.5]}),
        ("a b\n1  2\n3 4\n", {"delimiter": " "}, AB),
        ("a\x01b\n1\x012\n3\x014\n", {"delimiter": "\x01"}, AB),
        ("ż,b\n1,2\n".encode("cp1250"), {"encoding": "cp1250"}, {"ż": [1], "b": [2]}),
        ("ä,b\n1,2\n".encode("utf-16-le"), {"encoding": "utf-16-le"}, {"ä": [1], "b": [2]}),
        ("a,b\n1,2\n3,4\n", {"header": 1}, AB),
    ],
)
def test_what_is_said_decides(
    content: str | bytes, options: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    table = read_table(_written(tmp_path, "a.csv", content), **options)
    assert {name: values(table, name) for name in table.names} == expected
    assert options.items() <= {**table.options, "header": int(table.options["header"])}.items()


def test_a_delimiter_that_the_name_of_the_file_says(tmp_path: Path) -> None:
    text = "a,b\tc,d\ne,f\tg,h\n"
    assert read_table(_written(tmp_path, "a.tsv", text)).names == ["a,b", "c,d"]
    assert read_table(_written(tmp_path, "b.tsv", "a,b\n1,2\n")).names == ["a", "b"]


def test_compressed(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0)
    table = read_table(_written(tmp_path, "a.csv.gz", packed))
    assert {name: values(table, name) for name in table.names} == AB
    path = _written(tmp_path, "b.csv.gz", packed[:-6])
    assert _refusal(path) == f"read_table: gzip file must be whole, got path={str(path)!r}"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("a.xlsx", "save the sheet as CSV"),
        ("a.json", "pandas.read_json, then as_table"),
        ("a.pkl", "nothing is unpickled here"),
        ("a.npz", "read_arrays reads it"),
    ],
)
def test_other_files(name: str, hint: str, tmp_path: Path) -> None:
    path = _written(tmp_path, name, "a,b\n1,2\n")
    expected = f"read_table: file must be CSV, Parquet or Arrow ({hint}), got path={str(path)!r}"
    assert _refusal(path) == expected


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^\[Errno 2\] read_table: could not read .*a.csv"):
        read_table(tmp_path / "a.csv")
