"""Windows of series and of texts, and vocabularies of characters."""

from __future__ import annotations

import os
import re
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from extensor.arrays.dtypes import float32
from extensor.core import entries
from extensor.core.tensor import to_array
from extensor.data.dataset import IndexedDataset, rows
from extensor.errors import ShortRepr, arguments, type_error, value_error
from extensor.io.paths import as_path, explain_unreadable
from extensor.io.regular_files import file_bytes

Self = TypeVar("Self", bound="WindowDataset")


class WindowDataset(IndexedDataset):
    """The base of data sets of windows: where each window begins, and samples by number.

    ``starts`` has the first row of each window.
    """

    starts: Any

    def _cut(self, begins: Any) -> tuple[Any, ...]:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self.starts)

    def batch(self, indices: Any) -> tuple[Any, ...]:
        """Return the samples at ``indices``, stacked.

        Parameters
        ----------
        indices : numpy.ndarray of int, (n,), or slice
            The numbers of the samples, from 0.

        Returns
        -------
        tuple of numpy.ndarray
            One array for each part of a sample, with the samples along the first axis.
        """
        return self._cut(self.starts[self._places("batch", indices)])

    def take(self: Self, numbers: Any) -> Self:
        """Return a data set of some of the samples, which shares the memory.

        Parameters
        ----------
        numbers : array of int, or slice
            The numbers of the samples, in the new order.

        Returns
        -------
        WindowDataset
            A data set of the same class.
        """
        part = copy(self)
        part.starts = self.starts[self._places("take", numbers)]
        return part


_OP = "SeriesWindows"


class SeriesWindows(WindowDataset):
    """Windows of a time series, and the targets that follow each window.

    A sample is ``(inputs, targets)`` of shapes (window, features) and (horizon * numbers,) in float32,
    in the order of time. Without targets, a sample is ``(inputs,)``, and windows reach to the end of the
    series, to forecast the time after it.

    Parameters
    ----------
    inputs : array_like, (time, features) or (time,)
        Finite numbers.
    targets : array_like, (time, numbers) or (time,), or None
        Finite numbers, a row for each row of ``inputs``.
    window : int
        Number of rows in a window, 1 or more.
    horizon : int, default 1
        Number of rows of targets after a window, 1 or more.
    stride : int, default 1
        Number of rows between the beginnings of windows, 1 or more.

    Attributes
    ----------
    starts : numpy.ndarray of int64
        The first row of each window.

    Raises
    ------
    ValueError
        If a number is not finite, the series is shorter than a window and its horizon, or inputs and
        targets have different numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from extensor.data import SeriesWindows
    >>> series = SeriesWindows(np.arange(6), np.arange(6) * 10, window=3, horizon=2)
    >>> len(series)
    2
    >>> series[1][1]
    array([40., 50.], dtype=float32)
    """

    def __init__(
        self, inputs: Any, targets: Any, window: int, horizon: int = 1, stride: int = 1
    ) -> None:
        self.window = arguments.integer(_OP, "window", window, 1)
        self.horizon = arguments.integer(_OP, "horizon", horizon, 1)
        stride = arguments.integer(_OP, "stride", stride, 1)
        self.inputs = _series_table("inputs", inputs)
        self.targets = None if targets is None else _series_table("targets", targets)
        length = len(self.inputs)
        if self.targets is None:
            self.horizon = 0
        elif len(self.targets) != length:
            requirement = "inputs and targets must have a row for each time"
            raise value_error(_OP, requirement, inputs=length, targets=len(self.targets))
        needed = self.window + self.horizon
        if length < needed:
            given = {"window": self.window, **({"horizon": self.horizon} if self.horizon else {})}
            requirement = f"a series must have {needed} rows or more"
            raise value_error(_OP, requirement, rows=length, **given)
        self.starts = np.arange(0, length - needed + 1, stride, dtype=np.int64)

    def rows(self, begin: int = 0, end: int | None = None, history: bool = False) -> Any:
        """Return the numbers of the samples that lie in a range of rows.

        To split a series in time, use ``series.take(series.rows(0, 800))`` for training and
        ``series.take(series.rows(800, history=True))`` for testing.

        Parameters
        ----------
        begin : int, default 0
            The first row.
        end : int, optional
            The row after the last. Default: the end of the series.
        history : bool, default False
            Whether only the targets must lie in the range. Windows may begin before it then.

        Returns
        -------
        numpy.ndarray of int64
            The numbers of the samples, in order.
        """
        op = f"{_OP}.rows"
        begin = arguments.integer(op, "begin", begin, 0)
        end = len(self.inputs) if end is None else arguments.integer(op, "end", end, 0)
        history = arguments.flag(op, "history", history)
        first = self.starts + (self.window if history else 0)
        beyond = self.starts + self.window + self.horizon
        return np.flatnonzero((first >= begin) & (beyond <= end))

    def _cut(self, begins: Any) -> tuple[Any, ...]:
        windows = rows(self.inputs, begins[:, None] + np.arange(self.window))
        if self.targets is None:
            return (windows,)
        places = begins[:, None] + self.window + np.arange(self.horizon)
        following = rows(self.targets, places)
        return windows, following.reshape(len(begins), self.horizon * self.targets.shape[1])


