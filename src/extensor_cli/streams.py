"""Standard streams that do not get in the way of the work: closed, full, or with nobody reading."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, Self


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
    """``text`` for a terminal: control sequences are shown instead of obeyed."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    # Imported only here: the library takes long to import, and most messages do not need it.
    from extensor.errors.screen import screen_text

    return screen_text(text)


class _SafeStream:
    """A standard stream whose texts are made safe for a terminal, unless they ``are_exact``."""

    def __init__(self, stream: Any, are_exact: bool = False) -> None:
        self._stream = stream
        self._are_exact = are_exact

    @property
    def exact(self) -> Self:
        """The same stream, for texts that must arrive unchanged."""
        return type(self)(self._stream, are_exact=True)

    def _write(self, text: str) -> int:
        return int(self._stream.write(text if self._are_exact else safe_text(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Lasting(_SafeStream):
    """A stream for display: when it fails it falls silent, and the program continues."""

    def write(self, text: str) -> int:
        """Write, or fall silent."""
        try:
            self._write(text)
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


class Needed(_SafeStream):
    """A stream whose content is the purpose of a command: an error names the output."""

    def write(self, text: str) -> int:
        """Write, or raise an error that names the output."""
        with _failing():
            return self._write(text)

    def flush(self) -> None:
        """Flush, or raise an error that names the output."""
        with _failing():
            self._stream.flush()


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
