"""Columns and tables: kinds, values, what is missing, and the row that an error names."""

from __future__ import annotations

import datetime
import decimal
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data.table import Column, Table, as_table, read_table
from extensor.data.table.cells import ORDERS, parse_dates
from extensor.errors.messages import COLUMN_NOT_FOUND, meant


def _read(folder: Path, text: str, **options: Any) -> Table:
    path = folder / "a.csv"
    path.write_text(text)
    return read_table(path, **options)


def _refused(work: Any) -> str:
    with pytest.raises((ValueError, TypeError)) as caught:
        work()
    return str(caught.value)


def test_kinds_and_values(tmp_path: Path) -> None:
    text = "n,f,c,d,b\n3,1.5,x,2020-01-02,True\n,2.0,,,False\n1,,y,2019-12-31 10:30,True\n"
    table = _read(tmp_path, text)
    assert len(table) == 3
    assert [table[name].kind for name in table.names] == (
        ["number", "number", "category", "date", "category"]
    )
    assert table["n"].is_whole
    assert not table["f"].is_whole
    np.testing.assert_array_equal(table["n"].missing, [False, True, False])
    np.testing.assert_array_equal(table["n"].numbers(), [3, np.nan, 1])
    assert table["c"].words().tolist() == ["x", None, "y"]
    assert table["d"].words().tolist() == ["2020-01-02", None, "2019-12-31 10:30"]
    expected = np.array(["2020-01-02", "NaT", "2019-12-31T10:30"], "datetime64[s]")
    np.testing.assert_array_equal(table["d"].dates(), expected)
    assert table["d"].dates().dtype == "datetime64[s]"
    assert table["n"].distinct() == [1, 3]
    assert table["f"].distinct() == [1.5, 2.0]
    assert table["c"].distinct() == ["x", "y"]
    assert table["d"].distinct() == [expected[2], expected[0]]
    assert repr(table["n"]) == "Column('n', number, 3 rows, 1 missing)"
    assert "f" in table
    assert "g" not in table
    assert list(table) == table.names


@pytest.mark.parametrize(
    ("rows", "distinct", "kind"),
    [(20, 20, "category"), (21, 21, "text"), (100, 51, "text"), (100, 50, "category")],
)
def test_words_are_a_category_or_text(rows: int, distinct: int, kind: str) -> None:
    words = [f"w{i % distinct}" for i in range(rows)]
    assert as_table({"a": words})["a"].kind == kind


def test_rows_keep_the_kind_and_the_line(tmp_path: Path) -> None:
    table = _read(tmp_path, 'w,d\n"a\nb",31/01/2020\nx,01/02/2020\n\ny,02/03/2020\n')
    some = table.rows(np.array([2, 1]))
    assert some["w"].words().tolist() == ["y", "x"]
    # On their own these dates could be of either order.
    assert some["d"].kind == "date"
    expected = np.array(["2020-03-02", "2020-02-01"], "datetime64[s]")
    np.testing.assert_array_equal(some["d"].dates(), expected)
    where = f"got source={table.source!r}, line=6, column='w', cell='y'"
    assert _refused(some["w"].numbers) == f"table: cells must be numbers, {where}"
    assert (
        _refused(some["w"].dates) == f"table: cells must be dates, all written in one way, {where}"
    )
    assert len(table.rows([])) == 0
    assert table.rows(ex.tensor([1]))["w"].words().tolist() == ["x"]


def test_choosing_columns(tmp_path: Path) -> None:
    table = _read(tmp_path, "a,b,size\n1,2,3\n")
    assert table.select(["size", "a"]).names == ["size", "a"]
    assert table.without("b").names == ["a", "size"]
    assert table.without().names == table.names
    assert table.select(["a"]).source == table.source
    assert table.select(["a"]).said == table.said
    text = COLUMN_NOT_FOUND.text(meant("size"), column="sizes", source=table.source)
    assert _refused(lambda: table["sizes"]) == text
    assert _refused(lambda: table.select(["sizes"])) == text
    assert _refused(lambda: table.without("sizes")) == text
    assert _refused(lambda: table.without(*table.names)) == (
        "without: a column must be left, got names=['a', 'b', 'size']"
    )
    assert _refused(lambda: table.rows([1])) == (
        "rows: rows must be chosen from 0 to 0, got lowest=1, highest=1"
    )
    assert _refused(lambda: table.rows([-1])) == (
        "rows: rows must be chosen from 0 to 0, got lowest=-1, highest=-1"
    )
    assert _refused(lambda: table.rows([True])) == (
        "rows: rows must be chosen by a row of integers, got indices='list'"
    )


