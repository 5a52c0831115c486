"""``extensor predict``: what a trained model says of new inputs."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np

from extensor.cli.wording import COMMAND
from extensor.errors import value_error
from extensor.io.atomic import write_atomically
from extensor.ops import softmax
from extensor.train import TrainedModel
from extensor.train.experiments.config import read_config
from extensor.train.experiments.runs import found_checkpoint, found_run
from extensor.train.experiments.targets import OF_CLASSES

_ENDINGS = (".csv", ".npy")


def run(options: argparse.Namespace) -> None:
    """Predict, and print a table or write a new file."""
    output = None if options.output is None else _new_file(options.output)
    folder = found_run(options.run)
    checkpoint = found_checkpoint(folder, options.checkpoint, COMMAND)
    trained = TrainedModel(folder, read_config(folder.config), checkpoint, COMMAND)
    outputs = trained.predict(options.inputs).numpy()
    if output is not None and output.suffix == ".npy":
        content = io.BytesIO()
        np.save(content, outputs)
        write_atomically(output, content.getvalue())
        return
    table = _table(outputs, trained.config["loss"]["name"] in OF_CLASSES)
    if output is None:
        sys.stdout.write(table)
    else:
        write_atomically(output, table.encode())


def _new_file(name: str) -> Path:
    path = Path(name)
    if path.suffix not in _ENDINGS:
        raise value_error("--output", f"file must end with {' or '.join(_ENDINGS)}", output=name)
    if path.exists():
        raise value_error("--output", "file must be new", output=name)
    if not path.parent.is_dir():
        raise value_error("--output", "the folder must be there", output=name)
    return path


def _table(outputs: Any, is_classifier: bool) -> str:
    """Lines of CSV: the class and its probability, or the numbers that the model gives."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if is_classifier and outputs.ndim == 2:
        probabilities = softmax(outputs, axis=1).numpy()
        writer.writerow(["sample", "class", "probability"])
        for sample, row in enumerate(probabilities):
            best = int(row.argmax())
            writer.writerow([sample, best, f"{row[best]:.4f}"])
    else:
        rows = outputs.reshape(len(outputs), -1).tolist()
        writer.writerow(["sample", *(f"output{i}" for i in range(len(rows[0])))])
        writer.writerows([sample, *row] for sample, row in enumerate(rows))
    return text.getvalue()
