"""``extensor report``: the page and the plots of a run, from what lies in its folder."""

from __future__ import annotations

import argparse

from extensor.cli.wording import COMMAND
from extensor.report import examine_experiment, write_plots, write_report
from extensor.train import Experiment, RunFolder, TrainedModel
from extensor.train.experiments.config import read_config
from extensor.train.experiments.runs import found_checkpoint, found_run


def run(options: argparse.Namespace) -> None:
    """Examine the model of a checkpoint, and write what is known of the run."""
    folder = found_run(options.run)
    checkpoint = found_checkpoint(folder, options.checkpoint, COMMAND)
    config = read_config(folder.config)
    trained = TrainedModel(folder, config, checkpoint, COMMAND, trust=options.trust)
    print("\n".join(written(trained.experiment, folder)))


def written(experiment: Experiment, folder: RunFolder) -> list[str]:
    """Write the report and the plots. Returns lines that say where they are."""
    examination = examine_experiment(experiment)
    report = write_report(folder, examination, experiment.model.summary(experiment.example))
    plots = write_plots(folder) or "need Matplotlib: pip install 'extensor[plot]'"
    return [f"report      {report}", f"plots       {plots}"]
