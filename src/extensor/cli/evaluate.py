"""``extensor evaluate``: the loss and the metrics of a trained model on the test data."""

from __future__ import annotations

import argparse

from extensor.cli.config import read_config
from extensor.cli.runs import found_checkpoint, found_run, read_checkpoint
from extensor.cli.session import load_weights, opened
from extensor.report.curves import shown


def run(options: argparse.Namespace) -> None:
    """Measure and print; nothing is written."""
    folder = found_run(options.run)
    checkpoint = found_checkpoint(folder, options.checkpoint)
    session = opened(read_config(folder.config, options.set))
    load_weights(session.model, read_checkpoint(folder, checkpoint))
    print(f"{checkpoint}, {len(session.test_data):,} samples")
    for name, value in session.trainer.evaluate(session.test_loader).items():
        print(f"test {name.replace('_', ' ')} {shown(name, value)}")
