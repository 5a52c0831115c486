"""``extensor report``: the page and the plots of a run, from the files in its folder."""

from __future__ import annotations

import argparse

from extensor.cli.command_options import COMMAND
from extensor.experiments.spec import read_config
from extensor.experiments.stored_runs import find_checkpoint, find_run
from extensor.report import examine_experiment, write_plots, write_report
from extensor.train import Experiment, RunFolder, TrainedModel


def run(options: argparse.Namespace) -> None:
    """Examine the model of a checkpoint, and write the report and the plots of the run."""
    folder = find_run(options.run)
    checkpoint = find_checkpoint(folder, options.checkpoint, COMMAND)
    config = read_config(folder.config)
    trained = TrainedModel(folder, config, checkpoint, COMMAND, trust=options.trust)
    print("\n".join(write_pages(trained.experiment, folder)))


def write_pages(experiment: Experiment, folder: RunFolder) -> list[str]:
    """Write the report and the plots. Returns lines with their places."""
    examination = examine_experiment(experiment)
    report = write_report(folder, examination, experiment.model.summary(experiment.example))
    plots = write_plots(folder) or "need Matplotlib: pip install 'extensor[plot]'"
    return [f"report      {report}", f"plots       {plots}"]
