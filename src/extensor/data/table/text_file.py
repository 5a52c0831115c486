"""Text files as rows of cells: encoding, lines, quotes and delimiters."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from extensor.errors import value_error
from extensor.io.paths import explain_unreadable, unreadable
from extensor.io.regular_files import open_regular

DELIMITERS = (",", ";", "\t", "|")
_LONGEST_CELL = 131_072  # characters of a cell that Python's csv reads


class TextSource(NamedTuple):
    """A text in messages: the operation that reads it, and its name."""

    op: str
    name: str

    def error(self, requirement: str, **got: object) -> ValueError:
        """The error for a text that is not as required."""
        return value_error(self.op, requirement, source=self.name, **got)


class Record(NamedTuple):
    """A row of cells, and the lines it stands in, counted from 1."""

    first: int
    last: int
    cells: list[str]


class LongCellError(Exception):
    """A cell has more characters than one can have, as if a quote were not closed."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line  # the first of its record


def records(lines: Iterable[str], delimiter: str, skip_spaces: bool = False) -> Iterator[Record]:
    """The records that are not empty; the last may end inside a quote.

    ``skip_spaces`` lets a quoted cell begin after spaces.
    """
    # With an end of its own the last line is like the others.
    ended = (line + "\n" for line in lines)
    reader = csv.reader(ended, delimiter=delimiter, skipinitialspace=skip_spaces)
    first = 1
    try:
        for cells in reader:
            if cells:
                yield Record(first, reader.line_num, cells)
            first = reader.line_num + 1
    except csv.Error as error:
        raise LongCellError(first, str(error)) from None


class _Quotes:
    """How cells are quoted between certain delimiters."""

    def __init__(self, source: TextSource, delimiter: str) -> None:
        self.source = source
        between = re.escape(delimiter)
        after = "" if delimiter == " " else " *+"
        quoted = r' *+"(?:[^"]++|"")*+"' + after
        self.quoted = re.compile(quoted)
        self.cell = re.compile(rf'{quoted}(?={between}|\n|\Z)| *+(?!")[^{between}\n]*+')
        self.record = re.compile(f"(?:{self.cell.pattern})(?:{between}(?:{self.cell.pattern}))*+")

    def check(self, lines: Sequence[str], first: int) -> None:
        """Refuse a record that would be read as something else than its quotes mean.

        ``first`` is the number of its first line.
        """
        if not any('"' in line for line in lines):
            return
        text = "\n".join(lines)
        if self.record.fullmatch(text):
            return
        place = 0
        while cell := self.cell.match(text, place):
            place = cell.end() + 1
            if place > len(text):
                return
        line = first + text.count("\n", 0, place)
        requirement = "a quoted cell must be closed"
        if self.quoted.match(text, place) is not None:
            requirement = (
                "after a quoted cell a delimiter must come (a quote inside of one is written twice)"
            )
        raise self.source.error(requirement, line=line)


class ParsedRows(NamedTuple):
    """Cells, and the line in which each row begins."""

    cells: list[list[str]]
    lines: list[int]

    def below(self) -> ParsedRows:
        """The rows without the first."""
        return ParsedRows(self.cells[1:], self.lines[1:])

    def __add__(self, other: ParsedRows) -> ParsedRows:  # type: ignore[override]
        return ParsedRows(self.cells + other.cells, self.lines + other.lines)


def parse_rows(source: TextSource, lines: Sequence[str], delimiter: str, first: int) -> ParsedRows:
    """The rows that are not empty; ``first`` is the number of the first line."""
    quotes = _Quotes(source, delimiter)
    is_quoted = any('"' in line for line in lines)
    cells, places = [], []
    try:
        for record in records(lines, delimiter, skip_spaces=True):
            if is_quoted:
                quotes.check(lines[record.first - 1 : record.last], record.first + first - 1)
            line = lines[record.first - 1]
            row = record.cells
            # Without spaces, of any kind, that cells could begin or end with.
            is_tight = line.isascii() and line.isprintable() and " " not in line
            if record.last > record.first or not is_tight:
                row = [cell.strip() for cell in row]
            if len(row) > 1 or row[0] or line.strip():
                cells.append(row)
                places.append(record.first + first - 1)
    except LongCellError as error:
        quotes.check(lines[error.line - 1 :], error.line + first - 1)
        requirement = f"a cell must have at most {_LONGEST_CELL} characters"
        raise source.error(requirement, line=error.line + first - 1) from None
    return ParsedRows(cells, places)


