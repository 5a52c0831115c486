"""Encoders of tables: what scikit-learn makes of the same data, and the same bits for the same rows."""

from __future__ import annotations

import decimal
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data.table import Table, TableEncoder, as_table, read_table
from extensor.data.table.column_statistics import LIMIT
from extensor.errors.messages import COLUMN_NOT_FOUND, known, meant

EPS = float(np.finfo(np.float32).eps)


def _refused(work: Any) -> str:
    with pytest.raises((ValueError, TypeError)) as caught:
        work()
    return str(caught.value)


def _drawn(rng: np.random.Generator, rows: int = 200) -> dict[str, Any]:
    gone = rng.random(rows) < 0.2
    return {
        "size": rng.normal(5, 3, rows),
        "income": np.where(gone, np.nan, rng.lognormal(10, 2, rows)),
        "count": rng.integers(0, 30, rows),
        "city": rng.choice(["Rome", "Oslo", "Bonn"], rows).astype(object),
        "level": [None if x else str(y) for x, y in zip(gone, rng.choice([*"abc"], rows), strict=True)],
        "when": np.datetime64("2019-06-01T00:00:00") + rng.integers(0, 10**8, rows),
    }  # fmt: skip


def test_numbers_as_scikit_learn(rng: np.random.Generator) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    impute = pytest.importorskip("sklearn.impute")
    data = _drawn(rng)
    raw = np.stack([data["size"], data["income"], data["count"]], 1).astype(np.float64)
    filled = impute.SimpleImputer(strategy="mean").fit(raw)
    # The deviation is that of the values that are there.
    scaler = preprocessing.StandardScaler().fit(raw)
    expected = scaler.transform(filled.transform(raw))
    table = as_table({name: data[name] for name in ("size", "income", "count")})
    encoder = TableEncoder.fit(table)
    assert encoder.features == ["size", "income", "income missing", "count"]
    found = encoder.encode(table)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[:, [0, 1, 3]], expected, rtol=4 * EPS, atol=EPS)
    np.testing.assert_array_equal(found[:, 2], np.isnan(raw[:, 1]))
    later = as_table({"size": [np.nan, 1.0], "income": [1.0, np.nan], "count": [3, 4]})
    raw = np.array([[np.nan, 1, 3], [1, np.nan, 4]])
    expected = scaler.transform(filled.transform(raw))
    found = encoder.encode(later)
    np.testing.assert_allclose(found[:, [0, 1, 3]], expected, rtol=4 * EPS, atol=EPS)
    assert found[:, 2].tolist() == [0, 1]


def test_categories_as_scikit_learn(rng: np.random.Generator) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    data = {name: values for name, values in _drawn(rng).items() if name in ("city", "level")}
    names = np.array(list(data.values()), object).T
    known = preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(names)
    table = as_table(data)
    encoder = TableEncoder.fit(table)
    assert encoder.features == [
        "city=Bonn", "city=Oslo", "city=Rome", "city other",
        "level=a", "level=b", "level=c", "level other", "level missing",
    ]  # fmt: skip
    found = encoder.encode(table)
    # scikit-learn has None among the categories, as the last, and nothing for others.
    np.testing.assert_array_equal(found[:, [0, 1, 2, 4, 5, 6, 8]], known.transform(names))
    assert not found[:, [3, 7]].any()
    later = encoder.encode(as_table({"level": ["z", None, "a"], "city": [None, "Wien", "Oslo"]}))
    assert later.tolist() == [
        [0, 0, 0, 1, 0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 1, 0, 0, 0, 0],
    ]


def test_many_categories_as_scikit_learn(rng: np.random.Generator) -> None:
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    # As often as their number, so that the 50 most frequent are known.
    words = np.repeat([f"w{i:02}" for i in range(1, 71)], np.arange(1, 71)).astype(object)
    rng.shuffle(words)
    known = preprocessing.OneHotEncoder(
        max_categories=51, handle_unknown="infrequent_if_exist", sparse_output=False
    ).fit(words[:, None])
    encoder = TableEncoder.fit(as_table({"a": words}))
    assert encoder.features == [*(f"a=w{i}" for i in range(21, 71)), "a other"]
    asked = np.array(["w01", "w20", "w21", "w70", "new"], object)
    expected = known.transform(asked[:, None])
    np.testing.assert_array_equal(encoder.encode(as_table({"a": asked})), expected)
    assert encoder.describe() == [
        "a: category, 70 values (w21, w22, w23, w24, w25, ...); one-hot, 20 of them as other"
    ]


