"""The command ``extensor``: its arguments, and how its errors look.

A package of its own, because whatever lies inside ``extensor`` first imports all of the library and
NumPy: for ``extensor --help`` that would be most of the time. Each command is a module of
``extensor.cli``, imported when it is called.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from extensor_cli.loading import InterruptedImportError, load
from extensor_cli.parsing import Parser
from extensor_cli.streams import Lasting, lasting_streams, reopen_closed

_RUN = "folder of a run, or its name in runs/"
_SET = "change a value of the configuration: optimizer.lr=0.01 (may be repeated)"
_SEARCHED = (
    "a range optimizer.lr=1e-4..1e-1 (:log or :linear may follow), choices "
    "model.sizes=[4,8,3],[4,16,3], or one value for all trials (may be repeated)"
)
_LIVE = (
    "show the report while it trains, to this machine only (default: port 8000 or the next free)"
)
_CHECKPOINT = "which checkpoint: latest, the name of one, or a file (default: latest)"
_CHOSEN = (
    "which checkpoint: latest, the name of one, or a file (default: the best of a run that stops "
    "early, otherwise the latest)"
)
_FILE = (
    "a configuration (.toml), or data: .csv, .tsv, .parquet, .npz, .npy, .txt, a folder with a "
    "folder of pictures for each class, or a folder of shards (default: LeNet-5 on the digits)"
)
_TRUST = "run the functions (module:function) that the configuration of a stored run names"
_TARGET = "the column to be learned, of a file of data (may be repeated; default: looked up)"
_TASKS = ("regression", "binary", "multiclass", "multilabel", "sequence")
_INPUTS = "a file as the run was trained with, a picture, a folder of them, or a text to go on with"
_FORMAT = "of what is printed (default: a table in a terminal, otherwise csv)"
_CODES = (
    "Exit codes: 0 done, 2 an error, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP. The last three end the "
    "step that is being taken and save; another one, a second later, ends at once. Of several "
    "workers: 75, one was lost, and the run can go on with --resume."
)

# What a user can cause: shown as a line, without where in the code it came from.
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


def parser() -> Parser:
    """All commands and their arguments."""
    root = Parser(
        prog="extensor",
        description="Train neural networks, and look at what they learned.",
        epilog="Without a file, extensor train reads handwritten digits in some seconds.",
    )
    root.add_argument("--version", action="store_true", help="print the version and end")
    root.add_argument(
        "--traceback", action="store_true", help="show where in the code an error came from"
    )
    commands = root.add_subparsers(dest="command", metavar="command")
    root.commands = commands

    def command(name: str, text: str, end: str | None = None) -> argparse.ArgumentParser:
        description = text[0].upper() + text[1:] + "."
        return commands.add_parser(name, help=text, description=description, epilog=end)

    train = command("train", "train a model, and write all about it into a run folder", _CODES)
    _add_file(train)
    train.add_argument("--name", help="the run's folder is runs/NAME (default: date and time)")
    train.add_argument("--resume", metavar="RUN", help="go on with a run that was interrupted")
    train.add_argument("--live", nargs="?", const="", metavar="PORT", help=_LIVE)
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
        "--device", metavar="NAME", help="let XLA train on cpu, gpu or tpu (extra xla: JAX)"
    )
    train.add_argument(
        "--print-config", action="store_true", help="print the configuration and end"
    )

    sweep = command("sweep", "train with many values, and find the best", _CODES)
    _add_file(sweep)
    sweep.add_argument("--set", action="append", default=[], metavar="KEY=VALUES", help=_SEARCHED)
    sweep.add_argument("--trials", type=int, help="how many to train (default: 20)")
    sweep.add_argument("--seed", type=int, help="of the values that are drawn (default: 0)")
    sweep.add_argument(
        "--halving",
        action=argparse.BooleanOptionalAction,
        help="train all of them a little and only the best third further (default), or all to the end",
    )
    sweep.add_argument("--monitor", metavar="NAME", help="what to go by (default: first metric)")
    sweep.add_argument("--jobs", type=int, help="how many at a time (default: one for each core)")
    sweep.add_argument("--name", help="the folder is runs/NAME (default: date and time)")
    sweep.add_argument("--resume", metavar="NAME", help="go on with a sweep that was interrupted")
    for hidden in ("--trial", "--until"):
        sweep.add_argument(hidden, type=int, help=argparse.SUPPRESS)

    tune_lr = command("tune-lr", "find a learning rate to begin with")
    _add_file(tune_lr)
    tune_lr.add_argument("--low", type=float, default=1e-7, help="first rate (default: 1e-7)")
    tune_lr.add_argument("--high", type=float, default=10.0, help="last rate (default: 10)")
    tune_lr.add_argument("--steps", type=int, default=200, help="how many (default: 200)")
    tune_lr.add_argument("--output", metavar="FILE", help="a new .html or .png file for the plot")

    evaluate = command("evaluate", "measure a trained model on the test data")
    evaluate.add_argument("run", help=_RUN)
    evaluate.add_argument("data", nargs="?", help="a file with targets (default: the test data)")

    predict = command("predict", "let a trained model predict")
    predict.add_argument("run", help=_RUN)
    predict.add_argument("inputs", metavar="FILE", help=_INPUTS)
    predict.add_argument(
        "--output",
        metavar="FILE",
        help="a new .csv, .json or .npy file, .txt for a text (default: the screen)",
    )
    predict.add_argument("--format", choices=("table", "csv", "json"), help=_FORMAT)
    predict.add_argument(
        "--safe-csv",
        action="store_true",
        help="write an apostrophe before words that a spreadsheet would take for formulas",
    )
    predict.add_argument("--length", type=int, help="characters of a text to write (default: 200)")
    predict.add_argument("--temperature", type=float, help="0 is the surest text (default: 0.8)")
    predict.add_argument("--seed", type=int, help="of the text (default: 0)")

    report = command("report", "write the report and the plots of a run anew")
    report.add_argument("run", help=_RUN)

    compare = command("compare", "set runs beside each other")
    compare.add_argument("runs", nargs="+", metavar="run", help=f"{_RUN}; two or more")
    compare.add_argument("--output", metavar="FILE", help="a new .html file with the curves of all")

    info = command("info", "say what is known of this machine, or of a run")
    info.add_argument("run", nargs="?", help=_RUN)

    pack = command("pack", "make shards for streaming from pictures, a table or a text")
    pack.add_argument("source", help="folder of class folders, table as for train, or text")
    pack.add_argument("folder", nargs="?", help="a new folder, for the shards")
    pack.add_argument(
        "--shard-size", default="256M", metavar="BYTES", help="about so many each (default: 256M)"
    )
    pack.add_argument(
        "--format", default="tar", choices=("tar", "npy"), help="of pictures (default: tar)"
    )
    pack.add_argument("--size", metavar="HxW", help="resize pictures (default: as they are)")
    pack.add_argument("--mode", default="RGB", help="of pictures, as Pillow's (default: RGB)")
    pack.add_argument("--seed", default=0, type=int, help="of the order of pictures (default: 0)")
    pack.add_argument(
        "--target", action="append", metavar="COLUMN", help="of a table (default: as for train)"
    )
    pack.add_argument("--no-target", action="store_true", help="all columns of a table are inputs")
    pack.add_argument(
        "--column", action="append", metavar="NAME=KIND", help="number, category, date or text"
    )
    pack.add_argument("--drop", action="append", metavar="NAME", help="leave a column out")
    pack.add_argument(
        "--like", metavar="SHARDS", help="encode a table as that of these shards was encoded"
    )
    pack.add_argument("--delimiter", metavar="CHARACTER", help="of a table (default: found)")
    pack.add_argument("--decimal", choices=(".", ","), help="of a table (default: found)")
    pack.add_argument("--encoding", metavar="NAME", help="of a table (default: found)")
    pack.add_argument(
        "--header",
        default="auto",
        choices=("auto", "yes", "no"),
        help="whether a table begins with names",
    )
    pack.add_argument(
        "--tokens",
        default="character",
        choices=("character", "byte"),
        help="of a text (default: character)",
    )
    pack.add_argument(
        "--verify", action="store_true", help="compare the shards in SOURCE with their digests"
    )

    for one in (train, sweep, tune_lr, evaluate, predict, report):
        one.add_argument("--trust", action="store_true", help=_TRUST)
    for one in (train, evaluate, tune_lr):
        one.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=_SET)
    train.add_argument("--checkpoint", default="latest", metavar="NAME", help=_CHECKPOINT)
    for one in (evaluate, predict, report):
        one.add_argument("--checkpoint", metavar="NAME", help=_CHOSEN)
    return root


def _add_file(command: argparse.ArgumentParser) -> None:
    """FILE, and what is to be learned of it if it is data."""
    command.add_argument("config", nargs="?", metavar="FILE", help=_FILE)
    command.add_argument("--target", action="append", metavar="NAME", help=_TARGET)
    command.add_argument(
        "--task", choices=_TASKS, help="what is to be learned (default: looked up)"
    )
    command.add_argument("--window", type=int, metavar="N", help="rows of a series to look at")
    command.add_argument("--horizon", type=int, metavar="N", help="rows of a series to foretell")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command. Returns 0, 2 after an error of the user, or 128 + the signal that ended it."""
    reopen_closed()
    root = parser()
    options = root.parse_args(arguments)
    if options.version:
        return _print_version()
    if options.command is None:
        root.print_help()
        return 2
    # What the others print is what they are for, so that must fail when it cannot be written.
    with lasting_streams(with_output=options.command in ("train", "sweep")):
        return _run(options)


