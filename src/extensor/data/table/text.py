"""Bytes as text: which encoding they are in, and whether they are text at all."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from typing import NamedTuple

from extensor.errors import value_error

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
END = "\x1a"  # with which DOS marked the end of a text


class Decoded(NamedTuple):
    """A text, the name of its encoding, and words for it."""

    text: str
    encoding: str
    said: str


def decoded(op: str, content: bytes, source: str, encoding: str | None, delimiter: str) -> Decoded:
    """The text in ``content``; without ``encoding`` that is found out.

    A control character is no text, unless it is the delimiter.
    """
    if encoding is None:
        name, said = find_encoding(op, [content], source)
        try:
            found = Decoded(content.decode(name), name, said)
        except UnicodeError:
            raise wrong_encoding(op, source, name) from None
    else:
        found = _as_said(op, content, source, encoding)
    text = found.text.removeprefix("\ufeff").removesuffix(END)
    check_controls(op, text, source, delimiter)
    return found._replace(text=text)


def check_controls(op: str, text: str, source: str, delimiter: str, first: int = 1) -> None:
    """Refuse control characters but the delimiter; ``first`` is the number of the first line."""
    for control in _CONTROL.finditer(text):
        if control[0] != delimiter:
            line = text.count("\n", 0, control.start()) + first
            requirement = "file must be text"
            raise value_error(op, requirement, source=source, line=line, character=control[0])


def wrong_encoding(op: str, source: str, name: str) -> ValueError:
    """The error for a file that is not in the encoding that its mark says."""
    requirement = f"file must be text in {name}, as its first bytes say"
    return value_error(op, requirement, source=source)


def _as_said(op: str, content: bytes, source: str, encoding: str) -> Decoded:
    try:
        codecs.lookup(encoding)
        text = content.decode(encoding)
    except UnicodeError:
        requirement = "file must be text in the encoding that is given"
        raise value_error(op, requirement, source=source, encoding=encoding) from None
    except (LookupError, ValueError):
        requirement = "encoding must be the name of one, such as 'utf-8' or 'cp1252'"
        raise value_error(op, requirement, encoding=encoding) from None
    return Decoded(text, encoding, encoding)


def find_encoding(op: str, blocks: Iterable[bytes], source: str) -> tuple[str, str]:
    """The encoding of a file that comes in blocks, none of them empty, and words for it."""
    utf8 = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    wrong = right = line = place = 0
    first: tuple[int, int] | None = None  # the line and the byte that is not UTF-8
    is_cp1252 = True
    for block in blocks:
        if place == 0:
            for mark, name in _MARKS.items():
                if block.startswith(mark):
                    return name, f"{name} with a mark"
        if b"\0" in block:
            requirement = "file must be text (encoding='utf-16-le' says that of one without a mark)"
            raise value_error(op, requirement, source=source, byte=place + block.index(b"\0"))
        place += len(block)
        text = utf8.decode(block)
        if not text.isascii():
            escaped = [i for i, x in enumerate(text) if "\udc80" <= x <= "\udcff"]
            if escaped and first is None:
                at = escaped[0]
                first = (line + text.count("\n", 0, at) + 1, ord(text[at]) - 0xDC00)
            wrong += len(escaped)
            right += sum(x >= "\x80" for x in text) - len(escaped)
        is_cp1252 = is_cp1252 and not block.translate(None, _CP1252)
        line += text.count("\n")
    for x in utf8.decode(b"", True):  # what a character was begun with at the very end
        wrong += 1
        first = first or (line + 1, ord(x) - 0xDC00)
    if first is None:
        return "utf-8", "utf-8"
    if right > wrong:
        # UTF-8 in which a few bytes are wrong must not become another encoding as a whole.
        requirement = f"file must be UTF-8 throughout, as most of it is ({_WAY_OUT})"
        raise value_error(op, requirement, source=source, line=first[0], byte=first[1])
    if is_cp1252:
        return "cp1252", f"cp1252 (it is not utf-8; {_WAY_OUT})"
    return "latin-1", f"latin-1 (it is not utf-8 or cp1252; {_WAY_OUT})"
