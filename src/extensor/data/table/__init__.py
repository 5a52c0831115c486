"""Tables of a person's own: read, understood, and encoded for a model."""

from extensor.data.table.column import Column
from extensor.data.table.encoding import TableEncoder
from extensor.data.table.frames import as_table
from extensor.data.table.reading import read_table
from extensor.data.table.table import Table

__all__ = ["Column", "Table", "TableEncoder", "as_table", "read_table"]
