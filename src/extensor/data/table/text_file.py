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
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from extensor.errors import value_error
from extensor.io.paths import explain_unreadable, unreadable
from extensor.io.regular_files import open_regular

DELIMITERS = (",", ";", "\t", "|")
_LONGEST_CELL = 131_072  # characters of a cell that Python's csv reads


class Record(NamedTuple):
    """A row of cells, and the lines it stands in, counted from 1."""

    first: int
    last: int
    cells: list[str]


class LongCellError(Exception):
    """A cell has more characters than one can have, as if a quote were not closed."""

    def __init__(self, first: int, last: int, text: str) -> None:
        super().__init__(text)
        self.first = first
        self.last = last


class QuoteError(Exception):
    """A quote is not closed, or not followed by a delimiter; ``line`` is where it begins."""

    def __init__(self, line: int, is_closed: bool) -> None:
        super().__init__(line)
        self.line = line
        self.is_closed = is_closed


def as_lines(text: str) -> list[str]:
    """The lines of a text without their ends, as they are written on any system."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


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
        raise LongCellError(first, reader.line_num, str(error)) from None


def checked_records(lines: Sequence[str], delimiter: str) -> Iterator[Record]:
    """The same, with a QuoteError for quotes that would be read as something else than is meant."""
    quotes = _Quotes(delimiter)
    is_quoted = any('"' in line for line in lines)
    try:
        for record in records(lines, delimiter, skip_spaces=True):
            if is_quoted:
                quotes.check(lines[record.first - 1 : record.last], record.first)
            yield record
    except LongCellError as error:
        quotes.check(lines[error.first - 1 :], error.first)
        raise


class _Quotes:
    """How cells are quoted between certain delimiters."""

    def __init__(self, delimiter: str) -> None:
        between = re.escape(delimiter)
        after = "" if delimiter == " " else " *+"
        quoted = r' *+"(?:[^"]++|"")*+"' + after
        self.delimiter = delimiter
        self.quoted = re.compile(quoted)
        self.cell = re.compile(rf'{quoted}(?={between}|\n|\Z)| *+(?!")[^{between}\n]*+')
        self.record = re.compile(f"(?:{self.cell.pattern})(?:{between}(?:{self.cell.pattern}))*+")

    def check(self, lines: Sequence[str], first: int) -> None:
        """Refuse records that are not cells between delimiters, as its quotes say."""
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
        raise QuoteError(line, self.quoted.match(text, place) is not None)


class ParsedRows(NamedTuple):
    """Cells, and the line in which each row begins."""

    cells: list[list[str]]
    lines: list[int]

    def below(self) -> ParsedRows:
        """The rows without the first."""
        return ParsedRows(self.cells[1:], self.lines[1:])

    def __add__(self, other: ParsedRows) -> ParsedRows:  # type: ignore[override]
        return ParsedRows(self.cells + other.cells, self.lines + other.lines)


def parse_rows(
    op: str, lines: Sequence[str], delimiter: str, source: str, first: int = 1
) -> ParsedRows:
    """The rows that are not empty; ``first`` is the number of the first line."""
    cells, places = [], []
    try:
        for record in checked_records(lines, delimiter):
            line = lines[record.first - 1]
            row = record.cells
            if record.last > record.first or not _is_tight(line):
                row = [cell.strip() for cell in row]
            if len(row) > 1 or row[0] or line.strip():
                cells.append(row)
                places.append(record.first + first - 1)
    except QuoteError as error:
        requirement = (
            "after a quoted cell a delimiter must come (a quote inside of one is written twice)"
            if error.is_closed
            else "a quoted cell must be closed"
        )
        raise value_error(op, requirement, source=source, line=error.line + first - 1) from None
    except LongCellError as error:
        requirement = f"a cell must have at most {_LONGEST_CELL} characters"
        raise value_error(op, requirement, source=source, line=error.first + first - 1) from None
    return ParsedRows(cells, places)


def _is_tight(line: str) -> bool:
    """Whether a line has no spaces, of any kind, that cells could begin or end with."""
    return line.isascii() and line.isprintable() and " " not in line


def rectangular(op: str, rows: ParsedRows, source: str, said: list[str]) -> ParsedRows:
    """Rows of one width: columns at the ends that are empty in all of them are left out."""
    widest = max(map(len, rows.cells))
    cells = _without_ends(rows.cells)
    empty = widest - max(map(len, cells))
    if empty == 1:
        said.append("the last column has neither a name nor cells and is left out")
    elif empty:
        said.append(f"the last {empty} columns have neither names nor cells and are left out")
    for row, line in zip(cells, rows.lines, strict=True):
        if len(row) != len(cells[0]):
            requirement = f"a line must have as many cells as the first, {len(cells[0])}"
            raise value_error(op, requirement, source=source, line=line, cells=len(row))
    return ParsedRows(cells, rows.lines)


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


class WholeText:
    """A text file in memory, as one chunk.

    A control character is no text, unless it is ``allowed``, as a delimiter.
    """

    is_whole = True

    def __init__(
        self, op: str, content: bytes, source: str, encoding: str | None, allowed: str
    ) -> None:
        self.source = source
        if encoding is None:
            self.encoding, self.said = find_encoding(op, [content], source)
        else:
            self.encoding = self.said = known_encoding(op, encoding)
        try:
            text = content.decode(self.encoding)
        except UnicodeError:
            raise wrong_encoding(op, source, self.encoding, encoding is not None) from None
        text = text.removeprefix("\ufeff").removesuffix(END)
        check_controls(op, text, source, allowed)
        self.lines = as_lines(text)
        self.unused_delimiter = next((x for x in DELIMITERS if x not in text), UNUSED)

    def head(self) -> list[str]:
        """The lines, which the caller may change."""
        return list(self.lines)

    def chunks(
        self, delimiter: str, skips_first: bool, allowed: str
    ) -> Iterator[tuple[int, list[str]]]:
        """All lines, the first of them number 1; ``skips_first`` empties that one."""
        yield 1, ["", *self.lines[1:]] if skips_first else self.lines


def check_controls(op: str, text: str, source: str, delimiter: str, first: int = 1) -> None:
    """Refuse control characters but the delimiter; ``first`` is the number of the first line."""
    for control in _CONTROL.finditer(text):
        if control[0] != delimiter:
            line = text.count("\n", 0, control.start()) + first
            requirement = "file must be text"
            raise value_error(op, requirement, source=source, line=line, character=control[0])


def wrong_encoding(op: str, source: str, name: str, is_given: bool) -> ValueError:
    """The error for a file that is not in the encoding that its mark, or the user, says."""
    if is_given:
        requirement = "file must be text in the encoding that is given"
        return value_error(op, requirement, source=source, encoding=name)
    requirement = f"file must be text in {name}, as its first bytes say"
    return value_error(op, requirement, source=source)


def known_encoding(op: str, encoding: str) -> str:
    """The name of an encoding that Python knows."""
    try:
        "".encode(encoding)  # which refuses codecs of bytes too, such as hex
    except (LookupError, ValueError):
        requirement = "encoding must be the name of one, such as 'utf-8' or 'cp1252'"
        raise value_error(op, requirement, encoding=encoding) from None
    return encoding


class _Utf8Survey:
    """How much of a text is UTF-8: right and wrong characters, and the first byte that is wrong."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._line = 1
        self.right = self.wrong = 0
        self.first: tuple[int, int] | None = None  # the line and the byte that is not UTF-8

    def add(self, block: bytes, is_last: bool = False) -> None:
        """Look at some more bytes."""
        text = self._decoder.decode(block, is_last)
        if not text.isascii():
            escaped = [i for i, x in enumerate(text) if "\udc80" <= x <= "\udcff"]
            if escaped and self.first is None:
                at = escaped[0]
                self.first = (self._line + text.count("\n", 0, at), ord(text[at]) - 0xDC00)
            self.wrong += len(escaped)
            self.right += sum(x >= "\x80" for x in text) - len(escaped)
        self._line += text.count("\n")


