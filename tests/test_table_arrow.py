"""Tables of Parquet and Arrow: as pandas wrote them, and refused where they are damaged."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extensor.data.table import Table, read_table


def _values(table: Table, name: str) -> list[Any]:
    return table[name].words().tolist()


def _frame() -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(
        {
            "n": [1, 2, 3],
            "f": [1.5, np.nan, 2.5],
            "s": ["x", None, "y"],
            "d": np.array(["2020-01-01", "NaT", "2021-05-06"], "datetime64[s]"),
            "b": [True, False, True],
        }
    )


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "a.arrow", "a.arrows"])
def test_parquet_and_arrow(name: str, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.feather")
    pytest.importorskip("pyarrow.parquet")
    data = pyarrow.Table.from_pandas(_frame())
    path = tmp_path / name
    if name.endswith("parquet"):
        pyarrow.parquet.write_table(data, path)
    elif name.endswith("feather"):
        pyarrow.feather.write_feather(data, path)
    else:
        new = pyarrow.ipc.new_file if name.endswith("arrow") else pyarrow.ipc.new_stream
        with new(path, data.schema) as writer:
            writer.write_table(data)
    table = read_table(path)
    assert {x: (table[x].kind, _values(table, x)) for x in table.names} == {
        "n": ("number", ["1", "2", "3"]),
        "f": ("number", ["1.5", None, "2.5"]),
        "s": ("category", ["x", None, "y"]),
        "d": ("date", ["2020-01-01", None, "2021-05-06"]),
        "b": ("category", ["True", "False", "True"]),
    }
    assert table.said == []
    assert len(read_table(path, **table.options)) == 3
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], content[:8]):
        path.write_bytes(damaged)
        kind = "Parquet" if name.endswith("parquet") else "Arrow"
        text = f"read_table: file must be whole, as {kind} is, got source={str(path)!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            read_table(path)


def test_what_parquet_has_besides(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(
        {"a": [1, 2], "l": [[1], [2]], "c": pandas.Categorical(["x", "y"])}, index=[5, 9]
    )
    frame.to_parquet(tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet")
    assert [(x, table[x].kind) for x in table.names] == [("a", "number"), ("c", "category")]
    assert table.said == [
        "column 'l' is left out: it is of no numbers, words or dates",
        "column '__index_level_0__' is the index of pandas and is left out",
    ]
    frame[["l"]].reset_index(drop=True).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"^read_table: table must have a column of numbers, words"
    ):
        read_table(tmp_path / "b.parquet")
    frame[["a"]].iloc[:0].to_parquet(tmp_path / "c.parquet")
    with pytest.raises(
        ValueError, match=r"^read_table: file must have at least one row, got source"
    ):
        read_table(tmp_path / "c.parquet")


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return imported(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(ImportError) as caught:
        read_table(path)
    assert str(caught.value) == (
        "read_table: pyarrow must be installed to read Parquet and Arrow, "
        "see pip install extensor[parquet]"
    )
