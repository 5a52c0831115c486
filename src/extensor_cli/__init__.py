"""The command ``extensor``: its arguments, and how its errors look.

A package of its own, because whatever lies inside ``extensor`` first imports all of the library and
NumPy: for ``extensor --help`` that would be most of the time. Each command is a module of
``extensor.cli``, imported when it is called.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from extensor_cli.streams import Lasting, lasting_streams, reopen_closed

_RUN = "folder of a run, or its name in runs/"
_SET = "change a value of the configuration: optimizer.lr=0.01 (may be repeated)"
_CHECKPOINT = "which checkpoint: latest, the name of one, or a file (default: latest)"
_CODES = (
    "Exit codes: 0 done, 2 an error, 75 a worker was lost (go on with --resume), 130 Ctrl-C, 143 "
    "SIGTERM, 129 SIGHUP. The last three end the "
    "step that is being taken and save; another one, a second later, ends at once."
)


def parser() -> argparse.ArgumentParser:
    """All commands and their arguments."""
    root = argparse.ArgumentParser(
        prog="extensor",
        description="Train neural networks, and look at what they learned.",
        epilog="Without a file, extensor train reads handwritten digits in some seconds.",
    )
    root.add_argument("--version", action="store_true", help="print the version and end")
    root.add_argument(
        "--traceback", action="store_true", help="show where in the code an error came from"
    )
    commands = root.add_subparsers(dest="command", metavar="command")

    def command(name: str, text: str, end: str | None = None) -> argparse.ArgumentParser:
        description = text[0].upper() + text[1:] + "."
        return commands.add_parser(name, help=text, description=description, epilog=end)

    train = command("train", "train a model, and write all about it into a run folder", _CODES)
    train.add_argument("config", nargs="?", help="TOML file (default: LeNet-5 on the digits)")
    train.add_argument("--name", help="the run's folder is runs/NAME (default: date and time)")
    train.add_argument("--resume", metavar="RUN", help="go on with a run that was interrupted")
    train.add_argument(
        "--launcher",
        action="append",
        default=[],
        metavar="COMMAND",
        help="what starts the workers: 'mpiexec -n 4' (again: another one for the next attempt)",
    )
    train.add_argument(
        "--restarts",
        type=int,
        metavar="NUMBER",
        help="how often the launcher is to start them again if a worker is lost (default: 0)",
    )
    train.add_argument(
        "--print-config", action="store_true", help="print the configuration and end"
    )

    evaluate = command("evaluate", "measure a trained model on the test data")
    evaluate.add_argument("run", help=_RUN)

    predict = command("predict", "let a trained model predict")
    predict.add_argument("run", help=_RUN)
    predict.add_argument("inputs", help=".npy, .npz or .csv file, or a folder of pictures")
    predict.add_argument(
        "--output", metavar="FILE", help="a new .csv or .npy file (default: a table on the screen)"
    )

    report = command("report", "write the report and the plots of a run anew")
    report.add_argument("run", help=_RUN)

    info = command("info", "say what is known of this machine, or of a run")
    info.add_argument("run", nargs="?", help=_RUN)

    for one in (train, evaluate):
        one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=_SET)
    for one in (train, evaluate, predict, report):
        one.add_argument("--checkpoint", default="latest", metavar="NAME", help=_CHECKPOINT)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0, 2 after an error of the user, or 128 + the signal that ended it."""
    reopen_closed()
    root = parser()
    options = root.parse_args(arguments)
    if options.version:
        print(f"extensor {import_module('extensor').__version__}")
        return 0
    if options.command is None:
        root.print_help()
        return 2
    # What the others print is what they are for, so that must fail when it cannot be written.
    with lasting_streams(with_output=options.command == "train"):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    def said(text: object) -> None:
        print(f"extensor {options.command}: {text}", file=sys.stderr)

    try:
        import_module(f"extensor.cli.{options.command}").run(options)
        sys.stdout.flush()
    except KeyboardInterrupt as interrupt:
        print(file=sys.stderr)  # the terminal has written ^C
        said(str(interrupt) or "interrupted")
        return 130
    except SystemExit as end:
        if not hasattr(end, "text"):
            raise
        said(end.text)
        return end.code if isinstance(end.code, int) else 2
    except BrokenPipeError:
        # Whoever read the output has gone, as head does; at exit nothing more may be written to it.
        Lasting(sys.stdout).silence()
        return 141
    except (ValueError, TypeError, LookupError, OSError, ImportError, ArithmeticError) as error:
        if options.traceback:
            raise
        said(_words(error))
        Lasting(sys.stdout).flush()  # what is left in its buffer must not fail once more at exit
        return 2
    return 0


def _words(error: Exception) -> str:
    """What an error says, without the number that the system has for it."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if error.filename is None:
        return error.strerror
    return f"could not use {error.filename} ({error.strerror})"
