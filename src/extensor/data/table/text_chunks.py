"""The lines of a text file in chunks of whole records, for tables larger than memory."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from extensor.data.table.lexing import LongCellError, records
from extensor.data.table.text import END, check_controls, find_encoding, wrong_encoding
from extensor.errors import value_error
from extensor.io.paths import unreadable
from extensor.io.regular_files import open_regular

_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20  # bytes
_HEAD = 1100  # lines, more than are looked at to find out how a table is written
SIZE = 1 << 23  # characters of a chunk, or more
_LONGEST = 1 << 26  # characters of a line: a compressed file could have any number


class TextChunks:
    """A text file, plain or compressed by gzip, whose encoding is given or found."""

    def __init__(self, op: str, path: Path, encoding: str | None) -> None:
        self.op = op
        self.path = path
        self.source = str(path)
        self._given = encoding
        self._stamp = self._now()
        self.has_quotes = False
        if encoding is None:
            self.encoding, self.said = find_encoding(op, self._blocks(), self.source)
        else:
            self.encoding = self.said = _known(op, encoding)
        if (
            not self.has_quotes
        ):  # of which an encoding with a mark, or one that is given, says nothing
            self.has_quotes = any(b'"' in block for block in self._blocks())

    def head(self) -> list[str]:
        """The first lines, at least one of them not empty if any is."""
        head: list[str] = []
        is_empty = True
        for line in self._lines():
            head.append(line)
            is_empty = is_empty and not line.strip()
            if len(head) >= _HEAD and not is_empty:
                break
        return head or [""]

    def chunks(
        self, delimiter: str, skips_first: bool, allowed: str
    ) -> Iterator[tuple[int, list[str]]]:
        """The number of the first line and the lines of each chunk, which ends where a record ends.

        ``skips_first`` empties the first line; ``allowed`` is a control character that may occur.
        """
        if self._now() != self._stamp:
            raise self._changed()
        lines = self._lines()
        cut = self._cut_at_records(lines, delimiter) if self.has_quotes else self._cut(lines)
        for first, chunk in cut:
            if first == 1 and skips_first:
                chunk[0] = ""
            check_controls(self.op, "\n".join(chunk), self.source, allowed, first)
            yield first, chunk

    def _cut(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        first, size = 1, 0
        chunk: list[str] = []
        for line in lines:
            chunk.append(line)
            size += len(line)
            if size >= SIZE:
                yield first, chunk
                first, size, chunk = first + len(chunk), 0, []
        if chunk:
            yield first, chunk

    def _cut_at_records(
        self, lines: Iterator[str], delimiter: str
    ) -> Iterator[tuple[int, list[str]]]:
        first = 1
        chunk: list[str] = []

        def noted() -> Iterator[str]:
            for line in lines:
                chunk.append(line)
                yield line

        size = 0
        try:
            for record in records(noted(), delimiter, skip_spaces=True):
                size += sum(map(len, record.cells))
                if size >= SIZE:
                    whole = list(chunk)
                    chunk.clear()
                    yield first, whole
                    first, size = first + len(whole), 0
        except LongCellError:
            pass  # which is said by those who read the chunk
        if chunk:
            yield first, chunk

    def _lines(self) -> Iterator[str]:
        """The lines without their ends, the mark at the beginning and that of DOS at the end."""
        with self._opened() as file:
            text = io.TextIOWrapper(file, self.encoding)
            before: str | None = None
            try:
                for line in iter(lambda: text.readline(_LONGEST), ""):
                    if len(line) == _LONGEST:
                        requirement = f"a line must have less than {_LONGEST} characters"
                        raise value_error(self.op, requirement, source=self.source)
                    if before is not None:
                        yield before
                    else:
                        line = line.removeprefix("\ufeff")
                    before = line.removesuffix("\n")
            except UnicodeError:
                if self._given is None:
                    raise wrong_encoding(self.op, self.source, self.encoding) from None
                requirement = "file must be text in the encoding that is given"
                raise value_error(
                    self.op, requirement, source=self.source, encoding=self.encoding
                ) from None
            if before is not None:
                yield before.removesuffix(END)

    def _blocks(self) -> Iterator[bytes]:
        with self._opened() as file:
            while block := file.read(_BLOCK):
                self.has_quotes = self.has_quotes or b'"' in block
                yield block

    @contextmanager
    def _opened(self) -> Iterator[IO[bytes]]:
        try:
            with open(self.path, "rb", opener=open_regular) as plain:
                is_packed = plain.read(len(_GZIP)) == _GZIP
                plain.seek(0)
                if not is_packed:
                    yield plain
                    return
                with gzip.open(plain) as unpacked:
                    yield io.BufferedReader(unpacked)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise value_error(self.op, "gzip file must be whole", path=self.source) from None
        except OSError as error:
            if error.errno is None:
                raise
            raise unreadable(self.op, self.path, error) from error

    def _now(self) -> tuple[int, int]:
        try:
            status = os.stat(self.path)
        except OSError as error:
            raise unreadable(self.op, self.path, error) from error
        return status.st_size, status.st_mtime_ns

    def _changed(self) -> ValueError:
        return value_error(self.op, "file must not change while it is read", path=self.source)


def _known(op: str, encoding: Any) -> str:
    try:
        codecs.lookup(encoding)
    except (LookupError, ValueError):
        requirement = "encoding must be the name of one, such as 'utf-8' or 'cp1252'"
        raise value_error(op, requirement, encoding=encoding) from None
    return str(encoding)
