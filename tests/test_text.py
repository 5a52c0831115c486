"""Texts: their vocabularies, files and windows, against plain loops and Python's own codecs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import extensor as ex
from extensor.data import BatchDataset, DataLoader, TextWindows, Vocabulary, read_text

TEXT = "Zoë wrote\n\tnaïve 𝄞 notes, \x00\x7f twice: ñ ≠ n.\n"


def raises(text: str) -> Any:
    return pytest.raises((ValueError, TypeError, IndexError), match=f"^{re.escape(text)}$")


def test_characters_are_numbered_in_their_order() -> None:
    vocabulary = Vocabulary.of(TEXT)
    characters = sorted(set(TEXT))
    assert vocabulary.characters == "".join(characters)
    assert len(vocabulary) == len(characters) + 1
    tokens = vocabulary.encode(TEXT)
    assert tokens.dtype == np.int64
    assert tokens.tolist() == [characters.index(x) for x in TEXT]
    assert vocabulary.decode(tokens) == TEXT
    assert vocabulary.decode(ex.tensor(tokens)) == TEXT
    assert vocabulary.decode(tokens.astype(np.uint8)) == TEXT


def test_bytes_are_those_of_utf8() -> None:
    vocabulary = Vocabulary.of(TEXT, kind="byte")
    assert len(vocabulary) == 256
    assert vocabulary.unknown is None
    tokens = vocabulary.encode(TEXT)
    assert tokens.dtype == np.int64
    assert tokens.tolist() == list(TEXT.encode("utf-8"))
    assert vocabulary.decode(tokens) == TEXT
    assert vocabulary.decode([0x61, 0xE9, 0x62]) == "a\N{REPLACEMENT CHARACTER}b"
    assert vocabulary.decode(range(256)) == bytes(range(256)).decode(errors="replace")


@pytest.mark.parametrize("kind", ["character", "byte"])
def test_nothing_has_no_tokens(kind: str) -> None:
    vocabulary = Vocabulary.of("abc", kind)
    assert vocabulary.encode("").shape == (0,)
    assert vocabulary.encode("").dtype == np.int64
    assert vocabulary.decode([]) == ""
    assert vocabulary.decode(vocabulary.encode("")) == ""


def test_an_unknown_character_is_named() -> None:
    vocabulary = Vocabulary.of("ab\n")
    with raises(
        "Vocabulary.encode: text must have only characters of the vocabulary (replace=True takes "
        "others too), got character='é', line=3, column=2"
    ):
        vocabulary.encode("ab\nb\naéx")
    tokens = vocabulary.encode("aéb\ud800~", replace=True)
    assert tokens.tolist() == [1, 3, 2, 3, 3]
    assert vocabulary.unknown == 3
    assert vocabulary.decode(tokens) == "a\N{REPLACEMENT CHARACTER}b" + 2 * "\ufffd"


def test_the_replacement_character_is_the_unknown_token() -> None:
    """So that what was decoded can be encoded."""
    vocabulary = Vocabulary.of("a\ufffdz\U0001f600")
    assert len(vocabulary) == 4
    assert vocabulary.encode("\ufffdz\U0001f600a").tolist() == [3, 1, 2, 0]
    assert vocabulary.decode([3, 2]) == "\ufffd\U0001f600"


def test_halves_of_pairs() -> None:
    text = (
        "text must be Unicode, without halves of pairs, got character='\\ud800', line=2, column=1"
    )
    with raises(f"Vocabulary.of: {text}"):
        Vocabulary.of("a\n\ud800")
    vocabulary = Vocabulary.of("ab", "byte")
    with raises(f"Vocabulary.encode: {text}"):
        vocabulary.encode("a\n\ud800")
    assert vocabulary.encode("\ud800", replace=True).tolist() == [0xEF, 0xBF, 0xBD]


@pytest.mark.parametrize("kind", ["character", "byte"])
def test_a_vocabulary_is_saved_and_loaded(kind: str, tmp_path: Path) -> None:
    vocabulary = Vocabulary.of(TEXT, kind)
    ex.save(tmp_path / "file", {"vocabulary": vocabulary.state_dict()})
    again = Vocabulary.from_state(ex.load(tmp_path / "file")["vocabulary"])
    assert again == vocabulary
    assert again.encode(TEXT).tolist() == vocabulary.encode(TEXT).tolist()


HOSTILE: list[tuple[Any, str]] = [
    (3, "vocabulary must be a mapping, got vocabulary='int'"),
    ({}, "the keys of vocabulary must be ['kind', 'characters'], got keys=[]"),
    ({"kind": "word", "characters": ""}, "kind must be 'character' or 'byte', got kind='word'"),
    ({"kind": ["byte"], "characters": ""}, "kind must be 'character' or 'byte', got kind='list'"),
    ({"kind": "byte", "characters": "a"}, "characters must be empty for bytes, got characters='a'"),
    (
        {"kind": "character", "characters": ["a"]},
        "characters must be a string, got characters='list'",
    ),
    *(
        (
            {"kind": "character", "characters": wrong},
            "characters must be in the order of their code points, each once, "
            f"got characters={wrong!r}",
        )
        for wrong in ("ba", "aa", "a\ufffd", "a\ud800")
    ),
]


@pytest.mark.parametrize(("state", "text"), HOSTILE)
def test_states_that_are_none(state: Any, text: str) -> None:
    with raises(f"open: {text}"):
        Vocabulary.from_state(state, op="open")


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (lambda: Vocabulary.of(""), "Vocabulary.of: text must not be empty, got text=''"),
        (lambda: Vocabulary.of(3), "Vocabulary.of: text must be a string, got text=3"),
        (
            lambda: Vocabulary.of("a", "word"),
            "Vocabulary.of: kind must be 'character' or 'byte', got kind='word'",
        ),
        (
            lambda: Vocabulary.of("a").encode(b"a"),
            "Vocabulary.encode: text must be a string, got text='bytes'",
        ),
        (
            lambda: Vocabulary.of("ab").decode([0, 2, 3, -1]),
            "Vocabulary.decode: tokens must be in [0, 2], got token=3, position=2",
        ),
        (
            lambda: Vocabulary.of("a", "byte").decode([0, -1]),
            "Vocabulary.decode: tokens must be in [0, 255], got token=-1, position=1",
        ),
        (
            lambda: Vocabulary.of("a").decode([[0]]),
            "Vocabulary.decode: tokens must be a row of integers, as Vocabulary.encode gives it, "
            "got tokens='list'",
        ),
        (
            lambda: Vocabulary.of("a").decode([0.5]),
            "Vocabulary.decode: tokens must be a row of integers, as Vocabulary.encode gives it, "
            "got tokens='list'",
        ),
    ],
)
def test_errors_of_vocabularies(work: Any, text: str) -> None:
    with raises(text):
        work()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"a\nb\n", "a\nb\n"),
        (b"\xef\xbb\xbfa\r\nb\rc", "a\nb\nc"),
        ("ñ\r\n𝄞\x1b".encode(), "ñ\n𝄞\x1b"),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", "\ufeffa"),
        (b" ", " "),
    ],
)
def test_texts_are_read(content: bytes, text: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    assert read_text(tmp_path / "a.txt") == text
    assert read_text(str(tmp_path / "a.txt")) == text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "file must not be empty, got path=PATH"),
        (b"\xef\xbb\xbf", "file must not be empty, got path=PATH"),
        ("text".encode("utf-16"), "file must be text in UTF-8, not in UTF-16, got path=PATH"),
        (b"PK\x03\x04ab\0", "file must be text, without bytes of 0, got path=PATH, position=6"),
        (
            "abc\nd\u00e9f".encode("latin-1"),
            "file must be text in UTF-8, got path=PATH, line=2, position=5, byte=0xe9",
        ),
        (
            b"\xef\xbb\xbfab\xff",
            "file must be text in UTF-8, got path=PATH, line=1, position=5, byte=0xff",
        ),
    ],
)
def test_files_that_are_no_text(content: bytes, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with raises("read_text: " + text.replace("PATH", repr(str(path)))):
        read_text(path)


def test_text_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"read_text: could not read .*none[.]txt"):
        read_text(tmp_path / "none.txt")
    with pytest.raises(IsADirectoryError, match="read_text: could not read"):
        read_text(tmp_path)


def plain_windows(tokens: list[int], context: int, begins: list[int]) -> list[tuple[Any, Any]]:
    return [(tokens[b : b + context], tokens[b + 1 : b + context + 1]) for b in begins]


@pytest.mark.parametrize("length", [4, 5, 6, 7, 10, 23])
@pytest.mark.parametrize("stride", [None, 1, 2, 3, 5])
def test_windows_are_those_of_a_loop(length: int, stride: int | None) -> None:
    context = 3
    tokens = [7 * x % 31 for x in range(length)]
    begins = [b for b in range(0, length, stride or context) if b + context < length]
    if stride is None and begins[-1] + context + 1 < length:
        begins.append(length - context - 1)
    expected = plain_windows(tokens, context, begins)
    windows = TextWindows(tokens, context, stride)
    assert isinstance(windows, BatchDataset)
    assert windows.starts.tolist() == begins
    assert len(windows) == len(expected)
    assert [tuple(part.tolist() for part in sample) for sample in windows] == expected  # type: ignore[attr-defined]
    x, y = windows.batch(slice(None))
    assert x.dtype == y.dtype == np.int64
    assert (x.tolist(), y.tolist()) == tuple(map(list, zip(*expected, strict=True)))
    order = np.arange(len(windows))[::-1]
    np.testing.assert_array_equal(windows.batch(order)[1], y[::-1])
    if stride is None:
        assert {*tokens[1:]} == set(np.ravel(y).tolist())


def test_windows_in_a_loader() -> None:
    tokens = np.arange(101, dtype=np.uint16)
    windows = TextWindows(tokens, 4, 1)
    loader = DataLoader(windows, 8, shuffle=True, workers=2, generator=ex.random.Generator(3))
    seen = []
    for x, y in loader:
        assert x.dtype == y.dtype == ex.int64
        np.testing.assert_array_equal(x.numpy() + 1, y.numpy())
        np.testing.assert_array_equal(
            x.numpy() - x.numpy()[:, :1], np.tile(np.arange(4), (len(x), 1))
        )
        seen += x.numpy()[:, 0].tolist()
    assert sorted(seen) == list(range(97))
    assert seen != sorted(seen)


def test_some_of_the_windows() -> None:
    windows = TextWindows(np.arange(20), 4, 2)
    some = windows.take([5, 0])
    assert [sample[0].tolist() for sample in some] == [[10, 11, 12, 13], [0, 1, 2, 3]]  # type: ignore[attr-defined]
    assert len(windows.take([])) == 0
    assert len(windows) == 8


@pytest.mark.parametrize(
    ("work", "text"),
    [
        (
            lambda: TextWindows([1, 2, 3], 3),
            "TextWindows: tokens must be 4 or more, a window and what follows, got tokens=3, context=3",
        ),
        (lambda: TextWindows([1, 2], 0), "TextWindows: context must be 1 or more, got context=0"),
        (lambda: TextWindows([1, 2], 1, 0), "TextWindows: stride must be 1 or more, got stride=0"),
        (
            lambda: TextWindows("abc", 1),
            "TextWindows: tokens must be a row of integers, as Vocabulary.encode gives it, "
            "got tokens='abc'",
        ),
        (
            lambda: TextWindows(np.ones(4), 1),
            "TextWindows: tokens must be a row of integers, as Vocabulary.encode gives it, "
            "got tokens='ndarray'",
        ),
        (
            lambda: TextWindows([1, 2, 3], 1)[2],
            "TextWindows: index must be in [-2, 1], got index=2",
        ),
        (
            lambda: TextWindows([1, 2, 3], 1).batch([0, 2]),
            "TextWindows.batch: the numbers of samples must be in [0, 1], got number=2",
        ),
        (
            lambda: TextWindows([1, 2, 3], 1).take([-1]),
            "TextWindows.take: the numbers of samples must be in [0, 1], got number=-1",
        ),
        (
            lambda: TextWindows([1, 2, 3], 1).take([0.5]),
            "TextWindows.take: the numbers of samples must be a row of integers, got numbers='list'",
        ),
    ],
)  # fmt: skip
def test_errors_of_windows(work: Any, text: str) -> None:
    with raises(text):
        work()
