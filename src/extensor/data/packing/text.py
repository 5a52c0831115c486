"""Shards of a text: its tokens one after the other, in as few bytes as they need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from extensor.data.packing.writing import OP, ArrayShards, NewFolder
from extensor.data.streaming.index import Index
from extensor.data.text import Vocabulary
from extensor.errors import value_error
from extensor.io.paths import unreadable
from extensor.io.regular_files import open_regular

_CHARACTERS = 1 << 20  # that are read together
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # at the beginning of UTF-16


def pack_text(source: Path, folder: NewFolder, shard_size: int, kind: str) -> Index:
    """The tokens of a text, numbered as :class:`~extensor.data.Vocabulary` does."""
    vocabulary, tokens = _surveyed(source, kind)
    size = len(vocabulary)
    dtype = "uint8" if size <= 2**8 else "uint16" if size <= 2**16 else "uint32"
    parts = (("tokens", dtype, ()),)
    shards = ArrayShards(folder, parts, tokens, shard_size)
    done = 0
    for text in _chunks(source):
        row = vocabulary.encode(text)
        done += len(row)
        if done > tokens:
            break
        shards.write((row,))
    if done != tokens:
        raise value_error(OP, "file must not change while it is packed", path=str(source))
    return Index("text", parts, tuple(shards.written), vocabulary=vocabulary)


def _surveyed(source: Path, kind: str) -> tuple[Vocabulary, int]:
    """The vocabulary, and how many tokens there are."""
    characters: set[str] = set()
    tokens = 0
    for text in _chunks(source):
        if kind == "byte":
            tokens += len(text.encode())
        else:
            tokens += len(text)
            characters.update(text)
    if tokens == 0:
        raise value_error(OP, "file must not be empty", path=str(source))
    if kind == "byte":
        return Vocabulary("byte"), tokens
    return Vocabulary.of("".join(characters)), tokens


def _chunks(source: Path) -> Iterator[str]:
    """The text of a file in UTF-8, a part at a time, its lines ended by ``\\n`` alone."""
    try:
        with open(source, "rb", opener=open_regular) as file:
            if file.read(2) in _WIDE_MARKS:
                requirement = "file must be text in UTF-8, not in UTF-16"
                raise value_error(OP, requirement, path=str(source))
        with open(source, encoding="utf-8-sig", opener=open_regular) as text:
            while chunk := text.read(_CHARACTERS):
                if "\0" in chunk:
                    requirement = "file must be text, without bytes of 0"
                    raise value_error(OP, requirement, path=str(source))
                yield chunk
    except OSError as error:
        raise unreadable(OP, source, error) from error
    except UnicodeDecodeError:
        raise value_error(OP, "file must be text in UTF-8", path=str(source)) from None
