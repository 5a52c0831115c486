"""``extensor evaluate``: the loss and the metrics of a trained model, on the test data or others."""

from __future__ import annotations

import argparse
import os
import sys

from extensor.cli.shared_options import COMMAND, as_changes, read_config
from extensor.errors.screen import screen_line
from extensor.experiments.spec import Config
from extensor.experiments.stored_runs import find_checkpoint, find_run
from extensor.report.run_records import display_value
from extensor.train import TrainedModel
from extensor.train.metrics.registry import display_name


def run(options: argparse.Namespace) -> None:
    """Measure and print; no file is written."""
    folder = find_run(options.run)
    checkpoint = find_checkpoint(folder, options.checkpoint, COMMAND)
    config = read_config(folder.config, options.set)
    keys = [key for key, _ in as_changes(options.set)]
    trained = TrainedModel(folder, config, checkpoint, COMMAND, trust=options.trust, changes=keys)
    if options.data is None:
        print(f"{checkpoint}, {len(trained.experiment.test_data):,} samples")
        results = trained.evaluate()
    else:
        samples = trained.labelled(options.data)
        print(f"{checkpoint}, {options.data}, {len(samples.dataset):,} samples")
        for line in (*samples.lines, *_training_file_note(options.data, trained.config["data"])):
            print(f"extensor evaluate: {options.data}: {screen_line(line)}", file=sys.stderr)
        results = trained.evaluate_on(samples)
    for name, value in results.items():
        print(f"test {display_name(name)} {display_value(name, value)}")


def _training_file_note(path: str, data: Config) -> list[str]:
    """A note if the run has learned from this very file."""
    for name in ("train", "validation"):
        if name in data and os.path.realpath(path) == os.path.realpath(data[name]):
            return ["the run was trained on it, so the scores say little about other data"]
    return []