def rectangular(source: TextSource, rows: ParsedRows) -> tuple[ParsedRows, list[str]]:
    """Rows of one width, and a sentence if columns at their ends that are all empty are left out."""
    cells = _without_ends(rows.cells)
    empty = max(map(len, rows.cells)) - max(map(len, cells))
    several = f"the last {empty} columns have neither names nor cells and are left out"
    one = "the last column has neither a name nor cells and is left out"
    said = [one if empty == 1 else several] if empty else []
    for row, line in zip(cells, rows.lines, strict=True):
        if len(row) != len(cells[0]):
            requirement = f"a line must have as many cells as the first, {len(cells[0])}"
            raise source.error(requirement, line=line, cells=len(row))
    return ParsedRows(cells, rows.lines), said


def _without_ends(cells: list[list[str]]) -> list[list[str]]:
    """Rows without the last columns that are empty in all of them.

    The first line may have one delimiter more or less at its end than all others, which then agree.
    """
    first, below = len(cells[0]), {len(row) for row in cells[1:]}
    if len(below) > 1:
        return cells
    width = min(first, *below) if below else first
    longer = [row for row in cells if len(row) > width]
    if any(row[-1] or len(row) > width + 1 for row in longer):
        return cells
    # A single pass over the empty ends: one column at a time would be quadratic in the width.
    used = max(_used_width(row, width) for row in cells)
    return [row[:used] for row in cells]


def _used_width(row: list[str], width: int) -> int:
    """How many of the first ``width`` cells there are up to the last that is not empty; 1 at least."""
    while width > 1 and not row[width - 1]:
        width -= 1
    return width