def test_dates_by_hand() -> None:
    cells = ["2020-01-01 06:00", "2020-07-02 18:00", "2021-03-03 12:00"]
    table = as_table({"d": cells})
    encoder = TableEncoder.fit(table)
    waves = [
        f"d {wave} of {cycle}" for cycle in ("year", "week", "day") for wave in ("sine", "cosine")
    ]
    assert encoder.features == ["d", *waves]
    seconds = np.array(cells, "M8[s]").astype(np.float64)
    # Days of the years 2020, which has 366, and 2021; weekdays from Monday; hours.
    year = np.array([0.25 / 366, (31 + 29 + 31 + 30 + 31 + 30 + 1.75) / 366, (31 + 28 + 2.5) / 365])
    week = np.array([2 + 6 / 24, 3 + 18 / 24, 2 + 12 / 24]) / 7
    hours = np.array([6, 18, 12]) / 24
    angles = [2 * np.pi * x for x in (year, week, hours)]
    expected = [(seconds - seconds.mean()) / seconds.std()]
    expected += [wave(angle) for angle in angles for wave in (np.sin, np.cos)]
    np.testing.assert_allclose(encoder.encode(table).T, expected, rtol=4 * EPS, atol=EPS)


@pytest.mark.parametrize(
    ("cells", "cycles"),
    [
        (["2019-05-01", "2020-05-01", "2024-05-01"], ["week"]),
        (["2024-01-01", "2024-01-08", "2024-01-15"], ["year"]),
        (["2024-01-01 10:00", "2024-01-01 11:00"], ["day"]),
        (["2024-12-31", "2023-12-31"], ["week"]),
        (["2024-01-01", "2024-01-02"], ["year", "week"]),
    ],
)
def test_cycles_that_do_not_vary_are_left_out(cells: list[str], cycles: list[str]) -> None:
    features = TableEncoder.fit(as_table({"d": cells})).features
    assert features[1::2] == [f"d sine of {cycle}" for cycle in cycles]


