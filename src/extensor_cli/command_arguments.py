"""The commands of ``extensor`` with their options and examples: one table for help and completion."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Option = tuple[str, dict[str, Any]]


class Command(NamedTuple):
    """A command: one line about it, how it is called, an example, and its options by group."""

    summary: str
    usage: str
    example: str
    options: Mapping[str, Iterable[Option]]
    notes: str = ""


def _option(name: str, text: str, **details: Any) -> Option:
    return name, {"help": text, **details}


def _flag(name: str, text: str) -> Option:
    return _option(name, text, action="store_true")


def _list(name: str, metavar: str, text: str, **details: Any) -> Option:
    return _option(name, f"{text} (may be repeated)", action="append", metavar=metavar, **details)


def _number(name: str, text: str, kind: type = int, metavar: str = "N", **details: Any) -> Option:
    return _option(name, text, type=kind, metavar=metavar, **details)


_RUN = _option("run", "folder of a run, or its name in runs/")
_SET = _list("--set", "KEY=VALUE", "change the configuration: optimizer.lr=0.01", default=[])
_TRUST = _flag("--trust", "run functions (module:function) that a stored run names")
_NAME = _option("--name", "the folder is runs/NAME (default: date and time)", metavar="NAME")
_CHECKPOINT = _option(
    "--checkpoint",
    "latest, the name of a checkpoint, or a file (default: the best one if the run stops early, "
    "otherwise the latest)",
    metavar="NAME",
)
_DATA: list[Option] = [
    _option(
        "config",
        "a configuration (.toml), or data: .csv, .tsv, .parquet, .npz, .npy, .txt, a folder with "
        "one folder of pictures per class, or a folder of shards (default: the handwritten digits)",
        nargs="?",
        metavar="FILE",
    ),
    _list("--target", "NAME", "column to predict (default: inferred)"),
    _option(
        "--task",
        "kind of problem (default: inferred)",
        choices=("regression", "binary", "multiclass", "multilabel", "sequence"),
    ),
    _number("--window", "number of past rows of a time series to use as input"),
    _number("--horizon", "number of future rows of a time series to predict"),
]
_CODES = (
    "Exit codes: 0 done, 2 an error, 130 Ctrl-C, 143 SIGTERM, 129 SIGHUP. After Ctrl-C or one of "
    "these signals, the current step is finished and saved; a second one ends at once. With several "
    "workers, 75 means that a worker was lost and the run can continue with --resume."
)

# In the order in which extensor --help lists them.
COMMANDS = {
    "train": Command(
        "train a model and write a run folder with a report",
        "[FILE]",
        "extensor train iris.csv --target species",
        {
            "data": _DATA,
            "the run": [
                _NAME,
                _SET,
                _option("--resume", "continue an interrupted run", metavar="RUN"),
                _option(
                    "--checkpoint",
                    "where --resume continues: latest, a name, or a file (default: latest)",
                    default="latest",
                    metavar="NAME",
                ),
                _option(
                    "--live",
                    "show the report in the browser during training, on this machine only "
                    "(default port: the first free one from 8000)",
                    nargs="?",
                    const="",
                    metavar="PORT",
                ),
                _flag("--print-config", "print the configuration and exit"),
                _TRUST,
            ],
            "devices and workers": [
                _option(
                    "--device", "train on cpu, gpu or tpu with XLA (needs JAX)", metavar="NAME"
                ),
                _list(
                    "--launcher",
                    "COMMAND",
                    "how to start the workers: 'mpiexec -n 4'; the next one is for the next attempt",
                    default=[],
                ),
                _number("--restarts", "attempts to restart after a worker is lost (default: 0)"),
            ],
        },
        _CODES,
    ),
    "sweep": Command(
        "train with many settings and find the best",
        "[FILE]",
        "extensor sweep iris.csv --set optimizer.lr=1e-4..1e-1",
        {
            "data": _DATA,
            "the search": [
                _list(
                    "--set",
                    "KEY=VALUES",
                    "a range optimizer.lr=1e-4..1e-1 (append :log or :linear), choices "
                    "model.sizes=[4,8,3],[4,16,3], or one value for all trials",
                    default=[],
                ),
                _number("--trials", "number of trials (default: 20)"),
                _number("--seed", "seed of the drawn values (default: 0)"),
                _option(
                    "--halving",
                    "train all trials briefly and continue with the best third, again and again "
                    "(default), or train all of them to the end",
                    action=argparse.BooleanOptionalAction,
                ),
                _option("--monitor", "number to compare (default: first metric)", metavar="NAME"),
                _number("--jobs", "trials at the same time (default: one per core)"),
                _option("--trial", argparse.SUPPRESS, type=int),
                _option("--until", argparse.SUPPRESS, type=int),
            ],
            "the folder": [
                _NAME,
                _option("--resume", "continue an interrupted sweep", metavar="SWEEP"),
                _TRUST,
            ],
        },
        _CODES,
    ),
    "tune-lr": Command(
        "find a good learning rate",
        "[FILE]",
        "extensor tune-lr iris.csv --output rates.html",
        {
            "data": _DATA,
            "the test": [
                _number("--low", "first rate (default: 1e-7)", float, "RATE", default=1e-7),
                _number("--high", "last rate (default: 10)", float, "RATE", default=10.0),
                _number("--steps", "number of steps (default: 200)", default=200),
                _option("--output", "new .html or .png file for the plot", metavar="FILE"),
                _SET,
                _TRUST,
            ],
        },
    ),
    "evaluate": Command(
        "measure a trained model on test data",
        "run [FILE]",
        "extensor evaluate runs/iris new_flowers.csv",
        {
            "model and data": [
                _RUN,
                _option(
                    "data",
                    "file with targets (default: the test data of the run)",
                    nargs="?",
                    metavar="FILE",
                ),
                _CHECKPOINT,
                _SET,
                _TRUST,
            ]
        },
    ),
    "predict": Command(
        "predict with a trained model",
        "run FILE",
        "extensor predict runs/iris new_flowers.csv --output new.csv",
        {
            "model and data": [
                _RUN,
                _option(
                    "inputs",
                    "a file like the training data, a picture, a folder of pictures, or a text to "
                    "continue",
                    metavar="FILE",
                ),
                _CHECKPOINT,
                _TRUST,
            ],
            "output": [
                _option(
                    "--output",
                    "new .csv, .json or .npy file, or .txt for a text (default: the screen)",
                    metavar="FILE",
                ),
                _option(
                    "--format",
                    "printed format (default: table in a terminal, otherwise csv)",
                    choices=("table", "csv", "json"),
                ),
                _flag("--safe-csv", "write an apostrophe before words that look like formulas"),
            ],
            "text": [
                _number("--length", "number of characters to write (default: 200)"),
                _number(
                    "--temperature",
                    "randomness; 0 is the likeliest text (default: 0.8)",
                    float,
                    "T",
                ),
                _number("--seed", "seed of the text (default: 0)"),
            ],
        },
    ),
    "report": Command(
        "write the report and the plots of a run again",
        "run",
        "extensor report runs/iris",
        {"model": [_RUN, _CHECKPOINT, _TRUST]},
    ),
    "compare": Command(
        "compare runs in a table or on a page",
        "run run ...",
        "extensor compare runs/iris runs/iris_2 --output comparison.html",
        {
            "runs": [
                _option("runs", f"{_RUN[1]['help']}; two or more", nargs="+", metavar="run"),
                _option("--output", "new .html file with the curves of all runs", metavar="FILE"),
            ]
        },
    ),
    "info": Command(
        "describe this machine, or a run",
        "[run]",
        "extensor info runs/iris",
        {"run": [_option("run", f"{_RUN[1]['help']} (default: this machine)", nargs="?")]},
    ),
    "pack": Command(
        "write pictures, a table or a text as shards for streaming",
        "source [folder]",
        "extensor pack pictures shards --shard-size 64M",
        {
            "data": [
                _option("source", "folder of class folders, a table as for train, or a text"),
                _option("folder", "new folder for the shards", nargs="?"),
                _option(
                    "--shard-size",
                    "approximate size of a shard (default: 256M)",
                    default="256M",
                    metavar="BYTES",
                ),
                _flag("--verify", "compare the shards in SOURCE with their digests"),
            ],
            "pictures": [
                _option(
                    "--format",
                    "format of the shards (default: tar)",
                    default="tar",
                    choices=("tar", "npy"),
                ),
                _option("--size", "resize the pictures (default: as they are)", metavar="HxW"),
                _option("--mode", "color mode, as in Pillow (default: RGB)", default="RGB"),
                _number("--seed", "seed of the order of the pictures (default: 0)", default=0),
            ],
            "tables": [
                _list("--target", "COLUMN", "column to predict (default: as for train)"),
                _flag("--no-target", "use all columns as inputs"),
                _list("--column", "NAME=KIND", "kind of a column: number, category, date or text"),
                _list("--drop", "NAME", "leave a column out"),
                _option(
                    "--like", "encode the table as these shards were encoded", metavar="SHARDS"
                ),
                _option("--delimiter", "delimiter (default: inferred)", metavar="CHARACTER"),
                _option("--decimal", "decimal mark (default: inferred)", choices=(".", ",")),
                _option("--encoding", "encoding (default: inferred)", metavar="NAME"),
                _option(
                    "--header",
                    "whether the first line has the names (default: auto)",
                    default="auto",
                    choices=("auto", "yes", "no"),
                ),
            ],
            "text": [
                _option(
                    "--tokens",
                    "kind of tokens (default: character)",
                    default="character",
                    choices=("character", "byte"),
                )
            ],
        },
    ),
    "completion": Command(
        "print a script that completes commands in a shell",
        "{bash,zsh,fish}",
        'eval "$(extensor completion bash)"',
        {"shell": [_option("shell", "shell to complete in", choices=("bash", "zsh", "fish"))]},
    ),
}