def test_tables_of_columns_that_do_not_fit() -> None:
    one = as_table({"a": [1, 2]})["a"]
    assert _refused(lambda: Table([one, one])) == (
        "Table: names of columns must differ, got names=['a', 'a']"
    )
    other = as_table({"b": [1]})["b"]
    assert _refused(lambda: Table([one, other])) == (
        "Table: columns must have the same length, got lengths=[1, 2]"
    )
    assert (
        _refused(lambda: Table([]))
        == "Table: columns must be a list of columns, got columns='list'"
    )


def test_what_is_written_is_kept_where_a_float_would_lose_it(tmp_path: Path) -> None:
    table = _read(tmp_path, "zip,big,plain\n00123,9007199254740993,1\n00124,9007199254740992,2\n")
    assert table["zip"].words().tolist() == ["00123", "00124"]
    assert table["big"].distinct() == [9007199254740992, 9007199254740993]
    assert table["plain"].words().tolist() == ["1", "2"]
    assert all(table[name].kind == "number" and table[name].is_whole for name in table.names)


def test_numbers_where_a_column_is_of_words(tmp_path: Path) -> None:
    table = _read(tmp_path, "a;b;c\n1,5;x;2,5\n7;2;3,5\n")
    assert table["b"].kind == "category"
    assert _refused(lambda: table["b"].numbers("fit")) == (
        f"fit: cells must be numbers, got source={table.source!r}, line=2, column='b', cell='x'"
    )
    strings = as_table({"a": ["1.5", None, "2"]})
    assert strings["a"].kind == "category"
    assert strings.said == ["column 'a' is taken as words: its numbers are strings"]
    np.testing.assert_array_equal(strings["a"].numbers(), [1.5, np.nan, 2])
    mixed = as_table({"a": [1, "x", 2.5]})
    assert mixed["a"].words().tolist() == ["1", "x", "2.5"]
    assert _refused(mixed["a"].numbers) == (
        "table: cells must be numbers, got source='a dict', row=1, column='a', cell='x'"
    )


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("2020-03-04", "2020-03-04T00:00:00"),
        ("2020/3/4", "2020-03-04T00:00:00"),
        ("2020-03-04 05:06", "2020-03-04T05:06:00"),
        ("2020-03-04T05:06:07.999", "2020-03-04T05:06:07"),
        ("2020-03-04T05:06:07Z", "2020-03-04T05:06:07"),
        ("2020-03-04T05:06:07+0230", "2020-03-04T02:36:07"),
        ("2020-03-04T23:06:07-01", "2020-03-05T00:06:07"),
        ("2020-02-29", "2020-02-29T00:00:00"),
        ("2021-02-29", None),
        ("2020-13-01", None),
        ("2020-03-04T24:00", None),
        ("2020-03/04", None),
        ("2020", None),
        ("20200304", None),
        ("today", None),
    ],
)
def test_dates_with_the_year_first(cell: str, expected: str | None) -> None:
    found = parse_dates([cell], "ymd")
    assert (None if found is None else str(found[0])) == expected
    if expected is not None and "T" in cell and len(cell) > 20 and "." not in cell:
        right = datetime.datetime.fromisoformat(cell).astimezone(datetime.UTC)
        assert right.replace(tzinfo=None).isoformat() == expected


@pytest.mark.parametrize("order", ORDERS[1:])
def test_dates_with_the_year_last(order: str, rng: np.random.Generator) -> None:
    days = np.datetime64("1999-01-01") + rng.integers(0, 20_000, 200)
    layout = "%d/%m/%Y" if order == "dmy" else "%m/%d/%Y"
    cells = [day.strftime(layout) for day in days.tolist()]
    np.testing.assert_array_equal(parse_dates(cells, order), days.astype("datetime64[s]"))
    column = as_table({"a": cells})["a"]
    assert (column.kind, column.order) == ("date", order)
    np.testing.assert_array_equal(column.dates(), days.astype("datetime64[s]"))


