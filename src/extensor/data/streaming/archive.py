"""The members of a tar archive, by their headers alone.

Not by Python's tarfile, which takes a damaged header for the end of the archive and says nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from extensor.data.streaming.shard import damaged

BLOCK = 512
_TAR = "shard must be a whole tar archive, not compressed"
_ZEROS = bytes(BLOCK)
_FILES = (b"0", b"\0", b"7")
_PASSED_OVER = (b"5", b"g", b"K")  # folders, what is said of all members, long names of links
_LONG_NAME, _EXTENDED = b"L", b"x"
_DIGITS = 20  # more than a size has; Python refuses to read thousands
_LONGEST = 1 << 20  # bytes of a header that gives a name


class Member(NamedTuple):
    """A file in an archive: its name, and where its bytes are."""

    name: str
    offset: int
    size: int


def padded(size: int) -> int:
    """``size`` up to the next whole block."""
    return -(-size // BLOCK) * BLOCK


def members(file: int, path: Path) -> Iterator[Member]:
    """The files in an archive, in order; an error if it does not end as an archive does."""
    whole = os.fstat(file).st_size
    place = 0
    name, size = "", -1  # that the header before has told
    while True:
        header = os.pread(file, BLOCK, place)
        if header == _ZEROS:
            return
        if len(header) < BLOCK or not _is_right(header):
            raise damaged(_TAR, path, position=place)
        kind = header[156:157]
        length = _number(header[124:136], path, place) if size < 0 else size
        place += BLOCK
        if length > whole - place:
            raise damaged(_TAR, path, position=place - BLOCK)
        if kind in (_LONG_NAME, _EXTENDED):
            if length > _LONGEST:
                raise damaged(_TAR, path, position=place - BLOCK)
            content = os.pread(file, length, place)
            if kind == _LONG_NAME:
                name = _text(content)
            else:
                told = _records(content, path, place)
                name = told.get("path", name)
                text = told.get("size", "")
                size = int(text) if text.isdecimal() and len(text) < _DIGITS else size
        else:
            if kind in _FILES:
                yield Member(name or _name(header), place, length)
            elif kind not in _PASSED_OVER:
                requirement = "the members of a tar shard must be plain files, no links"
                raise damaged(requirement, path, member=name or _name(header))
            name, size = "", -1
        place += padded(length)


def _is_right(header: bytes) -> bool:
    """Whether the bytes add up to the sum that stands among them, itself counted as spaces."""
    told = header[148:156].strip(b" \0")
    try:
        return int(told, 8) == sum(header) - sum(header[148:156]) + 8 * 32
    except ValueError:
        return False


def _number(field: bytes, path: Path, place: int) -> int:
    """Octal digits, or bytes after a first one of 0x80."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise damaged(_TAR, path, position=place) from None


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _name(header: bytes) -> str:
    """The name, with what it begins with where that did not fit."""
    prefix = _text(header[345:500]) if header[257:263] == b"ustar\0" else ""
    return f"{prefix}/{_text(header[:100])}" if prefix else _text(header[:100])


def _records(content: bytes, path: Path, place: int) -> dict[str, str]:
    """The lines ``<length> <key>=<value>`` of an extended header."""
    found = {}
    while content:
        digits, _, _ = content.partition(b" ")
        length = int(digits) if digits.isdigit() and len(digits) < 8 else 0
        key, equals, value = content[len(digits) + 1 : length - 1].partition(b"=")
        if length > len(content) or not equals or content[length - 1 : length] != b"\n":
            raise damaged(_TAR, path, position=place)
        found[key.decode("utf-8", "replace")] = value.decode("utf-8", "surrogateescape")
        content = content[length:]
    if any(key.startswith("GNU.sparse") for key in found):
        raise damaged("the members of a tar shard must be plain files, not sparse", path)
    return found