# In their order: the mark of UTF-16 is the beginning of that of UTF-32.
_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_CP1252 = bytes(x for x in range(256) if x not in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
_WAY_OUT = "encoding= says another"
UNUSED = "\x1f"  # a delimiter that no text has, for files of one column
END = "\x1a"  # with which DOS marked the end of a text


def check_controls(source: TextSource, text: str, delimiter: str, first: int = 1) -> None:
    """Refuse control characters but the delimiter; ``first`` is the number of the first line."""
    for control in _CONTROL.finditer(text):
        if control[0] != delimiter:
            line = text.count("\n", 0, control.start()) + first
            raise source.error("file must be text", line=line, character=control[0])


def find_encoding(
    source: TextSource, blocks: Iterable[bytes], given: str | None
) -> tuple[str, str]:
    """The encoding of a file that comes in blocks, none of them empty, and words for it.

    The one that the user has ``given`` must be known to Python.
    """
    if given is not None:
        try:
            "".encode(given)  # which refuses codecs of bytes too, such as hex
        except (LookupError, ValueError):
            requirement = "encoding must be the name of one, such as 'utf-8' or 'cp1252'"
            raise value_error(source.op, requirement, encoding=given) from None
        return given, given
    blocks = iter(blocks)
    begin = next(blocks, b"")
    for mark, name in _MARKS.items():
        if begin.startswith(mark):
            return name, f"{name} with a mark"
    is_cp1252 = True
    right = wrong = 0  # characters
    first: tuple[int, int] | None = None  # the line and the byte that is not UTF-8
    place, line = 0, 1
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for block in chain([begin], blocks, [b""]):
        if b"\0" in block:
            requirement = "file must be text (encoding='utf-16-le' says that of one without a mark)"
            raise source.error(requirement, byte=place + block.index(b"\0"))
        place += len(block)
        is_cp1252 = is_cp1252 and not block.translate(None, _CP1252)
        text = decoder.decode(block, final=not block)
        if not text.isascii():
            escaped = [i for i, x in enumerate(text) if "\udc80" <= x <= "\udcff"]
            if escaped and first is None:
                at = escaped[0]
                first = (line + text.count("\n", 0, at), ord(text[at]) - 0xDC00)
            wrong += len(escaped)
            right += sum(x >= "\x80" for x in text) - len(escaped)
        line += text.count("\n")
    if first is None:
        return "utf-8", "utf-8"
    if right > wrong:
        # UTF-8 in which a few bytes are wrong must not become another encoding as a whole.
        requirement = f"file must be UTF-8 throughout, as most of it is ({_WAY_OUT})"
        raise source.error(requirement, line=first[0], byte=first[1])
    if is_cp1252:
        return "cp1252", f"cp1252 (it is not utf-8; {_WAY_OUT})"
    return "latin-1", f"latin-1 (it is not utf-8 or cp1252; {_WAY_OUT})"


_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20  # bytes
_HEAD_LINES = 1100  # lines, more than are looked at to find out how a table is written
SIZE = 1 << 23  # characters of a chunk, or more
_LONGEST = 1 << 26  # characters of a line: a compressed file could have any number


class TextFile:
    """A text file, plain or compressed by gzip, read in chunks of whole records.

    With ``content`` these are its bytes in memory, and it is one chunk.
    """

    def __init__(self, op: str, path: Path, encoding: str | None, content: bytes | None) -> None:
        self.path = path
        self.source = TextSource(op, str(path))
        self.is_whole = content is not None
        self._content = content
        self._given = encoding
        self._stamp = self._now()
        self.encoding, self.said = find_encoding(self.source, self._blocks(), encoding)
        self._has_quotes = any(b'"' in block for block in self._blocks())

    @property
    def unused_delimiter(self) -> str:
        """A delimiter for a file of one column."""
        text = "".join(self._lines()) if self.is_whole else "".join(DELIMITERS)
        return next((sign for sign in DELIMITERS if sign not in text), UNUSED)

    def head(self) -> list[str]:
        """The first lines, at least one of them not empty if any is."""
        head: list[str] = []
        is_empty = True
        for line in self._lines():
            head.append(line)
            is_empty = is_empty and not line.strip()
            if len(head) >= _HEAD_LINES and not is_empty:
                break
        return head or [""]

    def chunks(
        self, delimiter: str, skips_first: bool, allowed: str
    ) -> Iterator[tuple[int, list[str]]]:
        """The number of the first line and the lines of each chunk, which ends where a record ends.

        ``skips_first`` empties the first line; ``allowed`` is a control character that may occur.
        """
        if self._now() != self._stamp:
            requirement = "file must not change while it is read"
            raise value_error(self.source.op, requirement, path=self.source.name)
        for first, chunk in self._cut(delimiter):
            if first == 1 and skips_first:
                chunk[0] = ""
            check_controls(self.source, "\n".join(chunk), allowed, first)
            yield first, chunk

    def _cut(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        if self.is_whole:
            yield 1, list(self._lines())
            return
        chunk: list[str] = []

        def noted() -> Iterator[str]:
            for line in self._lines():
                chunk.append(line)
                yield line

        # Without quotes every line is a record.
        parts: Iterator[Sequence[str]] = ([line] for line in noted())
        if self._has_quotes:
            parts = (record.cells for record in records(noted(), delimiter, skip_spaces=True))
        first, size = 1, 0
        with suppress(LongCellError):  # the reader of the chunk raises an error
            for part in parts:
                size += sum(map(len, part))
                if size >= SIZE:
                    whole = list(chunk)
                    chunk.clear()
                    yield first, whole
                    first, size = first + len(whole), 0
        if chunk:
            yield first, chunk

    def _lines(self) -> Iterator[str]:
        """The lines without their ends, the mark at the beginning and that of DOS at the end."""
        with self._open() as file:
            text = io.TextIOWrapper(file, self.encoding)
            before: str | None = None
            longest = -1 if self.is_whole else _LONGEST
            try:
                for line in iter(lambda: text.readline(longest), ""):
                    if len(line) == longest:
                        requirement = f"a line must have less than {_LONGEST} characters"
                        raise self.source.error(requirement)
                    if before is not None:
                        yield before
                    else:
                        line = line.removeprefix("\ufeff")
                    before = line.removesuffix("\n")
            except UnicodeError:
                requirement = f"file must be text in {self.encoding}, as its first bytes say"
                given = {} if self._given is None else {"encoding": self._given}
                if given:
                    requirement = "file must be text in the encoding that is given"
                raise self.source.error(requirement, **given) from None
            if before is not None:
                yield before.removesuffix(END)

    def _blocks(self) -> Iterator[bytes]:
        with self._open() as file:
            while block := file.read(_BLOCK):
                yield block

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        if self._content is not None:
            yield io.BytesIO(self._content)
            return
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
            requirement = "gzip file must be whole"
            raise value_error(self.source.op, requirement, path=self.source.name) from None
        except OSError as error:
            if error.errno is None:
                raise
            raise unreadable(self.source.op, self.path, error) from error

    def _now(self) -> tuple[int, int]:
        if self.is_whole:
            return 0, 0
        with explain_unreadable(self.source.op, self.path):
            status = os.stat(self.path)
        return status.st_size, status.st_mtime_ns
