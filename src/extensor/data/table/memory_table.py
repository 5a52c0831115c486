"""Tables of values in memory: data frames, dicts of columns, matrices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from extensor.core.tensor import Tensor
from extensor.data.table.cells import number_text
from extensor.data.table.columnar import Column, Content, Origin, Table
from extensor.data.table.meaning import column_of_cells
from extensor.data.table.sniffing import TableFormat, check_names, numbers_rows
from extensor.errors import arguments, type_error, value_error

_NUMBERS = (int, float, np.integer, np.floating, Decimal)
_TRUTH = (bool, np.bool_)
_GONE = ("NAType", "NaTType")  # pandas', which are equal to nothing and have no truth
_EXACT = 2**53


def column_of_values(
    name: str,
    values: Any,
    is_category: bool,
    origin: Origin,
    said: list[str],
    is_typed: bool = True,
) -> Column | None:
    """A column of an array or a list of objects; None and a sentence if they are of other kinds.

    ``values`` that are None count as another kind.
    ``is_typed`` says that strings are words even if they read as numbers.
    """
    found = None if values is None else _content(values)
    if found is None:
        said.append(f"column {name!r} is left out: it is of no numbers, words or dates")
        return None
    if isinstance(found, Content):
        column = Column(name, found.kind, found, origin)
    else:
        column = column_of_cells(name, found, origin, is_typed=is_typed, said=said)
    if is_category and column.kind in ("number", "text"):
        column.kind = "category"
    return column


def _content(values: Any) -> Content | list[str | None] | None:
    """The content of a column, or its cells if they are strings; None for anything else."""
    match values.dtype.kind if isinstance(values, np.ndarray) else "O":
        case "O":
            return _content_of_objects([None if _is_gone(x) else x for x in values])
        case "b":
            return _words([str(bool(x)) for x in values])
        case "i" | "u":
            if len(values) and (int(values.min()) <= -_EXACT or int(values.max()) >= _EXACT):
                return _integers(values.tolist())
            numbers, missing = values.astype(np.float64), np.zeros(len(values), bool)
            return Content(missing, numbers=numbers, is_whole=len(values) > 0)
        case "f":
            return _floats(values.astype(np.float64))
        case "M":
            return _dates(values)
        case "U":
            return [cell.strip() for cell in values.tolist()]
    return None


def _content_of_objects(values: list[Any]) -> Content | list[str | None] | None:
    types = {type(x) for x in values} - {type(None)}
    if types and _are_all(types, _TRUTH):
        return _words([_word(x) for x in values])
    if _are_all(types, _NUMBERS) and not any(issubclass(x, _TRUTH) for x in types):
        if _are_all(types, (int, np.integer)):
            return _integers(values)
        return _floats(np.array([np.nan if x is None else float(x) for x in values]))
    if _are_all(types, (date, np.datetime64)):
        return _dates(np.array([_moment(x) for x in values]))
    if _are_all(types, (str, *_NUMBERS, *_TRUTH)):
        return [_word(x) for x in values]
    return None


def _are_all(types: set[type], kinds: tuple[type, ...]) -> bool:
    return all(issubclass(x, kinds) for x in types)


def _is_gone(value: Any) -> bool:
    if value is None or type(value).__name__ in _GONE:
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating | Decimal) and value != value


def _word(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value and value.strip()
    return str(bool(value)) if isinstance(value, _TRUTH) else number_text(float(value))


def _moment(value: Any) -> Any:
    """A date as NumPy's, one with a time zone in UTC."""
    if value is None:
        return np.datetime64("NaT", "s")
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(value).astype("datetime64[s]")


def _objects(values: Sequence[Any]) -> Any:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _words(words: Sequence[str | None]) -> Content:
    return Content(np.array([x is None for x in words], bool), _objects(words))


def _dates(values: Any) -> Content:
    dates = values.astype("datetime64[s]")
    return Content(np.isnat(dates), dates=dates)


