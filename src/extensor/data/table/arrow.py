"""Tables of Parquet and Arrow, if pyarrow is installed.

pyarrow allocates as much as a compressed buffer promises, so the promises are added up first from
the metadata of record batches. Their messages are tables of FlatBuffers:
https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from extensor.data.table.columnar import Table
from extensor.data.table.memory_table import table_of_arrow
from extensor.errors import is_ours, value_error
from extensor.io.limits import check_decoded

MAGIC = b"ARROW1"
_CONTINUES = -1  # stands before the length of a message, save in old files
_DICTIONARY, _BATCH = 2, 3  # kinds of messages
_OLD_COMPRESSION = b"ARROW:experimental_compression"  # before the metadata had a place for it
_BLOCK = np.dtype([("offset", "<i8"), ("head", "<i4"), ("", "<i4"), ("body", "<i8")])
_BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])
NUMBER_COST, OBJECT_COST = 8, 64  # bytes of memory for a number, and for an object


class Batch(NamedTuple):
    """A record batch, or the words of a column of categories.

    ``decoded`` are the bytes that its buffers take, ``stored`` those that they have in the file.
    """

    offset: int
    rows: int
    stored: int
    decoded: int
    is_compressed: bool
    is_dictionary: bool


class _FlatTable:
    """A table of FlatBuffers, whose fields are found by number."""

    def __init__(self, data: memoryview, place: int) -> None:
        self.data = data
        self.place = place

    def _field(self, number: int) -> int | None:
        """Where a field lies, None if it is absent."""
        fields = self.place - _integer(self.data, "<i", self.place)
        if 6 + 2 * number > _integer(self.data, "<H", fields):
            return None
        offset = _integer(self.data, "<H", fields + 4 + 2 * number)
        return self.place + offset if offset else None

    def integer(self, number: int, form: str) -> int:
        """A field that is a number, 0 by default."""
        place = self._field(number)
        return 0 if place is None else _integer(self.data, form, place)

    def table(self, number: int) -> _FlatTable | None:
        """A field that is a table."""
        place = self._field(number)
        if place is None:
            return None
        return _FlatTable(self.data, place + _integer(self.data, "<I", place))

    def structs(self, number: int, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
        """A field that is a list of structures."""
        place = self._field(number)
        if place is None:
            return np.empty(0, dtype)
        place += _integer(self.data, "<I", place)
        count = _integer(self.data, "<I", place)
        return np.frombuffer(self.data[place + 4 :][: count * dtype.itemsize], dtype, count)


def _integer(data: memoryview, form: str, place: int) -> int:
    if not 0 <= place <= len(data) - struct.calcsize(form):
        raise ValueError("metadata are cut short")
    value: int = struct.unpack_from(form, data, place)[0]
    return value


def _root(data: memoryview) -> _FlatTable:
    return _FlatTable(data, _integer(data, "<I", 0))


def arrow_batches(content: Any) -> list[Batch]:
    """The batches of a file or a stream, in order; ValueError if it is damaged."""
    data = memoryview(content).cast("B")
    found = []
    if bytes(data[: len(MAGIC)]) != MAGIC:
        place = 0
        while len(data) - place >= 4 and _prefix(data, place)[1]:
            _, place, batch = _message(data, place)
            found += [] if batch is None else [batch]
        return found
    end = len(data) - len(MAGIC) - 4
    size = _integer(data, "<i", end)
    if not 0 < size <= end:
        raise ValueError("the footer is cut short")
    footer = _root(data[end - size : end])
    # The reader goes by the footer, which may list a message more than once or leave some out.
    for number in (2, 3):  # dictionaries, batches
        for offset, head, _, _ in footer.structs(number, _BLOCK).tolist():
            body, _, batch = _message(data, offset)
            if batch is None or body != offset + head:
                raise ValueError("the footer must tell where batches begin")
            found.append(batch)
    return found


def _prefix(data: memoryview, place: int) -> tuple[int, int]:
    """Where the metadata of a message begin, and their length, 0 at the end of a stream."""
    length = _integer(data, "<i", place)
    if length != _CONTINUES:
        return place + 4, length
    return place + 8, _integer(data, "<i", place + 4)


def _message(data: memoryview, offset: int) -> tuple[int, int, Batch | None]:
    """Where the body of a message begins and ends, and its batch if it has one."""
    begin, length = _prefix(data, offset)
    body = begin + length
    if length <= 0 or body > len(data):
        raise ValueError("a message is cut short")
    head = data[begin:body]
    message = _root(head)
    stored = message.integer(3, "<q")
    if not 0 <= stored <= len(data) - body:
        raise ValueError("the body of a message is cut short")
    kind, table = message.integer(1, "<B"), message.table(2)
    is_dictionary = kind == _DICTIONARY
    if is_dictionary and table is not None:
        table = table.table(1)
    if kind not in (_DICTIONARY, _BATCH) or table is None:
        return body, body + stored, None
    is_compressed = table.table(3) is not None or _OLD_COMPRESSION in bytes(head)
    buffers = table.structs(2, _BUFFER)
    rows, lengths = table.integer(0, "<q"), buffers["length"].tolist()
    if min([rows, *lengths]) < 0:
        raise ValueError("a batch must not have negative sizes")
    content = data[body : body + stored]
    decoded = _decoded_size(content, buffers) if is_compressed else sum(lengths)
    batch = Batch(offset, rows, stored, decoded, is_compressed, is_dictionary)
    return body, body + stored, batch


def _decoded_size(body: memoryview, buffers: np.ndarray[Any, Any]) -> int:
    """The bytes that compressed buffers take: each begins with its length, -1 if it is plain."""
    needed = 0
    for offset, length in buffers.tolist():
        if length:
            size = _integer(body, "<q", offset)
            needed += max(length, size)
    return needed


def batches_cost(batches: list[Batch], schema: Any) -> int:
    """An estimate of the memory that batches take beyond what the file has as it is."""
    from pyarrow import types

    kinds = [field.type for field in schema]
    numbers = sum(types.is_integer(x) or types.is_floating(x) for x in kinds)
    row = NUMBER_COST * numbers + OBJECT_COST * (len(kinds) - numbers)
    empty = OBJECT_COST * sum(map(types.is_null, kinds))  # their rows are nowhere in the file
    cost = 0
    for batch in batches:
        rows = 0 if batch.is_dictionary else batch.rows
        if batch.is_compressed:
            cost += max(batch.decoded, rows * row)
        else:
            # Several buffers may be the same bytes of the file.
            cost += max(batch.decoded - batch.stored, 0) + rows * empty
    return cost


SUFFIXES = (".parquet", ".pq", ".feather", ".arrow", ".arrows", ".ipc")
_PARQUET, _FEATHER = b"PAR1", b"FEA1"
# How files of Parquet and Arrow begin; streams of Arrow begin with the last.
MAGICS = (_PARQUET, MAGIC, _FEATHER, b"\xff\xff\xff\xff")
_NUMBERS = ("INT32", "INT64", "FLOAT", "DOUBLE")  # that stay numbers in an array


def import_pyarrow(op: str, files: str) -> Any:
    """The module pyarrow, which must be installed to read ``files``."""
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            f"{op}: pyarrow must be installed to read {files}, see pip install extensor[parquet]"
        ) from None
    return pyarrow


def read_arrow(op: str, content: bytes, source: str) -> Table:
    """The table in the content of a file."""
    pyarrow = import_pyarrow(op, "Parquet and Arrow")
    stream = pyarrow.BufferReader(content)
    try:
        if content.startswith(_PARQUET):
            table = _read_parquet(op, stream, len(content), source)
        elif content.startswith(_FEATHER):
            table = pyarrow.feather.read_table(stream)
        else:
            is_file = content.startswith(MAGIC)
            reader = (pyarrow.ipc.open_file if is_file else pyarrow.ipc.open_stream)(stream)
            needed = batches_cost(arrow_batches(content), reader.schema)
            check_decoded(op, source, needed, len(content))
            table = reader.read_all()
        table.validate(full=True)
    except (pyarrow.ArrowException, OSError, ValueError, TypeError, LookupError) as error:
        if is_ours(error):
            raise
        kind = "Arrow" if content.startswith(MAGICS[1:]) else "Parquet"
        raise value_error(op, f"file must be whole, as {kind} is", source=source) from error
    if table.num_rows == 0:
        raise value_error(op, "file must have at least one row", source=source)
    check_dictionaries(op, table, len(content), source)
    return table_of_arrow(op, table, source)


def _read_parquet(op: str, stream: Any, stored: int, source: str) -> Any:
    """The table in a Parquet file, whose words are first read as they are stored, each once."""
    from pyarrow import types
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(stream)
    check_decoded(op, source, parquet_cost(file.metadata), stored)
    schema = file.schema_arrow
    words = [x.name for x in schema if types.is_string(x.type) or types.is_binary(x.type)]
    stream.seek(0)
    table = ParquetFile(stream, read_dictionary=words).read()
    check_dictionaries(op, table, stored, source)
    for place, field in enumerate(schema):
        if table.column(place).type != field.type:
            table = table.set_column(place, field, table.column(place).cast(field.type))
    return table


def parquet_cost(metadata: Any, groups: Any = None, columns: Any = None) -> int:
    """An estimate of the bytes that row groups take in memory; without ``groups`` all of them do.

    The sizes in the file do not tell: a value that is repeated is stored once.
    """
    cost = 0
    for number in range(metadata.num_row_groups) if groups is None else groups:
        group = metadata.row_group(number)
        for place in range(group.num_columns):
            chunk = group.column(place)
            if columns is None or chunk.path_in_schema.split(".")[0] in columns:
                size = NUMBER_COST if chunk.physical_type in _NUMBERS else OBJECT_COST
                cost += max(chunk.num_values * size, chunk.total_uncompressed_size)
    return cost


def check_dictionaries(op: str, table: Any, stored: int, source: str) -> None:
    """Refuse words that take too much memory where each is written out in every row."""
    import pyarrow.compute as compute
    from pyarrow import types

    needed = 0
    for column in table.columns:
        kind = column.type
        if types.is_dictionary(kind) and _are_bytes(kind.value_type):
            for chunk in column.chunks:
                lengths = compute.binary_length(chunk.dictionary).cast("int64")
                needed += compute.sum(lengths.take(chunk.indices)).as_py() or 0
        elif str(kind) == "string_view":
            # Each row is a length and a place, and many rows may name the same place.
            for chunk in filter(len, column.chunks):
                views = np.frombuffer(chunk.buffers()[1], np.int32).reshape(-1, 4)
                rows = views[chunk.offset : chunk.offset + len(chunk), 0]
                needed += int(rows.sum(dtype=np.int64))
    check_decoded(op, source, needed, stored)


def _are_bytes(kind: Any) -> bool:
    from pyarrow import types

    of_text = types.is_string(kind) or types.is_large_string(kind)
    return bool(of_text or types.is_binary(kind) or types.is_large_binary(kind))