def test_dates_later(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("d,x\n31/01/2020,1\n01/02/2020,2\n,3\n")
    encoder = TableEncoder.fit(read_table(path), {"x": "drop"})
    assert encoder.describe() == [
        "d: date, 2020-01-31 to 2020-02-01, 1 missing; position in time, cycle of the year, "
        "cycle of the week, whether it is missing",
        "x: left out, as asked",
    ]
    expected = encoder.encode(as_table({"d": ["2020-02-01", None]}))
    assert expected[1].tolist() == [0] * 5 + [1]
    # The day comes first, as it did: on its own this could be either.
    path.write_text("d\n01/02/2020\n?\n")
    np.testing.assert_array_equal(encoder.encode(read_table(path)), expected)
    np.testing.assert_array_equal(
        encoder.encode(as_table({"d": np.array(["2020-02-01", "NaT"], "M8[D]")})), expected
    )
    path.write_text("d\n02/28/2020\n")
    assert _refused(lambda: encoder.encode(read_table(path))) == (
        f"encode: cells must be dates, day/month/year, got source={str(path)!r}, line=2, "
        "column='d', cell='02/28/2020'"
    )


def _encoders(rng: np.random.Generator) -> tuple[Table, TableEncoder]:
    table = as_table(_drawn(rng))
    return table, TableEncoder.fit(table)


def test_the_same_bits(rng: np.random.Generator, tmp_path: Path) -> None:
    table, encoder = _encoders(rng)
    matrix = encoder.encode(table)
    assert np.isfinite(matrix).all()
    np.testing.assert_array_equal(encoder.encode(table), matrix)
    order = rng.permutation(len(table))
    mixed = table.rows(order)
    np.testing.assert_array_equal(encoder.encode(mixed), matrix[order])
    np.testing.assert_array_equal(encoder.encode(mixed.select(mixed.names[::-1])), matrix[order])
    again = TableEncoder.fit(mixed)
    assert again.state_dict() == encoder.state_dict()
    for one in (0, 7, 199):
        np.testing.assert_array_equal(encoder.encode(table.rows([one])), matrix[one : one + 1])
    ex.save(tmp_path / "state", {"encoder": encoder.state_dict()})
    loaded = TableEncoder.from_state(ex.load(tmp_path / "state")["encoder"])
    for other in (loaded, TableEncoder.from_state(json.loads(json.dumps(encoder.state_dict())))):
        np.testing.assert_array_equal(other.encode(table), matrix)
        assert other.names == encoder.names
        assert other.features == encoder.features
        assert other.dropped == encoder.dropped
        assert other.describe() == encoder.describe()


def test_files_and_frames_alike(rng: np.random.Generator, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(_drawn(rng))
    frame["flag"] = rng.random(len(frame)) < 0.5
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv", sep=";", decimal=",")
    tables = [as_table(frame), *(read_table(tmp_path / name) for name in ("a.csv", "b.csv"))]
    encoders = [TableEncoder.fit(table, {"count": "category"}) for table in tables]
    for encoder in encoders:
        for table in tables:
            np.testing.assert_array_equal(encoder.encode(table), encoders[0].encode(tables[0]))


def test_numbers_as_categories_whatever_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("code,x\n1,5\n2,6\n10,7\n")
    encoder = TableEncoder.fit(read_table(tmp_path / "a.csv"), {"code": "category"})
    assert encoder.features[:4] == ["code=1", "code=10", "code=2", "code other"]
    # pandas has made floats of these, as one is missing; others write a fraction, or a word.
    (tmp_path / "b.csv").write_text("code,x\n10.0,1\nx,1\n2,1\n")
    for table in (
        as_table({"code": [10.0, np.nan, 2.0], "x": [1, 1, 1]}),
        read_table(tmp_path / "b.csv"),
    ):
        assert encoder.encode(table)[:, :4].tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]


@pytest.mark.parametrize(
    "values",
    [
        [1e308, -1e308, 1.7e308, 0.0],
        [1e-300, 3e-300, -5e-300],
        [1e300, 1e-300, 0.0, 1.0],
        [1e15, 1e15 + 1, 1e15 + 2],
        [0.0] * 999 + [1e30],
    ],
)
def test_numbers_of_any_size(values: list[float]) -> None:
    found = TableEncoder.fit(as_table({"a": values})).encode(as_table({"a": values}))
    with decimal.localcontext(prec=60):
        wide = [decimal.Decimal(x) for x in values]
        mean = sum(wide) / len(wide)
        deviation = (sum((x - mean) ** 2 for x in wide) / len(wide)).sqrt()  # type: ignore[attr-defined]
        expected = [float((x - mean) / deviation) for x in wide]
    np.testing.assert_allclose(found[:, 0], expected, rtol=4 * EPS, atol=EPS)


@pytest.mark.parametrize(
    "values", [[1e308, -1.7e308], [5e-324, 1e-323, 0.0], [3.0, 3.0 + 2**-51], [0.0, 1e30]]
)
def test_no_number_becomes_infinite(values: list[float]) -> None:
    encoder = TableEncoder.fit(as_table({"a": values}))
    found = encoder.encode(as_table({"a": values}))[:, 0]
    assert np.argsort(found).tolist() == np.argsort(values).tolist()
    later = encoder.encode(as_table({"a": [1.7e308, -1.7e308, 5e-324]}))
    assert np.isfinite(later).all()
    assert np.abs(later).max() <= LIMIT


def test_what_tells_nothing_is_dropped(rng: np.random.Generator) -> None:
    rows = 100
    table = as_table(
        {
            "row": rng.permutation(rows),
            "customer_id": rng.permutation(10**6)[:rows],
            "year": np.arange(1900, 2000),
            "name": [f"person {i}" for i in range(rows)],
            "same": ["x"] * rows,
            "one": np.ones(rows),
            "day": np.full(rows, "2020-01-01", "M8[D]"),
            "none": [None] * rows,
            "blank": np.where(np.arange(rows) < 3, np.nan, 7.0),
            "size": rng.normal(size=rows),
        }
    )
    encoder = TableEncoder.fit(table)
    assert encoder.names == ["year", "blank", "size"]
    assert encoder.features == ["year", "blank missing", "size"]
    assert encoder.encode(table)[:5, 1].tolist() == [1, 1, 1, 0, 0]
    whole = "whole numbers, different in every row: an id (kinds={'%s': 'number'} keeps it)"
    assert encoder.dropped == {
        "row": whole % "row",
        "customer_id": whole % "customer_id",
        "name": "different in most rows: an id or text",
        "same": "constant: 'x' in every row",
        "one": "constant: '1' in every row",
        "day": "constant: '2020-01-01' in every row",
        "none": "all cells are missing",
    }
    kinds = {"row": "number", "name": "category", "size": "text", "year": "drop"}
    chosen = TableEncoder.fit(table, kinds)
    assert chosen.names == ["row", "name", "blank"]
    assert len(chosen.features) == 1 + 51 + 1
    assert (chosen.dropped["size"], chosen.dropped["year"]) == ("as asked", "as asked")
    assert _refused(lambda: TableEncoder.fit(table.select(["same"]))) == (
        "fit: table must have a column to learn from, got source='a dict', "
        "dropped={'same': \"constant: 'x' in every row\"}"
    )


def test_what_encoders_refuse(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("size,city\n1.5,Rome\n2.5,Oslo\n")
    table = read_table(tmp_path / "a.csv")
    encoder = TableEncoder.fit(table)
    source = f"source={str(tmp_path / 'b.csv')!r}"
    assert _refused(lambda: TableEncoder.fit(table, {"sise": "number"})) == (
        "fit: kinds must name columns of the table (did you mean 'size'?), got name='sise'"
    )
    assert _refused(lambda: TableEncoder.fit(table, {"size": "float"})) == (
        "fit: kinds['size'] must be 'number', 'category', 'date', 'text' or 'drop', "
        "got kinds['size']='float'"
    )
    assert _refused(lambda: TableEncoder.fit(table, {"city": "number"})) == (
        f"fit: cells must be numbers, got source={table.source!r}, line=2, column='city', cell='Rome'"
    )
    for text, advice in (
        ("Size,city\n1,Rome\n", meant("Size")), ("town,area\nRome,2\n", known("town", "area")),
    ):  # fmt: skip
        (tmp_path / "b.csv").write_text(text)
        other = read_table(tmp_path / "b.csv")
        expected = COLUMN_NOT_FOUND.text(advice, column="size", source=str(tmp_path / "b.csv"))
        assert _refused(lambda other=other: encoder.encode(other)) == expected
    for text, message in (
        ("size,city\n1,Rome\n\nbig,Oslo\n",
         f"cells must be numbers, got {source}, line=4, column='size', cell='big'"),
        ("size,city\n1,Rome\ninf,Oslo\n",
         f"numbers must be finite, got {source}, line=3, column='size', cell='inf'"),
        ("size,city\n1,Rome\n-1e999,Oslo\n",
         f"numbers must be finite, got {source}, line=3, column='size', cell='-inf'"),
    ):  # fmt: skip
        (tmp_path / "b.csv").write_text(text)
        other = read_table(tmp_path / "b.csv")
        assert _refused(lambda other=other: encoder.encode(other)) == f"encode: {message}"
    frame = as_table({"size": ["x"], "city": ["Rome"]})
    assert _refused(lambda: encoder.encode(frame)) == (
        "encode: cells must be numbers, got source='a dict', row=0, column='size', cell='x'"
    )
    # Further columns are not looked at.
    more = as_table({"size": [1.0], "city": ["Rome"], "more": ["?!"]})
    np.testing.assert_array_equal(encoder.encode(more), encoder.encode(more.without("more")))
    empty = table.rows([])
    assert encoder.encode(empty).shape == (0, 4)
    assert _refused(lambda: TableEncoder.fit(empty)) == (
        f"fit: table must have at least one row, got source={table.source!r}"
    )


def test_features_have_names_that_differ() -> None:
    table = as_table({"a": [1.0, None, 3.0], "a missing": [1.0, 2.0, 4.0]})
    assert TableEncoder.fit(table).features == ["a", "a missing", "a missing (2)"]


def test_descriptions(rng: np.random.Generator) -> None:
    table = as_table(
        {"a": [1.0, 2.123456, None], "b": [5, 7, 6], "c": ["x", None, "y"], "d": [1, None, 1]}
    )
    assert TableEncoder.fit(table).describe() == [
        "a: number, 1 to 2.123, 1 missing; standardized, and whether it is missing",
        "b: number, 5 to 7; standardized",
        "c: category, 2 values (x, y), 1 missing; one-hot",
        "d: number, 1 to 1, 1 missing; whether it is missing",
    ]
    assert repr(TableEncoder.fit(table)) == "TableEncoder(4 columns, 8 features)"
