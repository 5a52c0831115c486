"""Tables of users: read, understood, and encoded for a model."""

from extensor.data.table.columnar import Column, Table
from extensor.data.table.encoder import TableEncoder
from extensor.data.table.memory_table import as_table
from extensor.data.table.reading import read_table

__all__ = ["Column", "Table", "TableEncoder", "as_table", "read_table"]


def __dir__() -> list[str]:
    return sorted(__all__)