def _integers(values: list[Any]) -> Content:
    numbers = np.array([np.nan if x is None else _as_float(x) for x in values], np.float64)
    missing, cells = np.isnan(numbers), None
    if any(x is not None and abs(x) >= _EXACT for x in values):
        # Some differ only where a float has no digits left.
        cells = _objects([None if x is None else str(x) for x in values])
    return Content(missing, cells, numbers, is_whole=not missing.all())


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _floats(values: Any) -> Content:
    missing = np.isnan(values)
    present = values[~missing]
    # What has become floats only because something is missing.
    is_whole = bool(missing.any() and len(present) and (present == np.floor(present)).all())
    return Content(missing, numbers=values, is_whole=is_whole)


_OP = "as_table"
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas writes beside the columns
_TAKEN = "a DataFrame, a dict of columns or a matrix"


def as_table(data: Any) -> Table:
    """Convert an object in memory to a table.

    Strings remain words even if they could be read as numbers, except in a matrix of strings, whose
    columns have no types. The index of a DataFrame is ignored.

    Parameters
    ----------
    data : DataFrame, pyarrow.Table, dict of str to sequence, or array_like of shape (rows, columns)
        DataFrames may be those of pandas or polars. The columns of a matrix are named "0", "1" and so on.

    Returns
    -------
    Table

    Raises
    ------
    TypeError
        If ``data`` is none of these.
    ValueError
        If the columns have different lengths or the same name.

    Examples
    --------
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
        requirement = "names of columns must be strings, not empty, or integers"
        raise type_error(_OP, requirement, name=given)
    return str(name)


def _table(names: list[str], columns: list[Any], source: str, is_typed: bool = True) -> Table:
    if not columns:
        raise value_error(_OP, "data must have at least one column", source=source)
    check_names(_OP, names, source=source)
    lengths = {name: len(values) for name, (values, _) in zip(names, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        raise value_error(_OP, "columns must have the same length", lengths=lengths)
    said: list[str] = []
    origin = Origin(source, "row", np.arange(next(iter(lengths.values()))))
    found = [
        column_of_values(name, values, is_category, origin, said, is_typed)
        for name, (values, is_category) in zip(names, columns, strict=True)
    ]
    usable = [column for column in found if column is not None]
    if source == "a DataFrame" and len(usable) > 1 and numbers_rows(usable[0]):
        said.append("the first column has no name and numbers the rows: it is left out")
        usable = usable[1:]
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
    """The values of a dict under a name, as an array or a list."""
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


def table_of_arrow(op: str, data: Any, source: str) -> Table:
    """The columns of a pyarrow table; columns of other kinds than numbers, words and dates are left out."""
    said: list[str] = []
    names = [str(name) for name in data.column_names]
    check_names(op, names, source=source)
    origin = Origin(source, "row", np.arange(data.num_rows))
    columns = []
    for name, values in zip(names, data.columns, strict=True):
        if _INDEX.fullmatch(name):
            said.append(f"column {name!r} is the index of pandas and is left out")
            continue
        column = column_of_values(name, *_arrow_values(values), origin, said)
        if column is not None:
            columns.append(column)
    if not columns:
        requirement = "table must have a column of numbers, words or dates"
        raise value_error(op, requirement, source=source, columns=names)
    return Table(columns, source, said, TableFormat()._asdict())


def _arrow_values(column: Any) -> tuple[Any, bool]:
    """An array, a list or None, and whether it is a category by its type."""
    from pyarrow import types

    kind = column.type
    is_category = bool(types.is_dictionary(kind))
    if is_category:
        kind = kind.value_type
        column = column.cast(kind)
    is_array = types.is_floating(kind) or types.is_date(kind) or types.is_timestamp(kind)
    if is_array or (types.is_integer(kind) and column.null_count == 0):
        return column.to_numpy(), is_category
    is_plain = types.is_integer(kind) or types.is_decimal(kind) or types.is_boolean(kind)
    is_words = types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind)
    if is_plain or is_words or str(kind) == "string_view":
        return column.to_pylist(), is_category
    return None, False
