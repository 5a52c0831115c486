"""Tables of pandas and polars as arrays; what is no number is refused by the name of its column."""

from __future__ import annotations

from typing import Any

import numpy as np

from extensor.arrays.dtypes import get_default_dtype, is_floating
from extensor.errors import type_error, value_error

_WAY_OUT = "ex.data.TableEncoder makes numbers of words, and so does extensor train FILE"


def is_frame(value: Any) -> bool:
    """True for a table with named columns."""
    has = hasattr(value, "columns") and hasattr(value, "to_numpy")
    return has and not isinstance(value, type)


def is_series(value: Any) -> bool:
    """True for one column of a table."""
    has = hasattr(value, "to_numpy") and hasattr(value, "name") and hasattr(value, "dtype")
    return has and not isinstance(value, type) and not is_frame(value)


def frame_array(op: str, name: str, table: Any) -> Any:
    """The numbers of a table as a matrix, of a column as a row; floats in the default dtype."""
    if is_series(table):
        return _narrow(_numbers(op, name, getattr(table, "name", None), table))
    columns = [_numbers(op, name, label, column) for label, column in _columns(table)]
    if not columns:
        raise value_error(op, f"{name} must have at least one column", columns=0)
    return _narrow(np.stack(columns, axis=1))


def check_no_words(op: str, name: str, value: Any) -> None:
    """Refuse a word, or an array of words or of anything."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if isinstance(value, str | bytes) or kind in ("O", "U", "S"):
        given = str(getattr(value, "dtype", type(value).__name__))
        raise type_error(op, f"{name} must be numbers ({_WAY_OUT})", dtype=given)


def column_names(table: Any) -> list[str]:
    """The names of the columns, as text."""
    return [str(label) for label, _ in _columns(table)]


def check_rows(op: str, x: Any, y: Any) -> None:
    """Refuse a table and targets whose rows have the same labels in another order (pandas)."""
    first: Any = getattr(x, "index", None)
    second: Any = getattr(y, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals")) or len(x) != len(y):
        return
    if not first.equals(second) and first.isin(second).all() and second.isin(first).all():
        requirement = (
            "X and y must have their rows in the same order (y.loc[X.index], or "
            "y.reset_index(drop=True) if they belong together as they stand)"
        )
        row = int(np.argmax(np.asarray(first != second)))
        raise value_error(op, requirement, X_index=str(first[row]), y_index=str(second[row]))


def _columns(table: Any) -> list[tuple[Any, Any]]:
    """Each column with its name; two of pandas' may have the same."""
    if hasattr(table, "get_columns"):
        return [(column.name, column) for column in table.get_columns()]
    if hasattr(table, "items"):
        return list(table.items())
    return [(label, table[label]) for label in table.columns]


def _numbers(op: str, name: str, label: Any, column: Any) -> Any:
    values = np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)
    kind = str(getattr(column, "dtype", values.dtype))
    given = {} if label is None else {"column": str(label)}
    missing = _missing(column, values)
    if missing and (values.dtype.kind in "biuf" or kind == "boolean"):
        requirement = f"{name} must have no missing values (fill them, or drop their rows)"
        raise value_error(op, requirement, **given, missing=missing)
    # A category of numbers is meant as names.
    if values.dtype.kind not in "biuf" or values.ndim != 1 or kind.lower() == "category":
        raise type_error(op, f"{name} must be numbers ({_WAY_OUT})", **given, dtype=kind)
    return values


def _missing(column: Any, values: Any) -> int:
    if values.dtype.kind == "f":
        return int(np.isnan(values).sum())
    count = getattr(column, "isna", None) or getattr(column, "is_null", None)
    return 0 if count is None else int(count().sum())


def _narrow(array: Any) -> Any:
    return array.astype(get_default_dtype(), copy=False) if is_floating(array.dtype) else array
