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


class Lasting:
    """A stream for display: it falls silent when it fails, and whoever writes to it goes on."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or fall silent."""
        try:
            self._stream.write(text)
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
    """A stream that a command is for: when it fails, the error says that it was the output."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or say what failed."""
        with _failing():
            return int(self._stream.write(text))

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
