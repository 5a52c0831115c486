"""What stands in a file, unpacked."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from extensor.errors import value_error
from extensor.io.limits import decoded_limit, too_large
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import file_bytes

_GZIP = b"\x1f\x8b"


def read_content(op: str, path: str | Path, cost: int = 2) -> bytes:
    """The bytes of a file, plain or compressed by gzip.

    ``cost`` is how many bytes of memory the caller takes for each byte that was compressed.
    """
    try:
        content = file_bytes(as_path(op, path))
    except OSError as error:
        raise unreadable(op, path, error) from error
    if not content.startswith(_GZIP):
        return content
    limit = decoded_limit(len(content))
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            unpacked = stream.read(limit // cost + 1)
    except (OSError, EOFError, zlib.error):
        raise value_error(op, "gzip file must be whole", path=str(path)) from None
    if len(unpacked) > limit // cost:
        raise too_large(op, path, limit, needed_at_least=len(unpacked) * cost)
    return unpacked
