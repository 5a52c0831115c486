"""``extensor predict``: what a trained model says of new inputs."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np

from extensor.cli.config import Config, read_config
from extensor.cli.data import check_samples, preparation, read_file
from extensor.cli.runs import found_checkpoint, found_run, read_checkpoint
from extensor.cli.session import built_model, load_weights
from extensor.cli.targets import OF_CLASSES
from extensor.core.modes import no_grad
from extensor.data import ArrayDataset, DataLoader
from extensor.errors import value_error
from extensor.io.atomic import write_atomically
from extensor.ops import softmax

_BATCH = 256
_ENDINGS = (".csv", ".npy")


def run(options: argparse.Namespace) -> None:
    """Predict, and print a table or write a new file."""
    output = None if options.output is None else _new_file(options.output)
    folder = found_run(options.run)
    checkpoint = found_checkpoint(folder, options.checkpoint)
    config = read_config(folder.config)
    inputs = read_file(options.inputs, config["data"], with_target=False)
    check_samples("inputs", inputs)
    _check_columns(config, inputs)
    model = built_model(config)
    load_weights(model, read_checkpoint(folder, checkpoint))
    loader = DataLoader(inputs, _BATCH, transform=preparation(config, inputs))
    with no_grad():
        outputs = np.concatenate([model(batch[0]).numpy() for batch in loader])
    if output is not None and output.suffix == ".npy":
        content = io.BytesIO()
        np.save(content, outputs)
        write_atomically(output, content.getvalue())
        return
    table = _table(outputs, config["loss"]["name"] in OF_CLASSES)
    if output is None:
        sys.stdout.write(table)
    else:
        write_atomically(output, table.encode())


def _check_columns(config: Config, inputs: Any) -> None:
    """Refuse a table of other columns than the model was trained with, where they are known."""
    table = inputs.arrays[0] if isinstance(inputs, ArrayDataset) else None
    if table is None or table.ndim != 2:
        return
    mean = config["data"].get("normalize", {}).get("mean")
    sizes = config["model"].get("sizes") if config["model"].get("name") == "mlp" else None
    columns = len(mean) if isinstance(mean, list) else sizes[0] if sizes else table.shape[1]
    if table.shape[1] != columns:
        requirement = f"inputs must have {columns} columns, those that the model was trained with"
        hint = " (the targets are none of them)" if table.shape[1] == columns + 1 else ""
        raise value_error("data", requirement + hint, columns=table.shape[1])


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
