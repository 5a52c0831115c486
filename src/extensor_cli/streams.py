"""Standard streams that do not get in the way of the work: closed, full, or with nobody reading."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any


def reopen_closed() -> None:
    """Let descriptors 0, 1 and 2 lead nowhere if they are closed (``extensor train 2>&-``).

    Otherwise the next file to be opened would have the number of standard error, and messages would
    be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def safe_text(text: str) -> str:
    """``text`` for a terminal: what would be a command to it is shown instead."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    # Importing the library takes long, which an ordinary message is not worth.
    from extensor.errors.screen import screen_text

    return screen_text(text)


class Lasting:
    """A stream for display: it falls silent when it fails, and whoever writes to it goes on.

    Texts are made safe for a terminal, unless they ``are_exact``.
    """

    def __init__(self, stream: Any, are_exact: bool = False) -> None:
        self._stream = stream
        self._are_exact = are_exact

    @property
    def exact(self) -> Lasting:
        """The same stream, for what is to arrive as it is."""
        return Lasting(self._stream, are_exact=True)

    def write(self, text: str) -> int:
        """Write, or fall silent."""
        try:
            self._stream.write(text if self._are_exact else safe_text(text))
        except UnicodeEncodeError:
            code = self._stream.encoding
            self.write(text.encode(code, "replace").decode(code))
        except (OSError, ValueError):
            self.silence()
        return len(text)

    def flush(self) -> None:
        """Flush, or fall silent."""
        try:
            self._stream.flush()
        except (OSError, ValueError):
            self.silence()

    def silence(self) -> None:
        """Lead to nowhere, also what is in the buffer: Python writes that at exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        with suppress(OSError, ValueError):
            os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Needed:
    """A stream that a command is for: when it fails, the error says that it was the output.

    Texts are made safe for a terminal, unless they ``are_exact``.
    """

    def __init__(self, stream: Any, are_exact: bool = False) -> None:
        self._stream = stream
        self._are_exact = are_exact

    @property
    def exact(self) -> Needed:
        """The same stream, for what is to arrive as it is."""
        return Needed(self._stream, are_exact=True)

    def write(self, text: str) -> int:
        """Write, or say what failed."""
        with _failing():
            return int(self._stream.write(text if self._are_exact else safe_text(text)))

    def flush(self) -> None:
        """Flush, or say what failed."""
        with _failing():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        text = f"output: could not be written ({error.strerror})"
        raise OSError(error.errno, text) from error


@contextmanager
def lasting_streams(with_output: bool) -> Iterator[None]:
    """Standard error, and output if that is for display too, fall silent when they fail."""
    out: Any = Lasting(sys.stdout) if with_output else Needed(sys.stdout)
    with redirect_stdout(out), redirect_stderr(Lasting(sys.stderr)):
        try:
            yield
        finally:
            sys.stderr.flush()
            if with_output:
                sys.stdout.flush()
