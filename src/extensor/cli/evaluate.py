"""``extensor evaluate``: the loss and the metrics of a trained model, on the test data or others."""

from __future__ import annotations

import argparse
import os
import sys

from extensor.cli.shared_options import COMMAND, as_changes, read_config
from extensor.errors.screen import screen_line
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
        data = trained.config["data"]
        learned = [os.path.realpath(data[x]) for x in ("train", "validation") if x in data]
        lines = list(samples.lines)
        if os.path.realpath(options.data) in learned:
            lines.append("the run was trained on it, so the scores say little about other data")
        for line in lines:
            print(f"extensor evaluate: {options.data}: {screen_line(line)}", file=sys.stderr)
        results = trained.evaluate_on(samples)
    for name, value in results.items():
        print(f"test {display_name(name)} {display_value(name, value)}")
