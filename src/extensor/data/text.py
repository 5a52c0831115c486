"""Texts of one's own: read, numbered character by character, and cut into windows."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from extensor.core import entries
from extensor.core.tensor import to_array
from extensor.data.dataset import rows
from extensor.data.windows import WindowDataset
from extensor.errors import Shown, arguments, type_error, value_error
from extensor.io.paths import as_path, unreadable
from extensor.io.regular_files import file_bytes

_KINDS = ("character", "byte")
_BYTES = 256
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # at the beginning of UTF-16


@dataclass(frozen=True)
class Vocabulary:
    """The numbers of the characters of a text, or of bytes; :meth:`of` makes one.

    Characters are numbered in the order of their code points. The last token stands for whatever
    else there is, and is written as U+FFFD, the replacement character. Bytes are those of UTF-8,
    always 256, and nothing is unknown to them.

    >>> from extensor.data import Vocabulary
    >>> vocabulary = Vocabulary.of("hello")
    >>> len(vocabulary)
    5
    >>> vocabulary.encode("hole")
    array([1, 3, 2, 0])
    >>> vocabulary.decode([1, 0, 2, 3])
    'helo'
    """

    kind: str
    characters: str = ""

    def __post_init__(self) -> None:
        _check("Vocabulary", self.kind, self.characters)

    @classmethod
    def of(cls, text: str, kind: str = "character") -> Vocabulary:
        """The vocabulary of the characters in ``text``, or with ``kind="byte"`` of all bytes."""
        op = "Vocabulary.of"
        arguments.text(op, "text", text)
        if arguments.choice(op, "kind", kind, _KINDS) == "byte":
            return cls("byte")
        _refuse_surrogates(op, text)
        return cls("character", "".join(sorted({*text} - {_UNKNOWN})))

    def __len__(self) -> int:
        return _BYTES if self.kind == "byte" else len(self.characters) + 1

    @property
    def unknown(self) -> int | None:
        """The token of what is not in the vocabulary; bytes have none."""
        return None if self.kind == "byte" else len(self.characters)

    def encode(self, text: str, replace: bool = False) -> Any:
        """The tokens of ``text``, an array of int64.

        A character that is not in the vocabulary is an error, or with ``replace`` becomes the
        unknown token.
        """
        op = "Vocabulary.encode"
        if not isinstance(text, str):
            raise type_error(op, "text must be a string", text=arguments.briefly(text))
        replace = arguments.flag(op, "replace", replace)
        if self.kind == "byte":
            if replace:
                text = _SURROGATE.sub(_UNKNOWN, text)
            _refuse_surrogates(op, text)
            return np.frombuffer(text.encode(), np.uint8).astype(np.int64)
        codes, known = _codes(text), _codes(self.characters + _UNKNOWN)
        order = np.argsort(known)
        places = np.searchsorted(known, codes, sorter=order).clip(max=len(known) - 1)
        tokens = order[places]
        missing = known[tokens] != codes
        if missing.any() and not replace:
            requirement = (
                "text must have only characters of the vocabulary (replace=True takes others too)"
            )
            raise _at(op, requirement, text, int(missing.argmax()))
        tokens[missing] = len(self.characters)
        return tokens

    def decode(self, tokens: Any) -> str:
        """The text of a row of tokens; bytes that are no UTF-8 become U+FFFD."""
        op = "Vocabulary.decode"
        numbers = token_row(op, tokens, len(self))
        if self.kind == "byte":
            return bytes(numbers.astype(np.uint8)).decode(errors="replace")
        known = self.characters + _UNKNOWN
        return "".join([known[number] for number in numbers.tolist()])

    def state_dict(self) -> dict[str, str]:
        """What :meth:`from_state` makes the same vocabulary of."""
        return {"kind": self.kind, "characters": self.characters}

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> Vocabulary:
        """The vocabulary of which ``state`` is the state; ``op`` stands in errors."""
        given = entries.with_keys(op, state, ("kind", "characters"), "vocabulary")
        _check(op, given["kind"], given["characters"])
        return cls(given["kind"], given["characters"])


def _check(op: str, kind: Any, characters: Any) -> None:
    arguments.choice(op, "kind", kind, _KINDS)
    if not isinstance(characters, str):
        given = arguments.briefly(characters)
        raise type_error(op, "characters must be a string", characters=given)
    if kind == "byte" and characters:
        requirement = "characters must be empty for bytes"
        raise value_error(op, requirement, characters=arguments.briefly(characters))
    rises = bool((np.diff(_codes(characters).astype(np.int64)) > 0).all())
    if not rises or _SURROGATE.search(characters) or _UNKNOWN in characters:
        requirement = "characters must be in the order of their code points, each once"
        raise value_error(op, requirement, characters=arguments.briefly(characters))


def _codes(text: str) -> Any:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


def _refuse_surrogates(op: str, text: str) -> None:
    found = _SURROGATE.search(text)
    if found is not None:
        requirement = "text must be Unicode, without halves of pairs"
        raise _at(op, requirement, text, found.start())


def _at(op: str, requirement: str, text: str, position: int) -> ValueError:
    """The error for the character at a position, which messages give as editors do."""
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return value_error(op, requirement, character=text[position], line=line, column=column)


def token_row(op: str, tokens: Any, limit: int | None = None) -> Any:
    """``tokens`` as a row of integers, below ``limit`` if one is given."""
    row = None if isinstance(tokens, str | bytes) else to_array(tokens, op=op)
    if row is None or row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
        requirement = "tokens must be a row of integers, as Vocabulary.encode gives it"
        raise type_error(op, requirement, tokens=arguments.briefly(tokens))
    if limit is not None and row.size:
        outside = (row < 0) | (row >= limit)
        if outside.any():
            position = int(outside.argmax())
            requirement = f"tokens must be in [0, {limit - 1}]"
            raise value_error(op, requirement, token=int(row[position]), position=position)
    return row


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8, its lines ended by ``\\n`` alone.

    A byte order mark is left out. A file that is empty, binary or in another encoding is an error.
    """
    op = "read_text"
    place = as_path(op, path)
    try:
        content = file_bytes(place)
    except OSError as error:
        raise unreadable(op, path, error) from error
    begin = len(_MARK) if content.startswith(_MARK) else 0
    if len(content) == begin:
        raise value_error(op, "file must not be empty", path=os.fspath(path))
    if content.startswith(_WIDE_MARKS):
        requirement = "file must be text in UTF-8, not in UTF-16"
        raise value_error(op, requirement, path=os.fspath(path))
    zero = content.find(0)
    if zero >= 0:
        requirement = "file must be text, without bytes of 0"
        raise value_error(op, requirement, path=os.fspath(path), position=zero)
    try:
        text = content[begin:].decode()
    except UnicodeDecodeError as error:
        position = begin + error.start
        raise value_error(
            op,
            "file must be text in UTF-8",
            path=os.fspath(path),
            line=content.count(b"\n", 0, position) + 1,
            position=position,
            byte=Shown(f"0x{content[position]:02x}"),
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


class TextWindows(WindowDataset):
    """Windows of ``context`` tokens, and for each token the one that follows: ``(inputs, targets)``.

    A window begins every ``stride`` tokens. Without one each begins where the one before ends, and
    the last ends where the text ends, whatever it shares with the one before.

    >>> from extensor.data import TextWindows
    >>> windows = TextWindows([1, 2, 3, 4, 5, 6], context=2)
    >>> windows[0]
    (array([1, 2]), array([2, 3]))
    >>> windows.starts
    array([0, 2, 3])
    """

    def __init__(self, tokens: Any, context: int, stride: int | None = None) -> None:
        op = "TextWindows"
        self.tokens = token_row(op, tokens)
        self.context = arguments.integer(op, "context", context, 1)
        step = self.context if stride is None else arguments.integer(op, "stride", stride, 1)
        last = len(self.tokens) - self.context - 1
        if last < 0:
            requirement = f"tokens must be {self.context + 1} or more, a window and what follows"
            raise value_error(op, requirement, tokens=len(self.tokens), context=context)
        self.starts = np.arange(0, last + 1, step, dtype=np.int64)
        if stride is None and self.starts[-1] != last:
            self.starts = np.append(self.starts, last)

    def _cut(self, begins: Any) -> tuple[Any, ...]:
        places = begins[:, None] + np.arange(self.context)
        parts = (rows(self.tokens, places), rows(self.tokens, places + 1))
        return tuple(part.astype(np.int64, copy=False) for part in parts)
