"""``extensor predict``: the predictions of a trained model for new inputs, or a text it writes."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from extensor.cli.shared_options import COMMAND, new_file
from extensor.data.window_datasets import read_text
from extensor.errors import value_error
from extensor.errors.screen import exact_stream, screen_line
from extensor.io.atomic import write_atomically
from extensor.train import Predictions, Predictor

_ENDINGS = (".csv", ".json", ".npy")
_TEXTS = (".txt",)
_TEXT_DEFAULTS = {"length": 200, "temperature": 0.8, "seed": 0}
_MOST_ROWS, _MOST_COLUMNS = 200, 8  # of a table on the screen


def run(options: argparse.Namespace) -> None:
    """Predict, and print a table or write a new file."""
    predictor = Predictor.load(options.run, options.checkpoint, COMMAND, trust=options.trust)
    endings = _TEXTS if predictor.task == "sequence" else _ENDINGS
    output = new_file(options.output, endings)
    if predictor.task == "sequence":
        _continue_text(predictor, options, output)
        return
    form = _output_format(options.format, output)
    for name in _TEXT_DEFAULTS:
        if getattr(options, name) is not None:
            raise value_error(f"--{name}", "is for models of texts", task=predictor.task)
    if options.safe_csv and form != "csv":
        raise value_error("--safe-csv", "is for tables in CSV", format=form)
    if form == "npy":
        content = io.BytesIO()
        np.save(content, predictor.outputs(options.inputs).numpy())
        _write(output, content.getvalue())
        return
    predictions = predictor.table(options.inputs)
    _print_notes(predictions.lines)
    if form == "table":
        _print_table(predictions)
        return
    text = predictions.json() if form == "json" else predictions.csv(options.safe_csv)
    if output is None:
        _print(text)
    else:
        _write(output, text.encode("utf-8", "surrogateescape"))


def _output_format(chosen: str | None, output: Path | None) -> str:
    """The format: as chosen, by the ending of a file, or what suits the screen."""
    ending = None if output is None else output.suffix.lower()
    if ending is not None and chosen not in (None, ending[1:]):
        requirement = f"must match the ending of --output, {ending[1:]}, or be left out"
        raise value_error("--format", requirement, format=chosen)
    if chosen is None:
        return ending[1:] if ending else "table" if sys.stdout.isatty() else "csv"
    return chosen


def _print_notes(lines: Iterable[str]) -> None:
    """Notes on the inputs, apart from the predictions."""
    for line in lines:
        print(f"extensor predict: {screen_line(line)}", file=sys.stderr)


def _print(text: str) -> None:
    """Print data: safe on a terminal, exact for a file or another program."""
    stream = sys.stdout if sys.stdout.isatty() else exact_stream(sys.stdout)
    try:
        stream.write(text)
    except UnicodeEncodeError as error:
        requirement = "the screen must be able to show all characters (--output writes a file)"
        where = {"encoding": error.encoding, "character": error.object[error.start]}
        raise value_error("output", requirement, **where) from None


def _write(output: Path | None, content: bytes) -> None:
    assert output is not None
    write_atomically(output, content)
    print(f"written to {output}", file=sys.stderr)


def _continue_text(predictor: Predictor, options: argparse.Namespace, output: Path | None) -> None:
    """Continue a text: that of a file, or the argument itself."""
    if options.format is not None:
        raise value_error("--format", "is for tables, not for texts", format=options.format)
    if options.safe_csv:
        raise value_error("--safe-csv", "is for tables, not for texts", task=predictor.task)
    source = str(options.inputs)
    is_file = _is_file(source)
    prompt = read_text(source) if is_file else source
    if not prompt.encode("utf-8", "replace").decode() == prompt:
        raise value_error("predict", "the text must be Unicode", text=prompt[:80])
    unknown = predictor.unknown(prompt) if prompt else []
    if unknown:
        _print_notes(
            [
                f"the model does not know {', '.join(map(repr, unknown))}, which did not occur in training"
            ]
        )
    given = {name: getattr(options, name) for name in _TEXT_DEFAULTS}
    chosen: list[Any] = [
        usual if given[x] is None else given[x] for x, usual in _TEXT_DEFAULTS.items()
    ]
    text = predictor.generate(prompt, *chosen)
    if output is None:
        _print(f"{'' if is_file else prompt}{text}\n")
    else:
        _write(output, text.encode())


def _is_file(text: str) -> bool:
    """Whether a text is the name of a file; a name with the ending of texts must exist."""
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):  # no name that a file can have
        return False
    is_name = text.lower().endswith((".txt", ".text", ".md")) and not set(text) & set(" \n")
    if is_name and not is_file:
        raise FileNotFoundError(f"predict: no such file, got path={text!r}")
    return is_file


def _print_table(predictions: Predictions) -> None:
    """Print a table on the screen, and how to get the rows and columns that do not fit."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    names = list(predictions.columns)
    table = Table()
    for name in names[:_MOST_COLUMNS]:
        is_number = isinstance(predictions.columns[name][0], int | float)
        justify: Any = "right" if is_number else "left"
        table.add_column(Text(screen_line(name)), justify=justify, overflow="fold")
    for row in predictions.rows()[:_MOST_ROWS]:
        table.add_row(
            *(Text(screen_line(_cell_text(name, row[name]))) for name in names[:_MOST_COLUMNS])
        )
    console = Console(file=exact_stream(sys.stdout))
    console.print(table)
    if len(predictions) > _MOST_ROWS or len(names) > _MOST_COLUMNS:
        console.print(f"{len(predictions):,} rows, {len(names)} columns; all of them: --format csv")


def _cell_text(name: str, value: object) -> str:
    if isinstance(value, float):
        is_chance = name == "probability" or name.startswith("p(")
        return f"{value:.4f}" if is_chance else f"{value:.5g}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