def test_dates_that_need_to_be_told_apart(tmp_path: Path) -> None:
    table = _read(tmp_path, "d,x\n01/02/2020,1\n03/04/2020,2\n")
    column = table["d"]
    assert _refused(column.dates) == (
        "table: at least one date must show whether day or month comes first (write them as 2024-01-31), "
        f"got source={table.source!r}, line=2, column='d', cell='01/02/2020'"
    )
    assert [str(x)[:10] for x in column.dates("dmy")] == ["2020-02-01", "2020-04-03"]
    assert [str(x)[:10] for x in column.dates("mdy")] == ["2020-01-02", "2020-03-04"]
    certain = _read(tmp_path, "d,x\n31/02/2020,1\n30/04/2020,2\n")["d"]
    assert _refused(lambda: certain.dates("dmy")) == (
        f"table: cells must be dates, day/month/year, got source={table.source!r}, line=2, "
        "column='d', cell='31/02/2020'"
    )


def _frame() -> Any:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    moments = ["2020-01-01 00:00", "2020-07-02 10:00", None]
    return pandas.DataFrame(
        {
            "int": [1, 2, 3],
            "uint": np.array([1, 2, 2**64 - 1], np.uint64),
            "float": np.array([1.5, np.nan, 2], np.float32),
            "whole": [1.0, np.nan, 2.0],
            "bool": [True, False, True],
            "str": ["a ", "NA", None],
            "date": pandas.to_datetime(moments),
            "zone": pandas.to_datetime(moments).tz_localize("Europe/Berlin"),
            "early": np.array(["1500-01-01", "1600-01-01", "NaT"], "datetime64[s]"),
            "category": pandas.Categorical([10, 2, 10]),
            "Int64": pandas.array([1, None, 3], dtype="Int64"),
            "boolean": pandas.array([True, None, False], dtype="boolean"),
            "Float64": pandas.array([1.5, None, 3], dtype="Float64"),
            "string": pandas.array(["x", None, "y"], dtype="string"),
            "arrow": pandas.array([1, None, 2], dtype="int64[pyarrow]"),
            "days": [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)],
            "decimal": [decimal.Decimal("1.5"), None, decimal.Decimal(2)],
            "list": [[1], [2], [3]],
            7: ["u", "u", "v"],
        }
    )


FRAME = {
    "int": ("number", True, ["1", "2", "3"]),
    "uint": ("number", True, ["1", "2", "18446744073709551615"]),
    "float": ("number", False, ["1.5", None, "2"]),
    "whole": ("number", True, ["1", None, "2"]),
    "bool": ("category", False, ["True", "False", "True"]),
    "str": ("category", False, ["a", None, None]),
    "date": ("date", False, ["2020-01-01", "2020-07-02T10:00:00", None]),
    "zone": ("date", False, ["2019-12-31T23:00:00", "2020-07-02T08:00:00", None]),
    "early": ("date", False, ["1500-01-01", "1600-01-01", None]),
    "category": ("category", True, ["10", "2", "10"]),
    "Int64": ("number", True, ["1", None, "3"]),
    "boolean": ("category", False, ["True", None, "False"]),
    "Float64": ("number", False, ["1.5", None, "3"]),
    "string": ("category", False, ["x", None, "y"]),
    "arrow": ("number", True, ["1", None, "2"]),
    "days": ("date", False, ["2020-01-01", None, "2021-01-01"]),
    "decimal": ("number", False, ["1.5", None, "2"]),
    "7": ("category", False, ["u", "u", "v"]),
}


@pytest.mark.filterwarnings("ignore:The DataFrame has column names of mixed type")
@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_data_frames(kind: str) -> None:
    frame = _frame()
    before = frame.copy(deep=True)
    if kind == "pyarrow":
        table = as_table(pytest.importorskip("pyarrow").Table.from_pandas(frame))
    else:
        table = as_table(frame)
    found = {x: (table[x].kind, table[x].is_whole, table[x].words().tolist()) for x in table.names}
    assert found == FRAME
    assert table.said == ["column 'list' is left out: it is of no numbers, words or dates"]
    assert table.source == ("a DataFrame" if kind == "pandas" else "an Arrow table")
    assert frame.equals(before)
    frame.loc[0, "float"] = 9.0
    assert table["float"].numbers()[0] == 1.5


