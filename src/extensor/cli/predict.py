"""``extensor predict``: what a trained model says of new inputs."""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import numpy as np

from extensor.cli.outputs import new_file
from extensor.cli.wording import COMMAND
from extensor.io.atomic import write_atomically
from extensor.train import Predictions, Predictor

_ENDINGS = (".csv", ".json", ".npy")
_TEXTS = (".txt",)
_MOST_ROWS, _MOST_COLUMNS = 200, 8  # of a table on the screen


def run(options: argparse.Namespace) -> None:
    """Predict, and print a table or write a new file."""
    predictor = Predictor.load(options.run, options.checkpoint, COMMAND)
    endings = _TEXTS if predictor.task == "sequence" else _ENDINGS
    output = None if options.output is None else new_file(options.output, endings)
    if predictor.task == "sequence":
        _write_on(predictor, options, output)
        return
    if output is not None and output.suffix == ".npy":
        content = io.BytesIO()
        np.save(content, predictor.outputs(options.inputs).numpy())
        write_atomically(output, content.getvalue())
        return
    predictions = predictor.table(options.inputs)
    form = options.format or (output.suffix[1:] if output is not None else None)
    if form is None:
        form = "table" if sys.stdout.isatty() else "csv"
    if form == "table":
        _show(predictions)
        return
    text = predictions.json() if form == "json" else predictions.csv()
    if output is None:
        sys.stdout.write(text)
    else:
        write_atomically(output, text.encode())


def _write_on(predictor: Predictor, options: argparse.Namespace, output: Path | None) -> None:
    """Go on with a text: that of a file, or the argument itself."""
    given = str(options.inputs)
    is_file = len(given) < 255 and Path(given).is_file()
    prompt = Path(given).read_text(encoding="utf-8") if is_file else given
    text = predictor.generate(prompt, options.length, options.temperature, options.seed)
    if output is None:
        print(f"{'' if is_file else prompt}{text}")
    else:
        write_atomically(output, text.encode())


def _show(predictions: Predictions) -> None:
    """As a table on the screen; what does not fit is said to be left out."""
    from rich.console import Console
    from rich.table import Table

    names = list(predictions.columns)
    table = Table()
    for name in names[:_MOST_COLUMNS]:
        is_number = isinstance(predictions.columns[name][0], int | float)
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in predictions.rows()[:_MOST_ROWS]:
        table.add_row(*(_said(row[name]) for name in names[:_MOST_COLUMNS]))
    console = Console()
    console.print(table, markup=False)
    if len(predictions) > _MOST_ROWS or len(names) > _MOST_COLUMNS:
        console.print(f"{len(predictions):,} rows, {len(names)} columns; all of them: --format csv")


def _said(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
