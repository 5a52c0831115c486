"""How much memory the content of a file may take: a small file must not take all there is.

Compressed files, pictures and columns can be thousands of times larger in memory than on the disk.
Their readers estimate what they need, from headers where there are any, and ask here first. A file
that is stored plainly is not limited: its cost is its size.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from pathlib import Path

from extensor.errors import value_error
from extensor.io.paths import as_path, explain_unreadable
from extensor.io.regular_files import file_bytes

SETTING = "EXTENSOR_MAX_DECODED_BYTES"
_ALWAYS = 1 << 30  # bytes that any file may take
_TIMES = 1000  # its size that a larger file may take
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)B?", re.IGNORECASE | re.ASCII)
_GZIP = b"\x1f\x8b"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def decoded_limit(stored: int) -> int:
    """How many bytes of memory a file of ``stored`` bytes may take.

    That is ``EXTENSOR_MAX_DECODED_BYTES`` if it is set, to ``8G`` for example. Otherwise it is one
    gigabyte, or a thousand times the size of the file if that is more.
    """
    text = os.environ.get(SETTING, "").strip()
    if not text:
        return max(_ALWAYS, _TIMES * stored)
    size = parse_size(text)
    if size is None:
        raise value_error(SETTING, "must be a number of bytes, as 800M or 8G", value=text)
    return size


def check_decoded(op: str, path: object, needed: int, stored: int) -> None:
    """Refuse a file that would take more memory than it may."""
    limit = decoded_limit(stored)
    if needed > limit:
        raise too_large(op, path, limit, needed=needed)


def too_large(op: str, path: object, limit: int, **needed: int) -> ValueError:
    """The error for a file that would take more memory than ``limit``."""
    size = size_text(limit)
    requirement = (
        f"file must take at most {size} of memory when it is decoded ({SETTING} sets this)"
    )
    sizes = {name: size_text(number) for name, number in needed.items()}
    return value_error(op, requirement, path=str(path), **sizes)


def read_content(op: str, path: str | Path, cost: int = 2) -> bytes:
    """The bytes of a file, plain or compressed by gzip.

    ``cost`` is how many bytes of memory the caller takes for each byte that was compressed.
    """
    with explain_unreadable(op, path):
        content = file_bytes(as_path(op, path))
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


def parse_size(text: str) -> int | None:
    """The bytes that ``800M`` or ``1.5G`` stands for; None if it is no size."""
    size = _SIZE.fullmatch(text.strip())
    return None if size is None else int(float(size[1]) * _UNITS[size[2].upper()])


def size_text(size: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1024:
            return f"{size:.4g} {unit}"
        size /= 1024
    return f"{size:.4g} GB"
