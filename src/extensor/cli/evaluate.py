"""``extensor evaluate``: the loss and the metrics of a trained model, on the test data or others."""

from __future__ import annotations

import argparse
import os
import sys

from extensor.cli.settings import as_changes, read_config
from extensor.cli.wording import COMMAND
from extensor.errors.screen import screen_line
from extensor.report.curves import shown
from extensor.train import TrainedModel
from extensor.train.experiments.config import Config
from extensor.train.experiments.runs import found_checkpoint, found_run


def run(options: argparse.Namespace) -> None:
    """Measure and print; nothing is written."""
    folder = found_run(options.run)
    checkpoint = found_checkpoint(folder, options.checkpoint, COMMAND)
    config = read_config(folder.config, options.set)
    keys = [key for key, _ in as_changes(options.set)]
    trained = TrainedModel(folder, config, checkpoint, COMMAND, trust=options.trust, changes=keys)
    if options.data is None:
        print(f"{checkpoint}, {len(trained.experiment.test_data):,} samples")
        found = trained.evaluate()
    else:
        samples = trained.labelled(options.data)
        print(f"{checkpoint}, {options.data}, {len(samples.dataset):,} samples")
        for line in (*samples.lines, *_known(options.data, trained.config["data"])):
            print(f"extensor evaluate: {options.data}: {screen_line(line)}", file=sys.stderr)
        found = trained.evaluate_on(samples)
    for name, value in found.items():
        print(f"test {name.replace('_', ' ')} {shown(name, value)}")


def _known(path: str, data: Config) -> list[str]:
    """What is to be said of a file that the run has learned from."""
    for name in ("train", "validation"):
        if name in data and os.path.realpath(path) == os.path.realpath(data[name]):
            return ["the run has learned from it, so this says little of other data"]
    return []
