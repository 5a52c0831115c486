"""Tables of Parquet and Arrow, if pyarrow is installed."""

from __future__ import annotations

import re
from typing import Any

from extensor.data.table.names import check_names
from extensor.data.table.table import Table
from extensor.data.table.values import column_of_values, origin_of
from extensor.errors import value_error

SUFFIXES = (".parquet", ".pq", ".feather", ".arrow", ".arrows", ".ipc")
_PARQUET, _FILE, _FEATHER = b"PAR1", b"ARROW1", b"FEA1"
_STREAM = b"\xff\xff\xff\xff"
_INDEX = re.compile(r"__index_level_\d+__")  # what pandas writes beside the columns
_OPTIONS = ("delimiter", "decimal", "encoding", "header")


def is_arrow(content: bytes) -> bool:
    """Whether a file begins as those of Parquet and Arrow do."""
    return content.startswith((_PARQUET, _FILE, _FEATHER, _STREAM))


def read_arrow(op: str, content: bytes, source: str) -> Table:
    """The table in the content of a file."""
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{op}: pyarrow must be installed to read Parquet and Arrow, "
            "see pip install extensor[parquet]"
        ) from None
    stream = pyarrow.BufferReader(content)
    try:
        if content.startswith(_PARQUET):
            table = pyarrow.parquet.read_table(stream)
        elif content.startswith(_FILE):
            table = pyarrow.ipc.open_file(stream).read_all()
        elif content.startswith(_FEATHER):
            table = pyarrow.feather.read_table(stream)
        else:
            table = pyarrow.ipc.open_stream(stream).read_all()
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        kind = "Arrow" if is_arrow(content) and not content.startswith(_PARQUET) else "Parquet"
        raise value_error(op, f"file must be whole, as {kind} is", source=source) from error
    if table.num_rows == 0:
        raise value_error(op, "file must have at least one row", source=source)
    return table_of_arrow(op, table, source)


def table_of_arrow(op: str, data: Any, source: str) -> Table:
    """The columns of a pyarrow table; those that are no numbers, words or dates are left out."""
    said: list[str] = []
    names = [str(name) for name in data.column_names]
    check_names(op, names, source=source)
    columns = []
    for name, values in zip(names, data.columns, strict=True):
        if _INDEX.fullmatch(name):
            said.append(f"column {name!r} is the index of pandas and is left out")
            continue
        origin = origin_of(source, data.num_rows)
        column = column_of_values(name, *_values(values), origin, said)
        if column is not None:
            columns.append(column)
    if not columns:
        requirement = "table must have a column of numbers, words or dates"
        raise value_error(op, requirement, source=source, columns=names)
    return Table(columns, source, said, dict.fromkeys(_OPTIONS))


def _values(column: Any) -> tuple[Any, bool]:
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
