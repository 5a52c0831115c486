"""The command ``extensor``: its arguments, and how its errors look.

A separate package, because every module inside ``extensor`` first imports all of the library and
NumPy: for ``extensor --help`` that would be most of the time. Each command is a module of
``extensor.cli``, imported when it is called.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from shlex import quote
from types import FrameType, ModuleType

from extensor_cli.parsing import overview, parser
from extensor_cli.streams import Lasting, lasting_streams, reopen_closed

__all__ = ["ERRORS", "command_name", "error_text", "main", "parser"]

# Errors that a user can cause: shown as a line, without a traceback.
ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    OSError,
    ImportError,
    ArithmeticError,
    RecursionError,
    MemoryError,
)
_LONGEST = 4000  # characters of a message
# Modules of extensor.cli whose name is not that of the command, which another module has.
_MODULES = {"report": "report_command", "sweep": "sweep_command", "tune-lr": "tune_lr"}


class InterruptedImportError(Exception):
    """Ctrl-C came while modules were imported, whatever error that has caused."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0, 2 after an error of the user, or 128 + the signal that ended it."""
    reopen_closed()
    options = parser().parse_args(arguments)
    if options.version:
        return _print_versions()
    if options.command is None:
        print(overview())
        return 2
    # The output of the other commands is their purpose, so they must fail if it cannot be written.
    with lasting_streams(with_output=options.command in ("train", "sweep")):
        return _run(options)


def command_name() -> str:
    """How a shell calls this program: ``extensor``, or a path where that name leads elsewhere."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and called.parent.name == "extensor_cli":
        called = Path(sys.executable).with_name("extensor")
        if not called.exists():
            return f"{quote(sys.executable)} -m extensor_cli"
    known = shutil.which("extensor")
    is_other = called.stem == "extensor" and not (known and os.path.samefile(known, called))
    return quote(str(called)) if is_other else "extensor"


def _print_versions() -> int:
    """Print the versions of the library and of its foundations, and how it computes here."""
    try:
        library, numpy = load("extensor"), load("numpy")
        engine, native = load("extensor.core.door").ENGINE, load("extensor._native")
    except InterruptedImportError:
        return 130
    print(f"extensor {library.__version__}")
    print(f"Python {platform.python_version()}")
    print(f"NumPy {numpy.__version__}")
    print(f"engine {engine}")
    print(f"instruction set {native.instruction_set}")
    return 0


def _run(options: argparse.Namespace) -> int:
    def print_error(text: object) -> None:
        words = str(text)
        more = f"... ({len(words):,} characters)" if len(words) > _LONGEST else ""
        print(f"extensor {options.command}: {words[:_LONGEST]}{more}", file=sys.stderr)

    try:
        if options.command not in ("train", "info", "completion"):
            load("extensor.cli.train_workers").check_alone(options.command)
        if options.command == "completion":
            print(load("extensor_cli.completion").script(options.shell), end="")
            return 0
        load(f"extensor.cli.{_MODULES.get(options.command, options.command)}").run(options)
        sys.stdout.flush()
    except InterruptedImportError:
        return 130
    except KeyboardInterrupt as interrupt:
        print(file=sys.stderr)  # the terminal has written ^C
        print_error(str(interrupt) or "interrupted")
        return 130
    except SystemExit as end:
        if not hasattr(end, "text"):
            raise
        print_error(end.text)
        return end.code if isinstance(end.code, int) else 2
    except BrokenPipeError:
        # The reader of the output has gone, as head does; at exit nothing more may be written to it.
        Lasting(sys.stdout).silence()
        return 141
    except ERRORS as error:
        if options.traceback:
            raise
        print_error(error_text(error))
        Lasting(sys.stdout).flush()  # what is left in its buffer must not fail once more at exit
        return 2
    return 0


def error_text(error: Exception) -> str:
    """The message of an error, without the number that the system has for it."""
    if isinstance(error, RecursionError):
        return "the input is nested too deeply"
    if isinstance(error, MemoryError):
        return "there is not enough memory" + (f" ({error})" if str(error) else "")
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if error.filename is None:
        return error.strerror
    return f"could not use {error.filename} ({error.strerror})"


def load(name: str) -> ModuleType:
    """Import a module of a command. Raises :class:`InterruptedImportError` after Ctrl-C."""
    with _interruptible():
        return import_module(name)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Notice Ctrl-C by its signal.

    Imports that code in C asks for (NumPy's, of ``datetime``) put an ImportError in the place of the
    KeyboardInterrupt, so the exception alone does not tell.
    """
    interrupts: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGINT, interrupt)
    except ValueError:  # not the main thread, which is the one that is interrupted
        yield
        return
    try:
        yield
    except BaseException as error:
        if interrupts:
            raise InterruptedImportError from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