def test_polars() -> None:
    # Not among what the tests install: checked where it is.
    polars = pytest.importorskip("polars")
    table = as_table(
        polars.DataFrame(
            {
                "i": [1, None, 3],
                "f": [1.5, None, 2.0],
                "b": [True, None, False],
                "s": ["a", None, "b"],
                "d": [datetime.date(2020, 1, 1), None, datetime.date(2020, 1, 2)],
                "c": polars.Series([*"uvu"], dtype=polars.Categorical),
                "l": [[1], [2], [3]],
            }
        )
    )
    assert {x: (table[x].kind, table[x].words().tolist()) for x in table.names} == {
        "i": ("number", ["1", None, "3"]),
        "f": ("number", ["1.5", None, "2"]),
        "b": ("category", ["True", None, "False"]),
        "s": ("category", ["a", None, "b"]),
        "d": ("date", ["2020-01-01", None, "2020-01-02"]),
        "c": ("category", ["u", "v", "u"]),
    }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (np.array([[1.5, 2.0], [3.0, np.nan]]), {"0": "number", "1": "number"}),
        (np.array([["1", "a"], ["2", "b"]]), {"0": "number", "1": "category"}),
        (np.array([[1, "a"], [2.5, None]], object), {"0": "number", "1": "category"}),
        (ex.tensor([[1.0, 2.0]], requires_grad=True), {"0": "number", "1": "number"}),
        ([[1, 2], [3, 4]], {"0": "number", "1": "number"}),
        ({"a": ex.tensor([1.0]), "b": ("x",), "c": np.array(["2020-01-01"], "M8[D]")},
         {"a": "number", "b": "category", "c": "date"}),
        ({"a": [None, None]}, {"a": "number"}),
        ({"a": [True, None, False]}, {"a": "category"}),
    ],
)  # fmt: skip
def test_other_data(data: Any, expected: dict[str, str]) -> None:
    table = as_table(data)
    assert {name: table[name].kind for name in table.names} == expected
    assert as_table(table) is table


TAKEN = "as_table: data must be a DataFrame, a dict of columns or a matrix"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (3, f"{TAKEN}, got data=3"),
        ([1, 2], f"{TAKEN}, got data='list'"),
        ([[1], [2, 3]], f"{TAKEN}, got data='list'"),
        (np.zeros((2, 2), complex), f"{TAKEN}, got data='ndarray'"),
        (np.zeros((2, 0)), "as_table: data must have at least one column, got source='a matrix'"),
        ({}, "as_table: data must have at least one column, got source='a dict'"),
        ({"a": 3}, "as_table: column 'a' must be a row of values, got values=3"),
        ({"a": "xy"}, "as_table: column 'a' must be a row of values, got values='xy'"),
        (
            {"a": [1], "b": [1, 2]},
            "as_table: columns must have the same length, got lengths={'a': 1, 'b': 2}",
        ),
        (
            {1: [1], "1": [2]},
            "as_table: names of columns must differ, got source='a dict', name='1', columns=[0, 1]",
        ),
        (
            {"": [1]},
            "as_table: names of columns must be strings, not empty, or integers, got name=''",
        ),
        (
            {"a": [[1], [2]]},
            "as_table: data must have a column of numbers, words or dates, "
            "got source='a dict', columns=['a']",
        ),
    ],
)
def test_data_that_are_no_table(data: Any, text: str) -> None:
    assert _refused(lambda: as_table(data)) == text


def test_a_series_is_no_table() -> None:
    pandas = pytest.importorskip("pandas")
    hint = " (a Series has to_frame()), got data='Series'"
    assert _refused(lambda: as_table(pandas.Series([1]))) == f"{TAKEN}{hint}"
    twice = pandas.DataFrame([[1, 2]], columns=["a", "a"])
    assert re.match("as_table: names of columns must differ", _refused(lambda: as_table(twice)))


def test_columns_do_not_share_what_they_give() -> None:
    column: Column = as_table({"a": [1.0, 2.0]})["a"]
    column.numbers()[0] = 5
    assert column.numbers().tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        column.missing[0] = True