def _print_version() -> int:
    try:
        library = load("extensor")
    except InterruptedImportError:
        return 130
    print(f"extensor {library.__version__}")
    return 0


def _run(options: argparse.Namespace) -> int:
    def said(text: object) -> None:
        words = str(text)
        more = f"... ({len(words):,} characters)" if len(words) > _LONGEST else ""
        print(f"extensor {options.command}: {words[:_LONGEST]}{more}", file=sys.stderr)

    try:
        if options.command not in ("train", "info"):
            load("extensor.cli.several").check_alone(options.command)
        load(f"extensor.cli.{options.command.replace('-', '_')}").run(options)
        sys.stdout.flush()
    except InterruptedImportError:
        return 130
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
    except ERRORS as error:
        if options.traceback:
            raise
        said(error_text(error))
        Lasting(sys.stdout).flush()  # what is left in its buffer must not fail once more at exit
        return 2
    return 0


def error_text(error: Exception) -> str:
    """What an error says, without the number that the system has for it."""
    if isinstance(error, RecursionError):
        return "the input is nested too deeply"
    if isinstance(error, MemoryError):
        return (
            f"there is not enough memory ({error})" if str(error) else "there is not enough memory"
        )
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    if error.filename is None:
        return error.strerror
    return f"could not use {error.filename} ({error.strerror})"