def _series_table(name: str, values: Any) -> Any:
    """``values`` as rows of finite float32."""
    with np.errstate(over="ignore"):
        table = to_array(values, float32, op=_OP)
    if table.ndim not in (1, 2) or (table.ndim == 2 and table.shape[1] == 0):
        requirement = f"{name} must be (time, columns) or (time,)"
        raise value_error(_OP, requirement, **{f"{name}_shape": table.shape})
    table = table[:, None] if table.ndim == 1 else table
    bad = ~np.isfinite(table)
    if bad.any():
        row, column = divmod(int(bad.argmax()), table.shape[1])
        value = float(table[row, column])
        requirement = f"{name} must be finite in float32"
        raise value_error(_OP, requirement, row=row, column=column, value=value)
    return table


_KINDS = ("character", "byte")
_BYTES = 256
_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARK = b"\xef\xbb\xbf"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # at the beginning of UTF-16


@dataclass(frozen=True)
class Vocabulary:
    """A numbering of the characters of a text, or of bytes.

    Characters are numbered in the order of their code points. The last token stands for every other
    character and is decoded as U+FFFD, the replacement character. Bytes are those of UTF-8: 256 tokens,
    none of them unknown. Use `of` to build a vocabulary from a text.

    Parameters
    ----------
    kind : {"character", "byte"}
        The meaning of a token.
    characters : str, default ""
        The characters in the order of their code points; empty for bytes.

    Examples
    --------
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
        """Return the vocabulary of a text.

        Parameters
        ----------
        text : str
            The text whose characters are numbered.
        kind : {"character", "byte"}, default "character"
            The meaning of a token.

        Returns
        -------
        Vocabulary
            The vocabulary.
        """
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
        """Token of characters outside of the vocabulary; None for bytes."""
        return None if self.kind == "byte" else len(self.characters)

    def encode(self, text: str, replace: bool = False) -> Any:
        """Return the tokens of a text.

        Parameters
        ----------
        text : str
            The text.
        replace : bool, default False
            Whether to encode characters outside of the vocabulary as the unknown token. Otherwise they
            raise an error.

        Returns
        -------
        numpy.ndarray of int64, (tokens,)
            The numbers of the characters or bytes.

        Raises
        ------
        ValueError
            If a character is not in the vocabulary and ``replace`` is False.
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
        """Return the text of a row of tokens.

        Parameters
        ----------
        tokens : array_like of int, (tokens,)
            Tokens of this vocabulary.

        Returns
        -------
        str
            The text. Bytes that are not UTF-8 become U+FFFD.

        Raises
        ------
        ValueError
            If a number is not a token of the vocabulary.
        """
        op = "Vocabulary.decode"
        numbers = token_row(op, tokens, len(self))
        if self.kind == "byte":
            return bytes(numbers.astype(np.uint8)).decode(errors="replace")
        known = self.characters + _UNKNOWN
        return "".join([known[number] for number in numbers.tolist()])

    def state_dict(self) -> dict[str, str]:
        """Return the state from which `from_state` restores the vocabulary.

        Returns
        -------
        dict of str
            The kind and the characters.
        """
        return {"kind": self.kind, "characters": self.characters}

    @classmethod
    def from_state(cls, state: Any, op: str = "load") -> Vocabulary:
        """Restore a vocabulary.

        Parameters
        ----------
        state : dict
            A result of `state_dict`.
        op : str, default "load"
            The operation that error messages name.

        Returns
        -------
        Vocabulary
            The vocabulary.
        """
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
    """Read a text file in UTF-8.

    Line ends become ``\\n``, and a byte order mark is removed.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    str
        The text.

    Raises
    ------
    ValueError
        If the file is empty, binary, or in another encoding.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from extensor.data import read_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "notes.txt")
    ...     _ = path.write_bytes(b"first\\r\\nsecond")
    ...     read_text(path)
    'first\\nsecond'
    """
    op = "read_text"
    place = as_path(op, path)
    with explain_unreadable(op, path):
        content = file_bytes(place)
    refusal = partial(value_error, op, path=os.fspath(path))
    begin = len(_MARK) if content.startswith(_MARK) else 0
    if len(content) == begin:
        raise refusal("file must not be empty")
    if content.startswith(WIDE_MARKS):
        raise refusal("file must be text in UTF-8, not in UTF-16")
    zero = content.find(0)
    if zero >= 0:
        raise refusal("file must be text, without bytes of 0", position=zero)
    try:
        text = content[begin:].decode()
    except UnicodeDecodeError as error:
        position = begin + error.start
        line = content.count(b"\n", 0, position) + 1
        byte = ShortRepr(f"0x{content[position]:02x}")
        requirement = "file must be text in UTF-8"
        raise refusal(requirement, line=line, position=position, byte=byte) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


class TextWindows(WindowDataset):
    """Windows of tokens, and for each token the one that follows: ``(inputs, targets)``.

    Parameters
    ----------
    tokens : array_like of int, (tokens,)
        The tokens of a text, at least ``context + 1``.
    context : int
        Number of tokens in a window, 1 or more.
    stride : int, optional
        Number of tokens between the beginnings of windows. Default: each window begins where the
        previous one ends, except for the last, which ends with the text.

    Attributes
    ----------
    starts : numpy.ndarray of int64
        The first token of each window.

    Raises
    ------
    ValueError
        If there are too few tokens.

    Examples
    --------
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