def find_encoding(op: str, blocks: Iterable[bytes], source: str) -> tuple[str, str]:
    """The encoding of a file that comes in blocks, none of them empty, and words for it."""
    survey = _Utf8Survey()
    place = 0
    is_cp1252 = True
    for block in blocks:
        marks = [] if place else [name for mark, name in _MARKS.items() if block.startswith(mark)]
        if marks:
            return marks[0], f"{marks[0]} with a mark"
        if b"\0" in block:
            requirement = "file must be text (encoding='utf-16-le' says that of one without a mark)"
            raise value_error(op, requirement, source=source, byte=place + block.index(b"\0"))
        place += len(block)
        survey.add(block)
        is_cp1252 = is_cp1252 and not block.translate(None, _CP1252)
    survey.add(b"", is_last=True)  # a character may be begun at the very end
    if survey.first is None:
        return "utf-8", "utf-8"
    if survey.right > survey.wrong:
        # UTF-8 in which a few bytes are wrong must not become another encoding as a whole.
        requirement = f"file must be UTF-8 throughout, as most of it is ({_WAY_OUT})"
        line, byte = survey.first
        raise value_error(op, requirement, source=source, line=line, byte=byte)
    if is_cp1252:
        return "cp1252", f"cp1252 (it is not utf-8; {_WAY_OUT})"
    return "latin-1", f"latin-1 (it is not utf-8 or cp1252; {_WAY_OUT})"


_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20  # bytes
_HEAD_LINES = 1100  # lines, more than are looked at to find out how a table is written
SIZE = 1 << 23  # characters of a chunk, or more
_LONGEST = 1 << 26  # characters of a line: a compressed file could have any number


class TextChunks:
    """A text file, plain or compressed by gzip, read in chunks of whole records."""

    is_whole = False
    unused_delimiter = UNUSED

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
            self.encoding = self.said = known_encoding(op, encoding)
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
            raise self._change_error()
        lines = self._lines()
        cut = self._cut_at_records(lines, delimiter) if self.has_quotes else self._cut_lines(lines)
        for first, chunk in cut:
            if first == 1 and skips_first:
                chunk[0] = ""
            check_controls(self.op, "\n".join(chunk), self.source, allowed, first)
            yield first, chunk

    def _cut_lines(self, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
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
            pass  # the reader of the chunk raises an error
        if chunk:
            yield first, chunk

    def _lines(self) -> Iterator[str]:
        """The lines without their ends, the mark at the beginning and that of DOS at the end."""
        with self._open() as file:
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
                is_given = self._given is not None
                raise wrong_encoding(self.op, self.source, self.encoding, is_given) from None
            if before is not None:
                yield before.removesuffix(END)

    def _blocks(self) -> Iterator[bytes]:
        with self._open() as file:
            while block := file.read(_BLOCK):
                self.has_quotes = self.has_quotes or b'"' in block
                yield block

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
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
        with explain_unreadable(self.op, self.path):
            status = os.stat(self.path)
        return status.st_size, status.st_mtime_ns

    def _change_error(self) -> ValueError:
        return value_error(self.op, "file must not change while it is read", path=self.source)
