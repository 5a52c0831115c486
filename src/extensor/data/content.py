"""What stands in a file, unpacked."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from extensor.errors import value_error
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import file_bytes

_GZIP = b"\x1f\x8b"


def read_content(op: str, path: str | Path) -> bytes:
    """The bytes of a file, plain or compressed by gzip."""
    try:
        content = file_bytes(as_path(op, path))
    except OSError as error:
        raise unreadable(op, path, error) from error
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise value_error(op, "gzip file must be whole", path=str(path)) from None
