"""Tables of what is in memory: data frames, dicts of columns, arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor
from extensor.data.table.arrow import table_of_arrow
from extensor.data.table.names import check_names
from extensor.data.table.table import Table
from extensor.data.table.values import column_of_values, origin_of
from extensor.errors import arguments, type_error, value_error

_OP = "as_table"
_TAKEN = "a DataFrame, a dict of columns or a matrix"


def as_table(data: Any) -> Table:
    """The table in a DataFrame of pandas or polars, a pyarrow Table, a dict of columns or a matrix.

    Strings stay words even where they read as numbers, except in a matrix of strings, whose columns
    have no types of their own; those of a matrix are called "0", "1" and so on. An index is ignored.

    >>> from extensor.data.table import as_table
    >>> as_table([[1, 2], [3, 4]])["1"].numbers().tolist()
    [2.0, 4.0]
    """
    if isinstance(data, Table):
        return data
    library = _library(data)
    if library == "pyarrow" and hasattr(data, "column_names"):
        return table_of_arrow(_OP, data, "an Arrow table")
    if library == "polars" and hasattr(data, "get_columns"):
        series = data.get_columns()
        return _table([x.name for x in series], [_of_polars(x) for x in series], "a DataFrame")
    if library == "pandas" and hasattr(data, "iloc") and getattr(data, "ndim", 0) == 2:
        values = [_of_pandas(data.iloc[:, place]) for place in range(data.shape[1])]
        return _table([_name(x) for x in data.columns], values, "a DataFrame")
    if isinstance(data, Mapping):
        rows = [(_row(name, values), False) for name, values in data.items()]
        return _table([_name(name) for name in data], rows, "a dict")
    return _of_matrix(data)


def _library(data: Any) -> str:
    known = {"pandas", "polars", "pyarrow"}
    modules = (kind.__module__.split(".")[0] for kind in type(data).__mro__)
    return next((module for module in modules if module in known), "")


def _name(name: Any) -> str:
    if not isinstance(name, str | int | np.integer) or isinstance(name, bool) or name == "":
        given = arguments.briefly(name)
        raise type_error(
            _OP, "names of columns must be strings, not empty, or integers", name=given
        )
    return str(name)


def _table(names: list[str], columns: list[Any], source: str, is_typed: bool = True) -> Table:
    if not columns:
        raise value_error(_OP, "data must have at least one column", source=source)
    check_names(_OP, names, source=source)
    lengths = {name: len(values) for name, (values, _) in zip(names, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise value_error(_OP, "columns must have the same length", lengths=lengths)
    said: list[str] = []
    origin = origin_of(source, next(iter(lengths.values())))
    found = [
        column_of_values(name, values, is_category, origin, said, is_typed)
        for name, (values, is_category) in zip(names, columns, strict=True)
    ]
    usable = [column for column in found if column is not None]
    if not usable:
        requirement = "data must have a column of numbers, words or dates"
        raise value_error(_OP, requirement, source=source, columns=names)
    return Table(usable, source, said)


def _of_pandas(series: Any) -> tuple[Any, bool]:
    if series.dtype.name == "category":
        return series.astype(object).tolist(), True
    kind = getattr(series.dtype, "kind", "O")
    if kind == "M":
        if getattr(series.dt, "tz", None) is not None:
            series = series.dt.tz_convert(None)
        return series.to_numpy("datetime64[s]"), False
    if kind in "iufb" and not series.isna().any():
        return series.to_numpy(np.dtype(getattr(series.dtype, "numpy_dtype", series.dtype))), False
    if kind == "f":
        return series.to_numpy(np.float64, na_value=np.nan), False
    return series.astype(object).tolist(), False


def _of_polars(series: Any) -> tuple[Any, bool]:
    return series.to_list(), str(series.dtype).startswith(("Categorical", "Enum"))


def _row(name: Any, values: Any) -> Any:
    """What a dict has under a name, as an array or a list."""
    if isinstance(values, Tensor):
        values = values._array
    if _library(values) == "pandas" and hasattr(values, "dtype") and hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    if isinstance(values, list | tuple):
        return list(values)
    given = arguments.briefly(values)
    raise type_error(_OP, f"column {name!r} must be a row of values", values=given)


def _of_matrix(data: Any) -> Table:
    try:
        matrix = np.asarray(data._array if isinstance(data, Tensor) else data)
    except (TypeError, ValueError, RuntimeError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biufUOM":
        hint = " (a Series has to_frame())" if _library(data) == "pandas" else ""
        given = arguments.briefly(data)
        raise type_error(_OP, f"data must be {_TAKEN}{hint}", data=given)
    columns = [(matrix[:, place], False) for place in range(matrix.shape[1])]
    names = [str(place) for place in range(matrix.shape[1])]
    return _table(names, columns, "a matrix", is_typed=False)
