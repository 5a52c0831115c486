"""Bytes as text: which encoding they are in, and whether they are text at all."""

from __future__ import annotations

import codecs
import re
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
_WAY_OUT = "encoding= says another"


class Decoded(NamedTuple):
    """A text, the name of its encoding, and words for it."""

    text: str
    encoding: str
    said: str


def decoded(op: str, content: bytes, source: str, encoding: str | None, delimiter: str) -> Decoded:
    """The text in ``content``; without ``encoding`` that is found out.

    A control character is no text, unless it is the delimiter.
    """
    found = _found(op, content, source) if encoding is None else None
    if found is None:
        found = _as_said(op, content, source, str(encoding))
    text = found.text.removeprefix("\ufeff").removesuffix("\x1a")  # DOS marked the end
    for control in _CONTROL.finditer(text):
        if control[0] != delimiter:
            line = text.count("\n", 0, control.start()) + 1
            requirement = "file must be text"
            raise value_error(op, requirement, source=source, line=line, character=control[0])
    return found._replace(text=text)


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


def _found(op: str, content: bytes, source: str) -> Decoded:
    for mark, name in _MARKS.items():
        if content.startswith(mark):
            try:
                return Decoded(content.decode(name), name, f"{name} with a mark")
            except UnicodeError:
                requirement = f"file must be text in {name}, as its first bytes say"
                raise value_error(op, requirement, source=source) from None
    if b"\0" in content:
        requirement = "file must be text (encoding='utf-16-le' says that of one without a mark)"
        raise value_error(op, requirement, source=source, byte=content.index(b"\0"))
    try:
        return Decoded(content.decode("utf-8"), "utf-8", "utf-8")
    except UnicodeDecodeError as error:
        _refuse_damaged(op, content, source, error.start)
    try:
        return Decoded(content.decode("cp1252"), "cp1252", f"cp1252 (it is not utf-8; {_WAY_OUT})")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
        return Decoded(text, "latin-1", f"latin-1 (it is not utf-8 or cp1252; {_WAY_OUT})")


def _refuse_damaged(op: str, content: bytes, source: str, first: int) -> None:
    """UTF-8 in which a few bytes are wrong must not become another encoding as a whole."""
    text = content.decode("utf-8", "surrogateescape")
    wrong = sum("\udc80" <= x <= "\udcff" for x in text)
    right = sum(x >= "\x80" for x in text) - wrong
    if right > wrong:
        line = content.count(b"\n", 0, first) + 1
        requirement = f"file must be UTF-8 throughout, as most of it is ({_WAY_OUT})"
        raise value_error(op, requirement, source=source, line=line, byte=content[first])
